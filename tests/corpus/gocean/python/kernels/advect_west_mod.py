"""Move a tracer to the east, with two points upwind."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def advect_west(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,210,000")],
    courant: scalar[GO_READ, GO_R_SCALAR],
):
    new[0, 0] = old[0, 0] - courant * (1.5 * old[0, 0] - 2.0 * old[-1, 0] + 0.5 * old[-2, 0])
