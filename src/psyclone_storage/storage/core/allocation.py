"""Own `Allocation`, a piece of memory in one space; refuse to know whether its values are valid.

An allocation knows who owns the memory if the runtime does not. What its
`block` is depends on the memory: bytes of a NumPy array for those of the host and of emulated
devices, a memory pointer of CuPy for a GPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.native import Lease, Piece, register
from psyclone_storage.storage.core.spaces import MemorySpace


class Allocation(Piece):
    """One piece of memory: address, capacity in bytes, space and owner; `alive` until it is freed.

    `owner` is None where the memory belongs to the runtime, else the object that must stay alive;
    such memory can be neither moved nor freed (HM-84). `writable` is False for read-only memory.
    `pending` is what a device may still do here after an access has ended, for memories to keep:
    it is changed by `swap_pending`. `failures` are where work failed that was to write here.
    `lent` says that somebody may work here of whom nobody takes a note: with an array that was
    handed out without an access, or with a device on memory of the host.
    """

    __slots__ = ("_trail",)

    space: MemorySpace
    pointer: int
    capacity: int
    held: Any
    owner: object | None
    label: str
    pending: tuple[Any, ...]
    failures: tuple[Any, ...]
    writable: bool
    lent: bool
    alive: bool

    @property
    def block(self) -> Any:
        """Return the bytes, as an array, or what the memory has in place of them."""
        held = self.held
        return np.ndarray((self.capacity,), np.uint8, held) if isinstance(held, Lease) else held

    @property
    def trail(self) -> Any:
        """Return what the detector of races knows of uses of this memory, None without any."""
        return getattr(self, "_trail", None)

    @trail.setter
    def trail(self, trail: Any) -> None:
        self._trail = trail

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
        self.held = None
        self.owner = None
        self.pointer = 0

    def __repr__(self) -> str:
        """Describe the allocation by label, place and size."""
        return f'<Allocation "{self.label}" {self.capacity} B at {self.space.tag}>'


register(piece=Allocation)


class WindowSpec(NamedTuple):
    """A typed array over an allocation: `offset` and `strides` in bytes.

    `strides` None means C order without gaps.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0
    writable: bool = True
