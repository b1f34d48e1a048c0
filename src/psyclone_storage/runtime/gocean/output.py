"""Output of fields for analysis: xarray data sets with CF metadata, NetCDF files, Zarr stores.

Fields on different kinds of points have different dimensions, such as `x_u`, so that a data set
contains no missing values. The order of dimensions is that of CF: time, layer, y, x.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from psyclone_storage.runtime.gocean.field import Field
from psyclone_storage.runtime.gocean.grid import Grid
from psyclone_storage.runtime.gocean.points import Points
from psyclone_storage.runtime.gocean.region import Region
from psyclone_storage.storage.interop.xarray import dataset_of

Array = np.ndarray[Any, Any]
Attributes = Mapping[str, Mapping[str, Any]]

_CONVENTIONS = "CF-1.11"
_AXES = ("x", "y")
_ANOTHER_STORE = "write to another store, or describe the output as the program that created it."


def gather_dataset(
    fields: Mapping[str, Field], attributes: Attributes | None = None, root: int = 0
) -> Any:
    """Return the fields of the whole domain as an xarray `Dataset` on rank `root`, else None.

    `attributes` are those of variables and coordinates by name, such as `{"h": {"units": "m"}}`.
    Collective: all ranks must call it.

    Raises:
        ValueError: there are no fields, or they are on different grids.
    """
    grid = _grid_of(fields)
    variables: dict[str, Any] = {}
    for points in dict.fromkeys(field.points for field in fields.values()):
        for name, (dims, values) in _coordinates(grid, points).items():
            found = values if len(dims) == 1 else _whole(grid, values, root)
            variables[name] = dims, found, _axis_attributes(name, attributes)
    for name, field in fields.items():
        found = field.gather(root)
        if found is not None:
            found = np.ascontiguousarray(found.T)
        variables[name] = _field_dims(field), found, _attributes(field, name, attributes)
    if grid.ranks.rank != root:
        return None
    coordinates = {name: one for name, one in variables.items() if name not in fields}
    data = {name: one for name, one in variables.items() if name in fields}
    return dataset_of(data, coordinates, {"Conventions": _CONVENTIONS})


def write_netcdf(
    path: str | Path, fields: Mapping[str, Field], attributes: Attributes | None = None
) -> None:
    """Write the fields of the whole domain to a NetCDF file, by xarray on rank 0.

    The file gets its name when it is complete. Collective: all ranks must call it.

    Raises:
        OSError: on all ranks, the file cannot be written.
        ValueError: on all ranks, there are no fields, they are on different grids, or xarray has no
            library for NetCDF.
    """
    ranks, problem = _grid_of(fields).ranks, ""
    dataset = gather_dataset(fields, attributes)
    if dataset is not None:
        unfinished = Path(f"{path}.unfinished")
        try:
            dataset.to_netcdf(unfinished)
            os.replace(unfinished, path)  # noqa: PTH105 - Path.replace is equal
        except (OSError, ValueError, ImportError) as error:
            problem = f"{type(error).__name__}: {error}"
    problem = ranks.gathered(problem)[0]
    if problem:
        raise OSError(f"'{path}' cannot be written: {problem}")


class ZarrOutput:
    """A Zarr store with the values of fields at several times; all ranks write it together.

    Each chunk is written by one rank, which other ranks send their points. Fields are written with
    the types that they have. An existing store with the same fields is continued after its last
    complete time; units, attributes, coordinates and dimensions must be the same.

    - `time_units`: CF units of the time, such as `seconds since 2000-01-01`.
    - `restart`: the time at which a program continues from a checkpoint. Records of this time and
      of later times are removed.

    Collective: all ranks must create it.

    Raises:
        ImportError: there is no zarr of version 3.
        ValueError: there are no fields, they are on different grids, or the store has others or
            describes them in another way.
    """

    def __init__(
        self,
        path: str | Path,
        fields: Mapping[str, Field],
        attributes: Attributes | None = None,
        *,
        time_units: str = "seconds",
        restart: float | None = None,
    ) -> None:
        import zarr  # noqa: PLC0415

        self._grid = _grid_of(fields)
        self._fields, self._path = dict(fields), str(path)
        problem = ""
        if self._grid.ranks.rank == 0:
            try:
                self._make(zarr.open_group(self._path, mode="a"), attributes, time_units)
            except (OSError, TypeError, ValueError) as error:
                problem = str(error)
        self._raise_first(problem)
        group = zarr.open_group(self._path, mode="r+")
        rows, columns = group[next(iter(self._fields))].chunks[-2:]
        self._chunks = _Chunks(self._grid, (columns, rows))
        self._write_places(group)
        self._written, self._last = self._continued(group, restart)

    def _raise_first(self, problem: str) -> None:
        """Raise `ValueError` on all ranks if one of them has a problem."""
        if found := next(filter(None, self._grid.ranks.gathered(problem)), ""):
            raise ValueError(found)

    def _write_places(self, group: Any) -> None:
        """Write two-dimensional coordinates; a store with records must have the same ones.

        Raises:
            ValueError: on all ranks, it has others.
        """
        has_records = bool(group["time"].shape[0])
        for points in dict.fromkeys(field.points for field in self._fields.values()):
            for name, (dims, values) in _coordinates(self._grid, points).items():
                if len(dims) == 1:
                    continue
                if has_records:
                    there = group[name][self._grid.subdomain.domain.box[::-1]].T
                    is_equal = np.array_equal(there, values, equal_nan=True)
                    self._raise_first("" if is_equal else self._other_coordinates(name))
                else:
                    self._chunks.write(group[name], values, None)

    def _continued(self, group: Any, restart: float | None) -> tuple[int, float]:
        """Return the number of records that remain, and the time of the last one."""
        times = group["time"][:]
        kept = times[np.isfinite(times) & (times < (np.inf if restart is None else restart))]
        self._grid.ranks.wait_for_all()
        if self._grid.ranks.rank == 0 and restart is not None:
            self._resize(group, len(kept))
        self._grid.ranks.wait_for_all()
        return len(kept), float(max(kept, default=-np.inf))

    def write(self, time: float) -> None:
        """Write the present values of the fields as those at `time`.

        The time is written last: a time that is not a number marks an incomplete record. The next
        program overwrites it. Collective: all ranks must call it.

        Raises:
            ValueError: `time` is not finite, or not later than the last record.
        """
        if not np.isfinite(time):
            raise ValueError(f"A time is a finite number, not {time!r}.")
        if time <= self._last:
            now = float(time)
            raise ValueError(
                f"The time {now!r} is not later than {self._last!r}, that of the last record of "
                f"'{self._path}': create ZarrOutput(..., restart={now!r}) to replace the records "
                f"from that time on, or write to another store."
            )
        import zarr  # noqa: PLC0415

        at, ranks = self._written, self._grid.ranks
        if ranks.rank == 0:
            group = zarr.open_group(self._path, mode="r+")
            self._resize(group, at + 1)
            group["time"][at] = np.nan
        ranks.wait_for_all()
        # Other ranks read the new extents when they open the store.
        group = zarr.open_group(self._path, mode="r+")
        for name, field in self._fields.items():
            own = np.asarray(field.storage.data_ro[self._grid.subdomain.internal.box])
            self._chunks.write(group[name], own, at)
        ranks.wait_for_all()
        if ranks.rank == 0:
            group["time"][at] = time
        self._written, self._last = at + 1, time
        ranks.wait_for_all()

    def _resize(self, group: Any, count: int) -> None:
        """Set the number of records; a new one has no time yet."""
        for name in ("time", *self._fields):
            array = group[name]
            array.resize((count, *array.shape[1:]))

    def _make(self, group: Any, attributes: Attributes | None, time_units: str) -> None:
        """Create the variables that the store does not have.

        Raises:
            ValueError: it has records of other fields, or a variable is described in another way.
        """
        self._check_fields(group)
        group.attrs["Conventions"] = _CONVENTIONS
        time = {"units": time_units, "standard_name": "time", "axis": "T",
                **(attributes or {}).get("time", {})}  # fmt: skip
        self._create((group, "time"), ("time",), ((0,), (512,)), np.float64, time)
        for points in dict.fromkeys(field.points for field in self._fields.values()):
            for name, (dims, values) in _coordinates(self._grid, points).items():
                shape = values.shape if len(dims) == 1 else self._grid.points[::-1]
                chunks = shape if len(dims) == 1 else _default_chunk(self._grid)[::-1]
                about = _axis_attributes(name, attributes)
                is_new = name not in group
                self._create((group, name), dims, (shape, chunks), np.float64, about)
                if len(dims) == 1 and (is_new or not group["time"].shape[0]):
                    group[name][:] = values
                elif len(dims) == 1 and not np.array_equal(group[name][:], values):
                    raise ValueError(self._other_coordinates(name))
        for name, field in self._fields.items():
            layers = field.storage.shape[2:]
            shapes = (
                (0, *layers, *self._grid.points[::-1]),
                (1, *layers, *_default_chunk(self._grid)[::-1]),
            )
            about = _attributes(field, name, attributes)
            dims = ("time", *_field_dims(field))
            self._create((group, name), dims, shapes, field.storage.dtype, about)

    def _create(
        self,
        named: tuple[Any, str],
        dims: tuple[str, ...],
        shapes: tuple[tuple[int, ...], tuple[int, ...]],
        dtype: Any,
        attributes: Mapping[str, Any],
    ) -> None:
        """Create an array in a group unless it exists; `shapes` are those of array and chunks."""
        group, name = named
        if name in group:
            self._compare(group[name], dims, shapes[0], dtype, attributes)
        else:
            fill = np.nan if np.dtype(dtype).kind == "f" else 0
            group.create_array(
                name, shape=shapes[0], chunks=shapes[1], dtype=dtype, fill_value=fill,
                dimension_names=dims, attributes=dict(attributes),
            )  # fmt: skip

    def _check_fields(self, group: Any) -> None:
        """Check that a store has no records of other fields, which would have fewer times.

        Raises:
            ValueError: it has.
        """
        known = {
            name for name, one in group.arrays() if _dims_of(one)[:1] == ("time",)
        } - {"time"}  # fmt: skip
        has_records = "time" in group and group["time"].shape[0]
        if (known - set(self._fields)) or (has_records and known != set(self._fields)):
            raise ValueError(
                f"The store '{self._path}' has the fields {', '.join(sorted(known))}, but the "
                f"program writes {', '.join(sorted(self._fields))}: {_ANOTHER_STORE}"
            )

    def _compare(
        self,
        array: Any,
        dims: tuple[str, ...],
        shape: tuple[int, ...],
        dtype: Any,
        attributes: Mapping[str, Any],
    ) -> None:
        """Check that an array of the store is what the program would create.

        Raises:
            ValueError: it is not.
        """
        first = dims[0] == "time"  # of any extent
        pairs: dict[str, tuple[Any, Any]] = {
            "type": (array.dtype.name, np.dtype(dtype).name),
            "dimensions": (_dims_of(array), dims),
            "extents": (array.shape[first:], shape[first:]),
        }
        there, own = dict(array.attrs), json.loads(json.dumps(dict(attributes)))
        for key in sorted({*there, *own}):
            pairs[f"attribute '{key}'"] = there.get(key), own.get(key)
        for what, (old, new) in pairs.items():
            if json.dumps(old) != json.dumps(new):
                raise ValueError(
                    f"The store '{self._path}' has for '{array.basename}' the {what} {old!r}, but "
                    f"the program has {new!r}: {_ANOTHER_STORE}"
                )

    def _other_coordinates(self, name: str) -> str:
        return (
            f"The store '{self._path}' has other coordinates '{name}' than the grid: "
            f"{_ANOTHER_STORE}"
        )


def _dims_of(array: Any) -> tuple[str, ...]:
    """Return the names of the dimensions of an array of Zarr, which may have none."""
    return tuple(array.metadata.dimension_names or ())


class _Chunks:
    """Chunks of equal extents, each written by one rank with points from other ranks.

    `shape` contains the extents of a chunk in x and y. Ranks write the chunks in rounds, because a
    store created on more ranks has more chunks than there are ranks now.
    """

    def __init__(self, grid: Grid, shape: tuple[int, int]) -> None:
        self._grid = grid
        nx, ny = grid.points
        whole = Region((0, 0), grid.points)
        self._chunks = [
            Region((x, y), (x + shape[0], y + shape[1])).shared(whole)
            for y in range(0, ny, shape[1])
            for x in range(0, nx, shape[0])
        ]

    def write(self, array: Any, values: Array, record: int | None) -> None:
        """Write the values of this rank's points, at time index `record` or without time."""
        size = self._grid.ranks.size
        for first in range(0, len(self._chunks), size):
            chunks = self._chunks[first : first + size]
            chunks += [Region((0, 0), (0, 0))] * (size - len(chunks))
            self._write_round(array, values, record, chunks)

    def _write_round(
        self, array: Any, values: Array, record: int | None, chunks: list[Region]
    ) -> None:
        """Write at most one chunk on each rank."""
        domains = [one.domain for one in self._grid.decomposition.subdomains]
        rank, layers = self._grid.ranks.rank, values.shape[2:]
        mine, chunk = domains[rank], chunks[rank]
        received = self._grid.ranks.swapped(
            [np.ravel(values[_inside(mine.shared(one), mine)]) for one in chunks]
        )
        if not chunk.points:
            return
        found = np.empty((*chunk.shape, *layers), values.dtype)
        for part, domain in zip(received, domains, strict=True):
            shared = domain.shared(chunk)
            if shared.points:
                found[_inside(shared, chunk)] = part.reshape((*shared.shape, *layers))
        box = (*(slice(None) for _ in layers), *chunk.box[::-1])
        array[box if record is None else (record, *box)] = found.T


