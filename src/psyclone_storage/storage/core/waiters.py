"""Own the waiting of threads for something that another thread brings about.

`threading.Event` and `Condition` can be left locked for ever by an interrupt (Ctrl-C) that comes
between two of their steps. Here nothing is shared but a list that changes in single steps.
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
    """Those who wait, each with a lock of its own that is let go when it may go on."""

    __slots__ = ("_locks",)

    def __init__(self) -> None:
        """Start with nobody."""
        self._locks: deque[threading.Lock] = deque()

    def wait(self, is_over: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until `is_over()` or the next `wake`; say no after `timeout` seconds.

        Raises `AccessDeadlockError` when the program ends.
        """
        if is_over():
            return True
        check_others_go_on()
        lock = threading.Lock()
        lock.acquire()  # pylint: disable=consider-using-with  # let go by `wake`
        self._locks.append(lock)
        if is_over() or lock.acquire(  # pylint: disable=consider-using-with
            timeout=_NO_END if timeout is None else max(timeout, 0.0)
        ):
            return True
        with suppress(ValueError):  # somebody has just let it go
            self._locks.remove(lock)
        return False

    def wake(self) -> None:
        """Let all go on who wait; what they wait for is there.

        A lock leaves the list behind its release, so that an interrupt between the two loses
        nobody. Two threads may let go of the same one.
        """
        while self._locks:
            with suppress(IndexError, ValueError):  # another thread was faster
                lock = self._locks[0]
                with suppress(RuntimeError):
                    lock.release()
                self._locks.remove(lock)
