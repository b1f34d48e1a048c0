"""Random schedules against storages: nothing stale is read, nothing is lost, nothing is spare.

`pytest tests/properties/test_storage_access_properties.py --schedules 1200` tries so many of them,
half of each API; any run tries fewer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from pairwise import some_of
from properties.random_schedules import RULES
from properties.random_storage_access import (
    CODES,
    GRID_DUMMIES,
    GRID_RULES,
    MESH_DUMMIES,
    grid_case,
    mesh_case,
    mesh_code,
)
from properties.test_transfer_properties import random_step
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.coherence.check_storage_access import check_storage_access
from psyclone_storage.coherence.scenarios import storage_scenarios
from psyclone_storage.coherence.storage_access import (
    KernelKnowledge,
    check_storage_policy,
    plan_storage_access,
)
from psyclone_storage.infrastructures.gocean import ALL
from psyclone_storage.ir.insertion import Insertion
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import Loop, Schedule
from psyclone_storage.ir.storage_access import (
    AcquireData,
    PrefetchData,
    StoragePlan,
    StoragePolicy,
    TouchData,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.transform.bounds import ConstantLoopBounds
from psyclone_storage.transform.openacc import AccKernels
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.transfers import with_derived
from psyclone_storage.transform.workbench import Workbench

BATCHES = range(4)
LEAST = some_of(80)
"""Schedules of a batch in any run."""
STEPS_TRIED = 8
ON_DEVICE = 0.5
WITH_BOUNDS = 0.3
CONTRACTS = (
    StoragePolicy(directives_act=True),
    StoragePolicy(home=Side.DEVICE),
    StoragePolicy(through_exchanges=False, at_once=False, directives_act=True),
    StoragePolicy(at_once=False, directives_act=True),
    StoragePolicy(home=Side.DEVICE, waits_apart=True),
)
GRIDS = KernelKnowledge(GRID_RULES, lambda kernel: CODES[kernel.name], GRID_DUMMIES)
MESHES = KernelKnowledge(RULES, mesh_code, MESH_DUMMIES)


@cache
def case(seed: int) -> tuple[Schedule, KernelKnowledge]:
    """Return a schedule after random steps, some of which move loops to a device."""
    rng = random.Random(seed)
    if seed % 2:
        return with_places(grid_case(seed), rng, GRIDS), GRIDS
    return with_places(mesh_case(seed), rng, MESHES), MESHES


def with_places(schedule: Schedule, rng: random.Random, knowledge: KernelKnowledge) -> Schedule:
    """Return the schedule after steps that storages go together with, some loops on a device."""
    bench = Workbench(with_derived(schedule, knowledge.rules), knowledge.rules)
    loops = [item.uid for item in schedule.body if isinstance(item, Loop)]
    steps: list[Step] = [ConstantLoopBounds(uid) for uid in loops if rng.random() < WITH_BOUNDS]
    steps += [AccKernels(uid, uid) for uid in loops if rng.random() < ON_DEVICE]
    for number in range(STEPS_TRIED):
        step = steps[number] if number < len(steps) else random_step(rng, bench.schedule)
        if step is None or bench.check(step):
            continue
        before = bench.schedule
        bench.apply(step)
        if check_storage_policy(bench.schedule, StoragePolicy(directives_act=True)):
            bench = Workbench(before, knowledge.rules)
    return bench.schedule


def codes_in(schedule: Schedule, knowledge: KernelKnowledge) -> dict[str, tuple[Routine, ...]]:
    calls = kernel_calls(schedule)
    return {call.kernel.name: knowledge.codes_of(call.kernel) for call in calls}


@pytest.fixture(scope="module")
def per_batch(request: pytest.FixtureRequest) -> int:
    """Return how many schedules a batch has."""
    return max(LEAST, -(-request.config.getoption("--schedules") // len(BATCHES)))


def batch(
    number: int, per_batch: int
) -> Iterator[tuple[int, Schedule, KernelKnowledge, StoragePolicy, StoragePlan]]:
    for seed in range(number * per_batch, (number + 1) * per_batch):
        schedule, knowledge = case(seed)
        contract = CONTRACTS[seed // 2 % len(CONTRACTS)]
        assert check_storage_policy(schedule, contract) == ()
        yield (
            seed,
            schedule,
            knowledge,
            contract,
            plan_storage_access(schedule, knowledge, contract),
        )


@pytest.mark.parametrize("number", BATCHES)
def test_no_plan_reads_or_leaves_what_is_stale(number: int, per_batch: int) -> None:
    for seed, schedule, knowledge, contract, plan in batch(number, per_batch):
        codes = codes_in(schedule, knowledge)
        for world in storage_scenarios(schedule, ALL):
            assert check_storage_access(schedule, plan, contract, codes, world) == (), (seed, world)


@pytest.mark.parametrize(("seed", "contract"), [(408, CONTRACTS[0]), (726, CONTRACTS[3])])
def test_nothing_is_brought_while_what_may_be_the_same_is_written(
    seed: int, contract: StoragePolicy
) -> None:
    """Schedules that any run leaves out: their plans began to bring what was held for writing."""
    schedule, knowledge = case(seed)
    plan, codes = plan_storage_access(schedule, knowledge, contract), codes_in(schedule, knowledge)
    for world in storage_scenarios(schedule, ALL):
        assert check_storage_access(schedule, plan, contract, codes, world) == ()


def mutants(plan: StoragePlan, contract: StoragePolicy) -> Iterator[tuple[str, StoragePlan]]:
    """Yield the plan with one action left out, or one acquire asking for less.

    Exchanges that acquire what they need may have brought it, and touched it, before; so may
    prefetches, which are left out. What was held before may have left values where they are needed.
    """
    alone = contract.through_exchanges
    held: set[tuple[str, int | None]] = set()
    plan = StoragePlan(
        tuple(one for one in plan.insertions if not isinstance(one.statement, PrefetchData))
    )
    for at, (before, action, _) in enumerate(plan.insertions):
        rest = plan.insertions[:at], plan.insertions[at + 1 :]
        if alone or not isinstance(action, TouchData):
            yield f"without {action}", StoragePlan((*rest[0], *rest[1]))
        if isinstance(action, AcquireData):
            weaker = []
            if action.writes:
                weaker.append(replace(action, writes=False, covered=Fresh.NO))
            named = (action.datum, action.component)
            if action.writes and alone and named not in held:
                weaker.append(replace(action, covered=Fresh.YES))
            weaker.append(replace(action, side=action.side.other))
            held.add(named)
            for less in weaker:
                if less != action:
                    placed = Insertion(before, less)
                    yield f"{less}", StoragePlan((*rest[0], placed, *rest[1]))


@pytest.mark.parametrize("number", BATCHES)
def test_each_action_is_missed_if_it_is_left_out_or_weaker(number: int, per_batch: int) -> None:
    """The adversary is not asleep, and no value is brought that need not be.

    That is sure where names mean objects of their own. Values of a continuous field that a loop
    over cells writes are brought although all are written: their metadata do not promise it.
    """
    missed = 0
    for seed, schedule, knowledge, contract, plan in batch(number, per_batch):
        if any(datum.may_alias for datum in schedule.data) or knowledge is MESHES:
            continue
        codes = codes_in(schedule, knowledge)
        chosen = list(storage_scenarios(schedule, ALL))
        for what, mutant in mutants(plan, contract):
            found = [check_storage_access(schedule, mutant, contract, codes, one) for one in chosen]
            assert any(found), (seed, what)
            missed += 1
    assert missed > per_batch


@pytest.mark.parametrize("number", BATCHES)
def test_what_is_brought_early_may_be_left_out_and_not_be_earlier(
    number: int, per_batch: int
) -> None:
    """While somebody writes it, that is: the values would be old ones."""
    tried = 0
    for seed, schedule, knowledge, contract, plan in batch(number, per_batch):
        codes = codes_in(schedule, knowledge)
        chosen = list(storage_scenarios(schedule, ALL))
        for at, (_, action, _) in enumerate(plan.insertions):
            if not isinstance(action, PrefetchData):
                continue
            rest = [*plan.insertions[:at], *plan.insertions[at + 1 :]]
            for world in chosen:
                left = StoragePlan(tuple(rest))
                assert check_storage_access(schedule, left, contract, codes, world) == (), (
                    seed,
                    world,
                )
            writing = [
                before
                for before, one in enumerate(rest[:at])
                if isinstance(one.statement, AcquireData)
                and (one.statement.datum, one.statement.component)
                == (action.datum, action.component)
            ]
            if action.writer:
                early = [*rest]
                early.insert(writing[-1] + 1, Insertion(rest[writing[-1]].before, action))
                plan_of = StoragePlan(tuple(early))
                faults = [
                    check_storage_access(schedule, plan_of, contract, codes, one) for one in chosen
                ]
                assert any(faults), (seed, action)
                tried += 1
    assert tried > per_batch / 20


def test_all_kinds_of_actions_are_tried(per_batch: int) -> None:
    plans = [found[-1] for number in BATCHES for found in batch(number, per_batch)]
    acquired = {(one.side, one.writes, one.covered) for plan in plans for one in plan.acquired}
    for side in Side:
        assert {(writes, covered) for where, writes, covered in acquired if where is side} == {
            (False, Fresh.NO), (True, Fresh.NO), (True, Fresh.YES), (True, Fresh.MAYBE),
        }  # fmt: skip
    actions = [one.statement for plan in plans for one in plan.insertions]
    assert sum(isinstance(one, PrefetchData) for one in actions) > per_batch / 10
    assert any(one.may_be for plan in plans for one in plan.acquired)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_data_on_one_side_are_acquired_once(contract: StoragePolicy) -> None:
    for seed in range(1, 200, 2):
        schedule = grid_case(seed)
        plan = plan_storage_access(schedule, GRIDS, contract)
        names = [one.datum for one in plan.acquired]
        if contract.through_exchanges:
            assert len(names) == len(set(names)) == len(schedule.data)
        if contract.at_once:
            first = {
                place for place, action, _ in plan.insertions if isinstance(action, AcquireData)
            }
            early = {
                action.datum for _, action, _ in plan.insertions if isinstance(action, PrefetchData)
            }
            assert contract.waits_apart or first <= {schedule.body[0].uid}
            assert contract.waits_apart or not early
