"""Indices with run-time checks, and extreme values of indices that certainly occur."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from psyclone_storage.ir.affine import affine_form
from psyclone_storage.ir.checked import CheckedIndex
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Name,
    integer_value,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.scope import CountedRange, KernelScope


def index_with_check(index: Expr, extent: Expr) -> Expr:
    """Return an index that is checked when the kernel runs, or a constant that is in range.

    Python counts a negative index from the end.
    """
    value, length = affine_form(index).known, integer_value(extent)
    if value is not None and length is not None and -length <= value < length:
        return nodes.signed_integer(value % length)
    return CheckedIndex(Name("modulo"), (index, extent))


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
