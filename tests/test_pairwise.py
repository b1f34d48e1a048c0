"""The part of a product of parameters that any run of the tests tries."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable
from itertools import combinations, product
from typing import TYPE_CHECKING

import pytest

from pairwise import each_two_meet, pairwise, selected

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

Case = tuple[Hashable, ...]


def met(cases: Iterable[Case]) -> set[tuple[int, Hashable, int, Hashable]]:
    """Return the values of different parameters that meet in `cases`."""
    return {
        (i, case[i], j, case[j]) for case in cases for i, j in combinations(range(len(case)), 2)
    }


def in_any_run(parameters: Iterable[ParameterSet]) -> list[object]:
    """Return the values that no mark leaves to `--matrix`."""
    return [value for (value,), marks, _ in parameters if not marks]


def test_each_two_values_of_a_product_meet_in_a_small_part() -> None:
    cases = [*product("abc", range(3), (True, False), range(4))]
    chosen = each_two_meet(cases)
    assert met(chosen) == met(cases)
    assert len(chosen) <= 16
    assert [case for case in cases if case in chosen] == chosen


@pytest.mark.parametrize("seed", range(20))
def test_cases_that_cannot_be_are_not_needed(seed: int) -> None:
    rng = random.Random(seed)
    cases = rng.sample([*product("abc", range(3), (True, False))], 10)
    chosen = each_two_meet(cases)
    assert {*chosen} <= {*cases}
    assert met(chosen) == met(cases)


def test_a_product_of_two_parameters_is_complete() -> None:
    cases = [*product("ab", range(3))]
    assert each_two_meet(cases) == cases


def test_the_others_are_left_to_the_matrix() -> None:
    cases = [*product("ab", range(2), range(2))]
    parameters = pairwise(cases)
    assert in_any_run(parameters) == each_two_meet(cases)
    assert [values for values, *_ in parameters] == [(case,) for case in cases]
    assert {mark.name for _, marks, _ in parameters for mark in marks} == {"matrix"}


def test_selected_values_are_in_any_run() -> None:
    parameters = selected((1, 2, 4), 1, 4)
    assert in_any_run(parameters) == [1, 4]
    assert [values for values, *_ in parameters] == [(1,), (2,), (4,)]
    with pytest.raises(AssertionError):
        selected((1, 2, 4), 3)
