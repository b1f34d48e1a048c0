"""Conversion of Fortran procedures to C; called procedures are searched for in directories."""

from __future__ import annotations

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.ir.routine import Callee, ModuleContext, Routine
from psyclone_storage.languages.c.printer import CUnit, print_c
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.called import read_called
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.languages.sources.module_names import defined_modules


class CPrinter:
    """Prints procedures as C and caches the modules that it reads."""

    def __init__(self, finder: ModuleFinder) -> None:
        self._finder = finder
        self.around = ModuleContext(self._symbol, self._procedures)
        self._called: dict[tuple[str, str], tuple[Callee, ...]] = {}
        self._sources: dict[str, SourceText | None] = {}

    def printed(self, source: SourceText, name: str) -> tuple[Routine, CUnit]:
        """Return the subroutine `name` of a module in `source`, and its translation to C.

        Raises:
            CompileError: it does not exist, or cannot be expressed in C (G004).
        """
        code = self.read(source, name)
        return code, print_c(code, self.around)

    def read(self, source: SourceText, name: str) -> Routine:
        """Return the subroutine `name` of a module in `source`, with resolved names."""
        self.know(source)
        return resolve_code(read_code(source, name), self._finder)

    def know(self, source: SourceText) -> None:
        """Make the modules in a file visible to its procedures."""
        for module in defined_modules(source.text):
            self._sources[module] = source

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
        """Return the file that defines a module, or None if it was not found."""
        if module not in self._sources:
            self._sources[module] = self._finder.source_of(module)
        return self._sources[module]
