"""Checkpoints of fields on a grid, which programs on another number of ranks can read.

A checkpoint is a folder: one NumPy file for each field and rank, and a description in JSON. It has
a temporary name until all files are on disk. Then it is renamed, which file systems do in one step.
Therefore each folder with a number as its name is complete, also after a program was killed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from psyclone_storage.runtime.gocean.field import Field
from psyclone_storage.runtime.gocean.grid import Grid
from psyclone_storage.runtime.gocean.region import Region
from psyclone_storage.storage import RDWR
from psyclone_storage.storage.core.errors import PoisonedDataError

_DESCRIPTION = "checkpoint.json"
_UNFINISHED = ".unfinished"
_REMOVED = ".removed"
_DIGITS = 6


class CheckpointError(RuntimeError):
    """Error: a checkpoint cannot be written, or contains other fields than the program."""


def write_checkpoint(
    folder: str | Path,
    fields: Mapping[str, Field],
    numbers: Mapping[str, Any] | None = None,
    *,
    keep: int = 2,
) -> Path:
    """Write the values of fields, and `numbers` such as the time, to a new folder in `folder`.

    The points around the domain are included, because a program may prescribe them. Numbers of
    NumPy are read as those of Python. Only the last `keep` checkpoints remain. Collective: all
    ranks must call it.

    Raises:
        CheckpointError: on all ranks, if a rank cannot write its files.
        TypeError: `numbers` contains a value that JSON cannot represent.
        ValueError: there are no fields, they are on different grids, or `keep` is less than 1.
    """
    grid = _grid_of(fields)
    if keep < 1:
        raise ValueError(f"At least one checkpoint is kept, not {keep}.")
    for name, number in (numbers or {}).items():
        try:
            _as_json(number)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"The number '{name}' of a checkpoint is {number!r}, which JSON cannot represent: "
                f"{error}"
            ) from None
    text = _as_json(_description(grid, fields, numbers or {}))
    path, ranks = Path(folder), grid.ranks
    started = _on_root(grid, lambda: _start(path))
    unfinished = Path(started)
    _together(grid, lambda: _write_part(unfinished, grid, fields))
    finished = Path(_on_root(grid, lambda: _finish(unfinished, text, keep)))
    ranks.wait_for_all()
    return finished


def read_checkpoint(folder: str | Path, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Set fields to the values of the last complete checkpoint, and return its numbers.

    The number of ranks, their parts and the width of the halo may differ. Halos are clean
    afterwards. Collective: all ranks must call it.

    Raises:
        FileNotFoundError: on all ranks, `folder` contains no checkpoint.
        CheckpointError: on all ranks, a field is missing, or has other points or another type, or a
            file is damaged.
        RuntimeError: an exchange of a field has not been finished.
    """
    grid = _grid_of(fields)
    for field in fields.values():
        field.check_idle()
    path = Path(_on_root(grid, lambda: str(last_checkpoint(folder))))
    about = path / _DESCRIPTION
    described = _parsed(_on_root(grid, lambda: about.read_text(encoding="utf-8")), about)
    _check(described, grid, fields)
    _together(grid, lambda: _read_parts(path, described, grid, fields))
    for field in fields.values():
        field.exchange(grid.halo)
    numbers: dict[str, Any] = described["numbers"]
    return numbers


def last_checkpoint(folder: str | Path) -> Path:
    """Return the last complete checkpoint in a folder.

    Raises:
        FileNotFoundError: there is no checkpoint.
    """
    found = _complete(Path(folder))
    if not found:
        raise FileNotFoundError(f"'{folder}' contains no complete checkpoint.")
    return found[-1]


# ---------------------------------------------------------------------------- ranks


def _on_root(grid: Grid, work: Callable[[], str | Path]) -> str:
    """Return on all ranks the result of `work` on rank 0; an error is raised on all ranks."""
    return _together(grid, work if grid.ranks.rank == 0 else lambda: "")[0]


def _together(grid: Grid, work: Callable[[], Any]) -> list[str]:
    """Execute `work` on each rank; if one fails, raise an error on all ranks."""
    message, kind, result = "", "", ""
    try:
        result = str(work())
    except FileNotFoundError as error:
        message, kind = str(error), "missing"
    except CheckpointError as error:
        message, kind = str(error), "damaged"
    except (OSError, ValueError) as error:
        message = str(error) or type(error).__name__
    found = grid.ranks.gathered((message, kind, result))
    for rank, (said, of_kind, _) in enumerate(found):
        if said and of_kind:
            raise (FileNotFoundError if of_kind == "missing" else CheckpointError)(said)
        if said:
            raise CheckpointError(f"Rank {rank} cannot access a file of the checkpoint: {said}")
    return [text for _, _, text in found]


