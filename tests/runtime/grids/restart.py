"""A model that writes checkpoints and a Zarr store, and continues on another number of ranks."""

import sys
from importlib.util import find_spec

import numpy as np

from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid, Points
from psyclone_storage.runtime.gocean.checkpoint import read_checkpoint, write_checkpoint
from psyclone_storage.runtime.gocean.output import ZarrOutput, gather_dataset


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def mix(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],
    u: field[GO_READ, GO_CU, GO_STENCIL("000,110,000")],
):
    around = old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1]
    new[0, 0] = old[0, 0] + 0.1 * (around - 4.0 * old[0, 0]) + 0.01 * (u[-1, 0] - u[0, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]


mode, folder = sys.argv[1], sys.argv[2]
grid = Grid((13, 11), boundaries=("prescribed", "closed"), halo=2 if mode == "continue" else 1)
heat, new = Field(grid, label="heat"), Field(grid)
u = Field(grid, Points.U, "u", values=0.5)
fields = {"heat": heat, "u": u}
first = 0
if mode == "continue":
    numbers = read_checkpoint(folder, fields)
    assert numbers == {"step": 5, "time": 0.1}, numbers
    first = numbers["step"]
else:
    heat[...] = np.arange(143.0).reshape(13, 11)[grid.subdomain.domain.box]
    heat.prescribe(lambda x, y: x + y * y)
has_zarr = mode != "plain" and find_spec("zarr") is not None
about = {"heat": {"units": "K"}}
restart = float(first) if mode == "continue" else None
store = ZarrOutput(f"{folder}.zarr", fields, about, restart=restart) if has_zarr else None
for step in range(first, 10):
    if mode == "write" and step == 5:
        write_checkpoint(folder, fields, {"step": step, "time": 0.1})
        sys.exit()
    if store:
        store.write(float(step))
    invoke(mix(new, heat, u), copy(heat, new), name="mix")
print(f"sum {heat.sum(reproducible=True).hex()}\n", end="")
if find_spec("xarray") is not None:
    dataset = gather_dataset({"heat": heat, "u": u})
    assert (dataset is None) is (grid.ranks.rank != 0)
    if dataset is not None:
        np.testing.assert_array_equal(dataset.u[:, :-1], 0.5)
