"""The surface rises where more water flows in than out."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def continuity(
    height: field[GO_READWRITE, GO_CT],
    u: field[GO_READ, GO_CU, GO_STENCIL("000,110,000")],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,010,010")],
    depth_u: field[GO_READ, GO_CU, GO_STENCIL("000,110,000")],
    depth_v: field[GO_READ, GO_CV, GO_STENCIL("000,010,010")],
    time_step: scalar[GO_READ, GO_R_SCALAR],
    dx: grid_property[GO_GRID_DX_CONST],
    dy: grid_property[GO_GRID_DY_CONST],
    area: grid_property[GO_GRID_AREA_T],
):
    """Add to the height of one cell what flows in through its four faces."""
    inflow = dy * (depth_u[-1, 0] * u[-1, 0] - depth_u[0, 0] * u[0, 0]) + dx * (
        depth_v[0, -1] * v[0, -1] - depth_v[0, 0] * v[0, 0]
    )
    height[0, 0] = height[0, 0] + time_step * inflow / area[0, 0]
