"""Data sets, NetCDF files and Zarr stores of fields on grids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psyclone_storage.runtime.gocean import Field, Grid, Points
from psyclone_storage.runtime.gocean.output import ZarrOutput, gather_dataset, write_netcdf
from psyclone_storage.runtime.ranks import SingleRank

VALUES = np.arange(24.0).reshape(6, 4)


def fields(**keywords: Any) -> dict[str, Field]:
    grid = Grid((6, 4), (10.0, 5.0), ranks=SingleRank(), **keywords)
    return {
        "h": Field(grid, values=VALUES, label="height"),
        "u": Field(grid, Points.U, values=2.0 * VALUES),
        "t": Field(grid, values=lambda x, y, k: x + 100.0 * y + 0.5 * k, layers=3),
        "n": Field(grid, values=VALUES.astype(np.int32), dtype=np.int32),
    }


def test_data_sets_have_cf_metadata() -> None:
    pytest.importorskip("xarray")
    about = {"h": {"units": "m", "standard_name": "sea_surface_height"}, "x_t": {"units": "m"}}
    found = gather_dataset(fields(), about)
    assert found.attrs == {"Conventions": "CF-1.11"}
    assert found.h.dims == ("y_t", "x_t")
    assert found.h.attrs == {"long_name": "height", **about["h"]}
    assert found.x_t.attrs == {"long_name": "x coordinate", "axis": "X", "units": "m"}
    np.testing.assert_array_equal(found.h, VALUES.T)
    np.testing.assert_array_equal(found.x_t, np.arange(10.0, 70.0, 10.0))
    np.testing.assert_array_equal(found.x_u, np.arange(15.0, 75.0, 10.0))
    assert found.n.dtype == np.int32
    assert found.t.dims == ("layer_3", "y_t", "x_t")
    assert found.t[2, 1, 4] == 50.0 + 100.0 * 10.0 + 1.0


def test_curvilinear_coordinates_are_auxiliary() -> None:
    pytest.importorskip("xarray")
    found = gather_dataset(fields(coordinates=lambda x, y: (x + y, y - x)))
    assert found.h.attrs["coordinates"] == "x_t_place y_t_place"
    assert found.x_u_place.dims == ("y_u", "x_u")
    assert found.x_t_place[2, 1] == 20.0 + 15.0


def test_arrays_of_xarray_by_rows_are_transposed() -> None:
    xarray = pytest.importorskip("xarray")
    found = gather_dataset(fields())
    again = Field(fields()["h"].grid, values=found.h)
    np.testing.assert_array_equal(again.values, VALUES)
    layered = Field(again.grid, values=found.t, layers=3)
    np.testing.assert_array_equal(layered.values, fields()["t"].values)
    by_rows = xarray.DataArray(np.arange(48.0).reshape(4, 4, 3), dims=("y", "x", "layer"))
    square = Field(Grid((4, 4)), values=by_rows, layers=3)
    np.testing.assert_array_equal(square.values, np.swapaxes(by_rows.values, 0, 1))
    square[...] = by_rows + 1.0
    np.testing.assert_array_equal(square.values, np.swapaxes(by_rows.values, 0, 1) + 1.0)
    by_columns = Field(again.grid, values=xarray.DataArray(VALUES, dims=("x", "y")))
    np.testing.assert_array_equal(by_columns.values, VALUES)


def test_netcdf_files_are_complete(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("scipy")
    made = fields()
    write_netcdf(tmp_path / "out.nc", made)
    assert [one.name for one in tmp_path.iterdir()] == ["out.nc"]
    with xarray.open_dataset(tmp_path / "out.nc") as found:
        np.testing.assert_array_equal(found.u, 2.0 * VALUES.T)
    with pytest.raises(OSError, match=r"none.out\.nc' cannot be written"):
        write_netcdf(tmp_path / "none" / "out.nc", made)


def test_fields_of_one_output_are_on_one_grid() -> None:
    with pytest.raises(ValueError, match="on one grid, not on 2"):
        gather_dataset({"h": fields()["h"], "g": fields()["h"]})
    with pytest.raises(ValueError, match="on one grid, not on 0"):
        gather_dataset({})


def test_zarr_stores_continue_after_the_last_complete_time(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    made, path = fields(), tmp_path / "out.zarr"
    about, units = {"h": {"units": "m"}}, "days since 2000-01-01"
    store = ZarrOutput(path, made, about, time_units=units)
    for time in (0.0, 1.0, 2.0):
        made["h"].fill(time)
        store.write(time)
    # A program that is killed leaves a record without a time.
    group = zarr.open_group(str(path), mode="r+")
    group["time"][2] = np.nan
    again = ZarrOutput(path, made, about, time_units=units)
    made["h"].fill(7.0)
    again.write(7.0)
    found = zarr.open_group(str(path), mode="r")
    assert found["time"][:].tolist() == [0.0, 1.0, 7.0]
    assert found["h"][:, 0, 0].tolist() == [0.0, 1.0, 7.0]
    assert found["h"].attrs["units"] == "m"
    assert found["time"].attrs["units"] == "days since 2000-01-01"
    assert found["n"].dtype == np.int32
    np.testing.assert_array_equal(found["u"][2], 2.0 * VALUES.T)
    np.testing.assert_array_equal(found["t"][2], made["t"].values.T)
    with pytest.raises(ValueError, match="finite"):
        again.write(float("nan"))
    other = made | {"h": Field(made["h"].grid, dtype=np.float32)}
    with pytest.raises(ValueError, match="for 'h' the type 'float64', but the program has 'float3"):
        ZarrOutput(path, other, about, time_units=units)


def _on_t(points: Points = Points.T, **options: Any) -> dict[str, Field]:
    return {"h": Field(Grid((4, 3), **({"boundaries": "closed"} | options)), points)}


@pytest.mark.parametrize(
    ("other", "options", "message"),
    [
        (_on_t(), {"time_units": "days"}, "for 'time' the attribute 'units' 'seconds', but the"),
        (_on_t(), {"attributes": {"h": {"units": "km"}}}, "'h' the attribute 'units' 'm', but"),
        (_on_t(), {"attributes": {}}, "'h' the attribute 'units' 'm', but the program has None"),
        (_on_t(Points.F), {}, r"for 'h' the dimensions \('time', 'y_t', 'x_t'\), but"),
        (_on_t(spacing=(7.0, 1.0)), {}, "other coordinates 'x_t' than the grid"),
        ({"g": _on_t()["h"]}, {}, "has the fields h, but the program writes g"),
        (_on_t() | {"g": Field(Grid((4, 3)))}, {}, "on one grid"),
    ],
)
def test_a_zarr_store_is_not_continued_with_other_descriptions(
    other: dict[str, Field], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    zarr = pytest.importorskip("zarr")
    path, about = tmp_path / "out.zarr", {"h": {"units": "m"}}
    ZarrOutput(path, _on_t(), about).write(0.0)
    with pytest.raises(ValueError, match=message):
        ZarrOutput(path, other, **({"attributes": about} | options)).write(3.0)
    ZarrOutput(path, _on_t(), about).write(1.0)
    assert zarr.open_group(str(path), mode="r")["time"][:].tolist() == [0.0, 1.0]


def test_a_zarr_store_is_not_continued_with_more_or_fewer_fields(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    path, made = tmp_path / "out.zarr", _on_t()
    more = made | {"g": Field(made["h"].grid)}
    ZarrOutput(path, made)  # without records, a field may be added
    ZarrOutput(path, more).write(0.0)
    with pytest.raises(ValueError, match="has the fields g, h, but the program writes h:"):
        ZarrOutput(path, made)
    with pytest.raises(ValueError, match="has the fields g, h, but the program writes g, h, i:"):
        ZarrOutput(path, more | {"i": made["h"]})


def test_a_zarr_store_may_contain_arrays_without_names_of_dimensions(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    path, made = tmp_path / "out.zarr", _on_t()
    ZarrOutput(path, made).write(0.0)
    group = zarr.open_group(str(path), mode="r+")
    group.create_array("extra", shape=(3,), dtype="f8")
    ZarrOutput(path, made).write(1.0)
    assert group["time"][:].tolist() == [0.0, 1.0]


def test_a_zarr_store_is_not_continued_at_other_places(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    path = tmp_path / "out.zarr"
    for number, shift in enumerate((0.0, 0.0, 2.0)):
        made = fields(coordinates=lambda x, y, by=shift: (x + y + by, y - x))
        if shift:
            with pytest.raises(ValueError, match="other coordinates 'x_t_place' than the grid"):
                ZarrOutput(path, made)
        else:
            ZarrOutput(path, made).write(float(number))


def test_a_restarted_program_replaces_the_records_after_its_checkpoint(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    made, path = fields(), tmp_path / "out.zarr"
    store = ZarrOutput(path, made)
    for time in (0.0, 0.5, 1.0, 1.5):
        made["h"].fill(time)
        store.write(time)
    with pytest.raises(ValueError, match=r"1\.5 is not later than 1\.5, .* restart=1\.5"):
        store.write(1.5)
    with pytest.raises(ValueError, match=r"0\.75 is not later than 1\.5"):
        ZarrOutput(path, made).write(0.75)
    again = ZarrOutput(path, made, restart=1.0)
    group = zarr.open_group(str(path), mode="r")
    assert group["time"][:].tolist() == [0.0, 0.5]
    assert group["h"].shape[0] == group["n"].shape[0] == 2
    made["h"].fill(9.0)
    again.write(1.0)
    found = zarr.open_group(str(path), mode="r")
    assert found["time"][:].tolist() == [0.0, 0.5, 1.0]
    assert found["h"][:, 0, 0].tolist() == [0.0, 0.5, 9.0]
    ZarrOutput(path, made, restart=-1.0)
    assert zarr.open_group(str(path), mode="r")["time"].shape == (0,)
