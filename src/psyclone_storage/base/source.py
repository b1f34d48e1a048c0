"""Source texts and positions in them.

This module maps character offsets to lines and columns. A `Span` is a pair of offsets into one
text; it is used both to mark source text in messages and to replace it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property

from psyclone_storage.base.records import dataclass, field


@dataclass(frozen=True, eq=False)
class SourceText:
    """The content of a source file, and its name as shown to the user.

    Texts are compared by identity, so that comparing spans is cheap. For a function of a running
    Python program, `calls` are the functions to which names in it refer.
    """

    name: str
    text: str
    calls: Mapping[str, CalledText] | None = field(default=None, repr=False)
    written: str | None = field(default=None, repr=False)

    @property
    def as_written(self) -> str:
        """The characters of the file; `text` is what readers see."""
        return self.text if self.written is None else self.written

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def line_of(self, offset: int) -> int:
        """Return the 1-based number of the line that contains `offset`."""
        return bisect_right(self._line_starts, offset)

    def has_line(self, number: int) -> bool:
        """Return whether there is a line with a number (1-based)."""
        return 1 <= number <= len(self._line_starts)

    def start_of_line(self, number: int) -> int:
        """Return the offset of the first character of a line (1-based)."""
        return self._line_starts[number - 1]

    def line(self, number: int) -> str:
        """Return the text of a line (1-based), without its line end."""
        start = self.start_of_line(number)
        stop = self.text.find("\n", start)
        return self.text[start : stop if stop >= 0 else len(self.text)].rstrip("\r")

    def span(self, start: int, stop: int) -> Span:
        """Return the span from `start` to `stop` (exclusive)."""
        return Span(self, start, stop)

    def whole(self) -> Span:
        """Return the span of the complete text."""
        return Span(self, 0, len(self.text))


@dataclass(frozen=True, slots=True)
class CalledText:
    """A function called by another Python function: its source text and its module.

    `module` is empty if it is the module of the kernel. `around` are variables of the enclosing
    function. `defaults` are the numeric argument defaults, None for others. `wraps` is the name of
    the wrapped function.
    """

    source: SourceText
    module: str
    around: tuple[str, ...]
    defaults: tuple[tuple[str, float | None], ...]
    wraps: str


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters in a source text, from `start` to `stop` (exclusive)."""

    source: SourceText
    start: int
    stop: int

    @property
    def line(self) -> int:
        """The 1-based line of the first character."""
        return self.source.line_of(self.start)

    @property
    def column(self) -> int:
        """The 1-based column of the first character."""
        return self.start - self.source.start_of_line(self.line) + 1

    @property
    def text(self) -> str:
        """The source text of the span."""
        return self.source.text[self.start : self.stop]

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of `other`."""
        return Span(self.source, self.start, other.stop)
