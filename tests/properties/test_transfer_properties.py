"""Random schedules, parts of them on a device: no copy that is read is ever stale."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from pairwise import some_of
from properties.random_schedules import RULES, random_case
from psyclone_storage.coherence.check_devices import check_transfers
from psyclone_storage.coherence.scenarios import device_scenarios
from psyclone_storage.ir.devices import has_device
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, Schedule, Statement
from psyclone_storage.ir.transfer import EnterData, Update, Wait
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import replaced
from psyclone_storage.transform.catalogue import STEPS
from psyclone_storage.transform.openacc import AccKernels
from psyclone_storage.transform.openacc_data import AccUpdate
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.transfers import with_derived, with_transfers
from psyclone_storage.transform.workbench import Workbench

BATCHES = range(4)
PER_BATCH = some_of(150)
STEPS_TRIED = 14
TRIED = (
    "colour",
    "fuse",
    "split-exchange",
    "acc-loop",
    "acc-kernels",
    "acc-kernels",
    "acc-parallel",
    "acc-data",
    "acc-enter-data",
    "acc-update",
)


class InStrips:
    """Rules of an API whose infrastructure brings what it exchanges from and to a device."""

    def __getattr__(self, name: str) -> Any:
        return getattr(RULES, name)

    def exchanges_in_strips(self) -> bool:
        """Return True."""
        return True


def rules_of(seed: int) -> Rules:
    """Return rules by which exchanges move strips, or, of a host's copy, all there is."""
    return InStrips() if seed % 2 else RULES


def random_step(rng: random.Random, schedule: Schedule) -> Step | None:
    """Return a step at a random place, with a queue or a side that somebody could ask for."""
    kind = STEPS[rng.choice(TRIED)]
    places = list(kind.places(schedule))
    if not places:
        return None
    place = rng.choice(places)
    if kind is AccKernels:
        queue = rng.choice((-1, -1, 1, 2))
        return AccKernels(place["first"], place["last"], rng.random() < 0.5, queue)
    if kind is AccUpdate:
        anywhere = [item.uid for item in schedule.body] + ["end"]
        return AccUpdate(rng.choice(anywhere), rng.choice(("host", "device")))
    return kind(**place)


@cache
def worked(seed: int) -> Schedule:
    """Return a schedule after random steps; half of them keep their data on the device."""
    rng = random.Random(seed)
    schedule = random_case(seed).schedule
    if rng.random() < 0.3 and len(schedule.data) > 3:
        schedule = aliased(schedule)
    rules = rules_of(seed)
    bench = Workbench(with_derived(schedule, rules), rules)
    for _ in range(STEPS_TRIED):
        step = random_step(rng, bench.schedule)
        if step is not None and not bench.check(step):
            bench.apply(step)
    return bench.schedule


def aliased(schedule: Schedule) -> Schedule:
    """Return the schedule, whose first two fields may be one object."""
    first, second, *others = schedule.data
    if first.vector != second.vector or second.name != "f1":
        return schedule
    data = (replace(first, may_alias=("f1",)), replace(second, may_alias=("f0",)), *others)
    return replace(schedule, data=data)


def batch(number: int) -> Iterator[tuple[int, Schedule]]:
    for seed in range(number * PER_BATCH, (number + 1) * PER_BATCH):
        yield seed, worked(seed)


@pytest.mark.parametrize("number", BATCHES)
def test_no_accepted_schedule_reads_a_stale_copy(number: int) -> None:
    for seed, schedule in batch(number):
        assert check_schedule(schedule) == ()
        for world in device_scenarios(schedule, random.Random(seed)):
            assert check_transfers(schedule, world) == (), (seed, world)


