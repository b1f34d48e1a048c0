"""Tests of the assignment rules of types and extents, and of the examples of the View page."""

from __future__ import annotations

from typing import Any

import pytest

from psyclone_storage.storage.kokkos import (
    AnonymousSpace,
    CudaHostPinnedSpace,
    CudaSpace,
    CudaUVMSpace,
    HostSpace,
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    View,
    ViewExtentError,
    ViewTypeError,
    is_assignable,
    subview,
)

OK = "ok"
STATIC = "types"
RUNTIME = "extents"

TABLE = [
    # destination, source, extents of the source, outcome
    pytest.param(("int*",), ("int*",), (5,), OK, marks=pytest.mark.spec("VIEW-90")),
    pytest.param(("int**",), ("int*[10]",), (5,), OK, marks=pytest.mark.spec("VIEW-91")),
    pytest.param(("int*[10]",), ("int**",), (5, 10), OK, marks=pytest.mark.spec("VIEW-92")),
    pytest.param(
        ("int*[10]",), ("int**",), (5, 9), RUNTIME, marks=pytest.mark.spec("VIEW-92", "VIEW-87")
    ),
    pytest.param(("const int*",), ("int*",), (5,), OK, marks=pytest.mark.spec("VIEW-93")),
    pytest.param(
        ("int*",), ("const int*",), (5,), STATIC, marks=pytest.mark.spec("VIEW-94", "VIEW-84")
    ),
    pytest.param(("int**",), ("int*",), (5,), STATIC, marks=pytest.mark.spec("VIEW-95", "VIEW-82")),
    pytest.param(
        ("int*[8]",), ("int*[10]",), (5,), STATIC, marks=pytest.mark.spec("VIEW-96", "VIEW-86")
    ),
    pytest.param(("int[4][10]",), ("int*[10]",), (4,), OK, marks=pytest.mark.spec("VIEW-97")),
    pytest.param(("int[4][10]",), ("int*[10]",), (5,), RUNTIME, marks=pytest.mark.spec("VIEW-97")),
    pytest.param(
        ("int*", LayoutLeft), ("int*",), (5,), OK, marks=pytest.mark.spec("VIEW-98", "VIEW-88")
    ),
    pytest.param(
        ("int**", LayoutStride), ("int[4][10]",), (), OK, marks=pytest.mark.spec("VIEW-99")
    ),
    pytest.param(
        ("int*", HostSpace),
        ("int*", CudaSpace),
        (5,),
        STATIC,
        marks=pytest.mark.spec("VIEW-101", "VIEW-85"),
    ),
    pytest.param(
        ("int*", HostSpace),
        ("int*", CudaHostPinnedSpace),
        (5,),
        OK,
        marks=pytest.mark.spec("VIEW-102", "VIEW-85"),
    ),
    pytest.param(("float*",), ("int*",), (5,), STATIC, marks=pytest.mark.spec("VIEW-83")),
    pytest.param(("unsigned int*",), ("int*",), (5,), STATIC, marks=pytest.mark.spec("VIEW-83")),
    pytest.param(("int*", CudaSpace), ("int*", CudaUVMSpace), (5,), OK),
    pytest.param(("int*", HostSpace), ("int*", CudaUVMSpace), (5,), STATIC),
    pytest.param(("int*", CudaHostPinnedSpace), ("int*", HostSpace), (5,), STATIC),
    pytest.param(("int*", AnonymousSpace), ("int*", CudaSpace), (5,), OK),
    pytest.param(
        ("int**", LayoutLeft), ("int**",), (5, 3), STATIC, marks=pytest.mark.spec("VIEW-88")
    ),
    pytest.param(("int", LayoutLeft), ("int",), (), OK, marks=pytest.mark.spec("VIEW-88")),
    pytest.param(("int**", LayoutStride), ("int**", LayoutLeft), (5, 3), OK),
]


def outcome(target: Any, source: View) -> str:
    """Return the result of an assignment; its three forms must agree."""
    for assign in (target, target().assign):
        try:
            result = assign(source) or target(source)
        except ViewTypeError:
            found = STATIC
        except ViewExtentError:
            found = RUNTIME
        else:
            assert result.data() == source.data()
            assert result.extents == source.extents
            found = OK
        assert is_assignable(target, source) is (found == OK)
        assert target().is_assignable(source) is (found == OK)
        assert is_assignable(target, source.type) is (found != STATIC)
    return found


@pytest.mark.spec("VIEW-77")
@pytest.mark.parametrize(("target", "source", "extents", "expected"), TABLE)
def test_assignment(
    target: tuple[Any, ...], source: tuple[Any, ...], extents: tuple[int, ...], expected: str
) -> None:
    assert outcome(View[target], View[source]("src", *extents)) == expected


@pytest.mark.spec("VIEW-100", "VIEW-89")
def test_a_strided_view_becomes_a_regular_one_if_the_strides_are_right() -> None:
    strided = View["int**", LayoutStride](View["int[4][10]"]("a8"))
    assert outcome(View["int**"], strided) == OK
    assert outcome(View["int**", LayoutLeft], strided) == RUNTIME
    assert outcome(View["int*[9]"], strided) == RUNTIME
    gaps = View["int**", LayoutStride]("gaps", LayoutStride((4, 10), (20, 1)))
    assert outcome(View["int**"], gaps) == RUNTIME


@pytest.mark.spec("VIEW-89")
def test_strides_of_dimensions_with_one_element_do_not_matter() -> None:
    one = View["int**", LayoutStride]("one", LayoutStride((1, 10), (999, 1)))
    assert View["int**"](one).stride(0) == 10
    column = subview(View["int**"]("a", 4, 10), slice(None), 3)
    assert outcome(View["int*"], column) == RUNTIME


def test_types_are_judged_before_extents() -> None:
    source = View["const int**"]("a", 5, 9)
    with pytest.raises(ViewTypeError) as caught:
        View["int*[10]"](source)
    assert not isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TypeError)
    assert issubclass(ViewExtentError, ValueError)
    assert not issubclass(ViewExtentError, TypeError)


def test_all_broken_rules_are_named_at_once() -> None:
    source = View["const float***", LayoutLeft, CudaSpace]("a", 1, 1, 1)
    with pytest.raises(ViewTypeError) as caught:
        View["int**"](source)
    for part in ("ranks are 2 and 3", '"const float"', "is const", "deep_copy", "LayoutLeft"):
        assert part in str(caught.value)


def test_extent_errors_name_label_and_extents() -> None:
    with pytest.raises(ViewExtentError, match=r'"pressure" of extents \(5, 9\): extent 1 is 9'):
        View["int*[10]"](View["int**"]("pressure", 5, 9))


def test_a_view_without_memory_can_be_assigned() -> None:
    target = View["int*[10]"](View["int**"]())
    assert target.extents == (0, 10)
    assert not target.is_allocated()


def test_assignment_gives_up_the_memory_before() -> None:
    a, b = View["int*"]("a", 3), View["int*"]("b", 4)
    other = View(a)
    other.assign(b)
    assert (a.use_count(), b.use_count(), other.label()) == (1, 2, "b")


def test_a_custom_layout_agrees_with_itself_only() -> None:
    class Reversed(LayoutRight):
        """A layout class that differs from `LayoutRight`."""

    source = View["int**", Reversed]("a", 2, 3)
    assert outcome(View["int**", Reversed], source) == OK
    assert outcome(View["int**"], source) == STATIC
