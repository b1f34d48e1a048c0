"""Public API of the HMemo facade, the heterogeneous memory interface of LAMA.

An `HArray` contains copies ("incarnations") of one array in several memories, and a `Context`
specifies the executing device. Each use needs a `ReadAccess`, `WriteAccess` or `WriteOnlyAccess`,
which transfers valid data to its context.
"""

from psyclone_storage.storage.core.buffer import CoherentBuffer as HDataManager
from psyclone_storage.storage.core.context import (
    Context,
    CUDAContext,
    HostContext,
    MICContext,
    register_context,
)
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessReleasedError,
    AllocationInUseError,
    ConstBufferError,
    MemoryException,
    PoisonedDataError,
)
from psyclone_storage.storage.core.futures import SyncToken
from psyclone_storage.storage.hmemo.harray import HArray, HArrayRef, HData, _HArray
from psyclone_storage.storage.hmemo.harray_access import (
    HostReadAccess,
    HostWriteAccess,
    HostWriteOnlyAccess,
    ReadAccess,
    WriteAccess,
    WriteOnlyAccess,
)
from psyclone_storage.storage.hmemo.hmemo_memory import (
    CUDAHostMemory,
    CUDAManagedMemory,
    CUDAMemory,
    MICMemory,
)
from psyclone_storage.storage.hmemo.kernels import DispatchedKernel, UnsupportedKernelError
from psyclone_storage.storage.hmemo.larray import LArray
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
    "DispatchedKernel",
    "HArray",
    "HArrayRef",
    "HData",
    "HDataManager",
    "HostContext",
    "HostMemory",
    "HostReadAccess",
    "HostWriteAccess",
    "HostWriteOnlyAccess",
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
