"""Tests of view constructors: sources of memory, and errors."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.kokkos import (
    ALL,
    AnonymousSpace,
    Atomic,
    Cuda,
    CudaHostPinnedSpace,
    CudaSpace,
    CudaUVMSpace,
    HostSpace,
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    ScratchSpace,
    Serial,
    Unmanaged,
    View,
    ViewExtentError,
    ViewTypeError,
    WithoutInitializing,
    create_mirror_view_and_copy,
    move,
    register_type,
    resize,
    view_alloc,
    view_wrap,
)

READ_WRITE = AccessMode.READ_WRITE
SPACES = [HostSpace, CudaHostPinnedSpace, CudaUVMSpace, CudaSpace]


@pytest.mark.spec("VIEW-45")
def test_the_default_constructor_allocates_nothing() -> None:
    view = View["int**[3]"]()
    assert not view.is_allocated()
    assert not view.data()
    assert view.use_count() == 0
    assert view.label() == ""
    assert [view.extent(axis) for axis in range(3)] == [0, 0, 3]
    assert (view.size(), view.span()) == (0, 0)
    assert View["int[3]"]().size() == 0
    with pytest.raises(MemoryException, match="has no memory"):
        View["int[3]"]()(1)


@pytest.mark.spec("VIEW-46")
def test_a_copy_shares_the_memory() -> None:
    a = View["int*"]("a", 3)
    b = View["const int*"](a)
    a[1] = 7
    assert b(1) == 7
    assert b.data() == a.data()
    assert a.use_count() == b.use_count() == 2
    c = View(a)
    assert (c.type, c.use_count()) == (a.type, 3)


@pytest.mark.spec("VIEW-47")
def test_a_moved_view_gives_its_memory_away() -> None:
    a = View["int*"]("a", 3)
    address = a.data()
    b = View["int*"](move(a))
    assert (b.data(), b.use_count()) == (address, 1)
    assert not a.is_allocated()
    assert a.extent(0) == 0
    c = View(move(b))
    assert (c.data(), c.type) == (address, View["int*"])


@pytest.mark.spec("VIEW-48", "VIEW-50")
def test_a_label_and_the_runtime_extents_allocate() -> None:
    a, b = View["double**[4]"]("same", 2, 3), View["double**[4]"]("same", 2, 3)
    assert a.extents == (2, 3, 4)
    assert (a.label(), b.label()) == ("same", "same")
    assert a.data() != b.data()
    assert View["double**[4]"]("all", 2, 3, 4).extents == (2, 3, 4)
    assert View["double"]("none")() == 0.0
    with pytest.raises(ViewExtentError, match=r"cannot have \(2, 3, 5\)"):
        View["double**[4]"]("all", 2, 3, 5)


@pytest.mark.spec("VIEW-48")
@pytest.mark.parametrize("extents", [(), (2,), (2, 3, 4, 5), (2, 3.5), ("2", 3)])
def test_a_wrong_number_or_kind_of_extents_is_an_error_of_types(extents: Any) -> None:
    with pytest.raises(ViewTypeError):
        View["double**[4]"]("a", *extents)


@pytest.mark.spec("VIEW-48")
def test_extents_need_a_regular_layout_and_cannot_be_negative() -> None:
    with pytest.raises(ViewTypeError, match="pass a layout object"):
        View["double**", LayoutStride]("a", 2, 3)
    with pytest.raises(ViewExtentError, match="negative"):
        View["double**"]("a", 2, -3)


@pytest.mark.spec("VIEW-48")
@pytest.mark.parametrize("space", SPACES, ids=str)
def test_extents_of_zero_are_legal_everywhere(space: Any) -> None:
    view = View["double**", space]("empty", 0, 5)
    assert (view.size(), view.span(), view.extents) == (0, 0, (0, 5))
    assert view.is_allocated()
    assert view.span_is_contiguous()
    assert create_mirror_view_and_copy(HostSpace, view).extents == (0, 5)
    assert View["int[0]"]("zero").size() == 0


@pytest.mark.spec("VIEW-49")
@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.usefixtures("device")
def test_new_memory_is_zero(space: Any) -> None:
    junk = View["int*", space](view_alloc("junk", WithoutInitializing), 1000)
    with junk.opened() as array:
        array[...] = 5
    del junk, array
    gc.collect()
    with View["int*", space]("a", 1000).opened(write=False) as array:
        assert int(abs(array).sum()) == 0


@pytest.mark.spec("VIEW-49")
def test_new_memory_of_structured_elements_is_zero() -> None:
    register_type("Pair", [("x", "f8"), ("n", "i4")])
    view = View["Pair*[2]"]("pairs", 3)
    assert view(2, 1).tolist() == (0.0, 0)
    view[2, 1] = (1.5, 7)
    assert view(2, 1)["n"] == 7


@pytest.mark.spec("VIEW-51")
def test_a_layout_in_place_of_extents() -> None:
    assert View["int**", LayoutLeft]("a", LayoutLeft(3, 4)).stride(1) == 3
    strided = View["int**", LayoutStride]("a", LayoutStride((3, 4), (8, 2)))
    assert (strided.span(), strided.size()) == (2 * 8 + 3 * 2 + 1, 12)
    assert View["int*[4]"]("a", LayoutRight(3)).extents == (3, 4)
    with pytest.raises(ViewTypeError, match="takes a LayoutRight"):
        View["int**"]("a", LayoutLeft(3, 4))
    with pytest.raises(ViewExtentError):
        View["int*[4]"]("a", LayoutRight(3, 5))


@pytest.mark.spec("VIEW-52", "VIEW-27")
def test_an_execution_space_initialises_without_a_fence() -> None:
    started, go_on = threading.Event(), threading.Event()

    def block() -> None:
        started.set()
        go_on.wait(60)

    blocked = Cuda.submit(block)
    assert started.wait(60)
    view = View["double*", CudaSpace](view_alloc("late", Cuda()), 100)
    buffer = view.handle.memory.buffer
    assert not buffer.is_initialised()
    go_on.set()
    blocked.result(60)
    Cuda.fence()
    assert buffer.is_valid(CudaSpace)
    assert create_mirror_view_and_copy(view)(99) == 0.0


@pytest.mark.spec("VIEW-52")
def test_without_an_execution_space_the_initialisation_is_done_on_return() -> None:
    view = View["double*", CudaSpace](view_alloc("now"), 100)
    assert view.handle.memory.buffer.is_valid(CudaSpace)


@pytest.mark.spec("VIEW-53")
def test_properties_with_a_layout() -> None:
    layout = LayoutStride((2, 2), (1, 5))
    view = View["int**", LayoutStride](view_alloc("a", Serial), layout)
    Serial.fence()
    assert (view.layout(), view(1, 1)) == (layout, 0)


@pytest.mark.spec("VIEW-54", "VIEW-11")
def test_an_array_is_wrapped_without_a_copy() -> None:
    memory = np.arange(12.0)
    view = View["double**"](memory, 3, 4)
    view[1, 2] = -1.0
    assert memory[6] == -1.0
    assert view.use_count() == 0
    assert view.data() == memory.ctypes.data
    assert View["double**", LayoutLeft](memory, 3, 4)(0, 2) == -1.0
    address = View["double**"](memory.ctypes.data, 3, 4)
    assert address(1, 2) == -1.0
    assert View["double**"](view_wrap(memory), 3, 4).data() == view.data()
    assert View["double*"](view.data(), 12)(6) == -1.0
    assert View["double*", AnonymousSpace](memory)(6) == -1.0


@pytest.mark.spec("VIEW-54")
def test_memory_that_is_too_small_or_of_another_kind_is_refused() -> None:
    memory = np.arange(12.0)
    with pytest.raises(ViewExtentError, match="needs 15 elements"):
        View["double**"](memory, 3, 5)
    with pytest.raises(ViewExtentError, match="needs 15 elements"):
        View["double**"](View["double*"](memory).data(), 3, 5)
    with pytest.raises(ViewTypeError, match='"float" and "double"'):
        View["float**"](memory, 3, 4)
    with pytest.raises(ViewTypeError, match="float64"):
        View["float*"](View(memory).data(), 3)
    with pytest.raises(ViewTypeError, match="cannot be used as CudaSpace"):
        View["double**", CudaSpace](memory, 3, 4)
    with pytest.raises(ViewTypeError, match="cannot use memory at HostSpace"):
        View["double*", CudaSpace](View(memory).data(), 3)
    with pytest.raises(ViewExtentError, match="gaps"):
        View["double*"](memory[::2], 6)
    with pytest.raises(ViewTypeError, match="cannot be made from"):
        View["double*"]([1.0, 2.0], 2)


@pytest.mark.spec("VIEW-54")
def test_read_only_memory_needs_a_const_view() -> None:
    memory = np.arange(3.0)
    memory.flags.writeable = False
    with pytest.raises(ViewTypeError, match="const"):
        View["double*"](memory)
    assert View["const double*"](memory)(2) == 2.0
    assert View(memory).type == View["const double*"]
    with pytest.raises(ViewTypeError, match="const"):
        View["int*"](CoherentBuffer(3, "i4", BufferOptions(const=True)))


@pytest.mark.spec("VIEW-54")
def test_a_null_pointer_gives_no_memory() -> None:
    for pointer in (None, 0, View["int*"]().data()):
        view = View["int*"](pointer, 5)
        assert not view.is_allocated()
        assert view.extent(0) == 5


@pytest.mark.spec("VIEW-54", "VIEW-55")
def test_an_array_alone_keeps_its_extents_and_needs_a_layout_that_fits() -> None:
    memory = np.arange(12.0).reshape(3, 4)
    assert View["double**"](memory)(2, 1) == 9.0
    assert View["double**", LayoutLeft](memory.T)(1, 2) == 9.0
    assert View["double*[4]"](memory).extents == (3, 4)
    assert View["double**", LayoutStride](memory[:, ::2])(1, 1) == 6.0
    for array in (memory.T, memory[:, 1:]):
        with pytest.raises(ViewExtentError, match="strides"):
            View["double**"](array)
    assert View(memory).type == View["double**"]
    assert View(memory.T).type == View["double**", LayoutLeft]
    assert View(memory[:, ::2]).type == View["double**", LayoutStride]
    field = np.zeros(3, [("a", "f8"), ("b", "i2")])["a"]
    with pytest.raises(ViewTypeError, match="no multiples"):
        View["double*"](field)


@pytest.mark.spec("VIEW-55")
def test_an_array_with_a_layout() -> None:
    memory = np.arange(12.0)
    view = View["double**", LayoutStride](memory, LayoutStride((2, 3), (1, 4)))
    assert view(1, 2) == 9.0
    with pytest.raises(ViewExtentError, match="needs 13 elements"):
        View["double**", LayoutStride](memory, LayoutStride((3, 3), (2, 4)))


@pytest.mark.spec("VIEW-54")
@pytest.mark.usefixtures("device")
def test_device_arrays_are_wrapped_without_a_copy() -> None:
    source = View["double*", CudaSpace]("a", 6)
    with source.opened() as array:
        array[...] = 3.0
    with source.handle.memory.buffer.acquire(CudaSpace, READ_WRITE) as access:
        window = access.window("f8", (2, 3))
        view = View["double**", CudaSpace](window)
    assert view.data() == source.data()
    assert create_mirror_view_and_copy(view)(1, 2) == 3.0
    at_address = View["double*", CudaSpace](int(source.data()), 6)
    assert create_mirror_view_and_copy(at_address)(5) == 3.0
    with pytest.raises(ViewTypeError, match="cannot be used as HostSpace"):
        View["double**"](window)


@pytest.mark.spec("VIEW-56", "VIEW-57", "VIEW-11")
def test_scratch_memory_is_lent_until_none_is_left() -> None:
    scratch = ScratchSpace(128)
    a = View["double*", ScratchSpace](scratch, 4)
    b = View["int**", LayoutLeft, Unmanaged](scratch, LayoutLeft(3, 2))
    a[3], b[2, 1] = 1.0, 5
    assert (a(3), b(2, 1), a.use_count()) == (1.0, 5, 0)
    assert b.data() == a.data() + 32
    assert scratch.used == 56
    with pytest.raises(MemoryException, match="72 of 128 B are left"):
        View["double*", ScratchSpace](scratch, 10)
    with pytest.raises(ViewTypeError, match="cannot use memory at HostSpace"):
        View["double*", CudaSpace](scratch, 1)


@pytest.mark.spec("VIEW-58")
def test_the_subview_constructor_applies_the_rules() -> None:
    a = View["int**"]("a", 3, 4)
    a[2, 1] = 9
    assert View["int*"](a, 2, ALL)(1) == 9
    assert View["const int*", LayoutStride](a, ALL, 1)(2) == 9
    assert View(a, 2, ALL).type == View["int*"]
    with pytest.raises(ViewExtentError, match="strides"):
        View["int*"](a, ALL, 1)
    with pytest.raises(ViewTypeError, match="ranks"):
        View["int**"](a, 2, ALL)


@pytest.mark.spec("VIEW-59")
def test_allocation_properties_in_any_order() -> None:
    properties = view_alloc(WithoutInitializing, CudaSpace, "label", Cuda)
    assert properties == view_alloc("label", Cuda, CudaSpace, WithoutInitializing)
    view = View["int*", CudaSpace](properties, 3)
    assert view.label() == "label"
    assert not view.handle.memory.buffer.is_initialised()
    with pytest.raises(ViewTypeError, match="more than one label"):
        view_alloc("a", "b")
    with pytest.raises(ViewTypeError, match="cannot use 3"):
        view_alloc(3)
    with pytest.raises(ViewTypeError, match="cannot allocate at CudaSpace"):
        View["int*"](properties, 3)


@pytest.mark.spec("VIEW-11")
def test_an_unmanaged_view_cannot_allocate_and_counts_nothing() -> None:
    with pytest.raises(ViewTypeError, match="unmanaged"):
        View["int*", Unmanaged]("a", 3)
    a = View["int*"]("a", 3)
    b = View["int*", Unmanaged](a)
    assert (a.use_count(), b.use_count()) == (1, 0)
    assert b.is_allocated()


def test_a_new_view_without_a_type_is_an_error_that_says_so() -> None:
    for arguments in (("a", 3), (), (np.zeros(4), 2, 2)):
        with pytest.raises(ViewTypeError, match="needs a type"):
            View(*arguments)


@pytest.mark.spec("VIEW-12")
def test_atomic_updates_lose_nothing() -> None:
    plain = View["int*"]("counter", 2)
    atomic = View["int*", Atomic](plain)

    def count() -> None:
        for _ in range(500):
            atomic[1] += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert plain(1) == 2000
    element = atomic(1)
    assert element == 2000
    assert (int(element), float(element), element + 1) == (2000, 2000.0, 2001)
    atomic[0] = element
    assert plain(0) == 2000
    for change, expected in (("-= 1", 1999), ("*= 2", 3998), ("|= 1", 3999), ("&= 255", 159)):
        exec(f"atomic[0] {change}", {"atomic": atomic})
        assert plain(0) == expected


def test_wrong_extents_name_the_label() -> None:
    with pytest.raises(ViewTypeError, match=r'"alpha" of type .* takes 1 extents, not 2'):
        View["double*"]("alpha", 3, 4)
    with pytest.raises(ViewExtentError, match=r'"beta" of type .* cannot have \(2, 5\)'):
        View["double*[4]"]("beta", 2, 5)
    made = View["double*[4]"]("gamma", 2)
    with pytest.raises(ViewExtentError, match='"gamma"'):
        resize(made, 2, 5)


@pytest.mark.spec("VIEW-54")
@pytest.mark.usefixtures("device")
def test_memory_at_a_device_address_is_written_in_place() -> None:
    source = View["double*", CudaSpace]("a", 6)
    with source.opened() as array:
        array[...] = 3.0
    at_address = View["double*", CudaSpace](int(source.data()), 6)
    with at_address.opened() as array:
        array[...] = 4.0
    assert create_mirror_view_and_copy(source)(5) == 4.0


def test_a_view_without_memory_is_refused_where_elements_are_used() -> None:
    empty = View["double*"]()
    for use in (lambda: empty.buffer, lambda: empty.handle.memory):
        with pytest.raises(MemoryException, match="A view without memory cannot be used"):
            use()


def test_a_type_of_atomic_elements_names_the_type_of_its_values() -> None:
    view = View["double*", Atomic](View["double*"]("a", 3))
    assert view.reference_type == "AtomicElement<double>"
