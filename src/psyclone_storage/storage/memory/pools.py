"""Host pages and their reuse, independent of the memory space that they serve.

A lease is a view of one block of a pool. Arrays over it keep it alive, and the block returns to its
pool only when the last of them is destroyed. An array that outlives its buffer thus never sees the
data of another buffer. The core defines leases and blocks; only the compiled core caches blocks.
"""

from __future__ import annotations

import mmap
from typing import NamedTuple

import numpy as np

from psyclone_storage.storage.core.native import Blocks, register

ALIGNMENT = 64
_LARGE = 1 << 17
_OWN = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
"""Flags that prevent a child process from writing to the pages of its parent."""


class HostPages:
    """A block of host memory, with its size in bytes and its address."""

    __slots__ = ("pages", "size", "address")

    def __init__(self, size: int) -> None:
        """Get `size` bytes from the system; large blocks are mapped pages, filled on first use."""
        self.pages: bytearray | mmap.mmap = (
            mmap.mmap(-1, size, **_OWN) if size >= _LARGE else bytearray(size)
        )
        self.size = size
        self.address: int = np.frombuffer(self.pages, np.uint8).__array_interface__["data"][0]


class PoolUse(NamedTuple):
    """The state of a pool in bytes: in use, cached for reuse, and the high-water mark."""

    in_use: int
    cached: int
    high_water: int


class Pool(Blocks):
    """A pool of host pages; returned blocks are cached for reuse, up to `limit` bytes."""

    __slots__ = ()

    @property
    def use(self) -> PoolUse:
        """Return the bytes in use, the bytes cached, and the high-water mark."""
        return PoolUse(*self._sums())


register(pages=HostPages, page=mmap.PAGESIZE)
