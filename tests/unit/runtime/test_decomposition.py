"""The division of a domain among ranks, and what halo exchanges move, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psyclone_storage.runtime.gocean.decomposition import Decomposition, decompose
from psyclone_storage.runtime.gocean.halo_plan import ExchangePattern, plan_exchange
from psyclone_storage.runtime.gocean.region import Region

NEVER = -1.0


@pytest.mark.parametrize(
    ("points", "ranks", "parts"),
    [
        ((10, 10), 1, (1, 1)),
        ((10, 10), 2, (1, 2)),  # of equally short cuts, that across y
        ((20, 10), 2, (2, 1)),
        ((10, 10), 6, (2, 3)),
        ((1, 7), 7, (1, 7)),
        ((100, 3), 5, (5, 1)),
    ],
)
def test_cuts_are_short(points: tuple[int, int], ranks: int, parts: tuple[int, int]) -> None:
    assert decompose(points, ranks, 1).parts == parts


def test_the_first_parts_have_the_points_that_are_left_over() -> None:
    made = decompose((11, 5), 4, 2, (4, 1))
    assert [part.domain.shape for part in made.subdomains] == [(3, 5), (3, 5), (3, 5), (2, 5)]
    last = made.subdomains[-1]
    assert last.domain == Region((9, 0), (11, 5))
    assert last.internal == Region((2, 2), (4, 7))
    assert last.shape == (7, 10)


@pytest.mark.parametrize(
    ("points", "ranks", "halo", "parts", "says"),
    [
        ((0, 4), 1, 1, None, "at least one point"),
        ((4, 4), 1, 0, None, "at least one point wide"),
        ((3, 3), 11, 1, None, "cannot be divided among 11 ranks"),
        ((4, 4), 4, 1, (3, 1), "not one for each of 4 ranks"),
        ((4, 4), 4, 1, (-2, -2), "not one for each of 4 ranks"),
        ((2, 9), 4, 1, (4, 1), "too few for (4, 1) parts"),
    ],
)
def test_what_cannot_be_divided_is_refused(
    points: tuple[int, int], ranks: int, halo: int, parts: tuple[int, int] | None, says: str
) -> None:
    with pytest.raises(ValueError, match=says.replace("(", r"\(").replace(")", r"\)")):
        decompose(points, ranks, halo, parts)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Decomposition, tuple[bool, bool], int]:
    """Return a decomposition, whether its domain is periodic, and a depth of halo."""
    points = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    parts = (draw(st.integers(1, min(4, points[0]))), draw(st.integers(1, min(4, points[1]))))
    periodic = draw(st.tuples(st.booleans(), st.booleans()))
    widest = min([3, *(extent for extent, closed in zip(points, periodic, strict=True) if closed)])
    halo = draw(st.integers(1, widest))
    made = decompose(points, parts[0] * parts[1], halo, parts)
    return made, periodic, draw(st.integers(1, halo))


@settings(deadline=None)
@given(layouts())
def test_an_exchange_brings_what_owners_hold_and_nothing_else(
    layout: tuple[Decomposition, tuple[bool, bool], int],
) -> None:
    """All ranks at once, in one process; tiles may be smaller than the halo."""
    made, periodic, depth = layout
    plans = [plan_exchange(made, periodic, rank, depth) for rank in range(len(made.subdomains))]
    before = [owned_values(made, periodic, rank) for rank in range(len(plans))]
    after = [array.copy() for array in before]
    for rank, plan in enumerate(plans):
        for source, target in plan.copied:
            after[rank][target.box] = before[rank][source.box]
        for message in plan.received:
            (sent,) = (one for one in plans[message.rank].sent if one.rank == rank)
            assert [one.shape for one in sent.regions] == [one.shape for one in message.regions]
            for source, target in zip(sent.regions, message.regions, strict=True):
                after[rank][target.box] = before[message.rank][source.box]
        assert [one.rank for one in plan.sent] == [one.rank for one in plan.received]
    for rank, array in enumerate(after):
        np.testing.assert_array_equal(array, expected_values(made, periodic, rank, depth))


def owned_values(
    made: Decomposition, periodic: tuple[bool, bool], rank: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the array of a rank with the number of each point that it owns."""
    return values_of(made, periodic, rank, 0)


def expected_values(
    made: Decomposition, periodic: tuple[bool, bool], rank: int, depth: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the array of a rank with the number of each point that it owns or needs."""
    return values_of(made, periodic, rank, depth)


def values_of(
    made: Decomposition, periodic: tuple[bool, bool], rank: int, depth: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Number each point of the array within `depth` of what the rank owns, point by point.

    A point beyond a boundary has a number of its own and belongs to the nearest rank.
    """
    subdomain = made.subdomains[rank]
    array = np.full(subdomain.shape, NEVER)
    near = [near_along(made, rank, axis, depth, closed) for axis, closed in enumerate(periodic)]
    for i in range(subdomain.shape[0] - 1):
        for j in range(subdomain.shape[1] - 1):
            place = [
                first + at - subdomain.halo
                for first, at in zip(subdomain.domain.start, (i, j), strict=True)
            ]
            if all(start <= at < stop for at, (start, stop) in zip(place, near, strict=True)):
                wrapped = [
                    at % extent if closed else at
                    for at, extent, closed in zip(place, made.points, periodic, strict=True)
                ]
                array[i, j] = 100.0 * (wrapped[0] + 10) + wrapped[1] + 10
    return array


def near_along(
    made: Decomposition, rank: int, axis: int, depth: int, closed: bool
) -> tuple[int, int]:
    """Return which places along one axis are within `depth` of what the rank owns there."""
    own, halo, points = made.subdomains[rank].domain, made.subdomains[rank].halo, made.points[axis]
    start, stop = own.start[axis], own.stop[axis]
    if closed:
        return start - depth, stop + depth
    start -= halo if start == 0 else depth
    stop += halo if stop == points else depth
    return max(start, -halo), min(stop, points + halo)


def test_no_message_is_empty() -> None:
    plan: ExchangePattern = plan_exchange(decompose((4, 4), 4, 1), (False, False), 0, 1)
    assert [message.rank for message in plan.sent] == [1, 2, 3]
    assert all(message.points for message in (*plan.sent, *plan.received))
    assert plan.copied == ()
