"""Tests of memories: allocation, pools, host access, poisoned data, routes and streams."""

from __future__ import annotations

import gc
import operator
import threading
import time
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import HostUseError, MemoryException
from psyclone_storage.storage.core.layout import byte_extent, is_packed
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.core.spaces import device_space, memory_space
from psyclone_storage.storage.memory.copy_routes import Route, route
from psyclone_storage.storage.memory.pools import Pool
from psyclone_storage.storage.memory.registry import host_memory, memory_of, router
from psyclone_storage.storage.memory.stream import Stream

F8 = np.dtype("f8")


def device(number: int = 0):
    return memory_of(device_space(number))


def device_array(values: np.ndarray, number: int = 0):
    memory = device(number)
    allocation = memory.allocate(values.nbytes)
    allocation.lent = True
    window = memory.window(allocation, WindowSpec(values.dtype, values.shape))
    window.set(values)
    return window


@pytest.mark.spec("HM-25", "GDP-65")
@pytest.mark.parametrize("name", ["host", "pinned", "uvm", "gpu", "gpu:1"])
@pytest.mark.parametrize("alignment", [64, 256, 8192])
@pytest.mark.parametrize("nbytes", [0, 1, 1000, 300_000])
def test_allocations_are_aligned(name: str, alignment: int, nbytes: int) -> None:
    allocation = memory_of(memory_space(name)).allocate(nbytes, alignment)
    assert allocation.pointer % alignment == 0
    assert allocation.capacity == nbytes
    assert allocation.space is memory_space(name)


@pytest.mark.spec("HM-26")
def test_free_checks_the_size_and_the_memory() -> None:
    allocation = host_memory().allocate(100)
    with pytest.raises(MemoryException, match="has 100 B at node:0, but 99 B"):
        host_memory().free(allocation, 99)
    with pytest.raises(MemoryException, match="at node:0:device:0 were to be freed"):
        device().free(allocation, 100)
    host_memory().free(allocation, 100)
    assert not allocation.alive
    with pytest.raises(MemoryException, match="freed twice"):
        host_memory().free(allocation, 100)


@pytest.mark.skipif(not COMPILED, reason="only pools of the compiled core cache blocks")
def test_a_pool_knows_what_it_keeps_and_keeps_up_to_its_limit() -> None:
    pool = Pool()
    first = pool.lease(1000)
    size = pool.use.in_use
    del first
    second = pool.lease(1000)
    assert (pool.use.cached, pool.use.in_use) == (0, size)
    del second
    assert (pool.use.cached, pool.use.in_use) == (size, 0)
    exact, small = Pool(limit=size), Pool(limit=size - 1)
    for limited in (exact, small):
        limited.lease(1000)
    assert (exact.use.cached, small.use.cached) == (size, 0)


@pytest.mark.skipif(not COMPILED, reason="only pools of the compiled core cache blocks")
def test_a_pool_reuses_blocks_and_remembers_its_peak() -> None:
    pool = Pool()
    first, second = pool.lease(1000), pool.lease(1000)
    address, peak = first.address, pool.use.in_use
    del first
    assert pool.use.cached == peak // 2
    assert pool.lease(1000).address == address
    del second
    assert (pool.use.in_use, pool.use.high_water) == (0, peak)
    pool.trim()
    assert pool.use.cached == 0


def test_a_pool_lets_blocks_go_above_its_limit() -> None:
    pool = Pool(limit=0)
    del_me = pool.lease(1000)
    assert pool.use.in_use > 0
    del del_me
    assert pool.use == type(pool.use)(0, 0, pool.use.high_water)


def test_memory_is_not_reused_while_an_array_looks_at_it() -> None:
    allocation = host_memory().allocate(4096)
    array = host_memory().window(allocation, WindowSpec(F8, (512,)))
    array[:] = 1.0
    view = array[10:20]
    del array
    allocation.drop()
    del allocation
    gc.collect()
    for _ in range(20):
        host_memory().fill(host_memory().allocate(4096), WindowSpec(F8, (512,)), 7.0)
    assert view.tolist() == [1.0] * 10


@pytest.mark.spec("GDP-4", "HM-83")
def test_foreign_memory_is_taken_as_it_is() -> None:
    data = np.arange(24.0).reshape(4, 6)[::-1, ::2]
    allocation, offset = host_memory().adopt(data)
    window = host_memory().window(
        allocation, WindowSpec(data.dtype, data.shape, data.strides, offset)
    )
    assert np.shares_memory(window, data)
    np.testing.assert_array_equal(window, data)
    assert allocation.external


@pytest.mark.spec("GDP-4", "VIEW-54")
def test_read_only_foreign_memory_stays_read_only() -> None:
    data = np.arange(3.0)
    data.flags.writeable = False
    allocation, offset = host_memory().adopt(data)
    assert not allocation.writable
    assert not host_memory().window(allocation, WindowSpec(F8, (3,), None, offset)).flags.writeable


