"""Indices of local arrays of column kernels with extents that only the caller knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage.lfric import (
    CELL_COLUMN,
    GH_INTEGER,
    GH_READ,
    GH_READWRITE,
    W3,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.lfric import Field, Mesh
from psyclone_storage.storage.core.errors import PoisonedDataError


@kernel(operates_on=CELL_COLUMN)
def first(new: field[GH_READWRITE, W3], n: scalar[GH_INTEGER, GH_READ]):
    a = np.zeros(n)
    a[0] = 5.0
    new[0, 0] = a[0]


@kernel(operates_on=CELL_COLUMN)
def last(new: field[GH_READWRITE, W3], n: scalar[GH_INTEGER, GH_READ]):
    a = np.zeros((2, n))
    if new[0, 0] > -1.0:
        a[1, n - 1] = 2.0
    new[0, 0] = a[1, n - 1]


@kernel(operates_on=CELL_COLUMN)
def far(new: field[GH_READWRITE, W3], n: scalar[GH_INTEGER, GH_READ]):
    a = np.zeros(n)
    for k in range(1000000 if n < 1 else n):
        a[k] = 2.0
    new[0, 0] = a[0]


@kernel(operates_on=CELL_COLUMN)
def cube(new: field[GH_READWRITE, W3], n: scalar[GH_INTEGER, GH_READ]):
    a = np.zeros((n, n, n))
    a[1, 2, 3] = 3.0
    new[0, 0] = a[1, 2, 3]


@pytest.fixture(params=["c", "numpy"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the target; CUDA has no local arrays with extents that are known at run time."""
    configure(target=request.param)
    yield request.param
    configure()


@pytest.mark.parametrize(
    ("requested", "n"),
    [(first, 2**17 + 1), (last, 2**16 + 1), (first, 2**31 - 1), (cube, 2**22), (cube, 2**30)],
)
def test_arrays_that_are_too_large_for_the_stack_are_an_error(requested: Any, n: int) -> None:
    configure(target="c")
    new = Field(Mesh.planar((2, 2), layers=3).space("W3"), values=0.0)
    wanted = r"line \d+: .*: local arrays have \d+ elements, but at most 131072"
    with pytest.raises(IndexError, match=wanted):
        invoke(requested(new, n), name="large")
    configure()


@pytest.mark.parametrize("requested", [first, last, far], ids=lambda one: one.function.__name__)
@pytest.mark.parametrize("n", [2, 1, 0, -1, -(2**31) + 1])
@pytest.mark.usefixtures("target")
def test_an_empty_array_has_no_elements(requested: Any, n: int) -> None:
    new = Field(Mesh.planar((2, 2), layers=3).space("W3"), values=0.0)
    if n > 0:
        invoke(requested(new, n), name="filled")
        wanted = requested.at(np.zeros((1, 3)), n)
        np.testing.assert_array_equal(np.reshape(new.storage.data_ro, (-1, 3))[0], np.ravel(wanted))
        return
    with pytest.raises((IndexError, ValueError)):
        requested.at(np.zeros((1, 3)), n)
    with pytest.raises((IndexError, ValueError, PoisonedDataError), match=r"out of|negative"):
        invoke(requested(new, n), name="empty")
