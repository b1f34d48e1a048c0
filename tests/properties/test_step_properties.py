"""Random schedules under random sequences of steps: whatever is accepted must be right."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from functools import cache

import pytest

from properties.random_schedules import RULES, Case, random_case
from properties.worlds import worlds
from psyclone_storage.analysis.check import World, check_halos
from psyclone_storage.analysis.races import may_run_parallel
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.schedule import (
    Construct,
    HaloExchange,
    Loop,
    Over,
    Phase,
    Schedule,
)
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import in_sequence, kernel_calls, path_to, statements
from psyclone_storage.transform.catalogue import STEPS
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.move import MoveStatement
from psyclone_storage.transform.openmp import OpenParallelRegion
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench

BATCHES = range(5)
PER_BATCH = 200
STEPS_TRIED = 12
ON_GRIDS = {"constant-loop-bounds", "swap-loops", "tile-loops", "chunk-loop"}
ON_DEVICES = {name for name in STEPS if name.startswith("acc-")} | {
    "openmp-master",
    "openmp-single",
    "openmp-target",
    "openmp-task",
    "openmp-taskloop",
    "openmp-taskwait",
    "openmp-teams-do",
}
"""Those for devices and tasks are tried by `test_transfer_properties` and its neighbours."""

ON_SCHEDULES = sorted(
    name
    for name, kind in STEPS.items()
    if not hasattr(kind, "calls_to_read") and name not in ON_GRIDS | ON_DEVICES
)
"""The steps for LFRic that look at no kernel's own text, of which random schedules have none."""


def random_step(rng: random.Random, schedule: Schedule) -> Step | None:
    """Return a step that somebody could ask for, legal or not."""
    kind = STEPS[rng.choice(ON_SCHEDULES)]
    uids = [item.uid for item in statements(schedule)]
    if kind is MoveStatement:
        pinned = [item.uid for item in statements(schedule) if isinstance(item, HaloExchange)]
        return MoveStatement(rng.choice(pinned or uids), rng.choice(uids), rng.random() < 0.5)
    if kind is OpenParallelRegion and rng.random() < 0.5:
        loops = [item.uid for item in statements(schedule) if isinstance(item, Loop)]
        return OpenParallelRegion(rng.choice(loops), rng.choice(loops))
    places = list(kind.places(schedule))
    if not places:
        return None
    place = rng.choice(places)
    if kind is ComputeRedundantly:
        return ComputeRedundantly(place["loop"], rng.choice((0, 1, 2, 3)))
    options: dict[str, object] = {}
    if rng.random() < 0.5 and "same_space" in {item.name for item in fields(kind)}:  # type: ignore[arg-type]
        options["same_space"] = True
    if kind is ColourLoop:
        options["tiling"] = rng.random() < 0.5
    return kind(**place, **options)


@cache
def worked(seed: int) -> tuple[Case, Workbench, int]:
    """Return a case, the bench after random steps, and how many were refused."""
    rng = random.Random(seed)
    case = random_case(seed)
    bench = Workbench(with_halos(case.schedule, RULES), RULES)
    refused = 0
    for _ in range(STEPS_TRIED):
        step = random_step(rng, bench.schedule)
        if step is None:
            continue
        reasons = bench.check(step)
        refused += bool(reasons)
        if not reasons:
            bench.apply(step)
    return case, bench, refused


def batch(number: int) -> Iterator[tuple[Case, Workbench]]:
    for seed in range(number * PER_BATCH, (number + 1) * PER_BATCH):
        case, bench, _ = worked(seed)
        yield case, bench


def has_levels_of_pinned(schedule: Schedule, world: World) -> bool:
    """Return whether the halo is as deep as what a script has pinned.

    A loop may run through the whole halo, however shallow, after an exchange for it was pinned at
    a depth that it had before.
    """
    return all(
        term.whole
        or sum(world.extents[name] for name in term.names) + term.constant <= world.levels
        for item in statements(schedule)
        if isinstance(item, HaloExchange) and item.pinned
        for term in item.depth.terms
    )