@pytest.mark.spec("GDP-4", "GDP-53")
def test_a_foreign_device_array_is_taken_as_it_is() -> None:
    array = device_array(np.arange(24.0).reshape(4, 6))[::-1, ::2]
    allocation, offset = device().adopt(array)
    window = device().window(
        allocation, WindowSpec(array.dtype, array.shape, array.strides, offset)
    )
    window[0, 0] = -1.0
    assert array[0, 0].item() == -1.0
    assert allocation.external
    with pytest.raises(HostUseError, match="node:0:device:0 cannot be used in work at"):
        device(1).adopt(array)


@pytest.mark.spec("HM-39", "GDP-100")
def test_host_code_cannot_use_a_device_array() -> None:
    array = device_array(np.arange(6.0))
    for use in (np.asarray, np.sum, lambda a: np.ones(6) + a, memoryview):
        with pytest.raises(TypeError):
            use(array)
    with pytest.raises(HostUseError, match=r"shape \(6,\) at node:0:device:0"):
        np.array(array)


def test_a_device_array_works_on_its_device() -> None:
    values = np.arange(12.0).reshape(3, 4)
    array = device_array(values)
    np.testing.assert_array_equal(array.get(), values)
    np.testing.assert_array_equal(array.T.get(), values.T)
    np.testing.assert_array_equal(array[1:, ::2].get(), values[1:, ::2])
    np.testing.assert_array_equal(array[values > 5].get(), values[values > 5])
    np.testing.assert_array_equal(array.reshape(4, 3).get(), values.reshape(4, 3))
    assert array[2, 3].item() == 11.0
    assert array[1].shape == (4,)
    array[0] = 5.0
    array[1] = array[2]
    array[2, 1:3].set([8.0, 9.0])
    expected = np.array([[5.0] * 4, values[2], [8.0, 8.0, 9.0, 11.0]])
    np.testing.assert_array_equal(array.get(), expected)
    copied = array.astype("f4").copy()
    copied.fill(0)
    assert copied.dtype == np.float32
    np.testing.assert_array_equal(array.get(), expected)


def test_devices_do_not_mix_and_host_arrays_are_not_assigned() -> None:
    array, other = device_array(np.zeros(3)), device_array(np.ones(3), 1)
    with pytest.raises(HostUseError, match="node:0:device:1 cannot be used in work at"):
        array[:] = other
    with pytest.raises(HostUseError, match="call set"):
        array[:] = np.ones(3)
    with pytest.raises(ValueError, match=r"shape \(2,\) do not fit"):
        array.set(np.ones(2))


