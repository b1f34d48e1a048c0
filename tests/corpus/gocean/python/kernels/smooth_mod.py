"""Set each point to a mean with its four neighbours."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],
):
    new[0, 0] = 0.5 * old[0, 0] + 0.125 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1])
