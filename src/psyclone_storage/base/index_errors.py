"""The message about an index that is out of bounds, and the size of local arrays."""

from __future__ import annotations

MOST_LOCAL_ELEMENTS = 2**17
"""Elements of the local arrays of a kernel: 1 MiB, as the stack of a thread may have 2 MiB."""


def out_of_bounds(index: object, length: object) -> str:
    """Return the message; the arguments may be conversions of `printf`."""
    return f"index {index} is out of bounds, as the length is {length}."
