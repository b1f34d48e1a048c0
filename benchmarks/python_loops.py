"""Loops of kernels in Python as C, beside Fortran, Numba, GT4Py and NumPy, in one process.

    python benchmarks/python_loops.py                a grid of 1024 x 1024 points
    python benchmarks/python_loops.py --points 2048  a larger one

Continuity changes heights by what flows in and out. Momentum changes a velocity by what is carried
along (upwind), friction, the earth's rotation and the slope of the surface, as models of shallow
water do; it takes a square root for friction at the bottom. Fortran has the kernel in a module and
the loop in another file, and is compiled with link-time optimisation; products are not added to at
once in any of them, and all but GT4Py have to leave the same bits. Numba and GT4Py
(`gt:cpu_ifirst`) are measured where they are installed. They take turns; the least CPU time of
each is printed, of one thread.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from product import least_in_turn
from python import flow

from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_NE,
    GO_R_SCALAR,
    GO_READ,
    GO_STENCIL,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid

Call = Callable[[], object]
FLAGS = (
    "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-flto", "-fPIC",
    "-fno-semantic-interposition",
)  # fmt: skip
"""A library whose functions others might replace has none of them in line."""
ROUNDS = 150


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def momentum(  # noqa: PLR0913, PLR0917 - what it computes with
    new: field[GO_WRITE, GO_CT],
    u: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],
    v: field[GO_READ, GO_CT, GO_STENCIL("000,011,011")],
    height: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    turning: field[GO_READ, GO_CT],
    step: scalar[GO_READ, GO_R_SCALAR],
):
    """Change a velocity by advection, friction, rotation and slope."""
    across = 0.25 * (v[0, 0] + v[1, 0] + v[0, -1] + v[1, -1])
    east = 0.5 * (u[0, 0] + u[1, 0])
    west = 0.5 * (u[-1, 0] + u[0, 0])
    north = 0.5 * (v[0, 0] + v[1, 0])
    south = 0.5 * (v[0, -1] + v[1, -1])
    carried = 0.5 * (
        (east + abs(east)) * u[0, 0] + (east - abs(east)) * u[1, 0]
        - (west + abs(west)) * u[-1, 0] - (west - abs(west)) * u[0, 0]
        + (north + abs(north)) * u[0, 0] + (north - abs(north)) * u[0, 1]
        - (south + abs(south)) * u[0, -1] - (south - abs(south)) * u[0, 0]
    )  # fmt: skip
    spread = 0.1 * (u[1, 0] + u[-1, 0] + u[0, 1] + u[0, -1] - 4.0 * u[0, 0])
    water = 1.0 + 0.5 * (height[0, 0] + height[1, 0])
    drag = 0.003 * sqrt(u[0, 0] * u[0, 0] + across * across) / water
    slope = 9.81 * (height[1, 0] - height[0, 0])
    new[0, 0] = (u[0, 0] + step * (spread - carried + turning[0, 0] * across - slope)) / (
        1.0 + step * drag
    )


def push(new: Field, u: Field, v: Field, height: Field, turning: Field) -> None:
    """Do the invoke of momentum."""
    step = 0.1
    invoke(momentum(new, u, v, height, turning, step), name="push")


CONTINUITY = """\
module kernel_mod
contains
  pure subroutine code(i, j, nx, ny, new, old, u, v, depth, step)
    integer, intent(in) :: i, j, nx, ny
    double precision, intent(inout) :: new(nx, ny)
    double precision, intent(in) :: old(nx, ny), u(nx, ny), v(nx, ny), depth(nx, ny), step
    new(i, j) = old(i, j) - step * depth(i, j) * (u(i, j) - u(i - 1, j) + v(i, j) - v(i, j - 1))
  end subroutine code
