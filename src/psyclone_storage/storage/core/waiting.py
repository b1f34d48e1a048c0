"""Waiting of threads for events and accesses, and deadlock detection.

An interrupt (Ctrl-C) between two steps of `threading.Event` and `Condition` can leave them locked
for ever. Here the only shared state is a list that changes in atomic steps. The tables and claims
are those of `locks`, which imports this module.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from psyclone_storage.storage.core.errors import AccessDeadlockError
from psyclone_storage.storage.core.forking import FORKS, ForkHandlers, Rank, nothing

_NO_END = -1.0


def check_others_go_on() -> None:
    """Raise `AccessDeadlockError` during interpreter shutdown, when no other thread runs."""
    if sys.is_finalizing():
        raise AccessDeadlockError(
            "The program ends, and no other thread goes on: what one of them has, or is to do, "
            "cannot be waited for. Use the data before the end, as by atexit."
        )


class Waiters:
    """The waiting threads, each with its own lock, whose release wakes it."""

    __slots__ = ("_locks",)

    def __init__(self) -> None:
        """Start without waiting threads."""
        self._locks: deque[threading.Lock] = deque()

    def wait(self, is_over: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until `is_over()` or the next `wake`; return False after `timeout` seconds.

        Raises `AccessDeadlockError` during interpreter shutdown.
        """
        if is_over():
            return True
        check_others_go_on()
        lock = threading.Lock()
        lock.acquire()  # pylint: disable=consider-using-with  # released by `wake`
        self._locks.append(lock)
        if is_over() or lock.acquire(  # pylint: disable=consider-using-with
            timeout=_NO_END if timeout is None else max(timeout, 0.0)
        ):
            return True
        with suppress(ValueError):  # another thread has just released it
            self._locks.remove(lock)
        return False

    def wake(self) -> None:
        """Wake all waiting threads; the condition now holds.

        A lock leaves the list after its release, so that an interrupt between the two steps loses
        no thread. Two threads may release the same lock.
        """
        while self._locks:
            with suppress(IndexError, ValueError):  # another thread was faster
                lock = self._locks[0]
                with suppress(RuntimeError):
                    lock.release()
                self._locks.remove(lock)


Claim: TypeAlias = Any
LockTable: TypeAlias = Any
Pairs: TypeAlias = Sequence[tuple[LockTable, Claim]]


class WaitGraph:
    """Wait-for graph of threads and claims, for deadlock detection.

    A waiting claim depends on its blockers: a queued blocker must first be granted with all of its
    group, and a blocker that is not in flight ends only after its thread's own waits. While the
    graph is searched, no thread whose wait is in it can proceed, so that a cycle that exists at any
    moment exists during the whole search.
    """

    __slots__ = ("_lock", "_waits")

    def __init__(self) -> None:
        """Start without waiting threads."""
        self._lock = FORKS.guard(threading.Lock(), Rank.WAITS)
        self._waits: dict[Hashable, list[Pairs]] = {}

    def restart(self) -> None:
        """Remove all waits: the child of a fork has no waiting threads."""
        self._waits.clear()

    def begin(self, pairs: Pairs, waiter: Hashable) -> Callable[[], None]:
        """Record that `waiter` is about to wait for the claims; return the undo function.

        Raises `AccessDeadlockError` if the wait could never end.
        """
        with self._lock:
            waits = self._waits.setdefault(waiter, [])
            waits.append(pairs)
            for table, claim in pairs:
                if not claim.active and self._leads_back(table, claim, waiter, set()):
                    self._end(pairs, waiter)
                    holders, others = table.seen_in_line(claim)
                    raise AccessDeadlockError(_deadlock_text(claim, holders + others))

        def end_wait() -> None:
            with self._lock:
                self._end(pairs, waiter)

        return end_wait

    def forget(self, pairs: Pairs, waiter: Hashable) -> None:
        """Remove the record of a wait after an interrupt, if there is one."""
        with self._lock:
            if any(known is pairs for known in self._waits.get(waiter, ())):
                self._end(pairs, waiter)

    def _end(self, pairs: Pairs, waiter: Hashable) -> None:
        waits = self._waits[waiter]
        waits[:] = [known for known in waits if known is not pairs]
        if not waits:
            del self._waits[waiter]

    def _leads_back(self, table: LockTable, claim: Claim, origin: Hashable, seen: set[int]) -> bool:
        """Return whether the blockers of `claim` can only proceed after `origin` does."""
        seen.add(id(claim))
        holders, others = table.seen_in_line(claim)
        needed: list[tuple[LockTable, Claim]] = []
        for other in others:
            turn = other.turn
            needed += turn.group.pairs if turn is not None else ()
        for blocker in holders + others:
            if not blocker.in_flight:
                if blocker.owner == origin:
                    return True
                needed += [pair for pairs in self._waits.get(blocker.owner, ()) for pair in pairs]
        return any(
            self._leads_back(place, other, origin, seen)
            for place, other in needed
            if id(other) not in seen
        )


WAITS = WaitGraph()
"""The waits of this process; a cycle may contain waits for several buffers."""

FORKS.add(ForkHandlers(nothing, nothing, WAITS.restart))


def conflict_text(token: Claim, blocking: list[Claim]) -> str:
    """Return the error message for an access that conflicts with the claims `blocking`."""
    return (
        f"{token.describe()} is not possible: there is {_named(token, blocking)}. "
        f"Release it first, or ask at the same place in the same thread."
    )


def _deadlock_text(token: Claim, blocking: list[Claim]) -> str:
    return (
        f"{token.describe()} would wait forever: it needs the end of {_named(token, blocking)}, "
        f"which in turn cannot go on before this access. Release what is held first."
    )


def _named(token: Claim, others: list[Claim]) -> str:
    whose = {True: "this thread", False: "another thread or task"}
    return ", ".join(
        f"a {b.mode.value} access at {b.space.tag} of {whose[b.owner == token.owner]}"
        for b in others
    )
