"""Tests of code that uses the device address of a storage: earlier results are complete."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.memory import queues


@pytest.fixture(autouse=True, params=["late", "eager", "shuffled", "shuffled again"])
def order(request: pytest.FixtureRequest) -> Iterator[str]:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()
    use_device("auto")


def values_at(description: dict[str, Any]) -> list[float]:
    """Return the memory contents of an emulated device, without a recorded access."""
    (extent,) = description["shape"]
    found = (ctypes.c_double * extent).from_address(description["data"][0])
    return np.ctypeslib.as_array(found).tolist()


@pytest.mark.parametrize("managed", [None, "gt4py"])
def test_each_description_of_a_storage_waits_for_what_is_queued(managed: str | None) -> None:
    field = gt.storage(np.zeros(4), device="gpu", managed=managed)
    for value in (1.0, 2.0, 3.0):
        field.to_cupy()[...] = value
        assert values_at(field.__gt_data_interface__["gpu"]) == [value] * 4


def test_to_acquire_the_device_side_waits_for_what_is_queued() -> None:
    field = gt.storage(np.zeros(4), device="gpu", managed="gt4py")
    description = field.__gt_data_interface__["gpu"]
    field.to_cupy()[...] = 9.0
    description["acquire"]()
    assert values_at(description) == [9.0] * 4
    with field.access(None, "rw") as array:
        array[...] = 10.0
    description["acquire"]()
    assert values_at(description) == [10.0] * 4
