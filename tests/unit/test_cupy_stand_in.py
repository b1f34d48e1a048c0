"""The stand-in for CuPy behaves as the documentation of CuPy and CUDA says.

Each fact is asserted of the stand-in everywhere, and of the real CuPy where there is a GPU. What
CUDA only allows, such as that work is late, is asserted of the stand-in alone, which always does
it; those tests come last. Facts about a second device need one.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cupy_stand_in
from storage_devices import GPUS


@pytest.fixture(params=GPUS)
def cp(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return CuPy: the stand-in, or the real one."""
    if request.param == "stand-in":
        with cupy_stand_in.installed(2):
            yield cupy_stand_in
    else:
        yield pytest.importorskip("cupy")


@pytest.fixture
def late() -> Iterator[Any]:
    """Return the stand-in."""
    with cupy_stand_in.installed(2):
        yield cupy_stand_in


@pytest.fixture
def two(cp: Any) -> Any:
    """Return CuPy where there are two devices."""
    if cp.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("this machine has one GPU")
    return cp


def pinned(cp: Any, values: Any) -> Any:
    """Return an array in page-locked memory."""
    values = np.asarray(values)
    made = np.frombuffer(cp.cuda.alloc_pinned_memory(values.nbytes), values.dtype, values.size)
    made[...] = values
    return made


# -- arrays ----------------------------------------------------------------------------------------


def test_values_go_there_and_back(cp: Any) -> None:
    array = cp.asarray(np.arange(6.0).reshape(2, 3))
    assert (array.shape, array.strides, array.dtype) == ((2, 3), (24, 8), np.dtype("f8"))
    assert (array.ndim, array.size, array.itemsize, array.nbytes) == (2, 6, 8, 48)
    assert array.get().tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    out = np.empty((2, 3))
    assert array.get(out=out) is out
    assert cp.asnumpy(array).tolist() == out.tolist()


def test_arithmetic_stays_on_the_device(cp: Any) -> None:
    array = cp.arange(4, dtype="f8")
    total = (2.0 * array + 1.0).sum()
    assert isinstance(total, cp.ndarray)
    assert total.shape == ()
    assert float(total) == 16.0
    array[1:3] *= 10.0
    array[cp.asarray([0, 3])] = -1.0
    array[array < 0.0] = 7.0
    assert array.tolist() == [7.0, 10.0, 20.0, 7.0]
    assert isinstance(array[0], cp.ndarray)
    assert np.add(array, 1.0).get().tolist() == [8.0, 11.0, 21.0, 8.0]


def test_views_share_memory(cp: Any) -> None:
    array = cp.arange(12, dtype="i8").reshape(3, 4)
    view = array.T[1:, ::2]
    assert view.data.ptr == array.data.ptr + 8
    view[...] = 0
    assert array.get().tolist() == [[0, 0, 0, 0], [4, 5, 6, 7], [8, 0, 0, 0]]


@pytest.mark.parametrize(
    "use",
    [
        np.asarray,
        lambda array: array + np.ones(3),
        lambda array: array.set([1.0, 2.0, 3.0]),
        lambda array: array.set(np.ones(3, "f4")),
    ],
)
def test_nothing_of_the_host_is_taken_silently(cp: Any, use: Any) -> None:
    with pytest.raises(TypeError):
        use(cp.asarray(np.ones(3)))


def test_set_wants_the_shape_and_no_gaps(cp: Any) -> None:
    array = cp.asarray(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="shape"):
        array.set(np.ones(8))
    with pytest.raises(RuntimeError):
        array[:, ::2].set(np.ones((2, 2)))
    array.T.set(np.arange(8.0).reshape(4, 2))
    assert array.get().tolist() == [[0.0, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0]]


def test_an_update_in_place_does_not_change_the_type(cp: Any) -> None:
    array = cp.asarray(np.ones(2, "i4"))
    with pytest.raises(TypeError):
        array += 0.5
    array[...] = 1.5
    assert array.tolist() == [1, 1]


def test_the_interface_describes_the_array(cp: Any) -> None:
    array = cp.asarray(np.ones((2, 3), "f4"))
    found = array.__cuda_array_interface__
    assert found["shape"] == (2, 3)
    assert found["typestr"] == "<f4"
    assert found["data"] == (array.data.ptr, False)
    assert found["strides"] is None
    assert found["version"] == 3
    assert found["stream"] == 1
    assert array.T.__cuda_array_interface__["strides"] == (4, 12)
    with cp.cuda.Stream() as stream:
        assert array.__cuda_array_interface__["stream"] == stream.ptr


def test_what_describes_itself_is_shared(cp: Any) -> None:
    array = cp.asarray(np.arange(3.0))

    class Foreign:
        __cuda_array_interface__ = array.__cuda_array_interface__

    shared = cp.asarray(Foreign())
    shared[0] = 9.0
    assert float(array[0]) == 9.0
    assert shared.data.ptr == array.data.ptr


