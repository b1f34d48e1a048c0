"""Grids and fields of a program that is alone, on the host and on the emulated device."""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.runtime import ranks
from psyclone_storage.runtime.gocean import Field, Grid, Offset, Points, exchange
from psyclone_storage.runtime.ranks import SingleRank

VALUES = np.arange(24.0).reshape(6, 4)


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    gt.use_device("emulated")
    yield
    gt.use_device("auto")


@pytest.fixture(params=[None, "gpu"])
def device(request: pytest.FixtureRequest) -> str | None:
    """Return where fields are made: on the host, or with an emulated device beside it."""
    place: str | None = request.param
    return place


def grid(device: str | None = None, **keywords: object) -> Grid:
    given = {"periodic": (True, True), "halo": 2, **keywords}
    return Grid((6, 4), device=device, ranks=SingleRank(), **given)  # type: ignore[arg-type]


def test_a_periodic_domain_closes_itself(device: str | None) -> None:
    field = Field(grid(device), values=VALUES)
    field.exchange(2)
    wide = np.pad(VALUES, 2, mode="wrap")
    np.testing.assert_array_equal(field.storage.data_ro[:-1, :-1], wide)
    assert not field.is_dirty(2)
    field.set_dirty()
    assert field.is_dirty(1)


def test_an_exchange_moves_no_more_than_its_depth(device: str | None) -> None:
    field = Field(grid(device), values=VALUES)
    field.exchange(1)
    found = np.array(field.storage.data_ro)
    np.testing.assert_array_equal(found[1:-2, 1:-2], np.pad(VALUES, 1, mode="wrap"))
    assert not found[0].any()
    assert field.is_dirty(2)
    assert not field.is_dirty(1)


def test_a_field_on_the_device_is_exchanged_there() -> None:
    field = Field(grid("gpu"), values=VALUES)
    field.storage.synchronize()
    with field.storage.access("gpu", gt.RDWR) as array:
        array[2:-3, 2:-3] += 1.0
    before = field.storage.buffer.stats.nbytes
    exchange([field], 2)
    assert field.storage.buffer.stats.nbytes == before
    assert not field.storage.is_current()
    wide = np.pad(VALUES + 1.0, 2, mode="wrap")
    np.testing.assert_array_equal(field.storage.data_ro[:-1, :-1], wide)


def test_exchanges_in_two_parts(device: str | None) -> None:
    field = Field(grid(device), values=VALUES)
    field.start_exchange(1)
    with pytest.raises(RuntimeError, match="has not been finished"):
        field.exchange()
    field.finish_exchange()
    assert not field.is_dirty()
    with pytest.raises(RuntimeError, match="has no exchange under way"):
        field.finish_exchange()


def test_a_write_under_an_exchange_is_noticed(device: str | None) -> None:
    field = Field(grid(device), label="height", values=VALUES)
    field.start_exchange(1)
    with field.storage.access(device, gt.RDWR) as array:
        array[3, 3] = 0.0
    with pytest.raises(RuntimeError, match="'height' was written while an exchange"):
        field.finish_exchange()
    assert field.is_dirty()
    field.exchange()


@pytest.mark.parametrize("depth", [0, -1, 3])
def test_a_halo_that_is_not_there(depth: int) -> None:
    field = Field(grid(), values=VALUES)
    with pytest.raises(ValueError, match=f"depth {depth} is not possible: the halo is 2 wide"):
        field.exchange(depth)


def test_only_dirty_fields_are_exchanged() -> None:
    first, second = Field(grid(), values=VALUES), Field(grid(), values=VALUES)
    first.set_clean(1)
    exchange([first, second], only_dirty=True)
    assert not first.storage.data_ro[1, 2]
    assert second.storage.data_ro[1, 2] == VALUES[5, 0]