end module kernel_mod
"""
MOMENTUM = """\
module kernel_mod
contains
  pure subroutine code(i, j, nx, ny, new, u, v, height, turning, step)
    integer, intent(in) :: i, j, nx, ny
    double precision, intent(inout) :: new(nx, ny)
    double precision, intent(in) :: u(nx, ny), v(nx, ny), height(nx, ny), turning(nx, ny), step
    double precision :: across, east, west, north, south, carried, spread, water, drag, slope
    across = 0.25d0 * (v(i, j) + v(i + 1, j) + v(i, j - 1) + v(i + 1, j - 1))
    east = 0.5d0 * (u(i, j) + u(i + 1, j))
    west = 0.5d0 * (u(i - 1, j) + u(i, j))
    north = 0.5d0 * (v(i, j) + v(i + 1, j))
    south = 0.5d0 * (v(i, j - 1) + v(i + 1, j - 1))
    carried = 0.5d0 * ((east + abs(east)) * u(i, j) + (east - abs(east)) * u(i + 1, j) &
      - (west + abs(west)) * u(i - 1, j) - (west - abs(west)) * u(i, j) &
      + (north + abs(north)) * u(i, j) + (north - abs(north)) * u(i, j + 1) &
      - (south + abs(south)) * u(i, j - 1) - (south - abs(south)) * u(i, j))
    spread = 0.1d0 * (u(i + 1, j) + u(i - 1, j) + u(i, j + 1) + u(i, j - 1) - 4.0d0 * u(i, j))
    water = 1.0d0 + 0.5d0 * (height(i, j) + height(i + 1, j))
    drag = 0.003d0 * sqrt(u(i, j) * u(i, j) + across * across) / water
    slope = 9.81d0 * (height(i + 1, j) - height(i, j))
    new(i, j) = (u(i, j) + step * (spread - carried + turning(i, j) * across - slope)) &
      / (1.0d0 + step * drag)
  end subroutine code
end module kernel_mod
"""
LOOP = """\
subroutine loop(new, one, two, three, four, nx, ny, columns, rows, step) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use kernel_mod, only: code
  implicit none
  integer(c_int), value :: nx, ny, columns, rows
  real(c_double), value :: step
  real(c_double), intent(inout) :: new(nx, ny)
  real(c_double), intent(in) :: one(nx, ny), two(nx, ny), three(nx, ny), four(nx, ny)
  integer :: i, j
  do j = 2, rows
    do i = 2, columns
      call code(i, j, nx, ny, new, one, two, three, four, step)
    end do
  end do
