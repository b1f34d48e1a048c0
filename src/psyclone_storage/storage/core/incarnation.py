"""Own `Incarnation`, one replica of a buffer (HData of HMemo); refuse to know if it is valid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.errors import MemoryException, MemoryExhaustedError
from psyclone_storage.storage.core.hints import ReplicaOptions
from psyclone_storage.storage.core.native import Replica
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.validity import ReplicaState, Validity
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

    @property
    def unsettled(self) -> bool:
        """Say whether a device may still be at the memory, or has failed there."""
        held = self.allocation
        return held is not None and bool(held.pending or held.failures)

    def allocation_there(self) -> Allocation:
        """Return the allocation; raise `MemoryException` if there is none."""
        if self.allocation is None:
            raise MemoryException(f"Nothing is allocated at {self.space.tag}.")
        return self.allocation

    def free(self) -> None:
        """Give up the memory, with which nobody is at work after that."""
        if self.allocation is not None:
            self.memory.settle(self.allocation, writes=True)
            self.allocation.drop()
            self.allocation = None


def allocated(memory: Memory, nbytes: int, options: ReplicaOptions) -> Allocation:
    """Return new memory. Raises `MemoryExhaustedError` if there is too little.

    What the libraries below raise then has many types, and no label.
    """
    try:
        allocation = memory.allocate(nbytes, options.alignment)
    except (MemoryError, OverflowError, OSError) as error:
        name = f'"{options.label}"' if options.label else "A buffer without a label"
        raise MemoryExhaustedError(
            f"{name} needs {nbytes} B at {memory.space.tag}, which are not to be had ({error}): "
            f"free some memory there, or make it smaller."
        ) from error
    allocation.label = options.label
    return allocation


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


def state_of(replica: Incarnation, validity: Validity, pending: bool) -> IncarnationState:
    """Return the report on one replica; `pending` says that values are under way to it."""
    return IncarnationState(
        replica.space,
        replica.allocation.pointer if replica.allocation is not None else 0,
        replica.capacity,
        bool(validity.everywhere & replica.bit),
        tuple(validity.freshness(replica.bit, chunk) for chunk in range(len(validity.valid))),
        pending,
    )


def settle(replicas: Iterable[Incarnation]) -> None:
    """Let the host wait for all that devices still do to the memory of some replicas."""
    for replica in replicas:
        if replica.allocation is not None:
            replica.memory.settle(replica.allocation, writes=True)