def test_dlpack_shares_memory(cp: Any) -> None:
    array = cp.asarray(np.arange(6.0).reshape(2, 3)).T
    assert array.__dlpack_device__() == (2, 0)
    shared = cp.from_dlpack(array)
    shared[0, 1] = 9.0
    assert array.get().tolist() == [[0.0, 9.0], [1.0, 4.0], [2.0, 5.0]]


def test_managed_memory_is_of_both_sides(cp: Any) -> None:
    pointer = cp.cuda.malloc_managed(64)
    array = cp.ndarray((8,), "f8", pointer)
    assert array.__dlpack_device__()[0] == 13
    array[...] = 3.0
    cp.cuda.Device().synchronize()
    assert cp.cuda.runtime.pointerGetAttributes(pointer.ptr).type == 3
    shared = np.from_dlpack(array)
    assert shared.tolist() == [3.0] * 8
    assert shared.__array_interface__["data"][0] == pointer.ptr


# -- devices ---------------------------------------------------------------------------------------


def test_arrays_are_made_on_the_current_device(two: Any) -> None:
    with two.cuda.Device(1):
        assert two.cuda.runtime.getDevice() == 1
        array = two.asarray(np.ones(3))
    assert two.cuda.runtime.getDevice() == 0
    assert array.device.id == 1
    assert two.cuda.runtime.pointerGetAttributes(array.data.ptr).device == 1
    assert array.get().tolist() == [1.0] * 3


def test_there_are_no_other_devices(cp: Any) -> None:
    beyond = cp.cuda.runtime.getDeviceCount()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError), cp.cuda.Device(beyond):
        pass


# -- streams and events ----------------------------------------------------------------------------


def test_streams_are_ordered_by_events(cp: Any) -> None:
    array = cp.asarray(np.zeros(1 << 16))
    first, second = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    cp.cuda.get_current_stream().synchronize()
    with first:
        array[...] = 5.0
    written = first.record()
    second.wait_event(written)
    with second:
        result = array * 2.0
    second.synchronize()
    assert written.done
    assert second.done
    assert float(result[-1].get()) == 10.0


def test_the_current_stream_ends_with_its_block(cp: Any) -> None:
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    with cp.cuda.Stream() as stream:
        assert cp.cuda.get_current_stream() == stream
        assert stream.ptr not in (0, 1, 2)
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null


def test_the_null_stream_waits_for_blocking_streams_and_they_for_it(cp: Any) -> None:
    array = cp.asarray(np.zeros(1 << 16))
    stream = cp.cuda.Stream()
    with stream:
        array += 1.0
    array *= 2.0
    with stream:
        array += 1.0
    stream.synchronize()
    assert float(array[0].get()) == 3.0


def test_copies_from_page_locked_memory_end_with_their_stream(cp: Any) -> None:
    source, target = pinned(cp, np.arange(100.0)), pinned(cp, np.zeros(100))
    array = cp.ndarray((100,), "f8")
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.get_current_stream().synchronize()
    array.set(source, stream)
    array.get(stream, out=target, blocking=False)
    stream.synchronize()
    assert target.tolist() == source.tolist()


def test_events_measure_time(cp: Any) -> None:
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    end.record()
    end.synchronize()
    assert cp.cuda.get_elapsed_time(start, end) >= 0.0


# -- pools -----------------------------------------------------------------------------------------


def test_the_pool_keeps_what_is_freed(cp: Any) -> None:
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    pointer = cp.cuda.alloc(1000)
    assert pointer.ptr % 512 == 0
    assert pool.used_bytes() - before == 1024
    held, address = pool.total_bytes(), pointer.ptr
    del pointer
    assert pool.used_bytes() == before
    assert pool.total_bytes() == held
    assert cp.cuda.alloc(1000).ptr == address


def test_memory_that_is_not_there_is_refused(cp: Any) -> None:
    with pytest.raises(cp.cuda.memory.OutOfMemoryError):
        cp.cuda.alloc(1 << 60)


def test_unowned_memory_keeps_its_owner(cp: Any) -> None:
    array = cp.asarray(np.arange(4.0))
    memory = cp.cuda.UnownedMemory(array.data.ptr, array.nbytes, array, 0)
    view = cp.ndarray((2,), "f8", cp.cuda.MemoryPointer(memory, 16))
    del array, memory
    assert view.tolist() == [2.0, 3.0]


# -- what the stand-in does always -----------------------------------------------------------------


def test_work_is_done_when_somebody_waits(late: Any) -> None:
    array = late.asarray(np.zeros(4))
    array[...] = 1.0
    late.cuda.Device().synchronize()
    target = pinned(late, np.zeros(4))
    stream = late.cuda.Stream(non_blocking=True)
    array.get(stream, out=target, blocking=False)
    assert target.tolist() == [0.0] * 4
    stream.synchronize()
    assert target.tolist() == [1.0] * 4