end subroutine loop
"""


@dataclass(frozen=True)
class Problem:
    """A kernel: its invoke, its text in Fortran, and what makes it for Numba and for GT4Py."""

    name: str
    invoke: Callable[..., None]
    fortran: str
    numba: Callable[[], Callable[..., None]]
    gt4py: Callable[[], Callable[..., Any]]


def continuity_by_numba() -> Callable[..., None]:
    """Return a loop of continuity."""
    import numba  # noqa: PLC0415

    @numba.njit(error_model="numpy")
    def loop(new: Any, inputs: Any, columns: int, rows: int, step: float) -> None:
        old, u, v, depth = inputs
        for j in range(1, rows):
            for i in range(1, columns):
                new[i, j] = old[i, j] - step * depth[i, j] * (
                    u[i, j] - u[i - 1, j] + v[i, j] - v[i, j - 1]
                )

    return loop


def momentum_by_numba() -> Callable[..., None]:
    """Return a loop of momentum."""
    import numba  # noqa: PLC0415

    @numba.njit(error_model="numpy")
    def loop(new: Any, inputs: Any, columns: int, rows: int, step: float) -> None:
        u, v, height, turning = inputs
        for j in range(1, rows):
            for i in range(1, columns):
                across = 0.25 * (v[i, j] + v[i + 1, j] + v[i, j - 1] + v[i + 1, j - 1])
                east = 0.5 * (u[i, j] + u[i + 1, j])
                west = 0.5 * (u[i - 1, j] + u[i, j])
                north = 0.5 * (v[i, j] + v[i + 1, j])
                south = 0.5 * (v[i, j - 1] + v[i + 1, j - 1])
                carried = 0.5 * (
                    (east + abs(east)) * u[i, j] + (east - abs(east)) * u[i + 1, j]
                    - (west + abs(west)) * u[i - 1, j] - (west - abs(west)) * u[i, j]
                    + (north + abs(north)) * u[i, j] + (north - abs(north)) * u[i, j + 1]
                    - (south + abs(south)) * u[i, j - 1] - (south - abs(south)) * u[i, j]
                )  # fmt: skip
                spread = 0.1 * (
                    u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j]
                )
                water = 1.0 + 0.5 * (height[i, j] + height[i + 1, j])
                drag = 0.003 * np.sqrt(u[i, j] * u[i, j] + across * across) / water
                slope = 9.81 * (height[i + 1, j] - height[i, j])
                new[i, j] = (
                    u[i, j] + step * (spread - carried + turning[i, j] * across - slope)
                ) / (1.0 + step * drag)

    return loop


def continuity_by_gt4py() -> Callable[..., Any]:
    """Return what GT4Py makes of continuity."""
    from gt4py.cartesian.gtscript import PARALLEL, computation, interval  # noqa: PLC0415

    def definition(result: Any, one: Any, two: Any, three: Any, four: Any, step: Any) -> None:  # noqa: PLR0913, PLR0917
        with computation(PARALLEL), interval(...):
            result = one - step * four * (  # noqa: F841
                two - two[-1, 0, 0] + three - three[0, -1, 0]
            )

    return definition


def momentum_by_gt4py() -> Callable[..., Any]:
    """Return what GT4Py makes of momentum; its inputs are u, v, height and turning, in order."""
    from gt4py.cartesian.gtscript import (  # noqa: PLC0415
        PARALLEL,
        computation,
        interval,
        sqrt,
    )

    def definition(result: Any, one: Any, two: Any, three: Any, four: Any, step: Any) -> None:  # noqa: PLR0913, PLR0917
        with computation(PARALLEL), interval(...):
            across = 0.25 * (two + two[1, 0, 0] + two[0, -1, 0] + two[1, -1, 0])
            east = 0.5 * (one + one[1, 0, 0])
            west = 0.5 * (one[-1, 0, 0] + one)
            north = 0.5 * (two + two[1, 0, 0])
            south = 0.5 * (two[0, -1, 0] + two[1, -1, 0])
            carried = 0.5 * (
                (east + abs(east)) * one + (east - abs(east)) * one[1, 0, 0]
                - (west + abs(west)) * one[-1, 0, 0] - (west - abs(west)) * one
                + (north + abs(north)) * one + (north - abs(north)) * one[0, 1, 0]
                - (south + abs(south)) * one[0, -1, 0] - (south - abs(south)) * one
            )  # fmt: skip
            spread = 0.1 * (one[1, 0, 0] + one[-1, 0, 0] + one[0, 1, 0] + one[0, -1, 0] - 4.0 * one)
            water = 1.0 + 0.5 * (three + three[1, 0, 0])
            drag = 0.003 * sqrt(one * one + across * across) / water
            slope = 9.81 * (three[1, 0, 0] - three)
            result = (one + step * (spread - carried + four * across - slope)) / (  # noqa: F841
                1.0 + step * drag
            )

    return definition


PROBLEMS = (
    Problem("continuity", flow, CONTINUITY, continuity_by_numba, continuity_by_gt4py),
    Problem("momentum", push, MOMENTUM, momentum_by_numba, momentum_by_gt4py),
)
Arrays = Sequence[Any]


def in_fortran(problem: Problem, arrays: Arrays, scratch: Path) -> Call:
    """Return the loop as gfortran compiles it, with link-time optimisation."""
    folder = scratch / problem.name
    folder.mkdir()
    objects = []
    for name, text in (("kernel_mod", problem.fortran), ("loop", LOOP)):
        source = folder / f"{name}.f90"
        source.write_text(text, encoding="utf-8")
        objects.append(str(folder / f"{name}.o"))
        command = ["gfortran", *FLAGS, "-J", str(folder), "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    library = folder / "loop.so"
    subprocess.run(["gfortran", *FLAGS, "-shared", "-o", str(library), *objects], check=True)
    function = ctypes.CDLL(str(library)).loop
    nx, ny = arrays[0].shape
    passed = [ctypes.c_void_p(one.ctypes.data) for one in arrays]
    counts = nx, ny, nx - 2, ny - 2
    return lambda: function(*passed, *counts, ctypes.c_double(0.1))


def by_numba(problem: Problem, arrays: Arrays, _: Path) -> Call:
    """Return the loop as Numba compiles it."""
    loop = problem.numba()
    new, inputs = arrays[0], tuple(arrays[1:])
    nx, ny = new.shape
    return lambda: loop(new, inputs, nx - 2, ny - 2, 0.1)


def by_gt4py(problem: Problem, arrays: Arrays, _: Path) -> Call:
    """Return the loop as GT4Py compiles it, over planes of one level."""
    import distutils.sysconfig  # noqa: PLC0415  # pylint: disable=deprecated-module

    from gt4py.cartesian import gtscript  # noqa: PLC0415

    distutils.sysconfig.get_config_vars()  # GT4Py reads what this leaves behind
    names = ("result", "one", "two", "three", "four")
    definition = problem.gt4py()
    plane = gtscript.Field[np.float64]
    definition.__annotations__ = {**dict.fromkeys(names, plane), "step": float}
    try:
        stencil = gtscript.stencil("gt:cpu_ifirst", definition)
    except (Exception, SystemExit) as error:  # its compilers may be missing
        raise ImportError(f"its {type(error).__name__} here, when it compiles") from error
    columns, rows = arrays[0].shape
    named = {name: one[:, :, None] for name, one in zip(names, arrays, strict=True)}
    return lambda: stencil(**named, step=0.1, origin=(1, 1, 0), domain=(columns - 3, rows - 3, 1),
                           validate_args=False)  # fmt: skip


def function_of_last_invoke() -> Call:
    """Return the function in C of the invoke that ran last, with tables that are ready."""
    routine = list(PROGRAM.session.compiled.values())[-1].routine
    kept = next(one for name, one in routine.__globals__.items() if name.startswith("_INVOKE_"))
    (known,) = kept._known.values()  # noqa: SLF001
    (run,), (function,) = known.free, known.functions
    return lambda: function(*run.tables, 0.1)


def compare(problem: Problem, points: int, rounds: int = ROUNDS) -> None:
    """Print what the loops of a problem take.

    Raises:
        ValueError: they do not agree.
    """
    random = np.random.default_rng(1)
    grid = Grid((points, points), boundaries="open")
    fields = [Field(grid, values=random.random((points, points))) for _ in range(5)]
    configure(distributed=False)
    calls: dict[str, Call] = {"C": lambda: problem.invoke(*fields)}
    calls["C"]()
    calls["its function"] = function_of_last_invoke()
    arrays = [one.storage.to_numpy() for one in fields]
    expected = arrays[0].copy()
    with tempfile.TemporaryDirectory() as scratch:
        for name, make in (("Fortran", in_fortran), ("Numba", by_numba), ("GT4Py", by_gt4py)):
            try:
                calls[name] = make(problem, arrays, Path(scratch))
            except (ImportError, FileNotFoundError) as error:
                print(f"{name} is not measured: {str(error).splitlines()[0]}")
        for name, call in calls.items():
            arrays[0][1:-2, 1:-2] = -1.0
            call()
            alike = np.allclose if name == "GT4Py" else np.array_equal
            if not alike(arrays[0], expected):
                raise ValueError(f"{problem.name} by {name} is another one.")
        found = least_in_turn(calls, rounds)
    configure(distributed=False, target="numpy")
    problem.invoke(*fields)
    found |= least_in_turn({"NumPy": lambda: problem.invoke(*fields)}, 5)
    if not np.array_equal(arrays[0], expected):
        raise ValueError(f"{problem.name} by NumPy is another one.")
    configure()
    print(f"{problem.name} on {points} x {points} points, in us")
    for name, took in found.items():
        print(f"  {name:18}{took:10.0f}   C has {took / found['C']:.2f} times its speed")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time loops of kernels in Python.")
    parser.add_argument("--points", type=int, default=1024, help="points along each side")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for problem in PROBLEMS:
        compare(problem, given.points)


if __name__ == "__main__":
    main()
