"""Fields whose values a failed kernel has lost: writes of all points give them values again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from psyclone_storage.gocean import (
    GO_ALL_PTS,
    GO_CT,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid, Offset, Points
from psyclone_storage.runtime.gocean.checkpoint import (
    CheckpointError,
    read_checkpoint,
    write_checkpoint,
)
from psyclone_storage.storage import RDWR
from psyclone_storage.storage.core.errors import PoisonedDataError

TABLE = (1.0, 2.0, 3.0)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def pick(new: field[GO_READWRITE, GO_CT], at: scalar[GO_READ, GO_I_SCALAR]):
    new[0, 0] = new[0, 0] + TABLE[at]


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def set_all(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = 3.0


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def copy_all(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]


@pytest.fixture(params=["c", "numpy"])
def _target(request: pytest.FixtureRequest) -> Iterator[None]:
    configure(target=request.param)
    yield
    configure()


def lost(boundaries: str = "periodic", halo: int = 1) -> Field:
    """Return a field whose values a kernel has lost."""
    found = Field(Grid((4, 3), boundaries=boundaries, halo=halo), values=7.0)
    with pytest.raises(IndexError, match="'TABLE'"):
        invoke(pick(found, 5))
    with pytest.raises(PoisonedDataError):
        found.sum()
    return found


@pytest.mark.usefixtures("_target")
@pytest.mark.parametrize("boundaries", ["periodic", "closed", "open", "prescribed"])
def test_fill_sets_all_points(boundaries: str) -> None:
    found = lost(boundaries)
    found.fill(3.0)
    np.testing.assert_array_equal(found.storage.data_ro, 3.0)


@pytest.mark.usefixtures("_target")
@pytest.mark.parametrize("boundaries", ["periodic", "closed"])
@pytest.mark.parametrize("index", [..., slice(None), (slice(None), slice(None))])
def test_an_assignment_to_all_points_sets_the_domain(boundaries: str, index: object) -> None:
    found = lost(boundaries)
    with pytest.raises(PoisonedDataError):
        found[1:] = 3.0
    found[index] = 3.0
    assert found.is_dirty()
    found.exchange(1)
    np.testing.assert_array_equal(found.values, 3.0)
    assert not np.any(found.storage.data_ro == 7.0)


@pytest.mark.usefixtures("_target")
@pytest.mark.parametrize("boundaries", ["open", "prescribed"])
def test_an_assignment_does_not_set_points_around_the_domain(boundaries: str) -> None:
    found = lost(boundaries)
    with pytest.raises(PoisonedDataError) as caught:
        found[...] = 3.0
    assert "call fill() first" in caught.value.__notes__[-1]
    with pytest.raises(PoisonedDataError):
        found.sum()
    found.fill(0.0)
    found[...] = 3.0
    assert found.sum() == 36.0


@pytest.mark.usefixtures("_target")
@pytest.mark.parametrize("boundaries", ["periodic", "closed", "prescribed"])
def test_a_checkpoint_sets_all_points(boundaries: str, tmp_path: Path) -> None:
    found = lost(boundaries)
    saved = Field(found.grid, values=3.0)
    saved.storage[...] = np.random.default_rng(1).random(saved.storage.shape)
    write_checkpoint(tmp_path, {"h": saved})
    read_checkpoint(tmp_path, {"h": found})
    saved.exchange(1)
    np.testing.assert_array_equal(found.storage.data_ro[:-1, :-1], saved.storage.data_ro[:-1, :-1])


@pytest.mark.usefixtures("_target")
def test_a_kernel_over_all_points_sets_them() -> None:
    found = lost()
    invoke(set_all(found))
    assert found.sum() == 36.0
    other = lost()
    old = Field(other.grid, values=1.0)
    with pytest.raises(IndexError):
        invoke(pick(old, 5))
    with pytest.raises(PoisonedDataError):
        invoke(copy_all(other, old))
    with pytest.raises(PoisonedDataError):
        other.sum()
    old.fill(2.0)
    invoke(copy_all(other, old))
    assert other.sum() == 24.0


@pytest.mark.usefixtures("_target")
def test_a_kernel_does_not_set_a_halo_of_two_points() -> None:
    found = lost(halo=2)
    with pytest.raises(PoisonedDataError) as caught:
        invoke(set_all(found))
    assert "call fill() first" in caught.value.__notes__[0]
    found.fill(0.0)
    invoke(set_all(found))
    assert found.sum() == 36.0


def _lose(field: Field) -> None:
    with pytest.raises(ValueError, match="lost"), field.storage.access(None, RDWR):
        raise ValueError("lost")


@pytest.mark.parametrize("halo", [1, 2])
@pytest.mark.parametrize("offset", Offset)
@pytest.mark.parametrize("boundaries", ["closed", "periodic", ("closed", "periodic")])
@pytest.mark.parametrize("points", Points)
def test_an_assignment_sets_all_points_or_none(
    points: Points, boundaries: str | tuple[str, str], offset: Offset, halo: int
) -> None:
    grid = Grid((4, 4), boundaries=boundaries, offset=offset, halo=halo)
    wanted, found = Field(grid, points), Field(grid, points)
    wanted.fill(5.0)
    values = np.arange(float(wanted.values.size)).reshape(wanted.values.shape) + 1.0
    wanted[...] = values
    wanted.exchange(halo)
    _lose(found)
    if boundaries != "periodic" and points in {Points.F, Points.ALL}:
        assert np.any(wanted.storage.data_ro[:-1, :-1] == 5.0)
        with pytest.raises(PoisonedDataError) as caught:
            found[...] = values
        assert "call fill() first" in caught.value.__notes__[-1]
        return
    found[...] = values
    found.exchange(halo)
    own = (slice(-1), slice(-1))
    np.testing.assert_array_equal(found.storage.data_ro[own], wanted.storage.data_ro[own])


def test_a_refused_assignment_sets_nothing() -> None:
    found = Field(Grid((4, 4), periodic=(True, True)), dtype=np.int32)
    _lose(found)
    with pytest.raises(ValueError, match="broadcast"):
        found[...] = np.zeros((3, 4))
    with pytest.raises(ValueError, match="range"):
        found[...] = 2**40
    with pytest.raises(IndexError):
        found[:, :, :] = 1
    with pytest.raises(PoisonedDataError):
        found.sum()


@pytest.mark.parametrize("boundaries", ["open", "prescribed", "closed"])
def test_a_checkpoint_with_a_narrower_halo_sets_no_lost_values_around(
    boundaries: str, tmp_path: Path
) -> None:
    saved = Field(Grid((4, 3), boundaries=boundaries, halo=1), values=3.0)
    write_checkpoint(tmp_path, {"h": saved})
    found = Field(Grid((4, 3), boundaries=boundaries, halo=2))
    _lose(found)
    if boundaries != "closed":
        with pytest.raises(CheckpointError, match=r"halo is 1 wide, .* 2: call fill\(\) first"):
            read_checkpoint(tmp_path, {"h": found})
        with pytest.raises(PoisonedDataError):
            found.sum()
        found.fill(0.0)
    read_checkpoint(tmp_path, {"h": found})
    assert found.sum() == 36.0
    assert found.storage.data_ro[0, 2] == (3.0 if boundaries == "closed" else 0.0)
