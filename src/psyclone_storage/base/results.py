"""A mutable scalar that receives the result of a reduction built-in.

Python functions cannot assign to scalar arguments, so a reduction stores its result in this object.
It can be used as a number.
"""

from __future__ import annotations


class Result:
    """A number computed by an invoke, which can be an argument of a later invoke."""

    __slots__ = ("__weakref__", "_dtype", "value")

    def __init__(self, value: float = 0.0, dtype: str = "") -> None:
        """Create a result with an initial value.

        `dtype` is the real kind, such as `r_solver`, if it is not the default.
        """
        self.value, self._dtype = value, dtype

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
