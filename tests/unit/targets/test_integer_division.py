"""Divisions of integers of fields: 0 as a divisor gives 0, also for shifted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from psyclone_storage.gocean import (
    GO_CT,
    GO_I_SCALAR,
    GO_INT32,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid

POINTS = (5, 4)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def divide(
    a: field[GO_READWRITE, GO_CT, GO_INT32],
    b: field[GO_READ, GO_CT, GO_INT32],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    """Divide by numbers that may be 0."""
    shifted = (a[0, 0] << 1) // b[0, 0] + (n << 2) // (b[0, 0] >> 1)
    a[0, 0] = shifted + a[0, 0] % b[0, 0] + ~n // (~b[0, 0] | 1)


def quotient(first: Any, second: Any) -> Any:
    return np.where(second == 0, 0, first // np.where(second == 0, 1, second))


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("n", [0, 3, -2])
def test_zero_as_a_divisor_gives_zero(target: str, n: int) -> None:
    random = np.random.default_rng(n + 5)
    a, b = random.integers(-9, 10, POINTS), random.integers(-3, 4, POINTS)
    grid = Grid(POINTS, periodic=(True, True))
    first, second = (Field(grid, values=one.astype(np.int32), dtype=np.int32) for one in (a, b))
    configure(target=target)
    try:
        invoke(divide(first, second, n))
    finally:
        configure()
    rest = np.where(b == 0, 0, a % np.where(b == 0, 1, b))
    shifted = quotient(a << 1, b) + quotient(n << 2, b >> 1)
    np.testing.assert_array_equal(first.values, shifted + rest + quotient(~n, ~b | 1))
