"""Integers of more than 32 bits are errors with a message in the NumPy target."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.lfric import *
from psyclone_storage.runtime.computing import kept_whole, whole_number
from psyclone_storage.runtime.lfric import Field, Mesh

LEAST, MOST = -(2**31), 2**31 - 1


@kernel(operates_on=DOF)
def cut(x: field[GH_READWRITE, W3], n: field[GH_INTEGER, GH_READWRITE, W3], a: scalar[GH_READ]):
    m = int(a) + math.floor(-0.5)
    n[0] = m * n[0] + math.ceil(x[0])
    x[0] = m


@kernel(operates_on=CELL_COLUMN)
def times(n: field[GH_INTEGER, GH_WRITE, W3], by: scalar[GH_INTEGER, GH_READ]):
    product = by * 65536
    for k in layers():
        n[0, k] = product + k


@pytest.fixture
def mesh() -> Iterator[Mesh]:
    if find_fortran_compiler() is None or find_c_compiler() is None:
        pytest.skip("no compilers")
    yield Mesh.planar((3, 3), layers=2)
    configure()


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_what_has_32_bits_is_the_same(mesh: Mesh, target: str) -> None:
    configure(target=target)
    x, n = Field(mesh.space("W3"), values=2.5), Field(mesh.space("W3"), dtype="i_def", values=3)
    invoke(cut(x, n, -7.9), times(last := Field(mesh.space("W3"), dtype="i_def"), -32768))
    assert set(n.values.tolist()) == {-8 * 3 + 3}
    assert set(x.values.tolist()) == {-8.0}
    assert set(last.values.tolist()) == {LEAST, LEAST + 1}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2.0**31, -(2.0**31) - 1.0])
def test_what_has_not_is_an_error_by_numpy(mesh: Mesh, value: float) -> None:
    configure(target="numpy")
    x, n = Field(mesh.space("W3")), Field(mesh.space("W3"), dtype="i_def")
    with pytest.raises(OverflowError, match="makes a 32-bit integer of"):
        invoke(cut(x, n, value))
    with pytest.raises(OverflowError, match=r"keeps the integer 2147483648 in 32 bits"):
        invoke(times(Field(mesh.space("W3"), dtype="i_def"), 32768))


def test_bounds_are_those_of_32_bits() -> None:
    for value in (MOST + 0.999, LEAST - 0.999, -0.5, 0.0):
        assert whole_number(value) == int(value)
        assert type(whole_number(np.float64(value))) is int
    several = np.array([math.nan, 1.5, math.inf, -1.5, 2.0**31])
    np.testing.assert_array_equal(whole_number(several), [LEAST, 1, LEAST, -1, LEAST])
    assert kept_whole(MOST) == MOST
    assert kept_whole(LEAST) == LEAST
    for beyond in (MOST + 1, LEAST - 1):
        with pytest.raises(OverflowError):
            kept_whole(beyond)
