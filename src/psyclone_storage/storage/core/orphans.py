"""Own the end of what threads that are not in a forked child had begun there; refuse all else.

The accesses of those threads end, as failed where they wrote, they are in no line any more, and the
transfers that they were at are to be done again. Tasks end with the streams that they were on.
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
        """Return the number of the thread, None while there is none."""


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
        """Drop the buffers that are gone; those that come up meanwhile are behind them."""
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
        """End what threads that are not there had begun."""
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
        # What is asked for in advance, and ends by itself, is of use whoever asked.
        claim = turn.claim
        if _is_orphan(claim) and not (claim.in_flight and isinstance(claim.owner, int)):
            turn.group.give_up()
    for claim in tuple(table.holders):
        # What streams were at has ended by now.
        if _is_orphan(claim):
            if claim.mode.writes:
                gone = StorageError("The process was forked while another thread was writing.")
                buffer.replicas.close_write(claim, gone)
            table.leave(claim)


def _is_orphan(claim: Any) -> bool:
    """Say whether the claim is of a thread that is not there; threads go by their numbers.

    An owner that is no thread says which one works for it (`ThreadOfWork`).
    """
    owner: Hashable | ThreadOfWork = claim.owner
    thread = owner.thread if isinstance(owner, ThreadOfWork) else owner
    return thread is None or (isinstance(thread, int) and thread != threading.get_ident())
