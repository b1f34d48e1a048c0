"""Passive records of the pure-Python fallback: counters, arrays, the two sides of a storage."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.storage.core.words import WORDS


class Tallies:
    """Totals of transfers in each of four directions: their number, bytes and seconds."""

    __slots__ = ("_callbacks", "_kept")

    def __init__(self) -> None:
        """Start at zero, without any callbacks."""
        self._callbacks: list[Any] = []
        self._clear()

    def _add(self, way: int, nbytes: int, seconds: float) -> None:
        """Count one copy."""
        count, total, spent = self._kept[way]
        self._kept[way] = (count + 1, total + nbytes, spent + seconds)

    def _sums(self, way: int) -> tuple[int, int, float]:
        """Return the sums of one way."""
        return self._kept[way]

    def _clear(self) -> None:
        """Start at zero again."""
        self._kept: list[tuple[int, int, float]] = [(0, 0, 0.0)] * 4


class Windows:
    """The arrays of a storage on its two sides, and its data interface, once made.

    `kernel` is the array for a kernel that runs at once, `later` the one for a queued kernel.
    """

    __slots__ = ("host", "reading", "device", "kernel", "later", "interface")

    def __init__(self) -> None:
        """Start with nothing made."""
        self.host: np.ndarray[Any, Any] | None = None
        self.reading: np.ndarray[Any, Any] | None = None
        self.device: Any = None
        self.kernel: Any = None
        self.later: Any = None
        self.interface: dict[str | None, dict[str, Any]] | None = None


class Sides:
    """The state shared by all storages over the same data: the buffer, the spaces of both sides."""

    __slots__ = (
        "buffer", "host", "device", "label", "origin", "points", "_sync_state", "_pin", "strict",
    )  # fmt: skip

    def __init__(self, host: Any, device: Any, strict: bool = False, label: str = "") -> None:
        """Start without a buffer."""
        self.buffer: Any = None
        self.host = host
        self.device = device
        self.label = label
        self.origin = 0
        self.points = -1
        self._sync_state: Any = None
        self._pin: object = None
        self.strict = strict

    def attach(self, buffer: Any, origin: int, points: int = -1) -> None:
        """Use `buffer`, whose memory stays in place as long as this object lives."""
        self.origin = origin
        self.points = points
        self._pin = WORDS.pin(buffer.pins)
        # Last, because a thread that sees a buffer assumes that all other fields are set.
        self.buffer = buffer
