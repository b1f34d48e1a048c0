"""`AtomicElement`, the result of element access on a view with the trait `Atomic` (VIEW-12)."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from psyclone_storage.storage.kokkos.vectorized_functor import THREAD, Together
from psyclone_storage.storage.kokkos.view_handle import Handle


class ElementView(Protocol):
    """The attributes and methods of a view that element references need."""

    @property
    def handle(self) -> Handle:
        """Return the handle: memory, layout and offset."""

    def fetch(self, position: Any) -> Any:
        """Return the element at `position`."""

    def store(self, position: Any, value: Any) -> None:
        """Set the element at `position`."""


class Cell:
    """One element of a view, for atomic access; all atomic views of the memory share one lock.

    In a functor that runs for many indices, it represents one element for each index.
    """

    __slots__ = ("view", "position", "record")

    def __init__(self, view: ElementView, position: Any) -> None:
        """Refer to the element at `position` in the memory."""
        self.view = view
        self.position = position
        self.record = view.handle.memory

    def load(self) -> Any:
        """Return the value."""
        with self.record.lock:
            return self.view.fetch(self.position)

    def replace(self, value: Any) -> None:
        """Set the value."""
        with self.record.lock:
            self.view.store(self.position, value)

    def combine(self, function: Any, operand: Any) -> None:
        """Atomically replace the value by `function(value, operand)`."""
        running = THREAD.running
        with self.record.lock:
            if running is not None:
                running.combine(self.record, function, self.position, operand)
            else:
                self.view.store(self.position, function(self.view.fetch(self.position), operand))

    def is_at(self, view: ElementView, position: Any) -> bool:
        """Return whether this is the element at `position` in the memory of `view`."""
        if self.record is not view.handle.record:
            return False
        if isinstance(position, Together) and isinstance(self.position, Together):
            if position.array is self.position.array:
                return True
            return bool((position.array == self.position.array).all())
        return bool(self.position == position)


class AtomicElement(NDArrayOperatorsMixin):
    """A reference to an element with atomic updates, such as `v[i] += 1`.

    In all other operations, it is equivalent to the current value of the element.
    """

    __slots__ = ("cell",)

    def __init__(self, cell: Cell) -> None:
        """Refer to the element `cell`."""
        self.cell = cell

    def value(self) -> Any:
        """Return the current value."""
        return self.cell.load()

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **words: Any) -> Any:
        """Execute the ufunc with the current value."""
        plain = [_value_of(part) for part in inputs]
        return getattr(function, method)(*plain, **words)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the current value as an array of rank 0."""
        return np.array(self.value(), dtype)

    def _changed(self, function: Any, operand: Any) -> Self:
        self.cell.combine(function, _value_of(operand))
        return self

    def __iadd__(self, operand: Any) -> Self:
        return self._changed(np.add, operand)

    def __isub__(self, operand: Any) -> Self:
        return self._changed(np.subtract, operand)

    def __imul__(self, operand: Any) -> Self:
        return self._changed(np.multiply, operand)

    def __itruediv__(self, operand: Any) -> Self:
        return self._changed(np.true_divide, operand)

    def __iand__(self, operand: Any) -> Self:
        return self._changed(np.bitwise_and, operand)

    def __ior__(self, operand: Any) -> Self:
        return self._changed(np.bitwise_or, operand)

    def __ixor__(self, operand: Any) -> Self:
        return self._changed(np.bitwise_xor, operand)

    def __float__(self) -> float:
        return float(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __index__(self) -> int:
        return self.value().__index__()  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return bool(self.value())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"AtomicElement({self.value()!r})"


def _value_of(part: Any) -> Any:
    return part.value() if isinstance(part, AtomicElement) else part
