"""Arithmetic of arrays on emulated devices; operands in other memory spaces are rejected.

CuPy arrays can be added, scaled and summed, so that code written for them must find the same
operations on an emulated device. Each operation runs on the device, in the order of its stream; it
rejects a host operand other than a scalar, as CuPy does.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self


class DeviceArithmetic:
    """The operators; `_compute` says how one operation runs on the device."""

    __slots__ = ()

    @abstractmethod
    def _compute(self, work: Callable[..., Any], *operands: Any) -> Any:
        """Return a new array with the result of `work` on the pages of the operands."""

    @abstractmethod
    def _update(self, work: Callable[..., Any], operand: Any) -> Self:
        """Run `work`, an operation in place, on the own pages and those of the operand."""

    @abstractmethod
    def item(self, *index: int) -> Any:
        """Copy one element to the host."""

    def sum(self) -> Any:
        """Return the sum of all elements, as an array of dimension 0."""
        return self._compute(operator.methodcaller("sum"), self)

    def min(self) -> Any:
        """Return the least element, as an array of dimension 0."""
        return self._compute(operator.methodcaller("min"), self)

    def max(self) -> Any:
        """Return the greatest element, as an array of dimension 0."""
        return self._compute(operator.methodcaller("max"), self)

    def __neg__(self) -> Any:
        return self._compute(operator.neg, self)

    def __add__(self, other: Any) -> Any:
        return self._compute(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._compute(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._compute(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._compute(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._compute(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._compute(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._compute(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._compute(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._compute(operator.pow, self, other)

    def __iadd__(self, other: Any) -> Self:
        return self._update(operator.iadd, other)

    def __isub__(self, other: Any) -> Self:
        return self._update(operator.isub, other)

    def __imul__(self, other: Any) -> Self:
        return self._update(operator.imul, other)

    def __itruediv__(self, other: Any) -> Self:
        return self._update(operator.itruediv, other)

    def __ipow__(self, other: Any) -> Self:
        return self._update(operator.ipow, other)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())
