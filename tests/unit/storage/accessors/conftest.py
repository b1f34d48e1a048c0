"""Fixtures for the tests of the accessors, which run on all kinds of devices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from psyclone_storage.storage.memory.registry import device_count
from storage_devices import DEVICES, device_in_place


@pytest.fixture(autouse=True, params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with device_in_place(request.param) as kind:
        yield kind


@pytest.fixture
def second() -> str:
    """Return the tag of a second device."""
    if device_count() < 2:
        pytest.skip("this machine has one GPU")
    return "node:0:device:1"
