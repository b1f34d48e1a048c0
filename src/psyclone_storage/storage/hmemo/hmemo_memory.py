"""HMemo's names for the kinds of memory, without implementations.

HMemo names a memory by its location, but its implementation depends on the machine: a GPU or its
emulation. These classes serve only `isinstance` and are never instantiated; contexts provide the
memories (HM-24).
"""

# pylint: disable=abstract-method  # never made, see above

from __future__ import annotations

from psyclone_storage.storage.memory import cuda
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.host import ManagedMemory, PinnedMemory


class CUDAMemory(Memory):
    """The memory of a GPU, or of the emulated device (HM-30)."""


class MICMemory(Memory):
    """The memory of a coprocessor (MIC), which is always emulated (HM-31)."""


class CUDAHostMemory(Memory):
    """Page-locked host memory, with fast transfers to and from a GPU (HM-30)."""


class CUDAManagedMemory(Memory):
    """Managed (unified) memory, which host and GPU share."""


CUDAMemory.register(cuda.GpuAllocator)
CUDAMemory.register(EmulatedDeviceMemory)
MICMemory.register(EmulatedDeviceMemory)
CUDAHostMemory.register(cuda.PinnedAllocator)
CUDAHostMemory.register(PinnedMemory)
CUDAManagedMemory.register(cuda.ManagedAllocator)
CUDAManagedMemory.register(ManagedMemory)
