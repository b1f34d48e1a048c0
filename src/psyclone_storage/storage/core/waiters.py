"""Own the waiting of threads for something that another thread brings about.

`threading.Event` and `Condition` can be left locked for ever by an interrupt (Ctrl-C) that comes
between two of their steps. Here nothing is shared but a list that changes in single steps.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

_NO_END = -1.0


class Waiters:
    """Those who wait, each with a lock of its own that is let go when it may go on."""

    __slots__ = ("_locks",)

    def __init__(self) -> None:
        """Start with nobody."""
        self._locks: deque[threading.Lock] = deque()

    def wait(self, is_over: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until `is_over()` or the next `wake`; say no after `timeout` seconds."""
        lock = threading.Lock()
        lock.acquire()  # pylint: disable=consider-using-with  # let go by `wake`
        self._locks.append(lock)
        return is_over() or lock.acquire(  # pylint: disable=consider-using-with
            timeout=_NO_END if timeout is None else max(timeout, 0.0)
        )

    def wake(self) -> None:
        """Let all go on who wait; what they wait for is there."""
        while self._locks:
            try:
                self._locks.popleft().release()
            except IndexError:  # another thread was faster
                return
