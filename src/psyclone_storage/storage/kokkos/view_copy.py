"""Copies of values between views, in any spaces and layouts, without type conversion.

Source and target have the same extents and element type, as Kokkos requires. Between spaces without
a direct transfer, the values are copied through the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.casting import as_stored
from psyclone_storage.storage.core.errors import ViewExtentError, ViewTypeError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.kokkos.subview import cut
from psyclone_storage.storage.kokkos.unmanaged_view import wrapped
from psyclone_storage.storage.kokkos.view_create import AllocProperties, allocated, layout_for
from psyclone_storage.storage.kokkos.view_handle import Handle, Record, Viewed
from psyclone_storage.storage.kokkos.view_layout import offsets_of
from psyclone_storage.storage.kokkos.view_type import ViewType
from psyclone_storage.storage.memory.registry import host_memory


@dataclass(frozen=True, slots=True)
class Part:
    """The source or the target of a copy: type and handle of a view."""

    type: ViewType
    handle: Handle

    @classmethod
    def of(cls, thing: Any) -> Part:
        """Return a view or an array as the source or the target of a copy."""
        if isinstance(thing, Viewed):
            return cls(thing.type, thing.handle)
        return cls(*wrapped(thing))

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the extents."""
        return self.handle.layout.extents

    @property
    def record(self) -> Record:
        """Return the memory; raise `MemoryException` for a view without memory."""
        return self.handle.memory

    def mode(self) -> AccessMode:
        """Return the access mode for overwriting the elements.

        It is read-write if the buffer has other elements, which must be preserved.
        """
        covers = self.handle.layout.span() == self.record.buffer.size == np.prod(self.extents)
        return AccessMode.WRITE_ONLY if covers else AccessMode.READ_WRITE

    def window(self, *, writable: bool = False) -> Any:
        """Return the elements as an array in their memory space."""
        return self.record.window(self.handle.spec(self.type.dtype, writable))

    def places(self) -> Any:
        """Return the position of each element in `window()`; None if the shapes are equal."""
        layout = self.handle.layout
        return offsets_of(layout) if layout.strides is None else None


def copy_values(target: Part, source: Part) -> None:
    """Copy each element of `source` to the same indices of `target`.

    Raises `ViewTypeError` if the target is const or if ranks or element types differ, and
    `ViewExtentError` if extents differ.
    """
    _check(target, source)
    if 0 in target.extents:
        return
    read = source.record.buffer.token(source.record.space, AccessMode.READ)
    write = target.record.buffer.token(target.record.space, target.mode())
    acquire_all((read, write))
    with read, write:
        if source.places() is None and target.places() is None:
            _move(target, source)
        else:
            _scatter(target, _gathered(source))


def fill_values(target: Part, value: Any) -> None:
    """Set each element of `target` to `value`; raise `ViewTypeError` for a const target."""
    _check_writable(target)
    record = target.record
    stored = as_stored(value, target.type.dtype)
    with record.buffer.acquire(record.space, target.mode()):
        record.fill(target.handle.spec(target.type.dtype, True), stored)


def host_values(source: Part) -> np.ndarray[Any, Any]:
    """Return a copy of the elements as a host array with the extents of the view."""
    with source.record.buffer.acquire(source.record.space, AccessMode.READ):
        return np.array(_gathered(source))


def resized(
    part: Part, properties: AllocProperties, arguments: tuple[Any, ...], *, keep: bool
) -> Handle:
    """Return a handle on new memory with other extents.

    With `keep`, values at indices that still exist are copied; if the extents are unchanged, the
    old handle is returned.
    """
    layout = layout_for(part.type, arguments, part.handle.label)
    if keep and part.handle.record is not None and layout == part.handle.layout:
        return part.handle
    fresh = Part(part.type, allocated(part.type, layout, properties))
    if keep and part.handle.record is not None:
        copy_shared(fresh, part)
    return fresh.handle


def copy_shared(target: Part, source: Part) -> None:
    """Copy the elements at the indices that both sides have."""
    shared = tuple((0, min(pair)) for pair in zip(target.extents, source.extents, strict=True))
    ends = [Part(*cut(side.type, side.handle, shared)) for side in (target, source)]
    copy_values(ends[0], ends[1])


def _check(target: Part, source: Part) -> None:
    _check_writable(target)
    if target.type.rank != source.type.rank:
        raise ViewTypeError(f"deep_copy() needs equal ranks, not {target.type} and {source.type}.")
    if target.type.non_const_value_type != source.type.non_const_value_type:
        raise ViewTypeError(
            f'deep_copy() copies elements as they are: it cannot make "{target.type.value_type}" '
            f'of "{source.type.value_type}".'
        )
    if target.extents != source.extents:
        raise ViewExtentError(
            f'deep_copy() needs equal extents, but "{target.handle.label}" has {target.extents} '
            f'and "{source.handle.label}" has {source.extents}.'
        )


def _check_writable(target: Part) -> None:
    if target.type.value_type.const:
        raise ViewTypeError(f'The elements of "{target.handle.label}" ({target.type}) are const.')


def _move(target: Part, source: Part) -> None:
    """Copy between strided arrays, with dimensions in the memory order of the target."""
    strides = target.handle.layout.strides or ()
    order = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    onto = target.window(writable=True).transpose(*order)
    values = source.window().transpose(*order)
    if source.record.space is target.record.space:
        onto[...] = values
    elif target.record.space.host_accessible:
        _fetch(onto, values)
    else:
        host = values if source.record.space.host_accessible else values.get()
        _send(onto, host, target.record.space)


def _fetch(onto: np.ndarray[Any, Any], values: Any) -> None:
    if isinstance(values, np.ndarray):
        np.copyto(onto, values)
    elif onto.flags.c_contiguous:
        values.get(out=onto)
    else:
        np.copyto(onto, values.get())


def _send(onto: Any, values: np.ndarray[Any, Any], space: MemorySpace) -> None:
    packed = np.ascontiguousarray(values)
    if _is_packed(onto):
        onto.set(packed.reshape(onto.shape))
        return
    staged = CoherentBuffer(packed.size, packed.dtype)
    staged.adopt(host_memory().adopt(packed)[0])
    with staged.acquire(space) as access:
        onto[...] = access.window(packed.dtype, onto.shape)


def _is_packed(array: Any) -> bool:
    step = array.dtype.itemsize
    for extent, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True


def _gathered(source: Part) -> np.ndarray[Any, Any]:
    window = source.window()
    values: np.ndarray[Any, Any] = window if isinstance(window, np.ndarray) else window.get()
    places = source.places()
    return values if places is None else values[places]


def _scatter(target: Part, values: np.ndarray[Any, Any]) -> None:
    places = target.places()
    window = target.window(writable=True)
    if places is None:
        places = ...
    if isinstance(window, np.ndarray):
        window[places] = values
        return
    host = window.get()
    host[places] = values
    _send(window, host, target.record.space)
