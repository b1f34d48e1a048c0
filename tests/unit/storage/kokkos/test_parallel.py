"""Tests of `parallel_for`, `parallel_reduce` and `ScatterView` on the host and on devices."""

# ruff: noqa: ARG005 - functors need not use their indices

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage import kokkos
from psyclone_storage.storage.core.errors import HostUseError
from psyclone_storage.storage.kokkos import (
    KOKKOS_LAMBDA,
    Atomic,
    Cuda,
    CudaSpace,
    DualView,
    HostSpace,
    Iterate,
    LayoutLeft,
    LayoutStride,
    Max,
    MDRangePolicy,
    Min,
    Prod,
    RangePolicy,
    Rank,
    ScatterMax,
    ScatterView,
    Serial,
    Sum,
    View,
    ViewExtentError,
    ViewIndexError,
    ViewRankError,
    ViewTypeError,
    contribute,
    create_mirror_view_and_copy,
    create_scatter_view,
    parallel,
    parallel_for,
    parallel_reduce,
    resize,
)
from psyclone_storage.storage.kokkos.vectorized_functor import NotTogetherError, Together

PLACES = [Serial, Cuda]
MARKS = [lambda functor: functor, KOKKOS_LAMBDA]
both_places = pytest.mark.parametrize("place", PLACES, ids=repr)
both_ways = pytest.mark.parametrize("mark", MARKS, ids=["one by one", "many at once"])
pytestmark = pytest.mark.usefixtures("device")


def values(view: View) -> np.ndarray[Any, Any]:
    return np.asarray(create_mirror_view_and_copy(HostSpace, view)).copy()


def filled(place: Any, numbers: Any, kind: str = "double") -> View:
    array = np.asarray(numbers)
    view = View[kind + "*" * array.ndim, place.memory_space]("v", *array.shape)
    kokkos.deep_copy(view, array.astype(view.dtype))
    return view


def the_page_of_views(place: Any, mark: Any, n0: int, n1: int) -> View:
    """Execute the example program of the manual page of `View` at `place`."""
    space = place.memory_space
    a = View["double*", space]("A", n0)
    b = View["double*", space]("B", n1)

    @mark
    def init_a(i: Any) -> None:
        a[i] = i

    parallel_for("InitA", RangePolicy[place](0, n0), init_a)

    @mark
    def init_b(i: Any) -> None:
        b[i] = i

    parallel_for("InitB", RangePolicy[place](0, n1), init_b)
    c = View["double**", LayoutLeft, space]("C", n0, n1)
    const_a = View["const double*", space](a)
    const_b = View["const double*", space](b)

    @mark
    def set_c(i0: Any, i1: Any) -> None:
        c[i0, i1] = const_a(i0) * const_b(i1)

    policy = MDRangePolicy[place, Rank[2, Iterate.Left]]((0, 0), (n0, n1))
    parallel_for("SetC", policy, set_c)
    return c


@pytest.mark.spec("VIEW-103")
@both_places
@both_ways
@pytest.mark.parametrize(("n0", "n1"), [(3, 4), (1, 1), (0, 5), (5, 0), (12, 30)])
def test_the_example_of_the_page_of_views(
    place: Any, mark: Any, n0: int, n1: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "MANY", 100)  # several parts, the last of another size
    found = values(the_page_of_views(place, mark, n0, n1))
    assert found.tolist() == np.outer(np.arange(float(n0)), np.arange(float(n1))).tolist()


def test_the_default_place_is_that_of_the_context() -> None:
    seen = []
    on_host = View["double*"]("h", 3)
    parallel_for(3, lambda i: seen.append((i, on_host(i))))
    assert seen == [(0, 0.0), (1, 0.0), (2, 0.0)]
    with Cuda.context:
        on_device = View["double*"]("d", 3)

        @KOKKOS_LAMBDA
        def body(i: Any) -> None:
            on_device[i] = i + 1

        parallel_for(3, body)
    assert on_device.memory_space is CudaSpace
    assert values(on_device).tolist() == [1.0, 2.0, 3.0]


@both_places
@both_ways
def test_an_increment_and_a_copy_of_a_number_are_those_of_numbers(place: Any, mark: Any) -> None:
    a, b = filled(place, [1.0, 2.0, 3.0]), filled(place, [0.0] * 3)

    @mark
    def body(i: Any) -> None:
        x = a(i) * 2
        y = x
        y += 1
        i += 0
        a[i] += y
        b[i] = x

    parallel_for(RangePolicy[place](0, 3), body)
    assert values(a).tolist() == [4.0, 7.0, 10.0]
    assert values(b).tolist() == [2.0, 4.0, 6.0]


