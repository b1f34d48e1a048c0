"""Plans that are derived from those of earlier versions equal complete plans."""

# pylint: disable=protected-access

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from properties.random_schedules import RULES, random_case
from properties.worked import ALIASED, GRIDS, PLANES, Worked, on_grid, on_plane
from psyclone_storage.base.memo import splice_between
from psyclone_storage.coherence.halos import plan_halos
from psyclone_storage.ir import verify, walk
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.transform import halos
from psyclone_storage.transform.halos import with_halos, without_halos
from psyclone_storage.transform.transfers import with_derived, with_transfers

EDITS = 12


def planned_anew(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with a complete plan, which no earlier version takes part in."""
    bare = without_halos(schedule)
    if not bare.distributed:
        return bare
    flags = (bare.distributed, bare.annexed_clean, bare.fills)
    whole = splice_between((), bare.body)
    update = halos._derived.__wrapped__  # type: ignore[attr-defined]
    made = update(halos._Derived(), bare.body, whole, rules, bare.data, bare.imported, *flags)
    end = [one.statement for one in made.plan.before("end")]
    return replace(bare, body=(*(item for items in made.body for item in items), *end))


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
    assert walk._items_by_uid(body) == update({}, body, whole)
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
    assert sum(map(check_versions, (*planes, *aliased, *grids))) > 300


@pytest.mark.parametrize("aliased", [False, True])
@pytest.mark.parametrize("annexed", [False, True])
def test_edited_schedules_are_planned_completely(aliased: bool, annexed: bool) -> None:
    differ = 0
    for seed in range(150):
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
    assert differ > 150


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
