"""Parsing of one assignment or call.

The function returns None for another kind of statement or if an expression cannot be represented in
the typed IR.
"""

from __future__ import annotations

import re

from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import DefinedOperator
from psyclone_storage.ir.unit import Assign, Call, PointerAssign
from psyclone_storage.languages.fortran.parse.brackets import punctuation
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

_CALL = regex(r"call\s+(?=[a-z])", re.IGNORECASE)


def read_action(text: str) -> Assign | PointerAssign | Call | None:
    """Parse an assignment or a call; return None for other statements."""
    try:
        return _call(text) or _assignment(text)
    except UnreadableError:
        return None


def _call(text: str) -> Call | None:
    head = _CALL.match(text)
    if head is None:
        return None
    called = expression(text[head.end() :])
    if isinstance(called, ex.Index):
        return Call(called.base, called.items)
    return Call(called) if isinstance(called, ex.Name | ex.Member) else None


def _assignment(text: str) -> Assign | PointerAssign | None:
    for position, depth, mark in punctuation(text, 0, len(text)):
        if depth == 0 and mark in ("=", "=>"):
            target = expression(text[:position].strip())
            if not isinstance(target, ex.Name | ex.Index | ex.Member):
                return None
            value = expression(text[position + len(mark) :].strip())
            return (Assign if mark == "=" else PointerAssign)(target, value)
    return None


def expression(text: str) -> ex.Expr:
    """Parse an expression; raise `UnreadableError` if the typed IR cannot represent it."""
    expr = read_expression(text)
    if any(map(_is_strange, ex.walk(expr))):
        raise UnreadableError(text)
    return expr


def argument(text: str) -> ex.Expr:
    """Parse an actual argument; a variable in parentheses is passed as an expression."""
    expr = expression(text)
    in_brackets = text.lstrip().startswith("(") and isinstance(expr, ex.Name | ex.Index | ex.Member)
    return ex.Parenthesised(expr) if in_brackets else expr


def _is_strange(part: ex.Expr) -> bool:
    match part:
        case ex.Verbatim():
            return True
        case ex.Binary(op) | ex.Unary(op):
            return isinstance(op, DefinedOperator)
    return False
