"""Own which replica of which chunk holds the current values; refuse to allocate, lock or copy.

The state is two bit masks per chunk, with one bit per memory space: `valid` (the replica holds the
current values) and `touched` (it held values at some time). A replica that is touched but not valid
is stale; one that is not touched is uninitialised, and so is a chunk without any valid replica:
there is nothing to transfer. Most buffers have one chunk, for which `everywhere` and `anywhere`
are the same mask.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from psyclone_storage.storage.core.native import Ledger

ChunkRange = tuple[int, int]


class ReplicaState(Enum):
    """The states of one replica."""

    VALID = "valid"
    STALE = "stale"
    UNINITIALISED = "uninitialised"


class Validity:
    """The masks of all chunks.

    Invariants: in the ledger, `everywhere` is the intersection and `anywhere` the union of the
    valid masks of all chunks; what is valid is touched. The short ways look at the ledger alone.
    """

    __slots__ = ("_ledger",)

    def __init__(self, chunks: int, ledger: Ledger) -> None:
        """Start with `chunks` uninitialised chunks."""
        self._ledger = ledger
        ledger.valid = [0] * chunks
        ledger.touched = [0] * chunks
        self._combine()

    @property
    def everywhere(self) -> int:
        """Return the bits of the spaces whose replica is valid in all chunks."""
        return self._ledger.everywhere

    @property
    def anywhere(self) -> int:
        """Return the bits of the spaces whose replica is valid in some chunk."""
        return self._ledger.anywhere

    def is_valid(self, bit: int, chunks: ChunkRange) -> bool:
        """Say whether the replica is valid in all of `chunks`."""
        if self.everywhere & bit:
            return True
        return all(mask & bit for mask in self._ledger.valid[chunks[0] : chunks[1]])

    def is_whole(self, bit: int) -> bool:
        """Say whether the replica has the values of all chunks that have values anywhere."""
        return bool(self.everywhere & bit) or all(mask & bit for mask in self._ledger.valid if mask)

    def is_initialised(self, chunks: ChunkRange) -> bool:
        """Say whether all of `chunks` have values somewhere."""
        return all(self._ledger.valid[chunks[0] : chunks[1]])

    def mask(self, chunk: int) -> int:
        """Return the bits of the spaces whose replica of `chunk` is valid."""
        return self._ledger.valid[chunk]

    def freshness(self, bit: int, chunk: int) -> ReplicaState:
        """Return the state of one replica of one chunk."""
        if self._ledger.valid[chunk] & bit:
            return ReplicaState.VALID
        held = self._ledger.touched[chunk] & bit and self._ledger.valid[chunk]
        return ReplicaState.STALE if held else ReplicaState.UNINITIALISED

    def stale(self, bit: int, chunks: Iterable[int]) -> list[int]:
        """Return the chunks that have values, but not at `bit`: those that need a transfer."""
        return [c for c in chunks if self._ledger.valid[c] and not self._ledger.valid[c] & bit]

    def uninitialised(self, chunks: Iterable[int]) -> list[int]:
        """Return the chunks that have no values anywhere."""
        return [c for c in chunks if not self._ledger.valid[c]]

    def add(self, bit: int, chunks: Iterable[int]) -> None:
        """Note that the replica at `bit` got the current values of `chunks`."""
        for chunk in chunks:
            self._ledger.valid[chunk] |= bit
            self._ledger.touched[chunk] |= bit
        self._combine()

    def written(self, bit: int, chunks: ChunkRange) -> int:
        """Note that `chunks` are written at `bit`; return the bits that lost validity by it."""
        lost = 0
        for chunk in range(*chunks):
            lost |= self._ledger.valid[chunk]
            self._ledger.valid[chunk] = bit
            self._ledger.touched[chunk] |= bit
        self._combine()
        return lost & ~bit

    def forget(self, bit: int) -> None:
        """Note that the replica at `bit` is gone."""
        for chunk, mask in enumerate(self._ledger.valid):
            self._ledger.valid[chunk] = mask & ~bit
            self._ledger.touched[chunk] &= ~bit
        self._combine()

    def sole_holder(self, bit: int) -> bool:
        """Say whether some chunk has its values at `bit` only."""
        return bit in self._ledger.valid

    def assign(self, mask: int) -> None:
        """Set the valid mask of all chunks to `mask`, on the word of someone who knows better."""
        self._ledger.valid = [mask] * len(self._ledger.valid)
        self._ledger.touched = [touched | mask for touched in self._ledger.touched]
        self._combine()

    def trust(self, bit: int) -> None:
        """Take the replica at `bit` for the only valid one, in all chunks that it ever held."""
        for chunk, touched in enumerate(self._ledger.touched):
            if touched & bit:
                self._ledger.valid[chunk] = bit
        self._combine()

    def _combine(self) -> None:
        ledger = self._ledger
        if len(ledger.valid) == 1:
            ledger.everywhere = ledger.anywhere = ledger.valid[0]
            return
        everywhere, anywhere = -1, 0
        for mask in ledger.valid:
            everywhere &= mask
            anywhere |= mask
        ledger.everywhere, ledger.anywhere = everywhere, anywhere
