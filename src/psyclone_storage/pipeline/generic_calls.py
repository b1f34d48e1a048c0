"""Specific procedures of generic names: those to which the arguments of a call can be passed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

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


class Maybe(Enum):
    """The value of a condition that is not known."""

    MAYBE = "maybe"


MAYBE = Maybe.MAYBE


@dataclass(frozen=True, slots=True)
class SpecificProcedures:
    """Selects the specific procedures for calls in `code`.

    The number, type, kind and rank of arguments decide; what is not known excludes no procedure.
    """

    code: Routine
    finder: ModuleFinder

    def fits(self, procedure: Routine, call: ProcedureCall) -> bool | Maybe:
        """Return whether a call with a generic name executes a procedure; it may be `MAYBE`."""
        given = dict(self._given(procedure, call))
        if "" in given or len(given) < len(call.args):
            return False
        found: list[bool | Maybe] = []
        for key in procedure.dummy_keys:
            item = procedure.declared(key)
            if key in given:
                found.append(MAYBE if item is None else self._is(given[key], item, procedure))
            elif item is not None and "optional" not in item.words:
                return False
        return all(found) and (MAYBE if MAYBE in found else True)

    def _given(self, procedure: Routine, call: ProcedureCall) -> Iterator[tuple[str, ex.Expr]]:
        """Yield the arguments by the names of the procedure, "" for one that it does not have."""
        keys = procedure.dummy_keys
        for at, arg in enumerate(call.args):
            if isinstance(arg, ex.Keyword):
                yield (arg.key if arg.key in keys else ""), arg.value
            else:
                yield (keys[at] if at < len(keys) else ""), arg

    def _is(self, value: ex.Expr, item: un.Declare, procedure: Routine) -> bool | Maybe:
        """Return whether a value has the type, kind and rank of an argument."""
        typing = Typing(self.code.symbol, self.code.structure)
        rank, kind = typing.rank_of(value), typing.type_of(value)
        is_elemental = "elemental" in key_of(procedure.prefix).split()
        if rank is not None and rank != len(item.shape) and not (is_elemental and not item.shape):
            return False
        if kind is None or item.polymorphic:
            return MAYBE
        if sort_of(kind, self.code) != sort_of(item.type, procedure):
            return False
        if rank is None or is_elemental:
            return MAYBE
        return self._is_kind(value, kind, item.type, procedure)

    def _is_kind(
        self, value: ex.Expr, kind: DataType, wanted: DataType, procedure: Routine
    ) -> bool | Maybe:
        """Return whether two types have one kind; options of compilers change default kinds."""
        if not isinstance(kind, ScalarType) or not isinstance(wanted, ScalarType):
            return True
        if kind.kind is None or wanted.kind is None:
            return True if kind.kind is wanted.kind else MAYBE
        numbers = self._kind(kind.kind, self.code), self._kind(wanted.kind, procedure)
        if path_of(value) is None or None in numbers:
            names = self._symbol(kind.kind, self.code), self._symbol(wanted.kind, procedure)
            return True if names[0] == names[1] and names[0] else MAYBE
        return numbers[0] == numbers[1]

    def _symbol(self, kind: str, code: Routine) -> tuple[str, str] | None:
        """Return the constant that a kind names, by its module and name, or None."""
        symbol = code.symbol(key_of(kind)) if kind.isidentifier() else None
        if symbol is None or not symbol.module_key:
            return None
        return symbol.module_key, key_of(symbol.name)

    def _kind(self, kind: str, code: Routine) -> int | None:
        """Return the value of a kind, None if it is not known."""
        try:
            return CScope(code, ModuleContext(self.finder.offered, lambda *_: ())).kind(kind)
        except PrintError:
            return None
