"""Check reductions inside invokes on many ranks against NumPy over the whole domain.

    mpirun -n 4 python reductions.py c

Reproducible sums must be the exact sums of the domain, also on ranks without points. Kernels before
and after a reduction write and use what it reduces. Each rank prints the results.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from psyclone_storage import storage as gt
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid

TARGET = sys.argv[1]
Array = np.ndarray[Any, Any]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def spread(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000")]):
    new[0, 0] = old[-1, 0] + 3.0 * old[0, 0] + old[1, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def masked(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT], limit: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0] if old[0, 0] > limit[0, 0] else 0.0


def alike(found: float, wanted: float) -> bool:
    return np.array(found).tobytes() == np.array(float(wanted)).tobytes()


def check(shape: tuple[int, int], *, exact: bool) -> list[str]:
    """Run reductions between kernels, and compare them with NumPy."""
    setting = f"REPRODUCIBLE_REDUCTIONS={str(exact).lower()}"
    configure(target=TARGET, config_opts=setting)
    device = "gpu" if TARGET == "cuda" else None
    grid = Grid(shape, periodic=(True, True), device=device)
    i, j = np.meshgrid(*map(np.arange, shape), indexing="ij")
    values = np.sin(1.0 + i) * 10.0 ** (j - 5.0)
    old, new, limit = Field(grid, values=values), Field(grid), Field(grid, values=0.1)
    kept = Field(grid)
    short = Field(
        grid, values=np.repeat(values[..., None], 3, 2).astype("f4"), dtype="f4", layers=3
    )
    number = Field(grid, values=(7 * i - 3 * j).astype("i4"), dtype="i4")
    results = total, least, greatest, product, square, after, of_mask = (
        *(Result() for _ in range(7)),
    )
    others = of_short, of_number, first = Result(), Result(), Result()
    for _ in range(2):
        invoke(
            sum_X(first, old),
            spread(new, old),
            sum_X(total, new),
            minval_X(least, new),
            maxval_X(greatest, new),
            X_innerproduct_Y(product, new, old),
            X_innerproduct_X(square, new),
            masked(kept, new, limit),
            sum_X(of_mask, kept),
            scale(new, greatest),
            sum_X(after, new),
            sum_X(of_short, short),
            maxval_X(of_number, number),
        )
    spreads = np.roll(values, 1, 0) + 3.0 * values + np.roll(values, -1, 0)
    add = math.fsum if exact else sum
    wanted = [
        add(spreads.flat),
        spreads.min(),
        spreads.max(),
        add((spreads * values).flat),
        add((spreads * spreads).flat),
        add((spreads.max() * spreads).flat),
        add(spreads[spreads > 0.1]),
    ]
    np.testing.assert_array_equal(new.values, (spreads.max() * spreads)[grid.subdomain.domain.box])
    found = [one.value for one in results]
    if exact:
        assert all(map(alike, found, wanted)), (found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-9)
        assert alike(least.value, wanted[1])
        assert alike(first.value, old.sum()), "other than the method of the field"
    np.testing.assert_allclose(
        [float(one) for one in others],
        [3.0 * values.astype("f4").sum(dtype=float), (7 * i - 3 * j).max(), values.sum()],
        rtol=1e-12,
    )
    return [value.hex() for value in found] if exact else []


def check_not_finite() -> None:
    """NaN and infinite values have the results of IEEE arithmetic on all ranks."""
    for exact in (False, True):
        setting = f"REPRODUCIBLE_REDUCTIONS={str(exact).lower()}"
        configure(target=TARGET, config_opts=setting)
        grid = Grid((5, 4), device="gpu" if TARGET == "cuda" else None)
        for points, wanted in (
            ({(0, 0): math.nan}, [math.nan, math.nan, math.nan]),
            ({(4, 3): math.inf}, [math.inf, 1.0, math.inf]),
            ({(0, 0): math.inf, (4, 3): -math.inf}, [math.nan, -math.inf, math.inf]),
        ):
            values = np.ones((5, 4))
            for at, value in points.items():
                values[at] = value
            held, total, least, most = Field(grid, values=values), Result(), Result(), Result()
            invoke(sum_X(total, held), minval_X(least, held), maxval_X(most, held))
            np.testing.assert_array_equal([total.value, least.value, most.value], wanted)


if TARGET == "cuda":
    gt.use_device("emulated")
bits = [check(shape, exact=True) for shape in ((13, 11), (3, 2), (7, 1))]
for shape in ((13, 11), (3, 2), (7, 1)):
    check(shape, exact=False)
check_not_finite()
print(f"reductions: {bits}")
