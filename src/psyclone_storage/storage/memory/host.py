"""Memories that host code can access directly; transfers to devices are left to the devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.base import Memory, array_over, foreign_pages, host_pages
from psyclone_storage.storage.memory.pending_work import Span, forget_ended, waited_for
from psyclone_storage.storage.memory.pools import ALIGNMENT, Pool, PoolUse


class HostMemory(Memory):
    """Pages of the host, 64-byte aligned, from a pool."""

    page_locked = False
    copies_plainly = True

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space` from a separate pool."""
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
        """Return bytes from the pool."""
        allocation: Allocation = self.pool.piece(self.space, nbytes, alignment)
        return allocation

    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a NumPy array."""
        return array_over(allocation, spec)

    def kernel_view(self, window: Any, writes: bool | None = None, span: Span | None = None) -> Any:
        """Return the array itself: host kernels work on NumPy arrays."""
        return window

    def settle(self, allocation: Allocation, writes: bool) -> None:
        """Wait for the ends of copies that a device makes from here or to here."""
        for use in waited_for(allocation, writes=writes):
            use.event.synchronize()
        forget_ended(allocation)

    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`."""
        array_over(allocation, spec).fill(value)

    def can_copy_from(self, source: Memory) -> bool:
        """Return True for all memories that host code can use."""
        return source.space.host_accessible

    def can_copy_to(self, target: Memory) -> bool:
        """Return True for all memories that host code can use (HM-35)."""
        return target.space.host_accessible

    def memcpy_to(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Copy bytes between two places that host code can use."""
        if not target.space.host_accessible:
            super().memcpy_to(target, source, span)
        self.memcpy_from(target, source, span)

    def memcpy_from(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Copy bytes between two places that host code can use."""
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
        """Take `nbytes` bytes at `pointer`, which `owner` keeps alive (VIEW-54)."""
        if nbytes < 0 or (pointer == 0 and nbytes > 0):
            raise MemoryException(f"There cannot be {nbytes} B at address {pointer:#x}.")
        pages = foreign_pages(pointer, nbytes, owner)
        allocation = Allocation(self.space, pointer, nbytes, pages)
        allocation.owner = owner
        allocation.writable = writable
        return allocation


class PinnedMemory(HostMemory):
    """Host pages that count as page-locked: devices may use them without a copy (HM-86).

    This is the emulation. Nothing locks the pages, and nothing needs to, as emulated devices share
    the address space of the host.
    """

    page_locked = True


class ManagedMemory(HostMemory):
    """Host pages with two faces, one for the host and one for the devices (GDP-128)."""
