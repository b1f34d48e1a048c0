"""Specific procedures of generic names: those to which the arguments of a call can be passed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum

from psyclone_storage.analysis.bodies.effects import ProcedureCall, module_of
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType
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
            item, text = procedure.declared(key), _text(key, procedure)
            if key in given and item is not None:
                found.append(self._is(given[key], item, procedure))
            elif key in given:
                found.append(self._is_text(given[key]) if text else MAYBE)
            elif item is None and not text:
                found.append(MAYBE)
            elif "optional" not in (text if item is None else item.words):
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
        if rank is None or is_elemental or self._may_differ(kind, item.type, procedure):
            return MAYBE
        return self._is_kind(value, kind, item.type, procedure)

    def _may_differ(self, kind: DataType, wanted: DataType, procedure: Routine) -> bool:
        """Return whether two derived types with one name may be those of two modules."""
        if not isinstance(kind, DerivedType) or not isinstance(wanted, DerivedType):
            return False
        return module_of(kind, self.code) != module_of(wanted, procedure)

    def _is_text(self, value: ex.Expr) -> bool | Maybe:
        """Return whether a value is a scalar of type character."""
        typing = Typing(self.code.symbol, self.code.structure)
        kind, rank = typing.type_of(value), typing.rank_of(value)
        if kind is None or rank is None:
            return MAYBE
        return rank == 0 and sort_of(kind, self.code) is Intrinsic.CHARACTER

    def _is_kind(
        self, value: ex.Expr, kind: DataType, wanted: DataType, procedure: Routine
    ) -> bool | Maybe:
        """Return whether two types have one kind; options of compilers change default kinds."""
        if not isinstance(kind, ScalarType) or not isinstance(wanted, ScalarType):
            return True
        if kind.intrinsic is Intrinsic.CHARACTER:
            return True
        if kind.kind is None or wanted.kind is None:
            return True if kind.kind is wanted.kind else MAYBE
        both = self._kind(kind.kind, self.code), self._kind(wanted.kind, procedure)
        if both[0] == both[1] and both[0] is not None:
            return True
        are_numbers = all(isinstance(one, int) for one in both) and path_of(value) is not None
        return False if are_numbers else MAYBE

    def _kind(self, kind: str, code: Routine) -> int | tuple[str, str] | None:
        """Return the value of a kind or, if it is not known, the module and name of a constant.

        Options of compilers change the kind of a default literal, as in `kind(1.0)`.
        """
        if "(" in kind and key_of(kind).startswith("kind"):
            return None
        symbol = code.symbol(key_of(kind)) if kind.isidentifier() else None
        while symbol is not None and isinstance(symbol.value, ex.Name) and symbol.module_key:
            module = self.finder.module(symbol.module_key)
            inner = None if module is None else module.symbols.get(symbol.value.key)
            if inner is None:
                break
            symbol = replace(inner, module=inner.module or symbol.module)
        value = None if symbol is None else symbol.value
        if not isinstance(value, ex.Index) or ex.canonical(value.base) != "kind":
            scope = CScope(code, ModuleContext(self.finder.offered, lambda *_: ()))
            for text in (kind, *([ex.spell(value)] if isinstance(value, ex.Index) else [])):
                with suppress(PrintError):
                    return scope.kind(text)
        if symbol is None or not symbol.module_key:
            return None
        return symbol.module_key, key_of(symbol.name)


def _text(key: str, procedure: Routine) -> frozenset[str]:
    """Return the words that declare a scalar of type character, which no declaration is for."""
    for item in procedure.declarations:
        if isinstance(item, un.Opaque) and key in item.names and "character" in item.names:
            is_array = "dimension" in item.names or re.search(rf"\b{key}\s*\(", key_of(item.text))
            return frozenset() if is_array else item.names
    return frozenset()
