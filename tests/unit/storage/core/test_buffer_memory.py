"""Tests of buffers: resize, reserve, clear, purge, adopted memory and export pins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import row_blocks
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AllocationInUseError,
    PoisonedDataError,
    StorageError,
)
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.replicas import Replicas
from psyclone_storage.storage.core.spaces import device_space, host_space
from psyclone_storage.storage.memory.registry import host_memory

READ, WRITE_ONLY, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
HOST, GPU, GPU1 = "host", "gpu", "gpu:1"


def table(buffer: CoherentBuffer) -> dict[str, tuple[int, bool]]:
    return {state.space.tag: (state.capacity, state.valid) for state in buffer.incarnations()}


def on_host(size: int = 1024) -> CoherentBuffer:
    buffer = CoherentBuffer(size, "f8", BufferOptions(label="a"))
    with buffer.acquire(HOST, WRITE_ONLY) as access:
        access.array[:] = np.arange(size)
    return buffer


@pytest.mark.spec("HM-56", "HM-57", "HM-42")
def test_resize_gives_memory_to_valid_replicas_that_are_too_small() -> None:
    buffer = on_host()
    buffer.make_valid(GPU)
    buffer.touch(HOST)
    buffer.reserve(2048, GPU1)
    buffer.make_valid(GPU1)
    assert table(buffer) == {
        "node:0": (8192, True),
        "node:0:device:0": (8192, False),
        "node:0:device:1": (16384, True),
    }
    buffer.resize(2048)
    assert table(buffer) == {
        "node:0": (16384, True),
        "node:0:device:0": (8192, False),
        "node:0:device:1": (16384, True),
    }
    for space in (HOST, GPU1):
        with buffer.acquire(space) as access:
            assert access.kernel_array[:1024].tolist() == list(range(1024))
    with buffer.acquire(GPU) as access:
        assert access.kernel_array[1023] == 1023
    assert buffer.capacity(GPU) == 16384


@pytest.mark.spec("HM-58", "HM-59")
def test_clear_keeps_memory_and_flags() -> None:
    buffer = on_host()
    buffer.make_valid(GPU)
    before = table(buffer)
    buffer.clear()
    assert (buffer.size, table(buffer)) == (0, before)
    buffer.make_valid(GPU1)
    buffer.resize(1024)
    assert buffer.capacity(HOST) == 8192


@pytest.mark.spec("HM-60")
def test_purge_frees_and_forgets_the_values() -> None:
    buffer = on_host()
    in_use = host_memory().use.in_use
    buffer.purge()
    assert buffer.size == 0
    assert table(buffer) == {"node:0": (0, False)}
    assert host_memory().use.in_use < in_use
    with buffer.acquire(HOST), pytest.raises(AccessConflictError, match="cannot be purged"):
        buffer.purge()


@pytest.mark.spec("HM-55")
def test_a_write_access_resizes_its_own_buffer() -> None:
    buffer = on_host(4)
    with buffer.acquire(HOST, READ_WRITE) as access:
        buffer.resize(1000, access)
        assert access.array[:4].tolist() == [0, 1, 2, 3]
        access.array[999] = 5
    assert buffer.size == 1000


@pytest.mark.spec("HM-64", "HM-71")
def test_resize_under_a_reader_fails_only_if_memory_moves() -> None:
    buffer = on_host()
    buffer.reserve(2048, GPU)
    buffer.make_valid(GPU)
    with (
        buffer.acquire(GPU, READ, Policy.RAISE),
        buffer.acquire(GPU, READ_WRITE, Policy.RAISE) as write,
    ):
        buffer.resize(2048, write)
        assert buffer.size == 2048
        with pytest.raises(AccessConflictError, match='"a" cannot be resized to 4096'):
            buffer.resize(4096, write)
        with pytest.raises(AccessConflictError):
            buffer.resize(10)
    assert buffer.size == 2048


@pytest.mark.spec("HM-84")
def test_exported_memory_does_not_move() -> None:
    buffer = on_host(4)
    pin = buffer.pin()
    assert buffer.exports == 1
    for change in (lambda: buffer.resize(8), lambda: buffer.reserve(8), buffer.purge):
        with pytest.raises(AllocationInUseError, match=r"1 exported view\(s\) look at it"):
            change()
    buffer.resize(2)
    pin.release()
    buffer.resize(8)


def test_a_pin_ends_with_its_last_reference() -> None:
    buffer = on_host(4)
    with buffer.pin(), buffer.pin() as second:
        assert buffer.exports == 2
        second.release()
        second.release()
        assert buffer.exports == 1
    kept = buffer.pin()
    assert buffer.exports == 1
    del kept
    assert buffer.exports == 0


@pytest.mark.spec("GDP-4", "HM-83", "HM-84")
def test_adopted_memory_is_the_replica() -> None:
    data = np.arange(6.0)
    buffer = CoherentBuffer(6, "f8", BufferOptions(label="w"))
    buffer.adopt(host_memory().adopt(data)[0])
    with buffer.acquire(HOST, READ_WRITE) as access:
        access.array[0] = 9
    assert data[0] == 9
    buffer.resize(3)
    for change in (lambda: buffer.resize(7), lambda: buffer.reserve(9), buffer.purge):
        with pytest.raises(AllocationInUseError, match="at node:0 belongs to somebody else"):
            change()
    with pytest.raises(StorageError, match="has memory at node:0 already"):
        buffer.adopt(host_memory().adopt(data)[0])
    with pytest.raises(ValueError, match="needs 64 B"):
        CoherentBuffer(8, "f8").adopt(host_memory().adopt(data)[0])


def test_two_foreign_replicas_and_which_is_current() -> None:
    buffer = CoherentBuffer(2, "f8")
    first, second = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    buffer.adopt(host_memory().adopt(first)[0], valid=False)
    device = CoherentBuffer(2, "f8", BufferOptions(init=0.0))
    with device.acquire(GPU, WRITE_ONLY) as access:
        access.kernel_array[:] = second
        buffer.adopt(access.allocation)
    assert not buffer.is_valid(HOST)
    buffer.make_valid(HOST)
    assert first.tolist() == [3.0, 4.0]


def test_a_replica_can_be_dropped_unless_it_holds_the_truth() -> None:
    buffer = on_host(4)
    buffer.make_valid(GPU)
    buffer.drop_replica(GPU)
    assert table(buffer)["node:0:device:0"] == (0, False)
    buffer.drop_replica(GPU1)
    with pytest.raises(StorageError, match="only valid values"):
        buffer.drop_replica(HOST)
    with buffer.acquire(GPU), pytest.raises(AccessConflictError, match="lose a replica"):
        buffer.drop_replica(GPU)


def test_chunked_buffers_have_a_fixed_size() -> None:
    buffer = CoherentBuffer(4, "f8", BufferOptions(chunks=row_blocks(4, 1, 2)))
    for change in (lambda: buffer.resize(2), buffer.clear, buffer.purge):
        with pytest.raises(StorageError, match="its size is fixed"):
            change()


def test_memory_is_allocated_at_once_only_on_demand() -> None:
    assert CoherentBuffer(8, "f8").capacity(HOST) == 0
    assert CoherentBuffer(8, "f8", BufferOptions(hints=Hints(delayed=False))).capacity(HOST) == 64


@pytest.mark.parametrize("space", [HOST, GPU])
def test_the_alignment_holds_after_a_resize(space: str) -> None:
    buffer = CoherentBuffer(3, "f8", BufferOptions(alignment=4096))
    with buffer.acquire(space, WRITE_ONLY) as access:
        assert access.pointer % 4096 == 0
        buffer.resize(5000, access)
        assert access.pointer % 4096 == 0


@pytest.mark.spec("HM-76")
def test_resize_waits_for_a_transfer() -> None:
    use_device("emulated", Emulation(latency=0.02))
    buffer = on_host(4)
    prefetched = buffer.prefetch(GPU)
    buffer.resize(9)
    assert prefetched.done()
    transfers = buffer.stats.count
    with buffer.acquire(GPU) as access:
        assert access.kernel_array[:4].tolist() == [0, 1, 2, 3]
    assert buffer.stats.count == transfers


def test_a_pin_ends_with_its_block_whoever_keeps_it() -> None:
    buffer = CoherentBuffer(8)
    pin = buffer.pin()
    with pin as held:
        assert held is pin
        assert buffer.exports == 1
    assert buffer.exports == 0
    pin.release()
    assert buffer.exports == 0


def test_nothing_is_copied_that_is_no_value_when_a_replica_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = CoherentBuffer(8, "f8", BufferOptions(init=1.0))
    buffer.make_valid("gpu")
    buffer.make_valid("host")
    with buffer.acquire("gpu", AccessMode.READ_WRITE) as token:
        token.kernel_array[...] = 2.0
    copied: list[object] = []
    memory = host_memory()
    real = memory.memcpy_from
    monkeypatch.setattr(memory, "memcpy_from", lambda *a: (copied.append(a), real(*a)))
    buffer.reserve(1000, "host")
    assert copied == []
    buffer.make_valid("host")
    buffer.reserve(2000, "host")
    assert len(copied) == 1


def test_a_replica_is_allocated_under_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = gt.zeros((4,), device="gpu")
    locked: list[bool] = []
    real = Replicas.allocate

    def noted(self: Replicas, replica: object) -> None:
        locked.append(_is_locked(self.table.lock))
        real(self, replica)  # type: ignore[arg-type]

    monkeypatch.setattr(Replicas, "allocate", noted)
    storage.window(storage.backing().host)
    assert locked
    assert all(locked)


def _is_locked(lock: Any) -> bool:
    return bool(lock.locked() if hasattr(lock, "locked") else lock._is_owned())


def test_what_was_never_at_a_place_is_not_whole_there() -> None:
    use_device("emulated")
    buffer = CoherentBuffer(3)
    assert buffer.replicas.is_whole(device_space())  # there are no values that could be missing
    buffer.touch("host")
    assert buffer.replicas.is_whole(host_space())
    assert not buffer.replicas.is_whole(device_space())


def test_nothing_is_left_to_copy_of_what_was_purged() -> None:
    use_device("emulated")
    buffer = CoherentBuffer(4)
    buffer.touch("host")
    buffer.purge()
    assert (buffer.size, buffer.nbytes, buffer.table.nbytes) == (0, 0, 0)
    buffer.resize(2)
    assert buffer.table.nbytes == 16


def kernel_that_fails(array: Any) -> None:
    """Submit a kernel that declares a write to an array of an emulated device, and fails."""

    def work() -> None:
        raise ZeroDivisionError("of the kernel")

    array._memory.launch("kernel", (array.use(wrote=True),), work)


@pytest.mark.parametrize("mode", [READ_WRITE, WRITE_ONLY])
def test_data_grow_after_what_their_access_asked_for(mode: AccessMode) -> None:
    buffer = CoherentBuffer(8, "f8", BufferOptions("p", init=1.0))
    with buffer.acquire(GPU, mode) as token:
        token.array[...] = 3.0
        buffer.resize(16, token)
        token.array[8:] = 4.0
    with buffer.acquire(HOST) as token:
        assert token.array.tolist() == [3.0] * 8 + [4.0] * 8


@pytest.mark.parametrize("mode", [READ_WRITE, WRITE_ONLY])
def test_data_whose_kernel_fails_cannot_grow(mode: AccessMode) -> None:
    buffer = CoherentBuffer(8, "f8", BufferOptions("p", init=1.0))
    token = buffer.acquire(GPU, mode)
    kernel_that_fails(token.array)
    with pytest.raises(PoisonedDataError, match=r'"p" cannot get more memory .*of the kernel'):
        buffer.resize(16, token)
    assert buffer.size == 8
    token.release()
    with pytest.raises(PoisonedDataError):
        buffer.acquire(HOST)
    with buffer.acquire(GPU, WRITE_ONLY) as token:
        token.array[...] = 2.0
        buffer.resize(16, token)
    with buffer.acquire(HOST) as token:
        assert token.array[:8].tolist() == [2.0] * 8
    with buffer.acquire(GPU, READ_WRITE) as token:
        kernel_that_fails(token.array)
    with pytest.raises(PoisonedDataError, match="cannot get more memory"):
        buffer.reserve(32, GPU)
