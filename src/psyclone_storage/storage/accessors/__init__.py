"""Public API of the accessors: buffers, host and device accessors, tasks and hints.

A `Buffer` tracks where the current values of its data are (the "point of truth") across memory
spaces. Host code accesses it through a `HostAccessor`, device tasks through a `DeviceAccessor` or a
`GpuTask`. Each of them waits until its access is safe.
"""

from psyclone_storage.storage.accessors.accessor_buffer import Buffer, MemoryChunk
from psyclone_storage.storage.accessors.device_accessor import DeviceAccessor
from psyclone_storage.storage.accessors.host_accessor import HostAccessor
from psyclone_storage.storage.accessors.region_copy import Patch
from psyclone_storage.storage.accessors.stencil import Box, IndexMap, read_stencil
from psyclone_storage.storage.accessors.tasks import GpuTask, TaskState
from psyclone_storage.storage.core.buffer import BufferOptions
from psyclone_storage.storage.core.chunks import ChunkLayout, row_blocks
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessDeadlockError,
    AccessReleasedError,
    ConstBufferError,
    PoisonedDataError,
    UnknownSpaceError,
)
from psyclone_storage.storage.core.futures import Future, wait_all
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace, memory_space

__all__ = [
    "AccessConflictError",
    "AccessDeadlockError",
    "AccessMode",
    "AccessReleasedError",
    "Box",
    "Buffer",
    "BufferOptions",
    "ChunkLayout",
    "ConstBufferError",
    "DeviceAccessor",
    "Future",
    "GpuTask",
    "Hints",
    "HostAccessor",
    "IndexMap",
    "MemoryChunk",
    "MemorySpace",
    "Patch",
    "PoisonedDataError",
    "TaskState",
    "UnknownSpaceError",
    "memory_space",
    "read_stencil",
    "row_blocks",
    "wait_all",
]
