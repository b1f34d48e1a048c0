"""Procedures as C: what they call is looked for in the modules below some directories."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from psyclone_storage.backend.c.frames import emit_cuda, emit_loops
from psyclone_storage.backend.c.printer import CUnit, emit_c, print_c
from psyclone_storage.backend.c.scope import Callee, ModuleContext
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.driver.apis import APIS
from psyclone_storage.frontend.files import read_source
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.body import read_code
from psyclone_storage.frontend.fortran.called import read_called
from psyclone_storage.frontend.fortran.metadata import kernel_types, read_kernel
from psyclone_storage.frontend.fortran.resolve import resolve_code
from psyclone_storage.frontend.modules import defined_modules
from psyclone_storage.frontend.search import SourceIndex, index_directories
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Symbol


def generate_c(path: Path, api: Api, settings: Settings, form: CForm, wanted: KernelRequest) -> str:
    """Return the subroutines of the kernels in `path` as C, with all that they call.

    Modules are looked for in and below the folders that are wanted, then among the shipped ones of
    the infrastructure. With a `type_name` only that kernel's subroutines are printed.

    Raises:
        CompileError: the file holds no kernel, a subroutine has no form in C (G004), or none of the
            form that is wanted (G005).
    """
    source = read_source(path)
    printer = CPrinter(make_finder(wanted, settings))
    units: list[tuple[KernelCode, CUnit]] = []
    problems: list[Diagnostic] = []
    names = kernel_types(source) if wanted.type_name is None else (wanted.type_name,)
    if not names:
        message = f"'{path}' holds no kernel type."
        raise CompileError(Diagnostic("L006", message, file=str(path)))
    for name in names:
        parsed = read_kernel(source, name)
        if form is not CForm.FUNCTION and not APIS[api].interpret(parsed, settings).points:
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
    """Return what finds the modules that kernels use."""
    shipped = index_directories((wanted.shipped,)).files
    files = {**shipped, **index_directories(wanted.directories).files}
    ignored = frozenset(settings.ignore_modules)
    return ModuleFinder(SourceIndex(wanted.directories, files), ignored)


def _no_loop(name: str, span: Span) -> Diagnostic:
    message = f"The kernel '{name}' is not called for the points of a grid: it has no loop in C."
    return Diagnostic("G005", message, span, hint="Print its subroutine alone, with '-gen c'.")


class CForm(Enum):
    """What is printed of a kernel: its function, or a loop over points around it, as C or CUDA."""

    FUNCTION = "c"
    LOOPS = "c-loops"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """Which kernel of a file is meant, if not all, and where the modules are that it uses."""

    type_name: str | None
    directories: tuple[Path, ...]
    shipped: Path


class CPrinter:
    """A printer of procedures as C, which keeps what it has read of other modules."""

    def __init__(self, finder: ModuleFinder) -> None:
        self._finder = finder
        self.around = ModuleContext(self._symbol, self._procedures)
        self._called: dict[tuple[str, str], tuple[Callee, ...]] = {}
        self._sources: dict[str, SourceText | None] = {}

    def printed(self, source: SourceText, name: str) -> tuple[KernelCode, CUnit]:
        """Return the subroutine `name` of a module in `source`, and its form in C.

        Raises:
            CompileError: there is none, or it has no form in C (G004).
        """
        code = self.read(source, name)
        return code, print_c(code, self.around)

    def read(self, source: SourceText, name: str) -> KernelCode:
        """Return the subroutine `name` of a module in `source`, its names looked up."""
        for module in defined_modules(source.text):
            self._sources[module] = source
        return resolve_code(read_code(source, name), self._finder)

    def _symbol(self, module: str, name: str) -> Symbol | None:
        source = self._sources.get(module)
        if source is not None:
            own = self._finder.of_source(source, module)
            if own is not None:
                return own.symbols.get(name) or self._finder.imported(own.uses, name)
        return self._finder.offered(module, name)

    def _procedures(self, module: str, name: str) -> tuple[Callee, ...]:
        key = (module, name)
        if key not in self._called:
            source = self._source(module)
            found = () if source is None else self._read(source, module, name)
            self._called[key] = found
        return self._called[key]

    def _read(self, source: SourceText, module: str, name: str) -> tuple[Callee, ...]:
        try:
            found = read_called(source, module, name)
        except CompileError:
            return ()
        return tuple(Callee(resolve_code(code, self._finder), result) for code, result in found)

    def _source(self, module: str) -> SourceText | None:
        """Return the file that defines a module, None if there is none."""
        if module not in self._sources:
            self._sources[module] = None
            for path in self._finder.index.candidates(module):
                source = read_source(path)
                if module in defined_modules(source.text):
                    self._sources[module] = source
                    break
        return self._sources[module]
