"""Tests that array operations on emulated devices have the same results in each execution order."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import DataRaceError
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.memory import queues
from psyclone_storage.storage.memory.queues import DeviceQueue, QueueEvent
from psyclone_storage.storage.memory.races import MemoryUse, WorkItem, traced
from psyclone_storage.storage.memory.registry import memory_of

ORDERS = ["late", "eager", "shuffled", "shuffled again"]


@pytest.fixture(autouse=True, params=ORDERS)
def order(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()


def assert_device_holds(array: Any, *values: float) -> None:
    assert array.get().tolist() == list(values)


def test_arrays_describe_themselves() -> None:
    array = gt.storage(np.ones((2, 3)), device="gpu").to_cupy()
    assert (array.ndim, array.size, array.shape, array.dtype) == (2, 6, (2, 3), np.float64)


def test_operands_of_the_host_are_as_they_were() -> None:
    array = gt.storage(np.ones(2), device="gpu").to_cupy()
    scalar, values, other = np.array(2.0), [2.0, 3.0], array.copy()
    array += scalar
    product = array * values
    difference = scalar - array
    nested = array * (scalar, values[1])
    other[...] = (product[0], product[1])
    array **= values
    scalar[...] = 100.0
    values[0] = 100.0
    assert_device_holds(array, 9.0, 27.0)
    assert_device_holds(product, 6.0, 9.0)
    assert_device_holds(difference, -1.0, -1.0)
    assert_device_holds(nested, 6.0, 9.0)
    assert_device_holds(other, 6.0, 9.0)


def test_errors_of_numbers_are_treated_as_the_asking_thread_wants() -> None:
    array, none = (gt.storage(np.full(2, v), device="gpu").to_cupy() for v in (1.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="ignore"):
            quotient = array / none
            array /= 0.0
        assert_device_holds(array, np.inf, np.inf)
        assert_device_holds(quotient, np.inf, np.inf)
        with np.errstate(all="raise"):
            refused = none / 0.0
        with pytest.raises(FloatingPointError):
            refused.get()


def test_powers_are_raised_in_place() -> None:
    field = gt.storage(np.full((2, 2), 3, "i4"), device="gpu")
    array = kept = field.to_cupy()
    array **= 2
    assert array is kept
    part = array[0]
    part **= array[1] - 8
    assert field.to_numpy().tolist() == [[9, 9], [9, 9]]
    with pytest.raises(TypeError):
        array **= 0.5
    assert field.to_numpy().tolist() == [[9, 9], [9, 9]]


@pytest.mark.parametrize("order", ["", *ORDERS], indirect=True)
def test_pages_without_values_are_refused_whoever_saw_the_failure_first() -> None:
    base = gt.storage(np.full(3, 2, "i4"), device="gpu").to_cupy()
    power = base ** gt.storage(np.full(3, -1, "i4"), device="gpu").to_cupy()
    for use in (power.get, lambda: power.pages, lambda: power.__cuda_array_interface__, power.get):
        with pytest.raises(ValueError, match="negative integer powers"):
            use()
        queues.finish_all()
    power[...] = 3
    assert power.pages.tolist() == [3, 3, 3]


# -- what the detector of races remembers ----------------------------------------------------------


def test_the_detector_looks_at_what_overlaps_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    before = WorkItem.before

    def counted(self: WorkItem, clock: Any) -> bool:
        nonlocal looks
        looks += 1
        return before(self, clock)

    field = gt.zeros((600,), device="gpu")
    array = field.to_cupy()
    monkeypatch.setattr(WorkItem, "before", counted)
    for number in range(600):
        array[number] = 1.0
    assert looks < 6 * 600
    assert field.to_numpy().tolist() == [1.0] * 600


@pytest.mark.parametrize("seed", range(3))
def test_the_detector_finds_what_a_look_at_all_pieces_finds(order: str, seed: int) -> None:
    rng = random.Random(f"{order} {seed}")
    memory = memory_of(memory_space("gpu"))
    allocation = memory.allocate(64)
    many = [DeviceQueue(f"queue {number}", set()) for number in range(3)]
    events: list[QueueEvent] = []
    found = {True: 0, False: 0}
    with traced() as trace:
        for _ in range(300):
            queue, step = rng.choice(many), rng.randrange(10)
            if step < 2 and events:
                queue.wait_event(rng.choice(events[-8:]))
            elif step == 2 and events:
                events[rng.randrange(len(events))].synchronize()
            else:
                start, stop = sorted(allocation.pointer + rng.randrange(65) for _ in range(2))
                use = MemoryUse(allocation, start, stop, rng.randrange(3) == 0)
                clock = queue._next_clock(queue.issued + 1)
                races = any(
                    max(old.start, start) < min(old.stop, stop)
                    and (old.wrote or use.wrote)
                    and not piece.before(clock)
                    for piece in trace.pieces
                    for old in piece.uses
                )
                found[races] += 1
                if races:
                    with pytest.raises(DataRaceError):
                        queue.put("kernel", (use,), lambda: None)
                else:
                    events.append(queue.put("kernel", (use,), lambda: None))
    assert min(found.values()) > 20


def test_arrays_are_equal_to_themselves_only_and_name_their_place() -> None:
    one, other = (gt.zeros((2, 3), device="gpu").to_cupy() for _ in range(2))
    assert (one == one) is True  # noqa: PLR0124
    assert (one == other) is False
    assert repr(one) == f"<EmulatedDeviceArray (2, 3) float64 at {memory_space('gpu').tag}>"


def test_keys_with_device_arrays_select_what_they_select_on_the_host() -> None:
    field = gt.zeros((3, 4), device="gpu")
    rows = gt.storage(np.array([2, 0]), device="gpu").to_cupy()
    field[rows, 1] = np.array([5.0, 7.0])
    expected = np.zeros((3, 4))
    expected[[2, 0], 1] = [5.0, 7.0]
    assert np.array_equal(field.to_numpy(), expected)
    with pytest.raises(ValueError, match=r"elements of shape \(2,\) at .* do not fit"):
        field[rows, 1] = np.zeros(3)


@pytest.mark.parametrize("dtype", ["f4", "i4", "f8"])
def test_device_values_of_another_type_are_converted(dtype: str) -> None:
    field = gt.zeros((4,), dtype=dtype, device="gpu")
    field[...] = gt.storage(np.arange(4.0) + 1.0, device="gpu").to_cupy()
    assert field.to_numpy().tolist() == [1, 2, 3, 4]
    assert field.dtype == np.dtype(dtype)
