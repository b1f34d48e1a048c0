"""LFRic's matrix-vector product on W2: in Python as C, in Fortran, and by Numba, on the same data.

    python benchmarks/product.py                          a mesh of 16 x 16 columns of 40 layers
    python benchmarks/product.py --cells 64 --layers 40   a larger one

A matrix of 6 x 6 for each cell multiplies what the cell has of x, and what it gives is added to y,
which is zero before. The kernel is that of `fortran/lfric/kernels`: as Fortran it is compiled with
link-time optimisation, with the loop over cells in another file; products are not added to at once
in any of them, so that all have the same bits. They take turns, in one process, and the least CPU
time of each is printed.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.lfric import (
    CELL_COLUMN,
    GH_INC,
    GH_READ,
    W2,
    configure,
    dofs,
    field,
    invoke,
    kernel,
    layers,
    operator,
    setval_c,
)
from psyclone_storage.runtime.lfric import Field, Mesh, Operator

ROOT = Path(__file__).resolve().parents[1]
LFRIC = ROOT / "external" / "lfric_infrastructure"
SOURCES = (
    LFRIC / "precision" / "uniform" / "precision_kinds_mod.f90",
    LFRIC / "utilities" / "constants_mod.f90",
    LFRIC / "function_space" / "fs_continuity_mod.f90",
    LFRIC / "kernel_metadata" / "argument_mod.f90",
    LFRIC / "kernel_metadata" / "kernel_mod.f90",
    ROOT / "benchmarks" / "fortran" / "lfric" / "kernels" / "multiply_kernel_mod.f90",
)
FLAGS = (
    "-O3", "-march=native", "-ffp-contract=off", "-flto", "-fPIC", "-fno-semantic-interposition",
)  # fmt: skip
"""A library whose functions others might replace has none of them in line."""
LOOP = """\
subroutine product(y, x, matrix, map, ncell, nlayers, ndf, undf) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use multiply_kernel_mod, only: multiply_code
  implicit none
  integer(c_int), value :: ncell, nlayers, ndf, undf
  real(c_double), intent(inout) :: y(undf)
  real(c_double), intent(in) :: x(undf), matrix(ncell * nlayers, ndf, ndf)
  integer(c_int), intent(in) :: map(ndf, ncell)
  integer(c_int) :: cell
  y = 0.0_c_double
  do cell = 1, ncell
    call multiply_code(cell, nlayers, y, x, ncell * nlayers, matrix, ndf, undf, map(:, cell))
  end do
end subroutine product
"""
Call = Callable[[], object]


@kernel(operates_on=CELL_COLUMN)
def multiply(y: field[GH_INC, W2], x: field[GH_READ, W2], matrix: operator[GH_READ, W2, W2]):
    """Add the product for one column, a layer in the innermost loop."""
    for column in dofs(W2):
        for row in dofs(W2):
            for k in layers():
                y[row, k] += matrix[row, column, k] * x[column, k]


def product(y: Field, x: Field, matrix: Operator) -> None:
    """Do the invoke."""
    invoke(setval_c(y, 0.0), multiply(y, x, matrix), name="product")


class Problem:
    """A mesh with two fields and an operator, and the arrays behind them."""

    def __init__(self, cells: int, height: int) -> None:
        space = Mesh.planar((cells, cells), layers=height).space("W2")
        random = np.random.default_rng(1)
        self.y, self.x = Field(space, "y"), Field(space, "x")
        self.matrix = Operator(space, space, "matrix")
        for one in (self.x, self.matrix):
            one.storage[...] = random.random(one.storage.shape)
        self.dofmap, self.height = space.dofmap, height
        self.columns = self.matrix.ncell_3d // height

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """What is used on the host: y, x and the matrices."""
        return tuple(one.storage.to_numpy() for one in (self.y, self.x, self.matrix))


def in_fortran(given: Problem, scratch: Path) -> Call:
    """Return the product as gfortran compiles it, with link-time optimisation."""
    loop = scratch / "loop.f90"
    loop.write_text(LOOP, encoding="utf-8")
    objects = []
    for source in (*SOURCES, loop):
        objects.append(str(scratch / f"{source.stem}.o"))
        command = ["gfortran", *FLAGS, "-J", str(scratch), "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    library = scratch / "product.so"
    subprocess.run(["gfortran", *FLAGS, "-shared", "-o", str(library), *objects], check=True)
    function = ctypes.CDLL(str(library)).product
    arrays = (*given.arrays, given.dofmap)
    passed = [ctypes.c_void_p(one.ctypes.data) for one in arrays]
    counts = given.columns, given.height, len(given.dofmap), given.arrays[0].size
    return lambda: function(*passed, *counts)


def by_numba(given: Problem, _: Path) -> Call:
    """Return the product as Numba compiles it."""
    import numba  # noqa: PLC0415

    @numba.njit(error_model="numpy")
    def loop(y: Any, x: Any, matrix: Any, dofmap: Any, height: int) -> None:
        y[:] = 0.0
        for cell in range(dofmap.shape[1]):
            for column in range(dofmap.shape[0]):
                for row in range(dofmap.shape[0]):
                    into, at = dofmap[row, cell] - 1, dofmap[column, cell] - 1
                    for k in range(height):
                        y[into + k] += matrix[cell * height + k, row, column] * x[at + k]

    return lambda: loop(*given.arrays, given.dofmap, given.height)


def function_of_last_invoke() -> Call:
    """Return the function in C of the invoke that ran last, with tables that are ready."""
    routine = list(PROGRAM.session.compiled.values())[-1].routine
    (known,) = routine.__globals__["_INVOKE_PRODUCT"]._known.values()  # noqa: SLF001
    (function,) = known.functions
    (run,) = known.free
    return lambda: function(*run.tables)


def least_in_turn(calls: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """Return the least CPU time of each call, in microseconds; they take turns.

    Each is met after any other: what that leaves in the caches is part of what a call takes.
    """
    found = dict.fromkeys(calls, float("inf"))
    order, chance = [*calls.items()], Random(1)
    for _ in range(rounds):
        chance.shuffle(order)
        for name, call in order:
            begin = time.thread_time()
            call()
            found[name] = min(found[name], (time.thread_time() - begin) * 1e6)
    return found


def compare(cells: int, height: int, rounds: int = 300) -> None:
    """Print what the product takes.

    Raises:
        ValueError: they do not agree.
    """
    configure(distributed=False)
    given = Problem(cells, height)
    calls: dict[str, Call] = {"C": lambda: product(given.y, given.x, given.matrix)}
    calls["C"]()
    calls["its function"] = function_of_last_invoke()
    result = given.arrays[0]
    expected = result.copy()
    with tempfile.TemporaryDirectory() as scratch:
        for name, make in (("Fortran", in_fortran), ("Numba", by_numba)):
            try:
                calls[name] = make(given, Path(scratch))
            except (ImportError, FileNotFoundError) as error:
                print(f"{name} is not measured: {error}")
        for name, call in calls.items():
            result[...] = 1.0
            call()
            if not np.array_equal(result, expected):
                raise ValueError(f"The product by {name} is another one.")
        found = least_in_turn(calls, rounds)
    configure()
    print(f"LFRic's product on {cells} x {cells} columns of {height} layers, in us")
    for name, took in found.items():
        print(f"  {name:18}{took:10.1f}   C takes {found['C'] / took:.2f} of it")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time LFRic's matrix-vector product.")
    parser.add_argument("--cells", type=int, default=16, help="columns along each side")
    parser.add_argument("--layers", type=int, default=40)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    compare(given.cells, given.layers)


if __name__ == "__main__":
    main()
