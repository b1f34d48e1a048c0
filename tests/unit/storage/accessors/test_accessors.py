"""Tests of host and device accessors: the order of accesses, and which replica is current."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage
from psyclone_storage.storage.accessors import (
    AccessConflictError,
    AccessDeadlockError,
    AccessMode,
    AccessReleasedError,
    Buffer,
    ConstBufferError,
    DeviceAccessor,
    Future,
    HostAccessor,
    PoisonedDataError,
    wait_all,
)
from psyclone_storage.storage.hmemo import HArray
from storage_threads import PATIENCE, Worker, wait_for_queue

HOST, GPU = "node:0", "node:0:device:0"


@pytest.fixture
def buffer() -> Buffer:
    return Buffer(np.ones((2, 4)), label="b")


class Task:
    """Device accesses that are executed in a separate thread."""

    def __init__(self, buffer: Buffer, *, const: bool = False) -> None:
        self.thread = Worker()
        self.accessor = DeviceAccessor(buffer, const=const)
        self.thread(lambda: self.accessor.open().result(PATIENCE))

    def write(self, value: float) -> None:
        self.thread(lambda: self.accessor.array.__setitem__(..., value))

    def close(self, error: BaseException | None = None) -> None:
        self.thread(lambda: self.accessor.close(error).result(PATIENCE))


# -- host accessors ----------------------------------------------------------------------------


@pytest.mark.spec("ACC-11")
def test_a_const_host_accessor_only_reads(buffer: Buffer) -> None:
    accessor = HostAccessor(buffer, const=True)
    assert (accessor[1, 2], len(accessor), accessor.shape) == (1.0, 2, (2, 4))
    with pytest.raises(ConstBufferError, match='"b"'):
        accessor[0, 0] = 2.0
    with accessor.held() as window, pytest.raises(ValueError, match="read-only"):
        window[0, 0] = 2.0
    copied = accessor[0]
    copied[:] = 9.0
    assert np.asarray(accessor).tolist() == [[1.0] * 4] * 2


@pytest.mark.spec("ACC-12")
def test_a_const_host_access_leaves_truth_and_version(buffer: Buffer) -> None:
    with DeviceAccessor(buffer) as task:
        task.array[...] = 2.0
    before = buffer.version, buffer.point_of_truth()
    accessor = HostAccessor(buffer, const=True)
    assert accessor[0, 0] == 2.0
    with accessor.held() as window:
        assert float(window.sum()) == 16.0
    assert (buffer.version, buffer.point_of_truth()) == before
    assert buffer.is_valid(GPU)


@pytest.mark.spec("ACC-15")
def test_every_use_of_another_host_accessor_is_a_write(buffer: Buffer) -> None:
    with DeviceAccessor(buffer) as task:
        task.array[...] = 2.0
    version = buffer.version
    accessor = HostAccessor(buffer)
    assert accessor[0, 0] == 2.0
    assert buffer.version == version + 1
    assert buffer.memory_chunks()[0].tag == HOST
    assert not buffer.is_valid(GPU)
    accessor[0, 0] = 5.0
    assert buffer.version == version + 2


@pytest.mark.spec("ACC-13")
def test_a_const_host_read_waits_for_a_device_task_that_writes(buffer: Buffer) -> None:
    task = Task(buffer)
    reader = Worker().start(lambda: HostAccessor(buffer, const=True)[0, 0])
    wait_for_queue(buffer)
    task.write(3.0)
    assert not reader.done()
    task.close()
    assert reader.result(PATIENCE) == 3.0


@pytest.mark.spec("ACC-14")
def test_a_const_host_read_does_not_wait_for_device_readers(buffer: Buffer) -> None:
    task = Task(buffer, const=True)
    assert Worker()(lambda: HostAccessor(buffer, const=True)[0, 0]) == 1.0
    task.close()


@pytest.mark.spec("ACC-16")
@pytest.mark.parametrize("const", [True, False])
@pytest.mark.parametrize("reading", [True, False])
def test_another_host_access_waits_for_all_device_tasks(
    buffer: Buffer, const: bool, reading: bool
) -> None:
    task = Task(buffer, const=const)
    accessor = HostAccessor(buffer)

    def use() -> Any:
        return accessor[0, 0] if reading else accessor.__setitem__((0, 0), 7.0)

    user = Worker().start(use)
    wait_for_queue(buffer)
    assert not user.done()
    task.close()
    assert user.result(PATIENCE) == (1.0 if reading else None)


@pytest.mark.spec("ACC-17", "ACC-24")
def test_a_host_accessor_shows_what_each_device_task_left(buffer: Buffer) -> None:
    read, write = HostAccessor(buffer, const=True), HostAccessor(buffer)
    for value in (2.0, 3.0, 4.0):
        with DeviceAccessor(buffer) as task:
            task.array[...] = value
        assert read[1, 1] == write[1, 1] == value
    assert buffer.stats.count == 6


def test_indexing_is_that_of_numpy(buffer: Buffer) -> None:
    accessor = HostAccessor(buffer)
    accessor[:, 1:3] = [[1.0, 2.0], [3.0, 4.0]]
    accessor[0, 0] += 10.0
    assert accessor[0].tolist() == [11.0, 1.0, 2.0, 1.0]
    assert accessor[[1, 0], 2].tolist() == [4.0, 2.0]
    with pytest.raises(IndexError):
        accessor[2, 0]
    with pytest.raises(ValueError, match="copies"):
        np.array(accessor, copy=False)
    records = HostAccessor(Buffer(2, [("a", "i4")], init=(1,)))
    kept = records[0]
    records[0] = (5,)
    assert (kept.item(), records[0].item()) == ((1,), (5,))


def test_a_host_accessor_looks_at_other_faces() -> None:
    array = HArray(4, 2.0)
    HostAccessor(array)[1] = 5.0
    assert HostAccessor(array, const=True)[...].tolist() == [2.0, 5.0, 2.0, 2.0]
    field = storage.ones((2, 2), layout=(1, 0), device="gpu")
    with DeviceAccessor(field) as accessor:
        accessor.array[...] = 7.0
    assert field[1, 1] == 7.0
    assert HostAccessor(DeviceAccessor(field), const=True)[0] == 7.0


# -- device accessors --------------------------------------------------------------------------


@pytest.mark.spec("ACC-18", "ACC-20", "ACC-21", "ACC-22")
def test_open_and_close_tell_the_buffer_and_return_futures(buffer: Buffer) -> None:
    accessor = DeviceAccessor(buffer, "gpu")
    with pytest.raises(AccessReleasedError, match="not open"):
        accessor.close()
    opening = accessor.open()
    assert isinstance(opening, Future)
    assert opening.result(PATIENCE) is accessor
    assert [claim.mode for claim in buffer.table.holders] == [AccessMode.READ_WRITE]
    with pytest.raises(AccessConflictError, match="open already"):
        accessor.open()
    closing = accessor.close()
    assert isinstance(closing, Future)
    assert closing.result(PATIENCE) is None
    assert buffer.table.holders == []
    with pytest.raises(AccessReleasedError, match="not open"):
        _ = accessor.array


@pytest.mark.spec("ACC-19", "ACC-20", "ACC-23", "ACC-39")
def test_opens_complete_when_it_is_safe_and_overlap(buffer: Buffer) -> None:
    free, task = Buffer(4, init=0.0), Task(buffer)
    late, soon = DeviceAccessor(buffer), DeviceAccessor(free)
    waiting, granted = late.open(), soon.open()
    granted.result(PATIENCE)
    assert not waiting.done()
    with pytest.raises(AccessReleasedError, match="not open"):
        _ = late.array
    with pytest.raises(TimeoutError):
        waiting.result(0.01)
    task.close()
    assert wait_all([waiting, granted]) == [late, soon]
    late.close()
    soon.close()


@pytest.mark.spec("ACC-39", "ACC-3")
def test_many_const_opens_or_one_that_writes(buffer: Buffer, second: str) -> None:
    readers = [DeviceAccessor(buffer, space, const=True) for space in (GPU, GPU, second)]
    wait_all([reader.open() for reader in readers])
    for reader in readers:
        with reader.on_device():
            assert float(reader.array.sum()) == 8.0
    writers = [DeviceAccessor(buffer, space) for space in (second, GPU)]
    first, then = [writer.open() for writer in writers]
    for reader in readers:
        assert not first.done()
        reader.close()
    first.result(PATIENCE)
    assert not then.done()
    writers[0].close()
    then.result(PATIENCE)
    assert len(buffer.table.holders) == 1
    writers[1].close()


@pytest.mark.spec("ACC-24")
def test_the_close_of_a_writer_moves_the_truth(buffer: Buffer, second: str) -> None:
    version = buffer.version
    accessor = DeviceAccessor(buffer, second)
    accessor.open().result(PATIENCE)
    assert buffer.version == version
    with accessor.on_device():
        accessor.array[...] = 2.0
    accessor.close().result(PATIENCE)
    assert buffer.version == version + 1
    assert buffer.memory_chunks()[0].tag == second


@pytest.mark.spec("ACC-22", "ACC-6", "ACC-24")
def test_the_future_of_close_waits_for_the_preferred_space(buffer: Buffer) -> None:
    buffer.set_preferred("host")
    accessor = DeviceAccessor(buffer)
    accessor.open().result(PATIENCE)
    accessor.array[...] = 2.0
    accessor.close().result(PATIENCE)
    assert buffer.is_valid("host")
    assert buffer.memory_chunks()[0].tag == HOST


@pytest.mark.spec("ACC-25")
def test_the_close_of_a_reader_leaves_the_truth(buffer: Buffer) -> None:
    before = buffer.version, buffer.point_of_truth()
    with DeviceAccessor(buffer, const=True) as accessor:
        assert accessor.const
        assert float(accessor.array.sum()) == 8.0
    assert (buffer.version, buffer.point_of_truth()) == before


@pytest.mark.spec("ACC-18")
def test_a_const_device_array_cannot_be_written(device: str, buffer: Buffer) -> None:
    with DeviceAccessor(buffer, const=True) as accessor:
        if device == "emulated":
            with pytest.raises(ValueError, match="read-only"):
                accessor.kernel_array[...] = 2.0
    assert HostAccessor(buffer, const=True)[0, 0] == 1.0


@pytest.mark.spec("ACC-31")
def test_a_write_only_accessor_copies_nothing_in(buffer: Buffer) -> None:
    with DeviceAccessor(buffer, mode=AccessMode.WRITE_ONLY) as accessor:
        accessor.array[...] = 2.0
    assert buffer.stats.count == 0


# -- waits that cannot end, and tasks that fail ------------------------------------------------


@pytest.mark.spec("ACC-13", "ACC-16", "ACC-19")
def test_a_wait_that_could_never_end_is_refused(buffer: Buffer) -> None:
    with DeviceAccessor(buffer):
        with pytest.raises(AccessDeadlockError, match='"b"'):
            HostAccessor(buffer, const=True)[0, 0]
        second = DeviceAccessor(buffer)
        with pytest.raises(AccessDeadlockError, match="wait forever"):
            second.open().result(PATIENCE)
        second.close().result(PATIENCE)
    with DeviceAccessor(buffer, const=True), pytest.raises(AccessDeadlockError):
        HostAccessor(buffer)[0, 0] = 1.0
    assert HostAccessor(buffer, const=True)[0, 0] == 1.0


@pytest.mark.spec("ACC-19")
def test_a_block_that_cannot_begin_leaves_nothing_that_others_wait_for(buffer: Buffer) -> None:
    with DeviceAccessor(buffer, const=True):
        with pytest.raises(AccessDeadlockError), DeviceAccessor(buffer, "host"):
            pass
        assert not buffer.table.queue
        assert Worker()(lambda: HostAccessor(buffer, const=True)[0, 0]) == 1.0


@pytest.mark.spec("ACC-19")
def test_two_threads_that_wait_for_each_other() -> None:
    first, second = Buffer(4, init=0.0), Buffer(4, init=0.0)
    mine, theirs = DeviceAccessor(first), Task(second)
    mine.open().result(PATIENCE)
    other = theirs.thread.start(lambda: HostAccessor(first)[0])
    wait_for_queue(first)
    with pytest.raises(AccessDeadlockError):
        HostAccessor(second)[0] = 1.0
    mine.close()
    assert other.result(PATIENCE) == 0.0
    theirs.close()


@pytest.mark.spec("ACC-21", "ACC-23")
def test_who_is_closed_before_it_is_open_leaves_the_queue(buffer: Buffer) -> None:
    task = Task(buffer)
    given_up, next_one = DeviceAccessor(buffer), DeviceAccessor(buffer, const=True)
    first, then = given_up.open(), next_one.open()
    given_up.close().result(PATIENCE)
    assert isinstance(first.exception(PATIENCE), AccessReleasedError)
    task.close()
    then.result(PATIENCE)
    next_one.close()
    assert not buffer.table.queue


@pytest.mark.spec("ACC-13", "ACC-23")
def test_a_task_in_flight_closes_by_itself(buffer: Buffer) -> None:
    accessor, work = DeviceAccessor(buffer), Future[None]()
    accessor.open().result(PATIENCE)
    accessor.array[...] = 6.0
    accessor.close_after(work)
    ender = threading.Thread(target=lambda: (wait_for_queue(buffer), work.set_result(None)))
    ender.start()
    assert HostAccessor(buffer, const=True)[0, 0] == 6.0
    ender.join(PATIENCE)


@pytest.mark.spec("ACC-40")
@pytest.mark.parametrize("how", ["block", "work", "close"])
def test_what_a_failed_task_wrote_cannot_be_read(buffer: Buffer, how: str) -> None:
    accessor = DeviceAccessor(buffer)
    match how:
        case "block":
            with pytest.raises(OSError, match="broken"), accessor:
                raise OSError("broken")
        case "work":
            accessor.open().result(PATIENCE)
            accessor.close_after(Future.failed(OSError("broken")))
        case "close":
            accessor.open().result(PATIENCE)
            accessor.close(OSError("broken")).result(PATIENCE)
    assert buffer.table.holders == []
    with pytest.raises(PoisonedDataError, match="broken"):
        HostAccessor(buffer, const=True)[0, 0]
    with pytest.raises(PoisonedDataError):
        DeviceAccessor(buffer).open().result(PATIENCE)
    with DeviceAccessor(buffer, mode=AccessMode.WRITE_ONLY) as writer:
        writer.array[...] = 1.0
    assert HostAccessor(buffer, const=True)[0, 0] == 1.0
