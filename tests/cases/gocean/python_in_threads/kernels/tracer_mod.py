"""Kernels of a tracer."""

from psyclone_storage.gocean import *

CEILING = 10.0


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_NE)
def clear(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = 0.0


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def advect(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,110,000")],
    courant: scalar[GO_READ, GO_R_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
    spacing: grid_property[GO_GRID_DX_CONST],
):
    if mask[0, 0] > 0:
        new[0, 0] = min(CEILING, old[0, 0] - courant / spacing * (old[0, 0] - old[-1, 0]))
    else:
        new[0, 0] = 0.0
