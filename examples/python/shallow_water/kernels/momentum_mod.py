"""Water is driven down the slope of the surface and turned by the rotation of the earth."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def momentum_u(
    u: field[GO_READWRITE, GO_CU],
    height: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    v_at_u: field[GO_READ, GO_CU],
    time_step: scalar[GO_READ, GO_R_SCALAR],
    gravity: scalar[GO_READ, GO_R_SCALAR],
    coriolis: scalar[GO_READ, GO_R_SCALAR],
    dx: grid_property[GO_GRID_DX_U],
    mask: grid_property[GO_GRID_MASK_T],
):
    if mask[0, 0] == 1 and mask[1, 0] == 1:
        slope = (height[1, 0] - height[0, 0]) / dx[0, 0]
        u[0, 0] = u[0, 0] + time_step * (coriolis * v_at_u[0, 0] - gravity * slope)
    else:
        u[0, 0] = 0.0


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def momentum_v(
    v: field[GO_READWRITE, GO_CV],
    height: field[GO_READ, GO_CT, GO_STENCIL("010,010,000")],
    u_at_v: field[GO_READ, GO_CV],
    time_step: scalar[GO_READ, GO_R_SCALAR],
    gravity: scalar[GO_READ, GO_R_SCALAR],
    coriolis: scalar[GO_READ, GO_R_SCALAR],
    dy: grid_property[GO_GRID_DY_V],
    mask: grid_property[GO_GRID_MASK_T],
):
    if mask[0, 0] == 1 and mask[0, 1] == 1:
        slope = (height[0, 1] - height[0, 0]) / dy[0, 0]
        v[0, 0] = v[0, 0] - time_step * (coriolis * u_at_v[0, 0] + gravity * slope)
    else:
        v[0, 0] = 0.0
