"""Arithmetic of arrays on emulated devices; operands in other memory spaces are rejected.

CuPy arrays can be added, scaled and summed; code written for them needs the same operations on an
emulated device. Each operation runs on the device, in the order of its stream. As in CuPy, a host
operand must be a scalar.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self


class DeviceArithmetic:
    """The arithmetic operators; `_compute` and `_update` run an operation on the device."""

    __slots__ = ()

    @abstractmethod
    def _compute(self, work: Callable[..., Any], *operands: Any) -> Any:
        """Return a new array with the result of `work` on the data of the operands."""

    @abstractmethod
    def _update(self, work: Callable[..., Any], operand: Any) -> Self:
        """Run the in-place operation `work` on the data of this array and of the operand."""

    @abstractmethod
    def item(self, *index: int) -> Any:
        """Copy one element to the host."""

    def sum(self) -> Any:
        """Return the sum of all elements, as an array of rank 0."""
        return self._compute(operator.methodcaller("sum"), self)

    def min(self) -> Any:
        """Return the smallest element, as an array of rank 0."""
        return self._compute(operator.methodcaller("min"), self)

    def max(self) -> Any:
        """Return the largest element, as an array of rank 0."""
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
