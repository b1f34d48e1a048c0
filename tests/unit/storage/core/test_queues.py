"""Tests that operations on emulated devices execute in any order that events allow.

The detector uses the happens-before relation (`memory.races`): a missing wait is an error, whatever
the execution order. Each wait of the runtime is omitted here, to verify that the detector reports
it, and that values are wrong without the detector.
"""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.device import Emulation, current_emulation, use_device
from psyclone_storage.storage.core.errors import DataRaceError, PoisonedDataError, StorageError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.memory import device_driver, emulated, queues, races
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.host import HostMemory
from psyclone_storage.storage.memory.races import traced
from psyclone_storage.storage.memory.registry import memory_of

READ, RDWR, WRONLY = AccessMode.READ, AccessMode.READ_WRITE, AccessMode.WRITE_ONLY
SIZE = 64
ORDERS = ["late", "eager", "shuffled", "shuffled again"]
Scenario = Callable[[], None]


@pytest.fixture(autouse=True, params=["late"])
def order(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()


def made(label: str = "a", **options: Any) -> CoherentBuffer:
    return CoherentBuffer(SIZE, "f8", BufferOptions(label, **options))


def set_on_host(buffer: CoherentBuffer, value: float) -> None:
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = value


def add_on_device(buffer: CoherentBuffer, value: float, space: str = "gpu") -> None:
    with buffer.acquire(space, RDWR) as token:
        array = token.array
        array += value


def set_on_device(buffer: CoherentBuffer, value: float, space: str = "gpu") -> None:
    with buffer.acquire(space, WRONLY) as token:
        token.array[...] = value


def assert_host_sees(buffer: CoherentBuffer, value: float) -> None:
    with buffer.acquire("host") as token:
        assert set(token.array.tolist()) == {value}


def lines_of(error: Any) -> int:
    return str(error.value).count(f"{__file__}:")


# -- what the runtime waits for --------------------------------------------------------------------


def a_kernel_after_the_copy_that_feeds_it() -> None:
    buffer = made()
    set_on_host(buffer, 2.0)
    add_on_device(buffer, 1.0)
    assert_host_sees(buffer, 3.0)


def pages_after_the_copy_that_feeds_them() -> None:
    buffer = made()
    set_on_host(buffer, 2.0)
    with buffer.acquire("gpu", RDWR) as token:
        token.kernel_array[...] += 1.0
    assert_host_sees(buffer, 3.0)


def a_copy_after_the_kernel_that_wrote() -> None:
    buffer = made()
    set_on_device(buffer, 2.0)
    assert_host_sees(buffer, 2.0)


def a_copy_after_pages_that_were_written() -> None:
    buffer = made()
    with buffer.acquire("gpu", WRONLY) as token:
        token.kernel_array[...] = 2.0
    assert_host_sees(buffer, 2.0)


def the_host_after_a_copy_from_what_it_overwrites() -> None:
    buffer = made()
    set_on_host(buffer, 2.0)
    with buffer.acquire("gpu", READ) as token:
        total = token.array.sum()
    set_on_host(buffer, 3.0)
    assert total.item() == 2.0 * SIZE


def unguarded() -> None:
    """Do not fill invalid replicas, because filling them is work that others wait for."""
    use_device("emulated", Emulation(order=current_emulation().order, strict=False))


def a_copy_after_the_kernel_that_reads_what_it_overwrites() -> None:
    unguarded()
    buffer = made()
    set_on_host(buffer, 2.0)
    with buffer.acquire("gpu", READ) as token:
        total = token.array.sum()
    set_on_host(buffer, 3.0)
    buffer.make_valid("gpu")
    memory_of(memory_space("gpu"))._into.finish()  # type: ignore[attr-defined]
    assert total.item() == 2.0 * SIZE


def another_device_after_the_kernel_that_wrote() -> None:
    use_device("emulated", Emulation(order="late", peers=True))
    buffer = made()
    set_on_device(buffer, 2.0)
    add_on_device(buffer, 1.0, "gpu:1")
    assert_host_sees(buffer, 3.0)


def a_copy_after_a_kernel_that_nobody_noted() -> None:
    unguarded()
    field = gt.ones((SIZE,), device="gpu", label="a")
    total = field.to_cupy().sum()
    with field.access(None, "w") as values:
        values[...] = 3.0
    field.make_valid("gpu")
    memory_of(memory_space("gpu"))._into.finish()  # type: ignore[attr-defined]
    assert total.item() == SIZE


def the_host_after_a_copy_that_it_asked_for() -> None:
    device, host = memory_of(memory_space("gpu")), memory_of(memory_space("host"))
    source, target = device.allocate(64), host.allocate(64)
    device.memcpy_to(target, source, (0, 64))
    races.RACES.host_uses(target, writes=False)


def an_array_of_the_host_that_was_handed_out_is_written() -> None:
    field = gt.ones((SIZE,), device="gpu", label="a")
    array = field.to_numpy()
    field.make_valid("gpu")
    array[...] = 9.0
    with field.access("gpu", "r") as pages:
        assert set(np.asarray(pages).tolist()) == {1.0}


def the_host_after_an_access_that_was_dropped() -> None:
    unguarded()
    buffer = made()
    set_on_host(buffer, 1.0)
    token = buffer.acquire("gpu", READ)
    total = token.array.sum()
    token.drop()
    gc.collect()
    set_on_host(buffer, 3.0)
    buffer.make_valid("gpu")
    memory_of(memory_space("gpu"))._into.finish()  # type: ignore[attr-defined]
    assert total.item() == SIZE


def a_poisoned_replica_after_its_readers() -> None:
    buffer = made()
    set_on_host(buffer, 2.0)
    buffer.make_valid("gpu:1")
    use_device("emulated", Emulation(order="late", peers=True))
    buffer.make_valid("gpu")
    set_on_host(buffer, 3.0)
    add_on_device(buffer, 1.0)
    assert_host_sees(buffer, 4.0)


def the_first_values_that_a_device_sets() -> None:
    buffer = made(init=4.0)
    buffer.make_valid("gpu")
    assert_host_sees(buffer, 4.0)


SCENARIOS: list[Scenario] = [
    a_kernel_after_the_copy_that_feeds_it,
    pages_after_the_copy_that_feeds_them,
    a_copy_after_the_kernel_that_wrote,
    a_copy_after_pages_that_were_written,
    the_host_after_a_copy_from_what_it_overwrites,
    a_copy_after_the_kernel_that_reads_what_it_overwrites,
    another_device_after_the_kernel_that_wrote,
    a_copy_after_a_kernel_that_nobody_noted,
    the_host_after_a_copy_that_it_asked_for,
    an_array_of_the_host_that_was_handed_out_is_written,
    the_host_after_an_access_that_was_dropped,
    a_poisoned_replica_after_its_readers,
    the_first_values_that_a_device_sets,
]


def nothing(*_: object, **__: object) -> None:
    """Neither wait nor record a use."""


def readers_alone(queue: Any, allocation: Any, _: bool, span: Any) -> None:
    """Omit the wait of a write for earlier reads."""
    WAIT_IN(queue, allocation, writes=False, span=span)


def settled_by_readers(memory: Any, allocation: Any, *_: Any, **__: Any) -> None:
    """Let the host overwrite memory that earlier copies still read."""
    SETTLE(memory, allocation, writes=False)


WAIT_IN, SETTLE = device_driver.wait_in, HostMemory.settle
FINISH = queues.QueueEvent.synchronize

MUTANTS: list[tuple[Any, str, Any, Scenario]] = [
    (EmulatedDeviceMemory, "follow", nothing, a_kernel_after_the_copy_that_feeds_it),
    (EmulatedDeviceMemory, "follow", nothing, pages_after_the_copy_that_feeds_them),
    (device_driver, "wait_in", nothing, a_kernel_after_the_copy_that_feeds_it),
    (device_driver, "wait_in", nothing, a_copy_after_the_kernel_that_wrote),
    (device_driver, "wait_in", nothing, another_device_after_the_kernel_that_wrote),
    (
        device_driver,
        "wait_in",
        readers_alone,
        a_copy_after_the_kernel_that_reads_what_it_overwrites,
    ),
    (queues.DeviceQueue, "wait_event", nothing, a_copy_after_the_kernel_that_wrote),
    (device_driver, "note", nothing, a_copy_after_the_kernel_that_wrote),
    (device_driver, "note", nothing, the_host_after_a_copy_from_what_it_overwrites),
    (EmulatedDeviceMemory, "note_use", nothing, a_copy_after_the_kernel_that_wrote),
    (EmulatedDeviceMemory, "note_use", nothing, a_copy_after_pages_that_were_written),
    (EmulatedDeviceMemory, "note_use", nothing, the_first_values_that_a_device_sets),
    (CoherentBuffer, "_note_use", nothing, a_copy_after_pages_that_were_written),
    (CoherentBuffer, "_note_use", nothing, the_host_after_an_access_that_was_dropped),
    (HostMemory, "settle", settled_by_readers, the_host_after_a_copy_from_what_it_overwrites),
    (device_driver, "finish_copy", nothing, the_host_after_a_copy_that_it_asked_for),
    (device_driver, "wait_for_untracked", nothing, a_copy_after_a_kernel_that_nobody_noted),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda found: found.__name__)
@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_runtime_operations_do_not_raise_a_data_race(scenario: Scenario) -> None:
    scenario()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda left: f"{left[1]}-{left[3].__name__}")
