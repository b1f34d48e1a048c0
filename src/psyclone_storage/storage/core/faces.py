"""Access from any face to its buffer, common to all APIs and independent of any particular face.

A face provides its buffer as `buffer`. One that covers only part of the elements, or has another
number of dimensions than one, describes this by `window_spec`.
"""

from __future__ import annotations

from typing import Any

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.layout import strides_of


def found_buffer(thing: Any) -> CoherentBuffer | None:
    """Return the buffer that `thing` is or is a face of; `None` for any other object."""
    found = thing if isinstance(thing, CoherentBuffer) else getattr(thing, "buffer", None)
    return found if isinstance(found, CoherentBuffer) else None


def buffer_behind(face: Any) -> CoherentBuffer:
    """Return the buffer that `face` is, or has. Raises `TypeError` for other objects."""
    found = found_buffer(face)
    if found is None:
        raise TypeError(f"{type(face).__name__} is no buffer, and has none.")
    return found


def spec_of(face: Any) -> WindowSpec:
    """Return which elements of its buffer `face` shows, in which shape, strides and order.

    A face that does not say shows all of them, in one dimension. Raises `TypeError` for what has no
    buffer.
    """
    buffer = buffer_behind(face)
    said = getattr(face, "window_spec", None)
    return said if isinstance(said, WindowSpec) else WindowSpec(buffer.dtype, (buffer.size,))


def strides_of_spec(spec: WindowSpec) -> tuple[int, ...]:
    """Return the strides in bytes, those of C order where `spec` does not give them."""
    if spec.strides is not None:
        return spec.strides
    return strides_of(spec.shape, tuple(range(len(spec.shape))), spec.dtype.itemsize, 1)
