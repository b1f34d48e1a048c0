"""What steps on the two loops over a grid ask of them."""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Diagnostic, InternalError
from psyclone_storage.ir.schedule import Loop, Over
from psyclone_storage.ir.walk import place_of
from psyclone_storage.transform.step import (
    Reasons,
)

POINTS = (Over.ROWS, Over.COLUMNS)
"""What loops over a grid count as long as there are no tiles."""


def check_nest(outer: Loop) -> Reasons:
    """Return why `outer` is not one of two loops over a grid with nothing between them (T016)."""
    if outer.over not in POINTS:
        message = f"'{outer.uid}' counts {outer.over.value}, not rows or columns of a grid."
        return (Diagnostic("T016", message, place_of(outer)),)
    if len(outer.body) == 1 and isinstance(outer.body[0], Loop) and outer.body[0].over in POINTS:
        return ()
    held = [item for item in outer.body if isinstance(item, Loop)]
    message = f"'{outer.uid}' does not hold one loop over rows or columns, and nothing else."
    hint = f"Fuse '{held[0].uid}' and '{held[1].uid}' first." if len(held) > 1 else ""
    return (Diagnostic("T016", message, place_of(outer), hint=hint),)


def inner_of(outer: Loop) -> Loop:
    """Return the loop inside `outer`, for which `check_nest` has no reasons."""
    (inner,) = outer.body
    if not isinstance(inner, Loop):
        raise InternalError(f"'{outer.uid}' holds no loop.")
    return inner
