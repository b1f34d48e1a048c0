"""Derived types of an algorithm with all their parts, and components that a type lacks.

A type is complete if all its statements are read and all its parent types are complete. Neither
the preprocessor nor an included file may add a component, and the name must have one meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import parsed
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType

CompleteType = Callable[[str, str], ex.Symbol | None]
"""Gives a complete type of another module, by the names of both; None if it is not known."""

# Macros may change any name, and `select type` without an associate name changes a type.
_UNCERTAIN = regex(
    r"^[ \t]*#[ \t]*(?:include|define|undef)\b|\bselect[ \t]*type[ \t&]*\([^)=]*\)",
    re.IGNORECASE | re.MULTILINE,
)
_INQUIRIES = frozenset({"re", "im", "kind", "len"})


class CompleteTypes:
    """Complete types in the file of an algorithm and in other modules."""

    def __init__(self, algorithm: parsed.ParsedAlgorithm, imported: CompleteType) -> None:
        self._own = {one.key: one for one in algorithm.types}
        self._imported = imported
        self._scopes = algorithm.scopes
        self._is_certain = _UNCERTAIN.search(algorithm.source.text) is None
        self._modules = {one.key for one in algorithm.scopes if one.kind is parsed.ScopeKind.MODULE}

    def with_missing(self, expr: ex.Expr, typing: Typing) -> ex.Expr:
        """Return an expression with an unresolved symbol for each component that a type lacks."""
        if not self._is_certain:
            return expr
        expr = with_parts(expr, lambda part: self.with_missing(part, typing))
        if not isinstance(expr, ex.Member) or expr.symbol is not None or expr.key in _INQUIRIES:
            return expr
        owner = typing.type_of(expr.base)
        found = self._found(owner) if isinstance(owner, DerivedType) else None
        if found is None or expr.key in found.bindings:
            return expr
        if any(item.key == expr.key for item in found.components):
            return expr
        missing = replace(found, key=expr.key, origin=ex.Origin.UNRESOLVED, sort=ex.Sort.UNKNOWN)
        return replace(expr, symbol=missing)

    def _found(self, owner: DerivedType) -> ex.Symbol | None:
        """Return a complete type with inherited parts, or None."""
        if owner.module is not None and owner.module not in self._modules:
            return self._imported(owner.module, owner.name)
        own = self._own.get(owner.name)
        if own is None or not own.is_complete or self._may_be_hidden(owner):
            return None
        parent = self._found(own.extends) if own.extends else None
        if own.extends and parent is None:
            return None
        components = tuple(
            ex.Symbol(one.key, one.name, ex.Origin.HOST, ex.Sort.VARIABLE) for one in own.components
        )
        return ex.Symbol(
            own.key,
            own.name,
            ex.Origin.HOST,
            ex.Sort.TYPE,
            components=(*(parent.components if parent else ()), *components),
            bindings=own.names | (parent.bindings if parent else frozenset()),
            span=own.span,
        )

    def _may_be_hidden(self, owner: DerivedType) -> bool:
        """Return whether a module that is imported as a whole may define the type instead."""
        return any(
            use.only is None
            for scope in self._scopes
            for use in scope.uses
            if owner.module is None or scope.kind is not parsed.ScopeKind.MODULE
        )
