"""Take from each cell what flows out of it."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def diverge(
    height: field[GO_READWRITE, GO_CT],
    flux_u: field[GO_READ, GO_CU, GO_STENCIL("000,110,000")],
    flux_v: field[GO_READ, GO_CV, GO_STENCIL("000,010,010")],
    time_step: scalar[GO_READ, GO_R_SCALAR],
    dx: grid_property[GO_GRID_DX_T],
    dy: grid_property[GO_GRID_DY_T],
    area: grid_property[GO_GRID_AREA_T],
):
    height[0, 0] = height[0, 0] - time_step / area[0, 0] * (
        dy[0, 0] * (flux_u[0, 0] - flux_u[-1, 0]) + dx[0, 0] * (flux_v[0, 0] - flux_v[0, -1])
    )
