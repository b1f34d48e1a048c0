"""Tests of several accesses in one call: all or none are granted, without deadlocks."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage import accessors, hmemo, kokkos
from psyclone_storage.storage.accessors import DeviceAccessor, GpuTask, HostAccessor
from psyclone_storage.storage.core.acquire import PendingAccesses, acquire_all
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import row_blocks
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessDeadlockError,
    AccessReleasedError,
    PoisonedDataError,
)
from psyclone_storage.storage.core.lifetime import DROPPED
from psyclone_storage.storage.core.locks import AccessMode, Policy, _all_locked
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.core.waiting import WAITS
from storage_threads import PATIENCE, RUNS, THREADS, Worker, race, wait_for_queue, wait_until

READ, WRITE_ONLY, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
HOST, GPU = "host", "gpu"


def made(label: str, size: int = 8) -> CoherentBuffer:
    buffer = CoherentBuffer(size, "f8", BufferOptions(label=label, init=0.0))
    buffer.make_valid(HOST)
    return buffer


def begun(tokens: Any) -> PendingAccesses:
    opening = PendingAccesses(tokens)
    opening.begin()
    return opening


def free(*buffers: Any) -> bool:
    return all(not b.table.holders and not b.table.queue for b in buffers)


def values(buffer: CoherentBuffer) -> list[float]:
    with buffer.acquire(HOST) as token:
        found: list[float] = token.array.tolist()
        return found


def crossed(work: Callable[[Any, Any], Any], x: Any, y: Any) -> list[Callable[[], Any]]:
    """Return one call of `work` for each thread, with alternating order of the two arguments."""
    return [partial(work, *((x, y) if number % 2 else (y, x))) for number in range(THREADS)]


# -- tasks in opposite order ---------------------------------------------------------------------


def crossing(x: accessors.Buffer, y: accessors.Buffer) -> None:
    task = GpuTask("both").register(x, mode="rw").register(y, mode="rw")
    task.submit(lambda a, b: (a.__iadd__(1.0), b.__iadd__(1.0))).result(PATIENCE)


@pytest.mark.spec("ACC-36", "ACC-19")
def test_tasks_that_use_two_buffers_in_opposite_order_end() -> None:
    for _ in range(RUNS):
        x, y = accessors.Buffer(np.zeros(4)), accessors.Buffer(np.zeros(4))
        assert race(crossed(crossing, x, y)) == []
        assert values(x) == values(y) == [float(THREADS)] * 4
        assert free(x, y)


@pytest.mark.spec("ACC-36", "ACC-19")
def test_tasks_in_opposite_order_end_when_it_is_forced() -> None:
    """Both tasks wait for both buffers before either one gets an access."""
    x, y = accessors.Buffer(np.zeros(4)), accessors.Buffer(np.zeros(4))
    with ExitStack() as stack:
        stack.enter_context(x.acquire(HOST, READ_WRITE))
        stack.enter_context(y.acquire(HOST, READ_WRITE))
        tasks = [GpuTask("xy").register(x, mode="rw").register(y, mode="rw")]
        tasks.append(GpuTask("yx").register(y, mode="rw").register(x, mode="rw"))
        done = [task.submit(lambda a, b: (a.__iadd__(1.0), b.__iadd__(1.0))) for task in tasks]
        wait_for_queue(x, 2)
        wait_for_queue(y, 2)
    for each in done:
        each.result(PATIENCE)
    assert values(x) == values(y) == [2.0] * 4


def test_a_task_in_line_for_what_its_waiter_holds_is_a_deadlock() -> None:
    """A task may wait for the thread that waits for the task."""
    x, y = accessors.Buffer(np.zeros(4)), accessors.Buffer(np.zeros(4))
    with x.acquire(HOST, READ_WRITE):
        first = GpuTask("first").register(x, mode="rw").register(y, mode="rw").submit(print)
        with pytest.raises(AccessDeadlockError):
            first.result(PATIENCE)
    with pytest.raises(AccessDeadlockError):
        first.result(PATIENCE)
    wait_until(lambda: free(x, y))
    assert values(x) == values(y) == [0.0] * 4


@pytest.mark.parametrize("policy", [Policy.WAIT, Policy.AUTO])
@pytest.mark.parametrize("also_read", [False, True])
def test_who_waits_in_line_for_a_thread_is_passed_by_it(policy: Policy, also_read: bool) -> None:
    """A waiting group has no access, so an access that it also waits for may precede it."""
    x, y = accessors.Buffer(np.zeros(4)), accessors.Buffer(np.zeros(4))
    reader, writer = Worker(), Worker()
    held = reader(y.acquire, HOST, READ, Policy.WAIT) if also_read else None
    with x.acquire(HOST, READ_WRITE, policy):
        group = GpuTask("xy").register(x, mode="rw").register(y, mode="rw")
        done = group.submit(lambda a, b: (a.__iadd__(1.0), b.__iadd__(1.0)))
        assert not any(claim.mode.writes for claim in y.table.holders)
        if held is not None:
            # The reader ends as soon as this thread is in line.
            ended = writer.start(lambda: (wait_for_queue(y, 2), reader(held.release)))
        with y.acquire(HOST, READ_WRITE, policy) as token:
            token.array[...] += 2.0
        if held is not None:
            ended.result(PATIENCE)
    done.result(PATIENCE)
    assert (values(x), values(y)) == ([1.0] * 4, [3.0] * 4)
    assert free(x, y)


def test_two_threads_that_hold_what_the_other_wants_are_a_deadlock_behind_a_group() -> None:
    x, y = accessors.Buffer(np.zeros(4)), accessors.Buffer(np.zeros(4))
    other = Worker()
    held = other(y.acquire, HOST, READ_WRITE, Policy.WAIT)
    with x.acquire(HOST, READ_WRITE):
        done = GpuTask("xy").register(x, mode="rw").register(y, mode="rw").submit(print)
        waits = other.start(x.acquire, HOST, READ_WRITE, Policy.WAIT)
        wait_for_queue(x, 2)
        with pytest.raises(AccessDeadlockError):
            y.acquire(HOST, READ_WRITE, Policy.WAIT)
    other(waits.result(PATIENCE).release)
    other(held.release)
    done.result(PATIENCE)
    assert free(x, y)


# -- calls with several arguments ----------------------------------------------------------------


def gpu_storages(count: int = 2) -> list[Any]:
    return [gt.zeros((4,), device="gpu", label=f"s{i}") for i in range(count)]


def cpu_storages(count: int = 2) -> list[Any]:
    return [gt.zeros((4,), label=f"s{i}") for i in range(count)]


def increment_bound(first: Any, second: Any) -> None:
    arguments = {"a": first, "b": second}
    with gt.bound(arguments, device=first.device, writes=["a", "b"]) as arrays:
        arrays["a"][...] += 1.0
        arrays["b"][...] += 1.0


@pytest.mark.spec("GDP-26")
@pytest.mark.parametrize("make", [gpu_storages, cpu_storages])
def test_bound_arguments_in_opposite_order(make: Callable[[], list[Any]]) -> None:
    for _ in range(RUNS):
        x, y = make()
        assert race(crossed(increment_bound, x, y)) == []
        assert x.data_ro.tolist() == y.data_ro.tolist() == [float(THREADS)] * 4
        assert free(x.buffer, y.buffer)


def test_views_copied_onto_each_other() -> None:
    for _ in range(RUNS):
        x, y = (kokkos.View["double*"](label, 4) for label in "xy")
        assert race(crossed(kokkos.deep_copy, x, y)) == []


def test_storages_assigned_to_each_other() -> None:
    for _ in range(RUNS):
        x, y = gpu_storages()
        assert race(crossed(lambda a, b: a.__setitem__(..., b), x, y)) == []
        assert free(x.buffer, y.buffer)


def test_arrays_that_wait_are_combined_in_any_order() -> None:
    for _ in range(RUNS):
        x, y = (hmemo.LArray(np.ones(4), on_conflict="wait") for _ in range(2))
        assert race(crossed(lambda a, b: a.__iadd__(b), x, y)) == []
        assert free(x.buffer, y.buffer)


def use_some(buffers: list[CoherentBuffer], plan: list[Any]) -> None:
    """Add 1 to the buffers that each part of the plan selects, with or without blocking."""
    for chosen, waits in plan:
        tokens = [buffers[i].token((HOST, GPU)[i % 2], READ_WRITE, Policy.WAIT) for i in chosen]
        if waits:
            acquire_all(tokens)
        else:
            begun(tokens).ready.result(PATIENCE)
        for token in tokens:
            array = token.kernel_array
            array += 1.0
            token.release()


@pytest.mark.parametrize("seed", range(3))
def test_any_sets_in_any_order(seed: int) -> None:
    """Request random groups of buffers on both sides, with and without blocking."""
    rng = np.random.default_rng(seed)
    for _ in range(RUNS):
        buffers = [made(str(i), 1) for i in range(4)]
        plans = [
            [(rng.permutation(4)[: rng.integers(1, 5)], rng.integers(2)) for _ in range(4)]
            for _ in range(THREADS)
        ]

        assert race([partial(use_some, buffers, plan) for plan in plans]) == []
        counts = np.bincount(np.concatenate([c for plan in plans for c, _ in plan]), minlength=4)
        assert [values(b)[0] for b in buffers] == counts.tolist()
        assert free(*buffers)


# -- all or none ---------------------------------------------------------------------------------


def test_a_group_that_cannot_be_has_touched_nothing() -> None:
    x, y = made("x"), made("y")
    with y.acquire(GPU, READ_WRITE) as token:
        token.release(ValueError("broken"))
    with pytest.raises(PoisonedDataError):
        acquire_all([x.token(GPU, WRITE_ONLY), y.token(HOST)])
    assert free(x, y)
    assert values(x) == [0.0] * 8
    opening = begun([x.token(GPU, WRITE_ONLY), y.token(HOST)])
    with pytest.raises(PoisonedDataError):
        opening.ready.result(PATIENCE)
    assert free(x, y)
    assert values(x) == [0.0] * 8
    assert x.version == 0


def test_a_refused_member_takes_the_others_back() -> None:
    x, y = made("x"), made("y")
    with y.acquire(GPU, READ_WRITE):
        for policy in (Policy.RAISE, Policy.AUTO):
            with pytest.raises(AccessConflictError):
                acquire_all([x.token(HOST, WRITE_ONLY, policy), y.token(HOST, READ, policy)])
            assert x.table.holders == []
            assert x.table.writers == 0
    assert free(x, y)


def test_a_group_may_use_one_buffer_twice() -> None:
    x = CoherentBuffer(8, "f8", BufferOptions(init=0.0, chunks=row_blocks(8, 1, 2)))
    requests = [AccessRequest(region=(0, 4)), AccessRequest(region=(4, 8))]
    tokens = [x.token(GPU, READ_WRITE, Policy.WAIT, request) for request in requests]
    acquire_all(tokens)
    for token in tokens:
        token.release()
    assert free(x)


def test_members_of_a_group_pass_nobody_in_line() -> None:
    """Otherwise two groups could wait in different orders for two buffers."""
    x = CoherentBuffer(8, "f8", BufferOptions(init=0.0, chunks=row_blocks(8, 1, 2)))
    low, high = AccessRequest(region=(0, 4)), AccessRequest(region=(4, 8))
    reader = Worker()
    held = reader(x.acquire, HOST, READ, Policy.WAIT, high)
    writer = begun([x.token(HOST, READ_WRITE, Policy.WAIT, high)])
    both = [
        x.token(HOST, READ, Policy.WAIT, AccessRequest(r.region, owner="task")) for r in (low, high)
    ]
    group = begun(both)
    assert not group.ready.done()
    assert [token.active for token in both] == [False, False]
    reader(held.release)
    writer.ready.result(PATIENCE)
    writer.close(lambda _: None, ValueError())
    group.ready.result(PATIENCE)
    group.close(lambda _: None, ValueError())
    assert free(x)


# -- what a failed entry leaves ------------------------------------------------------------------


@pytest.mark.spec("GDP-31")
def test_a_conflict_in_a_block_poisons_nothing() -> None:
    x, y = gpu_storages()
    inner = gt.bound({"x": x, "y": y}, writes=["x", "y"])
    with pytest.raises(AccessConflictError), gt.bound({"x": x}, device="gpu", writes=["x"]), inner:
        raise AssertionError("the outer block has it")
    assert x.buffer.poisoned is None
    assert y.buffer.poisoned is None
    assert x.data_ro.tolist() == [0.0] * 4
    with pytest.raises(ZeroDivisionError), gt.bound({"x": x}, device="gpu", writes=["x"]):
        _ = 1 / 0
    assert isinstance(x.buffer.poisoned, ZeroDivisionError)


# -- who gives up, who is gone -------------------------------------------------------------------


@pytest.mark.spec("ACC-19", "ACC-21")
def test_a_deadlock_leaves_nothing_in_line() -> None:
    x = accessors.Buffer(np.zeros(4))
    with HostAccessor(x).held():
        second = DeviceAccessor(x)
        with pytest.raises(AccessDeadlockError):
            second.open().result(PATIENCE)
        assert not x.table.queue
    assert Worker()(lambda: HostAccessor(x, const=True)[0]) == 0.0
    second.close()
    second.open().result(PATIENCE)
    second.close()


@pytest.mark.spec("ACC-21")
@pytest.mark.parametrize("const", [True, False])
def test_an_open_accessor_that_is_dropped_ends(const: bool) -> None:
    x = accessors.Buffer(np.zeros(4))
    kept = [DeviceAccessor(x, const=const)]
    kept[0].open().result(PATIENCE)
    with pytest.warns(ResourceWarning, match="dropped while it was open"):
        kept.clear()
    gc.collect()
    assert free(x)
    assert Worker()(lambda: HostAccessor(x)[0]) == 0.0


@pytest.mark.spec("ACC-21", "ACC-40")
@pytest.mark.filterwarnings("ignore:.*dropped while it was open:ResourceWarning")
@pytest.mark.parametrize("failed", [True, False])
def test_a_dropped_accessor_leaves_no_values_that_nobody_wrote(failed: bool) -> None:
    x = accessors.Buffer(np.zeros(4))
    if failed:
        with pytest.raises(ZeroDivisionError), x.acquire(HOST, READ_WRITE):
            1 / 0  # noqa: B018
    accessor = DeviceAccessor(x, mode=WRITE_ONLY)
    accessor.open().result(PATIENCE)
    del accessor
    gc.collect()
    with pytest.raises(PoisonedDataError):
        x.acquire(HOST)


@pytest.mark.spec("ACC-21")
@pytest.mark.filterwarnings("ignore:.*dropped while it was open:ResourceWarning")
def test_who_waits_for_a_dropped_accessor_goes_on() -> None:
    x = accessors.Buffer(np.zeros(4))
    accessor = DeviceAccessor(x)
    accessor.open().result(PATIENCE)
    other = Worker()
    waiting = other.start(lambda: HostAccessor(x)[0])
    wait_for_queue(x)
    del accessor
    gc.collect()
    assert waiting.result(PATIENCE) == 0.0


@pytest.mark.spec("ACC-21")
@pytest.mark.filterwarnings("ignore:.*dropped while it was open:ResourceWarning")
def test_an_accessor_that_is_dropped_in_line_blocks_nobody() -> None:
    x = accessors.Buffer(np.zeros(4))
    with x.acquire(HOST, READ_WRITE):
        DeviceAccessor(x).open()
        gc.collect()
    assert Worker()(lambda: HostAccessor(x)[0]) == 0.0
    wait_until(lambda: free(x))


def test_what_is_asked_for_and_dropped_leaves_the_line_at_once() -> None:
    x = made("x")
    with x.acquire(HOST):
        waiting = begun([x.token(HOST, READ_WRITE, Policy.WAIT, AccessRequest(owner="task"))])
        assert x.table.queue
        assert waiting.drop()
        Worker()(DROPPED.end_all)
        assert not x.table.queue
    with pytest.raises(AccessReleasedError, match="dropped before it was open"):
        waiting.ready.result(PATIENCE)
    assert free(x)


def test_what_is_asked_for_together_is_granted_under_all_locks() -> None:
    """Otherwise another thread could get one of the accesses before the last one is granted."""
    buffers = [made(name) for name in "abc"]
    other, found = Worker(), list[bool]()

    def is_free(lock: Any) -> bool:
        if lock.acquire(False):
            lock.release()
            return True
        return False

    def look() -> None:
        found.extend(other(is_free, buffer.table.lock) for buffer in buffers)

    pairs = [(buffer.table, buffer.token(HOST, READ_WRITE)) for buffer in buffers]
    assert _all_locked(pairs, lambda: look() is None)
    assert found == [False] * 3
    look()
    assert found[3:] == [True] * 3


def test_an_interrupted_wait_leaves_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made("x"), made("y")
    other = Worker()
    held = other(x.acquire, HOST, READ_WRITE)

    class Interrupted:
        """A lock whose second acquisition raises `KeyboardInterrupt`."""

        taken = False

        def acquire(self) -> None:
            if self.taken:
                raise KeyboardInterrupt
            self.taken = True

        def locked(self) -> bool:
            return self.taken

        def release(self) -> None:
            self.taken = False

    with monkeypatch.context() as patch:
        patch.setattr(threading, "Lock", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            acquire_all([y.token(HOST, READ_WRITE), x.token(HOST, READ_WRITE)])
    assert free(y)
    assert not x.table.queue
    other(held.release)
    assert free(x)
    end = WAITS.begin([(x.table, x.token())], threading.get_ident())
    end()
