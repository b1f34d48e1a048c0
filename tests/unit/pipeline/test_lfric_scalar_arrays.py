"""Arrays of numbers in calls of LFRic's kernels in Python: all ranks and types, on all targets."""

# ruff: noqa: F403, F405

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage
from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.lfric import *
from psyclone_storage.runtime.lfric import Field, Mesh
from unit.pipeline.test_lfric_precision import built, routine

pytestmark = pytest.mark.skipif(
    find_fortran_compiler() is None or find_c_compiler() is None, reason="no compilers"
)


@kernel(operates_on=CELL_COLUMN)
def look_up(
    x: field[GH_WRITE, W3],
    table: scalar_array[GH_REAL, GH_READ, 2],
    steps: scalar_array[GH_INTEGER, GH_READ, 1],
    dims: scalar_array[GH_LOGICAL, GH_READ, 3],
    count: scalar[GH_INTEGER, GH_READ],
):
    """Add some elements; the names are those that generated code would have liked."""
    for k in layers():
        x[0, k] = 0.0
        for n in range(count):
            if dims[0, 1, n]:
                x[0, k] += table[n, k] * steps[n]


@kernel(operates_on=DOF)
def scale(x: field[GH_READWRITE, W3], by: scalar_array[GH_REAL, GH_READ, 1]):
    x[0] = x[0] * by[1] + by[0]


@pytest.fixture(params=["c", "cuda", "numpy"])
def mesh(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    storage.use_device("emulated")
    configure(target=request.param)
    yield Mesh.planar((4, 3), layers=3, device="gpu" if request.param == "cuda" else None)
    configure()
    storage.use_device("auto")


def data() -> tuple[Any, Any, Any]:
    dims = np.zeros((2, 2, 2), bool)
    dims[0, 1, 1] = True
    return np.arange(6.0).reshape(2, 3) / 7, np.array([3, -5]), dims


def test_elements_are_those_of_the_array(mesh: Mesh) -> None:
    table, steps, dims = data()
    x = Field(mesh.space("W3"), "x")

    def call(table: Any, steps: Any, dims: Any, count: int = 2) -> Any:
        invoke(look_up(x, table, steps, dims, count))
        return np.array(x.values).reshape(-1, 3)

    wanted = np.tile(-5 * table[1], (12, 1))
    for _ in range(2):
        np.testing.assert_array_equal(call(table, steps, dims), wanted)
    in_order = call(np.asfortranarray(table), steps.astype(np.int8), dims)
    np.testing.assert_array_equal(in_order, wanted)
    every = np.zeros((4, 6))
    every[::2, ::-2] = table
    np.testing.assert_array_equal(call(every[::2, ::-2], steps, dims), wanted)
    dims[0, 1, 0] = True
    np.testing.assert_array_equal(call(table, steps, dims), wanted + 3 * table[0])
    assert not call(table[:0], steps[:0], dims[:, :, :0], 0).any(), "there may be no elements"


def test_arrays_are_what_they_were_when_they_were_passed(mesh: Mesh) -> None:
    """Neither a change behind the call counts, nor that the array is that of the field."""
    x, by = Field(mesh.space("W3"), "x", values=1.0), np.array([0.5, 3.0])
    invoke(scale(x, by))
    by[:] = np.nan
    np.testing.assert_array_equal(x.values, 3.5)
    if mesh.device is None:
        invoke(scale(x, np.asarray(x.storage.data)[:2]))
        np.testing.assert_array_equal(x.values, 3.5 * 3.5 + 3.5)


def test_what_is_no_such_array_is_refused_by_its_name(mesh: Mesh) -> None:
    table, steps, dims = data()
    x = Field(mesh.space("W3"), "x", values=7.0)

    def call(table: Any, steps: Any, dims: Any) -> None:
        invoke(look_up(x, table, steps, dims, 2))

    call(table, steps, dims)
    before = np.array(x.values)
    refused: list[tuple[Callable[[], None], type[Exception], str]] = [
        (lambda: call(table[0], steps, dims), ValueError, "'table' .* 2 dimensions .*(3,)"),
        (lambda: call(table, steps.reshape(1, 2), dims), ValueError, "'steps' .*1 dimension .*"),
        (lambda: call(table, np.array([0.5, 1.0]), dims), TypeError, "'steps'.*int32.*float64"),
        (lambda: call(table, steps > 0, dims), TypeError, "'steps'.*int32.*bool"),
        (lambda: call(table, np.array([1, 2**31]), dims), OverflowError, "'steps'.*32-bit"),
        (lambda: call(table, steps, dims * 1), TypeError, "'.*dims.*'.*True and False.*int64"),
        (lambda: call(table.astype(complex), steps, dims), TypeError, "'table'.*complex128"),
        (lambda: call([1.0, 2.0], steps, dims), TypeError, "takes an array of NumPy, not a list"),
        (lambda: call(2.0, steps, dims), TypeError, "takes an array of NumPy, not a float"),
    ]
    for action, error, match in refused:
        with pytest.raises(error, match=re.compile(match.replace("(3,)", re.escape("(3,)")))):
            action()
    np.testing.assert_array_equal(x.values, before)


KERNEL = """
@kernel(operates_on=CELL_COLUMN)
def look(x: field[GH_WRITE, W3], table: scalar_array[GH_REAL, GH_READ, 2]):
    for k in layers():
        x[0, k] = 0.1 * table[1, 0]


def step(x{0}, table{1}):
    invoke(look(x, table), name="step")
"""


def test_arrays_have_precisions_too(tmp_path: Any) -> None:
    space = Mesh.planar((3, 3), layers=2).space("W3")
    table = np.array([[0.1], [0.3]])
    for said, kind, type_ in (("", "r_def", "f8"), ("r_solver", "r_solver", "f4")):
        words = (f": {said}_field_type", f": {said}[:, :]") if said else ("", "")
        step = routine(built(KERNEL.format(*words), folder=tmp_path))
        x = Field(space, "x", dtype=kind)
        step(x, table.astype(type_))
        one = np.dtype(type_).type
        np.testing.assert_array_equal(x.values, one(0.1) * one(0.3))
    with pytest.raises(TypeError, match=r"'table' .* float32 .* float64"):
        step(x, table)
