"""Parentheses, strings and lists in the text of one statement.

These functions search for text outside parentheses and strings. Positions are relative to the given
text. Nothing is evaluated or reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.regex import regex

_MARK = regex(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|['\"()\[\],]|=>|::|[=/<>]=|=")
_BRACKET = regex(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()\[\]]")
_LISTED = regex(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()\[\],]")
_PAIRED = regex(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\(/(?!=)|/\)|[()\[\]]")
_CLOSING = {"(/": "/)", "(": ")", "[": "]"}
_OPERAND = regex(r"[A-Za-z]\w*|\d+")


def punctuation(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    """Yield `(position, depth, mark)` for each bracket, comma and assignment outside strings.

    `depth` is the nesting depth of the surrounding text, also for opening and closing brackets. For
    an unclosed string, `mark` is its quotation mark.
    """
    depth = 0
    for found in _MARK.finditer(text, start, stop):
        mark = found.group()
        if len(mark) > 1 and mark[0] in "'\"":
            continue
        if mark in ")]":
            depth -= 1
        yield found.start(), depth, mark
        if mark in "([":
            depth += 1


def closing(text: str, opening: int) -> int:
    """Return the position of the bracket matching the one at `opening`, or -1."""
    depth = 0
    for found in _BRACKET.finditer(text, opening):
        mark = found.group()
        if mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
            if depth == 0:
                return found.start()
    return -1


def first_outside(text: str, mark: str, start: int = 0) -> int:
    """Return the position of the first `mark` from `start` on outside brackets, or -1."""
    for position, depth, found in punctuation(text, start, len(text)):
        if depth == 0 and found == mark:
            return position
    return -1


def list_items(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """Return the start and stop of each item in a comma-separated list, without blanks.

    Blank text has no items. An empty item between two commas is located at the second comma.
    """
    commas: list[int] = []
    depth = 0
    for found in _LISTED.finditer(text, start, stop):
        mark = found.group()
        if mark == ",":
            if not depth:
                commas.append(found.start())
        elif mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
    firsts = [start, *(comma + 1 for comma in commas)]
    items = [_trimmed(text, *ends) for ends in zip(firsts, [*commas, stop], strict=True)]
    return [] if len(items) == 1 and items[0][0] == items[0][1] else items


def _trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    part = text[start:stop]
    body = part.strip()
    if not body:
        return stop, stop
    first = start + part.index(body[0]) if body[0] != part[0] else start
    return first, first + len(body)


def missing_mark(text: str, position: int) -> tuple[int, int, str] | None:
    """Return the location of a syntax error and a hint, or None if the cause is unknown.

    The error is an unclosed bracket, or a missing comma at `position`, where parsing stopped.
    """
    if found := _unclosed(text):
        start, mark = found
        return start, start + len(mark), f"Close '{mark}' with '{_CLOSING[mark]}'."
    before = text[:position].rstrip()[-1:]
    operand = _OPERAND.match(text, position)
    if operand and (before.isalnum() or before in ("_", ")", "]", "'", '"')):
        return *operand.span(), f"Write a comma ',' before '{operand[0]}'."
    return None


def _unclosed(text: str) -> tuple[int, str] | None:
    """Return the innermost bracket that is unclosed or closed by a bracket of another kind."""
    opened: list[tuple[int, str]] = []
    for found in _PAIRED.finditer(text):
        mark = found[0]
        if mark in _CLOSING:
            opened.append((found.start(), mark))
        elif mark in _CLOSING.values() and opened:
            if _CLOSING[opened[-1][1]] != mark:
                return opened[-1]
            opened.pop()
    return opened[-1] if opened else None
