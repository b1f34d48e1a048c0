"""Progress bar of a long batch on a terminal."""

from __future__ import annotations

import os
from typing import Self, TextIO

from psyclone_storage.base.text import visible

_WIDTH = 30
_CLEAR = "\r\033[K"


class Progress:
    """Progress bar for `total` steps, shown only on a terminal and for more than one step.

    It is removed at the end of the context.
    """

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._done = 0
        self._stream = stream
        self._shown = total > 1 and stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._put(_CLEAR)

    def advance(self, name: str) -> None:
        """Count one more step, which processed `name`."""
        self._done += 1
        if self._shown:
            filled = _WIDTH * self._done // self._total
            cells = "#" * filled + "." * (_WIDTH - filled)
            text = f"[{cells}] {self._done}/{self._total} {visible(name)}"
            self._put(_CLEAR + text[: self._columns() - 1])

    def _columns(self) -> int:
        return os.get_terminal_size(self._stream.fileno()).columns or 80

    def _put(self, text: str) -> None:
        if self._shown:
            self._stream.write(text)
            self._stream.flush()
