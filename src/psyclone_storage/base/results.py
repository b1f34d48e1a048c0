"""A mutable scalar that receives the result of a reduction built-in.

Python functions cannot assign to scalar arguments, so a reduction stores its result in this object.
It can be used as a number.
"""

from __future__ import annotations

from typing import Protocol

from psyclone_storage.base.uncaught import UserError


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


class UnsetResultError(UserError, ValueError):
    """A `Result` is read that has no value."""


class Result:
    """A number computed by an invoke, which can be an argument of a later invoke."""

    __slots__ = ("__weakref__", "_dtype", "_value", "_why_unset", "waiting")

    def __init__(self, value: float | None = None, dtype: str = "") -> None:
        """Create a result, without a value unless an initial one is given.

        `dtype` is the real kind, such as `r_solver`, if it is not the default.
        """
        self.waiting: DeferredQueue | None = None
        """The queue of the deferred invokes that use the number."""
        self._value, self._dtype = value, dtype
        self._why_unset = "no invoke has computed it, and the program has not set it"

    @property
    def value(self) -> float:
        """The number; pending invokes that use it run first.

        Raises:
            UnsetResultError: it has no value.
        """
        if self.waiting is not None:
            self.waiting.complete()
        if self._value is None:
            raise UnsetResultError(
                f"A Result has no value: {self._why_unset}. Write Result(0.0) for an initial value."
            )
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        if self.waiting is not None:
            self.waiting.complete()
        self._value = value

    @property
    def is_set(self) -> bool:
        """True if the number has a value, without those of pending invokes."""
        return self._value is not None

    def lose(self, error: Exception) -> None:
        """Remove the value, because the invoke that was to compute it has failed."""
        self._value, self._why_unset = None, f"the invoke that computes it failed ({error!r})"

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
        if self.waiting is not None:
            self.waiting.complete()
        return "Result()" if self._value is None else f"Result({self._value!r})"
