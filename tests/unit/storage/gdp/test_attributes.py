"""Tests of attributes, types, and supported and unsupported NumPy functions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import SyncState

SHAPE = (3, 4, 5)
MANAGED = pytest.mark.parametrize("managed", [None, "cuda", "gt4py"])


@pytest.mark.spec("GDP-2")
@pytest.mark.parametrize(
    "operation",
    [
        lambda s: s + 1,
        lambda s: 2.0 * s,
        lambda s: -s,
        lambda s: np.float64(1.0) + s,
        lambda s: np.ones(SHAPE) + s,
        lambda s: np.add(s, 1),
        np.sum,
        lambda s: np.concatenate([s, s]),
        np.mean,
        np.sqrt,
        np.max,
    ],
)
def test_there_is_no_arithmetic(operation: Any) -> None:
    with pytest.raises(TypeError):
        operation(gt.ones(SHAPE))


@pytest.mark.spec("GDP-5", "GDP-126", "GDP-127", "GDP-128", "GDP-129")
@pytest.mark.usefixtures("device")
def test_the_four_types() -> None:
    kinds = {
        gt.CPUStorage: gt.ones(SHAPE),
        gt.GPUStorage: gt.ones(SHAPE, device="gpu", managed=None),
        gt.CUDAManagedGPUStorage: gt.ones(SHAPE, device="gpu", managed="cuda"),
        gt.SoftwareManagedGPUStorage: gt.ones(SHAPE, device="gpu", managed="gt4py"),
    }
    for kind, made in kinds.items():
        assert type(made) is kind
        assert isinstance(made, gt.Storage)
        assert made[2, 3, 4] == 1.0


@pytest.mark.spec("GDP-128", "GDP-129")
def test_older_names_are_the_same_classes() -> None:
    assert gt.CudaManagedGPUStorage is gt.CUDASyncedGPUStorage is gt.CUDAManagedGPUStorage
    assert gt.GT4PySyncedGPUStorage is gt.SoftwareManagedGPUStorage
    assert gt.ExplicitlySyncedGPUStorage is gt.SoftwareManagedGPUStorage
    assert gt.ExplicitlyManagedGPUStorage is gt.SoftwareManagedGPUStorage
    assert gt.Storage.SyncState is gt.SyncState


@pytest.mark.spec("GDP-128")
@pytest.mark.usefixtures("device")
def test_unified_memory_is_one_buffer_with_two_faces(download: Any) -> None:
    made = gt.zeros(SHAPE, device="gpu", managed="cuda")
    assert isinstance(made.to_numpy(), np.ndarray)
    assert made.device_data.ptr == made.to_numpy().ctypes.data
    made.to_numpy()[0, 0, 0] = 5.0
    assert download(made.to_cupy())[0, 0, 0] == 5.0
    assert made.buffer.stats.count == 0


@pytest.mark.spec("GDP-86", "GDP-87", "GDP-88")
@pytest.mark.usefixtures("device")
def test_raw_buffers() -> None:
    host, both = gt.ones((2, 3)), gt.ones((2, 3), device="gpu")
    only = gt.ones((2, 3), device="gpu", managed=None)
    assert isinstance(host.data, memoryview)
    assert host.data[1, 2] == both.data[1, 2] == 1.0
    assert (only.data, host.device_data) == (None, None)
    assert (host.device, both.device, only.device) == (None, "gpu", "gpu")
    for made in (both, only):
        assert made.device_data.ptr == made.__cuda_array_interface__["data"][0]


@pytest.mark.spec("GDP-90", "GDP-94", "GDP-95", "GDP-96", "GDP-97")
@pytest.mark.parametrize("keywords", [{}, {"device": "gpu"}])
@pytest.mark.usefixtures("device")
def test_shape_and_size(keywords: Any) -> None:
    made = gt.zeros((3, 5), "f4", alignment_size=64, **keywords)
    assert (made.dtype, made.ndim, made.shape, made.size) == (np.float32, 2, (3, 5), 15)
    assert isinstance(made.dtype, np.dtype)
    assert made.strides == (64, 4)
    assert made.nbytes == 60
    assert made.strides == made.to_numpy().strides
    assert len(made) == 3


@pytest.mark.spec("GDP-89")
@pytest.mark.parametrize("keywords", [{}, {"device": "gpu"}])
@pytest.mark.usefixtures("device")
def test_domain_view(keywords: Any) -> None:
    made = gt.zeros(SHAPE, halo=((1, 0), (1, 2), 0), **keywords)
    inner = made.domain_view
    assert (inner.shape, inner.halo) == ((2, 1, 5), ((0, 0),) * 3)
    inner[0, 0, 0] = 8.0
    assert made[1, 1, 0] == 8.0
    if keywords:
        assert inner.sync_state is made.sync_state
    assert gt.ones(()).domain_view.shape == ()


@pytest.mark.spec("GDP-91", "GDP-92", "GDP-93")
def test_the_halo_can_be_set_and_moves_nothing() -> None:
    made = gt.zeros(SHAPE, halo=(1, 0, 0), alignment_size=64)
    before = made.to_numpy().ctypes.data, made.strides, made.aligned_index
    made.halo = (0, (1, 2), np.int64(1))
    assert made.halo == ((0, 0), (1, 2), (1, 1))
    assert (made.to_numpy().ctypes.data, made.strides, made.aligned_index) == before
    with pytest.raises(ValueError, match="halo"):
        made.halo = (1, 1)


@pytest.mark.spec("GDP-99", "GDP-111")
@pytest.mark.parametrize("keywords", [{}, {"device": "gpu"}])
@pytest.mark.usefixtures("device")
def test_transposes_are_views(keywords: Any) -> None:
    made = gt.zeros(SHAPE, halo=(1, (0, 2), 0), dims="IJK", **keywords)
    for turned in (
        np.transpose(made, (2, 0, 1)),
        np.transpose(made, axes=(2, 0, 1)),
        made.transpose(2, 0, 1),
        made.transpose((2, 0, 1)),
        made.transpose([-1, 0, 1]),
    ):
        assert type(turned) is type(made)
        assert turned.shape == (5, 3, 4)
        assert turned.strides == tuple(made.strides[axis] for axis in (2, 0, 1))
        assert turned.halo == ((0, 0), (1, 1), (0, 2))
        assert turned.dims == ("K", "I", "J")
    for turned in (np.transpose(made), made.transpose(), made.T):
        assert turned.strides == made.strides[::-1]
    turned[4, 3, 2] = 9.0
    assert made[2, 3, 4] == 9.0
    with pytest.raises(ValueError, match="axes"):
        made.transpose(0, 1)


@pytest.mark.spec("GDP-100")
@pytest.mark.usefixtures("device")
def test_array_is_a_view_of_the_host_and_refused_without_one() -> None:
    host = gt.ones((2, 2))
    assert host.__array__().ctypes.data == host.to_numpy().ctypes.data
    assert host.__array__(np.float32).dtype == np.float32
    assert host.__array__(copy=True).ctypes.data != host.to_numpy().ctypes.data
    with pytest.raises(ValueError, match="uncopied"):
        host.__array__(np.float32, copy=False)
    only = gt.ones((2, 2), device="gpu", managed=None, label="pressure")
    for kind in (gt.GTNoSuchBufferError, TypeError, BufferError):
        with pytest.raises(kind, match=r'"pressure" of shape \(2, 2\) \(float64\) on gpu'):
            np.asarray(only)


@pytest.mark.spec("GDP-98")
@pytest.mark.usefixtures("device")
def test_only_software_managed_storages_have_a_state() -> None:
    assert isinstance(gt.ones(SHAPE, device="gpu").sync_state, SyncState)
    for keywords in ({}, {"device": "gpu", "managed": None}, {"device": "gpu", "managed": "cuda"}):
        with pytest.raises(AttributeError, match="sync_state"):
            _ = gt.ones(SHAPE, **keywords).sync_state


@pytest.mark.spec("GDP-101", "GDP-107")
@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda s: s.copy()])
@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"device": "gpu"},
        {"device": "gpu", "managed": None},
        {"device": "gpu", "managed": "cuda"},
    ],
)
@pytest.mark.usefixtures("device")
def test_copies_are_independent(duplicate: Any, keywords: Any) -> None:
    made = gt.ones(SHAPE, "f4", halo=(1, 0, 0), layout=(2, 0, 1), label="u", **keywords)
    made[1, 1, 1] = 3.0
    twin = duplicate(made)
    assert type(twin) is type(made)
    assert (twin.halo, twin.strides, twin.dtype, twin.label) == (
        made.halo, made.strides, made.dtype, "u",
    )  # fmt: skip
    assert (twin[1, 1, 1], twin[0, 0, 0]) == (3.0, 1.0)
    twin[1, 1, 1] = 4.0
    assert made[1, 1, 1] == 3.0
    assert twin.buffer is not made.buffer
    if type(made) is gt.SoftwareManagedGPUStorage:
        assert twin.sync_state is not made.sync_state


@pytest.mark.spec("GDP-101")
def test_a_deep_copy_of_a_container_copies_once() -> None:
    made = gt.ones((2,))
    first, second = copy.deepcopy([made, made])
    assert first is second
    assert first is not made


@pytest.mark.usefixtures("device")
def test_a_copy_follows_the_current_side(kernel: Any) -> None:
    made = gt.zeros(SHAPE, device="gpu")
    made.host_to_device()
    kernel(made, 6.0)
    made.set_device_modified()
    twin = made.copy()
    assert twin.sync_state.state == SyncState.SYNC_DEVICE_DIRTY
    assert made.buffer.stats.count == 0
    assert twin[0, 0, 0] == 6.0


@pytest.mark.parametrize("keywords", [{}, {"device": "gpu"}, {"device": "gpu", "managed": "cuda"}])
@pytest.mark.usefixtures("device")
def test_pickles(keywords: Any) -> None:
    made = gt.full(SHAPE, 2.5, "f4", halo=(1, 1, 1), layout=(2, 1, 0), dims="IJK", **keywords)
    made[0, 1, 2] = 7.0
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made)
    assert (again.halo, again.strides, again.dims) == (made.halo, made.strides, made.dims)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(made))


@pytest.mark.usefixtures("device")
def test_what_is_on_the_device_only_is_not_pickled() -> None:
    with pytest.raises(gt.GTNoSuchBufferError, match="no buffer in main memory"):
        pickle.dumps(gt.ones(SHAPE, device="gpu", managed=None))


@pytest.mark.spec("GDP-108", "GDP-109", "GDP-110")
@pytest.mark.usefixtures("device")
def test_to_arrays(download: Any) -> None:
    host, both = gt.ones((2, 3)), gt.ones((2, 3), device="gpu")
    only = gt.ones((2, 3), device="gpu", managed=None)
    assert isinstance(host.to_ndarray(), np.ndarray)
    for made in (both, only):
        assert type(made.to_ndarray()) is type(made.to_cupy())
        assert made.to_cupy().data.ptr == made.device_data.ptr
        assert (download(made.to_xp()) == 1.0).all()
    host.to_numpy()[0, 0] = both.to_numpy()[0, 0] = 4.0
    assert host[0, 0] == both[0, 0] == 4.0
    with pytest.raises(gt.GTNoSuchBufferError, match=r"\(2, 3\) .float64. on cpu has no buffer on"):
        host.to_cupy()
    with pytest.raises(gt.GTNoSuchBufferError, match="no buffer in main memory"):
        only.to_numpy()


@MANAGED
@pytest.mark.usefixtures("device")
def test_repr_reads_nothing(managed: Any) -> None:
    made = gt.ones((2, 3), device="gpu", managed=managed, label="q")
    assert repr(made) == f'<{type(made).__name__} "q" (2, 3) float64 halo=((0, 0), (0, 0))>'
    assert made.buffer.stats.count == 0
