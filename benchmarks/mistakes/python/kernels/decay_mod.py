from math import sqrt

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def flux(
    flow: field[GO_WRITE, GO_CU],
    height: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    speed: field[GO_READ, GO_CU],
):
    mean = 0.5 * (height[0, 0] + height[1, 0])
    flow[0, 0] = sqrt(mean) * speed[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def decay(
    height: field[GO_READWRITE, GO_CT],
    rate: scalar[GO_READ, GO_R_SCALAR],
):
    height[0, 0] = (1.0 - rate) * height[0, 0]
