"""The Fortran of GOcean's settings as expressions: loop bounds, and paths to grid properties."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.regex import regex
from psyclone_storage.frontend.fortran.reader import read_expression
from psyclone_storage.frontend.fortran.tokens import UnreadableError
from psyclone_storage.ir.expr import Expr, Member
from psyclone_storage.ir.kernel import FIELD_ON_GRID, FIRST_INTERNAL, LAST_INTERNAL
from psyclone_storage.ir.rewrite import substituted

_COMPONENT = regex(r"[a-z]\w*", re.IGNORECASE | re.ASCII)


def read_bound(text: str) -> Expr:
    """Return a loop bound of the settings as an expression."""
    return _with_parameters(text, {"{start}": FIRST_INTERNAL, "{stop}": LAST_INTERNAL})


@cache
def read_path(text: str) -> Expr:
    """Return the way from a field to a property of its grid, of the settings, as an expression."""
    field, *members = text.split("%")
    if field != "{0}" or not all(map(_COMPONENT.fullmatch, members)):
        return _computed_path(text)
    path: Expr = FIELD_ON_GRID
    for member in members:
        path = Member(path, member)
    return path


def _computed_path(text: str) -> Expr:
    try:
        return _with_parameters(text, {"{0}": FIELD_ON_GRID})
    except UnreadableError as error:
        message = f"'{text}' in the grid properties of the settings is no Fortran."
        hint = "Write '{0}%path%to%it', where '{0}' is a field."
        raise CompileError(Diagnostic("C004", message, hint=hint)) from error


def _with_parameters(text: str, parameters: Mapping[str, Expr]) -> Expr:
    """Return Fortran with parameters in braces as an expression of those."""
    names = NameTable(re.findall(r"[a-z]\w*", text, re.IGNORECASE))
    local = {names.fresh("parameter"): (hole, value) for hole, value in parameters.items()}
    for name, (hole, _) in local.items():
        text = text.replace(hole, name)
    return substituted(read_expression(text), {name: value for name, (_, value) in local.items()})
