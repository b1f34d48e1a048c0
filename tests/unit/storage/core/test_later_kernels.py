"""Tests that kernels of generated layers, of `parallel_for` and of tasks execute in their queue.

A kernel is complete when something waits for it. A missing wait is reported by the race detector,
and gives a wrong value without it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage import kokkos
from psyclone_storage.storage.accessors import GpuTask
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.device import Emulation, current_emulation, use_device
from psyclone_storage.storage.core.errors import (
    ConstBufferError,
    DataRaceError,
    PoisonedDataError,
    StorageError,
    ViewIndexError,
)
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.kokkos import KOKKOS_LAMBDA, Cuda, CudaSpace, HostSpace, RangePolicy
from psyclone_storage.storage.memory import device_driver, queues, races
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.races import traced
from psyclone_storage.storage.memory.registry import host_memory, memory_of
from storage_threads import race

ORDERS = ["late", "eager", "shuffled", ""]
SIZE = 1 << 14
Work = Callable[..., None]


@pytest.fixture(autouse=True, params=["late"])
def order(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()


def device() -> Any:
    return memory_of(memory_space("gpu"))


def is_waiting() -> bool:
    kernels = device().kernels
    return bool(kernels.done < kernels.issued)


def made(label: str, value: float = 1.0, shape: tuple[int, ...] = (SIZE,)) -> Any:
    field = gt.empty(shape, device="gpu", label=label)
    field[...] = value
    return field


def add(array: Any, value: float) -> None:
    array += value


def asked(work: Work, *fields: Any, writes: tuple[int, ...] = (0,), wait: bool = False) -> Any:
    """Bind fields and submit work with their arrays, as generated layers do."""
    named = {str(at): field for at, field in enumerate(fields)}
    block = LaunchBlock(named, "gpu", tuple(str(at) for at in writes))
    with block as arrays:
        found, uses = tuple(arrays.values()), tuple(chain(*block.uses()))
        if wait:
            return block.start_and_wait(lambda: work(*found), uses)
        block.start(lambda: work(*found), uses)
    return None


def assert_host_sees(field: Any, value: float) -> None:
    assert set(np.asarray(field.data_ro).ravel().tolist()) == {value}


def view(label: str, values: Any) -> Any:
    array = np.asarray(values)
    kind = "int*" if array.dtype.kind == "i" else "double*"
    found = kokkos.View[kind, CudaSpace](label, *array.shape)
    kokkos.deep_copy(found, array.astype(found.dtype))
    return found


def numbers(of: Any) -> list[float]:
    return np.asarray(kokkos.create_mirror_view_and_copy(HostSpace, of)).tolist()


# -- what is waited for ----------------------------------------------------------------------------


def a_kernel_after_the_copy_that_feeds_it() -> None:
    field = made("a")
    asked(lambda a: add(a, 1.0), field)
    assert_host_sees(field, 2.0)


def a_copy_after_the_kernel_that_wrote() -> None:
    field = made("a")
    asked(lambda a: add(a, 1.0), field)
    assert is_waiting() or device().kernels.done == device().kernels.issued
    assert_host_sees(field, 2.0)


def a_kernel_after_one_that_feeds_it() -> None:
    one, other = made("one"), made("other", 5.0)
    asked(lambda a: add(a, 1.0), one)
    asked(lambda b, a: np.copyto(b, a * 2.0), other, one)
    assert_host_sees(other, 4.0)


def a_kernel_while_a_prefetch_of_its_field_is_under_way() -> None:
    field = made("a", 3.0)
    field.buffer.prefetch("gpu")
    asked(lambda a: add(a, 1.0), field)
    assert_host_sees(field, 4.0)


def the_host_writes_what_a_kernel_reads() -> None:
    one, other = made("one"), made("other")
    asked(lambda b, a: add(b, a[0]), other, one)
    one[...] = 9.0
    asked(lambda a: add(a, 1.0), one)
    assert_host_sees(other, 2.0)
    assert_host_sees(one, 10.0)


def a_functor_between_copies() -> None:
    source, target = view("source", [1.0, 2.0, 3.0]), view("target", [0.0] * 3)

    @KOKKOS_LAMBDA
    def body(i: Any) -> None:
        target[i] += 2.0 * source(i)

    kokkos.parallel_for(RangePolicy[Cuda](0, 3), body)
    assert numbers(target) == [2.0, 4.0, 6.0]


def a_task_after_a_copy_to_another_device() -> None:
    use_device("emulated", Emulation(order=current_emulation().order, peers=True))
    field = made("a")
    asked(lambda a: add(a, 1.0), field)
    field.buffer.make_valid("gpu:1")
    GpuTask("add").register(field.buffer, mode="rw").run(lambda a: add(a, 1.0))
    assert_host_sees(field, 3.0)


SCENARIOS: list[Callable[[], None]] = [
    a_kernel_after_the_copy_that_feeds_it,
    a_copy_after_the_kernel_that_wrote,
    a_kernel_after_one_that_feeds_it,
    a_kernel_while_a_prefetch_of_its_field_is_under_way,
    the_host_writes_what_a_kernel_reads,
    a_functor_between_copies,
    a_task_after_a_copy_to_another_device,
]


def nothing(*_: object, **__: object) -> None:
    """Neither wait nor record a use."""


MUTANTS: list[tuple[Any, str, Callable[[], None]]] = [
    (EmulatedDeviceMemory, "follow", a_kernel_after_the_copy_that_feeds_it),
    (EmulatedDeviceMemory, "follow", a_task_after_a_copy_to_another_device),
    (EmulatedDeviceMemory, "note_use", a_copy_after_the_kernel_that_wrote),
    (CoherentBuffer, "_note_use", a_copy_after_the_kernel_that_wrote),
    (device_driver, "wait_in", a_copy_after_the_kernel_that_wrote),
    (device_driver, "wait_in", the_host_writes_what_a_kernel_reads),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda found: found.__name__)
@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_ordered_work_does_not_raise_a_data_race(scenario: Callable[[], None]) -> None:
    scenario()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda left: f"{left[1]}-{left[2].__name__}")
@pytest.mark.parametrize("order", ["late", "eager"], indirect=True)
def test_a_wait_that_is_left_out_is_found(
    monkeypatch: pytest.MonkeyPatch, mutant: tuple[Any, str, Callable[[], None]]
) -> None:
    owner, name, scenario = mutant
    monkeypatch.setattr(owner, name, nothing)
    with pytest.raises(DataRaceError, match="is in no order with"):
        scenario()


@pytest.mark.parametrize("mutant", [MUTANTS[at] for at in (0, 2, 3, 4)], ids=lambda left: left[1])
def test_and_without_the_detector_values_are_wrong(
    monkeypatch: pytest.MonkeyPatch, mutant: tuple[Any, str, Callable[[], None]]
) -> None:
    owner, name, scenario = mutant
    monkeypatch.setattr(owner, name, nothing)
    monkeypatch.setattr(races, "_check", nothing)
    with pytest.raises(AssertionError):
        scenario()


# -- and what is not -------------------------------------------------------------------------------


def test_a_copy_goes_on_beside_a_kernel_of_a_layer() -> None:
    busy, following = made("busy"), made("following", 4.0)
    asked(lambda a: add(a, 1.0), busy)
    with traced() as trace:
        asked(lambda a: add(a, 1.0), busy)
        following.make_valid("gpu")
    assert is_waiting()
    ((kernel, copy),) = trace.beside("kernel", "copy")
    assert [use.label for use in kernel.uses] == ["busy", "busy"]
    assert [use.wrote for use in kernel.uses] == [False, True]
    assert copy.uses[0].label == "following"
    assert __file__ in kernel.site
    asked(lambda b, a: add(b, a[0]), following, busy)
    assert_host_sees(following, 7.0)


def test_a_copy_goes_on_beside_a_functor() -> None:
    busy, following = view("busy", [1.0, 2.0]), made("following", 4.0)

    @KOKKOS_LAMBDA
    def body(i: Any) -> None:
        busy[i] = busy(i) + 1.0

    with traced() as trace:
        kokkos.parallel_for(RangePolicy[Cuda](0, 2), body)
        following.make_valid("gpu")
    assert trace.beside("kernel", "copy")
    assert numbers(busy) == [2.0, 3.0]


def test_a_result_is_there_at_once_and_after_all_before() -> None:
    field = made("a")
    asked(lambda a: add(a, 1.0), field)
    assert asked(lambda a: float(a.sum()), field, writes=(), wait=True) == 2.0 * SIZE
    data = view("v", [1.0, 2.0, 4.0])

    @KOKKOS_LAMBDA
    def double(i: Any) -> None:
        data[i] = 2 * data(i)

    @KOKKOS_LAMBDA
    def body(i: Any, total: Any, most: Any) -> None:
        total += data(i)
        total += 1
        most.join(data(i) * i)

    result = kokkos.View["double"]("r")
    kokkos.parallel_for(RangePolicy[Cuda](0, 3), double)
    reducers = (kokkos.Sum, kokkos.Max(result))
    assert kokkos.parallel_reduce(RangePolicy[Cuda](0, 3), body, *reducers) == (17.0, 16.0)
    assert result() == 16.0


# -- attacks ---------------------------------------------------------------------------------------


def failing(*_: Any) -> None:
    raise ArithmeticError("of the kernel")


def test_a_kernel_that_fails_spoils_what_it_was_to_write_and_nothing_else() -> None:
    bad, read, other = made("bad"), made("read"), made("other")
    asked(failing, bad, read)
    asked(lambda b, a: add(b, a[0]), other, bad)
    assert_host_sees(read, 1.0)
    for field in (bad, other):
        with pytest.raises(PoisonedDataError) as error:
            _ = field.data_ro
        assert isinstance(error.value.__cause__, ArithmeticError)
        field[...] = 5.0
        asked(lambda a: add(a, 1.0), field)
        assert_host_sees(field, 6.0)
    with pytest.raises(ArithmeticError, match="of the kernel"):
        asked(failing, read, writes=(), wait=True)
    assert_host_sees(read, 1.0)


@pytest.mark.parametrize("order", ["late", "eager"], indirect=True)
def test_an_interrupt_amid_a_kernel_is_of_who_waits(order: str) -> None:
    field = made("a")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - either may be the one that waits
        asked(interrupted, field)
        assert order == "late"
        _ = field.data_ro
    with pytest.raises(PoisonedDataError) as error:
        _ = field.data_ro
    cause = error.value.__cause__
    if order == "late":
        assert isinstance(cause, StorageError), "who reads the values was not interrupted"
        cause = cause.__cause__
    assert isinstance(cause, KeyboardInterrupt)
    field[...] = 2.0
    assert_host_sees(field, 2.0)


def test_a_kernel_that_only_writes_is_done_after_one_that_failed_and_mends_nothing() -> None:
    field = made("a")
    with field.buffer.acquire("gpu", gt.WRONLY) as token:
        window = field.window(token.space)
        uses, pages = token.uses_of(window), token.later_view(window)
        token.memory.start(failing, uses)
        token.memory.start(lambda: pages.__setitem__(0, 2.0), uses)
    device().kernels.finish()
    assert pages[0] == 2.0
    with pytest.raises(PoisonedDataError):
        _ = field.data_ro


def test_memory_without_a_queue_does_work_at_once_where_it_is_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, seen = host_memory(), []

    @contextmanager
    def bound(_: Any) -> Iterator[None]:
        seen.append("bound")
        yield
        seen.append("left")

    monkeypatch.setattr(type(memory), "bound", bound)
    window = np.zeros(3)
    assert memory.later_view(window) is memory.kernel_view(window) is window
    assert memory.uses_of(window, reads=True, writes=True) == ()
    memory.start(lambda: seen.append("done"), ())
    assert memory.start_and_wait(lambda: seen.append("done") or 4.0, ()) == 4.0
    assert seen == ["bound", "done", "left"] * 2


def test_nothing_and_one_field_twice() -> None:
    empty, field = made("empty", shape=(0,)), made("a")
    asked(lambda a: add(a, 1.0), empty)
    assert empty.to_numpy().size == 0
    seen: list[float] = []
    asked(lambda a, b: seen.append(a[0] + b[1]), field, field, writes=())
    device().kernels.finish()
    assert seen == [2.0]
    asked(lambda a, b: add(a, b[0]), field, field)
    asked(lambda a: add(a, 1.0), field)
    assert_host_sees(field, 3.0)


def test_work_on_two_devices_is_refused() -> None:
    one = made("one")
    monkey = gt.empty((SIZE,), device="gpu", label="other")
    monkey[...] = 1.0
    block = LaunchBlock({"0": one, "1": monkey}, "gpu", ())
    with block:
        tokens = list(block._tokens)
        block._tokens = (tokens[0], monkey.buffer.acquire("gpu:1"))
        with pytest.raises(ValueError, match=r"one device.*device:1"):
            block.uses()
        block._tokens[1].release()
        block._tokens = tokens


def test_threads_ask_beside_each_other() -> None:
    fields = [made(f"field {number}", 0.0) for number in range(3)]

    def work(first: int) -> None:
        for step in range(12):
            asked(lambda a: add(a, 1.0), fields[(first + step) % 3])

    assert not race([partial(work, number) for number in range(4)])
    for field in fields:
        assert_host_sees(field, 16.0)


def test_a_child_finds_what_was_asked_for_done() -> None:
    field = made("a")
    asked(lambda a: add(a, 1.0), field)
    child = os.fork()
    if not child:
        os._exit(0 if set(field.data_ro.tolist()) == {2.0} and not is_waiting() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert_host_sees(field, 2.0)


ENDING = """
import sys
import numpy as np
import psyclone_storage.storage as gt
from psyclone_storage.storage.gdp.binding import LaunchBlock
gt.use_device("emulated", gt.Emulation(order="late"))
kept = np.memmap(sys.argv[1], "f8", "w+", shape=(64,))
field = gt.as_storage(kept, device="gpu")
block = LaunchBlock({"a": field}, "gpu", ("a",))
with block as arrays:
    a = arrays["a"]
    def work():
        a[...] = 7.0
    block.start(work, *block.uses())
