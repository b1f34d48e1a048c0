"""Copy a field at all points."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def copy_height(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT],
):
    new[0, 0] = old[0, 0]
