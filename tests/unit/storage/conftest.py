"""Work that a test leaves in the queues of devices ends before the devices go."""

from __future__ import annotations

import time

import pytest

from psyclone_storage.storage.memory import registry

PATIENCE = 5.0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Wait for transfers that are still under way, as long as that may take at most."""
    deadline = time.monotonic() + PATIENCE
    streams = [memory.stream for memory in tuple(registry._MEMORIES.values())]
    for stream in streams:
        while stream is not None and not stream.idle and time.monotonic() < deadline:
            time.sleep(0.001)
