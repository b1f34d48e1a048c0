"""Transfer statistics and callbacks on transfers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeAlias

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.native import Tallies, register
from psyclone_storage.storage.core.spaces import MemorySpace


class Direction(Enum):
    """The direction of a transfer; page-locked memory counts as host."""

    HOST_TO_DEVICE = "host to device"
    DEVICE_TO_HOST = "device to host"
    DEVICE_TO_DEVICE = "device to device"
    HOST_TO_HOST = "host to host"


_WAYS = (
    Direction.HOST_TO_HOST,
    Direction.HOST_TO_DEVICE,
    Direction.DEVICE_TO_HOST,
    Direction.DEVICE_TO_DEVICE,
)
"""The directions; the index is 2 if the source is a device, plus 1 if the target is one."""


class TransferEvent(NamedTuple):
    """One transfer: its size in bytes, source, target and duration in seconds."""

    label: str
    source: MemorySpace
    target: MemorySpace
    nbytes: int
    chunk: int
    seconds: float

    @property
    def direction(self) -> Direction:
        """Return the direction of the transfer."""
        return direction_of(self.source, self.target)


_LOCK = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Protects the counters; re-entrant, because a finalizer may run during an update."""

TransferCallback: TypeAlias = Callable[[TransferEvent], None]


def direction_of(source: MemorySpace, target: MemorySpace) -> Direction:
    """Return the direction of a copy from `source` to `target`."""
    if source.host_accessible:
        return Direction.HOST_TO_HOST if target.host_accessible else Direction.HOST_TO_DEVICE
    return Direction.DEVICE_TO_HOST if target.host_accessible else Direction.DEVICE_TO_DEVICE


@dataclass(slots=True)
class Tally:
    """The number of transfers in one direction, their bytes and seconds."""

    count: int = 0
    nbytes: int = 0
    seconds: float = 0.0


class TransferStats(Tallies):
    """Transfer counters by direction, with callbacks that receive each transfer."""

    __slots__ = ()

    def record(self, event: TransferEvent) -> None:
        """Add one transfer and call the callbacks, in the calling thread."""
        with _LOCK:
            self._add(_WAYS.index(event.direction), event.nbytes, event.seconds)
        if self._callbacks:
            for callback in tuple(self._callbacks):
                callback(event)

    def of(self, direction: Direction) -> Tally:
        """Return the counters of one direction."""
        return Tally(*self._sums(_WAYS.index(direction)))

    @property
    def count(self) -> int:
        """Return the number of transfers in all directions."""
        return sum(self.of(way).count for way in _WAYS)

    @property
    def nbytes(self) -> int:
        """Return the number of transferred bytes in all directions."""
        return sum(self.of(way).nbytes for way in _WAYS)

    def reset(self) -> None:
        """Reset the counters; callbacks remain registered."""
        with _LOCK:
            self._clear()

    def add_callback(self, callback: TransferCallback) -> Callable[[], None]:
        """Call `callback` for each transfer from now on; return the function that removes it."""
        self._callbacks.append(callback)

        def remove() -> None:
            self._callbacks.remove(callback)

        return remove


GLOBAL_STATS = TransferStats()
"""The counters of all buffers of the process."""

register(total=GLOBAL_STATS)
