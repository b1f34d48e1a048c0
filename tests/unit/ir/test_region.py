"""The algebra of depths, against numbers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.ir.expr import Binary, Literal, Name
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import NOTHING, WHOLE, Depth, Term, deepest, describe_depth
from psyclone_storage.ir.types import Intrinsic

UNKNOWNS = ("a", "b", "h")


def sums_of(names: tuple[str, ...], most: int) -> st.SearchStrategy[tuple[Name, ...]]:
    found = st.lists(st.sampled_from(names), max_size=most)
    return found.map(lambda texts: tuple(map(Name, sorted(texts))))


terms = st.builds(
    Term,
    whole=st.just(False),
    unknowns=sums_of(UNKNOWNS, 4),
    constant=st.integers(-2, 4),
)
depths = st.lists(terms, max_size=3).map(
    lambda found: deepest(Depth.of(0).max(Depth((term,))) for term in found)
)
VALUES = [
    dict(zip(UNKNOWNS, values, strict=True))
    for values in itertools.product((0, 1, 5), (0, 1, 2), (0, 1, 4))
]
HALO = 30


def value(depth: Depth, extents: dict[str, int]) -> int:
    """Return the number of levels that a depth is in a halo of `HALO` levels."""
    sums = [
        (HALO if term.whole else 0) + sum(extents[name] for name in term.names) + term.constant
        for term in depth.terms
    ]
    return max(0, *sums) if sums else 0


@given(depths, depths)
def test_comparisons_hold_for_all_values_of_the_extents(one: Depth, two: Depth) -> None:
    covered = {value(one, extents) >= value(two, extents) for extents in VALUES}
    match one.covers(two):
        case Fresh.YES:
            assert covered == {True}
        case Fresh.NO:
            assert covered == {False}


@given(depths, depths)
def test_the_larger_of_two_is_the_larger(one: Depth, two: Depth) -> None:
    for extents in VALUES:
        expected = max(value(one, extents), value(two, extents))
        assert value(one.max(two), extents) == expected
    assert one.max(two).covers(one) is Fresh.YES


@given(depths, st.integers(1, 3))
def test_a_sum_is_the_sum(one: Depth, levels: int) -> None:
    for extents in VALUES:
        total = one.plus(Depth.of(levels))
        if value(one, extents) > 0 or not one.terms:
            assert value(total, extents) == value(one, extents) + levels


@given(depths, st.integers(1, 3))
def test_less_levels_are_never_below_zero(one: Depth, levels: int) -> None:
    for extents in VALUES:
        assert value(one.minus(levels), extents) == max(0, value(one, extents) - levels)


@given(depths)
def test_times_two_is_twice(one: Depth) -> None:
    for extents in VALUES:
        assert value(one.times(2), extents) == 2 * value(one, extents)


@given(depths)
def test_equal_depths_are_one_value(one: Depth) -> None:
    assert one.max(one) == one
    assert one.covers(one) is Fresh.YES


def test_known_depths_compare_like_numbers() -> None:
    for one, two in itertools.product(range(4), repeat=2):
        assert Depth.of(one).covers(Depth.of(two)) is Fresh.of(one >= two)


def test_the_whole_halo_has_at_least_one_level() -> None:
    assert WHOLE.plus(Depth.of(3)) == WHOLE
    assert WHOLE.covers(Depth.of(1)) is Fresh.YES
    assert WHOLE.covers(Depth.of(2)) is Fresh.MAYBE
    assert WHOLE.covers(Depth.value(Name("a"))) is Fresh.MAYBE
    assert WHOLE.minus(1).covers(WHOLE) is Fresh.NO
    assert Depth.of(3).covers(WHOLE) is Fresh.MAYBE
    assert NOTHING.covers(WHOLE) is Fresh.NO


def test_what_is_known_at_run_time_may_be_nothing() -> None:
    assert Depth.value(Name("a")).covers(Depth.of(1)) is Fresh.MAYBE
    assert Depth.of(1).covers(Depth.value(Name("a")).plus(Depth.of(1))) is Fresh.MAYBE
    assert Depth.of(1).covers(Depth.value(Name("a")).plus(Depth.of(2))) is Fresh.NO
    assert NOTHING.covers(Depth.value(Name("a"))) is Fresh.MAYBE


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (NOTHING, "0"),
        (Depth.of(2), "2"),
        (Depth.value(Name("extent")).plus(Depth.of(1)), "extent + 1"),
        (Depth.value(Name("extent")).times(2), "2 * extent"),
        (Depth.value(Name("extent")).max(Depth.of(2)), "max(2, extent)"),
        (WHOLE, "whole"),
        (WHOLE.minus(1), "whole - 1"),
    ],
)
def test_depths_read_like_arithmetic(depth: Depth, text: str) -> None:
    assert describe_depth(depth) == text


def sum_of(name: str, number: int) -> Binary:
    return Binary(Operator.PLUS, Name(name), Literal(str(number), Intrinsic.INTEGER))


def test_a_depth_is_the_value_of_constants_and_the_spelling_of_anything_else() -> None:
    one = Literal("1_i_def", Intrinsic.INTEGER, "i_def")
    assert Depth.value(one) == Depth.of(1)
    assert Depth.value(Binary(Operator.PLUS, one, one)) == Depth.of(2)
    assert Depth.value(Binary(Operator.MINUS, one, one)) == NOTHING
    assert Depth.value(sum_of("n", 1)) == Depth.value(sum_of("n", 1))
    assert Depth.value(sum_of("n", 1)) != Depth.value(sum_of("n", 2))


def test_a_sum_is_multiplied_as_a_whole() -> None:
    assert describe_depth(Depth.value(sum_of("n", 1)).times(2)) == "2 * (n + 1)"
    assert describe_depth(Depth.value(sum_of("n", 1)).plus(WHOLE.minus(1))) == "whole"
