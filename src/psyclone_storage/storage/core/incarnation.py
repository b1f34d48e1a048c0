"""`Incarnation`: one replica of a buffer (HMemo: HData), without its validity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.errors import (
    MemoryException,
    MemoryExhaustedError,
    PoisonedDataError,
)
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.hints import ReplicaOptions
from psyclone_storage.storage.core.native import Replica
from psyclone_storage.storage.core.spaces import MemorySpace, host_space
from psyclone_storage.storage.core.validity import ReplicaState, Validity
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.pending_work import UNREPORTED, forget_known


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
        """Return whether the memory belongs to an owner outside the runtime."""
        return self.allocation is not None and self.allocation.external

    @property
    def writable(self) -> bool:
        """Return whether the memory is writable; true if no memory is allocated yet."""
        return self.allocation is None or self.allocation.writable

    @property
    def unsettled(self) -> bool:
        """Return whether accesses to other replicas must check for work that may use this memory.

        Each access to the memory of a GPU checks by itself.
        """
        held = self.allocation
        if held is None or self.memory.lane is not None:
            return False
        forget_known(held)
        return bool(held.pending)

    @property
    def failed(self) -> bool:
        """Return whether failed work was to write to the memory."""
        return self.allocation is not None and bool(self.allocation.failures)

    def allocation_there(self) -> Allocation:
        """Return the allocation; raise `MemoryException` if it does not exist."""
        if self.allocation is None:
            raise MemoryException(f"Nothing is allocated at {self.space.tag}.")
        return self.allocation

    def free(self) -> None:
        """Free the memory after all pending work with it has ended."""
        if self.allocation is not None:
            self.memory.settle(self.allocation, writes=True)
            freed, self.allocation = self.allocation, None
            freed.drop()


def allocated(memory: Memory, nbytes: int, options: ReplicaOptions) -> Allocation:
    """Return new memory; raise `MemoryExhaustedError` if there is too little.

    This replaces the various errors of the underlying libraries by one with the label of the
    buffer.
    """
    try:
        allocation = memory.allocate(nbytes, options.alignment)
    except _NO_ROOM as error:
        raise _too_little(memory.space, nbytes, options.label, error) from error
    allocation.label = options.label
    return allocation


def move_values(memory: Memory, new: Allocation, old: Allocation, nbytes: int) -> None:
    """Copy the first `nbytes` bytes to other memory, after this thread's work in its access.

    Raises `PoisonedDataError` if the work that computes these bytes has failed.
    """
    memory.note_use(old, wrote=True)
    try:
        memory.memcpy_from(new, old, (0, nbytes))
    except BaseException as error:
        # After an interrupt, the copy may still run: later work must wait for it.
        memory.follow(old, writes=True)
        if not any(failure.error is error for failure in old.failures):
            raise
        UNREPORTED.discard(error)
        raise PoisonedDataError(
            f'"{old.label}" cannot get more memory at {memory.space.tag} with its values in it: '
            f"the task that wrote the data last failed ({error!r}). Write all of it anew."
        ) from error


class ReplicaPlace:
    """A factory of replicas in one memory space, each with new memory, for new buffers.

    `spaces` are the requested spaces that such a replica serves.
    """

    __slots__ = ("spaces", "_like", "_pool")

    def __init__(self, space: MemorySpace, memory: Memory) -> None:
        """Create the factory for replicas in `space`, the space of `memory`."""
        self.spaces = (space, None) if space is host_space() else (space,)
        self._like = Incarnation(memory)
        self._pool = memory.plain_pool

    def begin(self, nbytes: int, options: ReplicaOptions) -> Incarnation:
        """Return a new replica with `nbytes` bytes; may raise `MemoryExhaustedError`."""
        like, pool = self._like, self._pool
        if pool is None:
            made: Incarnation = like.beside(allocated(like.memory, nbytes, options))
            return made
        try:
            made = like.beside_in(pool, nbytes, options.alignment, options.label)
        except _NO_ROOM as error:
            raise _too_little(like.space, nbytes, options.label, error) from error
        return made


def _too_little(
    space: MemorySpace, nbytes: int, label: str, error: BaseException
) -> MemoryExhaustedError:
    """Return the error for insufficient memory."""
    name = f'"{label}"' if label else "A buffer without a label"
    return MemoryExhaustedError(
        f"{name} needs {nbytes} B at {space.tag}, which are not to be had ({error}): free some "
        f"memory there, or make it smaller."
    )


class IncarnationState(NamedTuple):
    """The state of one replica, as in HMemo's tables, with more detail.

    `valid` is true if all chunks are valid; `freshness` contains the state of each chunk.
    """

    space: MemorySpace
    pointer: int
    capacity: int
    valid: bool
    freshness: tuple[ReplicaState, ...]
    pending: bool


def state_of(replica: Incarnation, validity: Validity, pending: bool) -> IncarnationState:
    """Return the state of one replica; `pending` means that a transfer to it is in progress."""
    return IncarnationState(
        replica.space,
        replica.allocation.pointer if replica.allocation is not None else 0,
        replica.capacity,
        bool(validity.everywhere & replica.bit),
        tuple(validity.freshness(replica.bit, chunk) for chunk in range(len(validity.valid))),
        pending,
    )


_NO_ROOM = (MemoryError, OverflowError, OSError)
"""The errors of the underlying libraries for insufficient memory."""


def wait_for_streams(replicas: Iterable[Incarnation], moves: Iterable[Future[None]]) -> None:
    """Wait for `moves`, and for transfers without a future that an interrupt may have left."""
    for move in moves:
        move.exception()
    for replica in replicas:
        if replica.memory.stream is not None:
            replica.memory.stream.synchronize()


def settle(replicas: Iterable[Incarnation]) -> None:
    """Wait for all device work on the memory of `replicas`."""
    for replica in replicas:
        if replica.allocation is not None:
            replica.memory.settle(replica.allocation, writes=True)
