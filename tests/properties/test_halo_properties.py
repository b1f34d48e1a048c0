"""The halo planner against the worst-case model, with thousands of random schedules."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest

from pairwise import some_of
from properties.psyclone_tables import demanded_exchanges, placed_exchanges
from properties.random_schedules import RULES, Case, random_case
from psyclone_storage.coherence.check_halos import check_halos, execute
from psyclone_storage.coherence.execution import prepare
from psyclone_storage.coherence.scenarios import HaloScenario, halo_scenarios
from psyclone_storage.ir.expr import integer_value
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import HaloExchange, KernelCall, Loop, MarkHalo, Schedule
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import calls_in
from psyclone_storage.transform.halos import with_halos, without_halos
from psyclone_storage.transform.marks import eliminate_dead_halo_flags

BATCHES = range(some_of(10))
PER_BATCH = 400


def batch(number: int, size: int = PER_BATCH) -> Iterator[tuple[Case, Schedule]]:
    for seed in range(number * size, (number + 1) * size):
        case = random_case(seed)
        yield case, with_halos(case.schedule, RULES)


def some_worlds(schedule: Schedule, shared: frozenset[str], most: int = 16) -> list[HaloScenario]:
    every = list(halo_scenarios(schedule, shared))
    return random.Random(schedule.name).sample(every, min(most, len(every)))


def exchanges(schedule: Schedule) -> list[HaloExchange]:
    return [item for item in schedule.body if isinstance(item, HaloExchange)]


def without(schedule: Schedule, uid: str) -> Schedule:
    return replace(schedule, body=tuple(item for item in schedule.body if item.uid != uid))


@pytest.mark.parametrize("number", BATCHES)
def test_no_entry_state_makes_a_planned_schedule_read_stale_data(number: int) -> None:
    for case, schedule in batch(number):
        prepared = prepare(schedule)
        for world in some_worlds(schedule, case.shared):
            assert check_halos(prepared, world) == (), (schedule.name, world)


def test_fused_loops_read_no_stale_data_either() -> None:
    fused = 0
    for seed in range(some_of(3000)):
        case = random_case(seed, fused=True)
        fused += len(case.schedule.body) < len(random_case(seed).schedule.body)
        schedule = with_halos(case.schedule, RULES)
        prepared = prepare(schedule)
        for world in some_worlds(schedule, case.shared, 4):
            assert check_halos(prepared, world) == (), (schedule.name, world)
    assert fused > some_of(200)


@pytest.mark.parametrize("fused", [False, True])
def test_schedules_read_no_stale_data_whichever_names_are_one_object(fused: bool) -> None:
    aliased = joined = 0
    for seed in range(some_of(800)):
        case = random_case(seed, fused=fused, aliased=True)
        schedule = with_halos(case.schedule, RULES)
        aliased += any(datum.may_alias for datum in schedule.data)
        joined += len(case.schedule.body) < len(random_case(seed, aliased=True).schedule.body)
        prepared = prepare(schedule)
        for world in some_worlds(schedule, case.shared, 8):
            assert check_halos(prepared, world) == (), (schedule.name, world)
    assert aliased > some_of(400)
    assert not fused or joined > some_of(50)


def test_most_random_schedules_would_read_stale_data_without_exchanges() -> None:
    stale = sum(
        any(check_halos(without_halos(schedule), world) for world in some_worlds(schedule, shared))
        for case, schedule in batch(0)
        for shared in (case.shared,)
    )
    assert stale > PER_BATCH / 2


@pytest.mark.parametrize("number", range(some_of(3)))
def test_each_exchange_is_needed_in_some_entry_state(number: int) -> None:
    checked = excused = 0
    for case, schedule in batch(number):
        shared = frozenset(field.name for field in case.fields)
        shared = (shared - RULES.without_annexed(case.schedule)) | case.shared
        every = list(halo_scenarios(schedule, shared))
        for exchange in exchanges(schedule):
            checked += 1
            shorter = prepare(without(schedule, exchange.uid))
            if not any(check_halos(shorter, world) for world in every):
                excused += 1
                assert cautious(schedule, exchange, shared), (schedule.name, exchange.uid)
    assert checked > PER_BATCH
    assert excused < checked / 50


def cautious(schedule: Schedule, exchange: HaloExchange, shared: frozenset[str]) -> bool:
    """Return whether an exchange is kept although this schedule could do without it.

    Either the field is added to under a name that may be a continuous space, although another
    call tells that it is discontinuous, so that one level more would have been clean; or a depth
    is compared that is only known at run time, and all other uses of the field bound it; or a
    kernel may be asked to compute no halo at all, or its stencil reach nowhere, and other uses tell
    that it is asked for some.
    """
    for loop, call, access in uses_of(schedule, exchange.datum):
        if access.increments and exchange.datum not in shared:
            return True
        symbolic = any(term.names or term.whole for term in loop.extent.depth.terms)
        if access.writes and loop.extent.reach.in_halo and symbolic:
            return True
        if is_asked(loop) or reaches_somewhere(call, exchange.datum):
            return True
    return False


def reaches_somewhere(call: KernelCall, datum: str) -> bool:
    """Return whether a stencil's extent is known at run time only."""
    extents = [actual.extent for actual in call.args if actual.datum == datum and actual.extent]
    return any(integer_value(extent) is None for extent in extents)


def is_asked(loop: Loop) -> bool:
    """Return whether the algorithm says at run time how far the loop goes, 0 included."""
    return any(term.names for term in loop.extent.depth.terms)


def uses_of(schedule: Schedule, datum: str) -> Iterator[tuple[Loop, KernelCall, object]]:
    for item in schedule.body:
        if isinstance(item, Loop):
            for loop, call in calls_in(item):
                for described, actual in zip(call.kernel.args, call.args, strict=True):
                    if actual.datum == datum:
                        yield loop, call, described.access


