"""Tests of reference counts, labels, pointers, equality, subviews and protocols."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage
from psyclone_storage.storage import hmemo
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.errors import AllocationInUseError, HostUseError
from psyclone_storage.storage.kokkos import (
    ALL,
    CudaHostPinnedSpace,
    CudaSpace,
    HostSpace,
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    Unmanaged,
    View,
    ViewExtentError,
    ViewIndexError,
    ViewRankError,
    ViewTypeError,
    create_mirror_view_and_copy,
    resize,
    subview,
)


@pytest.mark.spec("VIEW-75", "VIEW-76")
def test_views_count_their_users() -> None:
    a = View["int**"]("temperature", 3, 4)
    row = subview(a, 1, ALL)
    assert (a.use_count(), row.use_count(), row.label()) == (2, 2, "temperature")
    b = copy.copy(a)
    assert a.use_count() == 3
    del row, b
    gc.collect()
    assert a.use_count() == 1


@pytest.mark.spec("VIEW-78")
def test_assigned_data_is_not_owned() -> None:
    a = View["int*"]("a", 3)
    b = View(a)
    memory = np.arange(3, dtype="i4")
    b.assign_data(memory)
    assert (a.use_count(), b.use_count(), b.label()) == (1, 0, "")
    assert (b(2), b.data(), b.extents) == (2, memory.ctypes.data, (3,))
    b.assign_data(a.data())
    assert (b.data(), a.use_count()) == (a.data(), 1)
    with pytest.raises(ViewExtentError):
        b.assign_data(memory[:2])
    b.assign_data(None)
    assert not b.is_allocated()


@pytest.mark.spec("VIEW-79")
def test_is_allocated_asks_for_a_pointer_only() -> None:
    a = View["int*"]("a", 3)
    assert a.is_allocated()
    assert View["int*", Unmanaged](a).is_allocated()
    assert not View["int*"]().is_allocated()


@pytest.mark.spec("VIEW-80", "VIEW-81")
def test_equality() -> None:
    a = View["int*[4]"]("a", 3)
    same = View["int*[4]"](a)
    assert a == same
    assert not a != same  # noqa: SIM202
    assert hash(a) == hash(same)
    assert a == View["const int**"](a)
    assert hash(a) == hash(View["const int**"](a))
    for other in (
        View["int*[4]"]("a", 3),
        View["int**", LayoutStride](a),
        subview(a, (0, 2), ALL),
        subview(a, 0, ALL),
        3,
    ):
        assert a != other
    pinned = View["int*", CudaHostPinnedSpace]("p", 3)
    assert View["int*", HostSpace](pinned) != pinned


@pytest.mark.spec("VIEW-58")
@pytest.mark.parametrize(
    ("choices", "expected", "layout"),
    [
        ((ALL, ALL, ALL), np.s_[:, :, :], LayoutRight),
        ((1, ALL, ALL), np.s_[1, :, :], LayoutRight),
        (((1, 3), ALL, ALL), np.s_[1:3, :, :], LayoutRight),
        ((2, (1, 3), ALL), np.s_[2, 1:3, :], LayoutRight),
        ((2, 1, (1, 3)), np.s_[2, 1, 1:3], LayoutRight),
        ((2, 1, 3), np.s_[2, 1, 3], LayoutRight),
        ((ALL, 1, ALL), np.s_[:, 1, :], LayoutStride),
        ((ALL, ALL, (1, 3)), np.s_[:, :, 1:3], LayoutStride),
        ((ALL, ALL, 2), np.s_[:, :, 2], LayoutStride),
        ((0, 0, slice(0, 5, 2)), np.s_[0, 0, 0:5:2], LayoutStride),
        ((range(1, 3), slice(None), slice(2, None)), np.s_[1:3, :, 2:], LayoutStride),
        (((2, 2), ALL, ALL), np.s_[2:2, :, :], LayoutRight),
    ],
    ids=str,
)
@pytest.mark.parametrize("mirrored", [False, True], ids=["right", "left"])
def test_subviews_select_what_numpy_selects(
    choices: Any, expected: Any, layout: type, mirrored: bool
) -> None:
    values = np.arange(60.0).reshape(3, 4, 5)
    if mirrored:
        view = View(values.T)
        choices, expected = tuple(reversed(choices)), values[expected].T
        layout = LayoutLeft if layout is LayoutRight else layout
    else:
        view, expected = View(values), values[expected]
    part = subview(view, *choices)
    assert part.array_layout is layout
    assert np.array_equal(np.asarray(part), expected)
    assert np.shares_memory(np.asarray(part), values) is (part.size() > 0)


@pytest.mark.spec("VIEW-58")
def test_choices_that_do_not_fit() -> None:
    view = View["int**"]("wind", 3, 4)
    with pytest.raises(ViewRankError, match="takes 2 choices"):
        subview(view, ALL)
    for choices in ((3, ALL), (ALL, (2, 5)), ((2, 1), ALL), (slice(None, None, -1), 0), (-1, 0)):
        with pytest.raises(ViewIndexError, match='"wind"'):
            subview(view, *choices)
    with pytest.raises(ViewTypeError, match="selects nothing"):
        subview(view, "x", 0)


def test_a_subview_keeps_traits_and_constness() -> None:
    part = subview(View["const int**", Unmanaged](View["int**"]("a", 3, 4)), 1, ALL)
    assert part.type == View["const int*", Unmanaged]
    assert part.use_count() == 0


def test_numpy_uses_the_memory_of_a_host_view() -> None:
    view = View["double**", LayoutLeft]("a", 3, 4)
    array = np.asarray(view)
    array[1, 2] = 5.0
    assert view(1, 2) == 5.0
    assert array.strides == (8, 24)
    assert not np.asarray(View["const double**", LayoutLeft](view)).flags.writeable
    assert np.array(view, dtype="f4").dtype == "f4"
    assert np.from_dlpack(view)[1, 2] == 5.0
    assert view.__dlpack_device__() == (1, 0)
    assert view.__buffer__(0).shape == (3, 4)


def test_an_array_keeps_the_memory_when_the_view_points_elsewhere() -> None:
    view = View["double*"]("a", 1000)
    array = np.asarray(view)
    array[...] = 7.0
    resize(view, 2000)
    del view
    gc.collect()
    View["double*"]("b", 1000)
    assert array.sum() == 7000.0


def test_device_views_speak_the_protocols_of_devices(device: str) -> None:
    view = View["double**", CudaSpace]("a", 3, 4)
    described = view.__cuda_array_interface__
    assert (described["shape"], described["data"][0]) == ((3, 4), int(view.data()))
    assert set(view.__gt_data_interface__) == {"gpu"}
    assert not hasattr(View["double*"]("h", 3), "__cuda_array_interface__")
    if device == "emulated":
        with pytest.raises(BufferError, match="emulated"):
            view.__dlpack__()
    assert np.from_dlpack(view, device="cpu").shape == (3, 4)


def test_a_view_is_an_argument_of_a_stencil_call() -> None:
    view = View["double**"]("a", 3, 4)
    with storage.bound({"a": view}, device=None, writes={"a"}) as arrays:
        arrays["a"][...] = 2.0
    assert view(2, 3) == 2.0
    on_device = View["double**", CudaSpace]("b", 3, 4)
    with storage.bound({"b": on_device}, device="gpu", writes={"b"}) as arrays:
        arrays["b"][...] = 3.0
    assert create_mirror_view_and_copy(on_device)(2, 3) == 3.0


@pytest.mark.usefixtures("device")
def test_deep_copies_and_pickles_have_memory_of_their_own() -> None:
    for space in (HostSpace, CudaSpace):
        view = View["double**", LayoutLeft, space]("a", 3, 4)
        with view.opened() as array:
            array[...] = 2.0
        const = View["const double**", LayoutLeft, space](view)
        for other in (copy.deepcopy(const), pickle.loads(pickle.dumps(const))):
            assert (other.type, other.label(), other.use_count()) == (const.type, "a", 1)
            assert other != view
            assert create_mirror_view_and_copy(other)(2, 3) == 2.0
    assert pickle.loads(pickle.dumps(View["int*[3]"]())).extents == (0, 3)


def test_a_view_is_a_face_of_a_buffer_that_others_share() -> None:
    buffer = CoherentBuffer(12, "f8", BufferOptions(label="shared", init=1.0))
    host, there = View["double*"](buffer), View["double**", CudaSpace](buffer, 3, 4)
    assert (host.label(), host.use_count(), host(5)) == ("shared", 1, 1.0)
    with there.opened() as array:
        array[1, 1] = 8.0
    assert not buffer.is_valid("host")
    assert host(5) == 8.0
    host[0] = 2.0
    with there.opened(write=False) as array:
        assert array[0, 0] == 2.0
    assert buffer.stats.count == 3
    with pytest.raises(AllocationInUseError):
        buffer.resize(100)


def test_a_view_is_a_face_of_a_storage() -> None:
    field = storage.zeros((3, 4), "f8", defaults="gtmc")
    view = View["double**", LayoutStride](field[1:, ::2])
    view[1, 1] = 5.0
    assert np.asarray(field)[2, 2] == 5.0
    with pytest.raises(HostUseError):
        np.asarray(View["double**", LayoutStride, CudaSpace](field))


def test_a_view_is_a_face_of_an_hmemo_array() -> None:
    array = hmemo.HArray(10, hmemo.Context.getHostPtr(), 1.0)
    host, there = View["double*"](array), View["double*", CudaSpace](array)
    with there.opened() as values:
        values[...] = 4.0
    assert not array.isValid(hmemo.Context.getHostPtr())
    assert host(3) == 4.0
    assert array.isValid(hmemo.Context.getHostPtr())


def test_the_array_of_a_view_is_its_memory_unless_another_type_is_asked_for() -> None:
    view = View["double*"]("v", 3)
    view[1] = 2.5
    assert np.shares_memory(np.asarray(view), np.asarray(view))
    assert np.shares_memory(np.asarray(view), np.asarray(view, np.float64))
    single = np.asarray(view, np.float32)
    assert (single.dtype, single.tolist()) == (np.float32, [0.0, 2.5, 0.0])
    assert not np.shares_memory(np.array(view), np.asarray(view))
