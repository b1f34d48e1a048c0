"""Kernels that pack messages, unpack them and copy: what NumPy's assignments do, in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nvrtc import check_cuda
from psyclone_storage import storage as gt
from psyclone_storage.runtime import device as device_module
from psyclone_storage.runtime import packing
from psyclone_storage.runtime.device import ORDER_VARIABLE
from psyclone_storage.runtime.gocean import Field, Grid, exchange
from psyclone_storage.runtime.native import address_of
from psyclone_storage.runtime.packing import COPY, PACK, UNPACK, StripKernels, Strips, kernels_text
from psyclone_storage.runtime.ranks import SingleRank
from psyclone_storage.storage.gdp.binding import LaunchBlock
from storage_devices import device_in_place

TYPES = ("?", "i2", "f4", "f8", "c16")


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    with device_in_place("emulated"):
        yield


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the threads of each launch."""
    found: list[int] = []
    start = LaunchBlock.start

    def noted(block: LaunchBlock, work: Any, *uses: Any) -> None:
        found.append(work.args[2][1])
        start(block, work, *uses)

    monkeypatch.setattr(LaunchBlock, "start", noted)
    return found


def random_values(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    values = random.integers(0, 2 if dtype == "?" else 1000, shape)
    return values.astype(dtype) if dtype != "c16" else values + 1j * random.random(shape)


def random_indices(chance: Random, shape: tuple[int, ...], count: int) -> Any:
    """Return the indices of some points of an array, none of them twice."""
    every = np.array(np.unravel_index(np.arange(np.prod(shape)), shape))
    return every[:, chance.sample(range(every.shape[1]), count)]


def fields_of(count: int, dtype: str, seed: int) -> list[gt.Storage]:
    """Return fields of several layouts, some of them windows, that a device alone has."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(count):
        values = random_values(random, (7, 5), dtype)
        wide = gt.storage(values, layout=((1, 0), (0, 1))[number % 2], device="gpu")
        one = wide[1:, ::2] if number % 3 == 2 else wide[:6, :3]
        with one.access("gpu", gt.RDWR) as array:
            array[...] = array * 1
        made.append(one)
    return made


def of(storages: list[gt.Storage]) -> list[Any]:
    """Return objects with these storages, as fields are."""
    return [SimpleNamespace(storage=one) for one in storages]


@pytest.mark.parametrize("order", ["0", "1", "2"])
@pytest.mark.parametrize(("dtype", "count"), [*((one, 3) for one in TYPES), ("f8", 1), ("f4", 70)])
def test_strips_are_moved_as_by_assignments(
    dtype: str, count: int, order: str, monkeypatch: pytest.MonkeyPatch, launched: list[int]
) -> None:
    monkeypatch.setenv(ORDER_VARIABLE, order)
    chance = Random(f"{dtype}{count}{order}")
    kernels = StripKernels("gpu", np.dtype(dtype), count)
    fields, others = fields_of(count, dtype, 1), fields_of(count, dtype, 2)
    each = tuple(random_indices(chance, (6, 3), chance.randint(0, 9)) for _ in range(count))
    shared = (random_indices(chance, (6, 3), 4),) * count
    strips = [
        Strips(gt.empty((sum(of.shape[1] for of in places),), dtype, device="gpu"), places)
        for places in (each, shared)
    ]
    values = [np.array(one.data_ro) for one in fields]
    for field in fields:
        with field.access("gpu", gt.RDWR) as array:
            array[...] = array * 1
    kernels.move(PACK, of(fields), strips)
    wanted = []
    for strip in strips:
        parts = [one[tuple(at)] for one, at in zip(values, strip.places, strict=True)]
        wanted.append(np.concatenate(parts))
    assert strips[0].message is not None
    for strip, expected in zip(strips, wanted, strict=True):
        np.testing.assert_array_equal(strip.message.data_ro, expected)
    assert len(launched) == (2 if count <= 64 else 4)
    assert (
        set(launched) <= {(1 if dtype != "c16" else 2) * one.size for one in wanted} or count > 64
    )
    results = [np.array(one.data_ro) for one in others]
    kernels.move(UNPACK, of(others), strips[1:])
    for number, one in enumerate(results):
        one[tuple(shared[number])] = values[number][tuple(shared[number])]
    for one, expected in zip(others, results, strict=True):
        np.testing.assert_array_equal(one.data_ro, expected)


@pytest.mark.parametrize("order", ["0", "2"])
def test_own_points_are_copied(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ORDER_VARIABLE, order)
    kernels = StripKernels("gpu", np.dtype("f8"), 2)
    fields = fields_of(2, "f8", 3)
    values = [np.array(one.data_ro) for one in fields]
    every = random_indices(Random(4), (6, 3), 12)
    strips = [Strips(None, (every[:, :6],) * 2, (every[:, 6:],) * 2)]
    for _ in range(2):
        kernels.move(COPY, of(fields), strips)
    for one, before in zip(fields, values, strict=True):
        before[tuple(every[:, :6])] = before[tuple(every[:, 6:])]
        np.testing.assert_array_equal(one.data_ro, before)


def test_nothing_is_launched_for_nothing(launched: list[int]) -> None:
    kernels = StripKernels("gpu", np.dtype("f8"), 2)
    fields = fields_of(2, "f8", 3)
    nothing = (np.empty((2, 0), np.int64),) * 2
    message = gt.empty((0,), "f8", device="gpu")
    kernels.move(PACK, of(fields), [])
    kernels.move(UNPACK, of(fields), [Strips(message, nothing)])
    kernels.move(COPY, of(fields), [Strips(None, nothing, nothing)])
    assert launched == []


class Mirror(SingleRank):
    """Another rank that has what this one has, and sends what it is sent."""

    size = 2

    def prepare(self, received: Any, sent: Any) -> Any:
        """Keep the places of messages."""
        self._messages = received, sent
        return self

    def start(self) -> None:
        """Do nothing before the end."""

    def finish(self) -> None:
        """Receive what is sent."""
        pairs = zip(*self._messages, strict=True)
        for (_, targets, to_boxes), (_, sources, from_boxes) in pairs:
            for target, source in zip(targets, sources, strict=True):
                for to_box, from_box in zip(to_boxes or [...], from_boxes or [...], strict=True):
                    target[to_box] = source[from_box]

    def gathered(self, value: Any) -> list[Any]:
        """Return the value twice."""
        return [value, value]


def test_each_message_takes_a_launch_for_any_number_of_fields(launched: list[int]) -> None:
    grid = Grid((8, 4), periodic=(True, True), halo=2, device="gpu", ranks=Mirror())
    on_host = Grid((8, 4), periodic=(True, True), halo=2, ranks=Mirror())
    values = np.arange(32.0).reshape(8, 4)
    fields = [Field(grid, values=factor * values) for factor in (1.0, 2.0, 3.0)]
    expected = [Field(on_host, values=factor * values) for factor in (1.0, 2.0, 3.0)]
    for field in fields:
        with field.storage.access("gpu", gt.RDWR) as array:
            array[...] = array * 1.0
    exchange(expected, 2)
    for _ in range(2):
        launched.clear()
        exchange(fields, 2)
        plan = grid.plan(2)
        assert len(plan.sent) == len(plan.received) == 1
        assert plan.copied
        assert [len(plan.sent[0].regions), len(launched)] == [6, 3]
    assert all(one.storage.is_current("gpu") for one in fields)
    for one, other in zip(fields, expected, strict=True):
        np.testing.assert_array_equal(one.storage.data_ro, other.storage.data_ro)


# ---------------------------------------------------------------------------- on a GPU


@pytest.mark.parametrize(("fields", "itemsize"), [(4, 8), (16, 1), (64, 16)])
def test_the_kernels_are_cuda(fields: int, itemsize: int) -> None:
    text = kernels_text(fields, itemsize)
    assert text.count("PSY_KERNEL void") == 3
    check_cuda(text)


def test_a_launch_is_passed_what_the_kernels_declare() -> None:
    found: list[Any] = []
    library = packing._StripLibrary({})
    launch = library.launches(lambda *given: found.append(given), "")
    launch([None, 4096, 8192, None, None, None], None, [1, 300])
    ((blocks, block, passed),) = found
    assert (blocks, block) == ((3,), (128,))
    heads = re.findall(r"_points\((psy_word \*restrict.*?)\)", kernels_text(4, 8), re.DOTALL)
    assert len(heads) == 3
    for head in heads:
        kinds = [np.uint64 if "*" in one else np.int64 for one in head.split(",")]
        assert [type(one) for one in passed] == kinds
    assert passed == (0, 4096, 8192, 0, 0, 0, 1, 300)


def test_a_gpu_is_told_where_it_has_fields_messages_and_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launches: list[Any] = []

    class Module:
        def __init__(self, text: str) -> None:
            assert text == kernels_text(4, 8)

        def get_function(self, name: str) -> Any:
            return lambda *given: launches.append((name, *given))

    monkeypatch.setattr(device_module, "raw_module", Module)
    with device_in_place("stand-in"):
        fields = [gt.zeros((4, 3), layout=(1, 0), device="gpu") for _ in range(2)]
        places = (np.array([[3, 0], [1, 2]]),) * 2
        strips = [Strips(gt.empty((4,), device="gpu"), places) for _ in range(2)]
        kernels = StripKernels("gpu", np.dtype("f8"), 2)
        for name in (PACK, UNPACK):
            kernels.move(name, of(fields), strips)
        there = [address_of(one.to_cupy()) for one in fields]
        messages = [address_of(one.message.to_cupy()) for one in strips if one.message]
        packed = kernels._launches[PACK, tuple(x.strides for x in fields)]
        tables = [one.entries for one in packed.launches]
        # Behind where each part ends, and what to add: 3 + 4 * 1 and 0 + 4 * 2.
        assert [one.data_ro.tolist() for one in tables] == [[2, 0, 4, -2, 7, 8]] * 2
    assert [launch[0] for launch in launches] == ["psy_pack_points"] * 2 + ["psy_unpack_points"] * 2
    for number, (_, blocks, block, passed) in enumerate(launches):
        assert (blocks, block) == ((1,), (128,))
        assert [passed[0], *passed[2:]] == [messages[number % 2], *there, 0, 0, 2, 4]
