"""Extreme values of indices: values that certainly occur, and bounds of all values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf

from psyclone_storage.ir.affine import affine_form
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Expr,
    Name,
    Unary,
    WrappedIndex,
    integer_value,
)
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.scope import CountedRange, KernelScope

_ANY = (-inf, inf)
_WITHOUT_SIGN = 0, inf


def index_bounds(scope: KernelScope, expr: Expr) -> tuple[float, float]:
    """Return a lower and an upper bound of an integer, which are infinite if unknown."""
    value = integer_value(expr)
    if value is not None:
        return value, value
    match expr:
        case Name(text) if text in scope.ranges:
            counted = scope.ranges[text]
            ends = [counted.first, counted.last]
            if counted.step is not None and (integer_value(counted.step) or 0) < 0:
                ends.reverse()
            return index_bounds(scope, ends[0])[0], index_bounds(scope, ends[1])[1]
        case Name(text) if text in scope.passed and scope.passed[text].role is Role.NLAYERS:
            return 1, inf
        case Unary(Operator.MINUS, operand):
            low, high = index_bounds(scope, operand)
            return -high, -low
        case Binary(op, left, right):
            return _of_operation(op, index_bounds(scope, left), index_bounds(scope, right))
        case CallFunction(Name(function), args):
            return _of_function(function, [index_bounds(scope, one) for one in args])
    return _ANY


def _of_operation(
    op: object, left: tuple[float, float], right: tuple[float, float]
) -> tuple[float, float]:
    match op:
        case Operator.PLUS:
            return left[0] + right[0], left[1] + right[1]
        case Operator.MINUS:
            return left[0] - right[1], left[1] - right[0]
        case Operator.TIMES if inf not in (*map(abs, left), *map(abs, right)):
            ends = [one * other for one, other in product(left, right)]
            return min(ends), max(ends)
    return _ANY


def _of_function(function: str, args: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the bounds of an intrinsic function; `merge` has its condition last."""
    lows, highs = zip(*args, strict=True)
    match function:
        case "modulo" if lows[1] > 0:
            return 0, highs[1] - 1
        case "iand" if max(lows) >= 0:
            return 0, min(high for low, high in args if low >= 0)
        case "abs":
            return _WITHOUT_SIGN
        case "min":
            return min(lows), min(highs)
        case "max":
            return max(lows), max(highs)
        case "merge":
            return min(lows[:2]), max(highs[:2])
    return _ANY


def wrapped_index(scope: KernelScope, index: Expr, extent: Expr) -> Expr:
    """Return an index that is checked when the kernel runs, unless it is certainly in range.

    Python counts a negative index from the end.
    """
    least, most = index_bounds(scope, index)
    length = integer_value(extent)
    if least >= 0 and most < (length or 1):
        return index
    if length and least == most:
        return nodes.signed_integer(int(least) % length)
    return WrappedIndex(Name("modulo"), (index, extent))


def lowest(scope: KernelScope, index: Expr) -> int:
    """Return the lowest value that an index certainly has; 0 if none is known."""
    return min(_constants(scope, index), default=0)


def excess(scope: KernelScope, index: Expr, extent: Expr) -> int:
    """Return the number by which an index certainly exceeds an extent; -1 if nothing is known."""
    return max(_constants(scope, Binary(Operator.MINUS, index, extent)), default=-1)


def _constants(scope: KernelScope, index: Expr) -> Iterator[int]:
    """Yield the constant values of an index with each loop variable at an end of its range."""
    if scope.certain is None:
        return
    found = affine_form(index).polynomial
    ranges = {key_of(name): counted for name, counted in scope.certain.items()}
    counters = found.symbols & ranges.keys()
    for ends in product(*(_ends(ranges[key]) for key in counters)):
        forms = (affine_form(end).polynomial for end in ends)
        value = found.replaced(dict(zip(counters, forms, strict=True))).known
        if value is not None:
            yield value


def _ends(counted: CountedRange) -> tuple[Expr, ...]:
    """Return the values of a loop variable that certainly occur: the first, and the last if known.

    A loop with a step other than 1 or -1 may end before its bound.
    """
    step = 1 if counted.step is None else integer_value(counted.step)
    if step in (1, -1):
        return counted.first, counted.last
    first, last = integer_value(counted.first), integer_value(counted.last)
    if not step or first is None or last is None:
        return (counted.first,)
    return counted.first, nodes.signed_integer(first + (last - first) // step * step)
