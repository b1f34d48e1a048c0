"""Tests of the fast path for blocks whose work is in one queue.

Uses that later work could overtake are waited for; otherwise the race detector reports an error, or
values are wrong.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from cupy_stand_in.races import watched
from psyclone_storage.storage.core.device import (
    DEFAULT_DEVICE_VARIABLE,
    Emulation,
    use_device,
)
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    ConstBufferError,
    PoisonedDataError,
)
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.gdp import binding
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.memory import queues
from psyclone_storage.storage.memory.fp_errors import NativeCall, as_asked
from psyclone_storage.storage.memory.pending_work import LastUse
from psyclone_storage.storage.memory.registry import memory_of
from storage_devices import device_in_place
from storage_threads import race

ORDERS = ["", "late", "eager", "shuffled", "shuffled again"]


@pytest.fixture(autouse=True, params=["late"])
def order(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()


def made(label: str, value: float = 1.0) -> Any:
    field = gt.empty((64,), device="gpu", label=label)
    field[...] = value
    return field


class Kept:
    """A block that a generated layer uses for several calls."""

    def __init__(self, *fields: Any, writes: tuple[int, ...] = (0,)) -> None:
        named = {str(at): field for at, field in enumerate(fields)}
        self.block = LaunchBlock(named, "gpu", tuple(str(at) for at in writes))

    def ask(self, work: Callable[..., Any]) -> None:
        """Submit work that uses all arrays of the block."""
        with self.block as arrays:
            uses = tuple(chain(*self.block.uses()))
            self.block.start(partial(work, *arrays.values()), uses)


def add(target: Any, *sources: Any) -> None:
    target += sum(sources, 1.0)


def nothing(*_: Any) -> None:
    """Do no work."""


def divide(*_: Any) -> None:
    raise ZeroDivisionError


def at_device(field: Any) -> Any:
    return field.buffer.replicas.at(memory_space("gpu")).allocation


def device() -> Any:
    return memory_of(memory_space("gpu"))


def seen(field: Any) -> set[float]:
    return set(np.asarray(field.data_ro).ravel().tolist())


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets one element for each block that uses the general path."""
    if not COMPILED:
        pytest.skip("only the compiled core has a fast path")
    found: list[int] = []
    enter = binding.Binding._enter

    def counted(block: Any) -> Any:
        found.append(1)
        return enter(block)

    monkeypatch.setattr(binding.Binding, "_enter", counted)
    return found


# -- the short way ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_a_block_whose_data_stay_takes_the_long_way_once(long_ways: list[int]) -> None:
    target, source = made("target"), made("source", 2.0)
    kept = Kept(target, source)
    for _ in range(5):
        kept.ask(add)
    assert len(long_ways) == 1
    assert seen(target) == {16.0}
    assert target.buffer.table.holders == source.buffer.table.holders == []


@pytest.mark.skipif(not COMPILED, reason="only the compiled core has a fast path")
def test_one_event_stands_for_all_that_a_block_has_used() -> None:
    fields = [made(label) for label in "abc"]
    kept = Kept(*fields, writes=(0, 1))
    for _ in range(3):
        kept.ask(nothing)
    before = [field.buffer.version for field in fields]
    kept.ask(nothing)
    written, also, read = (at_device(field).pending for field in fields)
    assert all(field.buffer.table.attention for field in fields)
    assert [use.wrote for use in written] == [True]
    assert written is also
    assert not read[-1].wrote
    assert read[-1].event is written[0].event
    assert read[-1].event.position == device().kernels.issued
    after = [field.buffer.version for field in fields]
    assert after == [before[0] + 1, before[1] + 1, before[2]]


def test_notes_do_not_grow(long_ways: list[int]) -> None:
    target, source = made("target"), made("source")
    kept, other = Kept(target, source), Kept(source, writes=())
    for _ in range(20):
        kept.ask(nothing)
        other.ask(nothing)
    assert len(long_ways) == 2
    assert len(at_device(source).pending) <= 2


