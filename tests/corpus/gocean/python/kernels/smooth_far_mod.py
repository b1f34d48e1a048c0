"""Set each point to a mean with neighbours two points away."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth_far(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("020,212,020")],
):
    new[0, 0] = 0.5 * old[0, 0] + 0.125 * (old[-2, 0] + old[2, 0] + old[0, -2] + old[0, 2])
