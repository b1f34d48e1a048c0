"""Translation of Fortran kernels to Python, for programs that use both.

Statements that Python kernels do not support are rejected at their lines. Later diagnostics refer
to the Python text.
"""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.gocean import WORKING_PRECISION
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ParsedKernel
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.python.parse.metadata import code_name
from psyclone_storage.languages.python.translate.gocean_kernels import GridKernels
from psyclone_storage.languages.python.translate.module_writer import emit_kernels
from psyclone_storage.languages.python.translate.protocols import TranslatedKernel
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.c_printer import CPrinter
from psyclone_storage.targets.native.module_context import kind_symbol


def transpile(
    dialect: Dialect, code: Routine, finder: ModuleFinder, dummies: tuple[Dummy, ...]
) -> Routine:
    """Translate the code of a Fortran kernel to that of a Python kernel.

    Without search directories, modules are searched for in the folder of the kernel.

    Raises:
        CompileError: G006, Python cannot express it; or it is not a valid kernel.
    """
    parsed = _kernel_of(code)
    source = code.module.source
    if not finder.index.directories:
        finder = ModuleFinder(index_directories((Path(source.name).parent,)))
    printer = CPrinter(finder)
    code, known = printer.read(source, code.name), printer.around

    def symbol(module: str, name: str) -> Symbol | None:
        found = known.symbol(module, name)
        is_lost = found is None or not found.is_resolved
        return kind_symbol(name, 8) if is_lost and name == WORKING_PRECISION else found

    around = ModuleContext(symbol, known.procedures)
    kernels = [TranslatedKernel(parsed, code)]
    made = emit_kernels(kernels, around, GridKernels(), source.name, in_place=True)
    text = SourceText(source.name, made.text)
    found = read_python_body(dialect, text, code_name(parsed.name), dummies)
    return replace(found, name=code.name, module=replace(found.module, name=code.module.name))


def _kernel_of(code: Routine) -> ParsedKernel:
    """Return the metadata of the kernel that a subroutine implements."""
    source = code.module.source
    for name in kernel_types(source):
        parsed = read_kernel(source, name)
        if code.key in map(key_of, parsed.implementations):
            return parsed
    raise InternalError(f"'{code.name}' implements no kernel of '{source.name}'.")
