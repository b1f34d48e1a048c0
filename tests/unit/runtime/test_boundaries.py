"""Boundaries, metrics and coordinates of grids, on the host and on the emulated device."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.runtime.gocean import Field, Grid, Offset, Points
from psyclone_storage.runtime.gocean.boundaries import Boundary, reflections, sides_of
from psyclone_storage.runtime.gocean.decomposition import decompose
from psyclone_storage.runtime.ranks import SingleRank

VALUES = np.arange(1.0, 25.0).reshape(6, 4)


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    gt.use_device("emulated")
    yield
    gt.use_device("auto")


def grid(boundaries: Any = "closed", **keywords: Any) -> Grid:
    given = {"halo": 2, "ranks": SingleRank(), **keywords}
    return Grid((6, 4), boundaries=boundaries, **given)


@pytest.mark.parametrize("device", [None, "gpu"])
def test_scalars_have_the_values_of_the_mirror_image_beyond_a_wall(device: str | None) -> None:
    field = Field(grid(device=device), values=VALUES)
    if device:
        with field.storage.access(device, gt.RDWR):
            pass
    field.exchange(2)
    np.testing.assert_array_equal(
        field.storage.data_ro[:-1, :-1], np.pad(VALUES, 2, mode="symmetric")
    )


@pytest.mark.parametrize("device", [None, "gpu"])
@pytest.mark.parametrize("offset", list(Offset))
def test_the_normal_velocity_is_odd_about_a_wall(offset: Offset, device: str | None) -> None:
    field = Field(grid(offset=offset, device=device), Points.U, values=VALUES)
    field.exchange(2)
    found = field.storage.data_ro
    # Indices of the walls in the arrays of the rank.
    west, east = (1, 7) if offset is Offset.NORTH_EAST else (2, 8)
    assert (found[[west, east]] == 0.0).all()
    np.testing.assert_array_equal(found[west - 1], -found[west + 1])
    if east < 8:
        np.testing.assert_array_equal(found[east + 1], -found[east - 1])
    # The tangential velocity is even.
    np.testing.assert_array_equal(found[3:7, 1], found[3:7, 2])
    np.testing.assert_array_equal(found[3:7, 6], found[3:7, 5])
    assert field.internal.shape == (5, 4)


def test_each_rank_has_the_walls_within_its_halo() -> None:
    parts = decompose((4, 4), 2, 2, (2, 1))
    sides = sides_of(("closed", "periodic"), None)
    walls = [
        [one.target[0].start for one in found if one.factor == 0]
        for rank in (0, 1)
        for found in (reflections(parts, rank, sides, (Points.U, Offset.NORTH_EAST), 2),)
    ]
    assert walls == [[1, 5], [3]]
    assert reflections(parts, 0, sides, (Points.ALL, Offset.NORTH_EAST), 2) == ()


def test_values_without_a_sign_are_copied() -> None:
    field = Field(grid(), Points.U, values=np.ones((6, 4), np.uint8), dtype=np.uint8)
    field.exchange(2)
    assert field.storage.data_ro.max() == 1


def test_filling_and_initial_values_respect_walls() -> None:
    field = Field(grid(), Points.V, values=3.0)
    assert field.storage.data_ro[4, 5] == 0.0
    field.fill(2.0)
    assert field.storage.data_ro[4, 5] == 0.0
    assert field.storage.data_ro[4, 6] == -2.0
    assert field.sum() == 36.0
    before = np.array(field.storage.data_ro)
    field.set_dirty()
    field.exchange(2)
    np.testing.assert_array_equal(before[:-1, :-1], field.storage.data_ro[:-1, :-1])


def test_an_exchange_of_a_closed_domain_changes_points_of_one_rank() -> None:
    field = Field(grid())
    assert field.is_moved(1)
    field.exchange(1)
    assert not field.is_moved(1)
    assert not Field(grid("open")).is_moved(1)


def test_an_exchange_in_two_parts_reflects() -> None:
    field = Field(grid(), values=VALUES)
    field.start_exchange(2)
    field.finish_exchange()
    np.testing.assert_array_equal(
        field.storage.data_ro[:-1, :-1], np.pad(VALUES, 2, mode="symmetric")
    )


def test_prescribed_points_are_those_on_and_beyond_the_boundary() -> None:
    made = grid((("prescribed", "closed"), "periodic"))
    field = Field(made, Points.U, values=VALUES)
    field.exchange(2)
    field.prescribe(lambda x, y: 100.0 * x + y)
    found = field.storage.data_ro
    x, y = made.coordinates(Points.U)
    np.testing.assert_array_equal(found[:2], 100.0 * x[:2, None] + y[None, :])
    # Points outside of the domain have the values of periodic images after an exchange.
    assert field.is_dirty()
    np.testing.assert_array_equal(found[2:7, 2:6], VALUES[:5])
    field.exchange(2)
    np.testing.assert_array_equal(found[:2, 2:6], 100.0 * x[:2, None] + y[None, 2:6])
    field.prescribe(7.0)
    assert (found[:2] == 7.0).all()
    with pytest.raises(TypeError, match="a number or a function"):
        field.prescribe(VALUES)
    with pytest.raises(ValueError, match="has no prescribed boundary"):
        Field(grid()).prescribe(1.0)


def test_prescribed_corners_beyond_a_wall_are_reflected() -> None:
    field = Field(grid(("prescribed", "closed")), Points.V)
    field.exchange(2)
    field.prescribe(1.0)
    found = field.storage.data_ro[:-1, :-1].copy()
    field.exchange(2)
    np.testing.assert_array_equal(found, field.storage.data_ro[:-1, :-1])


def test_the_last_velocity_of_an_open_grid_is_computed_as_before() -> None:
    for made in (grid("open"), grid(None), grid(None, periodic=(False, True))):
        assert Field(made, Points.U).internal.shape == (6, 4)
    assert Field(grid("prescribed"), Points.U).internal.shape == (5, 4)
    assert Field(grid("prescribed"), Points.F).internal.shape == (5, 3)
    assert Field(grid("closed", offset=Offset.SOUTH_WEST), Points.F).internal.shape == (5, 3)


def test_masks_of_the_interior_are_land_beyond_walls() -> None:
    mask = np.ones((6, 4), int)
    made = np.array(grid(("closed", "periodic"), mask=mask).property("mask_t"))
    assert (made[2:8] == 1).all()
    assert (made[:2] == 0).all()
    assert (made[8:] == 0).all()
    wide = np.pad(mask, 2, constant_values=-1)
    assert np.array(grid(mask=wide).property("mask_t"))[0, 0] == -1
    assert np.array(grid().property("mask_t")).sum() == 24


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: grid("wall"), "one of 'open', 'closed', 'periodic', 'prescribed', not 'wall'"),
        (lambda: grid(3), "one name, or a pair of names"),
        (lambda: grid(("closed", ("periodic", "closed"))), "periodic on one side"),
        (lambda: grid("closed", periodic=(True, True)), "not both: omit 'periodic'"),
        (lambda: grid(halo=5), "closed in y and has 4 points there"),
        (lambda: grid(mask=np.ones((4, 6))), "Transpose it: x is the first dimension"),
        (lambda: grid(metrics={"dx_t": np.ones((5, 4))}), r"'dx_t' of shape \(5, 4\) is neither"),
        (lambda: grid(metrics={"dx": 1.0}), "have no 'dx'; names are dx_t"),
        (lambda: grid(metrics=[1.0]), "mapping of names"),
        (lambda: grid(metrics={"dy_v": 0.0}), "values of 'dy_v' must be above zero"),
        (lambda: grid(metrics={"dy_v": "1"}), "number, a function or an array"),
        (lambda: grid(latitude=float("nan")), "'lat_u' must be finite"),
        (lambda: grid(latitude={"t": 1.0}), "have no 't'"),
        (lambda: grid(coordinates=3), "are a function of x and y, or a mapping"),
        (lambda: grid(coordinates={Points.T: (VALUES, VALUES[1:])}), "coordinate of T points of"),
        (
            lambda: grid(coordinates={Points.T: (VALUES, VALUES)}).coordinates(Points.U),
            "have no U points: add Points.U",
        ),
        (
            lambda: grid(metrics={"dx_t": 2.0}).property("dx_const"),
            "requests 'dx_const', but the grid has the metrics dx_t",
        ),
    ],
)
def test_wrong_arguments_are_named(make: Callable[[], object], says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        make()


def test_metrics_are_numbers_functions_or_arrays() -> None:
    made = grid(
        ("periodic", "closed"),
        metrics={"dx_t": lambda x, y: x + 10.0 * y + 100.0, "dy_t": VALUES, "dx_u": 3.0},
        latitude={"u": lambda x, y: y + 0.0 * x, "f": 45.0},
    )
    dx, dy, area = (np.array(made.property(one)) for one in ("dx_t", "dy_t", "area_t"))
    assert dx[2, 2] == 111.0
    np.testing.assert_array_equal(dy[2:8, 2:6], VALUES)
    np.testing.assert_array_equal(dy[0, 2:6], VALUES[4])
    np.testing.assert_array_equal(area, dx * dy)
    assert (np.array(made.property("dx_u")) == 3.0).all()
    assert (np.array(made.property("area_u")) == 3.0).all()
    assert np.array(made.property("lat_u"))[2, 4] == 3.0
    assert (np.array(made.property("lat_f")) == 45.0).all()
    assert (np.array(made.property("lat_v")) == 50.0).all()


def test_curvilinear_coordinates_of_fields() -> None:
    made = grid(coordinates=lambda x, y: (x + 0.5 * y, 2.0 * y + 0.0 * x))
    field = Field(made, values=lambda x, y: x * y, label="h")
    x, y = np.arange(1.0, 7.0)[:, None], np.arange(1.0, 5.0)[None, :]
    np.testing.assert_array_equal(field.values, (x + 0.5 * y) * (2.0 * y))
    pytest.importorskip("xarray")
    shown = field.to_xarray()
    np.testing.assert_array_equal(shown.x_place, x + 0.5 * y)
    assert shown.dims == ("x", "y")
    pair = (np.broadcast_to(x + 0.5 * y, (6, 4)), np.broadcast_to(2.0 * y, (6, 4)))
    same = Field(grid(coordinates={Points.T: pair}), values=lambda x, y: x * y)
    np.testing.assert_array_equal(same.values, field.values)


def test_pickles_of_grids_contain_boundaries_and_metrics() -> None:
    made = pickle.loads(pickle.dumps(grid(("closed", "periodic"), metrics={"dx_t": VALUES})))
    assert made.boundaries == ((Boundary.CLOSED,) * 2, (Boundary.PERIODIC,) * 2)
    np.testing.assert_array_equal(np.array(made.property("dx_t"))[2:8, 2:6], VALUES)


class _LastOfFour(SingleRank):
    """The last of four ranks, without the others."""

    rank = 3
    size = 4


@pytest.mark.parametrize("device", [None, "gpu"])
def test_a_rank_without_internal_points_has_neutral_extremes(device: str | None) -> None:
    made = Grid((4, 4), boundaries="closed", parts=(4, 1), ranks=_LastOfFour(), device=device)
    field = Field(made, Points.U, values=3.0)
    assert field.internal.shape == (0, 4)
    assert field.min() == np.inf
    assert field.max() == -np.inf
    assert field.sum() == field.sum(reproducible=True) == field.dot(field) == 0.0