"""


def test_a_program_ends_with_work_that_was_asked_for(tmp_path: Any) -> None:
    """Borrowed memory has the values of submitted work when the program ends."""
    words = [sys.executable, "-c", ENDING, str(tmp_path / "kept")]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert set(np.fromfile(tmp_path / "kept").tolist()) == {7.0}


# -- functors --------------------------------------------------------------------------------------


def test_signs_of_zero_and_equal_steps_are_kept_apart() -> None:
    source, target = view("source", [1.0]), view("target", [5.0, 5.0])

    @KOKKOS_LAMBDA
    def body(i: Any) -> None:
        x = source(i)
        target[0] = np.copysign(1.0, x * -0.0)
        target[1] = np.copysign(1.0, x * 0.0)

    kokkos.parallel_for(RangePolicy[Cuda](0, 1), body)
    assert numbers(target) == [-1.0, 1.0]


def test_a_read_after_a_write_sees_it() -> None:
    a, b = view("a", [1.0, 2.0]), view("b", [0.0, 0.0])

    @KOKKOS_LAMBDA
    def body(i: Any) -> None:
        before = a(i)
        a[i] = before * 10
        b[i] = a(i) + before

    kokkos.parallel_for(RangePolicy[Cuda](0, 2), body)
    assert (numbers(a), numbers(b)) == ([10.0, 20.0], [11.0, 22.0])


def test_a_place_that_is_read_from_a_view_is_checked() -> None:
    where, target = view("where", [2, 0, 1]), view("target", [0.0] * 3)

    @KOKKOS_LAMBDA
    def body(i: Any) -> None:
        target[where(i)] = i + 0.5

    kokkos.parallel_for(RangePolicy[Cuda](0, 3), body)
    assert numbers(target) == [1.5, 2.5, 0.5]
    kokkos.deep_copy(where, np.array([0, 1, 3], where.dtype))
    with pytest.raises(ViewIndexError, match="has no element"):
        kokkos.parallel_for(RangePolicy[Cuda](0, 3), body)
    assert numbers(where) == [0, 1, 3]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lambda a, _, i: a.__setitem__(i, 1.0 if a(i) > 1 else -1.0), [-1.0, 1.0]),
        (lambda a, n, i: n.__setitem__(i, a(i) * 1.5), [1, 3]),
        (lambda a, _, i: a.__setitem__(0, a(i)), [2.0, 2.0]),
    ],
    ids=["condition", "cast", "one place"],
)
def test_what_cannot_be_written_down_is_done_at_once(body: Any, expected: Any) -> None:
    a, n = view("a", [1.0, 2.0]), view("n", [0, 0])
    kokkos.parallel_for(RangePolicy[Cuda](0, 2), KOKKOS_LAMBDA(lambda i: body(a, n, i)))
    assert expected in (numbers(a), numbers(n))


def test_a_functor_that_writes_what_is_const_is_refused_at_once() -> None:
    a = view("a", [1.0, 2.0])
    a.buffer.freeze()
    with pytest.raises(ConstBufferError):
        kokkos.parallel_for(RangePolicy[Cuda](0, 2), KOKKOS_LAMBDA(lambda i: a.__setitem__(i, 3.0)))
    assert numbers(a) == [1.0, 2.0]


@pytest.mark.parametrize("body", ["fails", "fine"])
def test_a_reduction_that_fails_says_so(body: str) -> None:
    a = view("a", [1.0, 0.0])

    @KOKKOS_LAMBDA
    def divided(i: Any, update: Any) -> None:
        update += 1.0 / a(i)

    with np.errstate(divide="raise" if body == "fails" else "ignore"):
        if body == "fails":
            with pytest.raises(FloatingPointError):
                kokkos.parallel_reduce(RangePolicy[Cuda](0, 2), divided)
        else:
            assert kokkos.parallel_reduce(RangePolicy[Cuda](0, 2), divided) == np.inf
    assert numbers(a) == [1.0, 0.0]
