"""Tests of futures of the run-time library in coroutines and in thread pools."""

from __future__ import annotations

import asyncio
import threading
from concurrent import futures

import numpy as np
import pytest

from psyclone_storage.storage.accessors import Buffer, DeviceAccessor, GpuTask
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.interop.waiting import as_concurrent
from storage_threads import PATIENCE

pytestmark = pytest.mark.usefixtures("_emulated")


def double(array: np.ndarray) -> float:
    """Double the values of an array and return their sum."""
    array *= 2.0
    return float(array.sum())


def fail(_: np.ndarray) -> float:
    """Raise an error, as a failing kernel does."""
    return 1 / 0


def test_a_future_is_awaited_while_others_go_on() -> None:
    future: Future[int] = Future()
    order = []

    async def waits() -> None:
        order.append("asked")
        order.append(await future)

    async def goes_on() -> None:
        order.append("goes on")
        threading.Timer(0.01, future.set_result, [7]).start()

    async def both() -> None:
        await asyncio.wait_for(asyncio.gather(waits(), goes_on()), PATIENCE)
        assert await future == 7

    asyncio.run(both())
    assert order == ["asked", "goes on", 7]


def test_the_failure_of_a_future_is_raised_where_it_is_awaited() -> None:
    async def waits() -> None:
        await Future.failed(ValueError("broken"))

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(waits())


def test_who_stops_to_wait_is_not_woken() -> None:
    future: Future[int] = Future()

    async def waits() -> None:
        await future

    async def gives_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(waits(), 0.01)
        future.set_result(1)
        await asyncio.sleep(0)

    asyncio.run(gives_up())
    late: Future[int] = Future()

    async def leaves() -> None:
        task = asyncio.ensure_future(_waiting(late))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leaves())
    late.set_result(3)
    assert late.result() == 3


async def _waiting(future: Future[int]) -> int:
    return await future


def test_two_coroutines_of_a_thread_take_turns() -> None:
    buffer = Buffer(np.ones(4))

    async def uses() -> None:
        accessor = await DeviceAccessor(buffer).open()
        await asyncio.sleep(0)
        accessor.kernel_array[...] *= 2.0
        await accessor.close()

    async def both() -> None:
        await asyncio.wait_for(asyncio.gather(uses(), uses(), uses()), PATIENCE)

    asyncio.run(both())
    with DeviceAccessor(buffer, "host", const=True) as found:
        assert found.array.tolist() == [8.0] * 4


@pytest.mark.parametrize("failing", [False, True])
def test_tasks_with_those_of_thread_pools(failing: bool) -> None:
    tasks = [GpuTask("doubles").register(Buffer(np.ones(4)), mode="rw") for _ in range(3)]
    kernel = fail if failing else double
    begun = [as_concurrent(task.submit(kernel)) for task in tasks]
    with futures.ThreadPoolExecutor(1) as pool:
        begun.append(pool.submit(lambda: 8.0))
        done, left = futures.wait(begun, PATIENCE)
    assert (len(done), left) == (4, set())
    for future in begun[:3]:
        assert not future.cancel()
        if failing:
            assert isinstance(future.exception(), ZeroDivisionError)
        else:
            assert future.result() == 8.0
    assert {f.result() for f in futures.as_completed(begun[3:])} == {8.0}