def _default_chunk(grid: Grid) -> tuple[int, int]:
    """Return the chunk extents in x and y, for at most one chunk per rank."""
    x, y = (
        -(-extent // parts)
        for extent, parts in zip(grid.points, grid.decomposition.parts, strict=True)
    )
    return x, y


def _inside(part: Region, whole: Region) -> tuple[slice, slice]:
    """Return the index of a part of a region in an array over that region."""
    if not part.points:
        return slice(0, 0), slice(0, 0)
    return part.moved((-whole.start[0], -whole.start[1])).box


def _grid_of(fields: Mapping[str, Field]) -> Grid:
    grids = {id(field.grid): field.grid for field in fields.values()}
    if len(grids) != 1:
        raise ValueError(f"The fields of an output are on one grid, not on {len(grids)}.")
    return next(iter(grids.values()))


# ---------------------------------------------------------------------------- CF


def _dims(points: Points) -> tuple[str, str]:
    return f"y_{points.value}", f"x_{points.value}"


def _field_dims(field: Field) -> tuple[str, ...]:
    return (
        _dims(field.points) if field.layers is None else (_layer_dim(field), *_dims(field.points))
    )


def _layer_dim(field: Field) -> str:
    """Return the dimension name of the layers, shared by fields with as many layers."""
    return f"layer_{field.layers}"


def _coordinates(grid: Grid, points: Points) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Return the coordinates of points: one-dimensional for the domain, or 2-D for this rank."""
    x, y = grid.coordinates(points)
    names = [f"{axis}_{points.value}" for axis in _AXES]
    if x.ndim > 1:
        box, dims = grid.subdomain.internal.box, _dims(points)
        return {f"{name}_place": (dims, one[box]) for name, one in zip(names, (x, y), strict=True)}
    shift = [grid.offset.shift if on_side else 0.0 for on_side in points.on_sides]
    return {
        name: ((name,), (np.arange(1.0, extent + 1.0) + by) * step)
        for name, extent, by, step in zip(names, grid.points, shift, grid.spacing, strict=True)
    }


def _axis_attributes(name: str, attributes: Attributes | None) -> dict[str, Any]:
    axis = name[0]
    usual = {"axis": axis.upper()} if not name.endswith("_place") else {}
    return {"long_name": f"{axis} coordinate", **usual, **(attributes or {}).get(name, {})}


def _attributes(field: Field, name: str, attributes: Attributes | None) -> dict[str, Any]:
    """Return the attributes of a variable, with the names of two-dimensional coordinates."""
    places = _coordinates(field.grid, field.points)
    two = [one for one, (dims, _) in places.items() if len(dims) > 1]
    named = {"coordinates": " ".join(two)} if two else {}
    label = {"long_name": field.label} if field.label else {}
    return {**label, **named, **(attributes or {}).get(name, {})}


def _whole(grid: Grid, own: Array, root: int) -> Array | None:
    """Return the values of all ranks' owned points on rank `root`, with y as first dimension."""
    found = grid.ranks.sent_to(root, np.array(own))
    if found is None:
        return None
    values = np.empty(grid.points, own.dtype)
    for subdomain, part in zip(grid.decomposition.subdomains, found, strict=True):
        values[subdomain.domain.box] = part
    return np.ascontiguousarray(values.T)
