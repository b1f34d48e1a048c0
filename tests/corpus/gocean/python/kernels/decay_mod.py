"""Let a field fade, whatever the offset."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def decay(
    field: field[GO_READWRITE, GO_CT],
    rate: scalar[GO_READ, GO_R_SCALAR],
):
    field[0, 0] = (1.0 - rate) * field[0, 0]
