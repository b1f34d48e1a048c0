"""Tests with a device that is not the current one.

Models use one GPU for each rank.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import accessors, hmemo, kokkos
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.device import DEFAULT_DEVICE_VARIABLE
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import device_space, memory_space
from psyclone_storage.storage.memory.registry import device_count, memory_of
from storage_devices import DEVICES, device_in_place


@pytest.fixture(autouse=True, params=DEVICES)
def device(
    request: pytest.FixtureRequest, _emulated: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Select the second device as default while the first one is current."""
    with device_in_place(request.param, 3) as kind:
        if device_count() < 2:
            pytest.skip("this machine has one GPU")
        monkeypatch.setenv(DEFAULT_DEVICE_VARIABLE, "1")
        yield kind


def at(space: Any) -> int | None:
    """Return the device number of a memory space."""
    return memory_space(space).device_id


# -- all faces -------------------------------------------------------------------------------------


def by_storage(managed: str | None) -> list[float]:
    storage = gt.zeros((2, 3), device="gpu", managed=managed)
    storage[...] = np.ones((2, 3))
    storage[0] = gt.full((3,), 2.0, device="gpu", managed=managed)
    storage[1, 2] = 5.0
    storage[[1], [0]] = 7.0
    with storage.access("gpu", gt.RDWR) as array:
        array[...] = array + 1.0
    with gt.bound({"a": storage}, device="gpu", writes=["a"]) as arrays:
        arrays["a"][...] = 2.0 * arrays["a"]
    twin = storage.copy()
    return [twin[row, column] for row in range(2) for column in range(3)]


def by_view() -> list[float]:
    view = kokkos.View["double**", kokkos.CudaSpace]("v", 2, 3)
    mirror = kokkos.create_mirror_view(view)
    kokkos.deep_copy(view, 2.0)
    kokkos.deep_copy(mirror, view)
    mirror[0, 1] += 1.0
    kokkos.deep_copy(view, mirror)
    with view.opened() as elements:
        elements[...] = elements * 2.0
    left = kokkos.View["double**", kokkos.LayoutLeft, kokkos.CudaSpace]("w", 2, 3)
    kokkos.deep_copy(left, view)
    back = kokkos.create_mirror_view_and_copy(kokkos.HostSpace(), left)
    return [float(back[row, column]) for row in range(2) for column in range(3)]


def by_harray() -> list[float]:
    cuda = hmemo.Context.getContextPtr(hmemo.Context.CUDA)
    array = hmemo.LArray(3, cuda, 2.0)
    array[1] = 5.0
    with hmemo.WriteAccess(array, cuda) as access:
        window = access.get()
        window += 1.0
    other = array + array
    with hmemo.HostReadAccess(other) as access:
        return [float(value) for value in access.get()]


def by_accessor() -> list[float]:
    buffer = accessors.Buffer(np.arange(4.0))
    with accessors.DeviceAccessor(buffer) as accessor:
        accessor.array[...] = accessor.array * 2.0
    picked = accessors.GpuTask("pick").register(buffer, [3, 1]).setup()
    picked.run(lambda _: None)
    return [float(value) for value in accessors.HostAccessor(buffer, const=True)]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda: by_storage("gt4py"), [6.0, 6.0, 6.0, 16.0, 4.0, 12.0]),
        (lambda: by_storage(None), [6.0, 6.0, 6.0, 16.0, 4.0, 12.0]),
        (lambda: by_storage("cuda"), [6.0, 6.0, 6.0, 16.0, 4.0, 12.0]),
        (by_view, [4.0, 6.0, 4.0, 4.0, 4.0, 4.0]),
        (by_harray, [6.0, 12.0, 6.0]),
        (by_accessor, [0.0, 2.0, 4.0, 6.0]),
    ],
    ids=["software", "device", "unified", "view", "harray", "accessor"],
)
def test_every_face_works_on_the_second_device(use: Callable[[], Any], expected: Any) -> None:
    assert use() == expected


def test_copies_between_two_devices() -> None:
    buffer = CoherentBuffer(1000, "f8", BufferOptions(init=1.0))
    for name in ("gpu:1", "gpu:2", "gpu:0"):
        with buffer.acquire(name, AccessMode.READ_WRITE) as access:
            access.array[...] = access.array * 2.0
    with buffer.acquire("host") as access:
        assert set(access.array.tolist()) == {8.0}


# -- what other libraries made ---------------------------------------------------------------------


def array_on(number: int) -> Any:
    """Return an array on a device."""
    buffer = CoherentBuffer(4, "f8", BufferOptions(init=float(number)))
    with buffer.acquire(f"gpu:{number}", AccessMode.READ_WRITE) as access:
        return access.array


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("managed", ["gt4py", None])
def test_an_array_is_adopted_where_it_is(number: int, managed: str | None) -> None:
    array = array_on(number)
    storage = gt.as_storage(device_data=array, device="gpu", managed=managed)
    assert [at(state.space) for state in storage.buffer.incarnations()] == [number]
    assert storage.to_cupy().data.ptr == array.data.ptr
    storage[0] = 9.0
    with storage.access("gpu", gt.RDWR) as window:
        window[...] = window * 2.0
    assert [storage[index] for index in range(4)] == [18.0, *(2.0 * number,) * 3]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_values_of_any_device_can_be_assigned(number: int) -> None:
    storage = gt.zeros((4,), device="gpu", managed=None)
    storage[...] = array_on(number)
    storage[1:3] = array_on(0)[:2]
    assert [storage[index] for index in range(4)] == [number, 0.0, 0.0, number]


