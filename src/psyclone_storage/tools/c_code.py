"""Printing of kernels as C functions, as C loops, and as CUDA kernels."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.c.entry_points import emit_cuda, emit_loops
from psyclone_storage.languages.c.printer import CUnit, emit_c
from psyclone_storage.languages.fortran.parse.metadata import read_kernel
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import index_directories, index_with
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.apis import api_parts
from psyclone_storage.targets.c_printer import CPrinter
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.targets.spec import find_kernel_types


def generate_c(path: Path, api: Api, settings: Settings, form: CForm, wanted: KernelRequest) -> str:
    """Return the subroutines of the kernels in `path` as C, with all procedures that they call.

    Modules are searched in the requested directory trees, and then in the shipped files of the
    infrastructure. With a `type_name`, only that kernel is printed.

    Raises:
        CompileError: the file contains no kernel; G004, a subroutine cannot be expressed in C;
            G005, it cannot be expressed in the requested form.
    """
    source = read_source(path)
    printer = CPrinter(make_finder(wanted, settings))
    units: list[tuple[Routine, CUnit]] = []
    problems: list[Diagnostic] = []
    names = find_kernel_types(FORTRAN, source) if wanted.type_name is None else (wanted.type_name,)
    if not names:
        message = f"'{path}' holds no kernel type."
        raise CompileError(Diagnostic("L006", message, file=str(path)))
    for name in names:
        parsed = read_kernel(source, name)
        if form is not CForm.FUNCTION and not api_parts(api).interpret(parsed, settings).points:
            problems.append(_no_loop(name, parsed.span))
            continue
        for procedure in parsed.implementations:
            try:
                units.append(printer.printed(source, procedure))
            except CompileError as error:
                problems += error.problems
    raise_if_any(problems)
    together = tuple({unit.main.key: (code, unit) for code, unit in units}.values())
    match form:
        case CForm.LOOPS:
            return emit_loops(together)
        case CForm.CUDA:
            return emit_cuda(together)
    return emit_c(tuple(unit for _, unit in together))


def make_finder(wanted: KernelRequest, settings: Settings) -> ModuleFinder:
    """Return a finder for the modules that kernels use."""
    index = index_with(index_directories(wanted.directories), wanted.shipped)
    return ModuleFinder(index, frozenset(settings.ignore_modules))


def _no_loop(name: str, span: Span) -> Diagnostic:
    message = f"The kernel '{name}' is not called for the points of a grid: it has no loop in C."
    return Diagnostic("G005", message, span, hint="Print its subroutine alone, with '-gen c'.")


class CForm(Enum):
    """Form of a printed kernel: a function, or a loop over points that calls it, in C or CUDA."""

    FUNCTION = "c"
    LOOPS = "c-loops"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """Request for one or all kernels of a file, with the directories of their modules."""

    type_name: str | None
    directories: tuple[Path, ...]
    shipped: Path
