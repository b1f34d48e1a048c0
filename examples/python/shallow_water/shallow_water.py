"""Waves in a closed basin: the linear shallow-water equations on an Arakawa C-grid.

Prints the volume of water above rest at the start and at the end, which must be the same, and the
energy, which may wander by a little, as an explicit step does not keep it. If the command line has
a word, such as `surface`, writes the height of the surface every 100 steps to `surface_000.txt`,
`surface_100.txt` and so on: a line for each row, from south to north.
"""

import math
import sys
from pathlib import Path

import numpy as np
from continuity_mod import continuity
from coriolis_mod import average_u, average_v
from momentum_mod import momentum_u, momentum_v

from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid, Points

POINTS, STEPS, STEPS_BETWEEN = 50, 400, 100
DISTANCE = 10.0e3


def basin():
    """Return the grid of a square basin with land around."""
    mask = np.zeros((POINTS + 2, POINTS + 2), int)
    mask[1:-1, 1:-1] = 1
    return Grid((POINTS, POINTS), (DISTANCE, DISTANCE), mask=mask)


def hill():
    """Return a height of up to one metre in a part of the basin that is not its middle."""
    x, y = ((np.arange(1, POINTS + 1) - POINTS // part) / 4.0 for part in (3, 2))
    return np.array([[math.exp(-(a**2 + b**2)) for b in y] for a in x])


def report(when, height, u, v, gravity, depth):
    """Print when, the volume of water above rest in m3, and the energy in m5/s2."""
    cell = DISTANCE * DISTANCE
    squares = [Field(height.grid, one.points, values=None) for one in (height, u, v)]
    for square, one in zip(squares, (height, u, v), strict=True):
        square.storage[...] = one.storage.data_ro**2
    of_height, of_u, of_v = (square.sum(reproducible=True) for square in squares)
    energy = 0.5 * cell * (gravity * of_height + depth * (of_u + of_v))
    if height.grid.ranks.rank == 0:
        print(f"{when:6}{cell * height.sum(reproducible=True):24.15E}{energy:24.15E}")
    else:
        height.sum(reproducible=True)


def write_surface(height, prefix, step):
    """Write the height of the surface after so many steps, if there is a prefix."""
    surface = height.gather() if prefix else None
    if surface is not None:
        rows = ("".join(f"{value:24.16E}" for value in row) for row in surface.T)
        Path(f"{prefix}_{step:03}.txt").write_text("".join(f"{row}\n" for row in rows))


def main():
    """Run the model."""
    prefix = sys.argv[1] if len(sys.argv) > 1 else ""
    time_step, gravity, coriolis, depth = 50.0, 9.81, 1.0e-4, 100.0
    grid = basin()
    height = Field(grid, Points.T, "height", values=hill())
    u, v_at_u, depth_u = (Field(grid, Points.U, name) for name in ("u", "v at u", "depth at u"))
    v, u_at_v, depth_v = (Field(grid, Points.V, name) for name in ("v", "u at v", "depth at v"))
    for one in (depth_u, depth_v):
        one.storage[...] = depth
    report("start", height, u, v, gravity, depth)
    write_surface(height, prefix, 0)
    for step in range(1, STEPS + 1):
        invoke(
            continuity(height, u, v, depth_u, depth_v, time_step),
            average_v(v_at_u, v),
            momentum_u(u, height, v_at_u, time_step, gravity, coriolis),
            average_u(u_at_v, u),
            momentum_v(v, height, u_at_v, time_step, gravity, coriolis),
            name="advance",
        )
        if step % STEPS_BETWEEN == 0:
            write_surface(height, prefix, step)
    report("end", height, u, v, gravity, depth)


if __name__ == "__main__":
    main()
