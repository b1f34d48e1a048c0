"""A model whose ranks disagree in one of several ways, for the profiler and the checks of ranks."""

import sys
import time

from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.runtime.ranks import world


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def diffuse(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],
    rate: scalar[GO_READ, GO_R_SCALAR],
):
    around = old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1]
    new[0, 0] = old[0, 0] + rate * (around - 4.0 * old[0, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]


mode, rank = sys.argv[1], world().rank
is_odd = rank == 1
grid = Grid((16, 8), periodic=(True, True))
heat, new = Field(grid, values=lambda x, y: x * y), Field(grid)
if mode == "profile":
    configure(profile=("invokes", "kernels"))
rate = 0.2 if mode == "numbers" and is_odd else 0.1
for step in range(3):
    invoke(diffuse(new, heat, rate), name="spread")
    if is_odd and step == 1:
        if mode == "calls":
            new.sum()
        if mode == "late":
            time.sleep(3)
        if mode == "end":
            sys.exit(0)
    invoke(copy(heat, new), name="keep")
if mode == "profile":
    invoke(copy(new, heat), copy(heat, new))
    for _ in range(2):
        invoke(copy(new, heat), copy(heat, new))
print("sum", heat.sum(reproducible=True))
