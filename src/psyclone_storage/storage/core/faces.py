"""Access from any facade to its buffer.

A facade provides its buffer as the attribute `buffer`. If it covers only part of the elements, or
is not one-dimensional, its attribute `window_spec` describes them.
"""

from __future__ import annotations

from typing import Any

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.layout import strides_of


def found_buffer(thing: Any) -> CoherentBuffer | None:
    """Return the buffer that `thing` is or has; None for any other object."""
    found = thing if isinstance(thing, CoherentBuffer) else getattr(thing, "buffer", None)
    return found if isinstance(found, CoherentBuffer) else None


def buffer_behind(face: Any) -> CoherentBuffer:
    """Return the buffer that `face` is or has; raise `TypeError` for other objects."""
    found = found_buffer(face)
    if found is None:
        raise TypeError(f"{type(face).__name__} is no buffer, and has none.")
    return found


def spec_of(face: Any) -> WindowSpec:
    """Return dtype, shape, strides and offset of the elements of `face` in its buffer.

    Without the attribute `window_spec`, a facade covers all elements, in one dimension. Raises
    `TypeError` for an object without a buffer.
    """
    buffer = buffer_behind(face)
    said = getattr(face, "window_spec", None)
    return said if isinstance(said, WindowSpec) else WindowSpec(buffer.dtype, (buffer.size,))


def strides_of_spec(spec: WindowSpec) -> tuple[int, ...]:
    """Return the strides in bytes; without strides in `spec`, those of C order."""
    if spec.strides is not None:
        return spec.strides
    return strides_of(spec.shape, tuple(range(len(spec.shape))), spec.dtype.itemsize, 1)
