"""What exchanges cost: values on a column by space, levels by depth."""

from __future__ import annotations

import pytest

from psyclone_storage.infrastructures.lfric import SPACES


@pytest.mark.parametrize("name", [name for name, space in SPACES.items() if space.dofs])
def test_values_on_a_column_follow_from_those_of_a_cell(name: str) -> None:
    space = SPACES[name]
    assert space.dofs is not None
    assert space.column is not None
    per_layer, fixed = space.column
    # One cell more in a column, and one level more: what a cell has is both, before it shares.
    assert 0 < per_layer + fixed <= space.dofs(0, 0)
    if name in ("w3", "w2broken"):
        assert (per_layer, fixed) == (space.dofs(0, 0), 0)
    if name in ("wtheta", "w2v"):
        assert per_layer + fixed == space.dofs(0, 0)
