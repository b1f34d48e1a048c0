"""Loop bounds that are read once for all grid loops."""

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
    """Let loops over a grid use bounds in variables, such as `istop`, that are read once.

    The variables are the limits of the internal region of the grid, so that a compiler recognises
    loops with equal bounds. Without the step each loop reads the region from its field.

    The bounds come from GOcean's table, by offset, type of point and set of points. For T points
    they equal the region of fields in dl_esm_inf. For other points they differ by one point at the
    boundary of the domain; `of_table` selects the bounds of the table, as PSyclone's transformation
    of this name always does, and as PSyclone of 2019 did by default.

    Rejected if the table has no entry, such as for `go_external_pts`; without `of_table`, if its
    bounds differ from those of the field; and in that case always with distributed memory, because
    the boundary of a rank is not that of the domain.

    before: loop1 over rows, from u%internal%ystart to u%internal%ystop
    after:  jstart, jstop = the ends of u%grid%subdomain%internal; loop1 over rows, from jstart to
            jstop
    """

    name: ClassVar[str] = "constant-loop-bounds"

    of_table: bool = False

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot have constant bounds."""
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
        """Return the loop and its inner loops with constant bounds."""
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
