"""Give a field one value everywhere."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def set_height(
    height: field[GO_WRITE, GO_CT],
    value: scalar[GO_READ, GO_R_SCALAR],
):
    height[0, 0] = value
