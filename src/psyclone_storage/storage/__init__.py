"""Coherent storage for fields on host and devices, under the names of GDP-3.

The other interfaces of this runtime are separate subpackages: `hmemo`, `kokkos` and `accessors`.
All of them are facades over the same buffers, so a field may be used through several of them. This
subpackage does not depend on the compiler. It imports NumPy only: CuPy is imported when a device is
requested, xarray never.
"""

from psyclone_storage.storage.core.device import DeviceKind, Emulation, use_device
from psyclone_storage.storage.core.errors import (
    DataRaceError,
    GTNoSuchBufferError,
    StorageError,
)
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.gdp.base_storage import Storage
from psyclone_storage.storage.gdp.binding import TransferWarning, bound
from psyclone_storage.storage.gdp.creation import (
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
from psyclone_storage.storage.gdp.defaults import Preset, register_defaults
from psyclone_storage.storage.gdp.storage_classes import (
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
from psyclone_storage.storage.gdp.sync_state import SyncState
from psyclone_storage.storage.interop.xarray import register_when_loaded
from psyclone_storage.storage.memory.races import Trace, traced

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
    "DataRaceError",
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
    "Trace",
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
    "traced",
    "use_device",
    "zeros",
    "zeros_like",
]
