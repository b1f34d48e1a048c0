"""One executable statement as a line of a unit, if it is one of those that are understood.

Assignments, calls, and the heads of counted loops and choices are; a statement of
another kind, or one that says something no expression of ours can say, gives None. Where
brackets carry meaning - an actual argument `(x)` is a copy - the statement is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from psyclone_storage.frontend.fortran.brackets import closing, list_items, marks
from psyclone_storage.frontend.fortran.reader import UnreadableError, read_expression
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Member,
    Name,
    Unary,
    Verbatim,
    is_spelt,
    walk,
)
from psyclone_storage.ir.unit import Allocate, Assign, Call, Deallocate, Line, PointerAssign

_CALL = re.compile(r"call\s+(?=[a-z])", re.IGNORECASE)
_MEMORY = re.compile(r"(?P<word>allocate|deallocate)\s*\(", re.IGNORECASE)
_DO = re.compile(r"do\s+(?P<variable>[a-z]\w*)\s*=\s*", re.IGNORECASE)
_IF = re.compile(r"if\s*\(", re.IGNORECASE)
_ELSE_IF = re.compile(r"else\s*if\s*\(", re.IGNORECASE)
_ARGUMENT = re.compile(r"[(,=]\s*(?=\()")
_THEN = re.compile(r"\s*then$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Counted:
    """The head of a counted loop."""

    variable: str
    start: Expr
    stop: Expr
    step: Expr | None


@dataclass(frozen=True, slots=True)
class Condition:
    """The head of a branch; `action` is the statement of an `if` that has no `then`."""

    expr: Expr
    action: str = ""


def read_action(text: str) -> Line | None:
    """Return the assignment, call, or statement on memory that `text` is, or None."""
    try:
        return _call(text) or _memory(text) or _assignment(text)
    except UnreadableError:
        return None


def read_counted(text: str) -> Counted | None:
    """Return the head of a counted loop that `text` is, or None."""
    head = _DO.match(text)
    if head is None:
        return None
    parts = list_items(text, head.end(), len(text))
    if len(parts) not in (2, 3):
        return None
    try:
        bounds = [_expression(text[first:last]) for first, last in parts]
    except UnreadableError:
        return None
    return Counted(head["variable"], bounds[0], bounds[1], bounds[2] if len(bounds) > 2 else None)


def read_condition(text: str) -> Condition | None:
    """Return the condition of an `if` or `else if` that `text` starts with, or None."""
    head = _IF.match(text) or _ELSE_IF.match(text)
    close = closing(text, head.end() - 1) if head else -1
    if head is None or close < 0:
        return None
    try:
        expr = _expression(text[head.end() : close].strip())
    except UnreadableError:
        return None
    rest = text[close + 1 :].strip()
    return Condition(expr, "" if _THEN.match(rest) else rest)


def _call(text: str) -> Line | None:
    head = _CALL.match(text)
    if head is None:
        return None
    called = _expression(text[head.end() :])
    if isinstance(called, Index):
        return Call(called.base, called.items)
    return Call(called) if isinstance(called, Name | Member) else None


def _memory(text: str) -> Line | None:
    head = _MEMORY.match(text)
    if head is None or closing(text, head.end() - 1) != len(text) - 1 or "::" in text:
        return None
    whole = _expression(text)
    if not isinstance(whole, Index):
        return None
    return (Allocate if head["word"].lower() == "allocate" else Deallocate)(whole.items)


def _assignment(text: str) -> Line | None:
    for position, depth, mark in marks(text, 0, len(text)):
        if depth == 0 and mark in ("=", "=>"):
            target = _expression(text[:position].strip())
            if not isinstance(target, Name | Index | Member):
                return None
            value = _expression(text[position + len(mark) :].strip())
            return (Assign if mark == "=" else PointerAssign)(target, value)
    return None


def _expression(text: str) -> Expr:
    """Return the expression in `text`; raise `UnreadableError` if it is not fully understood."""
    expr = read_expression(text)
    if any(map(_is_strange, walk(expr))) or any(_copies(text)):
        raise UnreadableError(text)
    return expr


def _is_strange(part: Expr) -> bool:
    match part:
        case Verbatim():
            return True
        case Binary(op) | Unary(op):
            return not is_spelt(op)
    return False


def _copies(text: str) -> Iterator[bool]:
    """Yield whether an argument is a variable in brackets, for each argument that has brackets."""
    for found in _ARGUMENT.finditer(text):
        close = closing(text, found.end())
        inner, behind = text[found.end() + 1 : close], text[close + 1 :].lstrip()[:1]
        if behind in (",", ")"):
            yield isinstance(read_expression(inner.strip()), Name | Index | Member)
