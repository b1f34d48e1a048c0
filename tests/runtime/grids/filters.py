"""Filters of 32-bit reals and of integers, compared with NumPy on one array for the whole domain.

Usage: filters.py TARGET [SETTING]. Fields with layers and without have loops over offsets.
"""

import sys

import numpy as np

from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid, Points

POINTS, LAYERS, STEPS = (13, 11), 3, 4
WEIGHTS = (0.25, 0.5, 0.25)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def smooth(
    new: field[GO_WRITE, GO_CT, GO_FLOAT32],
    old: field[GO_READ, GO_CT, GO_STENCIL("11111,11111,11111,11111,11111"), GO_FLOAT32],
):
    total = np.float32(0.0)
    for j in range(-1, 2):
        for i in range(-1, 2):
            total += WEIGHTS[i + 1] * WEIGHTS[j + 1] * old[2 * i, 2 * j]
    new[0, 0] = total


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def count(
    new: field[GO_WRITE, GO_CT, GO_LAYERS, GO_INT32],
    old: field[GO_READ, GO_CT, GO_STENCIL("111,111,111"), GO_LAYERS, GO_INT32],
    limit: scalar[GO_READ, GO_I_SCALAR],
):
    for k in layers():
        total = 0
        for j in range(-1, 2):
            for i in range(-1, 2):
                total += (i + 2 * j + 4) * old[i, j, k] // 3
        new[0, 0, k] = total % 97 - limit * k


def moved(values, i, j):
    return np.roll(values, (-i, -j), (0, 1))


def smooth_with_numpy(old):
    total = np.zeros_like(old)
    for j in range(-1, 2):
        for i in range(-1, 2):
            total += WEIGHTS[i + 1] * WEIGHTS[j + 1] * moved(old, 2 * i, 2 * j)
    return total


def count_with_numpy(old, limit):
    total = np.zeros_like(old)
    for j in range(-1, 2):
        for i in range(-1, 2):
            total += (i + 2 * j + 4) * moved(old, i, j) // 3
    return (total % 97 - limit * np.arange(LAYERS)).astype(np.int32)


def main():
    target, *settings = sys.argv[1:]
    configure(target=target, **({"config_opts": settings[0]} if settings else {}))
    device = "gpu" if target == "cuda" else None
    grid = Grid(POINTS, periodic=(True, True), halo=2, device=device)
    rng = np.random.default_rng(2)
    reals = rng.normal(size=POINTS).astype(np.float32)
    whole = rng.integers(-50, 50, (*POINTS, LAYERS)).astype(np.int32)
    old = Field(grid, Points.T, "old", values=reals, dtype=np.float32)
    new = Field(grid, Points.T, "new", dtype=np.float32)
    numbers = Field(grid, Points.T, "numbers", values=whole, dtype=np.int32, layers=LAYERS)
    counts = Field(grid, Points.T, "counts", dtype=np.int32, layers=LAYERS)
    for _ in range(STEPS):
        invoke(smooth(new, old), count(counts, numbers, 2), name="step")
        old, new, numbers, counts = new, old, counts, numbers
        reals, whole = smooth_with_numpy(reals), count_with_numpy(whole, 2)
        assert numbers.sum() == whole.sum()
        found = old.gather(), numbers.gather()
        if found[0] is not None:
            assert (found[0].dtype, found[1].dtype) == (np.float32, np.int32)
            np.testing.assert_array_equal(found[0], reals)
            np.testing.assert_array_equal(found[1], whole)
    total = old.dot(old, reproducible=True), old.mean(reproducible=True), numbers.max()
    if grid.ranks.rank == 0:
        print("equal:", *(float(one).hex() for one in total))


main()