def test_a_missing_wait_shows_in_either_direction(late: Any) -> None:
    array = late.asarray(np.zeros(4))
    late.cuda.Device().synchronize()
    one, other = (late.cuda.Stream(non_blocking=True) for _ in range(2))
    with one:
        array[...] = 1.0
    target = pinned(late, np.zeros(4))
    array.get(other, out=target, blocking=False)
    other.synchronize()
    assert target.tolist() == [0.0] * 4
    array.get(other, out=target, blocking=False)
    with one:
        array[...] = 2.0
    one.synchronize()
    other.synchronize()
    assert target.tolist() == [2.0] * 4


def test_a_wait_does_no_more_than_it_has_to(late: Any) -> None:
    arrays = [late.asarray(np.zeros(4)) for _ in range(2)]
    late.cuda.Device().synchronize()
    stream = late.cuda.Stream(non_blocking=True)
    with stream:
        arrays[0].fill(1.0)
        between = stream.record()
        arrays[1].fill(1.0)
    between.synchronize()
    assert between.done
    assert arrays[0].get().tolist() == [1.0] * 4
    assert arrays[1].get().tolist() == [0.0] * 4


def test_who_asks_again_and_again_sees_progress(late: Any) -> None:
    stream = late.cuda.Stream(non_blocking=True)
    array = late.asarray(np.zeros(4))
    late.cuda.Device().synchronize()
    with stream:
        array.fill(1.0)
    event = stream.record()
    asked = 1
    while not event.done:
        asked += 1
    assert asked > 1


def test_memory_comes_with_garbage(late: Any) -> None:
    array = late.empty((4,))
    assert 0.0 not in array.tolist()
    address = array.data.ptr
    array.fill(0.0)
    del array
    again = late.empty((4,))
    assert again.data.ptr == address
    assert 0.0 not in again.tolist()


def test_freed_memory_belongs_to_the_next_at_once(late: Any) -> None:
    stream = late.cuda.Stream(non_blocking=True)
    source, target = late.asarray(np.ones(4)), pinned(late, np.zeros(4))
    late.cuda.Device().synchronize()
    source.get(stream, out=target, blocking=False)
    del source
    late.full((4,), 7.0).get()
    stream.synchronize()
    assert target.tolist() == [7.0] * 4


@pytest.mark.parametrize(
    "use",
    [
        lambda array, _: array.sum(),
        lambda array, _: array.fill(1.0),
        lambda array, _: array.__setitem__(0, 1.0),
        lambda array, late: array + late.asarray(np.ones(3)),
        lambda array, late: array[late.asarray([0])],
    ],
)
def test_kernels_refuse_arrays_of_other_devices(late: Any, use: Any) -> None:
    with late.cuda.Device(1):
        array = late.asarray(np.ones(3))
    with pytest.raises(ValueError, match="device 1"):
        use(array, late)
    assert array[1:].get().tolist() == [1.0, 1.0]
    array.set(np.zeros(3))
    assert array.get().tolist() == [0.0] * 3


def test_streams_and_events_are_of_one_device(late: Any) -> None:
    stream = late.cuda.Stream()
    with late.cuda.Device(1):
        with pytest.raises(late.cuda.runtime.CUDARuntimeError):
            late.cuda.Event().record(stream)
        with pytest.raises(late.cuda.runtime.CUDARuntimeError), stream:
            late.zeros((1,))


def test_addresses_of_devices_cannot_be_read() -> None:
    program = (
        "import ctypes, cupy_stand_in as late\n"
        "with late.installed(1):\n"
        "    print('read', ctypes.c_char.from_address(late.zeros((1,)).data.ptr).value)\n"
    )
    path = ":".join(sys.path)
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env={"PYTHONPATH": path}, check=False
    )
    assert ran.stdout == b""
    assert ran.returncode == -signal.SIGSEGV


def test_memory_of_the_host_alone_is_of_no_device(late: Any) -> None:
    values = np.ones(3)
    address = values.__array_interface__["data"][0]
    assert late.cuda.runtime.pointerGetAttributes(address).device < 0
    memory = late.cuda.UnownedMemory(address, 24, values, 0)
    with pytest.raises(late.cuda.runtime.CUDARuntimeError, match="Illegal"):
        late.ndarray((3,), "f8", late.cuda.MemoryPointer(memory, 0))


def test_the_stand_in_leaves_nothing_behind() -> None:
    before = sys.modules.get("cupy")
    with cupy_stand_in.installed(1):
        assert sys.modules["cupy"] is cupy_stand_in
    assert sys.modules.get("cupy") is before
    assert not cupy_stand_in.cuda.is_available()
