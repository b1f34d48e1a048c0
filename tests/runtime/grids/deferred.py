"""Compare deferred invokes with invokes that run at once, on many ranks.

    mpirun -n 4 python deferred.py c

All ranks run the same random program, but each also reads values when the others do not. In the
mode `late`, one rank reads a value some seconds before the others, which must be reported.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import *
from psyclone_storage.runtime import ranks
from psyclone_storage.runtime.gocean import Field, Grid

TARGET = sys.argv[1]
WORLD = ranks.world()


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def spread(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")]):
    new[0, 0] = 0.2 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1] + old[0, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


def pending() -> int:
    return sum(len(one.pending) for one in PROGRAM._deferred)


def made(seed: int) -> list[Field]:
    grid = Grid((9, 8), periodic=(True, True))
    values = np.random.default_rng(seed).random((3, 9, 8))
    return [Field(grid, values=one) for one in values]


def moved(value: Field) -> float:
    value.set_dirty()
    value.exchange(1)
    return float(value.storage.data_ro.sum())


# ruff: noqa: ARG005
ACTIONS: tuple[Callable[[list[Field], list[Field], list[Result]], Any], ...] = (
    *(lambda f, g, r: invoke(spread(f[0], f[1])),) * 3,
    lambda f, g, r: invoke(spread(f[0], f[1]), scale(f[0], 1.5), spread(f[2], f[0])),
    lambda f, g, r: invoke(spread(f[0], f[1]), sum_X(r[0], f[0])),
    lambda f, g, r: invoke(scale(f[0], r[0]), maxval_X(r[1], f[0])),
    lambda f, g, r: invoke(scale(f[0], 0.5)),
    lambda f, g, r: invoke(spread(g[0], g[1])),
    lambda f, g, r: f[0].sum(),
    lambda f, g, r: g[0].sum(),  # collective, of a field that may not be pending
    lambda f, g, r: moved(g[1]),
    lambda f, g, r: Grid((4, 4)).ranks.greatest(WORLD.rank),
    lambda f, g, r: complete_invokes(),
    lambda f, g, r: np.append(f[0].values, float(r[0])),
)
LOCAL: tuple[Callable[[list[Field], list[Result]], Any], ...] = (
    lambda f, r: float(r[0]),
    lambda f, r: float(r[1]),
    lambda f, r: f[0].storage.data_ro.sum(),
    lambda f, r: f[1].is_dirty(),
)
"""What each rank does alone."""


def run(seed: int, *, defer: bool) -> tuple[list[Any], int]:
    """Return all values that this rank reads, and the most invokes that were pending."""
    configure(target=TARGET, defer=defer)
    fields, others, results = made(seed), made(seed + 1), [Result(1.0), Result(1.0)]
    common, own = random.Random(seed), random.Random(100 * seed + WORLD.rank)
    found: list[Any] = []
    most = 0
    for _ in range(60):
        found.append(common.choice(ACTIONS)(common.sample(fields, 3), others, results))
        most = max(most, pending())
        if own.random() < 0.3:
            found.append(own.choice(LOCAL)(fields, results))
    found += [one.values.copy() for one in fields + others]
    return [*(one for one in found if one is not None), *map(float, results)], most


def check(seed: int) -> int:
    (found, most), (wanted, _) = run(seed, defer=True), run(seed, defer=False)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert np.array(one).tobytes() == np.array(other).tobytes(), (seed, one, other)
    return most


def late() -> None:
    """Only rank 0 reads; the others reach their next collective call three seconds later."""
    ranks.PATIENCE = 1.0
    first, second, third = made(0)
    configure(target="numpy", defer=True)
    invoke(spread(second, first))
    if WORLD.rank == 0:
        assert np.isfinite(second.values).all()
        assert pending() == 0
    else:
        time.sleep(3.0)
        assert pending() == 1
    invoke(spread(third, second))
    found = third.sum()
    configure(target="numpy")
    invoke(spread(second, first))
    invoke(spread(third, second))
    assert found == third.sum()


if TARGET == "late":
    late()
else:
    assert max(check(seed) for seed in range(8)) > 1, "nothing was merged"
print(f"deferred invokes agree: {TARGET}")
