"""Names and procedures of Fortran modules, for passes on the code of kernels."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from psyclone_storage.base.package_files import shared_file
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import Symbol
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import (
    Callee,
    InlinedCode,
    ModuleContext,
    ProcedureCopy,
    Routine,
)
from psyclone_storage.ir.unit import Use
from psyclone_storage.languages.sources.kernel_search import index_with
from psyclone_storage.languages.sources.module_finder import ModuleFinder

if TYPE_CHECKING:
    from psyclone_storage.pipeline.procedure_effects import ProcedureEffects
    from psyclone_storage.targets.c_printer import CPrinter


@dataclass(slots=True)
class ModuleContexts:
    """Contexts of kernels, which read other modules when a pass first needs them.

    Modules that the `finder` does not find are searched in the files of the `infrastructure`
    shipped with this package.
    """

    finder: ModuleFinder
    infrastructure: str = ""
    procedures: ProcedureEffects | None = None
    _printer: CPrinter | None = None
    _known: SourceText | None = None
    _inlined: dict[int, tuple[Routine, InlinedCode]] = field(default_factory=dict)

    def of(self, source: SourceText) -> ModuleContext:
        """Return the context of a kernel in `source`, whose modules have priority."""
        return ModuleContext(
            partial(self._symbol, source),
            partial(self._procedures, source),
            is_hidden=self._is_hidden,
            imported=self._imported,
            inlined=self._inlined,
            threaded_call=partial(self._threaded_call, source),
            copied=partial(self._copied, source),
            effects=lambda *call: self._effects().of(*call),
            declared=lambda *call: self._effects().declared(*call),
        )

    def _around(self, source: SourceText) -> ModuleContext:
        """Return the modules visible from `source`."""
        from psyclone_storage.targets.c_printer import CPrinter  # noqa: PLC0415

        if self._printer is None:
            if self.infrastructure:
                shipped = shared_file(f"external/{self.infrastructure}")
                self.finder = self.finder.among(index_with(self.finder.index, shipped))
            self._printer = CPrinter(self.finder)
        if self._known is not source:
            self._printer.know(source)
            self._known = source
        return self._printer.around

    def _symbol(self, source: SourceText, module: str, name: str) -> Symbol | None:
        return self._around(source).symbol(module, name)

    def _procedures(self, source: SourceText, module: str, name: str) -> tuple[Callee, ...]:
        return self._around(source).procedures(module, name)

    def _threaded_call(self, source: SourceText, module: str, names: Iterable[str]) -> Span | None:
        from psyclone_storage.pipeline.callers import ThreadedCalls  # noqa: PLC0415

        found = {(key_of(module), name) for name in names}
        return ThreadedCalls(self.finder, source, found).first()

    def _copied(self, source: SourceText, *names: str) -> ProcedureCopy | str:
        from psyclone_storage.pipeline.copied_procedures import copied_procedure  # noqa: PLC0415

        return copied_procedure(self.finder, source, *names)

    def _effects(self) -> ProcedureEffects:
        from psyclone_storage.pipeline.procedure_effects import ProcedureEffects  # noqa: PLC0415

        if self.procedures is None:
            self.procedures = ProcedureEffects.of_modules(self.finder)
        return self.procedures

    def _imported(self, uses: Iterable[Use], name: str) -> Symbol | None:
        return self.finder.imported(uses, name)

    def _is_hidden(self, module: str, name: str) -> bool:
        """Return whether a name is private in its module, or unknown."""
        symbol = self.finder.offered(module, name)
        if symbol is None or not symbol.is_resolved:
            return True
        found = self.finder.module(module)
        return found is not None and found.hidden(name)
