"""Own `Incarnation`, one replica of a buffer (HData of HMemo); refuse to know if it is valid."""

from __future__ import annotations

from dataclasses import dataclass

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.errors import MemoryException, MemoryExhaustedError
from psyclone_storage.storage.core.native import Replica
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.validity import ReplicaState
from psyclone_storage.storage.memory.base import Memory


class Incarnation(Replica):
    """The replica of a buffer in one memory, allocated or not yet (HM-40)."""

    __slots__ = ()

    memory: Memory
    space: MemorySpace
    allocation: Allocation | None

    @property
    def capacity(self) -> int:
        """Return the allocated bytes."""
        return self.allocation.capacity if self.allocation is not None else 0

    @property
    def external(self) -> bool:
        """Say whether the memory belongs to somebody else."""
        return self.allocation is not None and self.allocation.external

    def allocation_there(self) -> Allocation:
        """Return the allocation; raise `MemoryException` if there is none."""
        if self.allocation is None:
            raise MemoryException(f"Nothing is allocated at {self.space.tag}.")
        return self.allocation

    def new_allocation(self, nbytes: int, alignment: int, label: str) -> Allocation:
        """Return new memory for this replica. Raises `MemoryExhaustedError` if there is too little.

        What the libraries below raise then has many types, and no label.
        """
        try:
            allocation = self.memory.allocate(nbytes, alignment)
        except (MemoryError, OverflowError, OSError) as error:
            name = f'"{label}"' if label else "A buffer without a label"
            raise MemoryExhaustedError(
                f"{name} needs {nbytes} B at {self.space.tag}, which are not to be had ({error}): "
                f"free some memory there, or make it smaller."
            ) from error
        allocation.label = label
        return allocation

    def free(self) -> None:
        """Give up the memory."""
        if self.allocation is not None:
            self.allocation.drop()
            self.allocation = None


@dataclass(frozen=True, slots=True)
class IncarnationState:
    """A report on one replica: the row that HMemo's tables show, with more detail.

    `valid` is true if all chunks are valid; `freshness` is that of each chunk.
    """

    space: MemorySpace
    pointer: int
    capacity: int
    valid: bool
    freshness: tuple[ReplicaState, ...]
    pending: bool
