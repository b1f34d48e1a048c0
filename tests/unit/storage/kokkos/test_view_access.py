"""Tests of element access: number, range and origin of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.errors import HostUseError
from psyclone_storage.storage.kokkos import (
    Atomic,
    CudaHostPinnedSpace,
    CudaSpace,
    CudaUVMSpace,
    HostSpace,
    LayoutLeft,
    LayoutStride,
    View,
    ViewIndexError,
    ViewRankError,
    ViewTypeError,
)


@pytest.mark.spec("VIEW-60")
def test_square_brackets_read_rank_1() -> None:
    view = View["int*"]("a", 3)
    view[2] = 5
    view[2] += 1
    assert view[2] == 6
    assert list(view) == [0, 0, 6]
    with pytest.raises(ViewRankError, match="takes 2 indices, not 1"):
        View["int**"]("b", 3, 3)[1]
    with pytest.raises(ViewRankError, match="only rank 1"):
        list(View["int**"]("b", 3, 3))


@pytest.mark.spec("VIEW-61")
@pytest.mark.parametrize("layout", ["right", LayoutLeft, "stride"])
@pytest.mark.parametrize("space", [HostSpace, CudaHostPinnedSpace, CudaUVMSpace], ids=str)
def test_each_element_has_its_own_place(layout: Any, space: Any) -> None:
    if layout == "stride":
        view = View["int***", LayoutStride, space]("a", LayoutStride((2, 3, 4), (1, 2, 7)))
    else:
        view = View["int***", *(() if layout == "right" else (layout,)), space]("a", 2, 3, 4)
    places = list(np.ndindex(2, 3, 4))
    for number, place in enumerate(places):
        view[place] = number
    assert [view(*place) for place in places] == list(range(24))
    assert [view[place] for place in places] == list(range(24))


@pytest.mark.spec("VIEW-61")
def test_the_number_of_indices_is_the_rank() -> None:
    view = View["int**"]("wind", 3, 4)
    for indices in ((), (1,), (1, 2, 0)):
        with pytest.raises(ViewRankError, match='"wind"'):
            view(*indices)
        with pytest.raises(ViewRankError):
            view[indices] = 1
    assert issubclass(ViewRankError, IndexError)
    assert issubclass(ViewRankError, ViewTypeError)
    scalar = View["int"]("zero")
    scalar[()] = 4
    assert scalar() == scalar[()] == 4


@pytest.mark.spec("VIEW-61")
@pytest.mark.parametrize("indices", [(3, 0), (0, 4), (-1, 0), (0, -4)])
def test_indices_out_of_range_are_refused_with_label_indices_and_extents(indices: Any) -> None:
    view = View["int**"]("wind", 3, 4)
    message = rf'"wind" \(int\*\*, 3 x 4\) has no element \({indices[0]}, {indices[1]}\)'
    with pytest.raises(ViewIndexError, match=message):
        view(*indices)
    with pytest.raises(ViewIndexError, match=message):
        view[indices] = 1


def test_small_numpy_integers_do_not_overflow() -> None:
    view = View["int**"]("a", 100, 100)
    view[99, 99] = 3
    assert view(np.int8(99), np.int8(99)) == 3


@pytest.mark.parametrize("key", [slice(None), 1.0, "x", None, (1.5,)])
def test_what_is_no_index_is_refused(key: Any) -> None:
    with pytest.raises(ViewTypeError, match=r"subview\(\)"):
        View["int*"]("a", 3)[key]


@pytest.mark.spec("VIEW-62")
def test_access_takes_indices_beyond_the_rank_that_are_0() -> None:
    view = View["int**"]("a", 3, 4)
    view[2, 0] = 7
    assert view.access(2) == view.access(2, 0) == view.access(2, 0, 0, 0, 0, 0, 0, 0) == 7
    assert view.access() == 0
    with pytest.raises(ViewIndexError, match="beyond its rank"):
        view.access(2, 0, 1)
    with pytest.raises(ViewIndexError, match="up to 8"):
        view.access(*(0,) * 9)


@pytest.mark.spec("VIEW-19", "VIEW-61")
@pytest.mark.usefixtures("device")
def test_device_elements_refuse_the_host() -> None:
    view = View["double*", CudaSpace]("t", 3)
    for use in (lambda: view(1), lambda: view[1], lambda: view.__setitem__(1, 2.0)):
        with pytest.raises(HostUseError, match=r'"t" \(double\*, 3\) is at node:0:device:0'):
            use()
    with pytest.raises(HostUseError, match="create_mirror_view_and_copy"):
        np.asarray(view)
    assert not hasattr(view, "__array_interface__")


def test_const_elements_cannot_be_written() -> None:
    a = View["int*"]("a", 3)
    const = View["const int*"](a)
    with pytest.raises(ViewTypeError, match="const"):
        const[1] = 2
    with pytest.raises(ViewTypeError, match="const"), const.opened(write=True):
        pass
    with const.opened() as array:
        assert not array.flags.writeable


@pytest.mark.usefixtures("device")
def test_an_opened_view_computes_where_the_elements_are() -> None:
    for space in (HostSpace, CudaHostPinnedSpace, CudaSpace):
        view = View["double**", LayoutLeft, space]("a", 3, 4)
        with view.opened() as array:
            array[...] = 2.0
            array[1, 3] *= 5.0
        with view.opened(write=False) as array:
            assert float(array.sum()) == 32.0
            assert array.shape == (3, 4)
            assert array.strides == (8, 24)


def test_an_atomic_element_is_an_array_of_its_value() -> None:
    view = View["double*", Atomic]("a", 3)
    element = view[1]
    element += 2.5
    assert np.asarray(element).tolist() == 2.5
    assert np.asarray(element, np.int64).tolist() == 2
