"""What steps on the two loops over a grid ask of them."""

from __future__ import annotations

from psyclone_storage.analysis.schedules.races import may_run_parallel
from psyclone_storage.base.diagnostic import Diagnostic, InternalError
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Schedule
from psyclone_storage.ir.walk import place_of, replaced
from psyclone_storage.transform.step import Reasons

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


def gains_nothing(schedule: Schedule, rules: Rules, outer: Loop, made: Loop) -> Reasons:
    """Return that threads may share `outer` as it is, or not `made` in its place (T082)."""
    if not may_run_parallel(schedule, rules, outer):
        message = f"Threads may share '{outer.uid}' as it is."
    elif may_run_parallel(replaced(schedule, outer.uid, made), rules, made):
        message = f"Threads may not share '{outer.uid}', nor '{made.uid}' around it."
    else:
        return ()
    return (Diagnostic("T082", message, place_of(outer)),)
