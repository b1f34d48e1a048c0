"""One executable statement as a line of a unit, if it is one of those that are understood.

Assignments, calls, and the heads of counted loops and choices are; a statement of
another kind, or one that says something no expression of ours can say, gives None.
"""

from __future__ import annotations

import re

from psyclone_storage.base.regex import regex
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Member,
    Name,
    Parenthesised,
    Unary,
    Verbatim,
    walk,
)
from psyclone_storage.ir.operators import DefinedOperator
from psyclone_storage.ir.unit import Assign, Call, PointerAssign
from psyclone_storage.languages.fortran.parse.brackets import punctuation
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

_CALL = regex(r"call\s+(?=[a-z])", re.IGNORECASE)


def read_action(text: str) -> Assign | PointerAssign | Call | None:
    """Return the assignment or call that `text` is, or None."""
    try:
        return _call(text) or _assignment(text)
    except UnreadableError:
        return None


def _call(text: str) -> Call | None:
    head = _CALL.match(text)
    if head is None:
        return None
    called = expression(text[head.end() :])
    if isinstance(called, Index):
        return Call(called.base, called.items)
    return Call(called) if isinstance(called, Name | Member) else None


def _assignment(text: str) -> Assign | PointerAssign | None:
    for position, depth, mark in punctuation(text, 0, len(text)):
        if depth == 0 and mark in ("=", "=>"):
            target = expression(text[:position].strip())
            if not isinstance(target, Name | Index | Member):
                return None
            value = expression(text[position + len(mark) :].strip())
            return (Assign if mark == "=" else PointerAssign)(target, value)
    return None


def expression(text: str) -> Expr:
    """Return the expression in `text`; raise `UnreadableError` if it is not fully understood."""
    expr = read_expression(text)
    if any(map(_is_strange, walk(expr))):
        raise UnreadableError(text)
    return expr


def argument(text: str) -> Expr:
    """Return what `text` passes: a variable in brackets is its value, as `expression` else."""
    expr = expression(text)
    in_brackets = text.lstrip().startswith("(") and isinstance(expr, Name | Index | Member)
    return Parenthesised(expr) if in_brackets else expr


def _is_strange(part: Expr) -> bool:
    match part:
        case Verbatim():
            return True
        case Binary(op) | Unary(op):
            return isinstance(op, DefinedOperator)
    return False