def test_a_wait_that_is_left_out_is_found(
    monkeypatch: pytest.MonkeyPatch, mutant: tuple[Any, str, Any, Scenario]
) -> None:
    owner, name, instead, scenario = mutant
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(DataRaceError) as error:
        scenario()
    assert "is in no order with" in str(error.value)


@pytest.mark.parametrize("order", ["eager"], indirect=True)
@pytest.mark.parametrize("mutant", MUTANTS[:14], ids=lambda left: f"{left[1]}-{left[3].__name__}")
def test_it_is_found_where_all_is_done_in_time(
    monkeypatch: pytest.MonkeyPatch, mutant: tuple[Any, str, Any, Scenario]
) -> None:
    test_a_wait_that_is_left_out_is_found(monkeypatch, mutant)


VALUES = [MUTANTS[at] for at in (0, 1, 3, 4, 8, 14)]


@pytest.mark.parametrize("mutant", VALUES, ids=lambda left: f"{left[1]}-{left[3].__name__}")
def test_and_without_the_detector_values_are_wrong(
    monkeypatch: pytest.MonkeyPatch, mutant: tuple[Any, str, Any, Scenario]
) -> None:
    owner, name, instead, scenario = mutant
    monkeypatch.setattr(owner, name, instead)
    monkeypatch.setattr(races, "_check", nothing)
    with pytest.raises(AssertionError):
        scenario()


