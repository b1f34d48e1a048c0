"""Swapping rows and columns: which of the two loops over a grid is inside the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.schedules.grid import may_reorder_points
from psyclone_storage.analysis.schedules.races import may_run_parallel
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Schedule
from psyclone_storage.ir.walk import place_of, replaced, statements
from psyclone_storage.transform.nest import check_nest, inner_of
from psyclone_storage.transform.step import Place, Reasons, loop_named, not_a_loop, under_directive


@dataclass(frozen=True, slots=True)
class SwapLoops:
    """Put a loop over a grid inside the only loop that it holds.

    Both keep their names, so that the one that was inside is the outer one afterwards. Rows are
    what Fortran stores together: columns outside and rows inside are for kernels whose columns, but
    not rows, may run in parallel. With `for_threads` it is done there alone.

    Refused unless the loops are over rows and columns, nothing stands between them, and no point
    depends on one to the north-west or south-east of it, which would then come later.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  columns@loop1 over columns { loop1 over rows { k } }
    """

    name: ClassVar[str] = "swap-loops"

    loop: str
    for_threads: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop over rows."""
        for item in statements(schedule):
            if isinstance(item, Loop) and item.over is Over.ROWS:
                yield {"loop": item.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against the other order."""
        if problems := not_a_loop(schedule, self.loop):
            return problems
        loop = loop_named(schedule, self.loop)
        reasons = under_directive(schedule, self.loop)
        if problems := check_nest(loop):
            return (*reasons, *problems)
        if self.for_threads:
            reasons += _gains_nothing(schedule, rules, loop)
        return (*reasons, *may_reorder_points(schedule, loop))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the two loops in the other order."""
        raise_if_any(self.check(schedule, rules))
        outer = loop_named(schedule, self.loop)
        inner = inner_of(outer)
        swapped = replace(inner, body=(replace(outer, body=inner.body),))
        return replaced(schedule, self.loop, swapped)


def _gains_nothing(schedule: Schedule, rules: Rules, outer: Loop) -> Reasons:
    """Return that threads may share the loop that is outside as it is, or not the one inside."""
    if not may_run_parallel(schedule, rules, outer):
        message = f"Threads may share '{outer.uid}' as it is."
    elif may_run_parallel(schedule, rules, inner_of(outer)):
        message = f"Threads may share neither '{outer.uid}' nor the loop inside."
    else:
        return ()
    return (Diagnostic("T082", message, place_of(outer)),)
