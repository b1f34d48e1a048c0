"""Fixtures that run each test on emulated devices, the GPU stand-in and a GPU if available."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.spaces import device_space
from psyclone_storage.storage.memory.registry import memory_of
from storage_devices import DEVICES, device_in_place


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the kind of device that `device="gpu"` selects in this test."""
    with device_in_place(request.param) as kind:
        yield kind


@pytest.fixture
def upload(device: str) -> Any:  # noqa: ARG001 - arrays belong to the device in force
    """Return a function that creates a device array that is not a storage."""

    def make(values: Any) -> Any:
        values = np.asarray(values)
        made = gt.empty(values.shape, values.dtype, device="gpu", managed=None)
        made[...] = values
        return made.to_cupy()

    return make


@pytest.fixture
def download(device: str) -> Any:  # noqa: ARG001 - arrays belong to the device in force
    """Return a function that copies a device array, or a kernel's view of it, to the host."""
    return lambda array: array.get() if hasattr(array, "get") else np.array(array)


@pytest.fixture
def kernel(device: str) -> Any:  # noqa: ARG001 - arrays belong to the device in force
    """Return a function that writes to the device buffer without a recorded access."""

    def write(storage: gt.Storage, value: float) -> None:
        memory = memory_of(device_space())
        array = storage.window(device_space())
        memory.kernel_view(array)[...] = value

    return write