# -- and what it does not wait for -----------------------------------------------------------------


def test_a_copy_goes_on_beside_a_kernel_on_other_data() -> None:
    busy, following = made("A"), made("B")
    set_on_host(following, 4.0)
    with traced() as trace:
        set_on_device(busy, 1.0)
        following.make_valid("gpu")
    assert trace.beside("kernel", "copy")
    assert_host_sees(busy, 1.0)
    add_on_device(following, 1.0)
    assert_host_sees(following, 5.0)


def test_a_prefetch_goes_on_beside_kernels() -> None:
    busy, following = made("A"), made("B")
    set_on_host(following, 4.0)
    set_on_device(busy, 1.0)
    with traced() as trace:
        add_on_device(busy, 1.0)
        following.prefetch("gpu").result(60)
        add_on_device(busy, 1.0)
    assert len(trace.beside("copy", "kernel")) == 1
    assert_host_sees(busy, 3.0)


def test_a_strip_comes_to_the_host_beside_the_interior() -> None:
    field, strip = made("field"), CoherentBuffer(8, "f8", BufferOptions("strip"))
    set_on_device(field, 1.0)
    with traced() as trace:
        with field.acquire("gpu", READ) as whole, strip.acquire("gpu", WRONLY) as packed:
            packed.array[...] = whole.array[:8]
        with field.acquire("gpu", RDWR) as token:
            interior = token.array[8:]
            interior += 1.0
        with strip.acquire("host") as token:
            assert set(token.array.tolist()) == {1.0}
    assert [str(copy.uses[0]) for copy, _ in trace.beside("copy", "kernel")] == [
        'reads "strip" at node:0:device:0'
    ]
    with field.acquire("host") as token:
        assert token.array.tolist() == [1.0] * 8 + [2.0] * 56


