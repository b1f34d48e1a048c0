"""Each row of `coherence.tables.HALO` holds for the halo planner and for its checker.

Each is tested through schedules alone: a schedule establishes the state of the copies at a place,
contains the event, and then reads the copies, by a reader and by a loop that increments them. The
planner may insert statements before the event; then the row of the resulting state must hold, and
it must not be a row of a forbidden event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import pytest

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.scenarios import HaloScenario
from psyclone_storage.coherence.tables import HALO, Copy, HaloEvent
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import (
    Extent,
    FillHalo,
    HaloExchange,
    KernelCall,
    Loop,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.transform.halos import with_halos
from unit.analysis.small import RULES, built_in, cells, halo, schedule

DEEP = 3
NEVER, STALE, CLEAN = Copy.NEVER_FILLED, Copy.STALE, Copy.CLEAN
OWNED, ANNEXED = Extent(Reach.OWNED), Extent(Reach.ANNEXED)
COPY = built_in("u write any_space_1", "v read any_space_1")
ADD = cells("u inc w0")

Step = tuple[KernelCall, Extent | None] | HaloExchange | FillHalo


class Place(Enum):
    """Which copies are looked at: annexed dofs, or a level of the halo."""

    ANNEXED = 0
    FIRST = 1
    SECOND = 2

    @property
    def text(self) -> str:
        return "the annexed dofs" if self is Place.ANNEXED else f"halo level {self.value}"


def exchange(depth: int, uid: str) -> HaloExchange:
    return HaloExchange(uid, "u", None, Depth.of(depth), guarded=False, pinned=True)


def prior(state: Copy, place: Place) -> list[Step]:
    """Return what leaves the copies at a place in a state."""
    made: list[Step] = [] if state is NEVER else [exchange(DEEP, "prior")]
    owners = OWNED if place is Place.ANNEXED else ANNEXED
    return [*made, (COPY, owners)] if state is STALE else made


def step_of(event: HaloEvent, place: Place) -> Step | None:
    """Return what makes an event happen at a place; None if it cannot."""
    annexed, level = place is Place.ANNEXED, place.value
    match event:
        case HaloEvent.READ:
            return reads(place, "a")
        case HaloEvent.OWNERS_WRITE:
            return COPY, OWNED if annexed else ANNEXED
        case HaloEvent.ALL_WRITE:
            return COPY, ANNEXED if annexed else halo(level)
        case HaloEvent.ALL_ADD:
            return ADD, halo(level + 1)
        case HaloEvent.SOME_ADD:
            return ADD, OWNED if annexed else halo(level)
        case HaloEvent.EXCHANGE:
            return exchange(max(1, level), "event")
        case HaloEvent.SHORT_EXCHANGE:
            return exchange(level - 1, "event") if level > 1 else None
    depth = NOTHING if annexed else Depth.of(level)
    return FillHalo("event", "u", None, annexed, NOTHING, depth)


def reads(place: Place, name: str) -> Step:
    stencil = "" if place is Place.ANNEXED else f" stencil {place.value}"
    return cells(f"{name} write w3", f"u read w0{stencil}"), OWNED


def adds(place: Place) -> Step:
    return ADD, OWNED if place is Place.ANNEXED else halo(place.value)


def made_of(steps: list[Step], place: Place) -> Schedule:
    """Return a schedule with `steps`; annexed dofs are always clean unless they are looked at."""
    calls = [step for step in steps if isinstance(step, tuple)]
    bare = schedule(*calls, annexed=place is not Place.ANNEXED)  # type: ignore[arg-type]
    loops = iter(bare.body)
    body = tuple(next(loops) if isinstance(step, tuple) else step for step in steps)
    return replace(bare, body=body)


@dataclass(frozen=True)
class Row:
    """A row of the table at a place."""

    event: HaloEvent
    state: Copy
    place: Place

    def __str__(self) -> str:
        return f"{self.event.name}-{self.state.name}-{self.place.name}"

    def steps(self) -> list[Step]:
        found = step_of(self.event, self.place)
        assert found is not None
        return [*prior(self.state, self.place), found]


ROWS = [
    Row(event, state, place)
    for event, state in HALO
    for place in Place
    if step_of(event, place) is not None
]


# ---------------------------------------------------------------------------- the adversary


def told(row: Row, *probes: Step) -> list[str]:
    """Return what the adversary says of the copies at the row's place."""
    made = made_of([*row.steps(), *probes], row.place)
    shared = frozenset({"u"})
    world = HaloScenario(DEEP, {}, shared, 0, made.annexed_clean, filled=False)
    found = check_halos(replace(made, annexed_clean=False), world)
    return [one.message for one in found if f"{row.place.text} of 'u'" in one.message]


