"""Derived types of an algorithm with all their parts, and components that a type lacks.

A type is complete if all its statements are read and all its parent types are complete. Neither
the preprocessor nor an included file may add a component, and the name must have one meaning in
the file. If a line of the algorithm is conditional or included, no component is considered
missing.
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
from psyclone_storage.languages.fortran.parse.statements import scan

CompleteType = Callable[[str, str, str], ex.Symbol | None]
"""Gives a complete type of another module, by the names of both and of the component in question.

The result is None if the type, or whether it has the component, is not known.
"""

# Macros may change any name, and a conditional or included `use` may give another type.
_UNCERTAIN = regex(r"^[ \t]*(?:#|[!c*]\$[ \t]|include[ \t]*['\"])", re.IGNORECASE | re.MULTILINE)
# Without an associate name, the construct changes a type.
_SELECT_TYPE = regex(r"\bselect\s*type\s*\([^)=]*\)", re.IGNORECASE)
_INQUIRIES = frozenset({"re", "im", "kind", "len"})


class CompleteTypes:
    """Complete types in the file of an algorithm and in other modules."""

    def __init__(self, algorithm: parsed.ParsedAlgorithm, imported: CompleteType) -> None:
        self._own = {one.key: one for one in algorithm.types}
        self._imported = imported
        self._scopes = algorithm.scopes
        self._is_certain = _UNCERTAIN.search(algorithm.source.text) is None and not any(
            _SELECT_TYPE.search(statement.text) for statement in scan(algorithm.source)
        )
        self._modules = {one.key for one in algorithm.scopes if one.kind is parsed.ScopeKind.MODULE}
        self._meanings = self._meanings_of_names()

    def _meanings_of_names(self) -> dict[str, set[tuple[str, str]]]:
        """Return the entities that each imported or defined name denotes anywhere in the file.

        The module of an entity of the file itself is empty.
        """
        found = {key: {("", key)} for key in self._own}
        for use in (use for scope in self._scopes for use in scope.uses):
            module = use.module.lower()
            home = "" if module in self._modules else module
            for item in (*(use.only or ()), *use.renames):
                meanings = found.setdefault(item.local.lower(), set())
                meanings.add((home, item.original.lower()))
        return found

    def with_missing(self, expr: ex.Expr, typing: Typing) -> ex.Expr:
        """Return an expression with an unresolved symbol for each component that a type lacks."""
        if not self._is_certain:
            return expr
        expr = with_parts(expr, lambda part: self.with_missing(part, typing))
        if not isinstance(expr, ex.Member) or expr.symbol is not None or expr.key in _INQUIRIES:
            return expr
        owner = typing.type_of(expr.base)
        found = self._found(owner, expr.key) if isinstance(owner, DerivedType) else None
        if found is None or expr.key in found.bindings:
            return expr
        if any(item.key == expr.key for item in found.components):
            return expr
        missing = replace(found, key=expr.key, origin=ex.Origin.UNRESOLVED, sort=ex.Sort.UNKNOWN)
        return replace(expr, symbol=missing)

    def _found(self, owner: DerivedType, component: str) -> ex.Symbol | None:
        """Return a complete type with inherited parts, or None."""
        if self._has_several_meanings(owner):
            return None
        if owner.module is not None and owner.module not in self._modules:
            return self._imported(owner.module, owner.name, component)
        own = self._own.get(owner.name)
        if own is None or not own.is_complete or self._may_be_hidden(owner):
            return None
        parent = self._found(own.extends, component) if own.extends else None
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

    def _has_several_meanings(self, owner: DerivedType) -> bool:
        """Return whether a name of the type in the file denotes another entity, too."""
        module = (owner.module or "").lower()
        entity = "" if module in self._modules else module, owner.name.lower()
        return any(
            len(meanings) > 1
            for name, meanings in self._meanings.items()
            if entity in meanings or name == entity[1]
        )

    def _may_be_hidden(self, owner: DerivedType) -> bool:
        """Return whether a module that is imported as a whole may define the type instead."""
        return any(
            use.only is None
            for scope in self._scopes
            for use in scope.uses
            if owner.module is None or scope.kind is not parsed.ScopeKind.MODULE
        )
