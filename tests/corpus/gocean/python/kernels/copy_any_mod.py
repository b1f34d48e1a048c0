"""Copy a field of any type of point."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def copy_any(
    new: field[GO_WRITE, GO_EVERY],
    old: field[GO_READ, GO_EVERY],
):
    new[0, 0] = old[0, 0]
