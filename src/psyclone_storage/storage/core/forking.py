"""Fork handlers for locks and other process-wide state, independent of the owners of the locks.

A child process has only the thread that forked, and a copy of all state that the other threads were
modifying. Therefore the runtime acquires its locks before a fork, in one order, and releases them
on both sides after it: the guarded state is consistent. A child performs all other repairs in the
order in which the steps were added.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeVar

PATIENCE = 1.0
"""Seconds to wait for locks before a fork; in the child, those not had by then are made anew."""


class Rank(IntEnum):
    """The order of the locks: a thread that holds one may acquire those of a higher rank."""

    STREAM = 0
    FIRST_USE = 1
    CONTEXT = 2
    MEMORY = 3
    WAITS = 4
    TABLE = 5
    LEAF = 6


class Lock(Protocol):
    """The locks of `threading`."""

    def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool:
        """Take the lock, if it can be had in time."""

    def release(self) -> None:
        """Let the lock go."""


class ForkHandlers(NamedTuple):
    """The steps before a fork, after it in the parent, and after it in the child.

    `last` defers steps that rely on the other steps.
    """

    before: Callable[[], None]
    in_parent: Callable[[], None]
    in_child: Callable[[], None]
    last: bool = False


L = TypeVar("L")


class Forks:
    """The locks of the process, for the time of a fork."""

    def __init__(self) -> None:
        """Start with nothing to keep."""
        self._locks: dict[weakref.ref[Any], Rank] = {}
        self._tables: Callable[[], Sequence[Lock]] = tuple
        self._steps: list[ForkHandlers] = []
        self._held: list[Any] = []
        self._missed: list[Any] = []

    def guard(self, lock: L, rank: Rank) -> L:
        """Take `lock` before each fork as long as it lives; return it."""
        self._locks[weakref.ref(lock, self._forget)] = rank
        return lock

    def guard_tables(self, locks: Callable[[], Sequence[Lock]]) -> None:
        """Take the locks that `locks` returns, in their order, before each fork."""
        self._tables = locks

    def add(self, step: ForkHandlers) -> None:
        """Do `step` with each fork: before the locks are acquired, and after their release."""
        self._steps.append(step)
        self._steps.sort(key=lambda added: added.last)

    def before(self) -> None:
        """Take all locks, as far as they can be had."""
        for step in self._steps:
            step.before()
        end = time.monotonic() + PATIENCE
        for lock in self._all_locks():
            had = lock.acquire(timeout=max(end - time.monotonic(), 0.0))
            (self._held if had else self._missed).append(lock)

    def in_parent(self) -> None:
        """Let the locks go."""
        self._let_go()
        self._missed.clear()
        for step in self._steps:
            step.in_parent()

    def in_child(self) -> None:
        """Release the locks, and repair the state that the other threads left."""
        self._let_go()
        for lock in self._missed:
            lock._at_fork_reinit()  # noqa: SLF001  # pylint: disable=protected-access
        self._missed.clear()
        for step in self._steps:
            step.in_child()

    def _forget(self, gone: weakref.ref[Any]) -> None:
        """Remove a lock that is no longer referenced; may run at any point."""
        self._locks.pop(gone, None)

    def _let_go(self) -> None:
        for lock in reversed(self._held):
            lock.release()
        self._held.clear()

    def _all_locks(self) -> list[Any]:
        """Return the locks in the order in which the runtime takes them."""
        known = list(self._locks.items())
        alive = [(rank, lock) for found, rank in known if (lock := found()) is not None]
        alive += [(Rank.TABLE, lock) for lock in self._tables()]
        return [lock for _, lock in sorted(alive, key=lambda pair: pair[0])]


FORKS = Forks()
"""What this process does when it forks."""


def nothing() -> None:
    """Do nothing, as one part of a step."""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=FORKS.before, after_in_parent=FORKS.in_parent, after_in_child=FORKS.in_child
    )
