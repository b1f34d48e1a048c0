"""Splitting of a loop into interior and rim, to overlap the interior with halo exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.dependence import Uses
from psyclone_storage.analysis.schedules.grid import check_points_split
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.loop_split import (
    SECTIONS_OF_CELLS,
    SECTIONS_OF_POINTS,
    Interior,
    Peel,
    PeelSection,
)
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import outer_loops_of, path_to, place_of
from psyclone_storage.transform.step import (
    OnLoop,
    StepPlace,
    check_no_directive,
    check_not_split,
    loop_named,
    places_on_loops,
)


@dataclass(frozen=True, slots=True)
class SplitInterior(OnLoop):
    """Run the part of a loop that reads no halo first, and its rim after the exchanges.

    `overlap` then starts the exchanges before the interior. In a loop over cells the interior cells
    come first anyway: `interior@<loop>` and `rim@<loop>` keep the order. A loop over a grid is
    split into a box, `interior@<loop>`, and four strips: `south@<loop>` and `north@<loop>` are full
    rows, `west@<loop>` and `east@<loop>` the rest of the other rows. The interior keeps a distance
    from points that the rank does not own: the largest stencil extent on that side of the kernels
    in the loop. It may be empty. Exchanges that have already started finish after the interior.

    Rejected without exchanges before the loop, or if their start and end cannot be separated; under
    a directive; if grid points depend on each other; for loops that are not over cells or a grid;
    for inter-grid kernels and sums over cells; and if written data must be exchanged before they
    are complete: values that cells add to shared dofs, or values modified in the halo.

    before: halo(u)@loop2, loop2 { k(u, stencil) }
    after:  interior@loop2 { k }, halo(u)@rim@loop2, rim@loop2 { k }
    """

    name: ClassVar[str] = "split-interior"

    @classmethod
    def candidates(cls, item: sch.Statement) -> Iterable[sch.Loop]:
        """Return every outermost loop, except parts of split loops."""
        return (loop for loop in outer_loops_of(item) if loop.peel is None)

    @classmethod
    def places(cls, schedule: sch.Schedule) -> Iterator[StepPlace]:
        """Yield every candidate preceded by an exchange."""
        for place in places_on_loops(schedule, cls):
            if _exchanges_before(schedule, place["loop"]):
                yield place

    def check_loop(self, schedule: sch.Schedule, rules: Rules, loop: sch.Loop) -> Reasons:
        """Return diagnostics if the loop cannot be split."""
        place = place_of(loop)
        if not schedule.distributed:
            message = "Without distributed memory no halo is exchanged."
            return (Diagnostic("T037", message, place),)
        if any(isinstance(item, sch.Loop) for item in path_to(schedule, self.loop)[:-1]):
            message = f"'{loop.uid}' stands in another loop, which has to be cut with it."
            return (Diagnostic("T037", message, place),)
        reasons = list(check_no_directive(schedule, self.loop))
        reasons += check_not_split(schedule, self.loop)
        if not _exchanges_before(schedule, self.loop):
            message = f"No exchange stands before '{loop.uid}' that its interior could hide."
            hint = "Leave it in one piece: what it reads is clean, or exchanged further up."
            reasons.append(Diagnostic("T033", message, place, hint=hint))
        elif not rules.overlaps_exchanges():
            message = f"The exchanges before '{loop.uid}' cannot be split: the API exchanges in"
            reasons.append(Diagnostic("T032", f"{message} one call.", place))
        reasons += rules.check_split(schedule, loop)
        if loop.over.axis is not None:
            reasons += check_points_split(schedule, loop)
        return tuple(reasons)

    def transform(self, schedule: sch.Schedule, rules: Rules) -> sch.Schedule:
        """Return the schedule with the loop replaced by its parts."""
        loop = loop_named(schedule, self.loop)
        interior = rules.interior(loop)
        sections = SECTIONS_OF_CELLS if loop.over.axis is None else SECTIONS_OF_POINTS
        parts = tuple(_part(loop, section, interior) for section in sections)
        return replace(schedule, body=_cut(schedule, schedule.body, loop, parts))


def _exchanges_before(schedule: sch.Schedule, uid: str) -> tuple[sch.HaloExchange, ...]:
    """Return the exchanges directly before a loop that can finish after its interior.

    Planned exchanges may also precede the region that contains the loop.
    """
    path = path_to(schedule, uid)
    bodies = (schedule.body, *(item.body for item in path[:-1] if isinstance(item, sch.Compound)))
    uids = {item.uid for item in path}
    runs = [_right_before(body, uids) for body in bodies]
    planned = tuple(
        item
        for run in runs
        for item in run
        if isinstance(item, sch.HaloExchange)
        and item.phase is not sch.Phase.FINISH
        and not item.pinned
    )
    return (*planned, *_carried(schedule, runs[-1]))


def _right_before(body: tuple[sch.Statement, ...], uids: set[str]) -> tuple[sch.Statement, ...]:
    """Return the statements in `body` between the previous loop and the loop, or its ancestor."""
    at = next((place for place, item in enumerate(body) if item.uid in uids), 0)
    passed = takewhile(
        lambda item: isinstance(item, sch.HaloExchange | sch.FillHalo | sch.MarkHalo),
        reversed(body[:at]),
    )
    return tuple(passed)[::-1]


def _carried(
    schedule: sch.Schedule, run: tuple[sch.Statement, ...]
) -> tuple[sch.HaloExchange, ...]:
    """Return the ends of exchanges before a loop that can move after the interior.

    They can pass statements without a dependence in either direction, such as the start of another
    field's exchange.
    """
    uses, carried, passed = Uses(schedule), list[sch.HaloExchange](), list[sch.Statement]()
    for item in reversed(run):
        is_end = isinstance(item, sch.HaloExchange) and item.phase is sch.Phase.FINISH
        if is_end and not any(uses.dependences(item, one) for one in passed):
            assert isinstance(item, sch.HaloExchange)
            carried.append(item)
        else:
            passed.append(item)
    return tuple(reversed(carried))


def _cut(
    schedule: sch.Schedule,
    body: tuple[sch.Statement, ...],
    loop: sch.Loop,
    parts: tuple[sch.Loop, ...],
) -> tuple[sch.Statement, ...]:
    """Return `body` with `loop` replaced by `parts`; the rim follows the ends of the exchanges."""
    at = next((place for place, item in enumerate(body) if item.uid == loop.uid), None)
    if at is None:
        return tuple(
            replace(item, body=_cut(schedule, item.body, loop, parts))
            if isinstance(item, sch.ProfileRegion)
            else item
            for item in body
        )
    inner, *rim = parts
    ends = _carried(schedule, _right_before(body, {loop.uid}))
    front = (item for item in body[:at] if item not in ends)
    return (*front, inner, *ends, *rim, *body[at + 1 :])


def _part(loop: sch.Loop, section: PeelSection, interior: Interior) -> sch.Loop:
    peel = Peel(section, interior, loop.uid)

    def renamed(uid: str) -> str:
        head, at, tail = uid.partition("@")
        return f"{head}@{section.value}@{tail}" if at else f"{section.value}@{uid}"

    def copied(item: sch.Statement) -> sch.Statement:
        match item:
            case sch.Loop():
                body = tuple(map(copied, item.body))
                return replace(item, uid=renamed(item.uid), body=body, peel=peel)
            case sch.KernelCall():
                return replace(item, uid=renamed(item.uid))
        return item

    made = copied(loop)
    assert isinstance(made, sch.Loop)
    return made
