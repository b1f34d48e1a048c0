"""Kernels of a small ocean: motion in layers of constant thickness below a free surface.

Points on land, by the mask of the grid, keep their values; the water does not cross a coast.
"""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def accelerate_u(
    u: field[GO_READWRITE, GO_CU, GO_LAYERS],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,011,011"), GO_LAYERS],
    warmth: field[GO_READ, GO_CT, GO_STENCIL("000,011,000"), GO_LAYERS],
    surface: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    stress: field[GO_READ, GO_CU],
    step: scalar[GO_READ, GO_R_SCALAR],
    thickness: scalar[GO_READ, GO_R_SCALAR],
    coriolis: scalar[GO_READ, GO_R_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
    dx: grid_property[GO_GRID_DX_CONST],
):
    """Add the pressure gradient, the rotation, and the wind in the uppermost layer."""
    if mask[0, 0] == 1 and mask[1, 0] == 1:
        slope = 9.81 * (surface[1, 0] - surface[0, 0])
        buoyancy = 0.0
        for k in layers():
            # Warm water is light: half of the layer's weight acts on its middle.
            half = 0.00981 * thickness * (warmth[1, 0, k] - warmth[0, 0, k])
            buoyancy -= half
            there = 0.25 * (v[0, 0, k] + v[1, 0, k] + v[0, -1, k] + v[1, -1, k])
            u[0, 0, k] += step * (coriolis * there - (slope + buoyancy) / dx)
            buoyancy -= half
        u[0, 0, 0] += step * stress[0, 0] / thickness


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def accelerate_v(
    v: field[GO_READWRITE, GO_CV, GO_LAYERS],
    u: field[GO_READ, GO_CU, GO_STENCIL("110,110,000"), GO_LAYERS],
    warmth: field[GO_READ, GO_CT, GO_STENCIL("010,010,000"), GO_LAYERS],
    surface: field[GO_READ, GO_CT, GO_STENCIL("010,010,000")],
    step: scalar[GO_READ, GO_R_SCALAR],
    thickness: scalar[GO_READ, GO_R_SCALAR],
    coriolis: scalar[GO_READ, GO_R_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
    dy: grid_property[GO_GRID_DY_CONST],
):
    """Add the pressure gradient and the rotation."""
    if mask[0, 0] == 1 and mask[0, 1] == 1:
        slope = 9.81 * (surface[0, 1] - surface[0, 0])
        buoyancy = 0.0
        for k in layers():
            half = 0.00981 * thickness * (warmth[0, 1, k] - warmth[0, 0, k])
            buoyancy -= half
            there = 0.25 * (u[0, 0, k] + u[-1, 0, k] + u[0, 1, k] + u[-1, 1, k])
            v[0, 0, k] -= step * (coriolis * there + (slope + buoyancy) / dy)
            buoyancy -= half


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def diffuse(
    values: field[GO_READWRITE, GO_EVERY, GO_LAYERS],
    factor: field[GO_READWRITE, GO_EVERY, GO_LAYERS],
    mixing: field[GO_READ, GO_EVERY, GO_LAYERS],
):
    """Mix a column implicitly: a tridiagonal system, solved down and up (Thomas).

    The mixing at level `k` is that between the layers `k - 1` and `k`; there is one level more
    than there are layers. `factor` is working space.
    """
    below = mixing[0, 0, 1]
    pivot = 1.0 + below
    factor[0, 0, 0] = below / pivot
    values[0, 0, 0] /= pivot
    for k in range(1, len(layers(values))):
        above = mixing[0, 0, k]
        below = mixing[0, 0, k + 1]
        pivot = 1.0 + above * (1.0 - factor[0, 0, k - 1]) + below
        factor[0, 0, k] = below / pivot
        values[0, 0, k] = (values[0, 0, k] + above * values[0, 0, k - 1]) / pivot
    for k in range(len(layers(values)) - 2, -1, -1):
        values[0, 0, k] += factor[0, 0, k] * values[0, 0, k + 1]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def carry(
    new: field[GO_WRITE, GO_CT, GO_LAYERS],
    warmth: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    u: field[GO_READ, GO_CU, GO_STENCIL("000,110,000"), GO_LAYERS],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,010,010"), GO_LAYERS],
    surface: field[GO_READWRITE, GO_CT],
    step: scalar[GO_READ, GO_R_SCALAR],
    thickness: scalar[GO_READ, GO_R_SCALAR],
    dx: grid_property[GO_GRID_DX_CONST],
    dy: grid_property[GO_GRID_DY_CONST],
):
    """Move warm water upwind, and raise the surface where the water of a column gathers."""
    gathered = 0.0
    sinking = 0.0
    for k in reversed(layers()):
        here = warmth[0, 0, k]
        east, west = u[0, 0, k], u[-1, 0, k]
        north, south = v[0, 0, k], v[0, -1, k]
        into = (west - east) / dx + (south - north) / dy
        flow = (
            max(west, 0.0) * (warmth[-1, 0, k] - here) - min(east, 0.0) * (warmth[1, 0, k] - here)
        ) / dx
        flow += (
            max(south, 0.0) * (warmth[0, -1, k] - here) - min(north, 0.0) * (warmth[0, 1, k] - here)
        ) / dy
        if k < len(layers()) - 1:
            flow += max(sinking, 0.0) * (warmth[0, 0, k + 1] - here)
        gathered += into
        sinking = gathered
        if k > 0:
            flow -= min(sinking, 0.0) * (warmth[0, 0, k - 1] - here)
        new[0, 0, k] = here + step * flow
    surface[0, 0] += step * thickness * gathered
