"""Tests of DLPack in both directions, the buffer protocol, and use by other libraries."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from storage_devices import device_in_place

VALUES = np.arange(6.0).reshape(2, 3)


@pytest.mark.usefixtures("device")
def test_dlpack_of_the_host_shares_memory() -> None:
    for keywords in ({}, {"device": "gpu"}, {"layout": (1, 0)}):
        made = gt.storage(VALUES, **keywords)
        assert made.__dlpack_device__() == (1, 0)
        seen = np.from_dlpack(made)
        np.testing.assert_array_equal(seen, VALUES)
        assert seen.ctypes.data == made.to_numpy().ctypes.data


def test_dlpack_has_the_version_that_is_asked_for() -> None:
    made = gt.ones((2, 3))
    assert "dltensor_versioned" in repr(made.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" not in repr(made.__dlpack__())


def test_dlpack_copies_when_asked() -> None:
    made = gt.storage(VALUES)
    copied = np.from_dlpack(made, copy=True)
    assert copied.ctypes.data != made.to_numpy().ctypes.data


@pytest.mark.parametrize("managed", ["gt4py", None])
@pytest.mark.usefixtures("device")
def test_dlpack_tells_where_the_data_are(managed: Any) -> None:
    made = gt.zeros((2, 3), device="gpu", managed=managed)
    made.to_cupy()
    assert made.__dlpack_device__() == (2, 0)
    seen = np.from_dlpack(made, device="cpu")
    assert seen.sum() == 0.0
    if managed == "gt4py":
        assert made.is_current()


@pytest.mark.usefixtures("device")
def test_dlpack_of_unified_memory() -> None:
    made = gt.ones((2, 3), device="gpu", managed="cuda")
    assert made.__dlpack_device__() == (13, 0)
    assert np.from_dlpack(made, device="cpu").sum() == 6.0


def test_an_emulated_device_is_not_exported() -> None:
    gt.use_device("emulated")
    only = gt.ones((2,), device="gpu", managed=None, label="p")
    with pytest.raises(BufferError, match=r'"p".*emulated device.*dl_device=\(1, 0\)'):
        only.__dlpack__()
    with pytest.raises(BufferError, match="DLPack device"):
        only.__dlpack__(dl_device=(2, 1))
    with pytest.raises(BufferError, match="no buffer in main memory"):
        only.__dlpack__(dl_device=(1, 0), copy=False)


def test_a_stream_makes_no_sense_on_the_host() -> None:
    with pytest.raises(BufferError, match="no streams"):
        gt.ones((2,)).__dlpack__(stream=1)


def test_dlpack_comes_in() -> None:
    class Capsule:
        """An object that provides its array through DLPack only."""

        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, **words: Any) -> Any:
            return self.array.__dlpack__(**words)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    array = VALUES.copy()
    wrapped = gt.as_storage(Capsule(array))
    assert wrapped.to_numpy().ctypes.data == array.ctypes.data
    assert gt.storage(Capsule(array))[1, 2] == 5.0


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is from Python 3.12 on")
def test_the_buffer_protocol() -> None:
    made = gt.storage(VALUES)
    view = memoryview(made)
    view[1, 2] = 8.0
    assert made[1, 2] == 8.0


def test_the_buffer_that_the_protocol_hands_out() -> None:
    made = gt.storage(VALUES)
    assert made.__buffer__(0)[1, 2] == 5.0
    assert memoryview(made.data).shape == (2, 3)


@pytest.mark.usefixtures("device")
def test_nothing_on_the_host_reads_a_device() -> None:
    only = gt.ones((2,), device="gpu", managed=None)
    assert not hasattr(only, "__buffer__")
    with pytest.raises(TypeError):
        memoryview(only)  # type: ignore[arg-type]


@pytest.mark.mpi
@pytest.mark.parametrize("device", [None, "gpu"])
def test_messages_take_storages_as_they_are(device: str | None) -> None:
    mpi = pytest.importorskip("mpi4py.MPI")
    with device_in_place("emulated"):
        sent, received = gt.full((3, 4), 2.0, device=device), gt.zeros((3, 4), device=device)
        mpi.COMM_SELF.Sendrecv(sent, 0, 0, received, 0, 0)
        assert (received.data_ro == 2.0).all()
        assert (sent.data_ro == 2.0).all()
        if device is not None:
            with received.access("gpu") as array:
                assert (np.asarray(array) == 2.0).all()


@pytest.mark.mpi
def test_messages_from_an_emulated_device_are_refused_with_what_to_do() -> None:
    mpi = pytest.importorskip("mpi4py.MPI")
    with device_in_place("emulated"):
        sent, received = gt.zeros((3, 4), device="gpu"), gt.zeros((3, 4), device="gpu")
        for storage in (sent, received):
            with storage.access("gpu", mode="rw") as array:
                array[...] = 2.0
        with pytest.raises(BufferError, match="pass its data_ro where it is read and its data"):
            mpi.COMM_SELF.Sendrecv(sent, 0, 0, np.zeros((3, 4)), 0, 0)
        mpi.COMM_SELF.Sendrecv(sent.data_ro, 0, 0, received.data, 0, 0)
        with received.access("gpu") as array:
            assert (np.asarray(array) == 2.0).all()
