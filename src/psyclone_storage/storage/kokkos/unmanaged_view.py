"""Conversion of existing memory to the handle of a view, without a copy.

The input is an array of the host or of a device, an address, another facade of a buffer or scratch
memory. An array, or another facade, is treated like a view with its own type. The assignment rules
then determine which view types can be created from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import ViewExtentError, ViewTypeError
from psyclone_storage.storage.core.faces import (
    buffer_behind,
    found_buffer,
    spec_of,
    strides_of_spec,
)
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, device_space, host_space
from psyclone_storage.storage.interop.dlpack import imported
from psyclone_storage.storage.interop.gt import device_array, strides_in
from psyclone_storage.storage.kokkos.data_type import DataType, scalar_of
from psyclone_storage.storage.kokkos.view_handle import Handle, Record, record_of
from psyclone_storage.storage.kokkos.view_layout import (
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    ViewLayout,
    same_places,
)
from psyclone_storage.storage.kokkos.view_spaces import ScratchSpace, execution_space_of
from psyclone_storage.storage.kokkos.view_type import ViewType
from psyclone_storage.storage.memory.host import HostMemory
from psyclone_storage.storage.memory.registry import memory_of


def face_of(thing: Any, space: MemorySpace) -> tuple[ViewType, Handle]:
    """Return type and handle of a view in `space` on the buffer of the facade `thing`.

    `thing` is a `CoherentBuffer`, a storage, an HMemo array or a similar object; the view shares
    its validity.
    """
    buffer = buffer_behind(thing)
    place = host_space() if space.kind is SpaceKind.ANONYMOUS else space
    record = record_of(buffer, place)
    item = buffer.itemsize
    if not hasattr(thing, "window"):
        spec = spec_of(thing)
        layout = LayoutStride(spec.shape, _in_elements(strides_of_spec(spec), item))
        handle = Handle.counted(record, layout, spec.offset // item)
    else:
        window = thing.window(record.space)
        begin = _address(window) - record.allocation.pointer
        layout = LayoutStride(window.shape, _in_elements(window.strides, item))
        handle = Handle.counted(record, layout, begin // item)
    const = buffer.const or not record.allocation.writable
    return _type_for(buffer.dtype, handle.layout, space, const), handle


def is_face(thing: Any) -> bool:
    """Return whether `thing` is a buffer or has one, like a storage."""
    return found_buffer(thing) is not None


def wrapped(thing: Any) -> tuple[ViewType, Handle]:
    """Return type and handle of an array, without a copy or ownership of its memory (VIEW-54).

    Raises `ViewTypeError` if `thing` is not an array, or if its strides are not multiples of the
    element size.
    """
    on_device = getattr(thing, "__cuda_array_interface__", None)
    if on_device is not None:
        space = getattr(thing, "space", None) or _device_of(thing)
        dtype, shape = np.dtype(on_device["typestr"]), tuple(on_device["shape"])
        strides, read_only = strides_in(on_device), on_device["data"][1]
        allocation, first = memory_of(space).adopt(thing)
    else:
        array = _host_array(thing)
        space = host_space()
        dtype, shape, strides = array.dtype, array.shape, array.strides
        read_only = not array.flags.writeable
        allocation, first = _host_memory(space).adopt(array)
    layout = LayoutStride(shape, _in_elements(strides, dtype.itemsize))
    record = _recorded(allocation, dtype)
    handle = Handle(record, None, layout, first // dtype.itemsize)
    return _type_for(dtype, layout, space, read_only), handle


def deduced(view_type: ViewType, handle: Handle) -> tuple[Any, ...]:
    """Return the arguments of the type of `View(array)`, with a regular layout if possible."""
    extents = handle.layout.extents
    regular = (kind for kind in (LayoutRight, LayoutLeft) if _fits(kind(*extents), handle))
    return view_type.data_type, next(regular, LayoutStride), view_type.memory_space


def recorded_at(
    space: MemorySpace, address: int, nbytes: int, dtype: np.dtype[Any], owner: object
) -> Record:
    """Return a record of the `nbytes` bytes at `address`; `owner` keeps them alive."""
    if space.host_accessible:
        allocation = _host_memory(space).adopt_pointer(address, nbytes, owner)
    else:
        info = {
            "shape": (nbytes // dtype.itemsize,),
            "typestr": dtype.str,
            "data": (address, False),
            "strides": None,
        }
        allocation, _ = memory_of(space).adopt(device_array(info, owner))
    return _recorded(allocation, dtype)


def lent(scratch: ScratchSpace, nbytes: int, dtype: np.dtype[Any]) -> Record:
    """Return a record of the next `nbytes` bytes of scratch memory."""
    if scratch.backing is None:
        scratch.backing = record_of(CoherentBuffer(scratch.capacity, np.uint8), scratch.space)
    backing: Record = scratch.backing
    address = backing.allocation.pointer + scratch.take(nbytes)
    return recorded_at(scratch.space, address, nbytes, dtype, backing)


def checked_room(view_type: ViewType, handle: Handle) -> Handle:
    """Return `handle`; raise `ViewExtentError` if its elements exceed the memory."""
    buffer = handle.memory.buffer
    needed = handle.offset + handle.layout.span()
    if needed <= buffer.size:
        return handle
    raise ViewExtentError(
        f"{view_type} with extents {handle.layout.extents} needs {needed} elements, but the memory "
        f'given ("{handle.label}") has {buffer.size}.'
    )


def _type_for(
    dtype: np.dtype[Any], layout: ViewLayout, space: MemorySpace, const: bool
) -> ViewType:
    data = DataType(scalar_of(dtype).with_const(const), len(layout.extents), ())
    return ViewType(data, LayoutStride, execution_space_of(space), space)


def _recorded(allocation: Allocation, dtype: np.dtype[Any]) -> Record:
    size = allocation.capacity // dtype.itemsize if dtype.itemsize else 0
    buffer = CoherentBuffer(size, dtype)
    buffer.adopt(allocation)
    return record_of(buffer, allocation.space)


def _host_array(thing: Any) -> np.ndarray[Any, Any]:
    if isinstance(thing, np.ndarray):
        return thing
    found = imported(thing)
    if found is not None:
        return found
    try:
        has_interface = hasattr(thing, "__array_interface__")
        return np.asarray(thing if has_interface else memoryview(thing))
    except TypeError:
        raise ViewTypeError(
            f"A view cannot be made from {thing!r}: give a label and extents, a view, an array or "
            f"an address."
        ) from None


def _host_memory(space: MemorySpace) -> HostMemory:
    memory = memory_of(space)
    assert isinstance(memory, HostMemory)
    return memory


def _device_of(thing: Any) -> MemorySpace:
    where = getattr(thing, "__dlpack_device__", None)
    return device_space() if where is None else device_space(where()[1])


def _address(window: Any) -> int:
    if isinstance(window, np.ndarray):
        address: int = window.__array_interface__["data"][0]
        return address
    return int(window.data.ptr)


def _in_elements(strides: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    if any(stride % itemsize for stride in strides):
        raise ViewTypeError(
            f"An array with strides of {strides} B cannot be viewed: they are no multiples of its "
            f"elements of {itemsize} B."
        )
    return tuple(stride // itemsize for stride in strides)


def _fits(layout: LayoutRight | LayoutLeft, handle: Handle) -> bool:
    return same_places(handle.layout, layout)
