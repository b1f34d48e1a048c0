"""Bounds checks while a program runs: by BOUNDS_CHECKS, on the host and on an emulated device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psyclone_storage import gocean, storage
from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.lfric import (
    CELL_COLUMN,
    GH_INTEGER,
    GH_READ,
    GH_WRITE,
    W3,
    configure,
    field,
    invoke,
    kernel,
    layers,
    scalar,
)  # fmt: skip
from psyclone_storage.runtime import gocean as grids
from psyclone_storage.runtime.lfric import Field, Mesh

pytestmark = pytest.mark.skipif(
    find_c_compiler() is None or find_fortran_compiler() is None, reason="no compilers"
)


@kernel(operates_on=CELL_COLUMN)
def shift(new: field[GH_WRITE, W3], old: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
    """Read `n` layers above."""
    for k in layers():
        new[0, k] = old[0, k + n]


@kernel(operates_on=CELL_COLUMN)
def pick(new: field[GH_WRITE, W3], old: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
    """Read a dof, and change an array of the kernel."""
    for k in layers():
        a = np.zeros((2, 3))
        a[1, n] = old[0, k]
        new[0, k] = a[1, n] + old[n - 1, k] + old[int(old[0, k]) - 1, k]


@kernel(operates_on=CELL_COLUMN)
def scatter(new: field[GH_WRITE, W3], old: field[GH_READ, W3], n: scalar[GH_INTEGER, GH_READ]):
    """Write `n` layers above."""
    for k in layers():
        new[0, k + n] = old[0, k]


@gocean.kernel(iterates_over=gocean.GO_INTERNAL_PTS, index_offset=gocean.GO_OFFSET_NE)
def east(
    new: gocean.field[gocean.GO_WRITE, gocean.GO_CT],
    old: gocean.field[gocean.GO_READ, gocean.GO_CT, gocean.GO_STENCIL("000", "011", "000")],
):
    new[0, 0] = old[1, 0]


@pytest.fixture(params=["c", "cuda"], autouse=True)
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the target for which invokes are compiled, with bounds checks."""
    wanted: str = request.param
    storage.use_device("emulated")
    configure(target=wanted, config_opts="BOUNDS_CHECKS=true")
    gocean.configure(target=wanted, config_opts="BOUNDS_CHECKS=true")
    yield wanted
    storage.use_device("auto")
    configure()
    gocean.configure()


def fields(target: str) -> tuple[Field, Field]:
    mesh = Mesh.planar((3, 3), layers=4, device="gpu" if target == "cuda" else None)
    return Field(mesh.space("W3")), Field(mesh.space("W3"), values=1.0)


def run(requested: Any, new: Field, old: Field, n: int) -> None:
    """Run a kernel, and wait for it."""
    invoke(requested(new, old, n))
    new.sum()


@pytest.mark.parametrize(
    ("requested", "n", "line", "array", "index"),
    [
        (shift, 1, "new[0, k] = old[0, k + n]", "'old'", 36),
        (shift, -1, "new[0, k] = old[0, k + n]", "'old'", -1),
        (shift, 2**30, "new[0, k] = old[0, k + n]", "'old'", 2**30),
        (scatter, 1, "new[0, k + n] = old[0, k]", "'new'", 36),
        (scatter, -1, "new[0, k + n] = old[0, k]", "'new'", -1),
        (pick, 3, "a[1, n] = old[0, k]", "dimension 2 of 'a'", 3),
        (pick, -1, "a[1, n] = old[0, k]", "dimension 2 of 'a'", -1),
        (pick, 2, "new[0, k] = a[1, n] + old[n - 1, k]", "'map_w3'", 1),
        (pick, 0, "new[0, k] = a[1, n] + old[n - 1, k]", "'map_w3'", -1),
    ],
)
def test_an_index_out_of_bounds_is_reported(  # noqa: PLR0913, PLR0917
    target: str, requested: Any, n: int, line: str, array: str, index: int
) -> None:
    new, old = fields(target)
    with pytest.raises(IndexError) as caught:
        run(requested, new, old, n)
    message = str(caught.value)
    assert message.startswith(f"kernel '{requested.function.__name__}', {__file__} line ")
    number = int(message.partition(" line ")[2].partition(":")[0])
    assert line in Path(__file__).read_text(encoding="utf-8").splitlines()[number - 1]
    assert f"{line}" in message
    assert f"{array}: index {index} is out of bounds" in message


def test_the_next_invoke_is_checked_anew(target: str) -> None:
    for n in (1, 0, 1):
        new, old = fields(target)
        if n:
            with pytest.raises(IndexError):
                run(shift, new, old, n)
        else:
            invoke(shift(new, old, n))
            assert new.sum() == 36.0


def test_fields_of_grids_are_checked_as_well(target: str) -> None:
    grid = grids.Grid((4, 3), device="gpu" if target == "cuda" else None)
    values = np.arange(12.0).reshape(4, 3)
    new, old = grids.Field(grid), grids.Field(grid, values=values)
    gocean.invoke(east(new, old), name="to_the_east")
    assert new.values[:3].tolist() == values[1:].tolist()


def test_numpy_has_no_bounds_checks(target: str) -> None:
    configure(target="numpy", config_opts="BOUNDS_CHECKS=true")
    with pytest.raises(CompileError, match="G010: The target 'numpy' has no bounds checks"):
        invoke(shift(*fields("c"), 0))
    assert target
