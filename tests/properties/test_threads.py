"""After any steps on a schedule of either API, threads neither race nor repeat each other.

`thread_model` defines what may run concurrently. Steps that are rejected because of data races are
forced here, to verify that most of them would cause one.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from pairwise import some_of
from properties.random_schedules import RULES, random_case
from properties.random_steps import ON_SCHEDULES
from properties.small_meshes import FEW_LINES, Plane
from properties.thread_model import races
from properties.worked import GRIDS, PLANES, Worked, accepted, all_worked, on_grid, on_plane
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.base.source import SourceText
from psyclone_storage.coherence.check_devices import check_transfers
from psyclone_storage.coherence.scenarios import device_scenarios
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    HaloExchange,
    Loop,
    MarkHalo,
    Over,
    Schedule,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import find, replaced, statements
from psyclone_storage.languages.fortran.parse.routine import subroutine_heads
from psyclone_storage.targets.dl_esm_inf.abi import READ_FROM_DEVICE, WRITE_TO_DEVICE
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openacc import AccLoop, AccParallel
from psyclone_storage.transform.openmp import ParallelDo, ShareLoop
from psyclone_storage.transform.openmp_target import TeamsDo
from psyclone_storage.transform.openmp_tasks import TaskLoop
from psyclone_storage.transform.simd import VectoriseLoop
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.transfers import with_derived

PARTS = 4
NO_CODE = "T081"
"""Kernels of random schedules have no code that could be compiled for a device."""


@pytest.fixture(scope="module", params=range(PARTS))
def worked(request: pytest.FixtureRequest) -> list[Worked]:
    """Return some of the schedules of both APIs."""
    seeds = slice(request.param, None, PARTS)
    return [*map(on_plane, PLANES[seeds]), *map(on_grid, GRIDS[seeds])]


def is_finished(schedule: Schedule) -> bool:
    return all(reason.code == NO_CODE for reason in check_finished(schedule))


def asked(one: Worked) -> list[Step]:
    """Return the steps that were applied, for the message of a test that fails."""
    return [applied.step for applied in one.tried.bench.history]


def test_no_accepted_schedule_races(worked: list[Worked]) -> None:
    finished = [one for one in worked if is_finished(one.schedule)]
    for one in finished:
        assert races(one.schedule, one.mesh) == (), (one.start.name, asked(one))
    assert len(finished) > len(worked) / 3


def test_no_accepted_schedule_reads_a_stale_copy(worked: list[Worked]) -> None:
    """A recipe that leaves a part of a loop on the host is not finished."""
    whole = [one for one in worked if is_finished(one.schedule)]
    for number, one in enumerate(whole):
        for world in device_scenarios(one.schedule, random.Random(number)):
            assert check_transfers(one.schedule, world) == (), (one.start.name, asked(one), world)


def test_undo_gives_back_every_schedule_itself(worked: list[Worked]) -> None:
    for one in worked:
        bench, seen = one.tried.bench, one.tried.seen
        history = bench.history
        befores = [applied.before for applied in history]
        assert len(history) == len(seen) - 1
        assert all(before is was for before, was in zip(befores, seen[:-1], strict=True))
        for was in reversed(seen[:-1]):
            assert bench.undo() is was
        assert bench.history == ()
        for applied, then in zip(history, seen[1:], strict=True):
            assert bench.apply(applied.step) == then
        assert bench.history == history


def test_what_is_derived_is_derived_once_and_outside_of_all_threads(worked: list[Worked]) -> None:
    for one in worked:
        assert check_schedule(one.schedule) == ()
        assert with_derived(one.schedule, one.rules) == one.schedule
        for item in statements(one.schedule):
            if isinstance(item, DirectiveRegion | Loop):
                inside = list(statements(item))
                assert not any(isinstance(held, HaloExchange | MarkHalo) for held in inside)


def test_every_finished_schedule_becomes_fortran_that_is_read_back(worked: list[Worked]) -> None:
    for one in worked:
        if is_finished(one.schedule):
            heads = subroutine_heads(SourceText("layer", one.text()))
            assert heads.pop(one.start.name) == tuple(datum.name for datum in one.start.data)
            outlined = {name for name in heads if name.startswith(f"{one.start.name}_loop")}
            moving = {name for name in heads if name.startswith(("enter_", "update_device"))}
            assert heads.keys() - outlined - moving <= {READ_FROM_DEVICE, WRITE_TO_DEVICE}


# ---------------------------------------------------------------------------- refusals

SHARING = {
    ParallelDo: Directive.OMP_PARALLEL_DO,
    ShareLoop: Directive.OMP_PARALLEL_DO,
    TaskLoop: Directive.OMP_TASKLOOP,
    VectoriseLoop: Directive.OMP_SIMD,
    TeamsDo: Directive.OMP_TEAMS_DO,
    AccLoop: Directive.ACC_LOOP,
}


def by_force(schedule: Schedule, step: Step) -> Schedule | None:
    """Return `schedule` with its loop dealt out to threads, whatever speaks against it."""
    loop = find(schedule, step.loop)  # type: ignore[attr-defined]
    if type(step) not in SHARING or not isinstance(loop, Loop):
        return None
    if any(isinstance(item, DirectiveRegion) for item in statements(loop)):
        return None
    # One row or column is no work to share, whatever it looks at.
    if (
        loop.tile == 1
        or loop.tile >= len(FEW_LINES)
        or (isinstance(step, AccLoop) and step.collapse != 1)
    ):
        return None
    made = DirectiveRegion("by-force", SHARING[type(step)], (loop,))
    return replaced(schedule, loop.uid, made)


def forced(one: Worked) -> list[bool]:
    """Return, for each refusal because of a race alone, whether there would have been one."""
    found = []
    for schedule, step, reasons in one.tried.refused:
        if not hasattr(step, "loop") or {reason.code for reason in reasons} != {"S010"}:
            continue
        made = by_force(schedule, step)
        if made is not None and not races(schedule, one.mesh):
            found.append(bool(races(made, one.mesh)))
    return found


def test_what_is_refused_as_a_race_is_one() -> None:
    """On grids always; on meshes unless metadata leave open whether a field shares dofs."""
    counted = {
        kind: Counter(race for one in some for race in forced(one))
        for kind, some in (("plane", map(on_plane, PLANES)), ("grid", map(on_grid, GRIDS)))
    }
    assert counted["grid"][False] == 0
    assert counted["grid"][True] > some_of(100)
    assert counted["plane"][True] > some_of(300)
    # About one field in five is on a space of unknown continuity and shares no dof; and a mask may
    # leave out the cells that would race.
    assert counted["plane"][False] < counted["plane"][True] / 3, counted


def test_loops_of_several_calls_run_in_parallel_only_if_that_is_no_race() -> None:
    counted: Counter[tuple[bool, bool]] = Counter()
    for seed in range(some_of(2000)):
        case = random_case(seed, fused=True)
        for loop in case.schedule.body:
            if not isinstance(loop, Loop) or len(loop.body) < 2 or loop.over is Over.COLOURS:
                continue
            made = DirectiveRegion("by-force", Directive.OMP_PARALLEL_DO, (loop,))
            alone = replace(case.schedule, body=(made,))
            mesh = Plane(alone, case.shared)
            reasons = check_races(case.schedule, RULES, loop)
            counted[bool(reasons), bool(races(alone, mesh))] += 1
    assert counted[False, True] == 0
    assert counted[True, True] > 2 * counted[True, False], counted
    assert counted[False, False] > some_of(50)


def gangs(one: Loop, two: Loop) -> DirectiveRegion:
    """Return a region in which gangs do two loops and nothing makes them wait in between."""
    shared = [
        DirectiveRegion(f"gangs({loop.uid})", Directive.ACC_LOOP, (loop,)) for loop in (one, two)
    ]
    return DirectiveRegion("by-force", Directive.ACC_PARALLEL, tuple(shared), place=Side.DEVICE)


def test_gangs_that_are_refused_to_follow_each_other_would_race() -> None:
    """What the loops have in common is what their data are called, dofs or not."""
    counted: Counter[tuple[bool, bool]] = Counter()
    for work in map(on_plane, PLANES[:400]):
        bare = without_halos(work.start)
        for one, two in pairwise(bare.body):
            if not isinstance(one, Loop) or not isinstance(two, Loop):
                continue
            reasons = AccParallel(one.uid, two.uid).check(bare, work.rules)
            if {reason.code for reason in reasons} <= {"T080"}:
                made = replace(bare, body=(gangs(one, two),))
                counted[bool(reasons), bool(races(made, work.mesh))] += 1
    assert counted[False, True] == 0
    assert counted[False, False] > some_of(20), counted
    assert counted[True, True] > 3 * counted[True, False], counted


# ---------------------------------------------------------------------------- coverage


def test_every_step_is_accepted_many_times_on_many_schedules() -> None:
    """A step that is new in the catalogue has to be reached, too."""
    counted = accepted()
    assert set(counted) == set(ON_SCHEDULES)
    assert min(counted.values()) > some_of(9), counted
    reached = {schedule for one in all_worked() for schedule in one.tried.seen}
    assert len(reached) > some_of(5000)
