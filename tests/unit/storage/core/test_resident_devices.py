"""Repeated accesses to data that are resident on a GPU record no event, and lose no wait.

The event of the default stream is recorded when some work has to wait for it. The race detector of
the stand-in for CuPy checks that each such wait remains.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from cupy_stand_in import streams
from cupy_stand_in.races import RaceError, Trace, watched
from psyclone_storage.storage.core.errors import AccessConflictError, GTNoSuchBufferError
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.memory import cuda
from psyclone_storage.storage.memory.registry import memory_of
from storage_devices import device_in_place
from storage_threads import race

SIZE = 64


@pytest.fixture(name="trace", autouse=True, params=[1, 2])
def watched_devices(request: pytest.FixtureRequest, _emulated: None) -> Iterator[Trace]:
    """Look for races in a test, with one device (always the current one) or two."""
    with device_in_place("stand-in", request.param), watched() as found:
        yield found


@pytest.fixture(name="events")
def counted_events(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list with one entry for each event that is recorded from now on."""
    found: list[int] = []
    record = streams.Event.record

    def counted(event: Any, stream: Any = None) -> None:
        found.append(1)
        record(event, stream)

    monkeypatch.setattr(streams.Event, "record", counted)
    return found


def cupy() -> Any:
    return sys.modules["cupy"]


def made(label: str, value: float = 1.0) -> Any:
    """Return a storage with values on the host and on the device, and memory for both."""
    field = gt.empty((SIZE,), device="gpu", label=label)
    with field.access(None, "w") as array:
        array[...] = value
    field.make_valid("gpu")
    return field


def add(field: Any, value: float = 1.0) -> None:
    with field.access("gpu", "rw") as array:
        array[...] += value


def values(trace: Trace, field: Any) -> list[float]:
    with field.access() as array:
        trace.host_uses(array.__array_interface__["data"][0], array.nbytes, wrote=False)
        return sorted(set(array.tolist()))


# -- no events -------------------------------------------------------------------------------------


def test_repeated_blocks_on_the_same_data_record_no_event(trace: Trace, events: list[int]) -> None:
    fields = {name: made(name) for name in "abc"}
    for _ in range(3):
        with gt.bound(fields, device="gpu", writes=("c",)) as arrays:
            arrays["c"][...] += arrays["a"]
    events.clear()
    for _ in range(20):
        with gt.bound(fields, device="gpu", writes=("c",)) as arrays:
            arrays["c"][...] += arrays["a"] * arrays["b"]
        add(fields["c"])
    assert not events
    assert values(trace, fields["c"]) == [44.0]


def test_blocks_on_different_data_record_one_event_each(events: list[int]) -> None:
    pairs = [{name: made(f"{name}{at}") for name in "ab"} for at in range(2)]
    for _ in range(3):
        for pair in pairs:
            with gt.bound(pair, device="gpu", writes=("b",)):
                pass
    events.clear()
    for _ in range(10):
        for pair in pairs:
            with gt.bound(pair, device="gpu", writes=("b",)) as arrays:
                arrays["b"][...] += arrays["a"]
    assert len(events) <= 20


@pytest.mark.skipif(not COMPILED, reason="the fallback has no fast path")
def test_resident_blocks_do_not_take_the_general_path(monkeypatch: pytest.MonkeyPatch) -> None:
    field = made("a")
    for _ in range(2):
        add(field)
        with gt.bound({"a": field}, device="gpu", writes=("a",)):
            pass

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the general path was taken")

    for name in ("follow", "note_use", "window"):
        monkeypatch.setattr(cuda.GpuAllocator, name, refuse)
    add(field)
    with gt.bound({"a": field}, device="gpu", writes=("a",)) as arrays:
        assert arrays["a"].shape == (SIZE,)


# -- all waits -------------------------------------------------------------------------------------


def test_a_copy_waits_for_the_last_of_repeated_blocks(trace: Trace) -> None:
    field = made("a")
    for number in range(5):
        add(field)
        if number % 2:
            assert values(trace, field) == [2.0 + number]
    assert values(trace, field) == [6.0]


def test_another_stream_waits_for_the_default_one(trace: Trace) -> None:
    field, stream = made("a"), cupy().cuda.Stream(non_blocking=True)
    for _ in range(3):
        add(field)
    with stream:
        add(field, 10.0)
    add(field, 100.0)
    with stream:
        add(field, 1000.0)
    assert values(trace, field) == [1114.0]


@pytest.mark.parametrize("how", ["used", "left"])
def test_a_stream_that_is_selected_within_a_block_is_waited_for(trace: Trace, how: str) -> None:
    field, stream = made("a"), cupy().cuda.Stream(non_blocking=True)
    for _ in range(3):
        add(field)
    if how == "left":
        stream.use()
    with field.access("gpu", "rw") as array:
        if how == "used":
            stream.use()
            event = cupy().cuda.Stream.null.record()
            stream.wait_event(event)
        else:
            event = stream.record()
            cupy().cuda.Stream.null.use()
            cupy().cuda.Stream.null.wait_event(event)
        array[...] += 10.0
    assert values(trace, field) == [14.0]
    cupy().cuda.Stream.null.use()
    add(field)
    assert values(trace, field) == [15.0]


