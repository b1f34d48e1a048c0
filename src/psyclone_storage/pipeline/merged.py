"""Kernels in Fortran with the procedures that they call in the place of the calls."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from psyclone_storage.backend.called.fortran import FortranModules
from psyclone_storage.backend.called.writer import with_called
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.search import index_with
from psyclone_storage.ir.code import KernelCode, MergedCode
from psyclone_storage.ir.expr import CallFunction, Name, Origin, Symbol, walk
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.unit import Call, DirectiveLine, Use
from psyclone_storage.targets.c_printer import CPrinter
from psyclone_storage.transform.kernel.code import chosen, preprocessed


@dataclass(slots=True)
class CalledProcedures:
    """The procedures of modules, which are read when a kernel that calls some is looked at.

    Of modules that the `finder` does not find those in the folder of the `infrastructure` are seen.
    """

    finder: ModuleFinder
    infrastructure: Path | None = None
    _kept: CPrinter | None = field(init=False)
    _modules: FortranModules = field(init=False)

    def __post_init__(self) -> None:
        """Read nothing as long as nobody asks."""
        self._kept = None
        self._modules = FortranModules(self._is_hidden, preprocessed, self._imported)

    @property
    def _reader(self) -> CPrinter:
        """The reader of procedures, with modules of the infrastructure that no folder has."""
        if self._kept is None:
            if self.infrastructure is not None:
                index = index_with(self.finder.index, self.infrastructure)
                self.finder = self.finder.among(index)
            self._kept = CPrinter(self.finder)
        return self._kept

    def merged(self, code: KernelCode) -> MergedCode:
        """Return `code` with procedures in the place of their calls; itself if it calls none."""
        if not _has_calls(code):
            return MergedCode(code)
        if any(isinstance(line, DirectiveLine) for line in walk_lines(code.body)):
            why = f"directives in '{code.name}' speak of its statements and variables as they are"
            return MergedCode(code, ((code.module.routine, why),))
        if line := chosen(code):
            why = f"what '{code.name}' calls may depend on '{line}'"
            return MergedCode(code, ((code.module.routine, why),))
        source = code.module.source
        reader = self._reader
        reader.know(source)
        made, left = with_called(code, reader.around, modules=self._modules)
        stay = tuple(left.items())
        return MergedCode(made if made is code else replace(made, left=stay), stay)

    def _imported(self, uses: Iterable[Use], name: str) -> Symbol | None:
        return self.finder.imported(uses, name)

    def _is_hidden(self, module: str, name: str) -> bool:
        """Return whether others may not see a name of a module, or nobody knows."""
        symbol = self.finder.offered(module, name)
        if symbol is None or not symbol.is_resolved:
            return True
        found = self.finder.module(module)
        return found is not None and found.hidden(name)


def _has_calls(code: KernelCode) -> bool:
    """Return whether a subroutine may call what is no function of the language."""
    for line in walk_lines(code.body):
        if isinstance(line, Call):
            return True
        for expr in expressions_of(line):
            for part in walk(expr):
                if isinstance(part, CallFunction) and isinstance(part.base, Name):
                    symbol = part.base.symbol
                    if symbol is None or symbol.origin is not Origin.INTRINSIC:
                        return True
    return False
