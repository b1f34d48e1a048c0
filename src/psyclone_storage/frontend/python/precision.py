"""Reals of several kinds in one kernel: which of them an expression has, and how they meet.

The rules are those of NumPy. Numbers that are written out, variables of modules, and whole numbers
that become real have the kind of what they meet; of two other kinds the larger one is that of both.
In a kernel whose reals are of the usual kind alone nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.frontend.python import nodes
from psyclone_storage.frontend.python.scope import KernelScope, TypedExpression
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Element,
    Expr,
    Literal,
    Name,
    Unary,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType

_REAL = Intrinsic.REAL
_ROUNDS = "aint"
"""What whole numbers are as reals, which meet others as whole numbers do."""
_CHOOSES = "merge"
_TO_WHOLE = ("int", "floor", "ceiling")


def type_of(scope: KernelScope, expr: Expr) -> ScalarType | None:
    """Return of which reals an expression is, None if it takes the kind of what it meets."""
    match expr:
        case Name(text) | Element(Name(text), _):
            return _declared(scope, text)
        case CallFunction(Name("real"), (inner, Name(kind))):
            is_real = _has_kind(inner) or _has_reals(scope, inner)
            return ScalarType(_REAL, kind) if is_real else None
        case CallFunction(Name(function), args):
            args = args[:-1] if function == _CHOOSES else args
            return None if function == _ROUNDS else _larger(scope, args)
        case Unary(_, operand):
            return type_of(scope, operand)
        case Binary(_, left, right):
            return _larger(scope, (left, right))
    return None


def _declared(scope: KernelScope, name: str) -> ScalarType | None:
    if (local := scope.locals.get(name)) is not None:
        return local.real if local.type is _REAL else None
    dummy = scope.passed.get(name)
    return dummy.type if dummy is not None and dummy.type.intrinsic is _REAL else None


def _larger(scope: KernelScope, parts: Iterable[Expr]) -> ScalarType | None:
    found = [type_ for part in parts if (type_ := type_of(scope, part)) is not None]
    if not found:
        return None
    return scope.single if all(one == scope.single for one in found) else scope.real


def _has_reals(scope: KernelScope, expr: Expr) -> bool:
    """Return whether a number is made of reals; conditions and indices make none."""
    match expr:
        case Literal():
            return expr.intrinsic is _REAL
        case Name(text) | Element(Name(text), _):
            return _is_real(scope, text)
        case CallFunction(Name(function), args):
            args = args[:-1] if function == _CHOOSES else args
            return function not in _TO_WHOLE and any(_has_reals(scope, one) for one in args)
        case Unary(_, operand):
            return _has_reals(scope, operand)
        case Binary(_, left, right):
            return _has_reals(scope, left) or _has_reals(scope, right)
    return False


def _is_real(scope: KernelScope, name: str) -> bool:
    if name in scope.imported:
        return scope.imported[name].type is _REAL
    if name in scope.used:
        return scope.used[name][0] is _REAL
    return _declared(scope, name) is not None


def _has_kind(expr: Expr) -> bool:
    match expr:
        case CallFunction(Name("real"), (_, Name())):
            return True
    return False


Pair = tuple[TypedExpression, TypedExpression]


def met(scope: KernelScope, values: Pair) -> Pair:
    """Return numbers that an operation joins: what has no kind of its own gets that of the others.

    Operands of an operator may differ, as it is done in the larger kind.
    """
    common = _common(scope, values)
    if common is None or common == scope.real:
        return values
    return _as(scope, values[0], common), _as(scope, values[1], common)


def alike(scope: KernelScope, values: tuple[TypedExpression, ...]) -> tuple[TypedExpression, ...]:
    """Return reals that a function takes together: all of one kind."""
    common = _common(scope, values)
    if scope.single is None or common is None:
        return values
    return tuple(
        one if type_of(scope, one.expr) == common else _as(scope, one, common) for one in values
    )


def _common(scope: KernelScope, values: tuple[TypedExpression, ...]) -> ScalarType | None:
    if scope.single is None:
        return None
    return _larger(scope, (one.expr for one in values if one.type is _REAL))


def _as(scope: KernelScope, found: TypedExpression, wanted: ScalarType) -> TypedExpression:
    if found.type is not _REAL or type_of(scope, found.expr) == wanted:
        return found
    if isinstance(found.expr, Literal):
        return replace(found, expr=found.expr.with_kind(str(wanted.kind)))
    return replace(found, expr=of_kind(found.expr, wanted))


def of_kind(expr: Expr, wanted: ScalarType) -> Expr:
    """Return a number as a real one of a kind."""
    return nodes.call("real", expr, Name(str(wanted.kind)))


def widened(scope: KernelScope, expr: Expr) -> Expr:
    """Return a real number of the usual kind: whole numbers that come of it have room there."""
    is_single = scope.single is not None and type_of(scope, expr) == scope.single
    return of_kind(expr, scope.real) if is_single else expr


def double(scope: KernelScope, expr: Expr) -> Expr:
    """Return a number as a real one of the usual kind, which keeps it when it meets others."""
    made = widened(scope, expr)
    while scope.single is not None and type_of(scope, made) is None:
        made = of_kind(made, scope.real)
    return made


def of_one(scope: KernelScope, values: Iterable[Expr]) -> ScalarType:
    """Return of which reals a local is that gets one of some values."""
    return _larger(scope, values) or scope.of_locals


def of_local(scope: KernelScope, value: Expr) -> ScalarType:
    """Return of which reals a local is that gets a value for the first time."""
    return type_of(scope, value) or scope.of_locals


def fresh_local(scope: KernelScope, wish: str, value: TypedExpression, place: Span) -> Name:
    """Return a new local for a value."""
    real = of_local(scope, value.expr) if value.type is _REAL else None
    return scope.fresh(wish, value.type, place, real)
