"""Point kernels in NumPy and C compared with Python: NaN, and any names."""

from __future__ import annotations

import math

import numpy as np
import pytest

from psyclone_storage.gocean import (
    GO_ALL_PTS,
    GO_CT,
    GO_EVERY,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_OFFSET_NE,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid

FLUX = 0.25


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def extremes(  # noqa: PLR0913, PLR0917
    least: field[GO_WRITE, GO_EVERY],
    most: field[GO_WRITE, GO_EVERY],
    capped: field[GO_WRITE, GO_EVERY],
    limited: field[GO_WRITE, GO_EVERY],
    x: field[GO_READ, GO_EVERY],
    a: scalar[GO_READ, GO_R_SCALAR],
):
    least[0, 0] = min(x[0, 0], a, 2.0)
    most[0, 0] = max(0.0, max(a, x[0, 0]))  # noqa: PLW3301
    capped[0, 0] = 1.0 + np.minimum(np.maximum(x[0, 0] + a, x[0, 0]), a)
    limited[0, 0] = 1.0 + np.maximum(0.5, np.minimum(x[0, 0], 3.0))


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def named(
    held: field[GO_READWRITE, GO_EVERY],
    np: field[GO_READ, GO_EVERY],
    min: scalar[GO_READ, GO_R_SCALAR],  # noqa: A002
):
    """Every name that what is generated computes with."""
    at = held[0, 0]
    power = min * FLUX
    points = 2.0
    range = 3  # noqa: A001
    greater = 0.5
    int = 1.0  # noqa: A001
    where = 1.0
    if np[0, 0] > 4.0:
        return
    if at > power:
        held[0, 0] = at**3 + points + range + max(greater, np[0, 0]) + int + where


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def east(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    a: scalar[GO_READ, GO_R_SCALAR],
):
    new[0, 0] = a * old[1, 0]


ODD = (float("nan"), 1.0, -1.0, 0.0, float("inf"), 5.0)


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_extremes_are_those_of_python(target: str) -> None:
    configure(distributed=False, target=target)
    grid = Grid((len(ODD), 1), halo=1)
    x, *written = (Field(grid) for _ in range(5))
    with x.storage.access(None, "rw") as array:
        array[: len(ODD), 0] = ODD
    for a in (*ODD, -0.0):
        invoke(extremes(*written, x, a))
        for at, value in enumerate(ODD):
            least, most, capped, limited = (one.storage.data_ro[at, 0] for one in written)
            meant = extremes.at(0.0, 0.0, 0.0, 0.0, np.float64(value), np.float64(a))
            found = {"least": least, "most": most, "capped": capped, "limited": limited}
            for name, one in found.items():
                assert np.array_equal(one, meant[name], equal_nan=True), (name, value, a)
                assert math.copysign(1, one) == math.copysign(1, meant[name]), (name, value, a)
    configure()


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_kernels_may_use_the_names_of_what_is_generated(target: str) -> None:
    configure(distributed=False, target=target)
    grid = Grid((3, 1))
    held, other = Field(grid, values=2.0), Field(grid, values=np.array([[0.0], [3.0], [5.0]]))
    invoke(named(held, other, 4.0))
    for at, value in enumerate((0.0, 3.0, 5.0)):
        assert held.values[at, 0] == named.at(held=2.0, np=value, min=4.0)

    def run(check_within: Field, slice: Field, exchange: float) -> None:  # noqa: A002
        invoke(east(check_within, slice, exchange))

    new, old = Field(grid, values=0.0), Field(grid, values=3.0)
    run(new, old, 0.5)
    run(old, new, 2.0)
    assert new.values[0, 0] == 1.5
    assert old.values[0, 0] == 3.0
    configure()
