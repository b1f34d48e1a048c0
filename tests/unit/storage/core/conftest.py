"""Fixtures for the tests of the core: two emulated devices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.memory.pending_work import UNREPORTED


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    use_device("emulated", Emulation())
    yield
    use_device("auto")
    # Some tests leave failures that must not be reported at the end of the test run.
    UNREPORTED.clear()
