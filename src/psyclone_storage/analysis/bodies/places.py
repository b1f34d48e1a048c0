"""Source positions of the accesses of a statement."""

from __future__ import annotations

import re

from psyclone_storage.analysis.bodies.flow import FlowNode, Item
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir.paths import AccessPath
from psyclone_storage.ir.rewrite import place_of_line
from psyclone_storage.ir.unit import If, Where

_BETWEEN = regex(r"(?:\s|&[ \t]*(?:![^\n]*)?\n\s*(?:![^\n]*\n\s*)*&?)*")
"""Blanks, comments and continuation lines between two characters of a statement."""


def place_of_access(item: Item) -> Span | None:
    """Return the source position of an access, or that of its statement if not found."""
    found = [_found(place, item.access.path, item.writes) for place in _places(item.node)]
    return next((place for place in found if place), place_of_line(item.node.line))


def _places(node: FlowNode) -> list[Span]:
    line = node.line
    if isinstance(line, If | Where):
        return [branch.place for branch in line.branches if branch.place is not None]
    place = place_of_line(line)
    return [] if place is None else [place]


def _found(place: Span, path: AccessPath, writes: bool) -> Span | None:
    """Return the position of `path` in a statement: the first one for a write, else the last."""
    text = place.text
    wanted = "".join(str(path).split())
    places = [
        (match.start(), end)
        for match in re.finditer(rf"(?<![\w%]){re.escape(path.root)}\b", text, re.IGNORECASE)
        if (end := _end_of(text, match.start(), wanted)) is not None
    ]
    if not places:
        return None
    start, stop = places[0] if writes else places[-1]
    return Span(place.source, place.start + start, place.start + stop)


def _end_of(text: str, at: int, wanted: str) -> int | None:
    """Return the end index of `wanted` in `text` from index `at`, ignoring blanks, or None."""
    for sign in wanted:
        between = _BETWEEN.match(text, at)
        at = between.end() if between else at
        if at >= len(text) or text[at].lower() != sign.lower():
            return None
        at += 1
    return at
