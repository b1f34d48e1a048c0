"""Tests of view types: data types, argument order, and properties that need no extents."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.kokkos import (
    AnonymousSpace,
    Atomic,
    Cuda,
    CudaHostPinnedSpace,
    CudaSpace,
    CudaUVMSpace,
    DefaultExecutionSpace,
    Device,
    HostSpace,
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    MemoryTraits,
    RandomAccess,
    Restrict,
    ScratchSpace,
    Serial,
    Unmanaged,
    View,
    ViewTypeError,
    register_type,
)


@pytest.mark.spec("VIEW-1", "VIEW-2", "VIEW-16", "VIEW-17")
@pytest.mark.parametrize(
    ("spec", "rank", "dynamic", "const", "dtype"),
    [
        ("double", 0, 0, False, "f8"),
        ("double**", 2, 2, False, "f8"),
        ("const int***[5][3]", 5, 3, True, "i4"),
        ("int[4][10]", 2, 0, False, "i4"),
        (" unsigned  long * [ 3 ] ", 2, 1, False, "u8"),
        ("std::int16_t const*", 1, 1, True, "i2"),
        ("Kokkos::complex<double>*", 1, 1, False, "c16"),
        ("float32*", 1, 1, False, "f4"),
    ],
)
def test_a_data_type_is_read(spec: str, rank: int, dynamic: int, const: bool, dtype: str) -> None:
    view_type = View[spec]
    assert (view_type.rank, view_type.rank_dynamic) == (rank, dynamic)
    assert (view_type.rank(), view_type.rank_dynamic()) == (rank, dynamic)
    assert view_type.value_type.const is const
    assert view_type.dtype == np.dtype(dtype)


@pytest.mark.spec("VIEW-3")
def test_structured_types_are_elements_under_a_name_or_as_numpy_types() -> None:
    foo = np.dtype([("x", "f8"), ("y", "i4")])
    register_type("FooOfTypes", foo)
    view_type = View["FooOfTypes[6][2]"]
    assert (view_type.rank, view_type.rank_dynamic, view_type.dtype) == (2, 0, foo)
    assert View[foo, "[6][2]"] == view_type
    assert View[(foo, "[6][2]"), LayoutLeft] == View["FooOfTypes[6][2]", LayoutLeft]
    other = np.dtype([("z", "f4")])
    assert View[other, "*"].dtype == other
    assert View[np.float64, "**"] == View["double**"]


@pytest.mark.spec("VIEW-4")
@pytest.mark.parametrize("spec", ["int[3]*", "int*[3]**"])
def test_runtime_dimensions_come_first(spec: str) -> None:
    with pytest.raises(ViewTypeError, match="known at run time come first"):
        View[spec]


@pytest.mark.parametrize("spec", ["", "*", "const *", "int[n]", "int[-1]", "3*", "int&", 7])
def test_what_is_no_data_type_is_refused(spec: Any) -> None:
    with pytest.raises(ViewTypeError):
        View[spec]


def test_more_than_eight_dimensions_are_refused() -> None:
    assert View["int********"].rank == 8
    with pytest.raises(ViewTypeError, match="at most 8"):
        View["int********[2]"]


def test_unknown_elements_are_refused_with_a_hint() -> None:
    with pytest.raises(ViewTypeError, match=r"register_type\(\"Bar\", dtype\)"):
        View["Bar**"]


@pytest.mark.parametrize(
    ("name", "dtype", "message"),
    [
        ("double", "f4", "means float64 already"),
        ("a b", "f4", "identifier"),
        ("Obj", "O", "object"),
    ],
)
def test_names_that_cannot_be_registered(name: str, dtype: str, message: str) -> None:
    with pytest.raises(ViewTypeError, match=message):
        register_type(name, dtype)


@pytest.mark.spec("VIEW-5")
def test_arguments_are_optional_but_in_order() -> None:
    full = View["int*", LayoutLeft, CudaSpace, Unmanaged]
    assert (full.array_layout, full.memory_space, full.memory_traits) == (
        LayoutLeft,
        CudaSpace,
        Unmanaged,
    )
    assert View["int*", CudaSpace, Unmanaged].array_layout is LayoutRight
    assert View["int*", LayoutLeft, Unmanaged].memory_space is HostSpace
    for arguments in (
        ("int*", HostSpace, LayoutLeft),
        ("int*", Unmanaged, HostSpace),
        ("int*", HostSpace, HostSpace),
    ):
        with pytest.raises(ViewTypeError, match="out of order"):
            View[arguments]
    with pytest.raises(ViewTypeError, match="what may follow"):
        View["int*", "LayoutLeft"]


@pytest.mark.spec("VIEW-10", "VIEW-28")
def test_the_default_space_is_that_of_the_executing_context() -> None:
    assert View["int*"].memory_space is HostSpace
    assert DefaultExecutionSpace() == Serial
    with Context.get(Context.CUDA, 0):
        assert DefaultExecutionSpace() == Cuda
        assert View["int*"].memory_space is CudaSpace
    assert View["int*", LayoutLeft, CudaHostPinnedSpace].memory_space is CudaHostPinnedSpace
    assert View["int*", Cuda].memory_space is CudaSpace


@pytest.mark.spec("VIEW-15", "VIEW-30")
def test_traits_combine() -> None:
    view_type = View["const int*", RandomAccess | Restrict]
    assert RandomAccess in view_type.memory_traits
    assert Restrict in view_type.memory_traits
    assert Atomic not in view_type.memory_traits
    assert View["int*"].memory_traits == MemoryTraits.Managed
    assert View["int*", MemoryTraits(Atomic | Unmanaged)].memory_traits == Atomic | Unmanaged


@pytest.mark.spec("VIEW-13", "VIEW-14", "VIEW-18", "VIEW-43")
def test_what_element_access_gives() -> None:
    plain = View["double*", Restrict]
    assert plain.reference_type_is_lvalue_reference
    assert (plain.reference_type, plain.pointer_type) == ("double&", "double*")
    loaded = View["const double*", CudaSpace, RandomAccess]
    assert not loaded.reference_type_is_lvalue_reference
    assert (loaded.reference_type, loaded.pointer_type) == ("const double", "const double*")
    assert View["const double*", HostSpace, RandomAccess].reference_type_is_lvalue_reference
    assert not View["double*", Atomic].reference_type_is_lvalue_reference


@pytest.mark.spec("VIEW-19", "VIEW-27", "VIEW-28", "VIEW-29", "VIEW-31")
@pytest.mark.parametrize(
    ("space", "on_host", "executes", "mirror"),
    [
        (HostSpace, True, Serial, HostSpace),
        (CudaHostPinnedSpace, True, Serial, CudaHostPinnedSpace),
        (CudaUVMSpace, True, Cuda, CudaUVMSpace),
        (CudaSpace, False, Cuda, HostSpace),
    ],
    ids=str,
)
def test_places(space: Any, on_host: bool, executes: Any, mirror: Any) -> None:
    view_type = View["int*", space]
    assert view_type.is_hostspace is on_host
    assert view_type.execution_space == executes
    assert view_type.device_type == Device(executes, space)
    assert view_type.device_type.memory_space is view_type.memory_space is space
    assert view_type.host_mirror_space is mirror


@pytest.mark.spec("VIEW-20", "VIEW-21", "VIEW-22", "VIEW-23")
def test_data_types_with_and_without_const() -> None:
    view_type = View["int**[3]"]
    assert view_type.data_type == "int**[3]"
    assert view_type.const_data_type == "const int**[3]"
    assert view_type.const_type.const_data_type == "const int**[3]"
    assert view_type.const_type.non_const_data_type == "int**[3]"
    assert view_type.non_const_data_type == "int**[3]"
    assert view_type.scalar_array_type == view_type.data_type
    assert view_type.const_scalar_array_type == view_type.const_data_type
    assert view_type.const_type.non_const_scalar_array_type == view_type.data_type


@pytest.mark.spec("VIEW-24", "VIEW-25", "VIEW-26")
def test_scalar_types() -> None:
    view_type = View["const int**[3]"]
    assert view_type.value_type == view_type.const_value_type == "const int"
    assert view_type.non_const_value_type == "int"


@pytest.mark.spec("VIEW-32", "VIEW-33")
def test_uniform_types() -> None:
    for spec in ("int", "int*", "int[3]"):
        assert View[spec, LayoutLeft].uniform_type == View[spec, LayoutRight].uniform_type
    assert View["int**", LayoutLeft].uniform_type != View["int**", LayoutRight].uniform_type
    assert View["int*", LayoutStride].uniform_type.array_layout is LayoutStride
    assert (
        View["int*", HostSpace].uniform_type == View["int*", Device(Serial, HostSpace)].uniform_type
    )
    assert View["int*"].uniform_const_type == View["const int*"].uniform_type


@pytest.mark.spec("VIEW-34", "VIEW-35", "VIEW-36", "VIEW-37", "VIEW-38", "VIEW-39")
def test_uniform_types_without_extents_or_space() -> None:
    view_type = View["int*[3]", LayoutLeft, CudaSpace]
    assert view_type.uniform_runtime_type == View["int**", LayoutLeft, CudaSpace]
    assert view_type.uniform_runtime_const_type == View["const int**", LayoutLeft, CudaSpace]
    for name, data_type in (
        ("uniform_nomemspace_type", "int*[3]"),
        ("uniform_const_nomemspace_type", "const int*[3]"),
        ("uniform_runtime_nomemspace_type", "int**"),
        ("uniform_runtime_const_nomemspace_type", "const int**"),
    ):
        found = getattr(view_type, name)
        assert (found.data_type, found.memory_space) == (data_type, AnonymousSpace)
        assert found.execution_space == Cuda


@pytest.mark.spec("VIEW-40", "VIEW-41", "VIEW-42")
def test_related_view_types() -> None:
    view_type = View["int**[3]", LayoutLeft, CudaSpace]
    assert view_type.const_type == View["const int**[3]", LayoutLeft, CudaSpace]
    assert view_type.const_type.non_const_type == view_type
    assert view_type.host_mirror_type == view_type.HostMirror
    assert view_type.HostMirror == View["int**[3]", LayoutLeft, HostSpace]


@pytest.mark.spec("VIEW-44")
def test_the_other_types() -> None:
    view_type = View["int**[3]", LayoutLeft]
    assert view_type.array_layout is LayoutLeft
    assert view_type.size_type is int
    assert view_type.dimension == (None, None, 3)
    assert view_type.specialize is None


@pytest.mark.spec("VIEW-16", "VIEW-17", "VIEW-18", "VIEW-19", "VIEW-24")
def test_a_view_knows_what_its_type_knows() -> None:
    view = View["const int**[3]", LayoutLeft]()
    for name in (
        *("rank", "rank_dynamic", "is_hostspace", "value_type", "data_type", "uniform_type"),
        *("const_type", "HostMirror", "array_layout", "memory_space", "device_type", "dimension"),
        *("reference_type_is_lvalue_reference", "memory_traits", "execution_space"),
    ):
        assert getattr(view, name) == getattr(view.type, name)
    assert view.rank_dynamic() == 2


def test_types_compare_print_and_pickle_as_what_they_say() -> None:
    view_type = View["const int*[10]", LayoutLeft, CudaSpace, Unmanaged | RandomAccess]
    assert (
        repr(view_type) == 'View["const int*[10]", LayoutLeft, CudaSpace, Unmanaged | RandomAccess]'
    )
    assert View["int32_t*"] == View["int*"]
    assert hash(View["int32_t*"]) == hash(View["int*"])
    assert pickle.loads(pickle.dumps(view_type)) == view_type
    assert repr(View["int*", Device(Serial, CudaUVMSpace)]) == (
        'View["int*", LayoutRight, Device(Serial, CudaUVMSpace)]'
    )


def test_a_view_is_an_instance_of_its_type() -> None:
    view = View["int*"]("a", 3)
    assert isinstance(view, View)
    assert isinstance(view, View["int*"])
    assert not isinstance(view, View["const int*"])
    assert not isinstance(3, View["int*"])


def test_scratch_space_as_an_argument_means_unmanaged() -> None:
    assert View["int*", ScratchSpace] == View["int*", HostSpace, Unmanaged]
