"""Waiting of threads for an event that another thread causes.

An interrupt (Ctrl-C) between two steps of `threading.Event` and `Condition` can leave them locked
for ever. Here the only shared state is a list that changes in single steps.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from psyclone_storage.storage.core.errors import AccessDeadlockError

_NO_END = -1.0


def check_others_go_on() -> None:
    """Raise `AccessDeadlockError` where no other thread does anything any more.

    That is when the interpreter ends, and finalizers are all that runs.
    """
    if sys.is_finalizing():
        raise AccessDeadlockError(
            "The program ends, and no other thread goes on: what one of them has, or is to do, "
            "cannot be waited for. Use the data before the end, as by atexit."
        )


class Waiters:
    """The waiting threads, each with its own lock, whose release wakes it."""

    __slots__ = ("_locks",)

    def __init__(self) -> None:
        """Start without any waiting thread."""
        self._locks: deque[threading.Lock] = deque()

    def wait(self, is_over: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until `is_over()` or the next `wake`; return False after `timeout` seconds.

        Raises `AccessDeadlockError` when the program ends.
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

        A lock leaves the list after its release, so that an interrupt between the two loses
        no thread. Two threads may release the same one.
        """
        while self._locks:
            with suppress(IndexError, ValueError):  # another thread was faster
                lock = self._locks[0]
                with suppress(RuntimeError):
                    lock.release()
                self._locks.remove(lock)
