"""LFRic schedules under random sequences of steps: no halo that is read is ever stale.

What threads do with them, and what GOcean's become, is in `test_threads`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from properties.random_schedules import Case
from properties.worked import ALIASED, PLANES, case_of, on_plane
from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.scenarios import HaloScenario, halo_scenarios
from psyclone_storage.ir.schedule import HaloExchange, Phase, Schedule
from psyclone_storage.ir.walk import kernel_calls, sequential_statements, statements
from psyclone_storage.transform.workbench import Workbench

BATCHES = range(4)


def batch(number: int) -> Iterator[tuple[Case, Workbench]]:
    for seed in PLANES[number :: len(BATCHES)]:
        yield case_of(seed), on_plane(seed).tried.bench


def has_levels_of_pinned(schedule: Schedule, world: HaloScenario) -> bool:
    """Return whether the halos of fields are as deep as what a script has pinned.

    A loop may run through the whole halo, however shallow, after an exchange for it was pinned at
    a depth that it had before.
    """
    return all(
        term.whole
        or sum(world.extents[name] for name in term.names) + term.constant
        <= world.depth_of(item.datum)
        for item in statements(schedule)
        if isinstance(item, HaloExchange) and item.pinned
        for term in item.depth.terms
    )


@pytest.mark.parametrize("number", BATCHES)
def test_accepted_steps_never_lead_to_a_stale_read(number: int) -> None:
    for case, bench in batch(number):
        every = [
            world
            for world in halo_scenarios(bench.schedule, case.shared)
            if has_levels_of_pinned(bench.schedule, world)
        ]
        chosen = random.Random(number).sample(every, min(8, len(every)))
        for world in chosen:
            steps = [applied.step for applied in bench.history]
            assert check_halos(bench.schedule, world) == (), (case.schedule.name, steps, world)


def test_no_copy_is_stale_whichever_names_are_one_object() -> None:
    tried = 0
    for seed in ALIASED:
        case, bench = case_of(seed, aliased=True), on_plane(seed, aliased=True).tried.bench
        every = [
            world
            for world in halo_scenarios(bench.schedule, case.shared)
            if world.same and has_levels_of_pinned(bench.schedule, world)
        ]
        tried += bool(every)
        for world in random.Random(seed).sample(every, min(16, len(every))):
            steps = [applied.step for applied in bench.history]
            assert check_halos(bench.schedule, world) == (), (seed, steps, world)
    assert tried > len(ALIASED) / 4


@pytest.mark.parametrize("number", BATCHES)
def test_no_call_is_lost_or_done_twice(number: int) -> None:
    for case, bench in batch(number):
        before = Counter(call.uid for call in kernel_calls(case.schedule))
        inner = Counter(call.uid for call in kernel_calls(bench.schedule))
        rim = {uid for uid in inner if uid.startswith("rim@")}
        assert {uid.replace("rim@", "interior@") for uid in rim} <= set(inner)
        kept = Counter(uid.removeprefix("interior@") for uid in inner if uid not in rim)
        assert kept == before
        assert set(inner.values()) == {1}


@pytest.mark.parametrize("number", BATCHES)
def test_every_exchange_that_starts_finishes(number: int) -> None:
    for _, bench in batch(number):
        flying: set[tuple[str, int | None]] = set()
        for item in sequential_statements(bench.schedule):
            if isinstance(item, HaloExchange) and item.phase is not Phase.WHOLE:
                key = (item.datum, item.component)
                assert (key in flying) == (item.phase is Phase.FINISH)
                flying ^= {key}
        assert not flying
