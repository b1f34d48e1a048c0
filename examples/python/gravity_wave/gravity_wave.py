"""Waves of pressure on a plane without ends, by the lowest finite elements of LFRic.

Pressure is the mean of a cell (W3), wind goes through the faces of cells (W2). Each step pushes the
wind by differences of the pressure, and then moves pressure with the wind: what leaves a cell
arrives in the next. So the sum of the pressure stays what it was, whatever the wind does. Prints
that sum, and the energy, at the start and at the end.
"""

import numpy as np

from psyclone_storage.lfric import *
from psyclone_storage.runtime.lfric import Field, Mesh

CELLS, STEPS = 32, 400
SPEED = 0.25


@kernel(operates_on=CELL_COLUMN)
def push(wind: field[GH_INC, W2], pressure: field[GH_READ, W3], rate: scalar[GH_REAL, GH_READ]):
    """Push the wind out of the four sides of a cell, as hard as its pressure is."""
    for k in layers():
        by = rate * pressure[0, k]
        wind[0, k] -= by
        wind[1, k] -= by
        wind[2, k] += by
        wind[3, k] += by


@kernel(operates_on=CELL_COLUMN)
def flow(
    pressure: field[GH_READWRITE, W3], wind: field[GH_READ, W2], rate: scalar[GH_REAL, GH_READ]
):
    """Let the wind bring pressure in through two sides of a cell, and out through the others."""
    for k in layers():
        east = wind[0, k] - wind[2, k]
        north = wind[1, k] - wind[3, k]
        pressure[0, k] += rate * (east + north)


def hill(x, y, _z):
    """Return the pressure at the start: a hill off the middle."""
    return np.exp(-((x - 12.0) ** 2 + (y - 20.0) ** 2) / 16.0)


def report(when, pressure, wind):
    """Print when, the sum of the pressure, and the energy."""
    total, at_rest, moving = Result(), Result(), Result()
    invoke(
        sum_X(total, pressure),
        X_innerproduct_X(at_rest, pressure),
        X_innerproduct_X(moving, wind),
        name="sums",
    )
    if pressure.mesh.ranks.rank == 0:
        energy = 0.5 * (at_rest.value + moving.value)
        print(f"{when:5} {total.value:22.15e} {energy:22.15e}")


def main():
    """Run the model."""
    mesh = Mesh.planar((CELLS, CELLS), (1.0, 1.0), layers=2)
    pressure = Field(mesh.space("W3"), "pressure", values=hill)
    wind = Field(mesh.space("W2"), "wind", values=0.0)
    report("start", pressure, wind)
    for _ in range(STEPS):
        invoke(push(wind, pressure, SPEED), flow(pressure, wind, SPEED), name="step")
    report("end", pressure, wind)


if __name__ == "__main__":
    main()