def on_host(seed: int) -> Schedule:
    """Return a schedule that knows of no device, some of its exchanges in two parts."""
    rules, schedule = rules_of(seed), random_case(seed).schedule
    if seed % 3 == 0 and len(schedule.data) > 3:
        schedule = aliased(schedule)
    bench = Workbench(with_derived(schedule, rules), rules)
    for place in list(STEPS["split-exchange"].places(bench.schedule))[: seed % 4]:
        step = STEPS["split-exchange"](**place)
        if not bench.check(step):
            bench.apply(step)
    return bench.schedule


def test_what_stays_on_the_host_beside_a_device_reads_no_stale_copy() -> None:
    moved = 0
    for seed in range(PER_BATCH):
        schedule, strips = on_host(seed), rules_of(seed).exchanges_in_strips()
        beside = with_transfers(schedule, in_strips=strips, beside_device=True)
        assert with_transfers(beside, in_strips=strips, beside_device=True) == beside
        moved += has_device(beside)
        for world in device_scenarios(beside, random.Random(seed)):
            assert check_transfers(beside, world) == (), (seed, world)
    assert moved > PER_BATCH // 2


@pytest.mark.parametrize("number", BATCHES)
def test_deriving_transfers_again_changes_nothing(number: int) -> None:
    for seed, schedule in batch(number):
        assert with_derived(schedule, rules_of(seed)) == schedule


def mutants(schedule: Schedule) -> Iterator[Schedule]:
    """Yield the schedule without one of the transfers that were derived for it."""
    for item in schedule.body:
        if isinstance(item, Update) and not item.pinned:
            yield replaced(schedule, item.uid)
        if isinstance(item, HaloExchange) and not item.guarded:
            yield from without_parts(schedule, item)


def without_parts(schedule: Schedule, item: HaloExchange) -> Iterator[Schedule]:
    changed: list[Statement] = []
    if item.fetched:
        changed.append(replace(item, fetched=False))
    if item.sent:
        changed.append(replace(item, sent=False))
    for statement in changed:
        yield replaced(schedule, item.uid, statement)


@pytest.mark.parametrize("number", BATCHES)
def test_every_transfer_is_missed_if_it_is_left_out(number: int) -> None:
    """The adversary is not asleep, and nothing is moved that need not be.

    That is sure where it is sure which objects there are, and that exchanges happen.
    """
    missed = 0
    for seed, schedule in batch(number):
        if any(isinstance(item, Update) and item.pinned for item in schedule.body):
            continue
        if any(datum.may_alias for datum in schedule.data):
            continue
        for mutant in mutants(schedule):
            chosen = list(device_scenarios(schedule, random.Random(seed)))
            assert any(check_transfers(mutant, world) for world in chosen), (seed, mutant)
            missed += 1
    assert missed > PER_BATCH / 3


def test_waits_that_are_left_out_are_missed() -> None:
    """The host waits before anything else, sometimes before what could go on meanwhile."""
    missed = []
    for number in BATCHES:
        for seed, schedule in batch(number):
            chosen = list(device_scenarios(schedule, random.Random(seed)))
            for wait in [item for item in schedule.body if isinstance(item, Wait)]:
                mutant = replaced(schedule, wait.uid)
                missed.append(any(check_transfers(mutant, world) for world in chosen))
    assert sum(missed) > 0.9 * len(missed) > 50


def test_all_kinds_of_transfers_are_tried() -> None:
    bodies = [item for number in BATCHES for _, one in batch(number) for item in one.body]
    updates = [item for item in bodies if isinstance(item, Update)]
    exchanges = [item for item in bodies if isinstance(item, HaloExchange)]
    assert {(item.to.value, item.guarded, item.pinned) for item in updates} >= set(
        product(("host", "device"), (True, False), (True, False))
    )
    carried = {(item.guarded, item.fetched, item.sent, item.in_strips) for item in exchanges}
    assert carried >= set(product((True, False), (True, False), (True, False), (True, False)))
    assert sum(isinstance(item, Wait) for item in bodies) > 50
    assert sum(isinstance(item, EnterData) for item in bodies) > 50
