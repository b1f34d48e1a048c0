"""Order of worker processes: later files wait for earlier ones where the order is visible."""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing import RawArray

_PAUSE = 0.002  # seconds


class Turns:
    """Barrier that orders `number` items processed by several processes.

    It holds no lock, which a dying process would not release. Items are started in the order of
    their numbers, and each one is finished eventually, at least by an error. Hence no process waits
    forever.
    """

    def __init__(self, number: int) -> None:
        self._done = RawArray("b", number)

    def of(self, place: int) -> Callable[[], None]:
        """Return a function that waits until all items before `place` (from 0) are finished."""

        def wait() -> None:
            while not all(self._done[:place]):
                time.sleep(_PAUSE)

        return wait

    def finish(self, place: int) -> None:
        """Record that the item at `place` is finished."""
        self._done[place] = 1
