"""How far a long batch has come, on one line of a terminal; nothing where nobody looks."""

from __future__ import annotations

from typing import TextIO

_WIDTH = 30


class Progress:
    """A bar for `total` steps on `stream`, shown only on a terminal and for more than one step."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._done = 0
        self._stream = stream
        self._shown = total > 1 and stream.isatty()

    def advance(self, name: str) -> None:
        """Count one more step, which was about `name`."""
        self._done += 1
        if self._shown:
            filled = _WIDTH * self._done // self._total
            bar = "#" * filled + "." * (_WIDTH - filled)
            text = f"[{bar}] {self._done}/{self._total} {name}"
            self._stream.write(f"\r\033[K{text[:100]}")
            self._stream.flush()

    def close(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._stream.write("\r\033[K")
            self._stream.flush()
