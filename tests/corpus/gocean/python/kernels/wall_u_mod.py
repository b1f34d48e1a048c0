"""No flow through walls."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_NE)
def wall_u(
    u: field[GO_WRITE, GO_CU],
    mask: grid_property[GO_GRID_MASK_T],
):
    if mask[0, 0] * mask[1, 0] == 0:
        u[0, 0] = 0.0
