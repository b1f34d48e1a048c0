"""Host pages and their leases: a part of the pure-Python fallback of the compiled core.

A `Lease` is a byte array over one block. NumPy arrays built over it keep it alive, and the block
goes back to its pool only when the last of them is gone, so that an array that outlives its buffer
never sees the pages of another buffer.
"""

from __future__ import annotations

import mmap
import os
import threading
from functools import lru_cache
from typing import Any

import numpy as np

from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.words import WORDS

_PAGE = mmap.PAGESIZE
_LARGE = 1 << 17
_OWN = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
"""What keeps a child process from writing to the pages of its parent."""


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


class Lease(np.ndarray[Any, np.dtype[np.uint8]]):
    """The bytes of one allocation; give the block back to its pool when nothing uses them."""

    pool: Blocks | None = None
    block: HostPages
    address: int

    def __del__(self) -> None:
        """Give the block back, unless this is only an array made from a lease."""
        if self.pool is not None:
            self.pool.take_back(self.block)


class Blocks:
    """Blocks of host pages; returned ones are cached for reuse, up to `limit` bytes."""

    __slots__ = ("_free", "_cached", "_in_use", "_high_water", "_limit", "_lock")

    def __init__(self, limit: int = 1 << 30) -> None:
        """Start empty."""
        self._free: dict[int, list[HostPages]] = {}
        self._cached = 0
        self._in_use = 0
        self._high_water = 0
        self._limit = limit
        # A lease may die during a garbage collection that a pool operation of this very thread
        # sets off, so the lock has to be one that the thread may take again.
        self._lock = FORKS.guard(threading.RLock(), Rank.LEAF)

    def lease(self, nbytes: int, alignment: int = 64) -> Any:
        """Return `nbytes` bytes whose address is a multiple of `alignment`."""
        size = _size_of_block(nbytes, alignment)
        with self._lock:
            kept = self._free.get(size)
            block = kept.pop() if kept else None
            if block is not None:
                self._cached -= size
        if block is None:
            block = HostPages(size)
        shift = -block.address % alignment
        lease: Lease = Lease((nbytes,), np.uint8, block.pages, shift)
        with self._lock:
            lease.pool, lease.block, lease.address = self, block, block.address + shift
            self._in_use += size
            self._high_water = max(self._high_water, self._in_use)
        return lease

    def piece(self, space: Any, nbytes: int, alignment: int = 64) -> Any:
        """Return an allocation in `space` that a lease holds."""
        lease = self.lease(nbytes, alignment)
        return WORDS.piece(space, lease.address, nbytes, lease)

    def take_back(self, block: HostPages) -> None:
        """Keep `block` for reuse, or let it go where the limit is reached."""
        size = block.size
        with self._lock:
            self._in_use -= size
            if self._cached + size <= self._limit:
                self._free.setdefault(size, []).append(block)
                self._cached += size

    def trim(self) -> None:
        """Return all the blocks that are cached for reuse to the system."""
        with self._lock:
            self._free.clear()
            self._cached = 0

    def _sums(self) -> tuple[int, int, int]:
        """Return the bytes handed out, the bytes cached, and the high-water mark."""
        return self._in_use, self._cached, self._high_water


_PENDING = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Held for two steps, in the middle of which an access may end whose object is gone."""


class Piece:
    """The fields of an allocation, as they are when it is new."""

    __slots__ = (
        "space", "pointer", "capacity", "held", "owner", "label", "pending", "failures", "writable",
        "lent", "alive",
    )  # fmt: skip

    def __init__(self, space: Any, pointer: int, capacity: int, held: Any) -> None:
        """Record a piece of `capacity` bytes at address `pointer`; memories call this."""
        self.space = space
        self.pointer = pointer
        self.capacity = capacity
        self.held = held
        self.owner: object | None = None
        self.label = ""
        self.pending: tuple[Any, ...] = ()
        self.failures: tuple[Any, ...] = ()
        self.writable = True
        self.lent = False
        self.alive = True

    def swap_pending(self, before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
        """Set `pending` in one step if it still is `before` itself; return whether it was."""
        with _PENDING:
            is_same = self.pending is before
            if is_same:
                self.pending = after
            return is_same


class Hold:
    """One entry in a list of holds that pin memory in place, until `release` or its end.

    Appending to a list and popping from it are atomic. A lock is out of the question, as `__del__`
    may run in the middle of anything.
    """

    __slots__ = ("_pins",)

    def __init__(self, pins: list[None]) -> None:
        """Count as one more in `pins`."""
        self._pins: list[None] | None = pins
        pins.append(None)

    def release(self) -> None:
        """Let the memory move again; does nothing the second time."""
        pins, self._pins = self._pins, None
        if pins is not None:
            pins.pop()

    def __del__(self) -> None:
        """Release the hold."""
        self.release()


def setting(name: str, otherwise: str) -> str:
    """Return the current value of the environment variable."""
    return os.environ.get(name, otherwise)


@lru_cache(maxsize=256)
def _size_of_block(nbytes: int, alignment: int) -> int:
    """Return the bytes of a block in which `nbytes` have their alignment.

    They are rounded up so that at most an eighth is wasted and blocks of similar size are
    exchangeable.
    """
    if not (nbytes >= _LARGE and _PAGE % alignment == 0):
        nbytes += alignment
    step = max(256, 1 << max(nbytes.bit_length() - 4, 0))
    size = -(-max(nbytes, 1) // step) * step
    return -(-size // _PAGE) * _PAGE if size >= _LARGE else size
