"""Tests of layouts: strides, spans, sizes and user-defined layouts."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pytest

from psyclone_storage.storage.kokkos import (
    CudaSpace,
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    View,
    ViewExtentError,
    ViewIndexError,
    ViewLayout,
    ViewTypeError,
    create_mirror,
    create_mirror_view_and_copy,
    deep_copy,
    subview,
)
from psyclone_storage.storage.kokkos.view_layout import same_places


class Tiled:
    """A layout that stores a matrix in tiles of 2 x 2."""

    is_regular: ClassVar[bool] = True

    def __init__(self, *extents: int) -> None:
        self.extents = extents
        self.strides = None

    def offset(self, indices: Sequence[int]) -> int:
        row, column = indices
        tile = row // 2 * -(-self.extents[1] // 2) + column // 2
        return 4 * tile + 2 * (row % 2) + column % 2

    def span(self) -> int:
        rows, columns = (-(-extent // 2) * 2 for extent in self.extents)
        return rows * columns


@pytest.mark.spec("VIEW-6", "VIEW-7", "VIEW-8", "VIEW-66", "VIEW-67")
def test_strides() -> None:
    right, left = View["int***"]("r", 2, 3, 4), View["int***", LayoutLeft]("l", 2, 3, 4)
    assert [right.stride(axis) for axis in range(3)] == [12, 4, 1]
    assert [left.stride(axis) for axis in range(3)] == [1, 2, 6]
    assert (left.stride_0(), left.stride_1(), left.stride_2()) == (1, 2, 6)
    strided = View["int**", LayoutStride]("s", LayoutStride(3, 1, 4, 5))
    assert (strided.extents, strided.stride(0), strided.stride(1)) == ((3, 4), 1, 5)
    eight = View["int********"]("8", *(2,) * 8)
    strides = [getattr(eight, f"stride_{axis}")() for axis in range(8)]
    assert strides == [128, 64, 32, 16, 8, 4, 2, 1]


@pytest.mark.spec("VIEW-9")
def test_a_custom_layout_places_elements_itself() -> None:
    assert isinstance(Tiled(2, 2), ViewLayout)
    view = View["int**", Tiled]("tiles", 3, 4)
    for number, place in enumerate(np.ndindex(3, 4)):
        view[place] = number
    assert [view(*place) for place in np.ndindex(3, 4)] == list(range(12))
    assert (view.span(), view.size(), view.span_is_contiguous()) == (16, 12, False)
    with view.opened() as memory:
        assert memory.tolist()[:8] == [0, 1, 4, 5, 2, 3, 6, 7]
    assert np.asarray(view).tolist() == np.arange(12).reshape(3, 4).tolist()
    assert subview(view, 2, 3)() == 11
    with pytest.raises(ViewTypeError, match="no strides"):
        subview(view, 2, slice(None))
    with pytest.raises(ViewTypeError, match="without strides"):
        view.stride(0)


@pytest.mark.spec("VIEW-9")
@pytest.mark.usefixtures("device")
def test_a_custom_layout_is_copied_to_any_other() -> None:
    tiles = View["int**", Tiled]("tiles", 3, 4)
    values = np.arange(12, dtype="i4").reshape(3, 4)
    deep_copy(tiles, values)
    on_device = View["int**", Tiled, CudaSpace]("there", 3, 4)
    deep_copy(on_device, tiles)
    back = View["int**", LayoutLeft]("back", 3, 4)
    deep_copy(back, on_device)
    assert np.array_equal(np.asarray(back), values)
    mirror = create_mirror_view_and_copy(on_device)
    assert (mirror.array_layout, mirror(2, 1)) == (Tiled, 9)


@pytest.mark.spec("VIEW-63")
def test_a_layout_makes_a_view_of_the_same_extents() -> None:
    for view in (
        View["int*[3]", LayoutLeft]("a", 4),
        View["int**", LayoutStride]("s", LayoutStride((3, 4), (8, 2))),
    ):
        other = View[view.data_type, view.array_layout]("other", view.layout())
        assert other.layout() == view.layout()
        assert other.extents == view.extents
        assert pickle.loads(pickle.dumps(view.layout())) == view.layout()


@pytest.mark.spec("VIEW-64", "VIEW-65", "VIEW-66")
def test_extents_and_strides_of_dimensions_that_there_are() -> None:
    view = View["int*[3]"]("wind", 4)
    assert (view.extent(0), view.extent(1), view.extent_int(0)) == (4, 3, 4)
    for query in (view.extent, view.extent_int, view.stride):
        for dimension in (2, -1):
            with pytest.raises(ViewIndexError, match='"wind"'):
                query(dimension)
    with pytest.raises(ViewIndexError):
        view.stride_5()


@pytest.mark.spec("VIEW-68")
def test_all_strides_and_the_span_at_once() -> None:
    view = View["int**", LayoutStride]("s", LayoutStride((3, 4), (8, 2)))
    out = [0, 0, 0]
    assert view.stride(out) is None
    assert out == [8, 2, view.span()]
    array = np.zeros(3, int)
    view.stride(array)
    assert array.tolist() == out
    with pytest.raises(ViewExtentError, match="writes 3 numbers"):
        view.stride([0, 0])


@pytest.mark.spec("VIEW-69", "VIEW-70", "VIEW-72")
def test_span_and_size() -> None:
    packed = View["int**"]("p", 3, 4)
    assert (packed.span(), packed.size(), packed.span_is_contiguous()) == (12, 12, True)
    part = subview(packed, (0, 2), (1, 3))
    assert (part.span(), part.size(), part.span_is_contiguous()) == (6, 4, False)
    assert subview(packed, (1, 3), slice(None)).span_is_contiguous()
    overlapping = View["int**", LayoutStride]("o", LayoutStride((3, 3), (1, 1)))
    assert (overlapping.span(), overlapping.span_is_contiguous()) == (5, False)
    assert View["int"]("scalar").span() == 1


@pytest.mark.spec("VIEW-71")
def test_data_is_the_address_of_the_first_element() -> None:
    view = View["int**"]("a", 3, 4)
    assert view.data() == np.asarray(view).ctypes.data
    assert subview(view, 1, slice(1, 3)).data() == view.data() + 4 * 5


@pytest.mark.spec("VIEW-73", "VIEW-74")
def test_required_allocation_size() -> None:
    assert View["double**[3]"].required_allocation_size(4, 5) == 8 * 60
    assert View["double**[3]"].required_allocation_size(4, 5, 3) == 8 * 60
    assert View["double**"].required_allocation_size(4) == 0
    assert View["int"].required_allocation_size() == 4
    assert View["int********"].required_allocation_size(*(2,) * 8) == 4 * 256
    layout = LayoutStride((3, 4), (8, 2))
    assert View["int**", LayoutStride].required_allocation_size(layout) == 4 * 23
    assert View["int**"].required_allocation_size(LayoutRight(3, 4)) == 48
    with pytest.raises(ViewTypeError, match="pass a layout object"):
        View["int**", LayoutStride].required_allocation_size(3, 4)
    view = View["int**", LayoutStride]("a", layout)
    memory = np.zeros(view.required_allocation_size(layout) // 4, "i4")
    assert View["int**", LayoutStride](memory, layout).span() == memory.size


def test_a_stride_layout_from_the_order_of_gdp() -> None:
    layout = LayoutStride.from_permutation((2, 3, 4), (1, 0, 2))
    assert layout.strides == (4, 8, 1)
    assert layout.permutation() == (1, 0, 2)


@pytest.mark.parametrize("numbers", [(3, 1, 4), ((3, 4), (1,)), (-3, 1)])
def test_a_stride_layout_needs_pairs(numbers: tuple[int, ...]) -> None:
    with pytest.raises(ViewExtentError):
        LayoutStride(*numbers)


def test_a_mirror_keeps_the_strides() -> None:
    view = View["int**", LayoutStride, CudaSpace]("a", LayoutStride((3, 4), (8, 2)))
    assert create_mirror(view).layout() == view.layout()


def test_a_layout_without_strides_is_at_the_places_of_its_like_only() -> None:
    mine, strided = Tiled(2, 3), LayoutRight(2, 3)
    assert same_places(mine, mine)
    assert not same_places(mine, strided)
    assert not same_places(strided, mine)