@both_places
@both_ways
def test_a_functor_that_branches_runs_for_each_index_once(place: Any, mark: Any) -> None:
    """Writes before a branch are undone before the functor is executed again."""
    a = filled(place, [1.0, 2.0, 3.0, 4.0])
    counts = View["int", place.memory_space, Atomic]("n")

    @mark
    def body(i: Any) -> None:
        a[i] += 10
        counts[()] += 1
        if a(i) > 12:
            a[i] = -a(i)

    parallel_for(RangePolicy[place](0, 4), body)
    assert values(a).tolist() == [11.0, 12.0, -13.0, -14.0]
    assert int(values(counts)) == 4


@both_ways
@pytest.mark.parametrize(
    "body",
    [
        lambda a, i: a.__setitem__(i, math.sqrt(i)),
        lambda a, i: a.__setitem__(i, [0.0, 1.0, 2.0**0.5][i]),
        lambda a, i: a.__setitem__(i, sum(0.0 for _ in range(i)) + i**0.5),
        lambda a, i: a.__setitem__(i, (np.array([1.0, 0.0, 0.0]) * i).sum() ** 0.5),
        lambda a, i: a.__setitem__(i, float(i) ** 0.5),
        lambda a, i: a.__setitem__(i, np.sqrt(i)),
        lambda a, i: a.__setitem__(i, np.where(i > 1, 2.0**0.5, 1.0 * i)),
        lambda a, i: a.__setitem__(i, 0.0 if i == 0 else i**0.5),
    ],
)
def test_what_needs_one_number_gets_one(mark: Any, body: Any) -> None:
    a = View["double*"]("a", 3)
    parallel_for(3, mark(lambda i: body(a, i)))
    assert np.allclose(values(a), [0.0, 1.0, 2.0**0.5])


@both_places
@both_ways
def test_errors_are_those_of_the_index_that_is_wrong(place: Any, mark: Any) -> None:
    a = filled(place, [0.0] * 4)
    with pytest.raises(ViewIndexError, match=r"no element \(4,\)"):
        parallel_for(RangePolicy[place](0, 4), mark(lambda i: a.__setitem__(i + 1, 1.0)))
    assert values(a).tolist() == [0.0, 1.0, 1.0, 1.0]
    const = View["const double*", place.memory_space](a)
    with pytest.raises(ViewTypeError, match="const"):
        parallel_for(RangePolicy[place](0, 4), mark(lambda i: const.__setitem__(i, 1.0)))
    with pytest.raises(ZeroDivisionError):
        parallel_for(RangePolicy[place](0, 4), mark(lambda i: 1 / 0))
    a.buffer.acquire(place.memory_space).release()


def test_a_functor_uses_memory_of_its_own_side() -> None:
    there, here = View["double*", CudaSpace]("there", 2), View["double*"]("here", 2)
    with pytest.raises(HostUseError, match=r'"there".*functor that runs at'):
        parallel_for(2, there)
    with pytest.raises(HostUseError, match=r'"here".*functor that runs at'):
        parallel_for(RangePolicy[Cuda](0, 2), here)
    with pytest.raises(HostUseError, match="create_mirror_view_and_copy"):
        there(0)
    with pytest.raises(ViewTypeError, match="another parallel"):
        parallel_for(2, lambda i: parallel_for(2, lambda j: None))
    parallel_for(2, lambda i: here.__setitem__(i, 1.0))


@both_ways
def test_a_box_begins_anywhere_and_has_an_order(mark: Any) -> None:
    seen: list[Any] = []
    parallel_for(
        MDRangePolicy[Rank[2, Iterate.Left]]((1, 2), (3, 4)), lambda i, j: seen.append((i, j))
    )
    assert seen == [(1, 2), (2, 2), (1, 3), (2, 3)]
    seen.clear()
    parallel_for(MDRangePolicy((1, 2), (3, 4), (1, 1)), lambda i, j: seen.append((i, j)))
    assert seen == [(1, 2), (1, 3), (2, 2), (2, 3)]
    a = View["int***"]("a", 3, 4, 5)
    policy = MDRangePolicy[Rank[3]]((1, 2, 3), (3, 4, 5))
    parallel_for(policy, mark(lambda i, j, k: a.__setitem__((i, j, k), 100 * i + 10 * j + k)))
    expected = np.zeros((3, 4, 5), int)
    expected[1:3, 2:4, 3:5] = np.add.outer(np.add.outer([100, 200], [20, 30]), [3, 4])
    assert (values(a) == expected).all()


@both_ways
def test_parts_and_strides_are_found(mark: Any) -> None:
    whole = np.zeros((4, 6))
    part = kokkos.subview(View(whole), (1, 3), slice(0, 6, 2))
    assert part.array_layout is LayoutStride
    policy = MDRangePolicy[Rank[2]]((0, 0), (2, 3))
    parallel_for(policy, mark(lambda i, j: part.__setitem__((i, j), 1 + i + 10 * j)))
    assert whole[1:3, ::2].tolist() == [[1, 11, 21], [2, 12, 22]]
    assert np.count_nonzero(whole) == 6