def test_parts_are_waited_for_by_themselves() -> None:
    buffer = made("field", chunks=ChunkLayout((0, 8, SIZE)))
    set_on_device(buffer, 1.0)
    strip, interior = AccessRequest(region=(0, 8)), AccessRequest(region=(8, SIZE))
    with traced() as trace:
        with buffer.acquire("gpu", RDWR, request=interior) as token:
            part = token.array[8:]
            part += 1.0
        with buffer.acquire("host", READ, request=strip) as token:
            assert set(token.array[:8].tolist()) == {1.0}
    assert len(trace.beside("copy", "kernel")) == 1
    with buffer.acquire("host") as token:
        assert token.array.tolist() == [1.0] * 8 + [2.0] * 56


def test_a_trace_shows_each_piece_with_its_place() -> None:
    buffer = made("pressure")
    set_on_host(buffer, 1.0)
    with traced() as trace:
        add_on_device(buffer, 1.0)
    shown = str(trace)
    assert 'copy: reads "pressure" at node:0; writes "pressure" at node:0:device:0' in shown
    assert shown.count(f"{__file__}:") == len(trace.pieces) == 2


def test_a_race_names_both_uses_and_their_places() -> None:
    use_device("emulated", Emulation(order="late", peers=True))
    buffer = made("pressure")
    with buffer.acquire("gpu", WRONLY) as token:
        array = token.array
        array[...] = 1.0
    buffer.make_valid("gpu:1")
    with pytest.raises(DataRaceError) as error:
        array[...] = 3.0
    text = str(error.value)
    assert 'A kernel that writes "pressure" at node:0:device:0' in text
    assert 'a copy that reads "pressure" at node:0:device:0 and writes "pressure"' in text
    assert text.count(f"{__file__}:") == 2
    add_on_device(buffer, 1.0)
    assert_host_sees(buffer, 2.0)


# -- the short ways --------------------------------------------------------------------------------


