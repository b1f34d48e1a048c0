"""Index parts in Python kernels, where indices start at 0."""

from __future__ import annotations

import ast

from psyclone_storage.ir.affine import with_offset
from psyclone_storage.ir.expr import Expr, integer_value
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.python.parse.expressions import read_number
from psyclone_storage.languages.python.parse.extremes import excess, lowest
from psyclone_storage.languages.python.parse.scope import KernelScope

_IN_RANGE = "Change the bounds of the loop, or compute the element under an 'if'."


def read_index(scope: KernelScope, node: ast.expr) -> Expr | None:
    """Return one part of an index, counted from 0; record an error and return None if invalid."""
    found = read_number(scope, node)
    if found.type not in (None, Intrinsic.INTEGER):
        what = f"'{scope.text(node)}' is not an integer, as an index must be."
        scope.refuse("P054", what, node)
    is_number = found.type is Intrinsic.INTEGER and is_written(node)
    negative = integer_value(found.expr) if is_number else None
    if negative is not None and negative < 0:
        refuse_negative(scope, node)
        return None
    if found.type is Intrinsic.INTEGER and (least := lowest(scope, found.expr)) < 0:
        where = f"its lowest value is {least}; indices start at 0"
        what = f"'{scope.text(node)}' is out of range: {where}."
        scope.refuse("P051", what, node, _IN_RANGE)
        return None
    return found.expr if found.type is Intrinsic.INTEGER else None


def refuse_negative(scope: KernelScope, node: ast.expr) -> None:
    """Record the error of an index that is known to be negative."""
    what = f"'{scope.text(node)}' is negative: an index of a kernel does not count backwards."
    scope.refuse("P051", what, node, "Write 'len(...) - 1' for the last.")


def is_within(scope: KernelScope, node: ast.expr, index: Expr, extent: Expr) -> bool:
    """Return whether an index can be below an extent; record an error if it certainly is not."""
    beyond = excess(scope, index, extent)
    if beyond < 0:
        return True
    length = integer_value(extent)
    of = "the length" if length is None else f"the length {length}"
    reaches = f"exceeds {of} by {beyond}" if beyond else f"reaches {of}"
    what = f"'{scope.text(node)}' is out of range: it {reaches}."
    scope.refuse("P051", what, node, _IN_RANGE)
    return False


def is_written(node: ast.expr) -> bool:
    """Return whether an index contains no names, only literals.

    An error in such an index is certain. The value of an index with names is known only if the
    statement is executed.
    """
    return not any(isinstance(one, ast.Name) for one in ast.walk(node))


def from_one(index: Expr) -> Expr:
    """Return an index counted from 1."""
    return with_offset(index, 1)


def reversed_range(node: ast.expr) -> ast.expr | None:
    """Return the argument of `reversed(...)`, or None for another expression."""
    match node:
        case ast.Call(func=ast.Name(id="reversed"), args=[inner], keywords=[]):
            return inner
    return None
