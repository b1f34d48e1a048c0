"""Tests with many threads that use one buffer: no update is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from psyclone_storage.storage.accessors import (
    Buffer,
    DeviceAccessor,
    GpuTask,
    HostAccessor,
    wait_all,
)
from psyclone_storage.storage.hmemo import Context, HArray, WriteAccess
from storage_threads import PATIENCE, Worker

ROUNDS = 15


def by_host_accessor(buffer: Buffer) -> None:
    with HostAccessor(buffer).held() as window:
        window[...] += 1.0


def by_device_accessor(buffer: Buffer) -> None:
    with DeviceAccessor(buffer) as accessor:
        window = accessor.array
        window += 1.0


def by_task(buffer: Buffer) -> None:
    GpuTask("increment").register(buffer, mode="rw").run(lambda window: window.__iadd__(1.0))


def by_submitted_task(buffer: Buffer) -> None:
    task = GpuTask("increment").register(buffer, mode="rw")
    task.submit(lambda window: window.__iadd__(1.0)).result(PATIENCE)


def by_array(buffer: Buffer) -> None:
    array = HArray.over(buffer)
    with WriteAccess(array, Context.getContextPtr(Context.CUDA, 0), on_conflict="wait") as access:
        window = access.get()
        window += 1.0


def by_reader(buffer: Buffer) -> None:
    found = HostAccessor(buffer, const=True)[...]
    assert len(set(found.tolist())) == 1


WAYS: list[Callable[[Buffer], None]] = [
    by_host_accessor,
    by_device_accessor,
    by_task,
    by_submitted_task,
    by_array,
    by_reader,
]


@pytest.mark.spec("ACC-3", "ACC-16", "ACC-39", "HM-62")
@pytest.mark.parametrize("ways", [WAYS, WAYS[:2], WAYS[2:4]], ids=["all", "accessors", "tasks"])
def test_no_increment_is_lost(ways: list[Callable[[Buffer], None]]) -> None:
    buffer = Buffer(np.zeros(64))

    def work(way: Callable[[Buffer], None]) -> None:
        for _ in range(ROUNDS):
            way(buffer)

    threads = [Worker() for _ in ways]
    running = [thread.start(work, way) for thread, way in zip(threads, ways, strict=True)]
    for each in running:
        each.result(6 * PATIENCE)
    wait_all(running)
    writers = len([way for way in ways if way is not by_reader])
    assert HostAccessor(buffer, const=True)[...].tolist() == [float(ROUNDS * writers)] * 64
    assert buffer.table.holders == []
    assert not buffer.table.queue
