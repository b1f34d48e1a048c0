"""Waves in a closed basin, by kernels of two languages in one invoke.

The height of the surface and the means of velocities are computed by kernels in Fortran, those of
`examples/gocean/shallow_water`; how velocities change is computed by kernels in Python, those of
`examples/python/shallow_water`, from which the basin and what is reported come, too. What is
printed and written is, bit for bit, what either program computes by itself.
"""

import sys

from momentum_mod import momentum_u, momentum_v
from shallow_water import STEPS, STEPS_BETWEEN, basin, hill, report, write_surface

from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Points

continuity = fortran_kernel("../../gocean/shallow_water/kernels/continuity_mod.f90", "continuity")
average_u = fortran_kernel("../../gocean/shallow_water/kernels/coriolis_mod.f90", "average_u")
average_v = fortran_kernel("../../gocean/shallow_water/kernels/coriolis_mod.f90", "average_v")


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
