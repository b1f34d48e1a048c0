"""Loop bounds that are read once for all loops over a grid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.rules import KnownBounds, Rules
from psyclone_storage.ir.schedule import Loop, Schedule, Statement
from psyclone_storage.ir.walk import place_of
from psyclone_storage.transform.step import ReplacesLoop, check_no_directive, check_not_split


@dataclass(frozen=True, slots=True)
class ConstantLoopBounds(ReplacesLoop):
    """Give loops over a grid bounds in terms of variables, such as `istop`, that are read once.

    They are the ends of the internal region of the grid, so that a compiler sees that loops have
    equal bounds. Without the step each loop reads the region from its field.

    The bounds are those of GOcean's table, by offset, type of point and set of points. Only for T
    points they are the region that fields have in dl_esm_inf. For others they differ by a point at
    the boundary of the domain; `of_table` selects the bounds of the table, as PSyclone's
    transformation of this name always does, and as PSyclone of 2019 did by default.

    Refused where the table has no entry, as for `go_external_pts`; where its bounds are not
    those of the field, without `of_table`; and there with distributed memory in any case, for the
    boundary of a rank is not that of the domain.

    before: loop1 over rows, from u%internal%ystart to u%internal%ystop
    after:  jstart, jstop = the ends of u%grid%subdomain%internal; loop1 over rows, from jstart to
            jstop
    """

    name: ClassVar[str] = "constant-loop-bounds"

    of_table: bool = False

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return all reasons against constant bounds."""
        reasons = list(check_no_directive(schedule, self.loop))
        reasons += check_not_split(schedule, self.loop)
        if any(inside.parts for inside in _with_loops_inside(loop)):
            message = f"'{loop.uid}' was fused under a test of the bounds that its parts have now."
            hint = "Give the loops constant bounds before they are fused."
            reasons.append(Diagnostic("T018", message, place_of(loop), hint=hint))
        for inside in _with_loops_inside(loop):
            if found := _reason(schedule, inside, rules.known_bounds(inside), self.of_table):
                reasons.append(found)
                break
        return tuple(reasons)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop, and those inside it, with other bounds."""
        return _bounded(loop, rules)


def _reason(
    schedule: Schedule, loop: Loop, known: KnownBounds | None, of_table: bool
) -> Diagnostic | None:
    if known is None:
        message = f"No bounds of '{loop.uid}' are known before the program runs."
        return Diagnostic("T018", message, place_of(loop))
    if known.own:
        return None
    message = f"The bounds that are known for '{loop.uid}' are not the region of its field"
    if schedule.distributed:
        message += ", and the boundary of a rank is not that of the domain."
        return Diagnostic("T018", message, place_of(loop))
    hint = "Say 'of_table' if the table of GOcean is meant."
    return None if of_table else Diagnostic("T018", f"{message}.", place_of(loop), hint=hint)


def _with_loops_inside(loop: Loop) -> Iterator[Loop]:
    yield loop
    for item in loop.body:
        if isinstance(item, Loop):
            yield from _with_loops_inside(item)


def _bounded(item: Loop, rules: Rules) -> Loop:
    known = rules.known_bounds(item)
    body: tuple[Statement, ...] = tuple(
        _bounded(inside, rules) if isinstance(inside, Loop) else inside for inside in item.body
    )
    return replace(item, body=body, bounds=known.bounds if known else None)
