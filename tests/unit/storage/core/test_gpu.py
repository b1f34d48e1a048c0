"""Tests of the core on GPUs: the stand-in on every machine, and a GPU if CuPy finds one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.stats import Direction
from storage_devices import GPUS, device_in_place


@pytest.fixture(autouse=True, params=GPUS)
def _gpu(request: pytest.FixtureRequest, _emulated: None) -> Iterator[None]:
    with device_in_place(request.param):
        yield


@pytest.mark.parametrize("hints", [Hints(), Hints(pinned=True), Hints(managed=True)], ids=str)
def test_values_go_there_and_back(hints: Hints) -> None:
    buffer = CoherentBuffer(1000, "f8", BufferOptions(init=1.0, hints=hints))
    with buffer.acquire("host", AccessMode.READ_WRITE) as access:
        access.array[3] = 5.0
    with buffer.acquire("gpu", AccessMode.READ_WRITE) as access:
        access.kernel_array[...] *= 2.0
    with buffer.acquire("host") as access:
        expected = np.full(1000, 2.0)
        expected[3] = 10.0
        np.testing.assert_array_equal(access.array, expected)
    copies = 0 if hints.managed else 1
    assert buffer.stats.of(Direction.HOST_TO_DEVICE).count == copies
    assert buffer.stats.of(Direction.DEVICE_TO_HOST).count == copies


def test_a_prefetch_arrives() -> None:
    buffer = CoherentBuffer(1000, "f8")
    with buffer.acquire("host", AccessMode.WRITE_ONLY) as access:
        access.array[:] = np.arange(1000)
    buffer.prefetch("gpu").result(60)
    assert buffer.is_valid("gpu")
    with buffer.acquire("gpu") as access:
        assert float(access.kernel_array.sum()) == 499500.0


@pytest.mark.parametrize("alignment", [64, 4096])
def test_device_memory_is_aligned_and_initialised_there(alignment: int) -> None:
    buffer = CoherentBuffer(100, "f4", BufferOptions(init=3.0, alignment=alignment))
    with buffer.acquire("gpu") as access:
        assert access.pointer % alignment == 0
        assert access.window("f4", (4,), (40,), 8).get().tolist() == [3.0] * 4
    assert buffer.stats.count == 0
