"""Splitting of long Fortran statements at readable positions.

A statement may fill `LIMIT` columns, but is normally split before column `GOAL`. It is split at
blanks outside parentheses if that suffices, otherwise inside the outermost parentheses, and so on
inwards. A string argument starts on a new line. Any remaining long part is cut at column `LIMIT`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

GOAL = 100
LIMIT = 132
_CONTINUED = " &"
_STEP = 4
_HEADS = ("subroutine ", "call ")
"""Words that are no line of their own: what they are about follows."""
_LONGEST_HEAD = max(map(len, _HEADS))


def wrapped(text: str, indent: int) -> list[str]:
    """Return the lines of a statement indented by `indent`, with continuation lines four deeper."""
    first, further = " " * indent, " " * (indent + _STEP)
    if len(first + text) <= GOAL:
        return [first + text]
    room = GOAL - len(_CONTINUED) - len(further)
    lines: list[str] = []
    line = first
    for piece in _pieces(text, room):
        if line.strip() and len((line + piece).rstrip()) > GOAL - len(_CONTINUED):
            lines.append(line.rstrip() + _CONTINUED)
            line = further
        line += piece
    lines.append(line.rstrip())
    return [part for line in lines for part in _cut(line, further)]


def _pieces(text: str, room: int) -> Iterator[str]:
    """Yield `text` in unbreakable parts of at most `room` columns where possible."""
    breaks = list(_breaks(text))
    positions = [position for position, _ in breaks]

    def parts(start: int, stop: int, depth: int) -> Iterator[str]:
        between = breaks[bisect_right(positions, start) : bisect_left(positions, stop)]
        inside = [place for place in between if place[1] >= depth]
        if stop - start <= room or not inside:
            yield text[start:stop]
            return
        ends = [position for position, level in inside if level == depth]
        for end in (*ends, stop):
            yield from parts(start, end, depth + 1)
            start = end

    return parts(0, len(text), 0)


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield each position before which `text` may be split, with its nesting depth."""
    depth, quote = 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
            continue
        before = text[position - 1] if position else ""
        opens = character in "\"'"
        after_blank = before == " " and character != " " and not _is_head(text, position)
        if after_blank or (before == "(" and opens):
            yield position, depth
        if opens:
            quote = character
        depth += (character == "(") - (character == ")")


def _is_head(text: str, stop: int) -> bool:
    return stop <= _LONGEST_HEAD and text[:stop] in _HEADS


def _cut(line: str, further: str) -> Iterator[str]:
    """Yield a line, cut into parts of `LIMIT` columns if necessary.

    At least half of each part is text, even if the indentation is deep.
    """
    further = further[: LIMIT // 2]
    while len(line) > LIMIT:
        yield line[: LIMIT - 1] + "&"
        line = f"{further}&{line[LIMIT - 1 :]}"
    yield line


def commented(text: str, indent: int) -> list[str]:
    """Return a comment filled to `GOAL` columns; each line of `text` starts a new comment line."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = " " * indent + "!"
        for word in paragraph.split():
            if len(line) + len(word) + 1 > GOAL and line.strip() != "!":
                lines.append(line)
                line = " " * indent + "!"
            line += f" {word}"
        lines.append(line)
    return lines