def test_a_device_array_describes_itself() -> None:
    described = device_array(np.zeros((2, 3))).__cuda_array_interface__
    assert (described["shape"], described["typestr"], described["version"]) == ((2, 3), "<f8", 3)
    assert described["strides"] is None
    assert described["emulated"] is True


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_poison_is_no_number(dtype: str) -> None:
    memory = device()
    allocation = memory.allocate(64)
    fresh = memory.window(
        allocation, WindowSpec(np.dtype(dtype), (64 // np.dtype(dtype).itemsize,))
    )
    assert np.isnan(fresh.get()).all()
    fresh.fill(1)
    memory.poison(allocation, (3, 42))
    spoilt = memory.window(allocation, WindowSpec(np.dtype("u1"), (64,))).get()
    assert np.isnan(fresh.get()[8 // fresh.itemsize : 40 // fresh.itemsize]).all()
    assert fresh.get()[-1] == 1
    assert set(spoilt[3:8]) == set(spoilt[40:45]) == {0xA5}


def test_without_strict_mode_nothing_is_poisoned() -> None:
    use_device("emulated", Emulation(strict=False))
    memory = device()
    allocation = memory.allocate(64)
    window = memory.window(allocation, WindowSpec(F8, (8,)))
    window.fill(1.0)
    memory.poison(allocation, (0, 64))
    assert window.get().tolist() == [1.0] * 8


@pytest.mark.spec("HM-32", "HM-33", "HM-34", "HM-35", "HM-36", "HM-37")
def test_who_copies_from_and_to_whom() -> None:
    host, first, second = host_memory(), device(0), device(1)
    assert first.can_copy_from(host)
    assert first.can_copy_to(host)
    assert not host.can_copy_from(first)
    assert not host.can_copy_to(first)
    assert not first.can_copy_from(second)
    there, here = first.allocate(8), host.allocate(8)
    with pytest.raises(MemoryException, match="from node:0:device:0 to node:0 in one step"):
        host.memcpy_from(here, there, (0, 8))
    with pytest.raises(MemoryException, match="from node:0 to node:0:device:0 in one step"):
        host.memcpy_to(there, here, (0, 8))


@pytest.mark.parametrize(("peers", "expected"), [(False, Route.STAGED), (True, Route.PEER)])
def test_routes_between_devices(peers: bool, expected: Route) -> None:
    use_device("emulated", Emulation(peers=peers))
    first, second = device(0), device(1)
    assert route(first, second) is expected
    assert route(first, host_memory()) is Route.DIRECT
    source, target = device_array(np.arange(8.0)), device_array(np.zeros(8), 1)
    span = (8, 40)
    ends = second, first
    allocations = target.allocation, source.allocation
    router().copy(ends, *allocations, span)
    assert target.get().tolist() == [0, 1, 2, 3, 4, 5, 0, 0]
    target.fill(0)
    router().copy_async(ends, *allocations, span).result(60)
    assert target.get().tolist() == [0, 1, 2, 3, 4, 5, 0, 0]


@pytest.mark.spec("HM-27", "HM-38", "HM-77")
def test_an_asynchronous_copy_takes_the_time_of_the_bus_elsewhere() -> None:
    use_device("emulated", Emulation(latency=0.05, bandwidth=8e3))
    memory = device()
    there, here = memory.allocate(400), host_memory().allocate(400)
    begin = time.perf_counter()
    copied = memory.memcpy_from_async(there, here, (0, 400))
    is_done = copied.done()
    if time.perf_counter() - begin < 0.1:  # otherwise other programs have taken that time
        assert not is_done
    copied.result(60)
    assert time.perf_counter() - begin >= 0.1


def test_a_stream_keeps_the_order_and_survives_failures() -> None:
    stream, seen = Stream("test"), []
    slow = stream.submit(lambda: (time.sleep(0.02), seen.append(1)))
    failed = stream.submit(lambda: 1 / 0)
    stream.run(seen.append, 2)
    assert seen == [1, 2]
    assert slow.done()
    with pytest.raises(ZeroDivisionError):
        failed.result()
    stream.submit(time.sleep, 0.01)
    stream.synchronize()
    assert stream.idle


@pytest.mark.spec("GDP-128")
def test_managed_memory_has_two_faces() -> None:
    managed = memory_of(memory_space("uvm"))
    allocation = managed.allocate(32)
    spec = WindowSpec(F8, (4,))
    managed.window(allocation, spec)[:] = 3.0
    face = device().window(allocation, spec)
    face.fill(4.0)
    assert managed.window(allocation, spec).tolist() == [4.0] * 4
    with pytest.raises(HostUseError):
        np.asarray(face)


@pytest.mark.spec("HM-35", "HM-37")
@pytest.mark.parametrize("space", ["host", "pinned", "managed", "gpu"])
def test_every_memory_copies_to_and_from_the_host(space: str) -> None:
    memory, host = memory_of(memory_space(space)), host_memory()
    assert memory.canCopyTo(host)
    there = memory.allocate(24)
    memory.fill(there, WindowSpec(F8, (3,)), 5.0)
    here = np.zeros(3)
    memory.memcpyTo(host, here, there, 16)
    assert here.tolist() == [5.0, 5.0, 0.0]
    assert memory.canCopyFrom(host) or host.canCopyTo(memory)


@pytest.mark.spec("HM-34", "HM-37")
def test_the_host_sends_nothing_to_a_device() -> None:
    there = device().allocate(8)
    with pytest.raises(MemoryException, match="in one step"):
        host_memory().memcpyTo(device(), there, np.zeros(1), 8)
    with pytest.raises(MemoryException, match="in one step"):
        host_memory().memcpy_to(there, host_memory().allocate(8), (0, 8))


@pytest.mark.parametrize("pointer", [0, 1, 4096])
@pytest.mark.parametrize("nbytes", [-1, 0, 1, 64])
def test_pointers_are_adopted_where_there_can_be_memory(pointer: int, nbytes: int) -> None:
    if nbytes < 0 or (pointer == 0 and nbytes):
        with pytest.raises(MemoryException, match=f"cannot be {nbytes} B at address"):
            host_memory().adopt_pointer(pointer, nbytes, None)
        return
    allocation = host_memory().adopt_pointer(pointer, nbytes, None)
    assert (allocation.pointer, allocation.capacity) == (pointer, nbytes)


def test_a_stream_whose_worker_could_not_be_started_starts_one_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = Stream("s")

    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            stream.submit(int)
    assert stream.submit(int, "7").result(60) == 7


def test_an_array_without_elements_uses_all_of_its_bytes() -> None:
    assert is_packed((0, 3), (48, 16), 8)
    assert is_packed((2, 3), (24, 8), 8)
    assert not is_packed((2, 3), (48, 16), 8)


def test_extents_and_strides_go_together() -> None:
    assert byte_extent((2, 3), (-8, 16), 8) == (-8, 40)
    with pytest.raises(ValueError, match="argument"):
        byte_extent((2, 3), (8,), 8)


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_arrays_of_an_emulated_device_are_computed_with_from_either_side(operate: Any) -> None:
    use_device("emulated")
    memory = memory_of(device_space())
    values = np.array([1.0, 2.0, 4.0])
    array = memory.new_array(values.dtype, values.shape)
    array.set(values)
    assert operate(array, 2.0).get().tolist() == operate(values, 2.0).tolist()
    assert operate(3.0, array).get().tolist() == operate(3.0, values).tolist()
    assert operate(array, array).get().tolist() == operate(values, values).tolist()
