"""Select a part of the product of parameters: each two values of different parameters meet.

`pytest --matrix` runs the product, and all random examples.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

Item = TypeVar("Item")
Case = TypeVar("Case", bound=tuple[Hashable, ...])


IS_COMPLETE = False
"""Whether all random examples are tried, which `pytest --matrix` sets before it imports tests."""


def some_of(count: int) -> int:
    """Return how many of `count` random examples are tried: a quarter, all with `--matrix`."""
    return count if IS_COMPLETE else -(-count // 4)


def part_of(items: Sequence[Item], at: int, parts: int) -> Sequence[Item]:
    """Return each `parts`-th item from position `at` on; all items with `--matrix`."""
    return items if IS_COMPLETE else items[at::parts]


def each_two_meet(cases: Sequence[Case]) -> list[Case]:
    """Return some of `cases` with all pairs of values in different positions that `cases` have.

    Greedy: the next case has the most pairs that are not covered yet, the first one of equals.
    """
    left = {pair for case in cases for pair in _pairs(case)}
    chosen: list[Case] = []
    while left:
        best = max(cases, key=lambda case: len(left & _pairs(case)))
        chosen.append(best)
        left -= _pairs(best)
    return sorted(chosen, key=cases.index)


def pairwise(cases: Sequence[Case]) -> list[ParameterSet]:
    """Return a parameter for each of `cases`; only `--matrix` runs those not selected."""
    chosen = set(each_two_meet(cases))
    return [
        pytest.param(
            case,
            marks=() if case in chosen else pytest.mark.matrix,
            id="-".join(map(str, case)),
        )
        for case in cases
    ]


def selected(values: Sequence[Hashable], *chosen: Hashable) -> list[ParameterSet]:
    """Return a parameter for each of `values`; only `--matrix` runs those not `chosen`."""
    assert set(chosen) <= set(values)
    return [
        pytest.param(value, marks=() if value in chosen else pytest.mark.matrix) for value in values
    ]


def _pairs(case: tuple[Hashable, ...]) -> set[tuple[tuple[int, Hashable], ...]]:
    """Return all pairs of values of a case, with their positions."""
    return set(combinations(enumerate(case), 2))
