"""Set the flux through the western face of each cell."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_SW)
def flux_u_sw(
    flux: field[GO_WRITE, GO_CU],
    height: field[GO_READ, GO_CT, GO_STENCIL("000,110,000")],
    u: field[GO_READ, GO_CU],
):
    flux[0, 0] = 0.5 * (height[-1, 0] + height[0, 0]) * u[0, 0]
