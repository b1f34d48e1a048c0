"""Own `AtomicElement`, what element access gives on a view with the trait `Atomic` (VIEW-12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Cell(Protocol):
    """One element as an atomic access needs it: something to lock, to load and to store."""

    def update(self, change: Callable[[Any], Any]) -> Any:
        """Replace the value by `change(value)` with nobody in between; return the new value."""

    def load(self) -> Any:
        """Return the value."""


class AtomicElement(NDArrayOperatorsMixin):
    """An element whose updates are atomic: `v[i] += 1` counts even if other threads do it too.

    In all other operations it is its value at that moment.
    """

    __slots__ = ("cell",)

    def __init__(self, cell: Cell) -> None:
        """Stand for the element in `cell`."""
        self.cell = cell

    def value(self) -> Any:
        """Return the value at this moment."""
        return self.cell.load()

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **words: Any) -> Any:
        """Compute with the value."""
        plain = [part.value() if isinstance(part, AtomicElement) else part for part in inputs]
        return getattr(function, method)(*plain, **words)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the value as an array without dimensions."""
        return np.array(self.value(), dtype)

    def _changed(self, function: Callable[[Any, Any], Any], operand: Any) -> Self:
        self.cell.update(lambda value: function(value, operand))
        return self

    def __iadd__(self, operand: Any) -> Self:
        """Add atomically."""
        return self._changed(np.add, operand)

    def __isub__(self, operand: Any) -> Self:
        """Subtract atomically."""
        return self._changed(np.subtract, operand)

    def __imul__(self, operand: Any) -> Self:
        """Multiply atomically."""
        return self._changed(np.multiply, operand)

    def __itruediv__(self, operand: Any) -> Self:
        """Divide atomically."""
        return self._changed(np.true_divide, operand)

    def __iand__(self, operand: Any) -> Self:
        """Combine the bits atomically."""
        return self._changed(np.bitwise_and, operand)

    def __ior__(self, operand: Any) -> Self:
        """Combine the bits atomically."""
        return self._changed(np.bitwise_or, operand)

    def __ixor__(self, operand: Any) -> Self:
        """Combine the bits atomically."""
        return self._changed(np.bitwise_xor, operand)

    def __float__(self) -> float:
        """Return the value as a Python number."""
        return float(self.value())

    def __int__(self) -> int:
        """Return the value as a Python integer."""
        return int(self.value())

    def __index__(self) -> int:
        """Return the value for use as an index."""
        return self.value().__index__()  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        """Say whether the value is not zero."""
        return bool(self.value())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the value."""
        return f"AtomicElement({self.value()!r})"
