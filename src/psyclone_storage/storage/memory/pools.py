"""Host pages and their reuse, independent of the memory space that they serve.

A lease is a view of one block of a pool: arrays built over it keep it alive, and the block goes
back to its pool only when the last of them is gone, so that an array that outlives its buffer never
sees the pages of another buffer. The core defines leases and blocks.
"""

from __future__ import annotations

import mmap
from typing import NamedTuple

from psyclone_storage.storage.core.native import Blocks, register
from psyclone_storage.storage.core.twin_pages import HostPages

ALIGNMENT = 64


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
