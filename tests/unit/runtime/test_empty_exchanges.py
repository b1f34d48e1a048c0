"""An exchange that moves no point leaves the values as they are, and is cheap in an invoke."""

from __future__ import annotations

import pytest

from psyclone_storage.runtime.gocean import Field, Grid, exchange


@pytest.mark.parametrize("several", [False, True])
def test_an_exchange_that_moves_nothing_changes_nothing(several: bool) -> None:
    grid = Grid((6, 4), halo=2)
    fields = [Field(grid, values=1.0), Field(grid, values=2.0)][: 1 + several]
    versions = [one.storage.buffer.version for one in fields]
    exchange(fields, 2)
    assert [one.storage.buffer.version for one in fields] == versions
    assert not any(one.is_dirty(2) for one in fields)


@pytest.mark.parametrize("periodic", [(True, False), (False, True), (True, True)])
def test_an_exchange_with_own_points_changes_the_values(periodic: tuple[bool, bool]) -> None:
    grid = Grid((6, 4), periodic=periodic)
    field = Field(grid, values=lambda x, y: x + 10 * y)
    version = field.storage.buffer.version
    field.exchange()
    assert field.storage.buffer.version > version
    own = field.internal.box
    around = field.storage.data_ro
    if periodic[0]:
        assert around[own[0].start - 1, own[1].start] == field.values[-1, 0]


@pytest.mark.parametrize(("depth", "fix"), [(0, "at least 1"), (3, "halo=3")])
def test_a_depth_that_the_halo_does_not_have_is_refused(depth: int, fix: str) -> None:
    with pytest.raises(ValueError, match=rf"halo is 2 wide.*{fix}"):
        exchange([Field(Grid((6, 4), halo=2))], depth)


def test_an_exchange_under_way_is_refused() -> None:
    field = Field(Grid((6, 4)))
    field.start_exchange()
    with pytest.raises(RuntimeError, match="has not been finished"):
        field.exchange()
    field.finish_exchange()
