"""Own the names of `cupy.cuda`."""

from __future__ import annotations

from types import SimpleNamespace

from cupy_stand_in import machine, runtime
from cupy_stand_in.machine import OutOfMemoryError
from cupy_stand_in.memory import (
    MemoryPointer,
    MemoryPool,
    PinnedMemoryPool,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    malloc_managed,
    set_allocator,
)
from cupy_stand_in.streams import (
    Device,
    Event,
    ExternalStream,
    Stream,
    get_current_stream,
    get_elapsed_time,
)

__all__ = [
    "Device", "Event", "ExternalStream", "MemoryPointer", "MemoryPool", "PinnedMemoryPool",
    "Stream", "UnownedMemory", "alloc", "alloc_pinned_memory", "get_current_stream",
    "get_elapsed_time", "is_available", "malloc_managed", "memory", "runtime", "set_allocator",
]  # fmt: skip

memory = SimpleNamespace(OutOfMemoryError=OutOfMemoryError)


def is_available() -> bool:
    """Say whether there is a device."""
    return bool(machine.MACHINE.boards)
