"""The other component of the velocity, where a component is."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def average_u(
    u_at_v: field[GO_WRITE, GO_CV],
    u: field[GO_READ, GO_CU, GO_STENCIL("110,110,000")],
):
    u_at_v[0, 0] = 0.25 * (u[-1, 0] + u[0, 0] + u[-1, 1] + u[0, 1])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def average_v(
    v_at_u: field[GO_WRITE, GO_CU],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,011,011")],
):
    v_at_u[0, 0] = 0.25 * (v[0, -1] + v[1, -1] + v[0, 0] + v[1, 0])
