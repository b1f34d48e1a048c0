"""Source text and places in it.

Owns the mapping between character offsets and lines and columns. A place is a pair of offsets
into one text, so that the same `Span` serves a caret in a message and a replacement in the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property

from psyclone_storage.base.records import dataclass, field


@dataclass(frozen=True, eq=False)
class SourceText:
    """A file as it was read: its name as the user knows it, and its characters.

    Two texts are equal only if they are the same object, so that a span stays cheap to compare.
    Of a function of a program that runs, `calls` are the functions that names in it refer to.
    """

    name: str
    text: str
    calls: Mapping[str, CalledText] | None = field(default=None, repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def line_of(self, offset: int) -> int:
        """Return the 1-based number of the line that holds the character at `offset`."""
        return bisect_right(self._line_starts, offset)

    def start_of_line(self, number: int) -> int:
        """Return the offset of the first character of the 1-based line `number`."""
        return self._line_starts[number - 1]

    def line(self, number: int) -> str:
        """Return the text of the 1-based line `number`, without its end-of-line characters."""
        start = self.start_of_line(number)
        stop = self.text.find("\n", start)
        return self.text[start : stop if stop >= 0 else len(self.text)].rstrip("\r")

    def span(self, start: int, stop: int) -> Span:
        """Return the place of the characters from `start` up to, not including, `stop`."""
        return Span(self, start, stop)

    def whole(self) -> Span:
        """Return the place of the whole text."""
        return Span(self, 0, len(self.text))


@dataclass(frozen=True, slots=True)
class CalledText:
    """A function that another one calls: its text, and the module that has its variables.

    That is empty where it is the module of a kernel. `around` are variables of the function around
    it, `defaults` the numbers that its arguments are by default, None for no number, and `wraps`
    names the function that it wraps.
    """

    source: SourceText
    module: str
    around: tuple[str, ...]
    defaults: tuple[tuple[str, float | None], ...]
    wraps: str


@dataclass(frozen=True, slots=True)
class Span:
    """The characters of one source text from offset `start` up to, not including, `stop`."""

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
        """The characters themselves."""
        return self.source.text[self.start : self.stop]

    def to(self, other: Span) -> Span:
        """Return the place from the start of this span to the end of `other`."""
        return Span(self.source, self.start, other.stop)
