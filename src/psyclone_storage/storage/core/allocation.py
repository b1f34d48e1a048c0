"""`Allocation`: a block of memory in one space, without the validity of its values.

An allocation records the owner of the memory if that is not the runtime. The type of `block`
depends on the memory: a NumPy array of bytes for the host and emulated devices, a CuPy memory
pointer for a GPU.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.native import Lease, Piece, register
from psyclone_storage.storage.core.spaces import MemorySpace


class Allocation(Piece):
    """One block of memory: address, capacity in bytes, space and owner.

    `alive` is true until the block is freed. `owner` is the object that must stay alive, None for
    memory of the runtime; memory with an owner can be neither moved nor freed (HM-84). `writable`
    is False for read-only memory. `pending` is the device work that may still use this memory after
    an access has ended; only memories maintain it, through `swap_pending`. `failures` are the bytes
    that failed work was to write. `lent` is true if untracked code may use this memory: through an
    array exported without an access, or on a device that works on host memory.
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
        """Return the bytes as an array, or the object that represents them in this memory."""
        held = self.held
        return np.ndarray((self.capacity,), np.uint8, held) if isinstance(held, Lease) else held

    @property
    def trail(self) -> Any:
        """Return the access history of this memory for the race detector, or None."""
        return getattr(self, "_trail", None)

    @trail.setter
    def trail(self, trail: Any) -> None:
        self._trail = trail

    @property
    def watched(self) -> bool:
        """Return whether the runtime tracks all work on this memory."""
        return not (self.lent or self.external)

    @property
    def external(self) -> bool:
        """Return whether the memory belongs to an owner outside the runtime."""
        return self.owner is not None

    def drop(self) -> None:
        """Release the memory; raise `MemoryException` if that was already done."""
        if not self.alive:
            raise MemoryException(f'The allocation "{self.label}" was freed twice.')
        self.alive = False
        self.held = None
        self.owner = None
        self.pointer = 0

    def __repr__(self) -> str:
        """Describe the allocation by label, memory space and size."""
        return f'<Allocation "{self.label}" {self.capacity} B at {self.space.tag}>'


register(piece=Allocation)


class WindowSpec(NamedTuple):
    """The description of a typed array over an allocation; `offset` and `strides` are in bytes.

    If `strides` are omitted, the array is contiguous in C order.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0
    writable: bool = True

    @property
    def span(self) -> tuple[int, int]:
        """Return the first byte and the number of bytes of a window in C order without gaps."""
        return self.offset, math.prod(self.shape) * self.dtype.itemsize
