"""Tests of asynchronous transfers, page-locked memory and zero copy in the HMemo API."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from psyclone_storage.storage.hmemo import (
    Context,
    CUDAHostMemory,
    HArray,
    HostMemory,
    HostReadAccess,
    HostWriteAccess,
    HostWriteOnlyAccess,
    ReadAccess,
    SyncToken,
    WriteAccess,
    WriteOnlyAccess,
)
from storage_threads import PATIENCE, wait_until


@pytest.fixture
def blocked(cuda: Context) -> Callable[[], None]:
    """Block the device, so that transfers remain pending; return a function that unblocks it."""
    busy, gate = threading.Event(), threading.Event()

    def work() -> None:
        busy.set()
        gate.wait(PATIENCE)

    cuda.submit(work)
    assert busy.wait(PATIENCE)
    return gate.set


def when_in_use(array: HArray, action: Callable[[], None]) -> threading.Thread:
    """Start and return a thread that calls `action` as soon as an access to `array` is open."""

    def watch() -> None:
        wait_until(lambda: array.buffer.table.holders)
        action()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


# -- prefetch ----------------------------------------------------------------------------------


@pytest.mark.spec("HM-75", "HM-77")
def test_a_prefetch_returns_at_once_and_yields_a_valid_incarnation(
    cuda: Context, blocked: Callable[[], None]
) -> None:
    array = HArray(np.arange(8.0))
    token = array.prefetch(cuda)
    assert isinstance(token, SyncToken)
    assert not token.done()
    assert not array.isValid(cuda)
    with HostReadAccess(array) as access:
        overlapped = float(access.get().sum())
    assert overlapped == 28.0
    blocked()
    token.wait(PATIENCE)
    assert array.isValid(cuda)
    again = array.prefetch(cuda)
    again.wait(PATIENCE)
    assert array.buffer.stats.count == 1


@pytest.mark.spec("HM-76")
@pytest.mark.parametrize("kind", [ReadAccess, WriteAccess])
def test_the_next_access_waits_for_the_transfer(
    kind: type[ReadAccess], cuda: Context, blocked: Callable[[], None]
) -> None:
    array = HArray(np.arange(8.0))
    sent = array.prefetch(cuda)
    assert not sent.done()
    helper = when_in_use(array, blocked)
    with kind(array, cuda) as access:
        assert sent.done()
        assert float(access.get().sum()) == 28.0
    helper.join(PATIENCE)
    assert array.buffer.stats.count == 1


@pytest.mark.spec("HM-76")
def test_a_write_on_the_host_waits_until_the_values_have_left(
    cuda: Context, blocked: Callable[[], None]
) -> None:
    array = HArray(8, 1.0)
    sent = array.prefetch(cuda)
    helper = when_in_use(array, blocked)
    with HostWriteAccess(array):
        assert sent.done()
    helper.join(PATIENCE)


@pytest.mark.spec("HM-78")
@pytest.mark.parametrize("pinned", [True, False])
def test_a_prefetch_runs_on_the_queue_of_the_device(pinned: bool, cuda: Context) -> None:
    array = HArray(cuda) if pinned else HArray()
    with HostWriteOnlyAccess(array, 8) as access:
        access.get()[:] = 1.0
    threads: list[str] = []
    array.buffer.stats.add_callback(lambda _: threads.append(threading.current_thread().name))
    array.prefetch(cuda).wait(PATIENCE)
    assert threads == ["node:0:device:0"]


# -- pinned memory and first touch -------------------------------------------------------------


def host_memory_of(array: HArray) -> object:
    """Return the memory of the host incarnation after a first write on the host."""
    with HostWriteOnlyAccess(array, 8) as access:
        access.get()[:] = 1.0
    (memory,) = [d.memory for d in array.incarnations() if d.memory.space.host_accessible]
    return memory


@pytest.mark.spec("HM-79")
def test_the_host_incarnation_is_pageable_by_default() -> None:
    assert type(host_memory_of(HArray())) is HostMemory


@pytest.mark.spec("HM-80")
def test_after_a_first_touch_at_a_device_it_is_page_locked(cuda: Context) -> None:
    array = HArray(cuda)
    assert isinstance(host_memory_of(array), CUDAHostMemory)
    with ReadAccess(array, cuda) as access:
        assert float(access.get().sum()) == 8.0


@pytest.mark.spec("HM-81")
def test_a_write_access_is_a_first_touch_like_that_of_the_constructor(cuda: Context) -> None:
    named, touched = HArray(cuda), HArray()
    WriteAccess(touched, cuda).release()
    for array in (named, touched):
        assert isinstance(host_memory_of(array), CUDAHostMemory)


@pytest.mark.spec("HM-82")
def test_pageable_memory_is_not_pinned_later(host: Context, cuda: Context) -> None:
    array = HArray(8, host)
    ReadAccess(array, cuda).release()
    WriteAccess(array, cuda).release()
    assert type(host_memory_of(array)) is HostMemory
    cuda.enableZeroCopy(True)
    with WriteAccess(array, cuda):
        assert array.isValid(cuda)
        assert not array.isValid(host)
    cuda.enableZeroCopy(False)


# -- zero copy ---------------------------------------------------------------------------------


@pytest.mark.spec("HM-86", "HM-17")
@pytest.mark.parametrize("first_touch", [True, False])
def test_zero_copy_makes_no_transfer(first_touch: bool, host: Context, cuda: Context) -> None:
    cuda.enableZeroCopy(True)
    array = HArray(cuda) if first_touch else HArray()
    if not first_touch:
        WriteAccess(array, cuda).release()
    with HostWriteOnlyAccess(array, 8) as access:
        access.get()[:] = 1.0
    with WriteAccess(array, cuda) as work:
        assert not isinstance(work.get(), np.ndarray)
        window = work.get()
        window += 1.0
    with WriteAccess(array, host) as access:
        access.get()[:] *= 10.0
    with ReadAccess(array, cuda) as read:
        assert float(read.get().sum()) == 160.0
    assert array.buffer.stats.count == 0
    assert len(array.incarnations()) == 1
    cuda.enableZeroCopy(False)


@pytest.mark.spec("HM-16", "HM-86")
def test_without_zero_copy_the_device_has_its_own(host: Context, cuda: Context) -> None:
    array = HArray(cuda)
    with WriteOnlyAccess(array, host, 8) as access:
        access.get()[:] = 1.0
    WriteAccess(array, cuda).release()
    WriteAccess(array, host).release()
    assert array.buffer.stats.count == 2
