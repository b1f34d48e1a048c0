"""Tests of features of related libraries: delayed allocation, stacks, callbacks and wrappers."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import RDWR, SyncState
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.locks import AccessMode

SHAPE = (3, 4)


@pytest.mark.parametrize("keywords", [{}, {"device": "gpu"}])
@pytest.mark.usefixtures("device")
def test_delayed_memory(keywords: Any) -> None:
    made = gt.full(SHAPE, 2.0, delayed=True, **keywords)
    assert made.buffer.incarnations() == ()
    assert made.strides == (32, 8)
    assert made[0, 0] == 2.0
    assert len(made.buffer.incarnations()) == 1


@pytest.mark.usefixtures("device")
def test_without_delay_both_sides_have_memory() -> None:
    made = gt.empty(SHAPE, device="gpu")
    assert [made.buffer.capacity(space) >= 96 for space in ("cpu", "gpu")] == [True, True]


@pytest.mark.parametrize("side", [None, "gpu"])
@pytest.mark.usefixtures("device")
def test_the_first_value_is_set_on_the_side_used_first(side: str | None) -> None:
    made = gt.full(SHAPE, 4.0, device="gpu")
    with made.access(side) as array:
        assert array.sum() == 48.0
    assert (made.is_current(side), made.buffer.stats.count) == (True, 0)
    assert not made.is_current("gpu" if side is None else None)


@pytest.mark.usefixtures("device")
def test_a_stack_moves_as_one() -> None:
    stack = gt.stacked({"u": SHAPE, "v": (5,), "w": (2, 2, 2)}, device="gpu", label="state")
    for number, storage in enumerate(stack.values()):
        storage[...] = float(number)
    assert {id(storage.sync_state) for storage in stack.values()} == {id(stack["u"].sync_state)}
    stack["v"].host_to_device()
    assert stack["u"].buffer.stats.count == 1
    assert all(storage.is_current("gpu") for storage in stack.values())
    with stack["w"].access("gpu", RDWR) as array:
        array[...] += 10.0
    assert [storage[(0,) * storage.ndim] for storage in stack.values()] == [0.0, 1.0, 12.0]
    assert stack["w"].label == "state.w"
    assert stack["u"].buffer.stats.count == 2
    assert gt.stacked({}) == {}


@pytest.mark.parametrize("keywords", [{}, {"alignment_size": 256, "halo": (1, 1)}])
def test_members_of_a_stack_do_not_overlap(keywords: Any) -> None:
    stack = gt.stacked({"a": (3, 3), "b": (4, 5)}, "f4", **keywords)
    stack["a"][...], stack["b"][...] = 1.0, 2.0
    assert (np.asarray(stack["a"]).sum(), np.asarray(stack["b"]).sum()) == (9.0, 40.0)
    if not keywords:
        assert stack["a"].buffer.nbytes == 64 + 80
    else:
        for member in stack.values():
            address = member.to_numpy()[1, 1:].ctypes.data
            assert address % 256 == 0


@pytest.mark.usefixtures("device")
def test_transfers_can_be_watched() -> None:
    made = gt.storage(np.ones(SHAPE), device="gpu", label="theta")
    events: list[Any] = []
    made.buffer.stats.add_callback(events.append)
    made.host_to_device()
    assert [(event.label, event.nbytes) for event in events] == [("theta", 96)]


@pytest.mark.spec("GDP-4")
@pytest.mark.usefixtures("device")
def test_a_wrapper_writes_back_when_it_is_closed() -> None:
    array = np.zeros(3)
    with gt.as_storage(array, device="gpu") as wrapped:
        wrapped.to_cupy().fill(2.0)
        assert list(array) == [0.0] * 3
    assert list(array) == [2.0] * 3
    wrapped.to_cupy().fill(3.0)
    wrapped.close()
    assert list(array) == [3.0] * 3


@pytest.mark.usefixtures("device")
def test_a_wrapper_writes_back_when_it_is_dropped() -> None:
    array = np.zeros(3)
    wrapped = gt.as_storage(array, device="gpu")
    view = wrapped[1:]
    wrapped.to_cupy().fill(2.0)
    del wrapped
    gc.collect()
    assert list(array) == [0.0] * 3
    del view
    gc.collect()
    assert list(array) == [2.0] * 3


@pytest.mark.usefixtures("device")
def test_a_failed_block_writes_nothing_back() -> None:
    array = np.zeros(3)
    wrapped = gt.as_storage(array, device="gpu")
    with pytest.raises(ZeroDivisionError), wrapped:  # noqa: PT012 - the block is what fails
        wrapped.to_cupy().fill(2.0)
        _ = 1 / 0
    assert list(array) == [0.0] * 3


@pytest.mark.usefixtures("device")
def test_a_buffer_of_another_face_can_be_seen_as_a_storage() -> None:
    buffer = CoherentBuffer(6, "f8")
    with buffer.acquire("gpu", AccessMode.WRITE_ONLY) as access:
        access.kernel_array[...] = 5.0
    seen = gt.as_storage(buffer, device="gpu")
    assert seen.buffer is buffer
    assert (seen.shape, seen.sync_state.state) == ((6,), SyncState.SYNC_DEVICE_DIRTY)
    on_host = gt.as_storage(buffer)
    assert type(on_host) is gt.CPUStorage
    assert on_host[3] == 5.0
    assert seen.sync_state.state == SyncState.SYNC_CLEAN
    assert gt.storage(buffer)[0] == 5.0


@pytest.mark.usefixtures("device")
def test_a_storage_of_the_host_can_be_given_a_device() -> None:
    host = gt.storage(np.arange(12.0).reshape(SHAPE), halo=(1, 0))
    both = gt.as_storage(host, device="gpu")
    assert type(both) is gt.SoftwareManagedGPUStorage
    assert (both.buffer, both.halo) == (host.buffer, host.halo)
    both.to_cupy().fill(7.0)
    assert host[1, 1] == 7.0
    assert host[1:][0, 0] == 7.0
    only = gt.as_storage(both, managed=None)
    host[...] = 3.0
    assert only[0, 0] == 3.0
    view = gt.as_storage(both, halo=(0, 1))
    assert (view.halo, view.sync_state) == (((0, 0), (1, 1)), both.sync_state)
    with pytest.raises(ValueError, match="unified memory"):
        gt.as_storage(both, managed="cuda")


@pytest.mark.parametrize(
    ("wrap", "message"),
    [
        (lambda _: gt.as_storage(np.ones(2), device="gpu", managed=None), "in main memory"),
        (lambda up: gt.as_storage(up([1.0]), device=None), "is on the device"),
        (lambda _: gt.as_storage(np.ones(2), device="gpu", managed="cuda"), "unified"),
    ],
)
def test_what_only_a_copy_could_do_is_refused(upload: Any, wrap: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrap(upload)


def test_device_data_must_be_on_a_device() -> None:
    with pytest.raises(TypeError, match="must be on a device"):
        gt.as_storage(None, np.ones(2))


def test_importing_takes_no_third_party() -> None:
    program = (
        "import numpy, sys; import psyclone_storage.storage; "
        "print([n for n in ('cupy', 'xarray', 'mpi4py', 'fparser') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