# ---------------------------------------------------------------------------- writing


def _grid_of(fields: Mapping[str, Field]) -> Grid:
    if not fields:
        raise ValueError("A checkpoint has at least one field.")
    grids = {id(field.grid): field.grid for field in fields.values()}
    if len(grids) > 1:
        raise ValueError("The fields of a checkpoint are on one grid, not on several.")
    for name in fields:
        if not name.isidentifier():
            raise ValueError(f"'{name}' names no file: the names of fields are Python names.")
    return next(iter(grids.values()))


def _description(
    grid: Grid, fields: Mapping[str, Field], numbers: Mapping[str, Any]
) -> dict[str, Any]:
    parts = grid.decomposition
    return {
        "points": grid.points,
        "halo": grid.halo,
        **_surroundings(grid),
        "parts": [[one.domain.start, one.domain.stop] for one in parts.subdomains],
        "fields": {name: _described(field) for name, field in fields.items()},
        "numbers": dict(numbers),
    }


def _as_json(value: Any) -> str:
    """Return a value as JSON, with numbers of NumPy as those of Python."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic) or getattr(value, "shape", None) == ():
            return value.item()
        raise TypeError(f"a value has the type {type(value).__name__}.")

    return json.dumps(value, indent=1, default=plain)


def _surroundings(grid: Grid) -> dict[str, Any]:
    """Return the offset and the boundaries of a grid, which decide what the points around mean."""
    sides = [[one.value for one in pair] for pair in grid.boundaries]
    return {"offset": grid.offset.value, "boundaries": sides}


def _complete(folder: Path) -> list[Path]:
    """Return the complete checkpoints in a folder, in the order of their creation."""
    if not folder.is_dir():
        return []
    found = (one for one in folder.iterdir() if one.name.isdecimal() and one.is_dir())
    return sorted(found, key=lambda one: int(one.name))


def _start(folder: Path) -> Path:
    """Return a new folder with a temporary name; remove leftovers of killed programs."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in folder.iterdir():
        if one.name.endswith((_UNFINISHED, _REMOVED)) and one.is_dir():
            shutil.rmtree(one)
    numbers = [int(one.name) for one in _complete(folder)]
    made = folder / f"{max(numbers, default=0) + 1:0{_DIGITS}}{_UNFINISHED}"
    made.mkdir()
    return made


def _write_part(folder: Path, grid: Grid, fields: Mapping[str, Field]) -> None:
    own = grid.subdomain
    box = own.local(_with_surroundings(own.domain, grid.points, grid.halo)).box
    for name, field in fields.items():
        values = np.ascontiguousarray(field.storage.data_ro[box])
        with (folder / _file(name, grid.ranks.rank)).open("wb") as file:
            np.save(file, values)
            file.flush()
            os.fsync(file.fileno())


def _finish(unfinished: Path, text: str, keep: int) -> Path:
    with (unfinished / _DESCRIPTION).open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _sync(unfinished)
    finished = unfinished.with_name(unfinished.name.removesuffix(_UNFINISHED))
    unfinished.rename(finished)
    _sync(finished.parent)
    for old in _complete(finished.parent)[:-keep]:
        # A partly removed checkpoint must not look complete.
        removed = old.with_name(old.name + _REMOVED)
        old.rename(removed)
        shutil.rmtree(removed)
    return finished


def _sync(folder: Path) -> None:
    """Write the entries of a folder to disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _file(name: str, rank: int) -> str:
    return f"{name}-{rank}.npy"


def _with_surroundings(domain: Region, points: tuple[int, int], halo: int) -> Region:
    """Return a part of the domain, extended by the adjacent points around the domain."""
    before = tuple(halo if start == 0 else 0 for start in domain.start)
    behind = tuple(
        halo if stop == extent else 0 for stop, extent in zip(domain.stop, points, strict=True)
    )
    return domain.widened((before[0], before[1]), (behind[0], behind[1]))


# ---------------------------------------------------------------------------- reading


def _parsed(text: str, file: Path) -> dict[str, Any]:
    """Return the description of a checkpoint.

    Raises:
        CheckpointError: the text does not describe a checkpoint.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"'{file}' is damaged: {error}") from None
    try:
        # Each of these is an error if a value has another type.
        found = {**found, "numbers": {**found["numbers"]}}
        _ = [index(one) for one in (*found["points"], found["halo"])]
        _ = [[*map(index, (x, y, to_x, to_y))] for (x, y), (to_x, to_y) in found["parts"]]
        _ = [(f"{one['points'].upper()}{one['type']}", one["layers"])
             for one in found["fields"].values()]  # fmt: skip
    except (AttributeError, KeyError, TypeError, ValueError):
        raise CheckpointError(f"'{file}' is damaged: it does not describe a checkpoint.") from None
    return found