@pytest.mark.parametrize("wrong", [(), (3,), ("a", 3), (lambda i: i, 3), (3, lambda i: i, 4)])
def test_wrong_arguments_are_refused(wrong: Any) -> None:
    with pytest.raises(ViewTypeError, match="parallel operation takes"):
        parallel_for(*wrong)


def test_wrong_policies_are_refused() -> None:
    for make in (
        lambda: RangePolicy(3),
        lambda: MDRangePolicy((0, 0)),
        lambda: MDRangePolicy[Rank[3]]((0, 0), (2, 2)),
        lambda: MDRangePolicy[Rank[2], Rank[2]],
        lambda: MDRangePolicy["x"],
    ):
        with pytest.raises(ViewTypeError):
            make()


# -- reductions ------------------------------------------------------------------------------------


@both_places
@both_ways
def test_a_sum_as_in_cpp(place: Any, mark: Any) -> None:
    a = filled(place, np.arange(10.0))

    @mark
    def body(i: Any, update: Any) -> None:
        update += a(i)

    total = parallel_reduce("total", RangePolicy[place](0, 10), body)
    assert total == 45.0
    assert parallel_reduce(RangePolicy[place](0, 0), body) == 0

    @mark
    def difference(i: Any, update: Any) -> None:
        update -= a(i)

    assert parallel_reduce(RangePolicy[place](0, 10), difference) == -45.0


@both_ways
@pytest.mark.parametrize(
    ("reducer", "expected"),
    [(Sum, 10), (Prod, 24), (Max, 4), (Min, 1), (kokkos.BAnd, 0), (kokkos.BOr, 7)],
)
def test_reducers(mark: Any, reducer: Any, expected: Any) -> None:
    a = filled(Serial, [3, 1, 4, 2], "int")
    assert parallel_reduce(4, mark(lambda i, update: update.join(a(i))), reducer) == expected
    result = View["int"]("result")
    parallel_reduce(4, mark(lambda i, update: update.join(a(i))), reducer(result))
    assert result() == expected


@both_ways
def test_logical_reducers(mark: Any) -> None:
    a = filled(Serial, [3, 1, 4, 2], "int")
    every, some = parallel_reduce(
        4,
        mark(lambda i, one, other: (one.join(a(i) > 1), other.join(a(i) > 3))),
        kokkos.LAnd,
        kokkos.LOr,
    )
    assert (every, some) == (False, True)
    assert parallel_reduce(0, lambda i, update: None, kokkos.LAnd) is True


@both_ways
def test_a_constant_counts_for_each_index(mark: Any) -> None:
    a = View["int**"]("a", 3, 5)
    policy = MDRangePolicy[Rank[2]]((0, 0), (3, 5))
    assert parallel_reduce(policy, mark(lambda i, j, update: update.join(2))) == 30
    assert parallel_reduce(policy, mark(lambda i, j, update: update.join(i))) == 15
    del a


@both_ways
def test_a_maximum_by_a_condition(mark: Any) -> None:
    a = filled(Serial, [3.0, 9.0, 4.0])

    @mark
    def body(i: Any, update: Any) -> None:
        update.value = max(update.value, a(i))

    assert parallel_reduce(3, body, Max) == 9.0


def test_wrong_reductions_are_refused() -> None:
    with pytest.raises(ViewTypeError, match=r"does not join with \+="):
        parallel_reduce(2, lambda i, update: update.__iadd__(1), Max)
    with pytest.raises(ViewRankError, match="one number"):
        parallel_reduce(2, lambda i, update: None, View["double*"]("r", 2))
    with pytest.raises(ViewTypeError, match="takes reducers"):
        parallel_reduce(2, lambda i, update: None, 3.0)


# -- shared elements -------------------------------------------------------------------------------


@both_places
@both_ways
def test_a_histogram_over_a_scatter_view(place: Any, mark: Any) -> None:
    bins = filled(place, [0, 2, 2, 1, 2, 0], "int")
    histogram = filled(place, [10, 10, 10], "int")
    scatter = ScatterView(histogram)
    access = scatter.access()

    @mark
    def body(i: Any) -> None:
        access[bins(i)] += 1

    for _ in range(2):
        parallel_for(RangePolicy[place](0, 6), body)
    assert values(histogram).tolist() == [10, 10, 10]
    contribute(histogram, scatter)
    assert values(histogram).tolist() == [14, 12, 16]
    scatter.reset()
    contribute(histogram, scatter)
    assert values(histogram).tolist() == [14, 12, 16]


