"""Tests of access conflicts: the three policies, deadlocks, futures and threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.acquire import PendingAccesses
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import row_blocks
from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessDeadlockError,
    DeviceUnavailableError,
    PoisonedDataError,
)
from psyclone_storage.storage.core.futures import Future, wait_all
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import device_space
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.memory.registry import memory_of
from storage_threads import PATIENCE

READ, WRITE_ONLY, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
AUTO, WAIT, RAISE = Policy.AUTO, Policy.WAIT, Policy.RAISE
HOST, GPU, GPU1 = "host", "gpu", "gpu:1"


@pytest.fixture
def buffer() -> CoherentBuffer:
    made = CoherentBuffer(8, "f8", BufferOptions(label="b", init=0.0))
    made.make_valid(HOST)
    return made


class Worker:
    """A thread that executes calls one by one, so that a test can alternate between two threads."""

    def __init__(self) -> None:
        self.context = Context("test", 0, Context.host().space)

    def __call__(self, work: Callable[..., Any], *args: Any) -> Any:
        return self.start(work, *args).result(PATIENCE)

    def start(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        return self.context.submit(work, *args)


@contextmanager
def held_elsewhere(buffer: CoherentBuffer, *how: Any) -> Iterator[Worker]:
    other = Worker()
    token = other(buffer.acquire, *how)
    yield other
    if token.active:
        other(token.release)


# -- RAISE -------------------------------------------------------------------------------------


@pytest.mark.spec("HM-65", "HM-66", "HM-67", "HM-61")
@pytest.mark.parametrize(("space", "mode"), [(HOST, READ), (HOST, READ_WRITE), (GPU, READ)])
def test_after_a_write_on_a_device_nothing_else_goes(
    buffer: CoherentBuffer, space: str, mode: AccessMode
) -> None:
    refusal = pytest.raises(AccessConflictError, match=r'"b" \(8 x float64\) at node:0.* is not')
    with buffer.acquire(GPU, READ_WRITE, RAISE), refusal:
        buffer.acquire(space, mode, RAISE)
    buffer.acquire(space, mode, RAISE).release()


@pytest.mark.spec("HM-68", "HM-69", "HM-70", "HM-63", "HM-73")
@pytest.mark.parametrize(
    ("space", "mode", "possible"),
    [
        (HOST, READ, True),
        (HOST, READ_WRITE, False),
        (GPU, READ_WRITE, True),
        (GPU, WRITE_ONLY, True),
        (GPU1, WRITE_ONLY, False),
    ],
)
def test_after_a_read_on_a_device(
    buffer: CoherentBuffer, space: str, mode: AccessMode, possible: bool
) -> None:
    with buffer.acquire(GPU, READ, RAISE) as read:
        if possible:
            buffer.acquire(space, mode, RAISE).release()
            assert read.kernel_array.tolist() == [0.0] * 8
        else:
            with pytest.raises(AccessConflictError):
                buffer.acquire(space, mode, RAISE)


@pytest.mark.spec("HM-74")
def test_reading_after_write_only_fails(buffer: CoherentBuffer) -> None:
    with buffer.acquire(HOST, WRITE_ONLY, RAISE), pytest.raises(AccessConflictError):
        buffer.acquire(HOST, READ, RAISE)


@pytest.mark.spec("HM-62", "ACC-39")
@pytest.mark.parametrize(
    ("theirs", "ours", "possible"),
    [(READ, READ, True), (READ, READ_WRITE, False), (READ_WRITE, READ, False)],
)
def test_other_threads_conflict_if_one_writes(
    buffer: CoherentBuffer, theirs: AccessMode, ours: AccessMode, possible: bool
) -> None:
    with held_elsewhere(buffer, HOST, theirs, RAISE):
        if possible:
            buffer.acquire(HOST, ours, RAISE).release()
        else:
            with pytest.raises(AccessConflictError, match="of another thread or task"):
                buffer.acquire(HOST, ours, RAISE)


def test_a_refused_access_leaves_no_trace(buffer: CoherentBuffer) -> None:
    with buffer.acquire(GPU, READ, RAISE):
        with pytest.raises(AccessConflictError):
            buffer.acquire(HOST, READ_WRITE, RAISE)
        assert buffer.is_valid(HOST)
        assert len(buffer.table.holders) == 1
    with pytest.raises(DeviceUnavailableError):
        buffer.acquire("gpu:7")
    assert not buffer.table.holders
    buffer.acquire(HOST, READ_WRITE, RAISE).release()


# -- WAIT and AUTO -----------------------------------------------------------------------------


@pytest.mark.spec("ACC-13", "ACC-16", "ACC-23", "ACC-39")
@pytest.mark.parametrize("policy", [WAIT, AUTO])
@pytest.mark.parametrize("modes", [(READ_WRITE, READ), (READ, READ_WRITE)])
def test_waiting_ends_with_the_release(
    buffer: CoherentBuffer, policy: Policy, modes: tuple[AccessMode, AccessMode]
) -> None:
    theirs, ours = modes
    other = Worker()
    with buffer.acquire(GPU, theirs, policy) as held:
        waiting = other.start(buffer.acquire, HOST, ours, policy)
        time.sleep(0.02)
        assert not waiting.done()
        if theirs.writes:
            held.kernel_array[:] = 4.0
    token = waiting.result(PATIENCE)
    assert token.array[0] == (4.0 if theirs.writes else 0.0)
    token.release()


@pytest.mark.spec("ACC-14")
def test_readers_do_not_wait_for_readers(buffer: CoherentBuffer) -> None:
    with held_elsewhere(buffer, GPU, READ, WAIT):
        token = buffer.acquire(HOST, READ, WAIT)
        assert token.active
        token.release()


def test_a_reader_does_not_overtake_a_writer_that_waits(buffer: CoherentBuffer) -> None:
    order: list[str] = []
    writer, reader = Worker(), Worker()

    def use(name: str, mode: AccessMode) -> None:
        with buffer.acquire(HOST, mode, WAIT):
            order.append(name)

    with buffer.acquire(HOST, READ, WAIT):
        first = writer.start(use, "writer", READ_WRITE)
        while not buffer.table.queue:
            time.sleep(0.001)
        second = reader.start(use, "reader", READ)
        while len(buffer.table.queue or ()) < 2:
            time.sleep(0.001)
        buffer.acquire(HOST, READ, WAIT).release()
    first.result(PATIENCE)
    second.result(PATIENCE)
    assert order == ["writer", "reader"]


def test_waiting_for_oneself_is_a_deadlock(buffer: CoherentBuffer) -> None:
    with buffer.acquire(GPU, READ_WRITE, WAIT):
        with pytest.raises(AccessDeadlockError, match="would wait forever"):
            buffer.acquire(HOST, READ, WAIT)
        with pytest.raises(AccessDeadlockError):
            buffer.acquire(GPU, READ, WAIT)
    assert not buffer.table.queue
    buffer.acquire(HOST, READ_WRITE, WAIT).release()


def test_waiting_in_a_circle_is_a_deadlock(buffer: CoherentBuffer) -> None:
    second = CoherentBuffer(8, "f8", BufferOptions(label="c", init=0.0))
    other = Worker()
    with buffer.acquire(HOST, READ_WRITE, WAIT) as mine:
        theirs = other(second.acquire, HOST, READ_WRITE, WAIT)
        waiting = other.start(buffer.acquire, HOST, READ_WRITE, WAIT)
        while not buffer.table.queue:
            time.sleep(0.001)
        with pytest.raises(AccessDeadlockError, match='"c"'):
            second.acquire(HOST, READ_WRITE, WAIT)
        mine.release()
        other(waiting.result(PATIENCE).release)
    other(theirs.release)
    second.acquire(HOST, READ_WRITE, WAIT).release()


def test_two_readers_that_both_want_to_write_are_a_deadlock(buffer: CoherentBuffer) -> None:
    other = Worker()
    mine = buffer.acquire(HOST, READ, AUTO)
    theirs = other(buffer.acquire, HOST, READ, AUTO)
    waiting = other.start(buffer.acquire, HOST, READ_WRITE, AUTO)
    while not buffer.table.queue:
        time.sleep(0.001)
    with pytest.raises(AccessDeadlockError):
        buffer.acquire(HOST, READ_WRITE, AUTO)
    mine.release()
    other(waiting.result(PATIENCE).release)
    other(theirs.release)


def test_auto_takes_an_alias_and_refuses_two_places_at_once(buffer: CoherentBuffer) -> None:
    with buffer.acquire(GPU, READ_WRITE, AUTO) as out, buffer.acquire(GPU, READ, AUTO) as into:
        out.kernel_array[:] = 2.0
        assert into.kernel_array[0] == 2.0
        with pytest.raises(AccessConflictError, match="of this thread") as caught:
            buffer.acquire(HOST, READ, AUTO)
        assert not isinstance(caught.value, AccessDeadlockError)
    buffer.acquire(HOST, READ, AUTO).release()


def test_disjoint_chunks_do_not_conflict() -> None:
    buffer = CoherentBuffer(8, "f8", BufferOptions(chunks=row_blocks(2, 4, 2), init=0.0))
    left, right = AccessRequest(region=(0, 4)), AccessRequest(region=(4, 8))
    with buffer.acquire(GPU, READ_WRITE, RAISE, left) as one:
        with buffer.acquire(HOST, READ_WRITE, RAISE, right) as two:
            one.kernel_array[:4] = 1
            two.array[4:] = 2
        with pytest.raises(AccessConflictError):
            buffer.acquire(HOST, READ, RAISE)
    with buffer.acquire(HOST) as access:
        assert access.array.tolist() == [1.0] * 4 + [2.0] * 4


# -- futures -----------------------------------------------------------------------------------


@pytest.mark.spec("ACC-18", "ACC-19", "ACC-20", "ACC-21", "ACC-22")
def test_opens_overlap_and_resolve_when_safe() -> None:
    use_device("emulated", Emulation(latency=0.3))
    buffers = [CoherentBuffer(8, "f8", BufferOptions(init=0.0)) for _ in range(2)]
    for each in buffers:
        each.make_valid(HOST)
    futures = [buffers[0].open(GPU, READ_WRITE), buffers[1].open(GPU1, READ)]
    assert not any(future.done() for future in futures)
    tokens = wait_all(futures)
    assert [t.kernel_array.tolist() for t in tokens] == [[0.0] * 8] * 2
    assert all(b.close(t).result(PATIENCE) is None for b, t in zip(buffers, tokens, strict=True))
    assert not buffers[0].is_valid(HOST)
    assert buffers[1].is_valid(HOST)


@pytest.mark.spec("ACC-19", "ACC-23")
def test_an_open_waits_for_the_release_of_the_other(buffer: CoherentBuffer) -> None:
    first = buffer.open(GPU, READ_WRITE).result(PATIENCE)
    second = buffer.open(GPU1, READ)
    assert not second.done()
    first.kernel_array[:] = 6.0
    buffer.close(first)
    token = second.result(PATIENCE)
    assert token.kernel_array.tolist() == [6.0] * 8
    token.release()


@pytest.mark.spec("ACC-19")
def test_who_waits_for_itself_gives_up_what_it_asked_for(buffer: CoherentBuffer) -> None:
    first = buffer.open(GPU, READ_WRITE).result(PATIENCE)
    second = buffer.open(GPU1, READ_WRITE)
    for _ in range(2):
        with pytest.raises(AccessDeadlockError):
            second.result(PATIENCE)
        assert not buffer.table.queue
    buffer.close(first)
    assert buffer.table.holders == []
    Worker()(buffer.acquire, HOST, READ_WRITE).release()


def test_memory_that_runs_out_fails_the_future_and_frees_the_lock(
    buffer: CoherentBuffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(memory_of(device_space(0)), "allocate", exhausted)
    for ask in (lambda: buffer.open(GPU, READ_WRITE), lambda: buffer.prefetch(GPU)):
        with pytest.raises(MemoryError, match="no room"):
            ask().result(PATIENCE)
    with pytest.raises(MemoryError):
        buffer.acquire(GPU)
    assert not buffer.table.holders
    assert buffer.is_valid(HOST)
    buffer.acquire(HOST, READ_WRITE, RAISE).release()


def test_an_access_in_flight_is_waited_for(buffer: CoherentBuffer) -> None:
    token = buffer.open(GPU, READ_WRITE).result(PATIENCE)
    device = Context.get(Context.CUDA, 0)
    array = token.kernel_array

    def kernel() -> None:
        time.sleep(0.02)
        array[:] = 3.0

    token.release_after(device.submit(kernel))
    with buffer.acquire(HOST, READ, WAIT) as access:
        assert access.array.tolist() == [3.0] * 8


def test_a_task_that_fails_in_flight_poisons(buffer: CoherentBuffer) -> None:
    token = buffer.open(GPU, READ_WRITE).result(PATIENCE)
    token.release_after(Context.get(Context.CUDA, 0).submit(lambda: 1 / 0))
    Context.get(Context.CUDA, 0).synchronize()
    with pytest.raises(Exception, match="failed"):
        buffer.acquire(HOST, READ, WAIT)
    assert isinstance(buffer.poisoned, ZeroDivisionError)


@pytest.mark.spec("HM-75", "HM-76", "HM-77", "HM-78")
def test_a_prefetch_overlaps_and_the_next_access_waits() -> None:
    use_device("emulated", Emulation(latency=0.3))
    fresh = CoherentBuffer(8, "f8", BufferOptions(init=1.0))
    fresh.make_valid(HOST)
    begin = time.perf_counter()
    prefetched = fresh.prefetch(GPU)
    found = prefetched.done(), fresh.is_valid(GPU), fresh.incarnations()[1].pending
    if time.perf_counter() - begin < 0.3:  # otherwise other programs have taken that time
        assert found == (False, False, True)
    fresh.acquire(HOST, READ, RAISE).release()
    fresh.acquire(GPU, READ, RAISE).release()
    assert time.perf_counter() - begin >= 0.3
    assert prefetched.done()
    assert fresh.stats.count == 1


@pytest.mark.spec("HM-76")
@pytest.mark.parametrize("policy", list(Policy))
def test_a_write_waits_for_a_prefetch_of_the_old_values(policy: Policy) -> None:
    use_device("emulated", Emulation(latency=0.02))
    buffer = CoherentBuffer(8, "f8", BufferOptions(init=1.0))
    buffer.make_valid(HOST)
    buffer.prefetch(GPU)
    with buffer.acquire(HOST, READ_WRITE, policy) as access:
        access.array[:] = 2.0
    assert not buffer.is_valid(GPU)
    with buffer.acquire(GPU, READ, policy) as access:
        assert access.kernel_array[0] == 2.0


def test_prefetches_to_two_devices_and_back_meet_in_the_middle() -> None:
    first, second = (CoherentBuffer(1000, "f8", BufferOptions(init=float(i))) for i in range(2))
    first.touch(GPU)
    second.touch(GPU1)
    for _ in range(50):
        first.touch(GPU)
        second.touch(GPU1)
        wait_all([first.prefetch(GPU1), second.prefetch(GPU)])
        first.touch(GPU1)
        second.touch(GPU)
        wait_all([first.prefetch(GPU), second.prefetch(GPU1)])
    assert first.is_valid(GPU)
    assert second.is_valid(GPU1)


def test_futures_tell_their_callbacks_and_time_out() -> None:
    future: Future[int] = Future()
    seen: list[int] = []
    future.then(lambda done: seen.append(done.result()))
    with pytest.raises(TimeoutError, match=r"0\.001 s"):
        future.result(0.001)
    future.set_result(3)
    future.then(lambda done: seen.append(done.result() + 1))
    assert seen == [3, 4]
    assert Future.completed(5).result() == 5
    with pytest.raises(KeyError):
        wait_all([Future.failed(KeyError("k")), future])


# -- threads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [WAIT, AUTO])
def test_many_threads_on_one_buffer_lose_no_update(policy: Policy) -> None:
    buffer = CoherentBuffer(64, "i8", BufferOptions(init=0))
    spaces, rounds = [HOST, GPU, GPU1], 60
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        try:
            for _ in range(rounds):
                space = spaces[random.integers(3)]
                with buffer.acquire(space, READ_WRITE, policy) as access:
                    access.kernel_array[:] += 1
                with buffer.acquire(spaces[random.integers(3)], READ, policy) as access:
                    assert len(set(access.kernel_array.tolist())) == 1
                if random.random() < 0.3:
                    buffer.prefetch(spaces[random.integers(3)])
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    buffer.wait()
    with buffer.acquire(HOST) as access:
        assert access.array.tolist() == [4 * rounds] * 64
    assert buffer.version == 4 * rounds
    assert not buffer.table.holders


def test_who_holds_the_data_passes_those_who_wait(buffer: CoherentBuffer) -> None:
    """A second read of one owner is granted before a write that waits for the first one."""
    first = buffer.acquire(HOST, READ, WAIT)
    writer = buffer.open(HOST, READ_WRITE, AccessRequest(owner="another"))
    assert not writer.done()
    second = buffer.acquire(HOST, READ, WAIT)
    assert not writer.done()
    stranger = buffer.open(HOST, READ, AccessRequest(owner="a third"))
    assert not stranger.done()
    # A request that never waits conflicts with what is held only.
    buffer.acquire(HOST, READ, RAISE, AccessRequest(owner="a fourth")).release()
    first.release()
    second.release()
    writer.result(PATIENCE).release()
    stranger.result(PATIENCE).release()


@pytest.mark.parametrize("mode", [READ, READ_WRITE, WRITE_ONLY])
def test_accesses_that_are_abandoned_lose_only_what_they_have_invalidated(
    buffer: CoherentBuffer, mode: AccessMode
) -> None:
    with buffer.acquire(HOST, WRITE_ONLY) as token:
        token.array[...] = 3.0
    opening = PendingAccesses((buffer.token(HOST, mode, WAIT),))
    opening.begun().result(PATIENCE)
    opening.abandon(KeyboardInterrupt())
    if mode is WRITE_ONLY:
        with pytest.raises(PoisonedDataError):
            buffer.acquire(HOST, READ)
        buffer.acquire(HOST, WRITE_ONLY).release()
    else:
        with buffer.acquire(HOST, READ) as token:
            assert set(token.array.tolist()) == {3.0}
    assert not buffer.table.holders