def of_adversary(row: Row) -> Copy | None:
    """Return what the adversary says of the copies behind the event; None if it is wrong."""
    before = [one for one in told(row) if "leaves" not in one]
    if before:
        return None
    if not [one for one in told(row, reads(row.place, "b")) if "which is stale" in one]:
        return CLEAN
    added = told(row, adds(row.place))
    return NEVER if any("nothing has ever filled" in one for one in added) else STALE


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_adversary_of_halos_follows_the_table(row: Row) -> None:
    assert of_adversary(row) is HALO[row.event, row.state]


# ---------------------------------------------------------------------------- the planner


@dataclass(frozen=True)
class Planned:
    """A plan: what stands before the event and before a look at what it left."""

    before_event: Copy | None
    before_look: Copy | None


def planned(row: Row, probe: Step) -> Planned:
    steps = [*row.steps(), probe]
    result = with_halos(made_of(steps, row.place), RULES)
    loops = [item for item in result.body if isinstance(item, Loop)]
    event = loops[-2].uid if isinstance(steps[-2], tuple) else ""
    return Planned(*(made_by(result.body, uid, row.place) for uid in (event, loops[-1].uid)))


def made_by(body: tuple[Statement, ...], loop: str, place: Place) -> Copy | None:
    """Return what the copies at a place are made before a loop, None if they stay as they were."""
    found = None
    for item in body:
        if isinstance(item, HaloExchange) and item.uid == f"halo(u)@{loop}":
            found = CLEAN if reaches(item.depth, place) else found
        if isinstance(item, FillHalo) and item.uid == f"fill(u)@{loop}":
            inside = item.annexed if place is Place.ANNEXED else reaches(item.depth, place)
            outside = place is Place.ANNEXED or not reaches(item.beyond, place)
            found = STALE if inside and outside else found
    return found


def reaches(depth: Depth, place: Place) -> bool:
    return depth.covers(Depth.of(max(1, place.value))) is Fresh.YES


def beliefs(row: Row) -> Iterator[tuple[Copy, bool, Copy | None]]:
    """Yield the state before the event, whether a look finds the copies as wanted, and the row."""
    for probe, enough in ((reads(row.place, "b"), {CLEAN}), (adds(row.place), {CLEAN, STALE})):
        plan = planned(row, probe)
        state = plan.before_event or row.state
        left = HALO[row.event, state]
        yield state, plan.before_look is None, left if left is None or left in enough else NEVER


@pytest.mark.parametrize("row", [row for row in ROWS if row.event is not HaloEvent.FILL], ids=str)
def test_the_planner_of_exchanges_follows_the_table(row: Row) -> None:
    for state, satisfied, left in beliefs(row):
        assert left is not None, f"{row.event} happens to what is {state}"
        assert satisfied is (left is not NEVER)


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("state", Copy)
def test_the_planner_fills_what_was_never_filled_and_nothing_else(
    state: Copy, place: Place
) -> None:
    """Its own door to that event is a loop that adds."""
    row = Row(HaloEvent.SOME_ADD, state, place)
    made = planned(row, adds(place)).before_event
    assert made is (HALO[HaloEvent.FILL, NEVER] if state is NEVER else None)


# ---------------------------------------------------------------------------- the table


def test_the_table_is_whole() -> None:
    assert set(HALO) == {(event, state) for event in HaloEvent for state in Copy}


@pytest.mark.parametrize(("event", "state"), HALO, ids=lambda one: one.name)
def test_were_a_row_different_it_would_not_be_followed(event: HaloEvent, state: Copy) -> None:
    rows = [row for row in ROWS if (row.event, row.state) == (event, state)]
    followed = [other for other in (*Copy, None) if all(of_adversary(row) is other for row in rows)]
    assert followed == [HALO[event, state]]
