"""Check grids and fields on many ranks, point by point; every rank checks its own.

    mpirun -n 4 python exchanges.py

The number of a point identifies its location, so each value in a halo can be checked. Prints one
line for each rank: its number, and the sums that must not depend on the number of ranks.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np

from psyclone_storage import storage as gt
from psyclone_storage.runtime.gocean import Field, Grid, Points, exchange
from psyclone_storage.runtime.ranks import MpiRanks, world
from psyclone_storage.storage.core.stats import GLOBAL_STATS
from psyclone_storage.storage.interop.mpi import takes_devices

SIZE = (13, 11)
HALO = 3


def numbers(grid: Grid, scale: float = 1.0) -> np.ndarray[Any, Any]:
    """Return a number for each point of the domain."""
    i, j = np.meshgrid(*map(np.arange, grid.points), indexing="ij")
    return scale * (100.0 * (i + 1) + j + 1)


def expected(grid: Grid, values: np.ndarray[Any, Any], depth: int) -> np.ndarray[Any, Any]:
    """Return what this rank's array holds within `depth` of its points; nan is not looked at."""
    subdomain = grid.subdomain
    wanted = np.full(grid.shape, np.nan)
    for i, j in itertools.product(*(range(extent - 1) for extent in grid.shape)):
        place = [
            start + at - HALO for start, at in zip(subdomain.domain.start, (i, j), strict=True)
        ]
        near = all(
            start - depth <= at < stop + depth
            for at, start, stop in zip(
                place, subdomain.domain.start, subdomain.domain.stop, strict=True
            )
        )
        inside = [
            closed or 0 <= at < extent
            for at, closed, extent in zip(place, grid.periodic, grid.points, strict=True)
        ]
        if near and all(inside):
            wanted[i, j] = values[place[0] % grid.points[0], place[1] % grid.points[1]]
    return wanted


def check(field: Field, values: np.ndarray[Any, Any], depth: int, what: str) -> None:
    """Stop unless the field holds what it should."""
    wanted = expected(field.grid, values, depth)
    found = np.asarray(field.storage.data_ro)
    wrong = np.argwhere(~np.isnan(wanted) & (wanted != found))
    if wrong.size:
        place = tuple(wrong[0])
        raise SystemExit(f"{what}: {found[place]} at {place}, not {wanted[place]}")


def on_device(field: Field) -> None:
    """Let the device alone have the values of the field, its halo spoilt."""
    field.storage.synchronize()
    with field.storage.access("gpu", gt.RDWR) as array:
        inner = np.array(array[field.grid.subdomain.internal.box])
        array[...] = -7.0
        array[field.grid.subdomain.internal.box] = inner


def check_all(grid: Grid) -> None:
    """Exchange at all depths: alone, in two parts, several together, from host and device."""
    values = numbers(grid)
    for depth in range(1, HALO + 1):
        field = Field(grid, label="alone", values=values)
        for _ in range(2):
            field.exchange(depth)
            check(field, values, depth, f"alone, depth {depth}")
        field = Field(grid, values=values)
        other = Field(grid, Points.U, values=2.0 * values)
        field.start_exchange(depth)
        other.start_exchange(depth)
        other.finish_exchange()
        field.finish_exchange()
        check(field, values, depth, "in two parts")
        check(other, 2.0 * values, depth, "in two parts, the other")
        several = [Field(grid, values=numbers(grid, factor)) for factor in (1.0, 3.0, 5.0)]
        whole = Field(grid, values=values.astype(np.int32), dtype=np.int32)
        exchange([*several, whole], depth)
        for factor, one in zip((1.0, 3.0, 5.0), several, strict=True):
            check(one, numbers(grid, factor), depth, f"together, {factor}")
        check(whole, values, depth, "of another type")
        if grid.device is not None:
            check_device(grid, depth)


def check_device(grid: Grid, depth: int) -> None:
    """Exchange fields that a device has; the host gets and gives messages alone."""
    fields = [Field(grid, values=numbers(grid, factor)) for factor in (1.0, 4.0)]
    for field in fields:
        on_device(field)
    for together in (fields[:1], fields):
        exchange(together, depth)  # brings the places of points
    for field in fields:
        on_device(field)
    moved = [field.storage.buffer.stats.nbytes for field in fields]
    before = GLOBAL_STATS.count
    exchange(fields[:1], depth)
    exchange(fields, depth)
    plan = grid.plan(depth)
    by_way_of_host = 0 if takes_devices() else 2 * (len(plan.sent) + len(plan.received))
    if (found := GLOBAL_STATS.count - before) != by_way_of_host:
        raise SystemExit(f"{found} transfers for messages, not {by_way_of_host}")
    if [field.storage.buffer.stats.nbytes for field in fields] != moved:
        raise SystemExit("an exchange has moved a whole field")
    for factor, field in zip((1.0, 4.0), fields, strict=True):
        check(field, numbers(grid, factor), depth, f"from the device, {factor}")
    # One rank changes a field on the host: the others cannot know.
    if grid.ranks.rank == 0:
        with fields[0].storage.access(None, gt.RDWR) as array:
            array[0, 0] = 3.0
    exchange(fields, depth)
    for factor, field in zip((1.0, 4.0), fields, strict=True):
        check(field, numbers(grid, factor), depth, f"from both sides, {factor}")


def check_unusual_values(grid: Grid) -> None:
    """Let the last rank have what is no number: all ranks get the same answer, or error."""
    field = Field(grid, label="odd", values=numbers(grid))
    if grid.ranks.rank == grid.ranks.size - 1:
        field.storage[field.internal.start] = np.nan
    if not (np.isnan(field.min()) and np.isnan(field.max()) and np.isnan(field.sum())):
        raise SystemExit("what is no number was lost")
    said = ""
    try:
        field.sum(reproducible=True)
    except ValueError as error:
        said = str(error)
    if f"on rank {grid.ranks.size - 1}" not in said:
        raise SystemExit(f"what is no number has an exact sum: {said}")


def sums(grid: Grid) -> list[str]:
    """Return sums, extremes and gathered values, which no rank may have differently."""
    i, j = np.meshgrid(*map(np.arange, grid.points), indexing="ij")
    field = Field(grid, values=np.sin(1.0 + i) * 10.0 ** (j - 5))
    gathered = field.gather(grid.ranks.size - 1)
    if grid.ranks.rank == grid.ranks.size - 1:
        assert gathered is not None
        np.testing.assert_array_equal(gathered, np.sin(1.0 + i) * 10.0 ** (j - 5))
    else:
        assert gathered is None
    assert abs(field.sum() - field.sum(reproducible=True)) < 1e-9 * field.max()
    return [value.hex() for value in (field.sum(reproducible=True), field.min(), field.max())]


def main() -> None:
    """Check grids of all kinds, and print what must be the same everywhere."""
    gt.use_device("emulated")
    ranks = world()
    told: list[str] = []
    for periodic in itertools.product((True, False), repeat=2):
        for device in (None, "gpu"):
            grid = Grid(SIZE, periodic=periodic, halo=HALO, device=device, ranks=ranks)
            check_all(grid)
            check_unusual_values(grid)
            told = sums(grid)
    assert isinstance(ranks, MpiRanks)
    ranks.wait_for_all()
    sys.stdout.write(f"rank {ranks.rank} of {ranks.size}: {' '.join(told)}\n")


main()
