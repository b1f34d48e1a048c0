"""Tests that GPU memory is not freed before the event that it waits for."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.memory.cuda import _Ledger, _OwnStreams
from storage_devices import device_in_place

BLOCKS = 4_000


@pytest.fixture(autouse=True)
def _switches() -> Iterator[None]:
    """Let the interpreter switch between threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class DelayedEvent:
    """An event that is done after a given number of queries."""

    def __init__(self, delay: int) -> None:
        self.left = delay

    @property
    def done(self) -> bool:
        if self.left:
            self.left -= 1
        time.sleep(0)  # let other threads run
        return not self.left


class Block:
    """A block of memory that counts how often it is freed before its event is done."""

    early = 0
    freed = 0

    def __init__(self, event: DelayedEvent) -> None:
        self.event = event

    def __del__(self) -> None:
        Block.freed += 1
        Block.early += bool(self.event.left)


def in_threads(*works: Callable[[], None]) -> list[BaseException]:
    """Execute each function in a thread, and return the exceptions that they raised."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return errors


def test_blocks_are_freed_after_their_events() -> None:
    own = _OwnStreams()
    Block.early = Block.freed = 0

    def keep(delays: list[int]) -> None:
        for number in range(BLOCKS // 2):
            event = DelayedEvent(delays[number % len(delays)])
            own.keep(event, (Block(event),))

    assert in_threads(lambda: keep([1, 3, 2, 0]), lambda: keep([0, 2, 3, 1])) == []
    for _ in range(10):
        own.let_go()
    assert Block.early == 0
    assert Block.freed == BLOCKS


def test_bytes_are_counted_by_threads_at_once() -> None:
    ledger = _Ledger()

    class Holder:
        """An object that owns memory."""

    def charge() -> None:
        for _ in range(BLOCKS // 4):
            ledger.charge(Holder(), 8)

    assert in_threads(charge, charge, charge) == []
    assert ledger.in_use == 0


@pytest.mark.usefixtures("_emulated")
@pytest.mark.parametrize("order", [("gpu", "gpu:1"), ("gpu", "gpu")])
def test_buffers_come_and_go_in_threads(order: tuple[str, str]) -> None:
    """Two threads copy to devices in opposite order, and free memory that streams still use."""
    with device_in_place("stand-in", 2):
        cupy: Any = sys.modules["cupy"]

        def work(places: tuple[str, ...], value: float) -> None:
            stream = cupy.cuda.Stream(non_blocking=True)
            for number in range(20):
                made = CoherentBuffer(256, "f8", BufferOptions(init=value + number))
                for place in places:
                    with stream:
                        made.acquire(place, AccessMode.READ_WRITE).release()
                with made.acquire("host") as access:
                    assert set(np.unique(access.array)) == {value + number}

        errors = in_threads(lambda: work(order, 1.0), lambda: work(order[::-1], 1000.0))
        assert errors == []
