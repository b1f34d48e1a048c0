"""Check of the lower bounds of dummy arrays, which must be known for 0-based indices."""

from __future__ import annotations

from psyclone_storage.ir.expr import Range, Symbol, spell
from psyclone_storage.ir.typing import CScope
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.python.translate.values import NoPythonError

_WITH_BOUNDS_OF_THEIR_OWN = ("pointer", "allocatable")


def check_begins_at_one(declared: Declare | Symbol, scope: CScope) -> None:
    """Raise `NoPythonError` if the lower bound of an array is not certainly 1."""
    if not declared.shape:
        raise NoPythonError(f"it is not known where '{declared.name}' begins")
    if attributes := set(declared.attributes) & set(_WITH_BOUNDS_OF_THEIR_OWN):
        what = f"'{declared.name}' is {' and '.join(sorted(attributes))}"
        raise NoPythonError(f"{what}, and begins where the caller's array does")
    for bound in declared.shape:
        lower = bound.lower if isinstance(bound, Range) else None
        if lower is not None and scope.integer(lower) != 1:
            raise NoPythonError(f"'{declared.name}' begins at {spell(lower)}, not at 1")
