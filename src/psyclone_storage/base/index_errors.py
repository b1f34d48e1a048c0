"""The message about an index that is out of bounds."""

from __future__ import annotations


def out_of_bounds(index: object, length: object) -> str:
    """Return the message; the arguments may be conversions of `printf`."""
    return f"index {index} is out of bounds, as the length is {length}."
