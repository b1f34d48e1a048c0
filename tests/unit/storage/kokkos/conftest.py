"""Fixtures for the tests of views: two emulated devices; `device` also selects a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.memory.pending_work import UNREPORTED
from storage_devices import DEVICES, device_in_place


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    use_device("emulated", Emulation())
    yield
    use_device("auto")
    # Some tests leave failures that must not be reported at the end of the test run.
    UNREPORTED.clear()


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Run a test on all kinds of devices."""
    with device_in_place(request.param) as kind:
        yield kind
