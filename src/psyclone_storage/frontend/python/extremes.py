"""Extreme values of indices in loops whose iterations are all reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from psyclone_storage.frontend.python import nodes
from psyclone_storage.frontend.python.scope import CountedRange, KernelScope
from psyclone_storage.ir.expr import Binary, Expr, Name, Unary, integer_value
from psyclone_storage.ir.operators import Operator

_Sum = dict[str, int]
"""A sum of names with their factors; the constant is that of the empty name."""


def lowest(scope: KernelScope, index: Expr) -> int:
    """Return the lowest value that an index certainly takes; 0 if none is known."""
    return min(_constants(scope, index), default=0)


def excess(scope: KernelScope, index: Expr, extent: Expr) -> int:
    """Return by how much an index certainly exceeds an extent; -1 if nothing is known."""
    return max(_constants(scope, Binary(Operator.MINUS, index, extent)), default=-1)


def _constants(scope: KernelScope, index: Expr) -> Iterator[int]:
    """Yield the values that are constant, with each counter at either end of its range."""
    found, certain = _summed(index), scope.certain
    if found is None or certain is None:
        return
    counters = [name for name in found if name in certain]
    for ends in product(*(_ends(certain[name]) for name in counters)):
        value = _replaced(found, dict(zip(counters, ends, strict=True)))
        if value is not None and not any(factor for name, factor in value.items() if name):
            yield value.get("", 0)


def _ends(counted: CountedRange) -> tuple[Expr, ...]:
    """Return the values of a counter that are certainly reached: the first, and the last if known.

    A loop with another step than 1 need not end at its bound.
    """
    step = 1 if counted.step is None else integer_value(counted.step)
    if step in (1, -1):
        return counted.first, counted.last
    first, last = integer_value(counted.first), integer_value(counted.last)
    if not step or first is None or last is None:
        return (counted.first,)
    return counted.first, nodes.whole(first + (last - first) // step * step)


def _replaced(found: _Sum, ends: Mapping[str, Expr]) -> _Sum | None:
    """Return a sum with expressions instead of names."""
    made = {name: factor for name, factor in found.items() if name not in ends}
    for name, end in ends.items():
        value = _summed(end)
        if value is None:
            return None
        made = _plus(made, value, found[name])
    return made


def _summed(expr: Expr) -> _Sum | None:
    """Return an expression as a sum, None if it is none."""
    if (value := integer_value(expr)) is not None:
        return {"": value}
    match expr:
        case Name(text=text):
            return {text: 1}
        case Unary(Operator.MINUS, operand):
            return _scaled(operand, -1)
        case Binary(Operator.PLUS | Operator.MINUS as op, left, right):
            first, second = _summed(left), _summed(right)
            if first is None or second is None:
                return None
            return _plus(first, second, 1 if op is Operator.PLUS else -1)
        case Binary(Operator.TIMES, left, right):
            for factor, other in ((left, right), (right, left)):
                if (value := integer_value(factor)) is not None:
                    return _scaled(other, value)
    return None


def _scaled(expr: Expr, factor: int) -> _Sum | None:
    found = _summed(expr)
    return None if found is None else _plus({}, found, factor)


def _plus(first: _Sum, second: _Sum, factor: int) -> _Sum:
    """Return a sum of the first and so many times the second."""
    made = dict(first)
    for name, own in second.items():
        made[name] = made.get(name, 0) + factor * own
    return made