def test_an_event_that_is_recorded_within_a_block_does_not_cover_the_block(trace: Trace) -> None:
    """A copy to the host starts while another access reads; a writer waits for both."""
    field = made("a")
    for _ in range(2):
        add(field)
    with field.access("gpu") as array:
        assert values(trace, field) == [3.0]
        total = array.sum()
    with field.access(None, "rw") as host:
        host[...] = 5.0
    field.make_valid("gpu")
    add(field)
    assert float(total) == 3.0 * SIZE
    assert values(trace, field) == [6.0]


def test_a_block_that_fails_poisons_and_ends(trace: Trace) -> None:
    field = made("a")
    for _ in range(2):
        add(field)
    with pytest.raises(ZeroDivisionError), field.access("gpu", "rw"):
        raise ZeroDivisionError
    with field.access("gpu", "w") as array:
        array[...] = 2.0
    add(field)
    assert values(trace, field) == [3.0]


def test_an_event_at_the_wrong_time_is_found(monkeypatch: pytest.MonkeyPatch, trace: Trace) -> None:
    """If the event were recorded at the begin of the block, the copy would overtake its kernel."""

    def early(event: Any, lane: Any, number: int) -> None:
        init(event, lane, number)
        event._event = lane.stream.record(cupy().cuda.Event(disable_timing=True))

    init = cuda._LateEvent.__init__
    monkeypatch.setattr(cuda._LateEvent, "__init__", early)
    field = made("a")

    def work() -> None:
        for _ in range(3):
            add(field)
            add(field)
            values(trace, field)

    with pytest.raises(RaceError):
        work()


# -- and no more -----------------------------------------------------------------------------------


def test_a_copy_does_not_wait_for_a_later_block_on_other_data(trace: Trace) -> None:
    one, other = made("one"), made("other")
    for _ in range(3):
        add(one)
        add(other)
    add(one)
    trace.pieces.clear()
    add(other)
    assert values(trace, one) == [5.0]
    assert trace.at_once("kernel", "copy")


# -- blocks ----------------------------------------------------------------------------------------


def test_an_access_cannot_be_entered_twice_at_a_time() -> None:
    block = made("a").access("gpu", "rw")
    with block as array:
        with pytest.raises(AccessConflictError), block:
            pass
        array[...] += 1.0
    with block as array:
        array[...] += 1.0


def test_the_arguments_of_access_are_checked() -> None:
    field = made("a")
    with pytest.raises(ValueError, match="is none of"):
        field.access("gpu", "rx")
    with pytest.raises(TypeError):
        field.access("gpu", mode=[])
    with pytest.raises(TypeError):
        field.access("gpu", "r", ..., 4)
    with pytest.raises(TypeError):
        field.access(side="gpu")
    with pytest.raises(ValueError, match="device"):
        field.access("tpu")
    with pytest.raises(GTNoSuchBufferError), gt.ones((4,)).access("gpu"):
        pass
    with field.access(device="gpu", mode="rw", region=slice(0, 2)) as array:
        assert array.shape == (2,)
        array[...] = 7.0
    with field[2:4].access("gpu", "rw") as array:
        array[...] = 8.0
    assert field.to_numpy()[:5].tolist() == [7.0, 7.0, 8.0, 8.0, 1.0]


@pytest.mark.parametrize("seed", range(12))
def test_random_blocks_are_in_order_and_right(trace: Trace, seed: int) -> None:
    chance = random.Random(seed)
    fields = {name: made(name, 0.0) for name in "abc"}
    expected = dict.fromkeys(fields, 0.0)
    stream = cupy().cuda.Stream(non_blocking=True)
    for _ in range(60):
        name = chance.choice("abc")
        other = chance.choice([found for found in "abc" if found != name])
        step = chance.randrange(7)
        if step == 0:
            assert values(trace, fields[name]) == [expected[name]]
        elif step == 1:
            with fields[name].access(None, "rw") as array:
                trace.host_uses(array.__array_interface__["data"][0], array.nbytes, wrote=True)
                array[...] += 1.0
            expected[name] += 1.0
        elif step == 2:
            fields[name].make_valid(chance.choice((None, "gpu")))
        elif step == 3:
            with stream:
                add(fields[name])
            expected[name] += 1.0
        elif step == 4:
            add(fields[name])
            expected[name] += 1.0
        elif step == 5:
            pair = {"x": fields[name], "y": fields[other]}
            with gt.bound(pair, device="gpu", writes=("x",)) as arrays:
                arrays["x"][...] += arrays["y"]
            expected[name] += expected[other]
        else:
            with fields[name].access("gpu") as array:
                total = array.sum()
            assert float(total) == expected[name] * SIZE
    for name, field in fields.items():
        assert values(trace, field) == [expected[name]]


def test_threads_share_the_default_stream() -> None:
    """Without the detector, for which all threads are one."""
    fields = {name: made(name, 0.0) for name in "ab"}

    def work() -> None:
        for number in range(30):
            with gt.bound(fields, device="gpu", writes=("a", "b")) as arrays:
                arrays["a"][...] += 1.0
                arrays["b"][...] += 2.0
            if number % 7 == 0:
                with fields["a"].access() as array:
                    assert len(set(array.tolist())) == 1

    assert race([work] * 4) == []
    assert set(np.asarray(fields["a"].to_numpy()).tolist()) == {120.0}
    assert set(np.asarray(fields["b"].to_numpy()).tolist()) == {240.0}
    assert memory_of(memory_space("gpu")).lane is not None
