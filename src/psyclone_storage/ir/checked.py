"""Expressions of Python kernels that raise errors at run time."""

from __future__ import annotations

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Binary, CallFunction, Expr, walk


@dataclass(frozen=True, slots=True, eq=False)
class CheckedIndex(CallFunction):
    """An index that is checked at run time: `modulo(index, extent)` if Python accepts it.

    Negative values count from the end. An index that Python rejects is an error.
    """


@dataclass(frozen=True, slots=True, eq=False)
class EagerChoice(CallFunction):
    """A reference to `merge` that computes both values, with their errors."""


@dataclass(frozen=True, slots=True)
class EagerCondition(Binary):
    """Two conditions, joined by `.and.` or `.or.`, that are both computed, with their errors."""


def is_checked(expr: Expr) -> bool:
    """Return whether an expression contains an index that is checked at run time."""
    return any(isinstance(part, CheckedIndex) for part in walk(expr))
