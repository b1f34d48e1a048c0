"""Specific procedures of generic names: those to which the arguments of a call can be passed."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.bodies.effects import ProcedureCall
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DataType, ScalarType
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.overloads import sort_of


@dataclass(frozen=True, slots=True)
class SpecificProcedures:
    """Selects the specific procedures for calls in `code`.

    The number, type, kind and rank of arguments decide; what is not known excludes no procedure.
    """

    code: Routine
    finder: ModuleFinder

    def accepts(self, procedure: Routine, call: ProcedureCall) -> bool:
        """Return whether a procedure may be the one that a call with a generic name executes."""
        given = dict(self._given(procedure, call))
        if "" in given or len(given) < len(call.args):
            return False
        for key in procedure.dummy_keys:
            item = procedure.declared(key)
            if item is None:
                continue
            if key not in given:
                if "optional" not in item.words:
                    return False
            elif not self._may_be(given[key], item, procedure):
                return False
        return True

    def _given(self, procedure: Routine, call: ProcedureCall) -> Iterator[tuple[str, ex.Expr]]:
        """Yield the arguments by the names of the procedure, "" for one that it does not have."""
        keys = procedure.dummy_keys
        for at, arg in enumerate(call.args):
            if isinstance(arg, ex.Keyword):
                yield (arg.key if arg.key in keys else ""), arg.value
            else:
                yield (keys[at] if at < len(keys) else ""), arg

    def _may_be(self, value: ex.Expr, item: un.Declare, procedure: Routine) -> bool:
        typing = Typing(self.code.symbol, self.code.structure)
        rank = typing.rank_of(value)
        is_elemental = "elemental" in key_of(procedure.prefix).split()
        if rank is not None and rank != len(item.shape) and not (is_elemental and not item.shape):
            return False
        kind = typing.type_of(value)
        if kind is None or item.polymorphic:
            return True
        if sort_of(kind, self.code) != sort_of(item.type, procedure):
            return False
        kinds = self._kind(kind, self.code), self._kind(item.type, procedure)
        return path_of(value) is None or None in kinds or len({*kinds}) == 1

    def _kind(self, kind: DataType, code: Routine) -> int | None:
        """Return the kind of an intrinsic type as a number, None if it is not known.

        Options of compilers change the default kinds.
        """
        if not isinstance(kind, ScalarType) or kind.kind is None:
            return None
        try:
            return CScope(code, ModuleContext(self.finder.offered, lambda *_: ())).kind(kind.kind)
        except PrintError:
            return None