def test_where_the_host_knows_all_to_be_done_no_note_is_left() -> None:
    target = made("target")
    kept = Kept(target)
    for _ in range(3):
        with kept.block as arrays:
            uses = tuple(chain(*kept.block.uses()))
            assert kept.block.start_and_wait(lambda found=arrays["0"]: float(found[0]), uses) == 1.0
    assert all(use.event.known for use in at_device(target).pending)


def test_compiled_code_is_not_told_of_numpy() -> None:
    call = NativeCall(nothing, 1)
    assert as_asked(call) is call
    target = made("target")
    kept = Kept(target)
    with np.errstate(divide="raise"), kept.block as arrays:
        uses = tuple(chain(*kept.block.uses()))
        kept.block.start(NativeCall(np.divide, arrays["0"], 0.0, arrays["0"]), uses)
    with np.errstate(all="ignore"):
        assert seen(target) == {float("inf")}


# -- what is not overtaken -------------------------------------------------------------------------

OWN_READ, OWN_WRITE = ("own", False), ("own", True)
READ, WRITE, FOLLOWED = ("other", False), ("other", True), ("follows", False)


@pytest.mark.parametrize(
    ("notes", "reading", "writing"),
    [
        ((), 0, 0),
        ((OWN_READ,), 0, 0),
        ((OWN_WRITE, OWN_READ), 0, 0),
        ((READ,), 0, 1),
        ((WRITE,), 1, 1),
        ((WRITE, OWN_READ), 1, 1),
        ((WRITE, FOLLOWED), 0, 0),
        ((WRITE, FOLLOWED, OWN_READ), 0, 0),
        ((FOLLOWED, WRITE), 1, 1),
        ((READ, FOLLOWED), 0, 1),
        ((WRITE, FOLLOWED, READ), 0, 1),
    ],
)
def test_work_in_other_queues_is_waited_for(
    long_ways: list[int], notes: tuple[tuple[str, bool], ...], reading: int, writing: int
) -> None:
    # A queue has completed before another one follows: only the recorded use shows it.
    field = made("field")
    blocks = Kept(field, writes=()), Kept(field)
    for kept in blocks:
        kept.ask(nothing)
    other = queues.DeviceQueue("other", set())
    for kept, expected in zip(blocks, (reading, writing), strict=True):
        uses = tuple(
            LastUse(
                other.number if where == "other" else device().kernels.number,
                other.put("copy", (), nothing) if where == "other" else device().kernels.record(),
                wrote,
                None,
                where == "follows",
            )
            for where, wrote in notes
        )
        held = at_device(field)
        assert held.swap_pending(held.pending, uses)
        long_ways.clear()
        kept.ask(nothing)
        assert len(long_ways) == expected


def test_notes_are_changed_where_they_are_what_they_were() -> None:
    held, event = at_device(made("field")), device().kernels.record()
    before, one = held.pending, (LastUse(1, event, True),)
    assert held.swap_pending(before, one)
    assert not held.swap_pending((LastUse(1, event, True),), before)
    assert held.pending is one


def test_a_copy_that_brings_values_is_waited_for_once(long_ways: list[int]) -> None:
    target, source = made("target"), made("source")
    kept = Kept(target, source)
    for value in (2.0, 3.0):
        source[...] = value
        kept.ask(add)
        kept.ask(add)
        kept.ask(add)
    assert len(long_ways) == 2
    assert seen(target) == {1.0 + 3 * 3.0 + 3 * 4.0}


def test_values_that_the_host_has_written_come() -> None:
    target = made("target")
    kept = Kept(target)
    for _ in range(3):
        kept.ask(add)
    target[...] = 10.0
    kept.ask(add)
    assert seen(target) == {11.0}
    kept.ask(add)
    assert seen(target) == {12.0}


def test_what_came_for_nothing_is_waited_for_by_the_next_block() -> None:
    target, source = made("target"), made("source")
    kept = Kept(target, source)
    kept.ask(add)
    source[...] = 4.0
    with kept.block:
        pass
    kept.ask(add)
    assert seen(target) == {3.0 + 5.0}


