"""Tests of dual views, with and without calls of modify and sync."""

from __future__ import annotations

import pytest

from psyclone_storage.storage.core.errors import AccessConflictError, MemoryException
from psyclone_storage.storage.kokkos import (
    ALL,
    Cuda,
    CudaSpace,
    CudaUVMSpace,
    Device,
    DualView,
    HostSpace,
    LayoutLeft,
    Serial,
    View,
    ViewTypeError,
    dual_view,
    subview,
)


def test_both_sides_have_the_same_type_but_for_the_space() -> None:
    dual = DualView["double*[4]", LayoutLeft, CudaSpace]("t", 3)
    assert dual.d_view.type == dual.type.t_dev == View["double*[4]", LayoutLeft, CudaSpace]
    assert dual.h_view.type == dual.type.t_host == View["double*[4]", LayoutLeft, HostSpace]
    assert (dual.extents, dual.extent(1), dual.rank, dual.label()) == ((3, 4), 4, 2, "t")
    assert (dual.size(), dual.span(), dual.span_is_contiguous()) == (12, 12, True)
    assert dual.view_host() is dual.h_view
    assert dual.view_device() is dual.d_view
    assert dual.view(Cuda) is dual.view(Device(Cuda, CudaSpace)) is dual.d_view
    assert dual.view(Serial) is dual.h_view
    with pytest.raises(ViewTypeError, match="no side"):
        dual.view(CudaUVMSpace)


@pytest.mark.usefixtures("device")
def test_the_calls_of_kokkos() -> None:
    dual = DualView["double*", CudaSpace]("t", 3)
    assert not dual.need_sync_host()
    assert not dual.need_sync_device()
    dual.h_view[1] = 5.0
    dual.modify_host()
    assert dual.need_sync_device()
    assert not dual.need_sync(HostSpace)
    dual.sync_device()
    assert not dual.need_sync_device()
    with dual.d_view.opened() as array:
        array[...] *= 2.0
    dual.modify_device()
    assert dual.need_sync_host()
    dual.sync_host()
    assert dual.h_view(1) == 10.0
    assert dual.h_view.handle.memory.buffer.stats.count == 2


@pytest.mark.usefixtures("device")
def test_without_the_calls_the_values_are_right_as_well() -> None:
    dual = DualView["double*", CudaSpace]("t", 3)
    dual.h_view[1] = 5.0
    with dual.d_view.opened() as array:
        array[...] *= 2.0
    assert dual.h_view(1) == 10.0
    assert dual.h_view.handle.memory.buffer.stats.count == 2


def test_modifying_both_sides_is_detected() -> None:
    dual = DualView["double*", CudaSpace]("t", 3)
    dual.modify_host()
    with pytest.raises(AccessConflictError, match=r'"t" \(double\*, \(3,\)\) were modified'):
        dual.modify_device()
    dual.clear_sync_state()
    dual.modify_device()
    with pytest.raises(AccessConflictError):
        dual.modify(HostSpace)


def test_one_side_is_allocated_when_it_is_asked_for() -> None:
    dual = DualView["double*", CudaSpace]("t", 1000)
    assert dual.is_allocated()
    assert dual.h_view(0) == 0.0
    buffer = dual.h_view.handle.memory.buffer
    assert (buffer.capacity(HostSpace), buffer.capacity(CudaSpace)) == (8000, 0)


@pytest.mark.parametrize("space", [HostSpace, CudaUVMSpace], ids=str)
def test_where_both_sides_are_one_nothing_is_ever_copied(space: object) -> None:
    dual = DualView["double*", space]("t", 3)
    assert dual.h_view is dual.d_view
    dual.h_view[0] = 1.0
    dual.modify_host()
    assert not dual.need_sync_device()
    dual.modify_device()
    assert not dual.need_sync_host()


def test_the_device_side_is_on_the_default_device_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert DualView["double*", LayoutLeft].t_dev == View["double*", LayoutLeft, CudaSpace]
    monkeypatch.setattr(dual_view, "resolved_device", lambda: None)
    assert DualView["double*"].t_dev == View["double*", HostSpace]


def test_a_part_shares_the_state() -> None:
    dual = DualView["double**", CudaSpace]("t", 3, 4)
    part = subview(dual, 1, ALL)
    with part.d_view.opened() as array:
        array[...] = 7.0
    assert dual.need_sync_host()
    assert part.h_view(3) == dual.h_view(1, 3) == 7.0
    assert dual.h_view(0, 3) == 0.0
    empty = subview(DualView["double**", CudaSpace]("z", 0, 4), ALL, (1, 2))
    empty.modify_host()
    empty.sync_device()
    assert empty.extents == (0, 1)


@pytest.mark.usefixtures("device")
def test_resize_keeps_the_newer_values_and_realloc_none() -> None:
    dual = DualView["double*", CudaSpace]("t", 3)
    dual.h_view[2] = 5.0
    dual.resize(4)
    assert [dual.h_view(index) for index in range(4)] == [0.0, 0.0, 5.0, 0.0]
    assert dual.need_sync_device()
    with dual.d_view.opened() as array:
        array[...] += 1.0
    dual.resize(2)
    assert dual.need_sync_host()
    assert [dual.h_view(index) for index in range(2)] == [1.0, 1.0]
    dual.realloc(2)
    assert dual.h_view(1) == 0.0


def test_a_dual_view_of_a_view_gives_it_a_second_side() -> None:
    there = View["double*", CudaSpace]("t", 3)
    dual = DualView["double*", CudaSpace](there)
    dual.h_view[1] = 3.0
    assert dual.d_view == there
    with there.opened(write=False) as array:
        assert array[1] == 3.0
    here = View["double*"]("h", 3)
    DualView["double*", CudaSpace](here).d_view.opened().__enter__()
    assert here.extent(0) == 3


def test_a_dual_view_without_memory() -> None:
    dual = DualView["double*[4]", CudaSpace]()
    assert not dual.is_allocated()
    assert not dual.need_sync_host()
    assert dual.extents == (0, 4)
    assert not dual.d_view.is_allocated()
    with pytest.raises(MemoryException, match="has no memory"):
        dual.modify_host()
    dual.resize(2)
    assert dual.h_view(1, 3) == 0.0
