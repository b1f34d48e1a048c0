"""Arrays of constants of a kernel's own, which get their values where a kernel begins.

In Python an array that is made is made of zeros, and no array is a constant. Nobody else writes one
that Fortran declares as such; one that keeps its values between calls and is never written is a
constant, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from psyclone_storage.backend.c.scope import CScope
from psyclone_storage.base.records import replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    CallFunction,
    Element,
    Expr,
    Index,
    Literal,
    Name,
    Range,
    Unary,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_in, names_of_line, walk_lines
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Blank, Comment, Declare, Do, If, Line, Return

_CONSTANT = "parameter"
_KEPT = "save"
_UNDERSTOOD = (Assign, Blank, Comment, Do, If, Return)
"""Statements of which it is known what they write."""


def without_constant_arrays(code: KernelCode, scope: CScope) -> KernelCode:
    """Return `code` with assignments at its beginning for the arrays of constants that it uses.

    What declarations need of such an array stays a constant.

    before: integer, parameter :: side(2) = [1, 3]
    after:  integer :: side(2); side = [1, 3]
    """
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    used -= _needed_by_declarations(code)
    assigned: list[Line] = []
    declared = []
    for item in code.declarations:
        values = _values(code, item, scope) if isinstance(item, Declare) else None
        if not isinstance(item, Declare) or item.key not in used or values is None:
            declared.append(item)
            continue
        place = code.place_of(item.name)
        assigned += [
            Assign(Element(Name(item.name), index), value, place=place) for index, value in values
        ]
        declared.append(_variable(item))
    if not assigned:
        return code
    return replace(code, declarations=tuple(declared), body=(*assigned, *code.body))


def _values(
    code: KernelCode, item: Declare, scope: CScope
) -> list[tuple[tuple[Expr, ...], Expr]] | None:
    """Return the elements of an array of constants, each with its value; None if it is none."""
    if item.key in code.dummy_keys or not item.shape or not _never_written(code, item):
        return None
    listed, axes = _listed(item.value), _axes(item.shape, scope)
    if listed is None or axes is None:
        return None
    # The first index varies fastest.
    places = [tuple(reversed(one)) for one in product(*reversed(axes))]
    if len(places) != len(listed) or any(isinstance(one, ArrayLiteral) for one in listed):
        return None
    return [(tuple(map(_whole, place)), value)
            for place, value in zip(places, listed, strict=True)]  # fmt: skip


def _never_written(code: KernelCode, item: Declare) -> bool:
    """Return whether no statement of a kernel can change an array."""
    if _CONSTANT in item.attributes:
        return True
    for line in walk_lines(code.body):
        if not isinstance(line, _UNDERSTOOD):
            return False
        if isinstance(line, Assign):
            base = line.target.base if isinstance(line.target, Index) else line.target
            if not isinstance(base, Name) or base.key == item.key:
                return False
    return True


def _listed(value: Expr | None) -> tuple[Expr, ...] | None:
    """Return values that are written one by one, also in the shape of an array."""
    match value:
        case ArrayLiteral(items):
            return items
        case CallFunction(Name(key="reshape"), (ArrayLiteral(items), _)):
            return items
    return None


def _axes(shape: Iterable[Expr], scope: CScope) -> list[range] | None:
    """Return the numbers of elements along each dimension, None if they are not known."""
    found = []
    for one in shape:
        lower = 1 if not isinstance(one, Range) or one.lower is None else scope.integer(one.lower)
        upper = one.upper if isinstance(one, Range) else one
        last = None if upper is None else scope.integer(upper)
        if lower is None or last is None:
            return None
        found.append(range(lower, last + 1))
    return found


def _whole(value: int) -> Expr:
    made = Literal(str(abs(value)), Intrinsic.INTEGER)
    return made if value >= 0 else Unary(Operator.MINUS, made)


def _needed_by_declarations(code: KernelCode) -> set[str]:
    """Return the names in extents and values, which are needed before anything is assigned."""
    return {
        name
        for item in code.declarations
        if isinstance(item, Declare)
        for expr in (*item.shape, *([item.value] if item.value is not None else []))
        for name in names_in(expr)
        if name != item.key
    }


def _variable(item: Declare) -> Declare:
    attributes = tuple(word for word in item.attributes if word not in (_CONSTANT, _KEPT))
    return replace(item, attributes=attributes, value=None)
