"""Tests of guarantees that a small change of the code could break."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.errors import PoisonedDataError
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.core.validity import ReplicaState
from psyclone_storage.storage.memory.stream import Stream
from storage_threads import PATIENCE, Worker, wait_for_queue

READ, WRITE_ONLY, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
HOST, GPU = "host", "gpu"


def made(label: str = "p") -> CoherentBuffer:
    buffer = CoherentBuffer(8, "f8", BufferOptions(label=label, init=0.0))
    buffer.make_valid(HOST)
    return buffer


@pytest.mark.spec("GDP-125")
def test_a_view_to_be_overwritten_keeps_the_rest_of_the_field() -> None:
    field = gt.storage(np.arange(6.0), device="gpu")
    with field.access("gpu", "rw") as array:
        array[...] += 1.0
    field[2:4].data_wo[...] = 9.0
    assert field.data_ro.tolist() == [1.0, 2.0, 9.0, 9.0, 5.0, 6.0]
    with field[:2].access("gpu", "w") as array:
        array[...] = 7.0
    assert field.data_ro.tolist() == [7.0, 7.0, 9.0, 9.0, 5.0, 6.0]


@pytest.mark.spec("ACC-14", "ACC-39")
def test_all_readers_that_wait_for_a_writer_resume_without_a_timeout() -> None:
    buffer = made()
    both = threading.Barrier(3)

    def read() -> None:
        with buffer.acquire(HOST, READ, Policy.WAIT):
            both.wait(PATIENCE)

    with buffer.acquire(HOST, READ_WRITE):
        reading = [Worker().start(read) for _ in range(2)]
        wait_for_queue(buffer, 2)
    both.wait(PATIENCE)
    for each in reading:
        each.result(PATIENCE)


@pytest.mark.spec("ACC-23")
def test_a_reader_behind_a_writer_in_line_waits_for_it() -> None:
    buffer = made()
    order: list[str] = []

    def use(mode: AccessMode, name: str) -> None:
        with buffer.acquire(HOST, mode, Policy.WAIT):
            order.append(name)

    with buffer.acquire(HOST, READ):
        writing = Worker().start(use, READ_WRITE, "writer")
        wait_for_queue(buffer)
        reading = Worker().start(use, READ, "reader")
        wait_for_queue(buffer, 2)
    writing.result(PATIENCE)
    reading.result(PATIENCE)
    assert order == ["writer", "reader"]


@pytest.mark.spec("GDP-31", "ACC-40")
def test_what_a_failed_task_left_is_not_written_back() -> None:
    mine = np.zeros(4)
    fields = [gt.as_storage(mine, device="gpu", label="mine")]
    with pytest.raises(ZeroDivisionError), fields[0].access("gpu", "rw") as array:
        array[...] = 5.0 / int(array.size == 0)
    with pytest.warns(RuntimeWarning, match='"mine" were not written back: the task'):
        fields.clear()
    assert mine.tolist() == [0.0] * 4


def test_nobody_overtakes_a_running_job() -> None:
    stream = Stream("a stream")
    goes_on, runs = threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        runs.set()
        goes_on.wait(PATIENCE)
        order.append("first")

    submitted = stream.submit(first)
    runs.wait(PATIENCE)
    stream.submit(order.append, "second")
    last = Worker().start(stream.run, order.append, "third")
    assert order == []
    assert not stream.idle
    goes_on.set()
    submitted.result(PATIENCE)
    last.result(PATIENCE)
    stream.synchronize()
    assert order == ["first", "second", "third"]
    assert stream.idle


@pytest.mark.spec("ACC-40")
@pytest.mark.parametrize("mode", [READ, READ_WRITE])
def test_only_writing_everything_mends(mode: AccessMode) -> None:
    buffer = made()
    with pytest.raises(ZeroDivisionError), buffer.acquire(HOST, READ_WRITE):
        _ = 1 / 0
    buffer.acquire(HOST, mode, request=AccessRequest(ignore_failed=True)).release()
    buffer.acquire(HOST, WRITE_ONLY, request=AccessRequest(region=(0, 4))).release()
    with pytest.raises(PoisonedDataError):
        buffer.acquire(HOST)
    buffer.acquire(HOST, WRITE_ONLY).release()
    buffer.acquire(HOST).release()


def test_a_replica_that_was_dropped_never_held_anything() -> None:
    buffer = made()
    buffer.make_valid(GPU)
    buffer.acquire(HOST, READ_WRITE).release()
    states = {state.space.tag: state.freshness[0] for state in buffer.incarnations()}
    assert ReplicaState.STALE in states.values()
    buffer.drop_replica(GPU)
    states = {state.space.tag: state.freshness[0] for state in buffer.incarnations()}
    assert set(states.values()) == {ReplicaState.VALID, ReplicaState.UNINITIALISED}


def test_what_failed_on_the_host_has_nothing_to_be_written_back(
    recwarn: pytest.WarningsRecorder,
) -> None:
    mine = np.zeros(4)
    fields = [gt.as_storage(mine, device="gpu")]
    with pytest.raises(ZeroDivisionError), fields[0].access(None, "rw") as array:
        array[...] = 5.0 / int(array.size == 0)
    fields.clear()
    assert not [each for each in recwarn if each.category is RuntimeWarning]


def test_nobody_overtakes_a_job_that_is_in_line() -> None:
    stream = Stream("a stream")
    order: list[str] = []
    with stream._running:
        submitted = stream.submit(order.append, "first")
        stream.submit(order.append, "second")
    submitted.result(PATIENCE)
    stream.synchronize()
    assert order == ["first", "second"]
