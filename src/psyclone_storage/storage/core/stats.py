"""Own the counting of transfers and the callbacks on them; refuse to move data."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.spaces import MemorySpace


class Direction(Enum):
    """The way that data go; page-locked memory counts as host."""

    HOST_TO_DEVICE = "host to device"
    DEVICE_TO_HOST = "device to host"
    DEVICE_TO_DEVICE = "device to device"
    HOST_TO_HOST = "host to host"


class TransferEvent(NamedTuple):
    """One transfer: what went from where to where, in how many seconds."""

    label: str
    source: MemorySpace
    target: MemorySpace
    nbytes: int
    chunk: int
    seconds: float

    @property
    def direction(self) -> Direction:
        """Return the way that the data went."""
        return direction_of(self.source, self.target)


_LOCK = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Held for each count, by one thread perhaps twice, as objects may end in the middle of it."""

TransferCallback: TypeAlias = Callable[[TransferEvent], None]


def direction_of(source: MemorySpace, target: MemorySpace) -> Direction:
    """Return the direction of a copy from `source` to `target`."""
    if source.host_accessible:
        return Direction.HOST_TO_HOST if target.host_accessible else Direction.HOST_TO_DEVICE
    return Direction.DEVICE_TO_HOST if target.host_accessible else Direction.DEVICE_TO_DEVICE


@dataclass(slots=True)
class Tally:
    """The transfers of one direction: how many, how many bytes, how many seconds."""

    count: int = 0
    nbytes: int = 0
    seconds: float = 0.0


class TransferStats:
    """The transfers by direction, which those who asked are told of."""

    __slots__ = ("_tallies", "_callbacks")

    def __init__(self) -> None:
        """Start at zero."""
        self._tallies: dict[Direction, Tally] = {}
        self._callbacks: list[TransferCallback] = []

    def record(self, event: TransferEvent) -> None:
        """Add one transfer and call the callbacks, in the thread that made it."""
        direction = event.direction
        with _LOCK:
            tally = self._tallies.get(direction)
            if tally is None:
                tally = self._tallies[direction] = Tally()
            tally.count += 1
            tally.nbytes += event.nbytes
            tally.seconds += event.seconds
        if self._callbacks:
            for callback in tuple(self._callbacks):
                callback(event)

    def of(self, direction: Direction) -> Tally:
        """Return a copy of the sums of one direction."""
        found = self._tallies.get(direction)
        return Tally() if found is None else Tally(found.count, found.nbytes, found.seconds)

    @property
    def count(self) -> int:
        """Return the number of transfers, all directions together."""
        return sum(tally.count for tally in self._tallies.values())

    @property
    def nbytes(self) -> int:
        """Return the number of bytes moved, all directions together."""
        return sum(tally.nbytes for tally in self._tallies.values())

    def reset(self) -> None:
        """Set the sums back to zero; callbacks stay."""
        with _LOCK:
            self._tallies.clear()

    def add_callback(self, callback: TransferCallback) -> Callable[[], None]:
        """Call `callback` with each transfer from now on; return the function that ends it."""
        self._callbacks.append(callback)

        def remove() -> None:
            self._callbacks.remove(callback)

        return remove


GLOBAL_STATS = TransferStats()
"""The sums over all the buffers of the process."""