def test_unified_memory_takes_the_long_way(long_ways: list[int]) -> None:
    target, unified = made("target"), gt.full((64,), 3.0, device="gpu", managed="cuda")
    kept = Kept(target, unified)
    for _ in range(3):
        kept.ask(add)
    assert len(long_ways) == 3
    assert seen(target) == {13.0}


def test_on_a_gpu_the_default_stream_is_such_a_queue(long_ways: list[int]) -> None:
    with device_in_place("stand-in"), watched():
        target, source = made("target"), made("source")
        kept = Kept(target, source)
        for _ in range(4):
            kept.ask(add)
        assert len(long_ways) == 1
        with sys.modules["cupy"].cuda.Stream(non_blocking=True):
            kept.ask(add)
        for _ in range(3):
            kept.ask(add)
        assert len(long_ways) == 3
        source[...] = 3.0
        for _ in range(3):
            kept.ask(add)
        assert len(long_ways) == 4
        assert seen(target) == {1.0 + 8 * 2.0 + 3 * 4.0}


def test_a_block_that_goes_to_another_stream_is_noted_there() -> None:
    with device_in_place("stand-in"), watched():
        target = made("target")
        kept = Kept(target)
        for _ in range(2):
            kept.ask(add)
        arrays, uses = kept.block.__enter__(), tuple(chain(*kept.block.uses()))
        with sys.modules["cupy"].cuda.Stream(non_blocking=True) as other:
            kept.block.start(partial(add, *arrays.values()), uses)
            kept.block.__exit__(None, None, None)
        assert at_device(target).pending[-1].stream[1] == other.ptr
        assert seen(target) == {4.0}