@both_places
@both_ways
def test_an_atomic_view_counts_every_index(place: Any, mark: Any) -> None:
    bins = filled(place, [0, 2, 2, 1, 2, 0], "int")
    histogram = View["int*", place.memory_space, Atomic]("h", 3)

    @mark
    def body(i: Any) -> None:
        histogram[bins(i)] += 1

    parallel_for(RangePolicy[place](0, 6), body)
    assert values(histogram).tolist() == [2, 1, 3]


@both_ways
@pytest.mark.parametrize(
    ("operation", "start", "expected"),
    [
        (kokkos.ScatterSum, 1, [4, 9]),
        (kokkos.ScatterProd, 2, [4, 30]),
        (kokkos.ScatterMin, 2, [1, 2]),
        (ScatterMax, 4, [4, 5]),
    ],
)
@pytest.mark.parametrize("kind", ["int", "double"])
def test_operations(mark: Any, operation: Any, start: int, expected: Any, kind: str) -> None:
    given = filled(Serial, [1, 2, 5, 3], kind)
    where = filled(Serial, [0, 0, 1, 1], "int")
    target = filled(Serial, [start, start], kind)
    scatter = create_scatter_view(operation, target)
    access = scatter.access()
    parallel_for(4, mark(lambda i: access(where(i)).update(given(i))))
    contribute(target, scatter)
    assert values(target).tolist() == expected


def test_scatter_types_and_refusals() -> None:
    scatter = ScatterView["double*", LayoutLeft, ScatterMax]("s", 3)
    assert scatter.subview().extents == (3,)
    access = scatter.access()
    with pytest.raises(ViewTypeError, match="added to"):
        access[0] = 3.0
    with pytest.raises(ViewTypeError, match=r"update\(\)"):
        access[0] += 3.0
    access[0].update(2.0)
    with pytest.raises(ViewExtentError):
        contribute(View["double*"]("t", 4), scatter)
    with pytest.raises(ViewTypeError):
        contribute(View["int*"]("t", 3), scatter)
    with pytest.raises(ViewTypeError):
        contribute(View["double*", CudaSpace]("t", 3), scatter)
    with pytest.raises(ViewTypeError):
        create_scatter_view(3)
    target = View["double*"]("t", 3)
    contribute(target, scatter)
    assert values(target).tolist() == [2.0, 0.0, 0.0]
    empty = View["double*"]("e", 0)
    contribute(empty, ScatterView(empty))


# -- start and end of a program --------------------------------------------------------------------


def test_a_dual_view_is_resized_by_the_function_too() -> None:
    dual = DualView["double*", CudaSpace]("d", 3)
    with dual.d_view.opened() as array:
        array[...] = 2.0
    resize(dual, 5)
    assert dual.extents == (5,)
    assert [dual.h_view(i) for i in range(5)] == [2.0, 2.0, 2.0, 0.0, 0.0]
    kokkos.realloc(dual, 2)
    assert dual.extents == (2,)
    assert dual.h_view(0) == 0.0


def test_a_program_begins_and_ends() -> None:
    assert kokkos.initialize(["program", "--kokkos-num-threads=2", "7"]) == ["program", "7"]
    kokkos.finalize()
    kokkos.fence()


@both_places
def test_a_marked_functor_is_called_once(place: Any) -> None:
    a, b = filled(place, np.arange(50.0)), filled(place, [0.0] * 50)
    calls = []

    @KOKKOS_LAMBDA
    def body(i: Any, update: Any) -> None:
        calls.append(1)
        b[i] = 2 * a(i) - 1
        b[49 - i] = np.sqrt(a(49 - i))
        update += a(i) * b(i)

    parallel_reduce(RangePolicy[place](0, 50), body)
    assert len(calls) == 1


@both_places
@pytest.mark.parametrize("shared", ["scatter", "atomic"])
def test_a_marked_functor_that_shares_elements_is_called_once(place: Any, shared: str) -> None:
    bins = filled(place, [0, 2, 2, 1, 2, 0], "int")
    target = View["int*", place.memory_space, Atomic]("h", 3)
    access = target if shared == "atomic" else ScatterView(target).access()
    calls = []

    @KOKKOS_LAMBDA
    def body(i: Any) -> None:
        calls.append(1)
        access[bins(i)] += i

    parallel_for(RangePolicy[place](0, 6), body)
    assert len(calls) == 1


def test_what_works_on_all_indices_refuses_other_forms_of_a_function() -> None:
    together = Together(np.arange(3.0))
    assert np.add(together, 1.0).array.tolist() == [1.0, 2.0, 3.0]
    for wrong in (
        lambda: np.add.reduce(together),
        lambda: np.add(together, 1.0, where=[True, False, True]),
        lambda: np.add.reduce(together, axis=0),
    ):
        with pytest.raises(NotTogetherError, match="one index at a time"):
            wrong()


def test_a_call_of_rank_names_the_notation() -> None:
    with pytest.raises(ViewTypeError, match=r"write Rank\[2, Iterate.Left\]"):
        Rank(2, Iterate.Left)
