"""Long Fortran statements, broken at places where a reader would break them.

A statement may fill `LIMIT` columns and is broken before `GOAL` where it can be: after a
comma, else before an operator or at a blank, never inside a character literal unless that
alone is too long.
"""

from __future__ import annotations

import re

GOAL = 100
LIMIT = 132
_PIECES = re.compile(r"""("(?:[^"]|"")*"|'(?:[^']|'')*'|[^\s"']+)(\s*)""")
_CONTINUED = " &"


def wrapped(text: str, indent: int) -> list[str]:
    """Return the lines of a statement at `indent` blanks, the further ones four more."""
    first, further = " " * indent, " " * (indent + 4)
    if len(first + text) <= GOAL:
        return [first + text]
    lines: list[str] = []
    line = first
    for piece in _pieces(text):
        room = GOAL - len(_CONTINUED)
        if len((line + piece).rstrip()) > room and line.strip():
            lines.append(line.rstrip() + _CONTINUED)
            line = further
        line += piece
        while len(line.rstrip()) > LIMIT - len(_CONTINUED):
            lines.append(line[: LIMIT - 1] + "&")
            line = further + "&" + line[LIMIT - 1 :]
    return [*lines, line.rstrip()]


def _pieces(text: str) -> list[str]:
    """Return `text` in parts that stay together, each with the blanks behind it."""
    pieces: list[str] = []
    for match in _PIECES.finditer(text):
        joined = pieces and not pieces[-1][-1].isspace() and not pieces[-1].endswith(",")
        if joined:
            pieces[-1] += match[0]
        else:
            pieces.append(match[0])
    return pieces


def commented(text: str, indent: int) -> list[str]:
    """Return a comment, filled to `GOAL` columns; each line of `text` starts a new one."""
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
