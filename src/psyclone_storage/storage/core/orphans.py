"""Cleanup, in a forked child, of work that threads began that do not exist there.

The accesses of those threads end, as failed if they wrote; they leave all queues, and the
transfers that they performed must be repeated. Tasks end with the streams that they were on.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable
from weakref import ref

from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.core.forking import FORKS, ForkHandlers, nothing


@runtime_checkable
class ThreadOfWork(Protocol):
    """An owner of accesses that a thread works for."""

    @property
    def thread(self) -> int | None:
        """Return the number of the thread, None before it exists."""


class KnownBuffers:
    """All buffers, as long as they live."""

    def __init__(self) -> None:
        """Start with none."""
        self._known: list[ref[Any]] = []
        self._enough = 1024

    def note(self, buffer: Any) -> None:
        """Know one more buffer."""
        self._known.append(ref(buffer))
        if len(self._known) > self._enough:
            self.forget()

    def forget(self) -> None:
        """Remove the buffers that are gone; buffers that are added meanwhile come after them."""
        seen = len(self._known)
        alive = [known for known in self._known[:seen] if known() is not None]
        self._enough = max(1024, 2 * len(alive))
        self._known[:seen] = alive

    def alive(self) -> list[Any]:
        """Return the buffers that are there."""
        return [buffer for known in tuple(self._known) if (buffer := known()) is not None]

    def locks(self) -> Sequence[Any]:
        """Return the locks of all tables, in the order in which several are taken."""
        self.forget()
        tables = {id(buffer.table): buffer.table for buffer in self.alive()}
        return [tables[key].lock for key in sorted(tables)]

    def end_orphans(self) -> None:
        """End all work that threads began that do not exist in this process."""
        for buffer in self.alive():
            _end_accesses(buffer)
            gone = StorageError(f'Who was bringing "{buffer.label}" is not in this process.')
            buffer.replicas.abandon_transfers(gone)


BUFFERS = KnownBuffers()
"""The buffers of this process."""

FORKS.guard_tables(BUFFERS.locks)
FORKS.add(ForkHandlers(nothing, nothing, BUFFERS.end_orphans, last=True))


def _end_accesses(buffer: Any) -> None:
    table = buffer.table
    for turn in tuple(table.queue or ()):
        # A request in advance that ends by itself is useful whichever thread made it.
        claim = turn.claim
        if _is_orphan(claim) and not (claim.in_flight and isinstance(claim.owner, int)):
            turn.group.give_up()
    for claim in tuple(table.holders):
        # Work on streams has ended by now.
        if _is_orphan(claim):
            if claim.mode.writes:
                gone = StorageError("The process was forked while another thread was writing.")
                buffer.replicas.close_write(claim, gone)
            table.leave(claim)


def _is_orphan(claim: Any) -> bool:
    """Return whether the claim is of a thread that is not there; threads go by their numbers.

    An owner that is no thread says which one works for it (`ThreadOfWork`).
    """
    owner: Hashable | ThreadOfWork = claim.owner
    thread = owner.thread if isinstance(owner, ThreadOfWork) else owner
    return thread is None or (isinstance(thread, int) and thread != threading.get_ident())
