"""Add two fields, both of which may be the same."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def add_heights(
    total: field[GO_WRITE, GO_CT],
    first: field[GO_READ, GO_CT],
    second: field[GO_READ, GO_CT],
):
    total[0, 0] = first[0, 0] + second[0, 0]
