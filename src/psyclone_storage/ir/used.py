"""Collect the names that declarations and statements use, in lower case."""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.ir.expr import Expr, Literal, walk
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import (
    construct_name,
    expressions_of,
    names_in,
    names_of_line,
    walk_lines,
)
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Blank, Comment, Declare, Line, Opaque

_Specified = Declare | Comment | Blank | Opaque


def values_in(
    declarations: Iterable[_Specified], body: tuple[Line, ...], inside: frozenset[str]
) -> frozenset[str]:
    """Return the names that denote values or procedures, including those in `inside`."""
    found = set(inside)
    for item in declarations:
        found |= item.names if isinstance(item, Opaque) else frozenset()
        for expr in _exprs(item):
            found |= names_in(expr)
    constructs = set[str]()
    for line in walk_lines(body):
        found |= names_of_line(line)
        constructs.add(key_of(construct_name(line)))
    return frozenset(found - constructs)


def kinds_in(declarations: Iterable[_Specified], body: tuple[Line, ...]) -> frozenset[str]:
    """Return the names used as kind parameters of types or literals."""
    exprs = (expr for line in walk_lines(body) for expr in expressions_of(line))
    found = frozenset[str]().union(*map(_kinds, exprs))
    return found.union(*map(_kinds_in, declarations))


def names_in_declaration(item: _Specified) -> frozenset[str]:
    """Return the lower-case names to which a declaration refers, without the declared name."""
    if isinstance(item, Opaque):
        return item.names
    found = _kinds_in(item).union(*(names_in(expr) for expr in _exprs(item)))
    if isinstance(item, Declare) and isinstance(item.type, DerivedType):
        return found | {item.type.name}
    return found


def _exprs(item: _Specified) -> tuple[Expr, ...]:
    if not isinstance(item, Declare):
        return ()
    return item.shape if item.value is None else (*item.shape, item.value)


def _kinds_in(item: _Specified) -> frozenset[str]:
    found = frozenset[str]().union(*map(_kinds, _exprs(item)))
    if isinstance(item, Declare) and not isinstance(item.type, DerivedType) and item.type.kind:
        return found | {item.type.kind_key}
    return found


def _kinds(expr: Expr) -> frozenset[str]:
    literals = (part for part in walk(expr) if isinstance(part, Literal))
    return frozenset(part.kind_key for part in literals if part.kind)
