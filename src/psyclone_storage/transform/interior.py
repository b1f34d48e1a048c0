"""The interior of a loop apart from its rim, so that it can run while halos are exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import ClassVar

from psyclone_storage.analysis.schedules.grid import may_split_points
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.peel import (
    SECTIONS_OF_CELLS,
    SECTIONS_OF_POINTS,
    Interior,
    Peel,
    PeelSection,
)
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import (
    Compound,
    FillHalo,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Phase,
    ProfileRegion,
    Schedule,
    Statement,
)
from psyclone_storage.ir.walk import outer_loops, path_to, place_of
from psyclone_storage.transform.step import (
    Place,
    Reasons,
    loop_named,
    not_a_loop,
    part_of_a_split,
    under_directive,
)


@dataclass(frozen=True, slots=True)
class SplitInterior:
    """Run the part of a loop that reads no halo first, and its rim behind the exchanges.

    `overlap` then starts the exchanges before the interior. Of a loop over cells the inner ones
    come first in any case: `interior@<loop>` and `rim@<loop>` keep their order. A loop over a grid
    is cut into a box, `interior@<loop>`, and four strips: `south@<loop>` and `north@<loop>` are
    whole rows, `west@<loop>` and `east@<loop>` what is left of the others. An interior keeps as far
    from what the rank does not own as any kernel of the loop looks on that side; it may be empty.
    Exchanges that are started already are finished behind it.

    Refused without exchanges before the loop, or where they cannot be started and finished apart;
    under a directive; if points of a grid depend on each other; for what is no loop over cells or a
    grid, for kernels between two meshes and sums over cells; and if what the loop writes has to be
    exchanged before all of it is there: values that cells add to dofs they share, or that are
    changed in the halo.

    before: halo(u)@loop2, loop2 { k(u, stencil) }
    after:  interior@loop2 { k }, halo(u)@rim@loop2, rim@loop2 { k }
    """

    name: ClassVar[str] = "split-interior"

    loop: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop that an exchange stands before, but for parts of loops."""
        for loop in outer_loops(schedule):
            if loop.peel is None and _exchanges_before(schedule, loop.uid):
                yield {"loop": loop.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against the cut."""
        if problems := not_a_loop(schedule, self.loop):
            return problems
        loop = loop_named(schedule, self.loop)
        place = place_of(loop)
        if not schedule.distributed:
            message = "Without distributed memory no halo is exchanged."
            return (Diagnostic("T037", message, place),)
        if any(isinstance(item, Loop) for item in path_to(schedule, self.loop)[:-1]):
            message = f"'{loop.uid}' stands in another loop, which has to be cut with it."
            return (Diagnostic("T037", message, place),)
        reasons = list(under_directive(schedule, self.loop))
        reasons += part_of_a_split(schedule, self.loop)
        if not _exchanges_before(schedule, self.loop):
            message = f"No exchange stands before '{loop.uid}' that its interior could hide."
            reasons.append(Diagnostic("T033", message, place))
        elif not rules.overlaps_exchanges():
            message = f"The exchanges before '{loop.uid}' cannot be split: the API exchanges in"
            reasons.append(Diagnostic("T032", f"{message} one call.", place))
        reasons += rules.check_split(schedule, loop)
        if loop.over.axis is not None:
            reasons += may_split_points(schedule, loop)
        return tuple(reasons)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the parts of the loop in its place."""
        raise_if_any(self.check(schedule, rules))
        loop = loop_named(schedule, self.loop)
        interior = rules.interior(loop)
        sections = SECTIONS_OF_CELLS if loop.over.axis is None else SECTIONS_OF_POINTS
        inner, *rim = (_part(loop, section, interior) for section in sections)
        return replace(schedule, body=tuple(_cut(schedule.body, loop, inner, rim)))


def _exchanges_before(schedule: Schedule, uid: str) -> tuple[HaloExchange, ...]:
    """Return the exchanges right before a loop that can be finished behind its interior."""
    path = path_to(schedule, uid)
    bodies = [item.body for item in path[:-1] if isinstance(item, Compound)]
    return tuple(
        item
        for body in (schedule.body, *bodies)
        for item in _right_before(body, {one.uid for one in path})
        if isinstance(item, HaloExchange) and _may_come_later(item)
    )


def _right_before(body: tuple[Statement, ...], uids: set[str]) -> tuple[Statement, ...]:
    """Return what stands between the loop, or what it is in, and the loop before it."""
    at = next((place for place, item in enumerate(body) if item.uid in uids), 0)
    passed = takewhile(
        lambda item: isinstance(item, HaloExchange | FillHalo | MarkHalo), reversed(body[:at])
    )
    return tuple(passed)


def _may_come_later(exchange: HaloExchange) -> bool:
    return exchange.phase is Phase.FINISH or not exchange.pinned


def _cut(
    body: tuple[Statement, ...], loop: Loop, inner: Loop, rim: list[Loop]
) -> Iterator[Statement]:
    """Yield `body` with `inner` before the ends of exchanges that stand before `loop`."""
    ends: list[Statement] = []
    for item in body:
        if isinstance(item, HaloExchange) and item.phase is Phase.FINISH:
            ends.append(item)
            continue
        if item.uid == loop.uid:
            ends = [inner, *ends, *rim]
        elif isinstance(item, ProfileRegion):
            ends.append(replace(item, body=tuple(_cut(item.body, loop, inner, rim))))
        else:
            ends.append(item)
        yield from ends
        ends = []
    yield from ends


def _part(loop: Loop, section: PeelSection, interior: Interior) -> Loop:
    peel = Peel(section, interior, loop.uid)

    def renamed(uid: str) -> str:
        head, at, tail = uid.partition("@")
        return f"{head}@{section.value}@{tail}" if at else f"{section.value}@{uid}"

    def copied(item: Statement) -> Statement:
        match item:
            case Loop():
                body = tuple(map(copied, item.body))
                return replace(item, uid=renamed(item.uid), body=body, peel=peel)
            case KernelCall():
                return replace(item, uid=renamed(item.uid))
        return item

    made = copied(loop)
    assert isinstance(made, Loop)
    return made
