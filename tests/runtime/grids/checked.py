"""Fields of several types whose halos generated layers check; `test_halo_checks_python.py` runs it.

    mpirun -n 4 python checked.py LAYER MODE BOUNDARIES

The module LAYER has the invokes. MODE is `plain`, `unmarked` (a field is written by hand), or
`mutated`: each numbered statement of the layer is left out once. Prints a line for each run on the
first rank: its number, the number of ranks with errors, and whether values differ; then an error.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

import numpy as np

from psyclone_storage.runtime.gocean import Field, Grid, Points, halo_checks

POINTS, LAYERS = (13, 11), 3
DTYPES = {"small": np.float32, "less": np.float32, "count": np.int32, "counted": np.int32}


def new_fields(grid: Grid) -> dict[str, Field]:
    """Return the fields with numbers that differ from point to point, and dirty halos."""
    fields = {}
    for seed, name in enumerate(("one", "two", "three", "fixed", *DTYPES, "deep", "deeper")):
        layers = LAYERS if name in ("count", "counted", "deep", "deeper") else None
        made = Field(grid, Points.T, name, dtype=DTYPES.get(name, np.float64), layers=layers)
        own, domain = grid.subdomain.internal, grid.subdomain.domain
        x, y = (np.arange(a, b) for a, b in zip(domain.start, domain.stop, strict=True))
        values = (37 * x[:, None] + 11 * y[None, :] + 7 * seed) % 17
        np.asarray(made.storage.data)[own.box] = values if layers is None else values[..., None]
        fields[name] = made
    return fields


def steps(layer: Any, grid: Grid, mode: str) -> tuple[list[str], list[Any]]:
    """Run two steps on new fields; return the errors of this rank and all values."""
    fields, known = new_fields(grid), len(halo_checks.errors)
    for step in range(2):
        for invoke in (layer.invoke_first, layer.invoke_second):
            invoke(**{name: fields[name] for name in inspect.signature(invoke).parameters})
        if mode == "unmarked" and step == 0:
            own = np.asarray(fields["fixed"].storage.data)[grid.subdomain.internal.box]
            own += 1.0
        if mode == "marked" and step == 0:
            fields["fixed"][:] = fields["fixed"].values + 1.0
    values = [one.gather() for one in fields.values()]
    return halo_checks.errors[known:], values


def main() -> None:
    """Run the module and print what its checks report."""
    name, mode, boundaries = sys.argv[1:]
    layer = importlib.import_module(name)
    grid = Grid(POINTS, boundaries=boundaries, halo=2)
    halo_checks.stops = False
    errors, wanted = steps(layer, grid, mode)
    results = [("all", errors, False)]
    for number in range(layer.MUTATIONS if mode == "mutated" else 0):
        layer.DROPPED[0] = number
        errors, values = steps(layer, grid, mode)
        pairs = zip(values, wanted, strict=True)
        differs = any(not np.array_equal(a, b, equal_nan=True) for a, b in pairs if a is not None)
        results.append((str(number), errors, differs))
    for number, errors, differs in results:
        of_ranks = grid.ranks.gathered(errors)
        if grid.ranks.rank == 0:
            first = next((one[0] for one in of_ranks if one), "")
            print(f"run {number}: {sum(map(bool, of_ranks))} {differs} {first}")


main()
