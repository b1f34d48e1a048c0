"""Run translated algorithms on the domains of `main.f90`, and write answers as that does.

    mpirun -n 4 python translated.py FOLDER TARGET CUT NAME...       [RECIPE in the environment]

FOLDER has the algorithms and kernels, TARGET is what computes: "c", or "cuda" on a device, CUT says
how the domain is cut: "x", "y" or "best". RECIPE is a script for all invokes. The
values of fields, who owns a point, and the form of answers are those of `world_mod.f90`, what
algorithms are called with is that of `suite_mod.f90`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

import numpy as np

from psyclone_storage.gocean import configure
from psyclone_storage.runtime.gocean import Field, Grid, Offset, Points
from psyclone_storage.runtime.ranks import world

WIDTH = 3
POINTS = (13, 11)
TIME_STEP = 0.5
FIELDS = {
    "height": (Points.T, 1), "old": (Points.T, 2), "new": (Points.T, 3), "u": (Points.U, 4),
    "v": (Points.V, 5), "flux_x": (Points.U, 6), "flux_y": (Points.V, 7), "corner": (Points.F, 8),
}  # fmt: skip


def new_grid(cut: str, periodic: bool, offset: Offset, device: str | None) -> Grid:
    """Return a grid with sea in the middle, land to the south, open boundaries to the north."""
    size = world().size
    parts = {"x": (size, 1), "y": (1, size)}.get(cut)
    mask = np.ones([extent + 2 * WIDTH for extent in POINTS], np.int32)
    y = (np.arange(mask.shape[1]) - WIDTH) % POINTS[1] + 1
    mask[:, y == 3] = 0
    mask[:, y == POINTS[1] - 1] = -1
    ends = (periodic, periodic)
    return Grid(POINTS, (0.5, 0.25), periodic=ends, offset=offset, halo=WIDTH, mask=mask,
                parts=parts, device=device)  # fmt: skip


def places(grid: Grid) -> Iterator[tuple[int, int, int, int]]:
    """Yield the indices and the place in the domain of each point that this rank owns."""
    own = grid.subdomain.domain
    columns, rows = (extent - 1 for extent in grid.shape)
    for j in range(rows):
        for i in range(columns):
            place = (i + own.start[0] + 1 - WIDTH, j + own.start[1] + 1 - WIDTH)
            if all(owns(grid, axis, at) for axis, at in enumerate(place)):
                yield (i, j, *place)


def owns(grid: Grid, axis: int, at: int) -> bool:
    """Return whether a rank has a column or row, or it lies beyond a boundary next to its own."""
    first, last = grid.subdomain.domain.start[axis] + 1, grid.subdomain.domain.stop[axis]
    if not grid.periodic[axis]:
        first -= WIDTH if first == 1 else 0
        last += WIDTH if last == POINTS[axis] else 0
    return first <= at <= last


def new_field(grid: Grid, label: str) -> Field:
    """Return a field with numbers that follow from the places of its points; others are NaN."""
    points, seed = FIELDS[label]
    values = np.full(grid.shape, np.nan, order="F")
    for i, j, x, y in places(grid):
        values[i, j] = 1.0 + float((37 * x + 101 * y + 29 * x * y + 11 * seed) % 997) / 997
    field = Field(grid, points, label)
    field.storage[...] = values
    return field


def called(name: str, of: SimpleNamespace) -> list[Any]:
    """Return what an algorithm is called with."""
    three = [of.height, of.old, of.new]
    known = {
        "areas": [of.v],
        "array_elements": [{1: of.old, 2: of.new}],
        "boundaries": [of.u, of.height],
        "continuity": [of.flux_x, of.flux_y, of.height, of.u, of.v, TIME_STEP],
        "curl": [of.corner, of.u, of.v],
        "fluxes": [of.flux_x, of.flux_y, of.height, of.u, of.v],
        "members": [SimpleNamespace(old=of.old, new=of.new)],
        "named": [of.height],
        "names_of_loops": [of.old, of.new],
        "offset_any": [of.flux_x, of.height, of.u, of.corner, of.v],
        "offset_south_west": [of.flux_x, of.height, of.u, of.corner, of.v],
        "ping_pong": [of.old, of.new],
        "rotation": [of.u, of.v, TIME_STEP],
        "same_field_read_twice": [of.height, of.old],
        "scalars_expressions": [of.height, TIME_STEP],
        "scalars_literal": [of.height],
    }  # fmt: skip
    return known.get(name, three)


def run(names: list[str], grids: list[Grid], domain: str, answers: TextIO) -> None:
    """Run algorithms on new fields, and write what these are afterwards."""
    by_offset = dict(zip(Offset, grids, strict=True))
    south_west = ("offset_any", "offset_south_west")
    for name in names:
        grid = by_offset[Offset.SOUTH_WEST if name in south_west else Offset.NORTH_EAST]
        fields = {label: new_field(grid, label) for label in FIELDS}
        algorithm = getattr(importlib.import_module(f"{name}_mod"), name)
        algorithm(*called(name, SimpleNamespace(**fields)))
        for label, field in fields.items():
            extents = [n + (0 if domain == "periodic" else 2 * WIDTH) for n in POINTS]
            answers.write(f"{domain}/{name}/{label} dofs {extents[0] * extents[1]}\n")
            values = np.asarray(field.storage.data_ro)
            for i, j, x, y in places(grid):
                answers.write(f"{domain}/{name}/{label} {x},{y} {float(values[i, j]).hex()}\n")


def count_exchanges() -> list[int]:
    """Count the exchanges of fields from now on, split ones once: in the one element of a list."""
    counts = [0]

    def counting(exchanged: Callable[..., None]) -> Callable[..., None]:
        def counted(field: Field, *depth: int) -> None:
            counts[0] += 1
            exchanged(field, *depth)

        return counted

    for name in ("exchange", "start_exchange"):
        setattr(Field, name, counting(getattr(Field, name)))
    return counts


def main() -> None:
    """Run what the command line asks for, and print how many exchanges there were."""
    exchanges = count_exchanges()
    folder, target, cut, *names = sys.argv[1:]
    configure(target=target, script=os.environ.get("RECIPE"))
    device = "gpu" if target == "cuda" else None
    sys.path.insert(0, folder)
    with Path(f"answers.{world().rank}").open("w", encoding="utf-8") as answers:
        for domain in ("bounded", "periodic"):
            grids = [new_grid(cut, domain == "periodic", one, device) for one in Offset]
            run(names, grids, domain, answers)
    sys.stdout.write(f"exchanges {exchanges[0]}\n")


if __name__ == "__main__":
    main()
