"""Deferred release of accesses whose objects were dropped at a point where no release is possible.

The garbage collector may delete an object at any point, even while its thread holds the very lock
that the release of the access needs. Such releases are recorded here without any lock. The next
thread that is about to wait for an access performs them, or a separate thread does for threads that
wait already.
"""

from __future__ import annotations

import queue
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable

from psyclone_storage.storage.core.forking import FORKS, ForkHandlers, Rank, nothing


class DroppedAccesses:
    """The pending calls that end accesses, until a thread makes them."""

    __slots__ = ("_calls", "_wake", "_thread", "_lock", "_busy")

    def __init__(self) -> None:
        """Start with none."""
        self._calls: deque[Callable[[], object]] = deque()
        self._lock = FORKS.guard(threading.RLock(), Rank.FIRST_USE)
        self.restart()

    def restart(self) -> None:
        """Continue without a thread, as in the child of a fork; pending calls stay recorded."""
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._busy = False

    def note(self, call: Callable[[], object]) -> None:
        """Have `call` made soon; may be called in the middle of anything."""
        self._calls.append(call)
        self._wake.put(None)

    def end_all(self) -> None:
        """Make the calls that are noted, and see to it that later ones are made."""
        if self._thread is None and not sys.is_finalizing():
            self._watch()
        if self._calls or self._busy:
            self._make_calls()

    def _make_calls(self) -> None:
        with self._lock:
            self._busy = True
            try:
                while self._calls:
                    self._calls.popleft()()
            finally:
                self._busy = False

    def _watch(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="ends of dropped accesses", daemon=True
                )
                self._thread.start()

    def _serve(self) -> None:
        while True:
            self._wake.get()
            try:
                self._make_calls()
            except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                text = f"A dropped access ended badly: {error}"
                warnings.warn(text, RuntimeWarning, stacklevel=1)


DROPPED = DroppedAccesses()
"""The dropped accesses of this process."""

FORKS.add(ForkHandlers(nothing, nothing, DROPPED.restart))
