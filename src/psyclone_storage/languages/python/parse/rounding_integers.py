"""Integers that result from rounding and may exceed 32 bits, represented as reals.

This module defines which operations on such integers are exact in reals. Other operations are
errors if their result is converted to a real or compared with a real. An integer that is stored in
a local variable, used as an index or as a loop bound must have 32 bits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Expr, Name, integer_value
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.promotion import of_whole, widened
from psyclone_storage.languages.python.parse.scope import (
    UNKNOWN,
    Exactness,
    KernelScope,
    TypedExpression,
    WideNumber,
)

_WHOLE = Intrinsic.INTEGER
_HINT = (
    "Write 'float(...)' around what is rounded and '1.0' for '1', or give the integer to a"
    " local, which has 32 bits."
)


def as_real(scope: KernelScope, found: TypedExpression) -> TypedExpression:
    """Return a number converted to the real type of kernels."""
    if found.type is not _WHOLE:
        return found
    if found.wide is None:
        return of_whole(scope, found)
    if found.wide.how in (Exactness.EXACT, Exactness.ROUNDED):
        return of_whole(scope, found, found.wide.expr)
    return _refused(scope, found.wide, "becomes a real number")


def as_real_if_rounded(scope: KernelScope, found: TypedExpression) -> TypedExpression:
    """Return a rounded number as a real, to avoid overflow; return others unchanged."""
    return found if found.wide is None else as_real(scope, found)


def as_exact(scope: KernelScope, found: TypedExpression) -> TypedExpression:
    """Return an integer as the real of the same value; record an error if it is not exact."""
    if found.wide is not None and found.wide.how is not Exactness.EXACT:
        return _refused(scope, found.wide, "is divided")
    return as_real(scope, found)


def comparison_operands(
    scope: KernelScope, left: TypedExpression, right: TypedExpression
) -> tuple[Expr, Expr]:
    """Return the operands of a comparison that is correct for integers of any size."""
    return _comparable(scope, left, right), _comparable(scope, right, left)


def _comparable(scope: KernelScope, found: TypedExpression, other: TypedExpression) -> Expr:
    wide = found.wide
    if wide is None:
        return found.expr
    # What is near is on the same side of all that has 32 bits.
    within = other.type is _WHOLE and other.wide is None
    if wide.how is Exactness.EXACT or (within and wide.how is not Exactness.LOST):
        return wide.expr
    return _refused(scope, wide, "is compared").expr


def _refused(scope: KernelScope, wide: WideNumber, what: str) -> TypedExpression:
    text = " ".join(wide.place.text.split())
    message = f"'{text}' {what}, but may have more bits than real numbers and whole ones have."
    if not any(one.message == message and one.span == wide.place for one in scope.problems):
        scope.refuse("P054", message, wide.place, _HINT)
    return UNKNOWN


# ---------------------------------------------------------------------------- what is rounded


def rounded(scope: KernelScope, node: ast.Call, function: str, number: Expr) -> WideNumber:
    """Return a rounded number as a real, because an integer could overflow.

    The functions that round down or up are computed from the number truncated towards zero,
    adjusted by 1 if needed. Adding zero removes a negative zero, which integers do not have.
    """
    number = widened(scope, number)
    towards_zero = nodes.intrinsic_call("aint", number)
    place = scope.tree.span(node)
    scope.called.setdefault("aint", place)
    zero, one = nodes.real(0.0, scope.real), nodes.real(1.0, scope.real)
    if function not in _BEYOND:
        return WideNumber(nodes.binary_operation("+", towards_zero, zero), Exactness.EXACT, place)
    scope.called.setdefault("merge", place)
    comparison, sign = _BEYOND[function]
    by = nodes.unary_operation(one, "-") if sign < 0 else one
    is_beyond = nodes.binary_operation(comparison, towards_zero, number)
    made = nodes.binary_operation(
        "+", towards_zero, nodes.intrinsic_call("merge", by, zero, is_beyond)
    )
    return WideNumber(made, Exactness.EXACT, place)


_BEYOND: Mapping[str, tuple[str, int]] = {"floor": (">", -1), "ceiling": ("<", 1)}
"""When a number that was rounded towards zero has to change to be rounded otherwise, and how."""


# ---------------------------------------------------------------------------- what is computed


def negative(scope: KernelScope, found: TypedExpression) -> WideNumber | None:
    """Return a negated wide integer, or None for a 32-bit integer."""
    if found.wide is None:
        return None
    return replace(found.wide, expr=_negated(scope, found.wide.expr))


def evaluated_first(found: WideNumber | None) -> WideNumber | None:
    """Return a wide integer in parentheses, so that it is evaluated first."""
    return None if found is None else replace(found, expr=nodes.parenthesized(found.expr))


def select_integer(
    scope: KernelScope, function: str, args: Sequence[TypedExpression], *others: Expr
) -> WideNumber | None:
    """Return the wide result of `abs`, `max`, `min` or a selection of integers.

    The function returns None if all arguments have 32 bits.
    """
    wide = [arg.wide for arg in args if arg.wide is not None]
    if not wide:
        return None
    forms = [_real_form(scope, arg) for arg in args]
    if function == "abs":
        # Some versions of gcc fold '0.0 - fabs(x)' into a zero with a sign.
        function, forms = "max", [*forms, _negated(scope, forms[0])]
        scope.called.setdefault("max", wide[0].place)
    made = nodes.intrinsic_call(function, *forms, *others)
    worst = max(wide, key=lambda one: one.how.value)
    return replace(worst, expr=made)


def kept(values: Sequence[TypedExpression]) -> WideNumber | None:
    """Return the wide value of a local variable assigned from several integers.

    The function returns None if all have 32 bits. Otherwise its value as a real is lost.
    """
    wide = next((one.wide for one in values if one.wide is not None), None)
    return None if wide is None else replace(wide, expr=UNKNOWN.expr, how=Exactness.LOST)


def integer_operation(
    scope: KernelScope, node: ast.AST, op: ast.operator, operands: Sequence[TypedExpression]
) -> WideNumber | None:
    """Return the wide result of an operation on two integers; None if both have 32 bits.

    If both operands are exact reals, the real result is the one nearest to Python's result.
    Otherwise it is an approximation. A difference of approximations may have no correct bit.
    """
    left, right = operands
    if left.type is not _WHOLE or right.type is not _WHOLE:
        return None
    hows = [one.wide.how for one in operands if one.wide is not None]
    if not hows:
        return None
    how = _HOW[type(op)](hows, right) if type(op) in _HOW else Exactness.LOST
    if Exactness.LOST in hows:
        how = Exactness.LOST
    place = scope.tree.span(node)
    if how is Exactness.LOST:
        return WideNumber(UNKNOWN.expr, how, place)
    first, second = (nodes.parenthesized(_real_form(scope, one)) for one in operands)
    match op:
        case ast.Add():
            made: Expr = nodes.binary_operation("+", first, second)
        case ast.Sub():
            made = nodes.binary_operation("-", first, second)
        case ast.Pow():
            made = nodes.binary_operation("**", first, right.expr)
        case ast.Mod():
            made = _with_one_zero(scope, nodes.intrinsic_call("modulo", first, second))
        case _:
            made = _with_one_zero(scope, nodes.binary_operation("*", first, second))
    return WideNumber(made, how, place)


def _of_sum(hows: Sequence[Exactness], _right: TypedExpression) -> Exactness:
    if all(how is Exactness.EXACT for how in hows):
        return Exactness.ROUNDED
    return Exactness.NEAR if len(hows) == 1 else Exactness.LOST


def _of_product(hows: Sequence[Exactness], _right: TypedExpression) -> Exactness:
    exact = all(how is Exactness.EXACT for how in hows)
    return Exactness.ROUNDED if exact else Exactness.NEAR


def _of_rest(hows: Sequence[Exactness], _right: TypedExpression) -> Exactness:
    exact = all(how is Exactness.EXACT for how in hows)
    return Exactness.ROUNDED if exact else Exactness.LOST


def _of_power(hows: Sequence[Exactness], right: TypedExpression) -> Exactness:
    exponent = integer_value(right.expr)
    is_square = exponent is not None and exponent <= _SQUARE
    return Exactness.ROUNDED if is_square and hows[0] is Exactness.EXACT else Exactness.NEAR


_SQUARE = 2
_HOW: Mapping[type[ast.operator], Callable[[Sequence[Exactness], TypedExpression], Exactness]] = {
    ast.Add: _of_sum,
    ast.Sub: _of_sum,
    ast.Mult: _of_product,
    ast.Mod: _of_rest,
    ast.Pow: _of_power,
}
"""How well operations have a real number, by how well the operands that were rounded have one."""


def _negated(scope: KernelScope, number: Expr) -> Expr:
    """Return a negated number without a negative zero: 0 is subtracted from."""
    return nodes.binary_operation("-", nodes.real(0.0, scope.real), nodes.parenthesized(number))


def _with_one_zero(scope: KernelScope, made: Expr) -> Expr:
    return nodes.binary_operation("+", made, nodes.real(0.0, scope.real))


def _real_form(scope: KernelScope, found: TypedExpression) -> Expr:
    return found.wide.expr if found.wide is not None else _converted(scope, found.expr)


def _converted(scope: KernelScope, number: Expr) -> Expr:
    kind = [Name(scope.real.kind)] if scope.real.kind else []
    return nodes.intrinsic_call("real", number, *kind)


def is_nearest(scope: KernelScope, node: ast.BinOp) -> bool:
    """Return whether a sum is the outer one of the idiom for the integer nearest to `x`.

    The idiom is `int(x) + int(2.0 * (x - int(x)))`. Its result can be computed as a real without
    conversion. The fractional part of `x` is exact, and an integer of more than 52 bits has no
    fractional part.
    """
    match node:
        case ast.BinOp(
            ast.Call() as whole,
            ast.Add(),
            ast.Call(
                args=[
                    ast.BinOp(
                        ast.Constant(2.0), ast.Mult(), ast.BinOp(x, ast.Sub(), ast.Call() as again)
                    )
                ]
            ) as behind,
        ):
            calls = (whole, behind, again)
            is_cut = all(
                (function := scope.offered.function(one.func)) is not None
                and function.name == "int"
                and len(one.args) == 1
                and not one.keywords
                for one in calls
            )
            same = {ast.dump(one) for one in (whole.args[0], again.args[0], x)} if is_cut else ()
            return len(same) == 1
    return False
