"""Function spaces: names, continuity, lengths of basis vectors."""

from __future__ import annotations

import pytest

from psyclone_storage.infrastructures.lfric import (
    ANY_W2_MEMBERS,
    DEFAULT_LIMITS,
    SPACES,
    Continuity,
    Limits,
    basis_dimension,
    continuity_of,
    diff_basis_dimension,
    is_continuous,
    is_space,
    is_wildcard,
    space_names,
)

CONTINUOUS = "w0 w1 w2 w2h w2trace w2htrace".split()
DISCONTINUOUS = "w3 wtheta w2v w2vtrace w2broken any_discontinuous_space_3".split()
EITHER = "wchi any_w2 any_space_1".split()


def test_continuity() -> None:
    assert {continuity_of(space) for space in CONTINUOUS} == {Continuity.CONTINUOUS}
    assert {continuity_of(space) for space in DISCONTINUOUS} == {Continuity.DISCONTINUOUS}
    assert {continuity_of(space) for space in EITHER} == {Continuity.ANY}


def test_what_is_not_known_counts_as_shared() -> None:
    assert all(is_continuous(space) for space in CONTINUOUS + EITHER)
    assert not any(is_continuous(space) for space in DISCONTINUOUS)


def test_wildcards_are_limited() -> None:
    limits = Limits(any_space=2, any_discontinuous_space=3)
    assert is_space("any_space_2", limits)
    assert not is_space("any_space_3", limits)
    assert is_space("any_discontinuous_space_3", limits)
    assert not is_space("any_discontinuous_space_4", limits)


@pytest.mark.parametrize(
    "name",
    ["w4", "any_space_0", "any_space_01", "any_space_", "any_space_1x", "any_space", "_1", ""],
)
def test_other_names_are_no_spaces(name: str) -> None:
    assert not is_space(name, DEFAULT_LIMITS)


def test_every_listed_name_is_a_space() -> None:
    names = space_names(DEFAULT_LIMITS)
    assert len(names) == len(set(names)) == len(SPACES) + 20
    assert all(is_space(name, DEFAULT_LIMITS) for name in names)
    assert sum(map(is_wildcard, names)) == 20


@pytest.mark.parametrize(
    ("spaces", "basis", "diff_basis"),
    [
        ("w0 w2trace w2htrace w2vtrace w3 wtheta wchi", 1, 3),
        ("w1", 3, 3),
        ("w2 w2h w2v w2broken any_w2", 3, 1),
        ("any_space_1 any_discontinuous_space_1", None, None),
    ],
)
def test_lengths_of_basis_vectors(spaces: str, basis: int | None, diff_basis: int | None) -> None:
    for space in spaces.split():
        assert basis_dimension(space) == basis
        assert diff_basis_dimension(space) == diff_basis


def test_any_w2_stands_for_spaces_with_the_same_basis() -> None:
    lengths = {(SPACES[space].basis, SPACES[space].diff_basis) for space in ANY_W2_MEMBERS}
    assert lengths == {(SPACES["any_w2"].basis, SPACES["any_w2"].diff_basis)}
