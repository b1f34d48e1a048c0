"""Text edits that insert lines between two statements, which may be on one line.

Statements on one line are separated by `;`, and that line may be continued by `&` between them. A
directive or comment needs a line of its own. Therefore such a line is split where new lines are
inserted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from re import Match

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText

COMMENT_AFTER = regex(r"[ \t;]*![^\r\n]*")
"""A comment that follows a statement on its line."""
_REST_OF_LINE = regex(r"[ \t;]*(?:![^\n]*)?\r?(?:\n|\Z)")
_SEPARATORS = regex(r"(?:[ \t]*;)+")
_JOINT = regex(r"(?<=\S)[ \t]*[;&]|[;&]")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replacement text for the characters from `start` up to but excluding `stop`."""

    start: int
    stop: int
    text: str

    def moves_end(self, start: int, stop: int) -> bool:
        """Return whether the edit changes where the statement from `start` to `stop` ends."""
        is_inside = start <= self.start < self.stop <= stop
        is_statement = "\n" not in self.text and self.text[:1] not in ("", "!")
        return self.stop > start and not (is_inside and is_statement)


class LineBreaks:
    """Line insertions for a text with known statement offsets."""

    def __init__(self, text: str, statements: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._starts = [start for start, _ in statements]
        self._stops = [stop for _, stop in statements]

    def before(self, at: int, lines: Sequence[str], indent: int) -> Iterator[TextEdit]:
        """Yield the edits that insert `lines` before the statement or comment at `at`."""
        joints = tuple(self.joints_before(at))
        head = start_of_line(self._text, at)
        yield from joints
        if not self._text[head:at].strip(" \t&"):
            yield TextEdit(head, head, _joined(lines) + "\n")
        elif self._text[at : at + 1] == "!":
            yield self._at_line_after(at, lines)
        else:
            last = self._text.rfind(";", head, at)
            yield self._split(at if last < 0 else last + 1, at, lines, indent)

    def after(self, at: int, lines: Sequence[str], indent: int) -> Iterator[TextEdit]:
        """Yield the edits that insert `lines` after the text that ends at `at`."""
        joints = tuple(self.joints_after(at))
        rest = _REST_OF_LINE.match(self._text, at)
        if joints or rest is not None:
            yield from joints
            yield self._at_line_after(at, lines)
            return
        separators = _SEPARATORS.match(self._text, at)
        stop = at if separators is None else separators.end()
        code = self._text[stop:]
        yield self._split(stop, stop + len(code) - len(code.lstrip(" \t")), lines, indent)

    def joints_before(self, at: int) -> Iterator[TextEdit]:
        """Yield edits that remove the line continuation between `at` and the statement before."""
        previous = bisect_right(self._stops, at) - 1
        yield from self._joints(previous)

    def joints_after(self, at: int) -> Iterator[TextEdit]:
        """Yield edits that remove the line continuation between `at` and the statement after."""
        yield from self._joints(bisect_left(self._starts, at) - 1)

    def _joints(self, previous: int) -> Iterator[TextEdit]:
        """Yield edits that remove the continuation marks between a statement and the next one."""
        if not 0 <= previous < len(self._starts) - 1:
            return
        at, stop = self._stops[previous], self._starts[previous + 1]
        places: list[tuple[int, int]] = []
        is_continued = False
        while at < stop:
            end = min(end_of_line(self._text, at) + 1, stop)
            line = self._text[at:end]
            if not line.lstrip(" \t").startswith("#"):
                code = line.partition("!")[0]
                found = _JOINT.finditer(self._text, at, at + len(code))
                places += [one.span() for one in found]
                is_continued = is_continued or "&" in code
            at = end
        if is_continued:
            yield from (TextEdit(first, last, "") for first, last in places)

    def _at_line_after(self, at: int, lines: Sequence[str]) -> TextEdit:
        end = end_of_line(self._text, at)
        if end == len(self._text):
            return TextEdit(end, end, "\n" + _joined(lines))
        return TextEdit(end + 1, end + 1, _joined(lines) + "\n")

    def _split(self, at: int, code: int, lines: Sequence[str], indent: int) -> TextEdit:
        """Return the edit that inserts lines at `at` and moves `code` to a new line."""
        blanks = " " * max(0, indent - (code - at))
        return TextEdit(at, at, "\n" + _joined(lines) + "\n" + blanks)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines)


def start_of_line(text: str, at: int) -> int:
    """Return the offset of the first character of the line at `at`."""
    return text.rfind("\n", 0, at) + 1


def end_of_line(text: str, at: int) -> int:
    """Return the offset of the end of the line at `at`."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


@dataclass(frozen=True, slots=True)
class TextRun:
    """Neighbouring statements in the author's text, from `start` to `stop` in the file.

    - `indented`: the text includes the indentation of its first line.

    - `dropped`: the text is a comment that became part of another run.
    """

    text: str
    start: int
    stop: int
    indented: bool
    dropped: bool = False


def with_comment(run: TextRun, comment: Match[str], source: SourceText) -> TextRun:
    """Return a run with a comment that was found in the text of its file, as it was written."""
    return replace(run, text=run.text + source.as_written[comment.start() : comment.end()])


def with_trailing_comments(runs: Sequence[TextRun], source: SourceText) -> list[TextRun]:
    """Return runs of a file in which trailing comments belong to the preceding statement."""
    text = source.text
    found = list(runs)
    by_start = {run.start: number for number, run in enumerate(runs)}
    for number, run in enumerate(runs):
        comment = COMMENT_AFTER.match(text, run.stop)
        other = by_start.get(text.index("!", run.stop)) if comment else None
        if comment is None or other is None:
            continue
        rest = found[other].text.partition("\n")[2]
        found[number] = with_comment(found[number], comment, source)
        found[other] = replace(found[other], text=rest, indented=True, dropped=not rest)
    return found
