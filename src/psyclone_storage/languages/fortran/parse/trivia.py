"""Statements of a procedure and the text between them, in source order.

This module parses comments, directives, empty lines and preprocessor lines, which `statements`
omits. Statements are not parsed. The source text of any sequence of elements can be recovered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.unit import Opaque
from psyclone_storage.languages.fortran.parse.statements import SourceStatement

_DIRECTIVE = regex(r"!\$(?P<text>(?P<sentinel>omp|acc)\b.*)", re.IGNORECASE)
_CONTINUED = regex(r"!\$(?:omp|acc)\b[ \t]*&?", re.IGNORECASE)
_SENTINEL_STATEMENT = regex(r"!\$[ \t]")
_STRING = regex(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_WORD_OPERATOR = regex(r"\.[a-z]+\.", re.IGNORECASE)
_NAME = regex(r"(?:(?<![\w.])|(?<=[\d.]_))[a-z]\w*", re.IGNORECASE)


class RemarkKind(Enum):
    """Kind of a line between statements."""

    COMMENT = "comment"
    DIRECTIVE = "directive"
    BLANK = "blank"
    PREPROCESSOR = "preprocessor"
    SENTINEL = "statement behind a sentinel"


@dataclass(frozen=True, slots=True)
class Remark:
    """Line between two statements, or a directive or preprocessor line with continuations.

    - `text`: the text of a comment after `!`, the text of a directive after `!$`, or another whole
      line.

    - `trailing`: true if it is on the line of the preceding statement.
    """

    kind: RemarkKind
    text: str
    place: Span
    trailing: bool = False


Element = SourceStatement | Remark


def elements(statements: Iterable[SourceStatement], place: Span) -> Iterator[Element]:
    """Yield the `statements` in `place` with the text around them.

    `place` starts immediately after a statement. A comment inside a statement comes before it.
    """
    before = place.start
    for statement in statements:
        yield from _between(Span(place.source, before, statement.offset(0)))
        yield from _inside(statement)
        yield statement
        before = statement.whole().stop
    yield from _between(Span(place.source, before, place.stop))


def opaque(run: Sequence[Element]) -> Opaque:
    """Return a sequence of at least one element as verbatim text."""
    source = source_of(run[0])
    text = source.text[start_of(run[0]) : stop_of(run[-1])].replace("\r\n", "\n")
    names: set[str] = set()
    for element in run:
        if isinstance(element, SourceStatement):
            names |= words_in(element.text)
        elif element.kind is RemarkKind.SENTINEL:
            names |= words_in(element.text.lstrip("!$ \t"))
    place = Span(source, start_of(run[0]), stop_of(run[-1]))
    return Opaque(text, frozenset(names), place=place)


def words_in(text: str) -> frozenset[str]:
    """Return all names and keywords in the text of a statement, in lower case."""
    plain = _WORD_OPERATOR.sub(" ", _STRING.sub(" ", text))
    return frozenset(name.lower() for name in _NAME.findall(plain))


def source_of(element: Element) -> SourceText:
    """Return the file that contains an element."""
    return element.source if isinstance(element, SourceStatement) else element.place.source


def start_of(element: Element) -> int:
    """Return the start offset of an element, including its label."""
    if isinstance(element, Remark):
        return element.place.start
    start = element.offset(0)
    return element.source.text.rindex(element.label, 0, start) if element.label else start


def stop_of(element: Element) -> int:
    """Return the end offset of an element."""
    return element.place.stop if isinstance(element, Remark) else element.whole().stop


def _inside(statement: SourceStatement) -> Iterator[Remark]:
    """Yield the comments between the lines of a continued statement."""
    source = statement.source
    ends = [*statement.starts[1:], len(statement.text)]
    for piece in range(len(statement.offsets) - 1):
        length = ends[piece] - statement.starts[piece]
        at = statement.offsets[piece] + length
        for line in _lines(source, at, statement.offsets[piece + 1]):
            mark = line.text.find("!")
            if mark >= 0 and not line.text.startswith("#"):
                place = Span(source, line.start + mark, line.stop)
                yield Remark(RemarkKind.COMMENT, line.text[mark + 1 :].rstrip(), place)


def _between(gap: Span) -> Iterator[Remark]:
    """Yield the lines of `gap`, which starts directly after a statement."""
    source = gap.source
    lines = [_trimmed(line) for line in _lines(source, gap.start, gap.stop)]
    position = 0
    while position < len(lines):
        line, first = lines[position], position == 0
        edge = first or position == len(lines) - 1
        position += 1
        if line.text.startswith("#"):
            while line.text.endswith("\\") and position < len(lines):
                line, position = Span(source, line.start, lines[position].stop), position + 1
            yield Remark(RemarkKind.PREPROCESSOR, line.text, line)
        elif directive := _DIRECTIVE.match(line.text):
            text, place = directive["text"].rstrip(), line
            while text.endswith("&") and position < len(lines):
                more = _CONTINUED.sub("", lines[position].text, count=1)
                text = f"{text[:-1].rstrip()} {more.strip()}"
                place, position = Span(source, line.start, lines[position].stop), position + 1
            yield Remark(RemarkKind.DIRECTIVE, " ".join(text.split()), place)
        elif _SENTINEL_STATEMENT.match(line.text):
            yield Remark(RemarkKind.SENTINEL, line.text, line)
        elif line.text.startswith("!"):
            yield Remark(RemarkKind.COMMENT, line.text[1:], line, first)
        elif not line.text and not edge:
            yield Remark(RemarkKind.BLANK, "", line)


def _lines(source: SourceText, start: int, stop: int) -> Iterator[Span]:
    while True:
        end = source.text.find("\n", start, stop)
        if end < 0:
            yield Span(source, start, stop)
            return
        yield Span(source, start, end)
        start = end + 1


def _trimmed(line: Span) -> Span:
    """Return `line` without blanks around it and without a semicolon before its comment."""
    text = line.text
    begin = len(text) - len(text.lstrip(" \t;&"))
    return Span(line.source, line.start + begin, line.start + max(begin, len(text.rstrip())))
