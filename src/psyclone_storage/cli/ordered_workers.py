"""Turns: who works on a later file waits for those before it, where the order is to be seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing import RawArray

_PAUSE = 0.002  # seconds


class Turns:
    """Ordering barrier of `number` items, shared by processes.

    No lock is held, which a process that dies would keep. Each thing is done at some time, by
    failing if need be, and is begun in the order of the numbers: so no process waits for ever.
    """

    def __init__(self, number: int) -> None:
        self._done = RawArray("b", number)

    def of(self, place: int) -> Callable[[], None]:
        """Return a function that waits until all before `place`, counted from 0, are done."""

        def wait() -> None:
            while not all(self._done[:place]):
                time.sleep(_PAUSE)

        return wait

    def finish(self, place: int) -> None:
        """Signal that the item at `place` is done."""
        self._done[place] = 1
