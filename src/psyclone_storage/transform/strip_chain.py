"""Strip mining of a chain of loops over a grid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.grid import (
    chain_shifts,
    check_elements,
    check_points_order,
)
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.loop_split import RowStrips
from psyclone_storage.ir.loop_versions import loops_with_parts
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import (
    Axis,
    Compound,
    DirectiveRegion,
    Loop,
    Over,
    Schedule,
    Statement,
)
from psyclone_storage.ir.walk import kernel_calls, outer_loops_of, place_near, place_of, replaced
from psyclone_storage.transform.blocks import block_between
from psyclone_storage.transform.step import (
    CheckedStep,
    StepPlace,
    calls_inside,
    check_present,
    loops_inside,
)

_MOST_ROWS, _MOST_CACHE = 4096, 4096


@dataclass(frozen=True, slots=True)
class StripMineChain(CheckedStep):
    """Run the loops over a grid from `first` to `last` together, in strips of rows.

    All loops process one strip of rows before the next strip, so that a later loop finds the values
    of earlier loops in the cache. Each loop runs as many rows after the first one as its
    dependences on earlier loops require (loop skewing). Each point is computed once, in the same
    order within its loop, and results are bit-identical.

    By default, the layer computes the number of rows of a strip when the program runs: as many as
    fit in `cache` mebibytes, about the size of a core's second-level cache, but at least two. If
    the program has several OpenMP threads, a strip then contains all rows, so that each thread
    computes the same rows in each loop. With `rows`, all strips have this number of rows; threads
    share the rows of each loop within a strip, so it should be a multiple of their number.

    Apply it after all other steps on the loops, also after `outline`. An exchange between two loops
    divides the chain. Infrastructures with storages, and layers in Python or C, run the loops one
    after another.

    Rejected unless the statements are at least two adjacent loops over rows and columns, possibly
    under work-sharing directives, and not on a device; if a loop is tiled in rows, was fused under
    a run-time test, or would have to be interchanged illegally; if a kernel changes a scalar; if a
    scalar argument is an element of a field that a kernel changes; and if a kernel changes saved
    state, unless `force` asserts that this is harmless.

    before: loop1 over rows { a } loop2 over rows { b(a, stencil) }
    after:  strips of rows { loop1 over the rows of a strip, loop2 one row later }
    """

    name: ClassVar[str] = "strip-mine-chain"

    first: str
    last: str
    rows: int = 0
    cache: int = 1
    force: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield the longest sequences of loops that can form a chain."""
        for body in (schedule.body, *_bodies_of_threads(schedule)):
            run: list[Statement] = []
            for item in (*body, None):
                if item is not None and _can_be_in_chain(schedule, item):
                    run.append(item)
                    continue
                if len(run) > 1:
                    yield {"first": run[0].uid, "last": run[-1].uid}
                run = []

    def calls_to_share(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the calls in the loops, which no longer run one loop after the other."""
        block = block_between(schedule, self.first, self.last)
        return tuple(chain.from_iterable(calls_inside(schedule, item.uid) for item in block))

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the statements cannot form a chain."""
        if problems := check_present(schedule, self.first, self.last):
            return problems
        place = place_near(schedule, self.first)
        if not 0 <= self.rows <= _MOST_ROWS:
            message, hint = f"A strip cannot have {self.rows} rows.", f"Give 0 to {_MOST_ROWS}."
            return (Diagnostic("T017", message, place, hint=hint),)
        if not 1 <= self.cache <= _MOST_CACHE:
            message = f"A cache cannot have {self.cache} mebibytes."
            hint = f"Give 1 to {_MOST_CACHE}."
            return (Diagnostic("T017", message, place, hint=hint),)
        block = block_between(schedule, self.first, self.last)
        if len(block) < 2:
            message = f"'{self.first}' and '{self.last}' do not stand one after the other."
            return (Diagnostic("T023", message, place),)
        calls = [
            call for item in block if isinstance(item, Compound) for call in kernel_calls(item)
        ]
        ordered = f"The loops from '{self.first}' to '{self.last}' cannot run in strips"
        return (
            *(reason for item in block for reason in _about_loops(schedule, item)),
            *check_elements(schedule, calls, "S014", ordered),
        )

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the loops in strips."""
        block = block_between(schedule, self.first, self.last)
        calls = [kernel_calls(item) for item in block if isinstance(item, Compound)]
        shifts = chain_shifts(schedule, calls)
        for item, shift in zip(block, shifts, strict=True):
            loop = _row_loop(item)
            assert loop is not None
            strips = RowStrips(self.first, self.rows, self.cache, shift)
            schedule = replaced(schedule, loop.uid, replace(loop, strips=strips))
        return schedule


def _bodies_of_threads(schedule: Schedule) -> Iterator[tuple[Statement, ...]]:
    for item in schedule.body:
        if isinstance(item, DirectiveRegion) and not item.directive.shares_work:
            yield item.body


def _row_loop(item: Statement) -> Loop | None:
    """Return the only loop over rows in a statement, or None."""
    match [loop for loop in loops_inside(item) if loop.over.axis is Axis.NORTH]:
        case [Loop(over=Over.ROWS) as loop]:
            return loop
    return None


def _can_be_in_chain(schedule: Schedule, item: Statement) -> bool:
    return isinstance(item, Compound) and _is_chainable(item) and not _about_order(schedule, item)


@kept_with_first
def _is_chainable(item: Compound) -> bool:
    return not tuple(_about_nest(item))


def _about_loops(schedule: Schedule, item: Statement) -> Iterator[Diagnostic]:
    """Yield the reasons why a statement cannot be in a chain."""
    place = place_near(schedule, item.uid)
    for reason in _about_nest(item):
        yield reason if reason.span else replace(reason, span=place)
    yield from _about_order(schedule, item)


def _about_order(schedule: Schedule, item: Statement) -> Reasons:
    """Return the reasons why the loops of a statement cannot become loops over rows outside."""
    loop, outer = _row_loop(item), outer_loops_of(item)
    if loop is None or len(outer) != 1 or loop.uid == outer[0].uid:
        return ()
    return check_points_order(schedule, outer[0])


def _about_nest(item: Statement) -> Iterator[Diagnostic]:
    """Yield the reasons why a statement cannot be in a chain of any schedule."""
    place = place_of(item)
    loop = _row_loop(item)
    outer = outer_loops_of(item)
    if loop is None or len(outer) != 1:
        yield Diagnostic("T016", f"'{item.uid}' is not one nest of loops over a grid.", place)
        return
    if isinstance(item, DirectiveRegion) and (
        item.runs_on_device or not item.directive.shares_work
    ):
        message = f"'{item.uid}' is not shared by the threads of an enclosing region."
        yield Diagnostic("T007", message, place)
    if loop.strips is not None:
        yield Diagnostic("T082", f"'{loop.uid}' is in a chain already.", place_of(loop))
    if isinstance(item, Loop | DirectiveRegion) and loops_with_parts(item):
        message = f"'{item.uid}' was fused under a test of its bounds."
        yield Diagnostic("T016", message, place)
    for call in kernel_calls(loop):
        for described in call.kernel.args:
            if described.access is Access.REDUCTION or (
                described.kind.is_scalar and described.access.writes
            ):
                message = f"'{call.kernel.name}' changes a scalar, which a later loop may read."
                yield Diagnostic("S014", message, place_of(call))
