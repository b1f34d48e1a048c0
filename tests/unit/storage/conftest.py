"""Queued operations of a test end before its devices are removed.

The storage APIs are tested with emulated devices that execute operations late, at random times, or
as for users. The name of a test selects the order, so that each order is used by some tests.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator

import pytest

from psyclone_storage.storage.core.device import ORDER_VARIABLE
from psyclone_storage.storage.memory import registry

PATIENCE = 5.0
DOORS = ("accessors", "gdp", "hmemo", "kokkos")


def order_of(item: pytest.Item) -> str:
    """Return the execution order of the emulated devices for a test, chosen from its name."""
    number = zlib.crc32(item.nodeid.encode())
    return ("", "late", f"shuffled {number}")[number % 3]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Select an execution order for tests of the storage APIs, unless the environment sets one."""
    if item.path.parent.name not in DOORS or ORDER_VARIABLE in os.environ:
        return (yield)
    os.environ[ORDER_VARIABLE] = order_of(item)
    try:
        return (yield)
    finally:
        del os.environ[ORDER_VARIABLE]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Wait at most `PATIENCE` seconds for unfinished transfers."""
    deadline = time.monotonic() + PATIENCE
    streams = [memory.stream for memory in tuple(registry._MEMORIES.values())]
    for stream in streams:
        while stream is not None and not stream.idle and time.monotonic() < deadline:
            time.sleep(0.001)
