"""Be the door of the accessors: buffers, host and device accessors, tasks and hints.

A `Buffer` keeps the point of truth of its data, spread over memory spaces. Host code looks at it
through a `HostAccessor`, device tasks through a `DeviceAccessor` or a `GpuTask`; each of them waits
until its use is safe.
"""

from psyclone_storage.storage.accessor_buffer import Buffer, MemoryChunk
from psyclone_storage.storage.buffer import BufferOptions
from psyclone_storage.storage.chunks import ChunkLayout, row_blocks
from psyclone_storage.storage.device_accessor import DeviceAccessor
from psyclone_storage.storage.errors import (
    AccessConflictError,
    AccessDeadlockError,
    AccessReleasedError,
    ConstBufferError,
    PoisonedDataError,
    UnknownSpaceError,
)
from psyclone_storage.storage.futures import Future, wait_all
from psyclone_storage.storage.hints import Hints
from psyclone_storage.storage.host_accessor import HostAccessor
from psyclone_storage.storage.locks import AccessMode
from psyclone_storage.storage.patch import Patch
from psyclone_storage.storage.spaces import MemorySpace, memory_space
from psyclone_storage.storage.stencil import Box, IndexMap, read_stencil
from psyclone_storage.storage.tasks import GpuTask, TaskState

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
