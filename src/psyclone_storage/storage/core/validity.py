"""Validity of replicas: which replica of which chunk has the current values; no locks.

The state consists of two bit masks per chunk, with one bit per memory space: `valid` (the replica
has the current values) and `touched` (it has had values at some time). A replica that is touched
but not valid is stale; one that is not touched is uninitialised. A chunk without any valid replica
is also uninitialised: there is nothing to transfer. Most buffers have one chunk, for which
`everywhere` and `anywhere` are the same mask.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import reduce
from operator import and_, or_

from psyclone_storage.storage.core.native import Ledger

ChunkRange = tuple[int, int]


class ReplicaState(Enum):
    """The states of one replica."""

    VALID = "valid"
    STALE = "stale"
    UNINITIALISED = "uninitialised"


class Validity(Ledger):
    """The masks of all chunks.

    Invariants: `everywhere` is the intersection and `anywhere` the union of the valid masks of all
    chunks; valid replicas are touched. The fast paths read only these two masks.
    """

    __slots__ = ()

    def is_valid(self, bit: int, chunks: ChunkRange) -> bool:
        """Return whether the replica is valid in all of `chunks`."""
        if self.everywhere & bit:
            return True
        return all(mask & bit for mask in self.valid[chunks[0] : chunks[1]])

    def is_whole(self, bit: int) -> bool:
        """Return whether the replica has the values of all chunks that have values anywhere."""
        return bool(self.everywhere & bit) or all(mask & bit for mask in self.valid if mask)

    def is_initialised(self, chunks: ChunkRange) -> bool:
        """Return whether all of `chunks` have values somewhere."""
        return all(self.valid[chunks[0] : chunks[1]])

    def mask(self, chunk: int) -> int:
        """Return the bits of the spaces whose replica of `chunk` is valid."""
        return self.valid[chunk]

    def freshness(self, bit: int, chunk: int) -> ReplicaState:
        """Return the state of one replica of one chunk."""
        if self.valid[chunk] & bit:
            return ReplicaState.VALID
        held = self.touched[chunk] & bit and self.valid[chunk]
        return ReplicaState.STALE if held else ReplicaState.UNINITIALISED

    def stale(self, bit: int, chunks: Iterable[int]) -> list[int]:
        """Return the chunks with values that are not valid at `bit`: those to transfer."""
        return [c for c in chunks if self.valid[c] and not self.valid[c] & bit]

    def uninitialised(self, chunks: Iterable[int]) -> list[int]:
        """Return the chunks that have no values anywhere."""
        return [c for c in chunks if not self.valid[c]]

    def add(self, bit: int, chunks: Iterable[int]) -> None:
        """Record that the replica at `bit` now has the current values of `chunks`."""
        valid, touched = list(self.valid), list(self.touched)
        for chunk in chunks:
            valid[chunk] |= bit
            touched[chunk] |= bit
        self._set(valid, touched)

    def written(self, bit: int, chunks: ChunkRange) -> int:
        """Record a write of `chunks` at `bit`; return the bits that lose validity."""
        valid, touched, lost = list(self.valid), list(self.touched), 0
        for chunk in range(*chunks):
            lost |= valid[chunk]
            valid[chunk] = bit
            touched[chunk] |= bit
        self._set(valid, touched)
        return lost & ~bit

    def restore(self, chunks: ChunkRange, earlier: tuple[list[int], list[int]]) -> None:
        """Restore the masks of `chunks` from `earlier`, the former `valid` and `touched` lists."""
        part, valid, touched = slice(*chunks), list(self.valid), list(self.touched)
        valid[part], touched[part] = earlier[0][part], earlier[1][part]
        self._set(valid, touched)

    def forget(self, bit: int) -> None:
        """Record that the replica at `bit` no longer exists."""
        self._set([mask & ~bit for mask in self.valid], [mask & ~bit for mask in self.touched])

    def distrust(self, bit: int, chunks: Iterable[int]) -> bool:
        """Mark `chunks` of the replica at `bit` as stale if all of them are valid elsewhere.

        Return whether they are. The caller holds the lock of the buffer's table.
        """
        if any(self.valid[chunk] & bit and not self.valid[chunk] & ~bit for chunk in chunks):
            return False
        valid = list(self.valid)
        for chunk in chunks:
            valid[chunk] &= ~bit
        self._set(valid, self.touched)
        return True

    def sole_holder(self, bit: int) -> bool:
        """Return whether some chunk has its values at `bit` only."""
        return bit in self.valid

    def assign(self, mask: int) -> None:
        """Set the valid mask of all chunks to `mask`."""
        self._set([mask] * len(self.valid), [touched | mask for touched in self.touched])

    def trust(self, bit: int) -> None:
        """Mark the replica at `bit` as the only valid one, in all chunks that it has touched."""
        pairs = zip(self.valid, self.touched, strict=True)
        self._set([bit if touched & bit else mask for mask, touched in pairs], self.touched)

    def _set(self, valid: list[int], touched: list[int]) -> None:
        """Set all masks; CPython handles no signal between the last four assignments."""
        if len(valid) == 1:
            everywhere = anywhere = valid[0]
        else:
            everywhere, anywhere = reduce(and_, valid, -1), reduce(or_, valid, 0)
        self.valid = valid
        self.touched = touched
        self.everywhere = everywhere
        self.anywhere = anywhere