def test_the_detector_looks_at_what_threads_share_under_its_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another thread may record a use of the same memory at any time."""
    owned: list[bool] = []

    def counted(_: races.Trail) -> int:
        owned.append(races.LOCK._is_owned())  # type: ignore[attr-defined]
        return 1

    monkeypatch.setattr(races.Trail, "__len__", counted)
    buffer = made()
    set_on_device(buffer, 2.0)
    assert_host_sees(buffer, 2.0)
    assert owned
    assert all(owned)


@pytest.mark.parametrize("order", [""], indirect=True)
def test_no_access_goes_a_short_way_past_what_is_queued() -> None:
    field = gt.zeros((SIZE,), device="gpu", label="a")
    buffer, memory = field.buffer, memory_of(memory_space("gpu"))

    def on_device() -> set[float]:
        with gt.bound({"a": field}, device="gpu", writes=["a"]) as arrays:
            return set(arrays["a"].tolist())

    for _ in range(3):
        assert on_device() == {0.0}
    assert not memory.jobs
    set_on_device(buffer, 5.0)
    assert on_device() == {5.0}
    assert field[3] == 5.0
    assert on_device() == {5.0}
    assert not memory.jobs
    token = buffer.acquire(memory_space("gpu"), RDWR)
    array = token.array
    array += 2.0
    token.release()
    assert memory.jobs
    assert field[3] == 7.0
    assert_host_sees(buffer, 7.0)


# -- attacks ---------------------------------------------------------------------------------------


def failing(array: Any, error: Exception) -> None:
    """Submit a kernel that writes an array, and fails."""

    def work() -> None:
        raise error

    array._memory.launch("kernel", (array.use(wrote=True),), work)


def test_a_kernel_that_fails_spoils_what_it_was_to_write_and_what_is_made_of_that() -> None:
    bad, made_of_it, other = made("bad"), made("made of it"), made("other")
    for buffer in (bad, made_of_it, other):
        set_on_device(buffer, 1.0)
    with bad.acquire("gpu", RDWR) as token:
        failing(token.array, ArithmeticError("of the kernel"))
    with bad.acquire("gpu", READ) as source, made_of_it.acquire("gpu", RDWR) as target:
        array = target.array
        array += source.array
    add_on_device(other, 1.0)
    assert_host_sees(other, 2.0)
    for buffer in (bad, made_of_it):
        with pytest.raises(PoisonedDataError) as error:
            buffer.acquire("host", READ)
        assert isinstance(error.value.__cause__, ArithmeticError)
        with pytest.raises(PoisonedDataError):
            buffer.acquire("gpu", READ)
        set_on_host(buffer, 5.0)
        add_on_device(buffer, 1.0)
        assert_host_sees(buffer, 6.0)


def test_a_copy_that_fails_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = made("a")
    set_on_host(buffer, 2.0)
    with monkeypatch.context() as patched:
        patched.setattr(emulated.np, "copyto", fail)
        buffer.make_valid("gpu")
        with buffer.acquire("gpu", READ) as token, pytest.raises(OSError, match="the bus"):
            _ = token.kernel_array
    assert_host_sees(buffer, 2.0)
    with pytest.raises(StorageError, match=r"The next access repeats.*the bus"):
        buffer.acquire("gpu", READ)
    add_on_device(buffer, 1.0)
    assert_host_sees(buffer, 3.0)


def fail(*_: object, **__: object) -> None:
    raise OSError("the bus")


def test_what_is_queued_outlives_the_memory_that_it_uses() -> None:
    buffer = made()
    set_on_host(buffer, 2.0)
    with buffer.acquire("gpu", READ) as token:
        total = token.array.sum()
    del buffer, token
    gc.collect()
    for _ in range(4):
        set_on_device(made(), 7.0)
    assert total.item() == 2.0 * SIZE


def test_nothing_and_read_only_arrays() -> None:
    empty = CoherentBuffer(0, "f8", BufferOptions("empty"))
    with empty.acquire("gpu", WRONLY) as token:
        token.array[...] = 1.0
        assert token.array.sum().item() == 0.0
    assert_sees_nothing(empty)
    values = np.arange(4.0)
    values.flags.writeable = False
    field = gt.as_storage(values, device="gpu")
    with field.access("gpu", "r") as pages:
        assert np.asarray(pages).tolist() == [0.0, 1.0, 2.0, 3.0]


def assert_sees_nothing(buffer: CoherentBuffer) -> None:
    with buffer.acquire("host") as token:
        assert token.array.size == 0


@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_arrays_compute_as_those_of_the_host_do(order: str) -> None:
    rng = random.Random(order)
    field = gt.zeros((6, 5), device="gpu")
    model = np.zeros((6, 5))
    for _ in range(40):
        rows = slice(*sorted((rng.randrange(6), rng.randrange(6))))
        value = float(rng.randrange(9))
        with field.access("gpu", gt.RDWR) as _unused:
            pass
        with field.buffer.acquire("gpu", RDWR) as token:
            array = token.window("f8", (6, 5))
            step = rng.randrange(5)
            if step == 0:
                array[rows] = value
                model[rows] = value
            elif step == 1:
                array[rows] = array[rows] * 2.0 - array[0]
                model[rows] = model[rows] * 2.0 - model[0]
            elif step == 2:
                part = array[1:, ::2]
                part += value
                model[1:, ::2] += value
            elif step == 3:
                array[...] = array.copy() + array.sum() * 0.5
                model[...] = model + model.sum() * 0.5
            else:
                token.kernel_view(array)[1:4] -= 3.0
                model[1:4] -= 3.0
            model %= 1e6
            token.kernel_view(array)[...] %= 1e6
        if rng.randrange(3) == 0:
            assert (field.to_numpy() == model).all()
    assert (field.to_numpy() == model).all()


@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_eight_threads_lose_nothing(order: str) -> None:
    buffers = [made(f"{order} {number}", init=0.0) for number in range(3)]
    counts = [0, 0, 0]
    lock, failures = threading.Lock(), list[BaseException]()

    def work(seed: int) -> None:
        rng = random.Random(seed)
        try:
            for _ in range(20):
                which = rng.randrange(3)
                space = rng.choice(("gpu", "gpu:1", "host"))
                with buffers[which].acquire(space, RDWR) as token:
                    array = token.kernel_array if rng.randrange(2) else token.array
                    array += 1.0
                with lock:
                    counts[which] += 1
                if rng.randrange(4) == 0:
                    buffers[rng.randrange(3)].prefetch(rng.choice(("gpu", "host")))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not failures
    for buffer, count in zip(buffers, counts, strict=True):
        assert_host_sees(buffer, count)
