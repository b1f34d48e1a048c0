"""Host pages and their reuse, independent of the memory space that they serve.

A lease is a view of one block of a pool: arrays built over it keep it alive, and the block goes
back to its pool only when the last of them is gone, so that an array that outlives its buffer never
sees the pages of another buffer. The core defines leases and blocks; without the compiled core, no
block is cached.
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
    """Some pages of the host, with their size in bytes and their address."""

    __slots__ = ("pages", "size", "address")

    def __init__(self, size: int) -> None:
        """Get `size` bytes from the system, large blocks as pages that cost nothing until used."""
        self.pages: bytearray | mmap.mmap = (
            mmap.mmap(-1, size, **_OWN) if size >= _LARGE else bytearray(size)
        )
        self.size = size
        self.address: int = np.frombuffer(self.pages, np.uint8).__array_interface__["data"][0]


class PoolUse(NamedTuple):
    """A report on a pool, in bytes: handed out, cached for reuse, and the high-water mark."""

    in_use: int
    cached: int
    high_water: int


class Pool(Blocks):
    """Blocks of host pages; returned ones are cached for reuse, up to `limit` bytes."""

    __slots__ = ()

    @property
    def use(self) -> PoolUse:
        """Return the bytes handed out, the bytes cached, and the high-water mark."""
        return PoolUse(*self._sums())


register(pages=HostPages, page=mmap.PAGESIZE)
