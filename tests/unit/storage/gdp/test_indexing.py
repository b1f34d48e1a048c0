"""Tests of indexing: keys, views, and the side that is written."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices

from psyclone_storage import storage as gt
from psyclone_storage.storage import SyncState
from psyclone_storage.storage.gdp.indexing import on_gpu

SHAPE = (3, 4, 5)
VALUES = np.arange(60.0).reshape(SHAPE)
SIDES = pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"device": "gpu"},
        {"device": "gpu", "managed": None},
        {"device": "gpu", "managed": "cuda"},
    ],
)


def on_host(found: Any) -> Any:
    """Return the result of indexing as a host array."""
    if isinstance(found, gt.GPUStorage):
        found = found.to_cupy()
    return found.get() if hasattr(found, "get") else np.asarray(found)


@pytest.mark.spec("GDP-102")
@SIDES
@pytest.mark.usefixtures("device")
def test_integers_give_a_number(keywords: Any) -> None:
    made = gt.storage(VALUES, **keywords)
    for key in [(1, 2, 3), (-1, -1, -1), (np.int64(0), 0, 1)]:
        assert isinstance(made[key], numbers.Number)
        assert made[key] == VALUES[key]
    assert gt.storage(VALUES[0, 0], **keywords)[2] == 2.0


@SIDES
@pytest.mark.usefixtures("device")
def test_an_index_out_of_range_names_the_storage(keywords: Any) -> None:
    made = gt.storage(VALUES, label="u", **keywords)
    with pytest.raises(IndexError, match=r'"u" of shape \(3, 4, 5\) .*nothing at \(3, 0, 0\)'):
        _ = made[3, 0, 0]
    with pytest.raises(IndexError, match="too many"):
        _ = made[0, 0, 0, 0]


@pytest.mark.spec("GDP-103", "GDP-131")
@SIDES
@pytest.mark.parametrize(
    ("key", "halo", "dims"),
    [
        (slice(1, None), ((0, 1), (0, 2), (1, 0)), ("I", "J", "K")),
        ((slice(None), 2), ((1, 1), (1, 0)), ("I", "K")),
        ((..., slice(0, 3)), ((1, 1), (0, 2), (1, 0)), ("I", "J", "K")),
        ((0, ..., slice(None, None, -1)), ((0, 2), (0, 1)), ("J", "K")),
        ((slice(None), slice(0, 4, 2)), ((1, 1), (0, 1), (1, 0)), ("I", "J", "K")),
        ((None, 1), ((0, 0), (0, 2), (1, 0)), None),
        ((slice(2, 2), 0), ((0, 0), (1, 0)), ("I", "K")),
    ],
)
@pytest.mark.usefixtures("device")
def test_slices_give_views(keywords: Any, key: Any, halo: Any, dims: Any) -> None:
    made = gt.storage(VALUES, halo=(1, (0, 2), (1, 0)), dims="IJK", **keywords)
    view = made[key]
    expected = VALUES[key]
    assert type(view) is type(made)
    assert (view.shape, view.halo, view.dims) == (expected.shape, halo, dims)
    np.testing.assert_array_equal(on_host(view), expected)
    view[...] = -1.0
    changed = VALUES.copy()
    changed[key] = -1.0
    np.testing.assert_array_equal(on_host(made), changed)


@pytest.mark.spec("GDP-103")
@given(st.data())
def test_views_are_those_of_numpy(data: st.DataObject) -> None:
    key = data.draw(basic_indices(SHAPE, allow_newaxis=True, allow_ellipsis=True))
    gt.use_device("emulated")
    expected = VALUES[key]
    for made in (gt.storage(VALUES), gt.storage(VALUES, device="gpu")):
        found = made[key]
        if isinstance(expected, np.ndarray) and isinstance(found, gt.Storage):
            assert (found.shape, found.strides) == (expected.shape, expected.strides)
            assert len(found.halo) == expected.ndim
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.spec("GDP-103", "GDP-130")
@pytest.mark.usefixtures("device")
def test_views_of_views_share_everything() -> None:
    made = gt.zeros(SHAPE, device="gpu", halo=(1, 1, 1))
    view = made[1:][:, 1:-1].transpose(2, 1, 0)
    assert view.sync_state is made.sync_state
    assert view.buffer is made.buffer
    assert view.halo == ((1, 1), (0, 0), (0, 1))


@pytest.mark.spec("GDP-104", "GDP-105")
@SIDES
@pytest.mark.parametrize(
    "key",
    [
        [0, 2],
        np.array([[0, 1], [2, 0]]),
        VALUES % 2 == 0,
        (slice(None), [1, 2], 0),
        ([0, 1], [1, 2], [2, 3]),
        (..., np.array([True, False, True, False, True])),
    ],
    ids=["list", "array", "mask", "mixed", "points", "ellipsis and mask"],
)
@pytest.mark.usefixtures("device")
def test_advanced_keys_give_values(keywords: Any, key: Any) -> None:
    made = gt.storage(VALUES, **keywords)
    found = made[key]
    assert not isinstance(found, gt.Storage)
    assert isinstance(found, np.ndarray) is not isinstance(made, gt.GPUStorage)
    np.testing.assert_array_equal(on_host(found), VALUES[key])
    if isinstance(found, np.ndarray):
        found[...] = -1.0
        assert made[0, 0, 0] == 0.0


@pytest.mark.spec("GDP-105")
@SIDES
@pytest.mark.usefixtures("device")
def test_anything_that_describes_itself_is_a_key(upload: Any, keywords: Any) -> None:
    indices = np.array([2, 0])
    foreign = Asked(indices, None)
    made = gt.storage(VALUES, **keywords)
    keys = [gt.storage(indices), gt.storage(indices, device="gpu"), upload(indices), foreign]
    for key in keys:
        np.testing.assert_array_equal(on_host(made[key]), VALUES[indices])
        np.testing.assert_array_equal(on_host(made[1, key]), VALUES[1, indices])
    made[keys[0]] = -1.0
    assert (on_host(made)[indices] == -1.0).all()


@pytest.mark.spec("GDP-106")
@SIDES
@pytest.mark.parametrize("key", [..., (1, 2, 3), slice(1, 3), [0, 2], VALUES > 30.0])
@pytest.mark.usefixtures("device")
@pytest.mark.usefixtures("device")
def test_numbers_and_arrays_are_copied(keywords: Any, key: Any) -> None:
    for value in (7.0, np.float32(7.0), np.full_like(VALUES[key], 8.0), [9.0]):
        made, expected = gt.storage(VALUES, **keywords), VALUES.copy()
        fitting = value if np.ndim(value) == 0 or np.ndim(VALUES[key]) else np.ravel(value)[0]
        made[key] = fitting
        expected[key] = fitting
        np.testing.assert_array_equal(on_host(made), expected)


@pytest.mark.spec("GDP-106")
@SIDES
@pytest.mark.usefixtures("device")
def test_values_from_the_other_side_are_copied(upload: Any, keywords: Any) -> None:
    made = gt.zeros((2, 3), **keywords)
    for value in (
        upload(np.full((2, 3), 1.0)),
        gt.full((2, 3), 2.0),
        gt.full((3,), 3.0, device="gpu"),
        gt.full((2, 3), 4.0, device="gpu", managed=None),
        gt.full((2, 1), 5.0, device="gpu", managed="cuda"),
    ):
        made[...] = value
        expected = np.broadcast_to(on_host(value), (2, 3))
        np.testing.assert_array_equal(on_host(made), expected)


@SIDES
@pytest.mark.usefixtures("device")
def test_values_that_do_not_fit_leave_everything_as_it_was(keywords: Any) -> None:
    made = gt.storage(VALUES, **keywords)
    for key in (..., slice(0, 2)):
        with pytest.raises(ValueError, match=r"broadcast|shape|fit"):
            made[key] = np.zeros((2, 7))
    np.testing.assert_array_equal(on_host(made), VALUES)


@pytest.mark.usefixtures("device")
def test_overlapping_views_are_copied_as_if_they_did_not() -> None:
    for keywords in ({}, {"device": "gpu"}):
        made = gt.storage(np.arange(6.0), **keywords)
        made[1:] = made[:-1]
        assert list(np.asarray(made)) == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


class Asked:
    """An object with the data interface that counts the calls of `acquire`."""

    def __init__(self, array: Any, device: str | None = "gpu") -> None:
        self.array = array
        self.acquired = 0
        info = array.__cuda_array_interface__ if device else array.__array_interface__
        self.__gt_data_interface__ = {device: {**info, "acquire": self.acquire}}

    def acquire(self) -> None:
        self.acquired += 1


@pytest.mark.spec("GDP-119", "GDP-120", "GDP-121")
def test_gpu_enabled_values(upload: Any) -> None:
    array = upload([1.0, 2.0])
    assert on_gpu(Asked(array))
    assert on_gpu(array)
    assert not on_gpu(Asked(np.ones(2), None))
    assert not on_gpu(np.ones(2))
    assert not on_gpu([1.0, 2.0])
    assert not on_gpu(3.0)

    class OnGpu:
        def __init__(self, kind: int) -> None:
            self.kind = kind

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.kind, 0

    assert [on_gpu(OnGpu(kind)) for kind in (1, 2, 3, 13)] == [False, True, False, True]


@pytest.mark.spec("GDP-119", "GDP-120")
def test_unified_memory_is_written_where_the_value_is(upload: Any) -> None:
    made = gt.zeros((2,), device="gpu", managed="cuda")
    used: list[str] = []
    original = type(made).window

    class Watched(gt.CUDAManagedGPUStorage):
        __slots__ = ()

        def window(self, space: Any) -> Any:
            used.append("gpu" if space is self.backing().device else "cpu")
            return original(self, space)

    made.__class__ = Watched
    value = Asked(upload([1.0, 2.0]))
    made[...] = value
    assert (used[-1], value.acquired) == ("gpu", 1)
    made[...] = np.array([3.0, 4.0])
    assert used[-1] == "cpu"
    made[0] = 5.0
    assert used[-1] == "cpu"
    assert list(np.asarray(made)) == [5.0, 4.0]


@pytest.mark.spec("GDP-122")
@pytest.mark.parametrize(
    ("prepare", "side"),
    [
        (lambda value: value.set_host_modified(), SyncState.SYNC_HOST_DIRTY),
        (lambda value: value.set_device_modified(), SyncState.SYNC_DEVICE_DIRTY),
        (lambda value: value.synchronize(), SyncState.SYNC_DEVICE_DIRTY),
    ],
)
@pytest.mark.usefixtures("device")
def test_software_managed_values_decide_by_their_state(
    kernel: Any, prepare: Any, side: int
) -> None:
    value = gt.storage(np.ones(3), device="gpu")
    value.host_to_device()
    prepare(value)
    if side == SyncState.SYNC_DEVICE_DIRTY:
        kernel(value, 1.0)
    target = gt.zeros((3,), device="gpu")
    target[...] = value
    assert target.sync_state.state == side
    assert list(np.asarray(target)) == [1.0] * 3


@pytest.mark.spec("GDP-123", "GDP-120", "GDP-121")
def test_other_values_decide_by_being_gpu_enabled(upload: Any) -> None:
    asked = Asked(upload([1.0, 2.0]))
    host_asked = Asked(np.array([5.0, 6.0]), None)
    for value, state in [
        (asked, SyncState.SYNC_DEVICE_DIRTY),
        (asked.array, SyncState.SYNC_DEVICE_DIRTY),
        (gt.ones((2,), device="gpu", managed=None), SyncState.SYNC_DEVICE_DIRTY),
        (gt.ones((2,), device="gpu", managed="cuda"), SyncState.SYNC_DEVICE_DIRTY),
        (host_asked, SyncState.SYNC_HOST_DIRTY),
        (gt.ones((2,)), SyncState.SYNC_HOST_DIRTY),
        ([3.0, 4.0], SyncState.SYNC_HOST_DIRTY),
        (2.0, SyncState.SYNC_HOST_DIRTY),
    ]:
        target = gt.zeros((2,), device="gpu")
        target[...] = value
        assert target.sync_state.state == state
    assert (asked.acquired, host_asked.acquired) == (1, 1)


@pytest.mark.spec("GDP-125")
def test_a_partial_write_first_brings_its_side_up_to_date(upload: Any) -> None:
    made = gt.storage([1.0, 2.0, 3.0], device="gpu")
    made[0:1] = upload([9.0])
    assert made.sync_state.state == SyncState.SYNC_DEVICE_DIRTY
    assert made.buffer.stats.count == 1
    made[2] = 7.0
    assert made.sync_state.state == SyncState.SYNC_HOST_DIRTY
    assert made.buffer.stats.count == 2
    assert list(np.asarray(made)) == [9.0, 2.0, 7.0]


@pytest.mark.spec("GDP-125")
def test_a_write_of_everything_moves_nothing(upload: Any) -> None:
    made = gt.storage([1.0, 2.0, 3.0], device="gpu")
    made[...] = upload([4.0, 5.0, 6.0])
    assert made.sync_state.state == SyncState.SYNC_DEVICE_DIRTY
    made[:] = 1.0
    assert made.sync_state.state == SyncState.SYNC_HOST_DIRTY
    assert made.buffer.stats.count == 0
    made.host_to_device()
    made.set_device_modified()
    made[:2][...] = 0.0
    assert made.buffer.stats.count == 2


@pytest.mark.parametrize("keywords", [{}, {"device": "gpu"}, {"device": "gpu", "managed": None}])
@pytest.mark.usefixtures("device")
def test_item_returns_a_python_number(keywords: Any) -> None:
    storage = gt.storage(np.arange(6.0).reshape(2, 3), **keywords)
    assert (storage.item(1, 2), storage.item(4), storage[1:, :1].item()) == (5.0, 4.0, 3.0)
    assert type(gt.full((), 7, "i4", **keywords).item()) is int
    with pytest.raises(ValueError, match="has 6 elements: item"):
        storage.item()
    with pytest.raises(IndexError):
        storage.item(2, 0)
    with pytest.raises(IndexError):
        storage.item(6)


@SIDES
@pytest.mark.usefixtures("device")
def test_a_storage_is_gone_through_along_its_first_dimension(keywords: dict[str, Any]) -> None:
    field = gt.storage(VALUES, **keywords)
    rows = list(field)
    assert [type(row) for row in rows] == [type(field)] * 3
    for row, values in zip(rows, VALUES, strict=True):
        assert (on_host(row) == values).all()
    assert [float(number) for number in gt.storage(np.arange(3.0), **keywords)] == [0.0, 1.0, 2.0]
    assert list(gt.zeros((0, 2), **keywords)) == []
    with pytest.raises(TypeError, match="no dimension"):
        iter(gt.zeros((), **keywords))
