"""Basins with closed, periodic and prescribed boundaries, compared with NumPy by value.

Each rank stops at the first point that differs from the reference, which knows no halos.
"""

import sys

import numpy as np

from psyclone_storage import storage
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid, Points

POINTS, STEPS = (13, 11), 40
STEP, GRAVITY, CORIOLIS, RATE = 0.05, 9.81, 0.3, 0.1


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def continuity(
    height: field[GO_READWRITE, GO_CT],
    u: field[GO_READ, GO_CU, GO_STENCIL("000,110,000")],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,010,010")],
    step: scalar[GO_READ, GO_R_SCALAR],
):
    inflow = (u[-1, 0] - u[0, 0]) + (v[0, -1] - v[0, 0])
    height[0, 0] = height[0, 0] + step * inflow


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def momentum_u(
    u: field[GO_READWRITE, GO_CU],
    height: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,011,011")],
    step: scalar[GO_READ, GO_R_SCALAR],
    gravity: scalar[GO_READ, GO_R_SCALAR],
    coriolis: scalar[GO_READ, GO_R_SCALAR],
):
    across = 0.25 * (v[0, -1] + v[1, -1] + v[0, 0] + v[1, 0])
    u[0, 0] = u[0, 0] + step * (coriolis * across - gravity * (height[1, 0] - height[0, 0]))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def momentum_v(
    v: field[GO_READWRITE, GO_CV],
    height: field[GO_READ, GO_CT, GO_STENCIL("010,010,000")],
    u: field[GO_READ, GO_CU, GO_STENCIL("110,110,000")],
    step: scalar[GO_READ, GO_R_SCALAR],
    gravity: scalar[GO_READ, GO_R_SCALAR],
    coriolis: scalar[GO_READ, GO_R_SCALAR],
):
    across = 0.25 * (u[-1, 0] + u[0, 0] + u[-1, 1] + u[0, 1])
    v[0, 0] = v[0, 0] - step * (coriolis * across + gravity * (height[0, 1] - height[0, 0]))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def diffuse(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("020,212,020")],
    rate: scalar[GO_READ, GO_R_SCALAR],
):
    near = old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1]
    far = old[-2, 0] + old[2, 0] + old[0, -2] + old[0, 2]
    new[0, 0] = old[0, 0] + rate * (near - 4.0 * old[0, 0]) + 0.1 * rate * (far - 4.0 * old[0, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]


def start(x, y):
    """Return a height that is not symmetric."""
    return np.exp(-((x - 4.0) ** 2 + (y - 3.0) ** 2) / 4.0) + 0.01 * x * y


def padded(values, modes):
    """Return T points with two more on each side: mirror images, or periodic ones."""
    for axis, mode in enumerate(modes):
        width = [(0, 0), (0, 0)]
        width[axis] = (2, 2)
        values = np.pad(values, width, "wrap" if mode == "periodic" else "symmetric")
    return values


def reference(modes, inflow):
    """Return the fields after all steps, computed by NumPy; `inflow` is u on the walls in x."""
    nx, ny = POINTS
    x, y = np.arange(1.0, nx + 1)[:, None], np.arange(1.0, ny + 1)[None, :]
    h, u, v = start(x, y), np.zeros((nx + 1, ny)), np.zeros((nx, ny + 1))
    u[[0, -1]] = inflow
    heat = h.copy()
    is_cyclic = modes[0] == "periodic", modes[1] == "periodic"
    for _ in range(STEPS):
        h += STEP * ((u[:-1] - u[1:]) + (v[:, :-1] - v[:, 1:]))
        east, north = np.roll(h, -1, 0), np.roll(h, -1, 1)
        # The first wall has the index 0, so that point i of the grid is i + 1 here.
        vs = v if not is_cyclic[0] else np.concatenate((v, v[:1]), 0)
        last = nx if is_cyclic[0] else nx - 1
        across = 0.25 * (
            vs[:last, :-1] + vs[1 : last + 1, :-1] + vs[:last, 1:] + vs[1 : last + 1, 1:]
        )
        slope = (east - h)[:last]
        u[1 : last + 1] = u[1 : last + 1] + STEP * (CORIOLIS * across - GRAVITY * slope)
        if is_cyclic[0]:
            u[0] = u[nx]
        us = u if not is_cyclic[1] else np.concatenate((u, u[:, :1]), 1)
        last = ny if is_cyclic[1] else ny - 1
        across = 0.25 * (
            us[:-1, :last] + us[1:, :last] + us[:-1, 1 : last + 1] + us[1:, 1 : last + 1]
        )
        slope = (north - h)[:, :last]
        v[:, 1 : last + 1] = v[:, 1 : last + 1] - STEP * (CORIOLIS * across + GRAVITY * slope)
        if is_cyclic[1]:
            v[:, 0] = v[:, ny]
        p = padded(heat, ["closed" if one == "prescribed" else one for one in modes])
        c = p[2:-2, 2:-2]
        near = p[1:-3, 2:-2] + p[3:-1, 2:-2] + p[2:-2, 1:-3] + p[2:-2, 3:-1]
        far = p[:-4, 2:-2] + p[4:, 2:-2] + p[2:-2, :-4] + p[2:-2, 4:]
        heat = c + RATE * (near - 4.0 * c) + 0.1 * RATE * (far - 4.0 * c)
    return h, u, v, heat


def run(boundaries, inflow, device):
    """Return the fields of the model after all steps, and the volumes at the start and the end."""
    grid = Grid(POINTS, boundaries=boundaries, halo=2, device=device)
    height = Field(grid, values=start, label="height")
    u, v = Field(grid, Points.U, "u", values=0.0), Field(grid, Points.V, "v")
    if inflow:
        u.prescribe(inflow)
    # The mirror image serves for heat: nothing flows through any boundary.
    plain = ["closed" if one == "prescribed" else one for one in boundaries]
    closed = Grid(POINTS, boundaries=tuple(plain), halo=2, device=device)
    heat, new = Field(closed, values=start, label="heat"), Field(closed, label="new")
    before = height.sum(reproducible=True), heat.sum(reproducible=True)
    for _ in range(STEPS):
        invoke(
            continuity(height, u, v, STEP),
            momentum_u(u, height, v, STEP, GRAVITY, CORIOLIS),
            momentum_v(v, height, u, STEP, GRAVITY, CORIOLIS),
            name="waves",
        )
        invoke(diffuse(new, heat, RATE), copy(heat, new), name="spread")
    after = height.sum(reproducible=True), heat.sum(reproducible=True)
    return (height, u, v, heat), before, after


def check(boundaries, inflow, device):
    """Compare a model with its reference."""
    found, before, after = run(boundaries, inflow, device)
    h, u, v, heat = reference(boundaries, inflow)
    for one, wanted in zip(found, (h, u[1:], v[:, 1:], heat), strict=True):
        values = one.gather()
        if values is not None:
            np.testing.assert_array_equal(values, wanted, f"{boundaries} {one.label}")
    for first, last in zip(before, after, strict=True):
        assert abs(last - first) < 1e-13 * abs(first), (boundaries, first, last)


def main():
    """Compare all kinds of boundaries."""
    target = sys.argv[1]
    device = "gpu" if target == "cuda" else None
    if device:
        storage.use_device("emulated")
    configure(target=target)
    check(("closed", "closed"), 0.0, device)
    check(("periodic", "closed"), 0.0, device)
    check(("closed", "periodic"), 0.0, device)
    check(("prescribed", "closed"), 0.25, device)
    print(f"basins agree: {target}")


main()
