"""Fork handlers for locks and other process-wide state.

A child process has only the thread that forked, and a copy of all state that other threads were
modifying. Therefore the runtime acquires its locks in a fixed order before a fork and releases them
afterwards in both processes, so that the guarded state is consistent. In the child, handlers then
repair all other state in the order in which they were added.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeVar

PATIENCE = 1.0
"""Seconds to wait for locks before a fork; the child reinitialises those that time out."""


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
    """The interface of the locks of `threading`."""

    def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool:
        """Acquire the lock; return whether that succeeded within the timeout."""

    def release(self) -> None:
        """Release the lock."""


class ForkHandlers(NamedTuple):
    """The functions to call before a fork, after it in the parent, and after it in the child.

    Handlers with `last` run after all others.
    """

    before: Callable[[], None]
    in_parent: Callable[[], None]
    in_child: Callable[[], None]
    last: bool = False


L = TypeVar("L")


class Forks:
    """The locks and handlers of this process for forks."""

    def __init__(self) -> None:
        """Start without locks and handlers."""
        self._locks: dict[weakref.ref[Any], Rank] = {}
        self._tables: Callable[[], Sequence[Lock]] = tuple
        self._steps: list[ForkHandlers] = []
        self._held: list[Any] = []
        self._missed: list[Any] = []

    def guard(self, lock: L, rank: Rank) -> L:
        """Acquire `lock` before each fork during its lifetime; return it."""
        self._locks[weakref.ref(lock, self._forget)] = rank
        return lock

    def guard_tables(self, locks: Callable[[], Sequence[Lock]]) -> None:
        """Acquire the locks that `locks` returns, in their order, before each fork."""
        self._tables = locks

    def add(self, step: ForkHandlers) -> None:
        """Add handlers: they run before the locks are acquired, and after their release."""
        self._steps.append(step)
        self._steps.sort(key=lambda added: added.last)

    def before(self) -> None:
        """Run the handlers and acquire all locks, except those that time out."""
        for step in self._steps:
            step.before()
        end = time.monotonic() + PATIENCE
        for lock in self._all_locks():
            had = lock.acquire(timeout=max(end - time.monotonic(), 0.0))
            (self._held if had else self._missed).append(lock)

    def in_parent(self) -> None:
        """Release the locks and run the handlers of the parent."""
        self._let_go()
        self._missed.clear()
        for step in self._steps:
            step.in_parent()

    def in_child(self) -> None:
        """Release the locks, reinitialise those that timed out, and run the child's handlers."""
        self._let_go()
        for lock in self._missed:
            lock._at_fork_reinit()  # noqa: SLF001  # pylint: disable=protected-access
        self._missed.clear()
        for step in self._steps:
            step.in_child()

    def _forget(self, gone: weakref.ref[Any]) -> None:
        """Remove a garbage-collected lock; may be called at any point."""
        self._locks.pop(gone, None)

    def _let_go(self) -> None:
        for lock in reversed(self._held):
            lock.release()
        self._held.clear()

    def _all_locks(self) -> list[Any]:
        """Return the locks in the order of acquisition."""
        known = list(self._locks.items())
        alive = [(rank, lock) for found, rank in known if (lock := found()) is not None]
        alive += [(Rank.TABLE, lock) for lock in self._tables()]
        return [lock for _, lock in sorted(alive, key=lambda pair: pair[0])]


FORKS = Forks()
"""The fork handlers and locks of this process."""


def nothing() -> None:
    """Do nothing, as a fork handler."""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=FORKS.before, after_in_parent=FORKS.in_parent, after_in_child=FORKS.in_child
    )
