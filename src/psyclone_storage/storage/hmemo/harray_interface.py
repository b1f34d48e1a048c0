"""The `__gt_data_interface__` of `HArray` and its accesses, which stencil calls read.

The interface is that of GDP-3; a description is valid until the next resize. Reading it never
allocates memory on a device on which the array was never used.
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
    """Return the host side and, if the data have been used there, the default device's side.

    Each side has a function `acquire`, which updates it, and `touch`, which marks it as written.
    """
    described: Interface = {None: _side(buffer, host_space())}
    if device_count() and buffer.replicas.find(device_space()) is not None:
        described["gpu"] = _side(buffer, device_space())
    return described


def interface_of_window(window: Any, space: MemorySpace) -> Interface:
    """Return the side of an active access; it is valid and needs no synchronisation functions."""
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
