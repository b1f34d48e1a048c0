"""Tests that GPU work is in order across streams, without unnecessary waits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import accessors
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.memory.registry import device_count
from storage_devices import GPUS, device_in_place

READ, RDWR, WRONLY = AccessMode.READ, AccessMode.READ_WRITE, AccessMode.WRITE_ONLY
SIZE = 1 << 18


@pytest.fixture(autouse=True, params=GPUS)
def cp(request: pytest.FixtureRequest, _emulated: None) -> Iterator[Any]:
    """Return the CuPy module."""
    with device_in_place(request.param):
        yield __import__("cupy") if request.param == "cuda" else sys.modules["cupy"]


@pytest.fixture
def streams(cp: Any) -> list[Any]:
    """Return two non-blocking streams."""
    return [cp.cuda.Stream(non_blocking=True) for _ in range(2)]


@pytest.fixture
def buffer() -> CoherentBuffer:
    """Return a buffer with ones on the device."""
    made = CoherentBuffer(SIZE, "f8", BufferOptions("u", init=1.0))
    made.acquire("gpu", RDWR).release()
    return made


def update(buffer: CoherentBuffer, stream: Any, factor: float, space: str = "gpu") -> None:
    """Multiply all values in a stream, without a wait of the host."""
    with buffer.acquire(space, RDWR) as access, stream:
        access.array[...] = access.array * factor
        access.release()


def on_host(buffer: CoherentBuffer) -> set[float]:
    """Return the values on the host."""
    with buffer.acquire("host") as access:
        return set(np.unique(access.array).tolist())


def late(cp: Any) -> bool:
    """Return whether work is executed as late as possible, so that a missing wait is visible."""
    return bool(cp.__name__ == "cupy_stand_in")


def test_the_host_sees_what_any_stream_wrote(buffer: CoherentBuffer, streams: list[Any]) -> None:
    update(buffer, streams[0], 2.0)
    assert on_host(buffer) == {2.0}


def test_streams_follow_one_another(buffer: CoherentBuffer, streams: list[Any]) -> None:
    for number in range(6):
        update(buffer, streams[number % 2], 2.0)
    assert on_host(buffer) == {64.0}


def test_a_writer_follows_readers(cp: Any, buffer: CoherentBuffer, streams: list[Any]) -> None:
    sums = []
    for stream in streams:
        with buffer.acquire("gpu", READ) as access, stream:
            sums.append(access.array.sum())
            access.release()
    third = cp.cuda.Stream(non_blocking=True)
    update(buffer, third, 3.0)
    third.synchronize()
    for stream in streams:
        stream.synchronize()
    assert [float(total) for total in sums] == [SIZE, SIZE]


def test_values_from_the_host_follow_readers(buffer: CoherentBuffer, streams: list[Any]) -> None:
    with buffer.acquire("gpu", READ) as access, streams[0]:
        total = access.array.sum()
        access.release()
    with buffer.acquire("host", WRONLY) as access:
        access.array[...] = 7.0
    buffer.make_valid("gpu")
    streams[0].synchronize()
    assert float(total) == SIZE


def test_copies_between_devices_follow_any_stream(cp: Any, buffer: CoherentBuffer) -> None:
    if device_count() < 2:
        pytest.skip("this machine has one GPU")
    for number in (0, 1, 0):
        with cp.cuda.Device(number):
            stream = cp.cuda.Stream(non_blocking=True)
        with cp.cuda.Device(number):
            update(buffer, stream, 2.0, f"gpu:{number}")
    assert on_host(buffer) == {8.0}


def test_an_access_opened_elsewhere_is_used_in_the_stream_of_its_user(
    streams: list[Any],
) -> None:
    buffer = accessors.Buffer(np.ones(SIZE))
    for stream in streams:
        accessor = accessors.DeviceAccessor(buffer)
        accessor.open().result(60)
        with accessor.on_device(), stream:
            accessor.array[...] = accessor.array * 2.0
            accessor.close().result(60)
    assert on_host(buffer) == {4.0}


def test_storages_and_calls_are_in_order(streams: list[Any]) -> None:
    storage = gt.ones((SIZE,), device="gpu")
    with storage.access("gpu", gt.RDWR) as array:
        array[...] = array * 2.0
    for stream in streams:
        with stream, gt.bound({"a": storage}, device="gpu", writes=["a"]) as arrays:
            arrays["a"][...] = arrays["a"] * 2.0
    assert storage[5] == 8.0


def test_nobody_waits_for_those_who_only_read(
    cp: Any, buffer: CoherentBuffer, streams: list[Any]
) -> None:
    for stream in streams:
        with buffer.acquire("gpu", READ) as access, stream:
            access.array.sum()
            access.release()
    streams[1].synchronize()
    if late(cp):
        assert not streams[0].done


def test_the_host_goes_on_while_a_device_works(
    cp: Any, buffer: CoherentBuffer, streams: list[Any]
) -> None:
    other = CoherentBuffer(SIZE, "f8", BufferOptions("v", init=1.0))
    other.acquire("gpu", RDWR).release()
    update(buffer, streams[0], 2.0)
    update(buffer, streams[1], 2.0)
    assert on_host(other) == {1.0}
    if late(cp):
        assert not streams[1].done
    assert on_host(buffer) == {4.0}


def test_a_copy_whose_call_is_interrupted_does_not_overwrite_later_values(
    cp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = cp.cuda.runtime
    copy = runtime.memcpyAsync

    def copy_and_interrupt(*words: Any) -> None:
        copy(*words)
        raise KeyboardInterrupt

    buffer = CoherentBuffer(SIZE, "f8", BufferOptions("u", hints=Hints(pinned=True)))
    with buffer.acquire("gpu", WRONLY) as access:
        access.array[...] = 1.0
    with monkeypatch.context() as patched:
        patched.setattr(runtime, "memcpyAsync", copy_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            buffer.make_valid("host")
    with buffer.acquire("host", WRONLY) as access:
        access.array[...] = 5.0
    cp.cuda.runtime.deviceSynchronize()
    assert on_host(buffer) == {5.0}
