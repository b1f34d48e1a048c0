"""Swapping rows and columns: which of the two loops over a grid is inside the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.schedules.grid import may_reorder_points
from psyclone_storage.base.diagnostic import raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Schedule
from psyclone_storage.ir.walk import replaced, statements
from psyclone_storage.transform.nest import check_nest, gains_nothing, inner_of
from psyclone_storage.transform.step import Place, Reasons, loop_named, not_a_loop, under_directive


@dataclass(frozen=True, slots=True)
class SwapLoops:
    """Put a loop over a grid inside the only loop that it holds.

    Both keep their names, so that the one that was inside is the outer one afterwards. Rows are
    what Fortran stores together: columns outside and rows inside are for kernels whose columns, but
    not rows, may run in parallel. With `for_threads` it is done there alone. It is for threads of a
    device, where neighbours of a row run side by side; on a host `tile-columns` is faster.

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
            reasons += gains_nothing(schedule, rules, loop, _swapped(loop))
        return (*reasons, *may_reorder_points(schedule, loop))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the two loops in the other order."""
        raise_if_any(self.check(schedule, rules))
        return replaced(schedule, self.loop, _swapped(loop_named(schedule, self.loop)))


def _swapped(outer: Loop) -> Loop:
    inner = inner_of(outer)
    return replace(inner, body=(replace(outer, body=inner.body),))
