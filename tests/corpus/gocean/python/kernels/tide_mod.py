"""Force the surface outside of an open boundary."""

from math import sin

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_NE)
def tide(
    step: scalar[GO_READ, GO_I_SCALAR],
    height: field[GO_READWRITE, GO_CT],
    amplitude: scalar[GO_READ, GO_R_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
    if mask[0, 0] < 0:
        height[0, 0] = height[0, 0] + amplitude * sin(0.01 * float(step))
