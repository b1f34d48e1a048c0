"""A kernel on V points."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def on_v(new: field[GO_WRITE, GO_CV], old: field[GO_READ, GO_CT]):
    new[0, 0] = 2.0 * old[0, 0]