@pytest.mark.parametrize("number", range(some_of(3)))
def test_a_guard_would_never_skip_an_exchange_that_has_none(number: int) -> None:
    unguarded = 0
    for case, schedule in batch(number):
        certain = {item.uid for item in exchanges(schedule) if not item.guarded}
        guarded = replace(
            schedule,
            body=tuple(
                replace(item, guarded=True) if isinstance(item, HaloExchange) else item
                for item in schedule.body
            ),
        )
        unguarded += len(certain)
        prepared = prepare(guarded)
        for world in some_worlds(schedule, case.shared, 6):
            assert certain <= set(execute(prepared, world).exchanged), (schedule.name, world)
    assert unguarded > PER_BATCH / 4


@pytest.mark.parametrize("number", range(some_of(3)))
def test_a_guard_skips_an_exchange_in_some_entry_state(number: int) -> None:
    for case, schedule in batch(number, 150):
        guarded = {item.uid for item in exchanges(schedule) if item.guarded}
        skipped: set[str] = set()
        prepared = prepare(schedule)
        for world in halo_scenarios(schedule, case.shared):
            skipped |= guarded - set(execute(prepared, world).exchanged)
        for uid in guarded - skipped:
            exchange = next(item for item in exchanges(schedule) if item.uid == uid)
            assert exchange.depth.known is None or has_symbols(schedule, exchange.datum), (
                schedule.name,
                uid,
            )


def has_symbols(schedule: Schedule, datum: str) -> bool:
    """Return whether a depth known only at run time takes part in the uses of `datum`."""
    return any(
        any(term.names or term.whole for term in loop.extent.depth.terms)
        for loop, _, _ in uses_of(schedule, datum)
    )


@pytest.mark.parametrize("number", range(some_of(5)))
def test_planning_twice_changes_nothing_and_breaks_nothing(number: int) -> None:
    for case, schedule in batch(number):
        assert with_halos(schedule, RULES) == schedule
        assert without_halos(schedule) == case.schedule
        assert check_schedule(schedule) == ()


@pytest.mark.parametrize("number", range(some_of(5)))
def test_no_value_is_exchanged_more_often_than_the_tables_of_psyclone_demand(number: int) -> None:
    fewer = 0
    for case, schedule in batch(number):
        ours = placed_exchanges(schedule)
        theirs = demanded_exchanges(case.schedule)
        for value, count in ours.items():
            allowed = theirs.get(value, 0)
            if count > allowed:
                # PSyclone takes it for granted that a kernel is asked for a level of halo.
                uses = uses_of(case.schedule, value[0].datum)
                assert any(is_asked(loop) for loop, _, _ in uses), (schedule.name, value)
        fewer += sum(theirs.values()) - sum(ours.values())
    assert fewer > 0


def test_the_adversary_finds_an_exchange_that_is_too_shallow() -> None:
    found = 0
    for case, schedule in batch(0):
        for exchange in exchanges(schedule):
            if exchange.depth.known in (None, 1) or not exchange.reasons:
                continue
            shallow = replace(exchange, depth=Depth.of(1))
            body = tuple(shallow if item is exchange else item for item in schedule.body)
            broken = replace(schedule, body=body)
            prepared = prepare(broken)
            found += any(
                check_halos(prepared, world) for world in halo_scenarios(broken, case.shared)
            )
    assert found > some_of(50)


def flags_after(schedule: Schedule) -> Callable[[HaloScenario], tuple[str, ...]]:
    """Return what gives the exchanges of a schedule in a world, with those it would ask for."""
    asking = cache(lambda levels: prepare(asking_later(schedule, levels)))
    return lambda world: execute(asking(world.levels), world).exchanged


def asking_later(schedule: Schedule, levels: int) -> Schedule:
    """Return a schedule with exchanges of all depths behind it: those happen that flags ask for."""
    halos = [item for item in schedule.body if isinstance(item, HaloExchange | MarkHalo)]
    keys = sorted({(item.datum, item.component or 0) for item in halos})
    asked = tuple(
        HaloExchange(f"later({datum}, {part}, {depth})", datum, part or None, Depth.of(depth), True)
        for datum, part in keys
        for depth in range(1, levels + 1)
    )
    return replace(schedule, body=(*schedule.body, *asked))


@pytest.mark.parametrize("number", range(some_of(3)))
def test_nobody_hears_of_marks_that_are_left_out_but_of_each_other_mark(number: int) -> None:
    left_out = heard = 0
    for case, schedule in batch(number, 150):
        fewer = eliminate_dead_halo_flags(schedule)
        assert eliminate_dead_halo_flags(fewer) == fewer
        left_out += len(schedule.body) - len(fewer.body)
        every = list(halo_scenarios(schedule, case.shared))
        flags_before, flags = flags_after(schedule), flags_after(fewer)
        prepared = prepare(fewer)
        for world in random.Random(number).sample(every, min(16, len(every))):
            assert check_halos(prepared, world) == ()
            assert flags(world) == flags_before(world)
        if has_known_depths(schedule):
            for mark in (item for item in fewer.body if isinstance(item, MarkHalo)):
                heard += 1
                missing = flags_after(without(fewer, mark.uid))
                assert any(missing(one) != flags(one) for one in every)
    assert left_out > some_of(10)
    assert heard > some_of(100)


def has_known_depths(schedule: Schedule) -> bool:
    """Return whether all depths that flags are told or asked for are numbers."""
    told = [item.clean for item in schedule.body if isinstance(item, MarkHalo)]
    asked = [item.depth for item in exchanges(schedule)]
    return all(depth.known is not None for depth in (*told, *asked))