def _check(described: Mapping[str, Any], grid: Grid, fields: Mapping[str, Field]) -> None:
    points = tuple(described["points"])
    if points != grid.points:
        raise CheckpointError(
            f"The checkpoint has {points} points, but the grid has {grid.points} points."
        )
    for what, own_value in _surroundings(grid).items():
        # Checkpoints of earlier versions do not contain them.
        value = described.get(what, own_value)
        if value != own_value:
            raise CheckpointError(
                f"The checkpoint has the {what} {value}, but the grid has {own_value}: create the "
                f"grid as in the program that wrote it."
            )
    for name, field in fields.items():
        known = described["fields"].get(name)
        if known is None:
            names = ", ".join(described["fields"])
            raise CheckpointError(f"The checkpoint has no field '{name}'; it has {names}.")
        own = _described(field)
        if known != own:
            raise CheckpointError(
                f"'{name}' has {_text(known)} in the checkpoint, but {_text(own)} in the program."
            )


def _described(field: Field) -> dict[str, Any]:
    """Return the points, type and layers of a field, as JSON represents them."""
    layers = 0 if field.layers is None else field.layers
    return {
        "points": field.points.value, "type": field.storage.dtype.str, "layers": layers,
    }  # fmt: skip


def _text(described: Mapping[str, Any]) -> str:
    layers = described["layers"]
    and_layers = f" and {layers} layers" if layers else ""
    return f"{described['points'].upper()} points of type {described['type']}{and_layers}"


def _read_parts(
    path: Path, described: Mapping[str, Any], grid: Grid, fields: Mapping[str, Field]
) -> None:
    own, around = grid.subdomain, (grid.halo, grid.halo)
    wanted = own.domain.widened(around, around)
    parts = list(_parts(described, grid.points))
    is_set = np.zeros(wanted.shape, bool)
    for part in filter(lambda one: one.points, map(wanted.shared, parts)):
        is_set[part.moved((-wanted.start[0], -wanted.start[1])).box] = True
    if not is_set[own.domain.moved((-wanted.start[0], -wanted.start[1])).box].all():
        raise CheckpointError(f"'{path / _DESCRIPTION}' is damaged: its parts omit points.")
    for name, field in fields.items():
        pieces = [*_pieces(path, name, field, parts)]
        try:
            _set(field, pieces)
        except PoisonedDataError as error:
            try:
                field.renew(None if is_set.all() else error)
            except PoisonedDataError:
                raise CheckpointError(
                    f"The values of '{name}' are lost, and the checkpoint does not contain all "
                    f"points around the domain, because its halo is {described['halo']} wide, but "
                    f"that of the grid {grid.halo}: call fill() first."
                ) from error
            _set(field, pieces)
        field.set_dirty()


def _pieces(
    path: Path, name: str, field: Field, parts: Sequence[Region]
) -> Iterator[tuple[Any, Any]]:
    """Yield the values of a field in the files of a checkpoint, each with its place in the array.

    Raises:
        CheckpointError: a file is damaged.
    """
    own, halo = field.grid.subdomain, field.grid.halo
    wanted = own.domain.widened((halo, halo), (halo, halo))
    for rank, part in enumerate(parts):
        shared = wanted.shared(part)
        if not shared.points:
            continue
        file = path / _file(name, rank)
        try:
            values = open_memmap(file, "r")
        except (OSError, ValueError) as error:
            raise CheckpointError(f"'{file}' is damaged: {error}") from None
        wanted_type = field.storage.dtype, (*part.shape, *field.storage.shape[2:])
        if (values.dtype, values.shape) != wanted_type:
            raise CheckpointError(
                f"'{file}' is damaged: it has {values.dtype} values of the shape {values.shape}."
            )
        inside = shared.moved((-part.start[0], -part.start[1]))
        yield own.local(shared).box, values[inside.box]


def _set(field: Field, pieces: Iterable[tuple[Any, Any]]) -> None:
    """Set parts of the array of a field."""
    with field.storage.access(None, RDWR) as array:
        for box, values in pieces:
            array[box] = values


def _parts(described: Mapping[str, Any], points: tuple[int, int]) -> Iterator[Region]:
    """Yield the points that each rank wrote, including those around the domain."""
    for (x, y), (to_x, to_y) in described["parts"]:
        yield _with_surroundings(Region((x, y), (to_x, to_y)), points, described["halo"])