def test_reductions(device: str | None) -> None:
    values = VALUES.copy()
    values[1, 1] = 1e17
    field = Field(grid(device), values=values)
    assert field.sum(reproducible=True) == math.fsum(values.flat)
    assert field.sum() == pytest.approx(values.sum())
    assert (field.min(), field.max()) == (0.0, 1e17)
    gathered = field.gather()
    assert gathered is not None
    np.testing.assert_array_equal(gathered, values)


def test_means_and_dot_products(device: str | None) -> None:
    values = VALUES.copy()
    values[1, 1] = 1e17
    made = grid(device)
    field, other = Field(made, values=values), Field(made, values=0.3)
    assert field.mean(reproducible=True) == math.fsum(values.flat) / 24
    assert field.mean() == pytest.approx(values.mean())
    assert field.dot(other, reproducible=True) == math.fsum((values * 0.3).flat)
    assert field.dot(other) == pytest.approx((values * 0.3).sum())
    assert other.norm(reproducible=True) == math.sqrt(math.fsum([0.3 * 0.3] * 24))


def test_dot_products_of_other_fields_are_errors() -> None:
    field = Field(grid(), label="h")
    with pytest.raises(TypeError, match=r"'h' has a dot product with a field, not with 2\.0"):
        field.dot(2.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not on the same points of one grid"):
        field.dot(Field(grid()))
    with pytest.raises(ValueError, match="not on the same points of one grid"):
        field.dot(Field(field.grid, Points.U))
    field[0, 0] = math.inf
    for what, total in {
        "'h' has a value that is infinite": lambda: field.sum(reproducible=True),
        "the square of a value of the field 'h' is infinite": lambda: field.norm(reproducible=True),
    }.items():
        with pytest.raises(ValueError, match=rf"{what} or not a number, .*there is no exact sum"):
            total()
    assert field.norm() == math.inf
    large, other = Field(field.grid, label="large"), Field(field.grid, label="other")
    large.fill(1e200)
    other.fill(1e200)
    what = "a product of values of the field 'large' and the field 'other' is infinite"
    with pytest.raises(ValueError, match=what):
        large.dot(other, reproducible=True)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", [bool, np.int8, np.int64, np.float16, np.float32])
def test_a_mask_contains_integers(kind: type) -> None:
    mask = np.ones((7, 5), kind)
    mask[2, 3] = 0
    made = np.array(Grid((7, 5), mask=mask, ranks=SingleRank()).property("mask_t"))
    np.testing.assert_array_equal(made[1:8, 1:6], mask)


@pytest.mark.parametrize("value", [0.9, math.nan, math.inf, 3e9])
def test_a_mask_of_other_reals_is_an_error(value: float) -> None:
    mask = np.ones((7, 5))
    mask[2, 3] = value
    with pytest.raises(ValueError, match=rf"has {re.escape(repr(value))} at \(2, 3\)"):
        Grid((7, 5), mask=mask, ranks=SingleRank())
    with pytest.raises(TypeError, match="not values of the type complex128"):
        Grid((7, 5), mask=np.ones((7, 5), complex), ranks=SingleRank())


def test_elements_are_those_of_the_internal_region(device: str | None) -> None:
    field = Field(grid(device), values=VALUES)
    field.exchange(2)
    field[1:3, 0] = 7.0
    field[-1] += 1.0
    wanted = VALUES.copy()
    wanted[1:3, 0] = 7.0
    wanted[-1] += 1.0
    np.testing.assert_array_equal(field.values, wanted)
    np.testing.assert_array_equal(list(field), wanted)
    assert field[2, 0] == 7.0
    assert field.is_dirty()
    field.exchange()
    assert field.storage.data_ro[1, 2] == wanted[-1, 0]
    with pytest.raises(IndexError):
        field[6, 0] = 0.0
    with pytest.raises(ValueError, match="broadcast"):
        field[0] = [1.0, 2.0]
    field[0][0] = 1.0
    assert field[0, 0] == 0.0


def test_values_on_a_device_are_brought_before_elements_are_assigned() -> None:
    field = Field(grid("gpu"), values=VALUES)
    with field.storage.access("gpu", gt.RDWR) as array:
        array[...] = 3.0
    field[0, 0] = 1.0
    assert (field[0, 0], field[1, 1]) == (1.0, 3.0)
    assert field.sum() == 1.0 + 23 * 3.0


def test_a_filled_field_has_a_clean_halo(device: str | None) -> None:
    field = Field(grid(device), values=VALUES)
    field.fill(2)
    assert not field.is_dirty(2)
    assert np.all(field.storage.data_ro == 2.0)
    with pytest.raises(TypeError, match="is filled with a number"):
        field.fill([1.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="has values of int64"):
        Field(grid(), dtype=np.int64).fill(0.5)


@pytest.mark.parametrize(
    ("points", "offset", "periodic", "columns", "rows"),
    [
        (Points.T, Offset.SOUTH_WEST, False, 6, 4),
        (Points.U, Offset.SOUTH_WEST, False, 5, 4),
        (Points.V, Offset.SOUTH_WEST, False, 6, 3),
        (Points.F, Offset.SOUTH_WEST, False, 5, 3),
        (Points.F, Offset.SOUTH_WEST, True, 6, 4),
        (Points.F, Offset.NORTH_EAST, False, 6, 4),
    ],
)
def test_internal_points_depend_on_the_offset(
    points: Points, offset: Offset, periodic: bool, columns: int, rows: int
) -> None:
    made = Field(grid(offset=offset, periodic=(periodic, periodic)), points)
    assert made.internal.shape == (columns, rows)
    assert made.whole.shape == (columns + 2, rows + 2)


def test_coordinates_are_between_those_of_t_points() -> None:
    made = grid(spacing=(10.0, 2.0))
    assert list(made.coordinates(Points.T)[0][2:5]) == [10.0, 20.0, 30.0]
    assert list(made.coordinates(Points.U)[0][2:5]) == [15.0, 25.0, 35.0]
    assert list(made.coordinates(Points.V)[1][2:4]) == [3.0, 5.0]
    west = grid(spacing=(10.0, 2.0), offset=Offset.SOUTH_WEST)
    assert west.coordinates(Points.F)[0][2] == 5.0


def test_values_are_a_number_or_a_function_of_places(device: str | None) -> None:
    made = grid(device, spacing=(10.0, 2.0))
    assert (np.array(Field(made, values=2.5).storage.data_ro) == 2.5).all()
    found = Field(made, Points.U, values=lambda x, y: x + 100.0 * y)
    x, y = (10.0 * np.arange(1, 7) + 5.0, 2.0 * np.arange(1, 5))
    np.testing.assert_array_equal(found.gather(), x[:, None] + 100.0 * y)
    assert found.storage.data_ro[0, 0] == 0.0
    assert (Field(made, values=lambda _, y: y).values == y).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Grid((6.0, 4)), "points of a grid is an integer, not 6.0"),
        (lambda: Grid(6), "points of a grid are two integers.* not 6"),
        (lambda: grid(spacing=1.0), "spacing of a grid are two numbers"),
        (lambda: grid(spacing=("a", 1.0)), "spacing of a grid is a number, not 'a'"),
        (lambda: grid(periodic=True), "two times True or False"),
        (lambda: grid(periodic="no"), "two times True or False"),
        (lambda: grid(periodic=(1, 0)), "is True or False, not 1"),
        (lambda: grid(halo=2.5), "halo of a grid is an integer"),
        (lambda: grid(parts=2), "parts of a grid are two integers"),
        (lambda: grid(offset="NE"), "one of Offset.SOUTH_WEST, Offset.NORTH_EAST, not 'NE'"),
        (lambda: Field(VALUES), "A field is on a grid"),
        (lambda: Field(grid(), "T"), "one of Points.U, .*, not 'T'"),
        (lambda: Field(grid(), values=1j * VALUES), "float64, and is given some of complex128"),
        (lambda: Field(grid(), values=0.5, dtype=np.int32), "int32, and is given some of float64"),
    ],
)
def test_what_is_something_else_is_refused_in_words(make: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        make()


@pytest.mark.parametrize("spacing", [(0.0, 1.0), (1.0, -1.0), (np.nan, 1.0), (1.0, np.inf)])
def test_distances_are_above_zero(spacing: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="spacing of a grid is above zero"):
        grid(spacing=spacing)


def test_what_a_notebook_shows() -> None:
    assert (
        repr(Field(grid(), Points.U, "u")) == "<Field 'u' on U points of <Grid of (6, 4) points>>"
    )


def test_fields_go_to_xarray_with_their_storage() -> None:
    pytest.importorskip("xarray")
    field = Field(grid(spacing=(10.0, 2.0)), label="height", values=VALUES)
    array = field.to_xarray()
    assert array.dims == ("x", "y")
    assert array.name == "height"
    assert isinstance(array.data, gt.Storage)
    assert float(array.sel(x=20.0, y=4.0)) == VALUES[1, 1]
    field.storage[2, 2] = 7.0
    assert float(array[0, 0]) == 7.0
    plain = array.as_numpy()
    assert float(plain.mean()) == float((array.values + 0.0).mean())
    assert array.to_pandas().loc[20.0, 4.0] == VALUES[1, 1]


@pytest.mark.parametrize("wanted", ["matplotlib", "scipy"])
def test_fields_go_to_pictures_and_files(wanted: str, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip(wanted)
    array = Field(grid(spacing=(10.0, 2.0)), label="height", values=VALUES).to_xarray()
    if wanted == "matplotlib":
        import_module("matplotlib").use("Agg")
        drawn = array.plot(x="x")
        np.testing.assert_array_equal(drawn.get_array(), VALUES.T)
        drawn.figure.savefig(tmp_path / "height.png")
        assert (tmp_path / "height.png").stat().st_size
        return
    array.to_netcdf(tmp_path / "height.nc")
    with xarray.open_dataarray(tmp_path / "height.nc") as found:
        xarray.testing.assert_identical(found.load(), array.as_numpy())


def test_pickles_hold_halos_and_share_their_grid(device: str | None) -> None:
    made = grid(device)
    fields = [Field(made, label="a", values=VALUES), Field(made, Points.U, values=-VALUES)]
    fields[0].exchange(2)
    first, second = pickle.loads(pickle.dumps(fields))
    assert first.grid is second.grid
    assert (first.label, second.points) == ("a", Points.U)
    np.testing.assert_array_equal(first.storage.data_ro, fields[0].storage.data_ro)
    assert not first.is_dirty(2)
    assert second.is_dirty(1)


def test_a_pickle_of_another_part_is_refused() -> None:
    """It has as many points in x and in y, so that nothing else would show."""
    state = Field(grid(), values=VALUES).__getstate__()
    state["domain"] = state["domain"].moved((6, 0))
    with pytest.raises(ValueError, match=r"from \(6, 0\) .* has those from \(0, 0\)"):
        Field.__new__(Field).__setstate__(state)


def test_masks_cover_the_domain_or_the_halo_too() -> None:
    mask = np.ones((6, 4), int)
    mask[0] = 0
    made = np.array(grid(mask=mask, periodic=(False, False)).property("mask_t"))
    assert (made[:3] == 0).all()
    assert (made[3:] == 1).all()
    closed = np.array(grid(mask=mask).property("mask_t"))
    assert (closed[8] == 0).all()
    wide = np.pad(mask, 2, constant_values=-1)
    assert np.array(grid(mask=wide).property("mask_t"))[0, 0] == -1
    with pytest.raises(ValueError, match=r"shape \(3, 4\) is neither"):
        grid(mask=np.ones((3, 4)))


def test_properties_of_a_grid() -> None:
    made = grid(spacing=(10.0, 2.0))
    assert made.property("dx_const") == 10.0
    area = made.property("area_u")
    assert isinstance(area, gt.Storage)
    assert (np.array(area) == 20.0).all()
    assert made.property("area_u") is area
    for unknown in ("area_f", "dx", "lat_t", "depth"):
        with pytest.raises(KeyError, match=unknown):
            made.property(unknown)


def test_an_exchange_after_unpickling_or_copying_concerns_the_field_itself() -> None:
    made = grid()
    field = Field(made, values=VALUES)
    field.exchange(1)
    other = copy.deepcopy(field)
    assert other.grid is made
    with other.storage.access(None, gt.RDWR) as array:
        array[2:-3, 2:-3] += 1.0
    other.exchange(1)
    assert other.storage.data_ro[1, 2] == VALUES[5, 0] + 1.0
    assert field.storage.data_ro[1, 2] == VALUES[5, 0]
    with pytest.raises(AttributeError):
        field.storage = other.storage  # type: ignore[misc]


def test_sums_of_whole_numbers_are_exact() -> None:
    large = np.zeros((6, 4), np.int64)
    large[0, :3] = (2**53 + 1, 1, -(2**53))
    assert Field(grid(), values=large, dtype=np.int64).sum(reproducible=True) == 2.0


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**40])
def test_integers_that_a_field_cannot_have_are_errors(value: int) -> None:
    field = Field(grid(), values=7, dtype=np.int32)
    assigned = (
        lambda: field.fill(value),
        lambda: field.__setitem__(0, value),
        lambda: Field(grid(), values=value, dtype=np.int32),
    )
    for assign in assigned:
        with pytest.raises(ValueError, match=f"{value} is outside the range of int32"):
            assign()
    assert field.min() == field.max() == 7
    field[0, 0] = 2**31 - 1
    assert field.max() == 2**31 - 1


