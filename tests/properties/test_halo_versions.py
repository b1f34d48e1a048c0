"""Plans that are derived from those of earlier versions equal complete plans."""

# pylint: disable=protected-access

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

import pytest

from pairwise import some_of
from properties.random_schedules import RULES, random_case
from properties.worked import ALIASED, GRIDS, PLANES, Worked, on_grid, on_plane
from psyclone_storage.analysis.schedules.dependence import dependences
from psyclone_storage.base import memo
from psyclone_storage.base.memo import Versions
from psyclone_storage.base.splices import splice_between
from psyclone_storage.coherence.halos import plan_halos
from psyclone_storage.ir import verify, walk
from psyclone_storage.ir.datum_parts import DatumPart, positions_using
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Compound, HaloExchange, Loop, Over, Phase, Schedule
from psyclone_storage.passes.nests import fuse_schedule_loops
from psyclone_storage.transform import halos
from psyclone_storage.transform.asynchronous import OverlapExchange, SplitExchange
from psyclone_storage.transform.halos import with_halos, without_halos
from psyclone_storage.transform.legality import HalosInFlight, check_flights
from psyclone_storage.transform.transfers import with_derived, with_transfers

EDITS = 12


def planned_anew(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with a complete plan, which no earlier version takes part in."""
    bare = without_halos(schedule)
    if not bare.distributed:
        return bare
    whole = splice_between((), bare.body)
    update = halos._derived.__wrapped__  # type: ignore[attr-defined]
    made = update(halos._Derived(), replace(bare, versions=Versions()), whole, rules)
    return replace(bare, body=made.body.whole())


def check_versions(one: Worked) -> int:
    for schedule in one.tried.seen:
        anew = planned_anew(schedule, one.rules)
        complete = with_transfers(anew, in_strips=one.rules.exchanges_in_strips())
        assert with_derived(schedule, one.rules) == complete
        check_walks(schedule)
    return len(one.tried.seen)


def check_walks(schedule: Schedule) -> None:
    """Check what is derived from earlier versions besides the plan."""
    body = schedule.body
    whole = splice_between((), body)
    update = walk._items_by_uid.__wrapped__  # type: ignore[attr-defined]
    assert walk._items_by_uid(schedule) == update({}, schedule, whole)
    every = [one for item in body for one in (item, *inside(item))]
    assert list(map(id, walk.statements(schedule))) == list(map(id, every))
    assert not verify.check_schedule(schedule)


def inside(item: object) -> tuple[object, ...]:
    return tuple(one for below in getattr(item, "body", ()) for one in (below, *inside(below)))


@pytest.mark.parametrize("number", range(4))
def test_steps_plan_what_a_complete_plan_contains(number: int) -> None:
    planes = [on_plane(seed) for seed in PLANES[number::8]]
    aliased = [on_plane(seed, aliased=True) for seed in ALIASED[number::8]]
    grids = [on_grid(seed) for seed in GRIDS[number::8]]
    assert sum(map(check_versions, (*planes, *aliased, *grids))) > some_of(300)


@pytest.mark.parametrize("aliased", [False, True])
@pytest.mark.parametrize("annexed", [False, True])
def test_edited_schedules_are_planned_completely(aliased: bool, annexed: bool) -> None:
    differ = 0
    for seed in range(some_of(150)):
        rng = random.Random(seed)
        start = random_case(seed, aliased=aliased).schedule
        schedule = replace(without_halos(start), annexed_clean=annexed)
        removed = [*without_halos(random_case(seed, aliased=aliased).schedule).body]
        before = None
        for _ in range(EDITS):
            schedule = edited(rng, schedule, removed)
            made = with_halos(schedule, RULES)
            assert made == planned_anew(schedule, RULES)
            plan = plan_halos(schedule, RULES)
            placed = {one.uid for one in made.body if one.uid.startswith("halo(")}
            assert placed >= {one.statement.uid for one in plan.exchanges if one.before == "end"}
            differ += made != before
            before = made
    assert differ > some_of(150)


def edited(rng: random.Random, schedule: Schedule, removed: list[object]) -> Schedule:
    """Return `schedule` without a statement, with a removed one, or with one moved."""
    body = list(schedule.body)
    at = rng.randrange(len(body)) if body else 0
    absent = [one for one in removed if one.uid not in {item.uid for item in body}]  # type: ignore[attr-defined]
    match rng.randrange(3):
        case 0 if len(body) > 1:
            del body[at]
        case 1 if absent:
            body.insert(rng.randrange(len(body) + 1), rng.choice(absent))  # type: ignore[arg-type]
        case _ if body:
            body.insert(rng.randrange(len(body)), body.pop(at))
    return replace(schedule, body=tuple(body))


@pytest.mark.parametrize("aliased", [False, True])
@pytest.mark.parametrize("over", [Over.CELLS, Over.DOFS])
def test_fused_loops_are_planned_completely(aliased: bool, over: Over) -> None:
    """Plans follow fusions of loops over one range, legal or not, in the order of recipes."""
    fused = 0
    for seed in range(some_of(24)):
        start = without_halos(random_case(seed, aliased=aliased).schedule)
        loops = [one for one in start.body if isinstance(one, Loop) and one.over is over]
        copies = [again(one, number, loops[0]) for number in range(4) for one in loops]
        random.Random(seed).shuffle(copies)
        schedule = replace(start, body=(*copies, *start.body))
        for _ in copies[1:]:
            check_plan(schedule)
            first, second, *others = cast("tuple[Loop, ...]", schedule.body)
            both = fuse_schedule_loops(first, second)
            schedule = replace(schedule, body=(both, *others))
            fused += 1
        check_plan(schedule)
    assert fused > some_of(60)


def check_plan(schedule: Schedule) -> None:
    """Compare a plan with that of copies of the loops, for which nothing is cached."""
    copies = tuple(replace(one) for one in schedule.body)
    assert with_halos(schedule, RULES) == planned_anew(replace(schedule, body=copies), RULES)


def again(loop: Loop, number: int, like: Loop) -> Loop:
    """Return a copy of `loop` with names of its own and the range of `like`."""
    calls = (replace(call, uid=f"{call.uid}_{number}") for call in walk.kernel_calls(loop))
    uid = f"{loop.uid}_{number}"
    return replace(loop, uid=uid, extent=like.extent, bounds_from=0, body=tuple(calls))


@pytest.mark.parametrize("aliased", [False, True])
def test_edited_schedules_are_checked_completely(aliased: bool) -> None:
    refused, broken = 0, 0
    for seed in range(some_of(30)):
        rng = random.Random(seed)
        start = random_case(seed, aliased=aliased).schedule
        whole = [one for one in with_halos(start, RULES).body if isinstance(one, HaloExchange)]
        removed = [*start.body, *(end for one in whole for end in ends(one))]
        schedule = without_halos(start)
        for _ in range(3 * EDITS):
            schedule = edited(rng, schedule, removed)
            anew = replace(schedule, versions=Versions())
            reasons, problems = check_flights(schedule, RULES), verify.check_schedule(schedule)
            assert reasons == check_flights(anew, RULES)
            assert problems == verify.check_schedule(anew)
            assert RULES.without_annexed(schedule) == RULES.without_annexed(anew)
            refused += bool(reasons)
            broken += bool(problems)
        check_places(schedule)
    assert min(refused, broken) > some_of(50)


@pytest.mark.parametrize("most", [0, 3, 1000])
def test_results_of_any_version_stay_correct(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that are copied, modified or moved back and forth equal those from empty caches."""
    monkeypatch.setattr(memo, "_FEW", most)
    differ = 0
    for seed in range(some_of(25)):
        rng = random.Random(seed)
        start = random_case(seed, aliased=seed % 2 == 0).schedule
        removed = [*start.body]
        seen = [with_halos(start, RULES)]
        for _ in range(EDITS):
            bare = without_halos(rng.choice(seen))
            seen.append(with_halos(edited(rng, bare, removed), RULES))
            one = rng.choice(seen)
            anew = replace(one, versions=Versions())
            assert with_halos(one, RULES) == with_halos(anew, RULES)
            assert RULES.without_annexed(one) == RULES.without_annexed(anew)
            assert list(map(id, walk.statements(one))) == list(map(id, walk.statements(anew)))
            for at, item in enumerate(one.body):
                assert walk.find(one, item.uid) is item
                assert walk.place_in_body(one, item.uid) == at
            for datum in one.data:
                names = frozenset({datum.name})
                assert positions_using(one, names) == positions_using(anew, names)
            differ += one is not seen[-1]
    assert differ > some_of(100)


def ends(exchange: HaloExchange) -> list[HaloExchange]:
    """Return the start and the finish of an exchange."""
    split = replace(exchange, pinned=True)
    return [
        replace(split, uid=f"{phase.value}({exchange.uid})", phase=phase)
        for phase in (Phase.START, Phase.FINISH)
    ]


def check_places(schedule: Schedule) -> None:
    """Compare the places of statements with those that a search from the beginning finds."""
    every = walk.statements(schedule)
    places = [walk.place_of(one) for one in every]
    first = next((one.span for one in walk.kernel_calls(schedule) if one.span), None)
    assert walk.place_near(schedule, "absent") == first
    for at, item in enumerate(every):
        later = [place for place in places[at:] if place is not None]
        earlier = [place for place in places[:at] if place is not None]
        assert walk.place_near(schedule, item.uid) == (*later[:1], *earlier[-1:], None)[0]


def test_a_repeated_statement_is_found_after_any_edit() -> None:
    """Results for versions without one stay correct, whichever version was seen before."""
    found, after = 0, 0
    for seed in range(some_of(40)):
        rng = random.Random(seed)
        schedule = without_halos(random_case(seed).schedule)
        correct = [schedule]
        for _ in range(EDITS):
            body = [*schedule.body]
            if len(body) > 1 and rng.random() < 0.5:
                del body[rng.randrange(len(body))]
            else:
                item = rng.choice(body)
                item = replace(item) if rng.random() < 0.5 else item
                body.insert(rng.randrange(len(body) + 1), item)
            schedule = replace(schedule, body=tuple(body))
            uids = [one.uid for one in walk.statements(schedule)]
            repeated = {uid for uid in uids if uids.count(uid) > 1}
            assert set(walk.repeated_uids(schedule)) == repeated
            found += bool(repeated)
            assert [walk.position_in(schedule, one) for one in body] == [
                next(at for at, other in enumerate(body) if other is one) for one in body
            ]
            answers(schedule)
            correct += [] if repeated else [schedule]
            one = rng.choice(correct)
            assert answers(one) == answers(replace(one, versions=Versions()))
            after += bool(repeated)
    assert min(found, after) > some_of(50)


def answers(schedule: Schedule) -> object:
    """Return what several functions of versions find in a schedule."""
    return (
        [id(walk.find(schedule, one.uid)) for one in schedule.body],
        [walk.position_in(schedule, one) for one in schedule.body],
        list(map(id, walk.statements(schedule))),
        [positions_using(schedule, frozenset({datum.name})) for datum in schedule.data],
        verify.check_schedule(schedule),
    )


def test_threads_get_correct_results_of_one_schedule() -> None:
    """Each thread has its own results, which the others do not modify."""

    def compare(versions: list[Schedule], expected: list[object], seed: int) -> list[bool]:
        chosen = random.Random(seed).choices(range(len(versions)), k=30)
        return [answers(versions[at]) == expected[at] for at in chosen]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            for seed in range(20):
                rng = random.Random(seed)
                start = without_halos(random_case(seed).schedule)
                bodies = [rng.sample(start.body, k=len(start.body)) for _ in range(6)]
                versions = [replace(start, body=tuple(body)) for body in bodies]
                expected = [answers(replace(one, versions=Versions())) for one in versions]
                running = [pool.submit(compare, versions, expected, at) for at in range(3)]
                assert all(all(one.result()) for one in running)
                assert [*map(answers, versions)] == expected
    finally:
        sys.setswitchinterval(interval)


def test_an_exchange_starts_after_the_last_obstacle() -> None:
    moved = 0
    for seed in range(some_of(150)):
        schedule = with_halos(random_case(seed, aliased=seed % 2 == 0).schedule, RULES)
        for item in schedule.body:
            if not isinstance(item, HaloExchange):
                continue
            step = OverlapExchange(item.uid)
            split = without_halos(SplitExchange(item.uid).apply(schedule, RULES))
            at = next(at for at, one in enumerate(split.body) if one.uid.startswith("start("))
            early = earliest_start(split, at)
            assert bool(step.check(schedule, RULES)) == (early == at)
            if early < at:
                body = step.transform(schedule, RULES).body
                assert body[early].uid == split.body[at].uid
                moved += 1
    assert moved > some_of(50)


def earliest_start(schedule: Schedule, at: int) -> int:
    """Return the place of the first loop after which nothing hinders the start at `at`."""
    start, early = schedule.body[at], at
    assert isinstance(start, HaloExchange)
    halos = HalosInFlight(schedule, RULES)
    busy = halos.busy({DatumPart(start.datum, start.component): start})
    for place in reversed(range(at)):
        passed = schedule.body[place]
        if dependences(schedule, passed, start):
            break
        if isinstance(passed, Compound):
            if halos.touched_by(passed, busy):
                break
            early = place
    return early
