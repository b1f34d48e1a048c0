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
    """The view of rank 0 that receives a result."""

    __slots__ = ("_part",)

    def __init__(self, view: View) -> None:
        if view.rank != 0:
            raise ViewRankError(f'A result is one number, but "{view.label()}" has a rank.')
        self._part = Part.of(view)

    def put(self, value: Any) -> None:
        """Set the element to `value`."""
        fill_values(self._part, value)


class Joining(NamedTuple):
    """A reduction operation: `Sum()` is a reducer, `Sum(view)` also writes its result to `view`.

    It contains the identity element, the operator symbol if there is one, the binary function, and
    the function for an array of values; the latter takes the array's module (NumPy or CuPy) as
    first argument.
    """

    name: str
    identity: Any
    sign: str
    join: Callable[[Any, Any], Any]
    join_many: Callable[[Any, Any], Any]

    def __call__(self, result: View | None = None) -> Reducer:
        """Return a reducer; if `result` is a view of rank 0, the outcome is also written there."""
        return Reducer(self, None if result is None else _Result(result))

    def __repr__(self) -> str:
        return self.name


class Reducer(NamedTuple):
    """A reduction operation and the optional destination of the result."""

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
    """The accumulator for one result.

    `value` is the current result; a functor that runs for one index may set it.
    """

    __slots__ = ("_joining", "_value", "shape")

    def __init__(self, reducer: Reducer) -> None:
        """Start with the identity element.

        `shape` is the shape of the indices of the current call, None for a single index.
        """
        self._joining = reducer.joining
        self._value: Any = reducer.joining.identity
        self.shape: tuple[int, ...] | None = None

    @property
    def value(self) -> Any:
        """Return the current result."""
        if self.shape is not None:
            raise NotTogetherError("What came before one index is not known for many.")
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        if self.shape is not None or isinstance(value, Together):
            raise NotTogetherError("A result is one number.")
        self._value = value

    def join(self, contribution: Any) -> Self:
        """Add one contribution, or one for each index."""
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
        """Add the negated contribution."""
        return self._signed("+", -contribution)

    def __imul__(self, contribution: Any) -> Self:
        return self._signed("*", contribution)

    def __iand__(self, contribution: Any) -> Self:
        return self._signed("&", contribution)

    def __ior__(self, contribution: Any) -> Self:
        return self._signed("|", contribution)
