"""HMemo's names for the kinds of memories, without implementations.

HMemo names a memory by its location. Its implementation depends on the machine, a GPU or its
emulation, so these classes serve `isinstance` only and are never instantiated: memories come from
contexts (HM-24).
"""

# pylint: disable=abstract-method  # never made, see above

from __future__ import annotations

from psyclone_storage.storage.memory import cuda
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.host import ManagedMemory, PinnedMemory


class CUDAMemory(Memory):
    """The memory of a GPU, or of the emulated device in its place (HM-30)."""


class MICMemory(Memory):
    """The memory of a coprocessor, which only the emulation has (HM-31)."""


class CUDAHostMemory(Memory):
    """Page-locked host memory, with fast transfers to and from a GPU (HM-30)."""


class CUDAManagedMemory(Memory):
    """Memory that host and GPU share."""


CUDAMemory.register(cuda.GpuAllocator)
CUDAMemory.register(EmulatedDeviceMemory)
MICMemory.register(EmulatedDeviceMemory)
CUDAHostMemory.register(cuda.PinnedAllocator)
CUDAHostMemory.register(PinnedMemory)
CUDAManagedMemory.register(cuda.ManagedAllocator)
CUDAManagedMemory.register(ManagedMemory)
