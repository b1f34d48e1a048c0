"""Be the door of HMemo: all its words, and nothing else.

An `HArray` keeps several incarnations of one array, a `Context` says who works on it, and each use
needs a `ReadAccess`, `WriteAccess` or `WriteOnlyAccess`, which bring valid data to their context.
"""

from psyclone_storage.storage.buffer import Buffer as HDataManager
from psyclone_storage.storage.context import (
    Context,
    CUDAContext,
    HostContext,
    MICContext,
    register_context,
)
from psyclone_storage.storage.errors import (
    AccessConflictError,
    AccessReleasedError,
    AllocationInUseError,
    ConstBufferError,
    MemoryException,
    PoisonedDataError,
)
from psyclone_storage.storage.futures import SyncToken
from psyclone_storage.storage.harray import HArray, HArrayRef, HData, _HArray
from psyclone_storage.storage.harray_access import (
    HostReadAccess,
    HostWriteAccess,
    HostWriteOnlyAccess,
    ReadAccess,
    WriteAccess,
    WriteOnlyAccess,
)
from psyclone_storage.storage.hmemo_memory import (
    CUDAHostMemory,
    CUDAManagedMemory,
    CUDAMemory,
    MICMemory,
)
from psyclone_storage.storage.kernels import Kernel, UnsupportedKernelError
from psyclone_storage.storage.larray import LArray
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.host import HostMemory

__all__ = [
    "AccessConflictError",
    "AccessReleasedError",
    "AllocationInUseError",
    "CUDAContext",
    "CUDAHostMemory",
    "CUDAManagedMemory",
    "CUDAMemory",
    "ConstBufferError",
    "Context",
    "HArray",
    "HArrayRef",
    "HData",
    "HDataManager",
    "HostContext",
    "HostMemory",
    "HostReadAccess",
    "HostWriteAccess",
    "HostWriteOnlyAccess",
    "Kernel",
    "LArray",
    "MICContext",
    "MICMemory",
    "Memory",
    "MemoryException",
    "PoisonedDataError",
    "ReadAccess",
    "SyncToken",
    "UnsupportedKernelError",
    "WriteAccess",
    "WriteOnlyAccess",
    "_HArray",
    "register_context",
]
