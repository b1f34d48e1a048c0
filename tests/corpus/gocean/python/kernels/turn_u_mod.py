"""Turn the flow by the rotation of the earth."""

from math import sin

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def turn_u(
    u: field[GO_READWRITE, GO_CU],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,011,011")],
    time_step: scalar[GO_READ, GO_R_SCALAR],
    latitude: grid_property[GO_GRID_LAT_U],
):
    u[0, 0] = u[0, 0] + time_step * 0.0001458 * sin(0.01745 * latitude[0, 0]) * 0.25 * (
        v[0, 0] + v[1, 0] + v[0, -1] + v[1, -1]
    )
