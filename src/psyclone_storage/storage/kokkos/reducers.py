"""The reducers of `parallel_reduce`, and the accumulators that functors contribute to."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from psyclone_storage.storage.core.errors import ViewRankError, ViewTypeError
from psyclone_storage.storage.kokkos.vectorized_functor import (
    NotTogetherError,
    Together,
    check_number,
    library_of,
)
from psyclone_storage.storage.kokkos.view import View
from psyclone_storage.storage.kokkos.view_copy import Part, fill_values


class _Result:
    """The view of rank 0 that a result is written to."""

    __slots__ = ("_part",)

    def __init__(self, view: View) -> None:
        if view.rank != 0:
            raise ViewRankError(f'A result is one number, but "{view.label()}" has a rank.')
        self._part = Part.of(view)

    def put(self, value: Any) -> None:
        """Set the element."""
        fill_values(self._part, value)


class Joining(NamedTuple):
    """A way to join contributions: `Sum()` is a reducer, `Sum(view)` one that fills `view`.

    It contains the identity element, the sign of its operator if it has one, the binary function,
    and the function of many values, whose first argument is the library of their array.
    """

    name: str
    identity: Any
    sign: str
    join: Callable[[Any, Any], Any]
    join_many: Callable[[Any, Any], Any]

    def __call__(self, result: View | None = None) -> Reducer:
        """Return the reducer; its outcome is written to the view of rank 0, if there is one."""
        return Reducer(self, None if result is None else _Result(result))

    def __repr__(self) -> str:
        return self.name


class Reducer(NamedTuple):
    """The way to join contributions, and the destination of the result."""

    joining: Joining
    result: _Result | None = None


def _both(one: Any, other: Any) -> bool:
    return bool(one) and bool(other)


def _either(one: Any, other: Any) -> bool:
    return bool(one) or bool(other)


def _function(name: str) -> Callable[[Any, Any], Any]:
    return lambda library, values: getattr(library, name)(values)


def _bits(function: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda _, values: function.reduce(values)


# pylint: disable=invalid-name  # the names of Kokkos
Sum = Joining("Sum", 0, "+", operator.add, _function("sum"))
Prod = Joining("Prod", 1, "*", operator.mul, _function("prod"))
Max = Joining("Max", -math.inf, "", np.maximum, _function("max"))
Min = Joining("Min", math.inf, "", np.minimum, _function("min"))
LAnd = Joining("LAnd", True, "", _both, _function("all"))
LOr = Joining("LOr", False, "", _either, _function("any"))
BAnd = Joining("BAnd", -1, "&", operator.and_, _bits(np.bitwise_and))
BOr = Joining("BOr", 0, "|", operator.or_, _bits(np.bitwise_or))


class Reduction:
    """The contributions to one result.

    `value` is what they come to so far; a functor that runs for one index may set it.
    """

    __slots__ = ("_joining", "_value", "shape")

    def __init__(self, reducer: Reducer) -> None:
        """Start with no contribution; `shape` is that of the indices of one call, None for one."""
        self._joining = reducer.joining
        self._value: Any = reducer.joining.identity
        self.shape: tuple[int, ...] | None = None

    @property
    def value(self) -> Any:
        """Return what there is so far."""
        if self.shape is not None:
            raise NotTogetherError("What came before one index is not known for many.")
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        if self.shape is not None or isinstance(value, Together):
            raise NotTogetherError("A result is one number.")
        self._value = value

    def join(self, contribution: Any) -> Self:
        """Take one more contribution, or one for each index."""
        if self.shape is None:
            self._value = self._joining.join(self._value, contribution)
            return self
        check_number(contribution)
        many = isinstance(contribution, Together)
        given = contribution.array if many else np.array(contribution)
        library = library_of(given)
        found = self._joining.join_many(library, library.broadcast_to(given, self.shape).ravel())
        joined = found.item() if hasattr(found, "__cuda_array_interface__") else found
        self._value = self._joining.join(self._value, joined)
        return self

    def _signed(self, sign: str, contribution: Any) -> Self:
        if self._joining.sign != sign:
            raise ViewTypeError(
                f"{self._joining!r}() does not join with {sign}=: call join(contribution)."
            )
        return self.join(contribution)

    def __iadd__(self, contribution: Any) -> Self:
        return self._signed("+", contribution)

    def __isub__(self, contribution: Any) -> Self:
        """Join by a sum, with the other sign."""
        return self._signed("+", -contribution)

    def __imul__(self, contribution: Any) -> Self:
        return self._signed("*", contribution)

    def __iand__(self, contribution: Any) -> Self:
        return self._signed("&", contribution)

    def __ior__(self, contribution: Any) -> Self:
        return self._signed("|", contribution)