def test_a_call_works_on_one_device() -> None:
    storages = {
        f"of_{number}": gt.as_storage(device_data=array_on(number), device="gpu", managed="gt4py")
        for number in (1, 2)
    }
    shared = gt.ones((4,), device="gpu", managed="cuda")
    for order in (("of_1", "of_2"), ("of_2", "of_1")):
        block = gt.bound({name: storages[name] for name in order}, device="gpu")
        for _ in range(2):
            with pytest.raises(ValueError, match="A call works on one device, but: A read"):
                block.__enter__()
    with gt.bound({"a": storages["of_1"], "b": shared}, device="gpu", writes=["b"]) as arrays:
        arrays["b"][...] = arrays["a"]
    assert shared[0] == 1.0
    with gt.bound(storages) as arrays:
        assert [arrays[name][0] for name in storages] == [1.0, 2.0]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_view_of_an_array_is_where_the_array_is(number: int) -> None:
    view = kokkos.View(array_on(number))
    assert view.handle.memory.space is device_space(number)


def test_the_memory_of_another_gpu_is_refused(device: str) -> None:
    if device == "emulated":
        pytest.skip("arrays of emulated devices say where they are")
    array = array_on(0)
    with pytest.raises(MemoryException, match="GPU 0"):
        memory_of(device_space(1)).adopt(array)


# -- what is exported ------------------------------------------------------------------------------


@pytest.fixture
def cp(device: str) -> Any:
    """Return the CuPy module."""
    if device == "emulated":
        pytest.skip("emulated devices are not exported")
    return sys.modules["cupy"]


def test_the_interface_names_the_stream_of_now(cp: Any) -> None:
    storage = gt.ones((4,), device="gpu")
    with cp.cuda.Device(1):
        streams = [cp.cuda.Stream() for _ in range(2)]
        found = []
        for stream in streams:
            with stream:
                found.append(storage.__gt_data_interface__["gpu"]["stream"])
    assert found == [stream.ptr for stream in streams]


def test_the_interface_names_the_stream_of_its_own_device(cp: Any) -> None:
    storage = gt.ones((4,), device="gpu")
    interface = storage.to_cupy().__cuda_array_interface__
    with cp.cuda.Device(1), cp.cuda.Stream() as own, cp.cuda.Device(0), cp.cuda.Stream() as other:
        found = storage.__gt_data_interface__["gpu"]["stream"]
    assert (found == own.ptr, found == other.ptr) == (True, False), interface


def test_unified_memory_goes_where_it_is_announced(cp: Any) -> None:
    storage = gt.ones((4,), device="gpu", managed="cuda")
    assert storage.__dlpack_device__()[0] == 13
    shared = cp.from_dlpack(storage)
    assert shared.tolist() == [1.0] * 4
    assert shared.data.ptr == storage.to_cupy().data.ptr
    assert np.from_dlpack(storage).tolist() == [1.0] * 4


def test_an_allocation_does_not_ask_the_pool(cp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: Any) -> int:
        raise AssertionError("the pool was walked")

    memory = memory_of(device_space(1))
    for name in ("used_bytes", "total_bytes", "free_bytes"):
        if cp.__name__ == "cupy_stand_in":
            monkeypatch.setattr(type(cp.get_default_memory_pool()), name, asked)
    held = [memory.allocate(1000), memory.allocate(2000)]
    monkeypatch.undo()
    assert memory.use.in_use == 3000
    del held[1]
    assert memory.use.in_use == 1000
    assert memory.use.high_water == 3000


def test_a_block_gives_the_current_device_back(cp: Any) -> None:
    buffer = CoherentBuffer(4, "f8")
    before = cp.cuda.runtime.getDevice()
    other = 1 if before == 0 else 0
    with buffer.acquire(f"gpu:{other}", AccessMode.WRITE_ONLY) as token:
        assert cp.cuda.runtime.getDevice() == other
        token.array[...] = 1.0
    assert cp.cuda.runtime.getDevice() == before


def test_an_access_that_is_given_back_restores_the_current_device(cp: Any) -> None:
    buffer = CoherentBuffer(4, "f8", BufferOptions(init=0.0))
    with cp.cuda.Device(0):
        token = buffer.acquire("gpu:1", AccessMode.READ_WRITE)
        token.__enter__()
        assert cp.cuda.runtime.getDevice() == 1
        token.give_back(KeyboardInterrupt())
        assert cp.cuda.runtime.getDevice() == 0
    with buffer.acquire("host") as token:
        assert token.array.tolist() == [0.0] * 4
