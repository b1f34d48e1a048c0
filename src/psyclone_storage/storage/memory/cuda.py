"""Own the memories of a GPU; be the only file of the room that touches CuPy.

CuPy is imported on the first question for a device, never on import of this module, and what
counts is `cupy.cuda.is_available()`: CuPy imports happily on machines without a driver.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.base import Memory, array_over, host_pages
from psyclone_storage.storage.memory.host import HostMemory
from psyclone_storage.storage.memory.pools import ALIGNMENT, PoolUse
from psyclone_storage.storage.memory.stream import Stream


def is_available() -> bool:
    """Say whether there is a GPU that CuPy can use."""
    try:
        return bool(_cupy().cuda.is_available())
    except ImportError:
        return False


def device_count() -> int:
    """Return the number of GPUs."""
    return int(_cupy().cuda.runtime.getDeviceCount())


class CUDAMemory(Memory):
    """Allocate on one GPU through the pool of CuPy."""

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`; asynchronous copies run on a helper thread with a stream of its own."""
        super().__init__(space)
        self._queue = Stream(space.tag)
        self._high_water = 0

    @property
    def stream(self) -> Stream:
        """Return the queue that orders asynchronous work."""
        return self._queue

    @property
    def use(self) -> PoolUse:
        """Return the state of the pool of CuPy on this device, with the mark seen by us."""
        pool = _cupy().get_default_memory_pool()
        with self._device():
            used, total = pool.used_bytes(), pool.total_bytes()
        return PoolUse(used, total - used, max(self._high_water, used))

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return bytes of the device; CuPy aligns to 512, more is had by allocating more."""
        extra = alignment if 512 % alignment else 0
        with self._device():
            pointer = _cupy().cuda.alloc(max(nbytes + extra, 1))
        pointer = pointer + (-pointer.ptr % alignment)
        self._high_water = max(self._high_water, self.use.in_use)
        return Allocation(self.space, pointer.ptr, nbytes, pointer)

    def adopt(self, array: Any) -> tuple[Allocation, int]:
        """Take the memory of a CuPy array, or of one that CuPy can wrap, as it is."""
        wrapped = _cupy().asarray(array)
        low, high = _cupy().byte_bounds(wrapped)
        memory = _cupy().cuda.UnownedMemory(low, high - low, wrapped, self.space.device_id or 0)
        pointer = _cupy().cuda.MemoryPointer(memory, 0)
        allocation = Allocation(self.space, low, high - low, pointer)
        allocation.owner = array
        return allocation, wrapped.data.ptr - low

    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a CuPy array, also over page-locked and managed memory."""
        pointer = _device_pointer(allocation, self.space.device_id or 0)
        with self._device():
            return _cupy().ndarray(spec.shape, spec.dtype, pointer + spec.offset, spec.strides)

    def kernel_view(self, window: Any) -> Any:
        """Return the CuPy array itself."""
        return window

    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`, on the device."""
        with self._device():
            self.window(allocation, spec).fill(value)
            _cupy().cuda.get_current_stream().synchronize()

    def can_copy_from(self, source: Memory) -> bool:
        """Say yes for memories that the host can use, and for the same machine's other GPUs."""
        return source.space.host_accessible or isinstance(source, CUDAMemory)

    def can_copy_to(self, target: Memory) -> bool:
        """Say yes for memories that the host can use."""
        return target.space.host_accessible

    def memcpy_from(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Fetch a span and wait for it."""
        self._memcpy(target, source, span)

    def memcpy_to(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Send a span and wait for it."""
        self._memcpy(target, source, span)

    def bound(self) -> Any:
        """Return the block in which this GPU is the current one of CuPy."""
        return self._device()

    def run(self, work: Any, *args: Any) -> Any:
        """Do `work(*args)` in the calling thread: CuPy orders it with the copies."""
        with self._device():
            return work(*args)

    def _memcpy(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        runtime = _cupy().cuda.runtime
        first, count = span
        with self._device():
            stream = _cupy().cuda.get_current_stream()
            runtime.memcpyAsync(
                target.pointer + first,
                source.pointer + first,
                count,
                runtime.memcpyDefault,
                stream.ptr,
            )
            stream.synchronize()

    def _device(self) -> Any:
        return _cupy().cuda.Device(self.space.device_id or 0)


class _Ledger:
    """Count the bytes of arrays from their making to their end."""

    def __init__(self) -> None:
        self.in_use = 0
        self.high_water = 0

    @property
    def use(self) -> PoolUse:
        """Return the sums as a report."""
        return PoolUse(self.in_use, 0, self.high_water)

    def charge(self, pages: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """Count `pages` until it is gone."""
        self.in_use += pages.nbytes
        self.high_water = max(self.high_water, self.in_use)
        weakref.finalize(pages, self._credit, pages.nbytes)

    def _credit(self, nbytes: int) -> None:
        self.in_use -= nbytes


class CUDAHostMemory(HostMemory):
    """Allocate page-locked host memory, which a GPU may use directly and copies fast from."""

    page_locked = True

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`, with CuPy allocating."""
        super().__init__(space)
        self._ledger = _Ledger()

    @property
    def use(self) -> PoolUse:
        """Return what is handed out; what CuPy keeps for reuse is not known."""
        return self._ledger.use

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return page-locked bytes from the pool of CuPy."""
        pointer = _cupy().cuda.alloc_pinned_memory(max(nbytes + alignment, 1))
        shift = -pointer.ptr % alignment
        pages = np.frombuffer(pointer, np.uint8, nbytes, shift)
        self._ledger.charge(pages)
        return Allocation(self.space, pointer.ptr + shift, nbytes, pages)


class CUDAManagedMemory(HostMemory):
    """Allocate unified memory: one allocation that the driver moves between host and GPU."""

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`, with CuPy allocating."""
        super().__init__(space)
        self._ledger = _Ledger()

    @property
    def use(self) -> PoolUse:
        """Return what is handed out; what CuPy keeps for reuse is not known."""
        return self._ledger.use

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return unified bytes; what NumPy arrays over them keep alive is the CuPy pointer."""
        pointer = _cupy().cuda.malloc_managed(max(nbytes + alignment, 1))
        shift = -pointer.ptr % alignment
        held = self.adopt_pointer(pointer.ptr + shift, nbytes, pointer)
        self._ledger.charge(held.block)
        return Allocation(self.space, held.pointer, nbytes, held.block)

    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a NumPy array after the GPU has finished, as both may not touch it at once."""
        _cupy().cuda.runtime.deviceSynchronize()
        return array_over(allocation, spec)


def _device_pointer(allocation: Allocation, device_id: int) -> Any:
    if not allocation.space.host_accessible:
        return allocation.block
    memory = _cupy().cuda.UnownedMemory(
        allocation.pointer, allocation.capacity, host_pages(allocation), device_id
    )
    return _cupy().cuda.MemoryPointer(memory, 0)


def _cupy() -> Any:
    import cupy  # noqa: PLC0415 - the deferral that the house allows

    return cupy
