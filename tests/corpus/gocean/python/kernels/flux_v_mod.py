"""Set the flux through the northern face of each cell."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def flux_v(
    flux: field[GO_WRITE, GO_CV],
    height: field[GO_READ, GO_CT, GO_STENCIL("010,010,000")],
    v: field[GO_READ, GO_CV],
):
    flux[0, 0] = 0.5 * (height[0, 0] + height[0, 1]) * v[0, 0]
