"""Own host pages and their reuse; refuse to know which memory space they stand for.

A lease is what looks at one block of a pool: arrays built over it keep it alive, and the block goes
back to its pool only when the last of them is gone, so that an array that outlives its buffer never
sees the pages of somebody else. Leases and blocks are of the core.
"""

from __future__ import annotations

import mmap
from typing import NamedTuple

from psyclone_storage.storage.core.native import Blocks, register
from psyclone_storage.storage.core.twin_pages import HostPages

ALIGNMENT = 64


class PoolUse(NamedTuple):
    """A report on a pool, in bytes: handed out, kept for reuse, and the most ever handed out."""

    in_use: int
    cached: int
    high_water: int


class Pool(Blocks):
    """Blocks of host pages; returned ones are kept for reuse, up to `limit` bytes."""

    __slots__ = ()

    @property
    def use(self) -> PoolUse:
        """Return how much is handed out, how much is kept, and the high-water mark."""
        return PoolUse(*self._sums())


register(pages=HostPages, page=mmap.PAGESIZE)
