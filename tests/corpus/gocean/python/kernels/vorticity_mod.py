"""Set the vorticity at the corners of cells."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def vorticity(
    curl: field[GO_WRITE, GO_CF],
    u: field[GO_READ, GO_CU, GO_STENCIL("010,010,000")],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,011,000")],
    dx: grid_property[GO_GRID_DX_CONST],
    dy: grid_property[GO_GRID_DY_CONST],
):
    curl[0, 0] = (v[1, 0] - v[0, 0]) / dx - (u[0, 1] - u[0, 0]) / dy