@pytest.mark.parametrize("number", BATCHES)
def test_accepted_steps_never_lead_to_a_stale_read(number: int) -> None:
    for case, bench in batch(number):
        every = [
            world
            for world in worlds(bench.schedule, case.shared)
            if has_levels_of_pinned(bench.schedule, world)
        ]
        chosen = random.Random(number).sample(every, min(8, len(every)))
        for world in chosen:
            steps = [applied.step for applied in bench.history]
            assert check_halos(bench.schedule, world) == (), (case.schedule.name, steps, world)


@pytest.mark.parametrize("number", BATCHES)
def test_a_schedule_stays_in_one_piece_and_planned(number: int) -> None:
    for _, bench in batch(number):
        assert check_schedule(bench.schedule) == ()
        assert with_halos(bench.schedule, RULES) == bench.schedule


@pytest.mark.parametrize("number", BATCHES)
def test_undo_restores_every_schedule_exactly(number: int) -> None:
    for case, bench in batch(number):
        again = Workbench(with_halos(case.schedule, RULES), RULES)
        seen = [again.schedule]
        seen += [again.apply(applied.step) for applied in bench.history]
        assert again.schedule == bench.schedule
        while again.history:
            assert again.schedule == seen.pop()
            assert again.undo() == seen[-1]
        assert again.schedule == with_halos(case.schedule, RULES)


@pytest.mark.parametrize("number", BATCHES)
def test_no_call_is_lost_or_done_twice(number: int) -> None:
    for case, bench in batch(number):
        before = Counter(call.uid for call in kernel_calls(case.schedule))
        assert Counter(call.uid for call in kernel_calls(bench.schedule)) == before


@pytest.mark.parametrize("number", BATCHES)
def test_threads_neither_race_nor_repeat_each_other(number: int) -> None:
    for _, bench in batch(number):
        for item in statements(bench.schedule):
            if not isinstance(item, Construct):
                continue
            inside = list(statements(item))
            assert not any(isinstance(one, HaloExchange) for one in inside)
            for call in kernel_calls(item):
                around = path_to(bench.schedule, call.uid)
                shares = [one for one in around if isinstance(one, Construct)
                          and one.directive.shares_work]  # fmt: skip
                assert len(shares) == 1 or check_finished(bench.schedule), call.uid
                assert len(shares) < 2, call.uid
            if item.directive is not Directive.OMP_PARALLEL:
                (loop,) = item.body
                assert isinstance(loop, Loop)
                assert may_run_parallel(bench.schedule, RULES, loop) == ()
                assert loop.over in (Over.CELLS_OF_COLOUR, Over.TILES_OF_COLOUR) or not adds(loop)


def adds(loop: Loop) -> bool:
    """Return whether cells of a loop may add to a dof that they share."""
    return loop.over is Over.CELLS and any(
        described.access in (Access.INC, Access.READINC)
        for call in kernel_calls(loop)
        for described in call.kernel.args
    )


@pytest.mark.parametrize("number", BATCHES)
def test_every_exchange_that_starts_finishes(number: int) -> None:
    for _, bench in batch(number):
        flying: set[tuple[str, int | None]] = set()
        for item in in_sequence(bench.schedule):
            if isinstance(item, HaloExchange) and item.phase is not Phase.WHOLE:
                key = (item.datum, item.component)
                assert (key in flying) == (item.phase is Phase.FINISH)
                flying ^= {key}
        assert not flying


def test_every_step_is_accepted_and_refused_many_times() -> None:
    accepted = Counter(
        applied.step.name
        for number in BATCHES
        for _, bench in batch(number)
        for applied in bench.history
    )
    refused = sum(worked(seed)[2] for seed in range(PER_BATCH * len(BATCHES)))
    assert set(accepted) == set(ON_SCHEDULES)
    assert min(accepted.values()) > 30, accepted
    assert refused > 1000
