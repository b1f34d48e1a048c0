"""The `__gt_data_interface__` of `HArray` and its accesses, which a stencil call reads.

The interface is that of GDP-3; the memory that it describes moves with the next resize. It never
allocates on a device that the array has never been used on.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, device_space, host_space
from psyclone_storage.storage.interop.gt import interface_on_device
from psyclone_storage.storage.memory.registry import device_count, memory_of

Interface = dict[str | None, dict[str, Any]]


def interface_of_buffer(buffer: CoherentBuffer) -> Interface:
    """Return the host side, and the default device's if the data have been used there.

    Each side has `acquire`, which makes it valid, and `touch`, which notes that it was written.
    """
    described: Interface = {None: _side(buffer, host_space())}
    if device_count() and buffer.replicas.find(device_space()) is not None:
        described["gpu"] = _side(buffer, device_space())
    return described


def interface_of_window(window: Any, space: MemorySpace) -> Interface:
    """Return the one side that an access holds: it is valid, and there is nothing to call."""
    if space.kind is SpaceKind.DEVICE:
        return {"gpu": interface_on_device(window)}
    return {None: {**window.__array_interface__, "strides": tuple(window.strides)}}


def _side(buffer: CoherentBuffer, space: MemorySpace) -> dict[str, Any]:
    buffer.reserve(buffer.size, space)
    replica = buffer.replicas.at(space)
    for known in buffer.replicas.all():
        if known.allocation is not None:
            # The caller may use the memory outside of any access.
            known.allocation.lent = True
    spec = WindowSpec(buffer.dtype, (buffer.size,), writable=not buffer.const)
    window = memory_of(space).window(replica.allocation_there(), spec)
    (described,) = interface_of_window(window, space).values()
    return {
        **described,
        "acquire": partial(buffer.make_valid, space),
        "touch": partial(buffer.touch, space),
    }
