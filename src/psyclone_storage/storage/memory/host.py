"""Memories that host code can access directly; transfers to devices are left to the devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.base import Memory, array_over, foreign_pages, host_pages
from psyclone_storage.storage.memory.pending_work import Span, wait_on_host
from psyclone_storage.storage.memory.pools import ALIGNMENT, Pool, PoolUse


class HostMemory(Memory):
    """Host memory from a pool, 64-byte aligned."""

    page_locked = False
    copies_plainly = True

    def __init__(self, space: MemorySpace) -> None:
        """Create the memory of `space` with a separate pool."""
        super().__init__(space)
        self.pool = Pool()

    @property
    def plain_pool(self) -> Pool:
        """Return the pool."""
        return self.pool

    @property
    def use(self) -> PoolUse:
        """Return the state of the pool."""
        return self.pool.use

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return memory from the pool."""
        allocation: Allocation = self.pool.piece(self.space, nbytes, alignment)
        return allocation

    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a NumPy array over `allocation`."""
        return array_over(allocation, spec)

    def kernel_view(self, window: Any, writes: bool | None = None, span: Span | None = None) -> Any:
        """Return the array itself: host kernels work on NumPy arrays."""
        return window

    def settle(self, allocation: Allocation, writes: bool, span: Span | None = None) -> None:
        """Wait for the device's copies from and to this memory."""
        wait_on_host(allocation, writes, span)

    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`."""
        array_over(allocation, spec).fill(value)

    def can_copy_from(self, source: Memory) -> bool:
        """Return whether `source` is accessible to host code."""
        return source.space.host_accessible

    def can_copy_to(self, target: Memory) -> bool:
        """Return whether `target` is accessible to host code (HM-35)."""
        return target.space.host_accessible

    def memcpy_to(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Copy bytes between two allocations that host code can access."""
        if not target.space.host_accessible:
            super().memcpy_to(target, source, span)
        self.memcpy_from(target, source, span)

    def memcpy_from(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Copy bytes between two allocations that host code can access."""
        if not source.space.host_accessible:
            super().memcpy_from(target, source, span)
        first, count = span
        pages = host_pages(source)[first : first + count]
        np.copyto(host_pages(target)[first : first + count], pages)

    def adopt(self, array: np.ndarray[Any, Any]) -> tuple[Allocation, int]:
        """Adopt the memory of a NumPy array without a copy (HM-83, GDP-4)."""
        low, high = np.lib.array_utils.byte_bounds(array)
        start = array.__array_interface__["data"][0]
        nbytes = high - low if array.size else 0
        return self.adopt_pointer(low, nbytes, array, array.flags.writeable), start - low

    def adopt_pointer(
        self, pointer: int, nbytes: int, owner: object, writable: bool = True
    ) -> Allocation:
        """Adopt `nbytes` bytes at the address `pointer`, which `owner` keeps alive (VIEW-54)."""
        if nbytes < 0 or (pointer == 0 and nbytes > 0):
            raise MemoryException(f"There cannot be {nbytes} B at address {pointer:#x}.")
        pages = foreign_pages(pointer, nbytes, owner)
        allocation = Allocation(self.space, pointer, nbytes, pages)
        allocation.owner = owner
        allocation.writable = writable
        return allocation


class PinnedMemory(HostMemory):
    """Emulated page-locked host memory: devices may use it without a copy (HM-86).

    The pages are not locked, because emulated devices share the address space of the host.
    """

    page_locked = True


class ManagedMemory(HostMemory):
    """Emulated managed memory, which host and devices share (GDP-128)."""
