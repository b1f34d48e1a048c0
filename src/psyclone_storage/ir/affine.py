"""Whole-number expressions as sums: `2*i + n - 1` is two `i`, one `n` and minus one.

Two such sums can be compared and subtracted without knowing the values of their names. What is
no sum of products with constants, as `map(df)` or `n/2`, is one term of its own, equal to itself.
Named constants are names like others until `with_values` has put their values in their place.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Name,
    Sort,
    Symbol,
    Unary,
    canonical,
    integer_value,
    whole,
    whole_number,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import with_parts


@dataclass(frozen=True, slots=True)
class Sum:
    """`constant` plus each term times its factor; terms are known by their canonical text."""

    factors: Mapping[str, int]
    constant: int
    terms: Mapping[str, Expr]

    def factor(self, name: str) -> int:
        """Return how often the name or term `name`, in lower case, is added."""
        return self.factors.get(name, 0)

    def minus(self, other: Sum) -> Sum:
        """Return the difference of two sums."""
        return _joined(self, other, -1)

    @property
    def known(self) -> int | None:
        """The value, if it depends on no name."""
        return None if self.factors else self.constant


def sum_of(expr: Expr) -> Sum:
    """Return the whole-number expression `expr` as a sum."""
    value = whole_number(expr)
    if value is not None:
        return Sum({}, value, {})
    match expr:
        case Unary(Operator.MINUS, operand):
            return _joined(_ZERO, sum_of(operand), -1)
        case Unary(Operator.PLUS, operand):
            return sum_of(operand)
        case Binary(Operator.PLUS, left, right):
            return _joined(sum_of(left), sum_of(right), 1)
        case Binary(Operator.MINUS, left, right):
            return _joined(sum_of(left), sum_of(right), -1)
        case Binary(Operator.TIMES, left, right):
            product = _product(sum_of(left), sum_of(right))
            if product is not None:
                return product
    key = canonical(expr)
    return Sum({key: 1}, 0, {key: expr})


_ZERO = Sum({}, 0, {})


def _joined(first: Sum, second: Sum, sign: int) -> Sum:
    terms = {**first.terms, **second.terms}
    factors = {key: first.factor(key) + sign * second.factor(key) for key in terms}
    kept = {key: factor for key, factor in factors.items() if factor}
    return Sum(kept, first.constant + sign * second.constant, {key: terms[key] for key in kept})


def _product(first: Sum, second: Sum) -> Sum | None:
    """Return the product of two sums, one of which has a known value."""
    if first.known is None:
        first, second = second, first
    if first.known is None:
        return None
    times = first.known
    if times == 0:
        return _ZERO
    factors = {key: factor * times for key, factor in second.factors.items()}
    return Sum(factors, second.constant * times, second.terms)


def expr_of(total: Sum) -> Expr:
    """Return the expression of a sum, the terms in their order and the constant last."""
    text: Expr | None = None
    for key, factor in sorted(total.factors.items(), key=lambda item: item[1] < 0):
        term = total.terms[key]
        scaled = term if abs(factor) == 1 else Binary(Operator.TIMES, whole(abs(factor)), term)
        text = _added(text, scaled, factor < 0)
    if text is None:
        negative = total.constant < 0
        value = whole(abs(total.constant))
        return Unary(Operator.MINUS, value) if negative else value
    if total.constant:
        text = _added(text, whole(abs(total.constant)), total.constant < 0)
    return text


def _added(text: Expr | None, term: Expr, negative: bool) -> Expr:
    if text is None:
        return Unary(Operator.MINUS, term) if negative else term
    return Binary(Operator.MINUS if negative else Operator.PLUS, text, term)


def simplified(expr: Expr) -> Expr:
    """Return a whole-number expression with its constants and equal terms put together."""
    return expr_of(sum_of(expr))


def integer_constant(expr: Expr) -> int | None:
    """Return the value of an expression of integer constants, named ones too, else None."""
    return integer_value(with_values(expr))


def with_values(expr: Expr) -> Expr:
    """Return `expr` with the values of the integer constants in it, and of operations on them.

    The initial value of a variable is not its value.
    """
    known = None
    match expr:
        case Name(symbol=Symbol(sort=sort, value=value)) if value is not None:
            known = None if sort is Sort.VARIABLE else integer_constant(value)
        case _:
            expr = with_parts(expr, with_values)
            known = integer_value(expr)
    return expr if known is None else expr_of(Sum({}, known, {}))


def difference(first: Expr, second: Expr) -> int | None:
    """Return `first - second` where it is the same whatever the values of names, else None."""
    return sum_of(first).minus(sum_of(second)).known
