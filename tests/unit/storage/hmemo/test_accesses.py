"""Tests of accesses to an `HArray`: transfers, conflicts and release."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import AllocationInUseError
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.stats import Direction
from psyclone_storage.storage.hmemo import (
    AccessConflictError,
    AccessReleasedError,
    Context,
    DispatchedKernel,
    HArray,
    HArrayRef,
    HostReadAccess,
    HostWriteAccess,
    HostWriteOnlyAccess,
    PoisonedDataError,
    ReadAccess,
    WriteAccess,
    WriteOnlyAccess,
)
from storage_threads import PATIENCE, Worker, wait_for_queue

HOST, CUDA = "node:0", "node:0:device:0"


def table(array: HArray) -> dict[str, tuple[int, bool]]:
    return {d.memory.space.tag: (d.capacity, d.valid) for d in array.incarnations()}


def on_host(array: HArray) -> list[Any]:
    with HostReadAccess(array) as access:
        values: list[Any] = access.get().tolist()
        return values


def copies(array: HArray) -> tuple[int, int]:
    """Return the numbers of transfers to the device and back."""
    stats = array.buffer.stats
    return stats.of(Direction.HOST_TO_DEVICE).count, stats.of(Direction.DEVICE_TO_HOST).count


@pytest.fixture
def array(host: Context) -> HArray:
    return HArray(1024, host, 1.0, label="a")


# -- what an access brings ---------------------------------------------------------------------


@pytest.mark.spec("HM-52", "HM-48")
def test_a_read_access_copies_and_leaves_the_others_valid(array: HArray, cuda: Context) -> None:
    with ReadAccess(array, cuda) as access:
        assert table(array) == {HOST: (8192, True), CUDA: (8192, True)}
        assert float(access.get().sum()) == 1024.0
    assert copies(array) == (1, 0)
    ReadAccess(array, cuda).release()
    assert copies(array) == (1, 0)


@pytest.mark.spec("HM-53")
def test_a_write_access_copies_and_makes_the_others_invalid(array: HArray, cuda: Context) -> None:
    with WriteAccess(array, cuda) as access:
        assert table(array) == {HOST: (8192, False), CUDA: (8192, True)}
        window = access.get()
        window += 1.0
    assert copies(array) == (1, 0)
    assert on_host(array) == [2.0] * 1024
    assert copies(array) == (1, 1)


@pytest.mark.spec("HM-43")
def test_after_the_first_write_some_incarnation_is_valid(host: Context, cuda: Context) -> None:
    array = HArray(4)
    for ctx in (host, cuda, host):
        kind = WriteAccess if array.incarnations() else WriteOnlyAccess
        with kind(array, ctx):
            assert [row.context for row in array.incarnations() if row.valid] == [ctx]
        assert [row.context for row in array.incarnations() if row.valid] == [ctx]


@pytest.mark.spec("HM-54")
def test_a_write_only_access_copies_nothing(array: HArray, cuda: Context) -> None:
    with WriteOnlyAccess(array, cuda) as access:
        assert table(array) == {HOST: (8192, False), CUDA: (8192, True)}
        access.get()[:] = 3.0
    assert copies(array) == (0, 0)
    assert on_host(array) == [3.0] * 1024


@pytest.mark.spec("HM-55")
@pytest.mark.parametrize("n", [0, 7, 2048])
def test_a_write_only_access_sets_the_size(array: HArray, cuda: Context, n: int) -> None:
    with WriteOnlyAccess(array, cuda, n) as access:
        assert (array.size(), access.size(), len(access), access.get().size) == (n, n, n, n)
        assert access.capacity() >= 8 * n
        access.get()[:] = 3.0
    assert on_host(array) == [3.0] * n
    assert copies(array)[0] == 0


@pytest.mark.spec("HM-57")
def test_a_write_access_with_a_size_keeps_the_old_values(array: HArray, cuda: Context) -> None:
    with WriteAccess(array, cuda, 1026) as access:
        access.get()[1024:] = 5.0
    assert on_host(array) == [1.0] * 1024 + [5.0] * 2
    with HostWriteAccess(array) as access:
        access.resize(3000)
        assert access.get().size == 3000
        access.clear()
    assert array.size() == 0


@pytest.mark.spec("HM-49")
def test_get_returns_memory_at_the_context(device: str, array: HArray, cuda: Context) -> None:
    with ReadAccess(array, Context.host()) as access:
        window = access.get()
        assert isinstance(window, np.ndarray)
        assert window.__array_interface__["data"][0] == array.incarnations()[0].pointer
        with pytest.raises(ValueError, match="read-only"):
            window[0] = 1.0
        assert access[5] == 1.0
    with HostWriteOnlyAccess(array, 2) as write:
        write[0], write[1] = 4.0, 5.0
    with ReadAccess(array, cuda) as access:
        pointer = access.get().__cuda_array_interface__["data"][0]
        assert pointer == array.incarnations()[1].pointer
        if device == "emulated":
            with pytest.raises(ValueError, match="read-only"):
                access.get()[0] = 1.0


@pytest.mark.spec("HM-50")
@pytest.mark.parametrize("kind", [ReadAccess, WriteAccess, WriteOnlyAccess])
def test_nothing_can_be_got_after_the_release(kind: Any, array: HArray, cuda: Context) -> None:
    access = kind(array, cuda)
    access.release()
    access.release()
    for use in (access.get, access.capacity, lambda: access[0], lambda: access.kernel_array):
        with pytest.raises(AccessReleasedError, match=rf'"a" \(1024 x float64\) at {CUDA}'):
            use()
    if kind is not ReadAccess:
        with pytest.raises(AccessReleasedError):
            access.resize(3)
    assert "released" in repr(access)


@pytest.mark.spec("HM-11", "HM-48")
def test_an_access_without_a_context_uses_that_of_the_scope(array: HArray, cuda: Context) -> None:
    with cuda, WriteAccess(array) as access:
        access.get()[:] = 2.0
    assert table(array)[CUDA] == (8192, True)
    with pytest.raises(TypeError, match='"a" are used through an access'):
        np.asarray(array)


# -- conflicts ---------------------------------------------------------------------------------

Open = Callable[[HArray, dict[str, Context]], Any]
AFTER_WRITE_AT_CUDA: list[Open] = [
    lambda a, at: ReadAccess(a, at["host"]),
    lambda a, at: WriteAccess(a, at["host"]),
    lambda a, at: ReadAccess(a, at["cuda"]),
    lambda a, at: WriteOnlyAccess(a, at["cuda"]),
    lambda a, _: a.resize(1),
    lambda a, _: a.purge(),
]


@pytest.mark.spec("HM-51", "HM-61", "HM-65", "HM-66", "HM-67")
@pytest.mark.parametrize("second", AFTER_WRITE_AT_CUDA)
def test_what_fails_after_a_write_at_a_device(
    array: HArray, host: Context, cuda: Context, second: Open
) -> None:
    with WriteAccess(array, cuda), pytest.raises(AccessConflictError, match='"a"'):
        second(array, {"host": host, "cuda": cuda})
    second(array, {"host": host, "cuda": cuda})


@pytest.mark.spec("HM-68", "HM-69", "HM-70", "HM-71", "HM-63", "HM-64")
def test_what_goes_and_what_fails_after_a_read_at_a_device(
    array: HArray, host: Context, cuda: Context
) -> None:
    with ReadAccess(array, cuda):
        with ReadAccess(array, host):
            pass
        with pytest.raises(AccessConflictError, match=f"{HOST} is not possible.*{CUDA}"):
            WriteAccess(array, host)
        with WriteAccess(array, cuda) as write:
            with pytest.raises(AccessConflictError, match="cannot be resized to 2048"):
                write.resize(2048)
            write.resize(1000)
            write.resize(1024)
    assert array.size() == 1024


@pytest.mark.spec("HM-62")
@pytest.mark.parametrize(
    ("first", "second"), [(ReadAccess, WriteAccess), (WriteAccess, ReadAccess)]
)
def test_threads_conflict_even_at_one_context(
    array: HArray, cuda: Context, first: Any, second: Any
) -> None:
    elsewhere = Worker()
    held = elsewhere(first, array, cuda)
    with pytest.raises(AccessConflictError, match="of another thread"):
        second(array, cuda)
    elsewhere(held.release)
    second(array, cuda).release()


@pytest.mark.spec("HM-62")
def test_threads_may_read_together(array: HArray, host: Context, cuda: Context) -> None:
    elsewhere = Worker()
    held = elsewhere(ReadAccess, array, cuda)
    with ReadAccess(array, cuda), ReadAccess(array, host):
        assert array.isValid(cuda)
    elsewhere(held.release)


@pytest.mark.spec("HM-62")
@pytest.mark.parametrize("on_access", [True, False])
def test_an_access_may_wait_for_another_thread(cuda: Context, on_access: bool) -> None:
    array = HArray(8, 1.0, on_conflict="raise" if on_access else "wait")
    words = {"on_conflict": "wait"} if on_access else {}
    elsewhere = Worker()
    with WriteAccess(array, cuda) as held:
        waiting = elsewhere.start(lambda: WriteAccess(array, cuda, **words))
        wait_for_queue(array.buffer)
        assert not waiting.done()
        held.get()[:] = 2.0
    granted = waiting.result(PATIENCE)
    assert float(elsewhere(lambda: granted.get().sum())) == 16.0
    elsewhere(granted.release)


@pytest.mark.spec("HM-63", "HM-65", "HM-67")
def test_who_may_wait_never_waits_for_itself(host: Context, cuda: Context) -> None:
    array = HArray(8, 1.0, on_conflict=Policy.WAIT)
    with ReadAccess(array, cuda), WriteAccess(array, cuda):
        pass
    with ReadAccess(array, cuda), pytest.raises(AccessConflictError):
        WriteAccess(array, host)
    with WriteAccess(array, cuda), pytest.raises(AccessConflictError):
        ReadAccess(array, cuda)


@pytest.mark.spec("HM-61", "HM-62")
def test_a_conflict_with_another_face_is_one_too(cuda: Context) -> None:
    buffer = CoherentBuffer(8)
    array = HArray.over(buffer)
    with buffer.acquire("host", AccessMode.READ_WRITE), pytest.raises(AccessConflictError):
        ReadAccess(array, cuda)


# -- aliases -----------------------------------------------------------------------------------

ADD = DispatchedKernel("add", lambda out, a, b: np.add(a, b, out=out))


def add_by_identity(res: HArray, a: HArray, b: HArray, ctx: Context) -> None:
    """Compute `res = a + b`, with one write access for both sides of an alias."""
    if res is a:
        with WriteAccess(res, ctx, a.size()) as write, ReadAccess(b, ctx) as read:
            ADD[ctx](write.get(), write.get(), read.get())
        return
    with (
        WriteOnlyAccess(res, ctx, a.size()) as write,
        ReadAccess(a, ctx) as left,
        ReadAccess(b, ctx) as right,
    ):
        ADD[ctx](write.get(), left.get(), right.get())


def add_reading_first(res: HArray, a: HArray, b: HArray, ctx: Context) -> None:
    """Compute `res = a + b`, with all read accesses before the write access."""
    with (
        ReadAccess(a, ctx) as left,
        ReadAccess(b, ctx) as right,
        WriteOnlyAccess(res, ctx, a.size()) as write,
    ):
        ADD[ctx](write.get(), left.get(), right.get())


@pytest.mark.spec("HM-72", "HM-73")
@pytest.mark.parametrize("add", [add_by_identity, add_reading_first])
def test_both_solutions_of_the_alias_problem(add: Any, host: Context, cuda: Context) -> None:
    a, b = HArray(np.arange(8.0), host), HArray(8, host, 10.0)
    result = HArray()
    for ctx in (host, cuda):
        add(result, a, b, ctx)
        assert on_host(result) == [10.0 + i for i in range(8)]
    add(a, a, b, cuda)
    assert on_host(a) == [10.0 + i for i in range(8)]


@pytest.mark.spec("HM-74")
def test_writing_first_and_reading_then_fails(host: Context) -> None:
    a, b = HArray(8, host, 1.0), HArray(8, host, 2.0)
    with WriteOnlyAccess(a, host, 8), pytest.raises(AccessConflictError):
        ReadAccess(a, host)
    with pytest.raises(AccessConflictError):
        add_by_identity(b, a, b, host)


# -- the end of an access ----------------------------------------------------------------------


def test_a_failed_block_that_wrote_poisons(array: HArray, cuda: Context) -> None:
    with pytest.raises(ZeroDivisionError), WriteAccess(array, cuda) as access:
        access.get()[:] = 1 / 0
    with pytest.raises(PoisonedDataError, match="division"):
        ReadAccess(array, cuda)
    with WriteOnlyAccess(array, cuda) as access:
        access.get()[:] = 4.0
    assert on_host(array) == [4.0] * 1024


def test_a_write_access_that_cannot_get_its_size_is_over(array: HArray, cuda: Context) -> None:
    with ReadAccess(array, cuda):
        with pytest.raises(AccessConflictError, match="4096"):
            WriteOnlyAccess(array, cuda, 4096)
        with WriteAccess(array, cuda):
            pass


def test_the_end_of_the_object_is_the_end_of_the_access(array: HArray, cuda: Context) -> None:
    access = WriteAccess(array, cuda)
    del access
    gc.collect()
    with HostReadAccess(array) as read:
        assert read.get()[0] == 1.0
    held = WriteAccess(array, cuda)
    with array.buffer.table.lock:
        del held
        gc.collect()
        assert array.buffer.table.writers == 1
    assert on_host(array) == [1.0] * 1024


@pytest.mark.parametrize("failed", [False, True])
def test_a_dropped_write_only_access_that_nobody_used_leaves_no_values(
    array: HArray, cuda: Context, failed: bool
) -> None:
    if failed:
        with pytest.raises(ZeroDivisionError), WriteAccess(array, cuda) as access:
            access.get()[:] = 1 / 0
    access = WriteOnlyAccess(array, cuda)
    del access
    gc.collect()
    with pytest.raises(PoisonedDataError):
        ReadAccess(array, cuda)
    access = WriteOnlyAccess(array, cuda)
    access.get()[:] = 4.0
    del access
    gc.collect()
    assert on_host(array) == [4.0] * 1024


@pytest.mark.spec("HM-64", "HM-84")
def test_a_write_only_access_that_cannot_get_its_size_gives_nothing_up(cuda: Context) -> None:
    array = HArray(np.ones(8))
    with WriteAccess(array, cuda) as access:
        access.get()[:] = 2.0
    for ctx in (cuda, Context.host()):
        with array.buffer.pin(), pytest.raises(AllocationInUseError, match="cannot move"):
            WriteOnlyAccess(array, ctx, 4096)
    assert on_host(array) == [2.0] * 8
    lent = np.zeros(8)
    with HArrayRef(lent) as ref:
        with WriteAccess(ref, cuda) as access:
            access.get()[:] = 3.0
        with pytest.raises(AllocationInUseError, match="cannot be resized"):
            WriteOnlyAccess(ref, cuda, 9)
        with WriteOnlyAccess(ref, cuda, 8) as access:
            access.get()[:] = 4.0
    assert lent.tolist() == [4.0] * 8
    with WriteOnlyAccess(array, cuda, 4096) as access:
        access.get()[:] = 5.0
    assert on_host(array) == [5.0] * 4096


@pytest.mark.parametrize("failing", [True, False])
def test_a_delayed_release_ends_with_the_work(
    array: HArray, host: Context, cuda: Context, failing: bool
) -> None:
    work: Future[None] = Future()
    with WriteAccess(array, cuda) as access:
        access.get()[:] = 6.0
        access.releaseDelayed(work)
        with pytest.raises(AccessReleasedError):
            access.get()
    with pytest.raises(AccessConflictError):
        ReadAccess(array, host)
    if failing:
        work.set_exception(OSError("no device"))
        with pytest.raises(PoisonedDataError, match="no device"):
            ReadAccess(array, host)
    else:
        work.set_result(None)
        assert on_host(array) == [6.0] * 1024


def test_a_delayed_release_may_come_from_another_thread(array: HArray, host: Context) -> None:
    end = HostWriteAccess(array).releaseDelayed()
    with pytest.raises(AccessConflictError):
        ReadAccess(array, host)
    elsewhere = Worker()
    elsewhere(end)
    elsewhere(end)
    ReadAccess(array, host).release()


def test_an_access_on_the_host_is_indexed() -> None:
    array = HArray(np.ones(4))
    with WriteAccess(array, Context.host()) as access:
        access[1:3] = 5.0
        assert access[2] == 5.0
    assert on_host(array) == [1.0, 5.0, 5.0, 1.0]
