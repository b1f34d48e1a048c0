"""Set the vorticity at the south-western corners of cells."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_SW)
def vorticity_sw(
    curl: field[GO_WRITE, GO_CF],
    u: field[GO_READ, GO_CU, GO_STENCIL("000,010,010")],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,110,000")],
    dx: grid_property[GO_GRID_DX_V],
    dy: grid_property[GO_GRID_DY_U],
):
    curl[0, 0] = (v[0, 0] - v[-1, 0]) / dx[0, 0] - (u[0, 0] - u[0, -1]) / dy[0, 0]
