"""Own `Allocation`, a piece of memory in one space; refuse to know whether its values are valid.

An allocation knows who owns the memory if the runtime does not. What its
`block` is depends on the memory: bytes of a NumPy array for those of the host and of emulated
devices, a memory pointer of CuPy for a GPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.spaces import MemorySpace


class Allocation:
    """One piece of memory: address, capacity in bytes, space and owner; `alive` until it is freed.

    `owner` is None where the memory belongs to the runtime, else the object that must stay alive;
    such memory can be neither moved nor freed (HM-84). `writable` is False for read-only memory.
    `pending` is what a device may still do here after an access has ended, for memories to keep.
    `lent` says that somebody may work here of whom nobody takes a note: with an array that was
    handed out without an access, or with a device on memory of the host.
    """

    __slots__ = (
        "pointer",
        "capacity",
        "space",
        "block",
        "owner",
        "label",
        "writable",
        "pending",
        "lent",
        "alive",
    )

    def __init__(self, space: MemorySpace, pointer: int, capacity: int, block: Any) -> None:
        """Record a piece of `capacity` bytes at address `pointer`; memories call this."""
        self.pointer = pointer
        self.capacity = capacity
        self.space = space
        self.block = block
        self.owner: object | None = None
        self.label = ""
        self.writable = True
        self.pending: tuple[Any, ...] = ()
        self.lent = False
        self.alive = True

    @property
    def watched(self) -> bool:
        """Say whether the runtime knows all that is done here."""
        return not (self.lent or self.external)

    @property
    def external(self) -> bool:
        """Say whether the memory belongs to somebody else."""
        return self.owner is not None

    def drop(self) -> None:
        """Let the memory go."""
        if not self.alive:
            raise MemoryException(f'The allocation "{self.label}" was freed twice.')
        self.alive = False
        self.block = None
        self.owner = None
        self.pointer = 0

    def __repr__(self) -> str:
        """Describe the allocation by label, place and size."""
        return f'<Allocation "{self.label}" {self.capacity} B at {self.space.tag}>'


class WindowSpec(NamedTuple):
    """A typed array over an allocation: `offset` and `strides` in bytes.

    `strides` None means C order without gaps.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0
    writable: bool = True
