"""The mean of a point and its eight neighbours."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth_corners(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("111,111,111")],
):
    south = old[-1, -1] + old[0, -1] + old[1, -1]
    middle = old[-1, 0] + old[0, 0] + old[1, 0]
    north = old[-1, 1] + old[0, 1] + old[1, 1]
    new[0, 0] = (south + middle + north) / 9.0
