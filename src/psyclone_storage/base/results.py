"""A mutable scalar that receives the result of a reduction built-in.

Python functions cannot assign to scalar arguments, so a reduction stores its result in this object.
It can be used as a number.
"""

from __future__ import annotations

from typing import Protocol


class DeferredQueue(Protocol):
    """Invokes that run when a value is needed."""

    def complete(self) -> None:
        """Run them."""


QUEUES: list[DeferredQueue] = []
"""The queues of this process, which are completed before other collective calls."""


def complete_queues() -> None:
    """Run all deferred invokes. Collective on several ranks."""
    for queue in QUEUES:
        queue.complete()


class Result:
    """A number computed by an invoke, which can be an argument of a later invoke."""

    __slots__ = ("__weakref__", "_dtype", "_value", "waiting")

    def __init__(self, value: float = 0.0, dtype: str = "") -> None:
        """Create a result with an initial value.

        `dtype` is the real kind, such as `r_solver`, if it is not the default.
        """
        self.waiting: DeferredQueue | None = None
        """The queue of the deferred invokes that use the number."""
        self._value, self._dtype = value, dtype

    @property
    def value(self) -> float:
        """The number; pending invokes that use it run first."""
        if self.waiting is not None:
            self.waiting.complete()
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        if self.waiting is not None:
            self.waiting.complete()
        self._value = value

    @property
    def dtype(self) -> str:
        """The kind of the number, which is constant because invokes are compiled for it."""
        return self._dtype

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        """Return the value as an integer."""
        return int(self.value)

    def __repr__(self) -> str:
        return f"Result({self.value!r})"
