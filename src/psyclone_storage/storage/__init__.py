"""Coherent storage for fields on host and devices, under the names of GDP-3.

The other origins of this runtime have doors of their own: `hmemo`, `kokkos` and `accessors`. All of
them show the same buffers, so that a field may be used through several. The room refuses to know
anything about compilers, and imports NumPy only: CuPy when a device is asked for, xarray never.
"""

from psyclone_storage.storage.base_storage import Storage
from psyclone_storage.storage.binding import TransferWarning, bound
from psyclone_storage.storage.creation import (
    as_storage,
    empty,
    empty_like,
    full,
    full_like,
    ones,
    ones_like,
    stacked,
    storage,
    zeros,
    zeros_like,
)
from psyclone_storage.storage.defaults import Preset, register_defaults
from psyclone_storage.storage.device import DeviceKind, Emulation, use_device
from psyclone_storage.storage.errors import GTNoSuchBufferError, StorageError
from psyclone_storage.storage.interop.xarray import register_when_loaded
from psyclone_storage.storage.kinds import (
    CPUStorage,
    CUDAManagedGPUStorage,
    CudaManagedGPUStorage,
    CUDASyncedGPUStorage,
    ExplicitlyManagedGPUStorage,
    ExplicitlySyncedGPUStorage,
    GPUStorage,
    GT4PySyncedGPUStorage,
    SoftwareManagedGPUStorage,
)
from psyclone_storage.storage.locks import AccessMode
from psyclone_storage.storage.sync_state import SyncState

RDONLY = AccessMode.RDONLY
WRONLY = AccessMode.WRONLY
RDWR = AccessMode.RDWR

register_when_loaded()

__all__ = [
    "RDONLY",
    "RDWR",
    "WRONLY",
    "AccessMode",
    "CPUStorage",
    "CUDAManagedGPUStorage",
    "CUDASyncedGPUStorage",
    "CudaManagedGPUStorage",
    "DeviceKind",
    "Emulation",
    "ExplicitlyManagedGPUStorage",
    "ExplicitlySyncedGPUStorage",
    "GPUStorage",
    "GT4PySyncedGPUStorage",
    "GTNoSuchBufferError",
    "Preset",
    "SoftwareManagedGPUStorage",
    "Storage",
    "StorageError",
    "SyncState",
    "TransferWarning",
    "as_storage",
    "bound",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "register_defaults",
    "stacked",
    "storage",
    "use_device",
    "zeros",
    "zeros_like",
]
