"""Tests of mirrors, `deep_copy`, `resize` and `realloc` for all spaces and layouts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.spaces import device_space
from psyclone_storage.storage.kokkos import (
    ALL,
    Cuda,
    CudaHostPinnedSpace,
    CudaSpace,
    CudaUVMSpace,
    HostSpace,
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    Unmanaged,
    View,
    ViewExtentError,
    ViewTypeError,
    WithoutInitializing,
    create_mirror,
    create_mirror_view,
    create_mirror_view_and_copy,
    deep_copy,
    realloc,
    resize,
    subview,
    view_alloc,
)

SPACES = [HostSpace, CudaHostPinnedSpace, CudaUVMSpace, CudaSpace]
LAYOUTS = [LayoutRight, LayoutLeft, LayoutStride]
VALUES = np.arange(12.0).reshape(3, 4)


def made(layout: Any, space: Any) -> View:
    """Return a view with 3 x 4 elements; the one with strides has gaps."""
    if layout is LayoutStride:
        return View["double**", LayoutStride, space]("s", LayoutStride((3, 4), (2, 9)))
    return View["double**", layout, space]("r", 3, 4)


def values_of(view: View) -> Any:
    return np.asarray(create_mirror_view_and_copy(HostSpace, view)).tolist()


@pytest.mark.parametrize("source_space", SPACES, ids=str)
@pytest.mark.parametrize("target_space", SPACES, ids=str)
@pytest.mark.usefixtures("device")
def test_values_go_from_anywhere_to_anywhere(source_space: Any, target_space: Any) -> None:
    for source_layout, target_layout in product(LAYOUTS, LAYOUTS):
        source, target = made(source_layout, source_space), made(target_layout, target_space)
        deep_copy(source, VALUES)
        deep_copy(target, View[source.const_data_type, source_layout, source_space](source))
        back = np.zeros((3, 4))
        deep_copy(back, target)
        assert np.array_equal(back, VALUES)


def test_values_go_from_device_to_device() -> None:
    source = View["double**", CudaSpace]("a", 3, 4)
    deep_copy(source, VALUES)
    target = View["double**", LayoutLeft, device_space(1)]("b", 3, 4)
    deep_copy(target, source)
    assert values_of(target) == VALUES.tolist()


@pytest.mark.usefixtures("device")
def test_only_the_part_is_written() -> None:
    for space in SPACES:
        view = made(LayoutLeft, space)
        deep_copy(view, 1.0)
        deep_copy(subview(view, (1, 3), (0, 2)), np.array([[5.0, 6.0], [7.0, 8.0]]))
        deep_copy(subview(view, 0, ALL), 9.0)
        assert values_of(view) == [[9.0] * 4, [5.0, 6.0, 1.0, 1.0], [7.0, 8.0, 1.0, 1.0]]


def test_overlapping_parts_are_copied_as_if_apart() -> None:
    view = View["int*"](np.arange(6, dtype="i4"))
    deep_copy(subview(view, (1, 6)), subview(view, (0, 5)))
    assert list(view) == [0, 0, 1, 2, 3, 4]


def test_what_cannot_be_copied() -> None:
    a = View["double**"]("a", 3, 4)
    with pytest.raises(ViewTypeError, match="const"):
        deep_copy(View["const double**"](a), a)
    with pytest.raises(ViewTypeError, match="const"):
        deep_copy(View["const double**"](a), 1.0)
    with pytest.raises(ViewTypeError, match="equal ranks"):
        deep_copy(a, View["double*"]("b", 3))
    with pytest.raises(ViewTypeError, match='"double" of "float"'):
        deep_copy(a, View["float**"]("b", 3, 4))
    with pytest.raises(ViewExtentError, match=r'"a" has \(3, 4\) and "b" has \(4, 3\)'):
        deep_copy(a, View["double**"]("b", 4, 3))


@pytest.mark.spec("VIEW-27")
def test_a_copy_on_an_execution_space_is_a_future() -> None:
    there = View["double**", CudaSpace]("t", 3, 4)
    future = deep_copy(Cuda(), there, VALUES)
    assert future is not None
    future.result(60)
    assert values_of(there) == VALUES.tolist()


@pytest.mark.spec("VIEW-31", "VIEW-42")
def test_a_mirror_is_another_view_that_the_host_can_use() -> None:
    for space in SPACES:
        view = View["const double*[4]", LayoutLeft, space](
            View["double*[4]", LayoutLeft, space]("v", 3)
        )
        mirror = create_mirror(view)
        assert mirror.type == view.HostMirror
        assert (mirror.extents, mirror.label()) == (view.extents, "v_mirror")
        assert mirror.data() != view.data()
        mirror[2, 3] = 1.0


def test_a_mirror_view_is_the_view_itself_where_that_will_do() -> None:
    here, there = View["int*"]("h", 3), View["int*", CudaSpace]("t", 3)
    assert create_mirror_view(here) is here
    assert create_mirror_view(there).memory_space is HostSpace
    assert create_mirror_view(CudaSpace, there) is there
    assert create_mirror_view(CudaSpace, here).memory_space is CudaSpace
    assert create_mirror_view_and_copy(HostSpace, here) is here
    assert create_mirror_view_and_copy(CudaSpace, here, "name").label() == "name"
    assert create_mirror_view(here, CudaSpace).memory_space is CudaSpace
    assert create_mirror(WithoutInitializing, there).memory_space is HostSpace
    assert create_mirror(view_alloc(CudaSpace, "x"), here).label() == "x"
    assert not create_mirror(View["int*", CudaSpace]()).is_allocated()
    with pytest.raises(ViewTypeError, match="needs one view"):
        create_mirror(HostSpace)


@pytest.mark.usefixtures("device")
def test_resize_keeps_what_fits() -> None:
    for space in SPACES:
        view = View["double**", LayoutLeft, space]("a", 3, 4)
        deep_copy(view, VALUES)
        other = View(view)
        resize(view, 2, 5)
        assert values_of(view) == [[0.0, 1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 7.0, 0.0]]
        assert (view.label(), view.use_count(), other.use_count()) == ("a", 1, 1)
        assert values_of(other) == VALUES.tolist()
        address = view.data()
        resize(view, 2, 5)
        assert view.data() == address
        realloc(view, 1, 2)
        assert values_of(view) == [[0.0, 0.0]]


def test_resize_from_nothing_with_properties_and_with_a_layout() -> None:
    view = View["int*"]()
    resize(view_alloc("late"), view, 3)
    assert (view.label(), list(view)) == ("late", [0, 0, 0])
    strided = View["int*", LayoutStride]("s", LayoutStride(3, 2))
    strided[2] = 5
    resize(WithoutInitializing, strided, LayoutStride(4, 3))
    assert (strided(2), strided.stride(0)) == (5, 3)
    with pytest.raises(ViewTypeError, match="need a view"):
        resize(3)
    with pytest.raises(ViewTypeError, match="unmanaged"):
        resize(View["int*", Unmanaged](view), 5)


def test_scalars_and_structured_elements_are_copied_too() -> None:
    scalar = View["double", CudaSpace]("s")
    deep_copy(scalar, 4.0)
    assert create_mirror_view_and_copy(scalar)() == 4.0
    pair = np.dtype([("x", "f8"), ("n", "i4")])
    here, there = View[pair, "*"]("h", 3), View[pair, "*", CudaSpace]("t", 3)
    here[1] = (2.5, 7)
    deep_copy(there, here)
    assert create_mirror_view_and_copy(there)(1).tolist() == (2.5, 7)
    deep_copy(there, (0.5, 1))
    assert create_mirror_view_and_copy(there)(2).tolist() == (0.5, 1)
