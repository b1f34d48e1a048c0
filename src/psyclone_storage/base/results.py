"""A scalar result of an invoke: the argument that a program passes to a reduction built-in.

Functions in Python give no arguments back, so that a sum needs an object to be put into. It counts
as the number that it has.
"""

from __future__ import annotations


class Result:
    """A number that is found by an invoke, and may be passed to the next one."""

    __slots__ = ("__weakref__", "_dtype", "value")

    def __init__(self, value: float = 0.0, dtype: str = "") -> None:
        """Begin with a number; `dtype` is its kind, as `r_solver`, if it is not the usual one."""
        self.value, self._dtype = value, dtype

    @property
    def dtype(self) -> str:
        """The kind of the number, which stays: invokes are compiled for it."""
        return self._dtype

    def __float__(self) -> float:
        """Return the number."""
        return float(self.value)

    def __int__(self) -> int:
        """Return the number, if it is an integer."""
        return int(self.value)

    def __repr__(self) -> str:
        """Return what it is."""
        return f"Result({self.value!r})"
