"""Ranges of 32-bit integers whose computation certainly does not overflow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import Operator

IntegerRange = tuple[int, int]
"""The least and the greatest value."""
ALL: IntegerRange = (-(2**31), 2**31 - 1)


def range_of(expr: ex.Expr, known: Callable[[ex.Expr], IntegerRange | None]) -> IntegerRange | None:
    """Return the range of an integer, or None if a part of its computation may overflow.

    `known` returns the ranges of names, elements and functions without a rule.
    """
    value = ex.integer_value(expr)
    if value is not None:
        return _fitting(value, value)
    match expr:
        case ex.Parenthesised(operand) | ex.Unary(Operator.PLUS, operand):
            return range_of(operand, known)
        case ex.Unary(Operator.MINUS, operand):
            found = range_of(operand, known)
            return None if found is None else _fitting(-found[1], -found[0])
        case ex.Binary(op, left, right):
            first, second = range_of(left, known), range_of(right, known)
            return None if first is None or second is None else _of_operation(op, first, second)
        case ex.CallFunction(ex.Name(key=function), items) if function in _FUNCTIONS:
            values = items[:2] if function == "merge" else items
            found_of_all = [range_of(one, known) for one in values]
            ranges = [one for one in found_of_all if one is not None]
            return _FUNCTIONS[function](ranges) if len(ranges) == len(values) else None
    return known(expr)


def _fitting(low: int, high: int) -> IntegerRange | None:
    """Return a range unless it exceeds 32 bits."""
    return (low, high) if ALL[0] <= low and high <= ALL[1] else None


def _of_operation(op: object, left: IntegerRange, right: IntegerRange) -> IntegerRange | None:
    match op:
        case Operator.PLUS:
            return _fitting(left[0] + right[0], left[1] + right[1])
        case Operator.MINUS:
            return _fitting(left[0] - right[1], left[1] - right[0])
        case Operator.TIMES:
            ends = [one * other for one, other in product(left, right)]
            return _fitting(min(ends), max(ends))
        case Operator.DIVIDE if right[0] > 0:
            return min(left[0], 0), max(left[1], 0)
    return None


def _of_modulo(ranges: list[IntegerRange]) -> IntegerRange:
    """Return the range of a rest, which has the sign of the divisor or is 0."""
    low, high = ranges[1]
    return min(low + 1, 0), max(high - 1, 0)


def _of_absolute_value(ranges: list[IntegerRange]) -> IntegerRange | None:
    ((low, high),) = ranges
    return None if low == ALL[0] else (max(low, -high, 0), max(-low, high))


def _of_common_bits(ranges: list[IntegerRange]) -> IntegerRange:
    without_sign = [high for low, high in ranges if low >= 0]
    return (0, min(without_sign)) if without_sign else ALL


def _of_either(ranges: list[IntegerRange]) -> IntegerRange:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


_FUNCTIONS: dict[str, Callable[[list[IntegerRange]], IntegerRange | None]] = {
    "modulo": _of_modulo,
    "abs": _of_absolute_value,
    "min": lambda ranges: (min(low for low, _ in ranges), min(high for _, high in ranges)),
    "max": lambda ranges: (max(low for low, _ in ranges), max(high for _, high in ranges)),
    "merge": _of_either,
    "iand": _of_common_bits,
    "ior": lambda _: ALL,
    "ieor": lambda _: ALL,
    "not": lambda _: ALL,
}