def test_what_cannot_be_made_is_refused() -> None:
    with pytest.raises(ValueError, match="periodic in y and has 4 points there"):
        grid(halo=5)
    with pytest.raises(ValueError, match=r"shape \(4, 6\) are not over the \(6, 4\) points"):
        Field(grid(), values=VALUES.T)


def test_a_program_that_is_alone_has_nobody_to_talk_to(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.zeros((2, 2))
    with pytest.raises(ValueError, match="nobody to exchange"):
        SingleRank().prepare([(1, [array], ())], [])
    monkeypatch.setattr(ranks, "is_launched", lambda: False)
    monkeypatch.delitem(ranks.sys.modules, "mpi4py.MPI", raising=False)
    assert isinstance(ranks.world(), SingleRank)


def test_ranks_without_mpi4py_are_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.delitem(ranks.sys.modules, "mpi4py.MPI", raising=False)
    monkeypatch.setitem(ranks.sys.modules, "mpi4py", None)
    monkeypatch.setattr(ranks, "_mpi_world", ranks._mpi_world.__wrapped__)
    with pytest.raises(ImportError, match=r"pip install 'psyclone-storage\[mpi\]'"):
        ranks.world()


@pytest.mark.parametrize("device", ["cuda", "emulated", 0, True])
def test_a_grid_knows_its_devices_before_any_field(device: object) -> None:
    with pytest.raises(
        ValueError, match=f'The device must be "gpu", or None, "host" or "cpu", not {device!r}'
    ):
        Grid((4, 4), device=device)  # type: ignore[arg-type]
    assert Grid((4, 4), device="cpu").device is None


def test_a_grid_stays_what_it_is() -> None:
    """Invokes keep what they have found of it, as its distances."""
    grid = Grid((4, 4), spacing=(2.0, 3.0))
    for name in ("spacing", "points", "periodic", "offset", "halo", "device"):
        with pytest.raises(AttributeError, match=f"The {name} of a grid cannot be changed"):
            setattr(grid, name, getattr(grid, name))
    again = pickle.loads(pickle.dumps(grid))
    assert again.spacing == (2.0, 3.0)