def test_each_device_has_its_own_queue(
    long_ways: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made("one")
    monkeypatch.setenv(DEFAULT_DEVICE_VARIABLE, "1")
    other = made("other")
    both = [Kept(one), Kept(other)]
    for _ in range(4):
        for kept in both:
            kept.ask(add)
    assert len(long_ways) == 2
    assert other.buffer.point_of_truth() == (memory_space("gpu:1"),)
    assert (seen(one), seen(other)) == ({5.0}, {5.0})
    with pytest.raises(ValueError, match="works on one device"):
        Kept(one, other).ask(add)


# -- who is refused, and what fails ----------------------------------------------------------------


def test_an_access_of_others_is_respected() -> None:
    target = made("target")
    kept = Kept(target)
    kept.ask(add)
    kept.ask(add)
    with target.buffer.acquire("gpu", AccessMode.READ, Policy.RAISE):
        pass
    token = target.buffer.acquire("host", AccessMode.READ)
    with pytest.raises(AccessConflictError):
        kept.ask(add)
    token.release()
    kept.ask(add)
    assert seen(target) == {4.0}


def test_data_that_become_const_are_not_written() -> None:
    target = made("target")
    kept, reads = Kept(target), Kept(target, writes=())
    for _ in range(2):
        kept.ask(add)
        reads.ask(nothing)
    target.buffer.freeze()
    with pytest.raises(ConstBufferError):
        kept.ask(add)
    reads.ask(nothing)
    assert seen(target) == {3.0}


def test_wishes_are_met_at_the_end() -> None:
    target = made("target")
    kept = Kept(target)
    for _ in range(2):
        kept.ask(add)
    target.buffer.set_hints(Hints(access_via=memory_space("host")))
    kept.ask(add)
    target.buffer.wait()
    assert target.buffer.is_valid("host")
    assert seen(target) == {4.0}


@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_work_that_fails_spoils_what_comes_after_it() -> None:
    target, other, source = made("target"), made("other"), made("source")
    kept, after = Kept(target, source), Kept(other, target)
    for _ in range(2):
        kept.ask(add)
        after.ask(add)
    kept.ask(divide)
    with pytest.raises((PoisonedDataError, ZeroDivisionError)):  # noqa: PT012 - whoever is told
        for _ in range(3):
            after.ask(add)
        seen(other)
    with pytest.raises((PoisonedDataError, ZeroDivisionError)):
        seen(target)
    assert seen(source) == {1.0}
    for field in (target, other):
        field[...] = 5.0
    kept.ask(add)
    after.ask(add)
    assert (seen(target), seen(other)) == ({7.0}, {13.0})


@pytest.mark.parametrize(
    "use",
    [
        lambda field: field.buffer.make_valid("gpu"),
        lambda field: field.buffer.acquire("gpu"),
        lambda field: field.data_ro,
        lambda field: Kept(field, writes=()).ask(nothing),
    ],
)
def test_a_failure_before_the_end_of_its_block_is_reported(use: Callable[[Any], Any]) -> None:
    # Unified memory makes the host wait for the work, so that nothing is pending at the end.
    target, unified = made("target"), gt.full((64,), 3.0, device="gpu", managed="cuda")
    Kept(target, unified).ask(nothing)
    Kept(target, unified).ask(divide)
    with pytest.raises(ZeroDivisionError):
        device().finish()
    assert at_device(target).failures
    with pytest.raises(PoisonedDataError):
        use(target)


def test_a_block_that_asks_no_device_starts_nothing() -> None:
    done: list[int] = []
    block = LaunchBlock({"a": made("other")}, "gpu", ())
    with pytest.raises(TypeError, match="no device"):
        block.start(lambda: done.append(1), ())
    with block:
        block.start(lambda: done.append(2), ())
    queues.finish_all()
    assert done == [2]


def test_a_block_that_fails_has_written_no_good() -> None:
    target, source = made("target"), made("source")
    kept = Kept(target, source)
    for _ in range(2):
        kept.ask(add)
    with pytest.raises(KeyError), kept.block:
        raise KeyError
    assert target.buffer.table.holders == source.buffer.table.holders == []
    with pytest.raises(PoisonedDataError):
        kept.ask(add)
    assert seen(source) == {1.0}
    target[...] = 0.0
    kept.ask(add)
    assert seen(target) == {2.0}


def test_a_block_is_for_one_at_a_time() -> None:
    kept = Kept(made("target"))
    for _ in range(2):
        kept.ask(add)
    with kept.block, pytest.raises(AccessConflictError, match="until the block ends"):
        kept.ask(add)
    kept.ask(add)


# -- many of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_threads_with_blocks_of_their_own() -> None:
    target, source, own = made("target"), made("source"), [made(f"own {at}") for at in range(4)]

    def work(at: int) -> None:
        both, reads = Kept(target, source), Kept(own[at], source, target)
        for turn in range(30):
            both.ask(add)
            reads.ask(lambda mine, one, _: add(mine, one))
            if turn % 10 == at:
                assert seen(source) == {1.0}

    assert race([partial(work, at) for at in range(4)]) == []
    assert seen(target) == {1.0 + 4 * 30 * 2.0}
    assert [seen(field) for field in own] == [{61.0}] * 4


@pytest.mark.parametrize("order", ORDERS, indirect=True)
@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_done_is_in_order_and_right(seed: int) -> None:
    rng = random.Random(seed)
    fields, values = [made(label) for label in "abcd"], [1.0] * 4
    kept: dict[tuple[int, ...], Kept] = {}
    for _ in range(80):
        which = rng.randrange(4)
        match rng.randrange(12):
            case 0:
                assert seen(fields[which]) == {values[which]}
            case 1:
                values[which] = float(rng.randrange(10))
                fields[which][...] = values[which]
            case 2:
                fields[which].buffer.prefetch(rng.choice(["host", "gpu"]))
            case 3:
                with gt.bound({"x": fields[which]}, device="gpu", writes=("x",)) as arrays:
                    add(arrays["x"])
                values[which] += 1.0
            case 4:
                with gt.bound({"x": fields[which]}, device="gpu") as arrays:
                    assert set(arrays["x"].tolist()) == {values[which]}
            case _:
                chosen = tuple(rng.sample(range(4), rng.randrange(1, 4)))
                if chosen not in kept:
                    kept[chosen] = Kept(*(fields[at] for at in chosen))
                kept[chosen].ask(add)
                target, *sources = chosen
                values[target] += sum((values[at] for at in sources), 1.0)
                if values[target] > 1e12:
                    values[target] = 0.0
                    fields[target][...] = 0.0
    assert [seen(field) for field in fields] == [{value} for value in values]
