"""Tests of `__gt_data_interface__`, of storages and of other objects."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import SyncState
from psyclone_storage.storage.interop.gt import REQUIRED, describe, strides_in

ARRAY = np.arange(24.0).reshape(2, 3, 4)


class Foreign:
    """An object that describes its data with the interface of GDP-3."""

    def __init__(self, interface: dict[Any, Any], owner: Any = ARRAY) -> None:
        self.__gt_data_interface__ = interface
        self.owner = owner


@pytest.mark.spec("GDP-7", "GDP-8", "GDP-9")
@pytest.mark.usefixtures("device")
def test_devices_are_none_and_gpu() -> None:
    assert list(gt.empty((2,)).__gt_data_interface__) == [None]
    assert list(gt.empty((2,), device="gpu").__gt_data_interface__) == [None, "gpu"]
    assert list(gt.empty((2,), device="gpu", managed=None).__gt_data_interface__) == ["gpu"]
    assert list(gt.empty((2,), device="gpu", managed="cuda").__gt_data_interface__) == [None, "gpu"]


@pytest.mark.spec("GDP-7")
def test_cpu_is_taken_for_none_and_others_are_refused() -> None:
    info = ARRAY.__array_interface__
    assert list(describe(Foreign({"cpu": info}))) == [None]
    with pytest.raises(ValueError, match="'tpu'"):
        describe(Foreign({"tpu": info}))


@pytest.mark.spec("GDP-10", "GDP-11", "GDP-12", "GDP-13", "GDP-25")
def test_an_array_interface_may_be_passed_on() -> None:
    info = ARRAY.__array_interface__
    assert info["strides"] is None
    taken = describe(Foreign({None: info}))[None]
    assert (taken["shape"], taken["typestr"]) == ((2, 3, 4), "<f8")
    assert taken["data"] == (ARRAY.ctypes.data, False)
    assert strides_in(taken) == ARRAY.strides
    wrapped = gt.as_storage(Foreign({None: info}))
    np.testing.assert_array_equal(wrapped.to_numpy(), ARRAY)
    assert wrapped.to_numpy().ctypes.data == ARRAY.ctypes.data


@pytest.mark.spec("GDP-13")
@pytest.mark.usefixtures("device")
def test_our_strides_are_tuples_of_bytes() -> None:
    made = gt.empty((2, 3), "f4", layout=(1, 0), device="gpu")
    for info in made.__gt_data_interface__.values():
        assert info["strides"] == made.strides == (4, 8)
    assert made.__array_interface__["strides"] == (4, 8)
    assert gt.empty((2, 3)).__array_interface__["strides"] == (24, 8)


@pytest.mark.spec("GDP-13")
def test_strides_of_others_are_honoured() -> None:
    turned = ARRAY.transpose(2, 0, 1)
    copied = gt.storage(Foreign({None: turned.__array_interface__}))
    np.testing.assert_array_equal(copied.to_numpy(), turned)


@pytest.mark.spec("GDP-14")
@pytest.mark.parametrize("key", REQUIRED)
def test_a_missing_key_is_an_error(key: str) -> None:
    info = {name: ARRAY.__array_interface__[name] for name in REQUIRED if name != key}
    with pytest.raises(ValueError, match=f'lacks "{key}"'):
        gt.storage(Foreign({None: info}))


@pytest.mark.spec("GDP-17", "GDP-18", "GDP-24")
def test_dims_and_halo_are_taken_and_other_keys_are_not() -> None:
    info = {
        **ARRAY.__array_interface__,
        "dims": ("K", "J", "I"),
        "halo": ((0, 1), (1, 1), (0, 0)),
        "colour": "blue",
    }
    wrapped = gt.as_storage(Foreign({None: info}))
    assert wrapped.dims == ("K", "J", "I")
    assert wrapped.halo == ((0, 1), (1, 1), (0, 0))
    assert gt.empty_like(Foreign({None: info}), defaults="gtx86").strides == (8, 16, 48)


@pytest.mark.spec("GDP-6", "GDP-1")
def test_interoperation_without_subclassing() -> None:
    made = gt.storage(ARRAY)
    assert not isinstance(made, np.ndarray)
    view = np.asarray(made)
    view[0, 0, 0] = 42.0
    assert made[0, 0, 0] == 42.0
    np.testing.assert_array_equal(np.array(made)[1], ARRAY[1])


@pytest.mark.spec("GDP-1", "GDP-6")
@pytest.mark.parametrize("managed", [None, "cuda", "gt4py"])
@pytest.mark.usefixtures("device")
def test_no_storage_is_an_ndarray(managed: Any) -> None:
    made = gt.ones((2, 2), device="gpu", managed=managed)
    assert not isinstance(made, np.ndarray)
    assert made.__cuda_array_interface__["shape"] == (2, 2)
    assert made.__cuda_array_interface__["version"] == 3


@pytest.mark.spec("GDP-81", "GDP-82")
@pytest.mark.usefixtures("device")
def test_interfaces_exist_with_their_buffers_only() -> None:
    sides = {
        gt.empty((2,)): (True, False),
        gt.empty((2,), device="gpu", managed=None): (False, True),
        gt.empty((2,), device="gpu", managed="cuda"): (True, True),
        gt.empty((2,), device="gpu"): (True, True),
    }
    for made, (host, device_side) in sides.items():
        assert hasattr(made, "__array_interface__") is host
        assert hasattr(made, "__cuda_array_interface__") is device_side


@pytest.mark.spec("GDP-83", "GDP-15", "GDP-22", "GDP-112", "GDP-115")
@pytest.mark.usefixtures("device")
def test_the_entry_of_the_host(kernel: Any) -> None:
    made = gt.zeros((2, 3), device="gpu")
    info = made.__gt_data_interface__[None]
    assert info.items() >= made.__array_interface__.items()
    kernel(made, 7.0)
    made.set_device_modified()
    info["acquire"]()
    assert made.sync_state.state == SyncState.SYNC_CLEAN
    assert made.reading_window()[0, 0] == 7.0
    info["touch"]()
    assert made.sync_state.state == SyncState.SYNC_HOST_DIRTY


@pytest.mark.spec("GDP-84", "GDP-15", "GDP-22", "GDP-113", "GDP-114")
@pytest.mark.usefixtures("device")
def test_the_entry_of_the_device() -> None:
    made = gt.storage(np.full((2, 3), 3.0), device="gpu")
    info = made.__gt_data_interface__["gpu"]
    assert info["data"][0] == made.window(made.backing().device).data.ptr
    info["acquire"]()
    assert made.sync_state.state == SyncState.SYNC_CLEAN
    info["touch"]()
    assert made.sync_state.state == SyncState.SYNC_DEVICE_DIRTY
    same = made.__cuda_array_interface__
    assert {key: info[key] for key in REQUIRED} == {key: same[key] for key in REQUIRED}


@pytest.mark.spec("GDP-21", "GDP-85", "GDP-18")
@pytest.mark.usefixtures("device")
def test_our_interface_has_a_halo_but_neither_dims_nor_release() -> None:
    made = gt.empty((3, 3), dims="IJ", halo=(1, 0), device="gpu")
    for info in made.__gt_data_interface__.values():
        assert "dims" not in info
        assert "release" not in info
        assert info["halo"] == ((1, 1), (0, 0))
    made.halo = (0, 1)
    assert made.__gt_data_interface__[None]["halo"] == ((0, 0), (1, 1))


def test_describing_a_storage_moves_nothing(device: str) -> None:
    made = gt.storage(np.ones(3), device="gpu")
    before = made.buffer.stats.count
    first, then = made.__gt_data_interface__, made.__gt_data_interface__
    assert first == then
    # On a GPU, the description contains the stream of the caller.
    assert (first is then) == (device == "emulated")
    assert made.buffer.stats.count == before
    assert made.sync_state.state == SyncState.SYNC_HOST_DIRTY


@pytest.mark.usefixtures("device")
def test_an_interface_does_not_keep_its_storage_in_a_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        made = gt.ones((4,), device="gpu")
        buffer = weakref.ref(made.buffer)
        assert made.__gt_data_interface__
        assert made.sync_state is not None
        del made
        assert buffer() is None
    finally:
        gc.enable()


@pytest.mark.spec("GDP-3")
@pytest.mark.usefixtures("device")
def test_buffers_are_arrays_of_numpy_and_of_the_device(upload: Any) -> None:
    made = gt.zeros((2, 2), "c8", device="gpu")
    assert type(made.to_numpy()) is np.ndarray
    assert type(made.to_cupy()) is type(upload([1.0]))
    assert made.to_cupy().dtype == made.to_numpy().dtype == np.complex64


@pytest.mark.spec("GDP-12")
@pytest.mark.usefixtures("device")
def test_read_only_memory_stays_so() -> None:
    constant = np.ones(3)
    constant.flags.writeable = False
    wrapped = gt.as_storage(constant, device="gpu")
    assert wrapped.__gt_data_interface__[None]["data"][1] is True
    assert list(wrapped.to_numpy()) == [1.0] * 3
    with pytest.raises(gt.StorageError, match="read-only"):
        wrapped[0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        gt.as_storage(constant)[0] = 2.0
