"""Tests of the functions that create storages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage import SyncState
from psyclone_storage.storage.kokkos import LayoutLeft, LayoutRight, View

SHAPE = (3, 4, 5)


@pytest.mark.spec("GDP-40", "GDP-5", "GDP-126")
def test_empty_allocates_and_nothing_else() -> None:
    made = gt.empty(SHAPE)
    assert isinstance(made, gt.Storage)
    assert type(made) is gt.CPUStorage
    assert (made.shape, made.dtype, made.halo) == (SHAPE, np.float64, ((0, 0),) * 3)
    assert made.buffer.replicas.options.init is None


@pytest.mark.spec("GDP-42", "GDP-44", "GDP-46", "GDP-51")
@pytest.mark.parametrize(
    "keywords", [{}, {"defaults": "F"}, {"alignment_size": 64, "halo": [1] * 3}]
)
@pytest.mark.parametrize("dtype", ["f4", np.int64, np.dtype("c16"), bool])
def test_initial_values(keywords: Any, dtype: Any) -> None:
    made = [
        (gt.zeros(SHAPE, dtype, **keywords), 0),
        (gt.ones(SHAPE, dtype, **keywords), 1),
        (gt.full(SHAPE, 1, dtype, **keywords), 1),
    ]
    for storage, value in made:
        assert storage.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(storage.to_numpy(), np.full(SHAPE, value, dtype))
    assert gt.full(SHAPE, 2.5)[1, 1, 1] == 2.5


@pytest.mark.spec("GDP-41", "GDP-43", "GDP-45", "GDP-47", "GDP-48", "GDP-50")
def test_like_takes_what_is_not_overridden() -> None:
    data = gt.zeros(
        SHAPE, np.float32, halo=(1, (0, 2), 0), layout=(1, 2, 0), alignment_size=32, dims="KJI",
        aligned_index=(1, 1, 0),
    )  # fmt: skip
    twins = [
        (gt.empty_like(data), None),
        (gt.zeros_like(data), 0),
        (gt.ones_like(data), 1),
        (gt.full_like(data, 7), 7),
    ]
    for twin, value in twins:
        assert twin.dtype == np.float32
        assert (twin.shape, twin.halo, twin.dims) == (data.shape, data.halo, data.dims)
        assert (twin.strides, twin.aligned_index) == (data.strides, data.aligned_index)
        assert not np.shares_memory(twin.to_numpy(), data.to_numpy())
        if value is not None:
            assert (twin.to_numpy() == value).all()
    changed = gt.zeros_like(data, np.int16, halo=(0, 0, 0), defaults="C")
    assert (changed.dtype, changed.halo) == (np.int16, ((0, 0),) * 3)
    assert changed.strides[2] < changed.strides[1] < changed.strides[0]


@pytest.mark.spec("GDP-49")
@pytest.mark.parametrize("like", [gt.empty_like, gt.zeros_like, gt.ones_like])
def test_like_has_no_shape(like: Any) -> None:
    with pytest.raises(TypeError, match='no keyword "shape"'):
        like(gt.empty(SHAPE), shape=(1, 2))
    with pytest.raises(TypeError, match='no keyword "shape"'):
        gt.full_like(gt.empty(SHAPE), 1.0, shape=(1, 2))


def test_like_takes_any_array() -> None:
    twin = gt.zeros_like(np.ones((2, 3), "i4", order="F"))
    assert (twin.dtype, twin.strides) == (np.int32, (4, 8))


@pytest.mark.spec("GDP-52", "GDP-4")
def test_as_storage_shares_memory_of_the_host() -> None:
    array = np.arange(6.0).reshape(2, 3)
    wrapped = gt.as_storage(array)
    wrapped[0, 0] = 42.0
    assert array[0, 0] == 42.0
    array[1, 2] = -1.0
    assert wrapped[1, 2] == -1.0
    assert gt.as_storage(wrapped).to_numpy().ctypes.data == array.ctypes.data


@pytest.mark.spec("GDP-4", "GDP-52", "GDP-127")
def test_as_storage_shares_memory_of_the_device(upload: Any) -> None:
    array = upload(np.arange(6.0).reshape(2, 3))
    wrapped = gt.as_storage(device_data=array, managed=None)
    assert type(wrapped) is gt.GPUStorage
    assert wrapped.device_data.ptr == array.data.ptr
    array[0, 0] = 42.0
    assert wrapped[0, 0] == 42.0


@pytest.mark.spec("GDP-53", "GDP-54", "GDP-133")
@pytest.mark.parametrize(
    ("state", "seen"),
    [
        (SyncState.SYNC_HOST_DIRTY, (1.0, 1.0)),
        (SyncState.SYNC_DEVICE_DIRTY, (2.0, 2.0)),
        (SyncState.SYNC_CLEAN, (1.0, 2.0)),
    ],
)
def test_sync_state_says_which_buffer_is_current(
    upload: Any, download: Any, state: int, seen: tuple[float, float]
) -> None:
    host, device = np.full(3, 1.0), upload(np.full(3, 2.0))
    wrapped = gt.as_storage(host, device, sync_state=SyncState(state))
    assert wrapped.sync_state.state == state
    wrapped.device_to_host()
    wrapped.host_to_device()
    assert (host[0], download(device)[0]) == seen
    assert wrapped.sync_state.state == SyncState.SYNC_CLEAN


@pytest.mark.spec("GDP-55", "GDP-130")
@pytest.mark.usefixtures("device")
def test_buffers_of_a_storage_come_with_its_state() -> None:
    first = gt.zeros(SHAPE, device="gpu", layout=(2, 1, 0), alignment_size=128)
    second = gt.as_storage(first.to_numpy(), first.to_cupy(), sync_state=first.sync_state)
    assert second.sync_state is first.sync_state
    assert second.buffer is first.buffer
    second[1, 1, 1] = 5.0
    assert first[1, 1, 1] == 5.0
    part = gt.as_storage(first.to_numpy()[1:], first.to_cupy()[1:], sync_state=first.sync_state)
    assert part[0, 1, 1] == 5.0


@pytest.mark.spec("GDP-55")
@pytest.mark.usefixtures("device")
def test_the_state_of_another_storage_is_refused() -> None:
    first, second = gt.zeros(SHAPE, device="gpu"), gt.zeros(SHAPE, device="gpu")
    with pytest.raises(ValueError, match="not its buffers"):
        gt.as_storage(first.to_numpy(), first.to_cupy(), sync_state=second.sync_state)


def test_as_storage_needs_data() -> None:
    with pytest.raises(TypeError, match="needs data"):
        gt.as_storage()


@pytest.mark.spec("GDP-56")
def test_storage_copies_values() -> None:
    array = np.arange(6, dtype="i4").reshape(2, 3)
    copied = gt.storage(array)
    assert copied.dtype == np.int32
    copied[0, 0] = 42
    assert array[0, 0] == 0
    assert gt.storage([[1, 2], [3, 4]], dtype="f4")[1, 0] == 3.0
    assert gt.storage(array, defaults="F").strides == (4, 8)


@pytest.mark.spec("GDP-57", "GDP-58")
def test_storage_without_copy() -> None:
    array = np.zeros((2, 3))
    assert gt.storage(array, copy=False).to_numpy().ctypes.data == array.ctypes.data
    made = gt.storage(copy=False, shape=(2, 3), dtype="f4", halo=(1, 1))
    assert (made.shape, made.dtype, made.halo) == ((2, 3), np.float32, ((1, 1), (1, 1)))


@pytest.mark.spec("GDP-80")
def test_a_shape_must_come_from_somewhere() -> None:
    with pytest.raises(TypeError, match="shape"):
        gt.storage(copy=False)
    with pytest.raises(TypeError, match="needs data"):
        gt.storage()
    with pytest.raises(TypeError, match="shape"):
        gt.empty()  # type: ignore[call-arg]


@pytest.mark.spec("GDP-59")
@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"shape": (3, 2)}, "shape"),
        ({"halo": (1, 1, 1)}, "halo"),
        ({"dims": "IJK"}, "dims"),
        ({"layout": (2, 1, 0)}, "layout"),
        ({"layout": (1, 0), "copy": False}, "only|layout"),
        ({"dtype": "f4", "copy": False}, "type"),
        ({"alignment_size": 1 << 30, "copy": False}, "multiple"),
        ({"aligned_index": (1,)}, "aligned_index"),
    ],
)
def test_parameters_must_fit_the_data(keywords: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gt.storage(np.zeros((2, 3)), **keywords)


@pytest.mark.spec("GDP-60")
def test_a_gpu_source_may_be_data_or_device_data(upload: Any) -> None:
    source = upload([1.0, 2.0])
    for made in (gt.storage(source), gt.storage(device_data=source)):
        assert type(made) is gt.SoftwareManagedGPUStorage
        assert made.sync_state.state == SyncState.SYNC_DEVICE_DIRTY
        assert made.device_data.ptr != source.data.ptr
        assert list(made.to_numpy()) == [1.0, 2.0]
    on_host = gt.storage(source, device=None)
    assert type(on_host) is gt.CPUStorage
    assert on_host[1] == 2.0


@pytest.mark.spec("GDP-133")
def test_only_the_side_that_was_written_is_valid(upload: Any) -> None:
    from_host = gt.storage([1.0, 2.0], device="gpu")
    assert from_host.sync_state.state == SyncState.SYNC_HOST_DIRTY
    assert (from_host.is_current(), from_host.is_current("gpu")) == (True, False)
    wrapped = gt.as_storage(np.ones(2), device="gpu")
    assert wrapped.sync_state.state == SyncState.SYNC_HOST_DIRTY
    from_device = gt.as_storage(upload([1.0]))
    assert from_device.sync_state.state == SyncState.SYNC_DEVICE_DIRTY
    nothing = gt.empty((2,), device="gpu")
    assert nothing.sync_state.state == SyncState.SYNC_CLEAN
    assert not nothing.buffer.is_initialised()


def test_of_two_sources_both_count_as_current(upload: Any) -> None:
    made = gt.storage(np.ones(2), upload([1.0, 1.0]))
    assert made.sync_state.state == SyncState.SYNC_CLEAN
    assert (made.is_current(), made.is_current("gpu")) == (True, True)


def test_two_buffers_must_look_the_same(upload: Any) -> None:
    with pytest.raises(ValueError, match="same shape and strides"):
        gt.as_storage(np.zeros((2, 3)), upload(np.zeros((3, 2))))


@pytest.mark.spec("GDP-61")
@pytest.mark.parametrize(
    "call",
    [
        lambda: gt.empty(SHAPE, np.float64, (0, 0, 0)),
        lambda: gt.full(SHAPE, 1.0, np.float64, "F"),
        lambda: gt.empty_like(gt.empty(SHAPE), np.float64, "F"),
        lambda: gt.as_storage(np.zeros(3), None, None),
        lambda: gt.storage(np.zeros(3), None, np.float64),
    ],
)
def test_common_parameters_are_keywords(call: Any) -> None:
    with pytest.raises(TypeError, match="positional"):
        call()


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match='no keyword "backend"'):
        gt.zeros(SHAPE, backend="gtx86")  # type: ignore[call-arg]


@pytest.mark.parametrize("shape", [(0, 3), (), (3,), 4, [2, 2], np.array([2, 3])])
def test_shapes(shape: Any) -> None:
    made = gt.ones(shape)
    expected = np.ones(shape)
    assert made.shape == expected.shape
    np.testing.assert_array_equal(made.to_numpy(), expected)


@pytest.mark.parametrize("shape", [(0, 3), (), (4,)])
@pytest.mark.usefixtures("device")
def test_shapes_on_the_device(shape: Any) -> None:
    made = gt.ones(shape, device="gpu")
    made.host_to_device()
    made.set_device_modified()
    assert made.to_numpy().shape == shape


def test_a_negative_extent_is_refused() -> None:
    with pytest.raises(ValueError, match="negative extent"):
        gt.empty((2, -1))


def test_without_a_device_the_error_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PSYCLONE_STORAGE_DEVICE", raising=False)
    monkeypatch.setattr("psyclone_storage.storage.memory.cuda.is_available", lambda: False)
    gt.use_device("auto")
    with pytest.raises(gt.StorageError, match="PSYCLONE_STORAGE_DEVICE"):
        gt.zeros(SHAPE, device="gpu")


@pytest.mark.usefixtures("device")
def test_gaps_between_elements_are_not_to_be_transferred() -> None:
    big = np.zeros((4, 4))
    with pytest.raises(ValueError, match="gaps"):
        gt.as_storage(big[1:-1, 1:-1], device="gpu")
    inner = gt.as_storage(big, device="gpu")[1:-1, 1:-1]
    inner.to_cupy().fill(3.0)
    inner.device_to_host()
    assert big.sum() == 12.0


@pytest.mark.spec("GDP-54", "GDP-56")
@pytest.mark.parametrize(
    ("state", "current"), [(SyncState.SYNC_DEVICE_DIRTY, 1.0), (SyncState.SYNC_HOST_DIRTY, 0.0)]
)
def test_of_two_arrays_the_current_one_is_copied(upload: Any, state: Any, current: float) -> None:
    said = SyncState()
    said.state = state
    made = gt.storage(np.zeros(3), upload(np.ones(3)), sync_state=said, device="gpu")
    assert list(made.to_numpy()) == [current] * 3


@pytest.mark.spec("GDP-3")
@pytest.mark.parametrize(
    "dtype", [object, "U3", "S3", "M8[s]", "m8[s]", np.longdouble, "c32", "V8", [("x", "f8")]]
)
@pytest.mark.parametrize("keywords", [{}, {"device": "gpu"}])
@pytest.mark.usefixtures("device")
def test_elements_are_those_that_host_and_device_have(dtype: Any, keywords: Any) -> None:
    with pytest.raises(TypeError, match="cannot have elements of type"):
        gt.empty((3,), dtype, **keywords)
    with pytest.raises(TypeError, match="cannot have elements of type"):
        gt.storage(np.zeros(3), dtype=dtype)


@pytest.mark.spec("GDP-3", "GDP-52")
@pytest.mark.parametrize("thing", [object(), {"a": 1}, "text", np.array(["a"])])
def test_what_is_no_array_of_numbers_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match="cannot have elements of type"):
        gt.as_storage(thing)


@pytest.mark.parametrize(
    ("kind", "layout", "other"), [(LayoutLeft, (1, 0), (0, 1)), (LayoutRight, (0, 1), (1, 0))]
)
def test_another_face_of_a_buffer_keeps_its_layout(kind: Any, layout: Any, other: Any) -> None:
    view = View["double**", kind]("v", 2, 3)
    assert gt.as_storage(view, layout=layout).strides == (8 * view.stride(0), 8 * view.stride(1))
    with pytest.raises(ValueError, match="is not in the layout"):
        gt.as_storage(view, layout=other)
