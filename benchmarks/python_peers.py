"""Kernels in Python as C, compared with the same loops by Numba, in one process.

    python benchmarks/python_peers.py [--points 256] [--layers 32] [--rounds 40]

Three stencils: a filter of 7 x 7 points with a mask, advection with a limiter, and a momentum
equation with a mask. One kernel for columns (tridiagonal systems), and one in three dimensions
(upwind transport). Numba has arrays in C's order, loops in the order of memory, and no fast
arithmetic, as C has none; both use one thread, and all values have to be equal. The calls take
turns; the least CPU time of each is printed. Deferred invokes are compared with one invoke.
"""

# ruff: noqa: PLR0913, PLR0915, PLR0917 - loops with the arguments of kernels

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "python" / "ocean"))

from ocean_mod import carry, diffuse
from product import least_in_turn
from python import made_fields, move, moves

from psyclone_storage.gocean import (
    GO_CT,
    GO_CU,
    GO_CV,
    GO_GRID_MASK_T,
    GO_INTERNAL_PTS,
    GO_OFFSET_NE,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    GO_WRITE,
    complete_invokes,
    configure,
    field,
    grid_property,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid, Points

GOAL, GOAL_OF_DEFERRED = 1.5, 1.1
REACH = 3
WEIGHTS = tuple(
    tuple(1.0 / (1 + abs(i) + abs(j)) for i in range(-REACH, REACH + 1))
    for j in range(-REACH, REACH + 1)
)
TABLE = np.array(WEIGHTS)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth(
    new: field[GO_WRITE, GO_CT],
    old: field[
        GO_READ, GO_CT, GO_STENCIL("1111111,1111111,1111111,1111111,1111111,1111111,1111111")
    ],
    mask: grid_property[GO_GRID_MASK_T],
):
    """Set the weighted mean of the points of the sea."""
    total = 0.0
    weight = 0.0
    for j in range(-3, 4):
        for i in range(-3, 4):
            if mask[i, j] == 1:
                total += WEIGHTS[j + 3][i + 3] * old[i, j]
                weight += WEIGHTS[j + 3][i + 3]
    new[0, 0] = total / weight if mask[0, 0] == 1 else 0.0


def limited(first, second):
    """Return the smaller slope, or zero where the signs differ."""
    if first * second <= 0.0:
        return 0.0
    if abs(first) < abs(second):
        return first
    return second


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def advect(
    new: field[GO_WRITE, GO_CT],
    q: field[GO_READ, GO_CT, GO_STENCIL("000,212,000")],
    u: field[GO_READ, GO_CU, GO_STENCIL("000,110,000")],
    step: scalar[GO_READ, GO_R_SCALAR],
):
    """Move a tracer to the east, upwind with limited slopes."""
    east, west = u[0, 0], u[-1, 0]
    before, here = q[0, 0] - q[-1, 0], q[1, 0] - q[0, 0]
    if east > 0.0:
        out = east * (q[0, 0] + 0.5 * (1.0 - step * east) * limited(here, before))
    else:
        out = east * (q[1, 0] - 0.5 * (1.0 + step * east) * limited(q[2, 0] - q[1, 0], here))
    if west > 0.0:
        into = west * (q[-1, 0] + 0.5 * (1.0 - step * west) * limited(before, q[-1, 0] - q[-2, 0]))
    else:
        into = west * (q[0, 0] - 0.5 * (1.0 + step * west) * limited(here, before))
    new[0, 0] = q[0, 0] - step * (out - into)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def accelerate(
    u: field[GO_READWRITE, GO_CU],
    v: field[GO_READ, GO_CV, GO_STENCIL("000,011,011")],
    h: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    step: scalar[GO_READ, GO_R_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
    """Change a velocity at sea by rotation, slope and friction."""
    if mask[0, 0] == 1 and mask[1, 0] == 1:
        there = 0.25 * (v[0, 0] + v[1, 0] + v[0, -1] + v[1, -1])
        speed = sqrt(u[0, 0] * u[0, 0] + there * there)
        drag = 0.003 * speed / (1.0 + 0.5 * (h[0, 0] + h[1, 0]))
        gained = step * (1.0e-4 * there - 9.81 * (h[1, 0] - h[0, 0]))
        u[0, 0] = (u[0, 0] + gained) / (1.0 + step * drag)


def loops_by_numba() -> dict[str, Callable[..., None]]:  # noqa: C901 - one for each kernel
    """Return the loops of each kernel, over the columns and rows of a box."""
    import numba  # noqa: PLC0415

    njit = numba.njit(error_model="numpy")
    slope = njit(limited)

    @njit
    def smooth_loop(new: Any, old: Any, mask: Any, c0: int, c1: int, r0: int, r1: int) -> None:
        for i in range(c0, c1):
            for j in range(r0, r1):
                total = 0.0
                weight = 0.0
                for y in range(-3, 4):
                    for x in range(-3, 4):
                        if mask[i + x, j + y] == 1:
                            total += TABLE[y + 3, x + 3] * old[i + x, j + y]
                            weight += TABLE[y + 3, x + 3]
                new[i, j] = total / weight if mask[i, j] == 1 else 0.0

    @njit
    def advect_loop(
        new: Any, q: Any, u: Any, step: float, c0: int, c1: int, r0: int, r1: int
    ) -> None:
        for i in range(c0, c1):
            for j in range(r0, r1):
                east, west = u[i, j], u[i - 1, j]
                before, here = q[i, j] - q[i - 1, j], q[i + 1, j] - q[i, j]
                if east > 0.0:
                    out = east * (q[i, j] + 0.5 * (1.0 - step * east) * slope(here, before))
                else:
                    far = q[i + 2, j] - q[i + 1, j]
                    out = east * (q[i + 1, j] - 0.5 * (1.0 + step * east) * slope(far, here))
                if west > 0.0:
                    far = q[i - 1, j] - q[i - 2, j]
                    into = west * (q[i - 1, j] + 0.5 * (1.0 - step * west) * slope(before, far))
                else:
                    into = west * (q[i, j] - 0.5 * (1.0 + step * west) * slope(here, before))
                new[i, j] = q[i, j] - step * (out - into)

    @njit
    def accelerate_loop(
        u: Any, v: Any, h: Any, step: float, mask: Any, c0: int, c1: int, r0: int, r1: int
    ) -> None:
        for i in range(c0, c1):
            for j in range(r0, r1):
                if mask[i, j] == 1 and mask[i + 1, j] == 1:
                    there = 0.25 * (v[i, j] + v[i + 1, j] + v[i, j - 1] + v[i + 1, j - 1])
                    speed = sqrt(u[i, j] * u[i, j] + there * there)
                    drag = 0.003 * speed / (1.0 + 0.5 * (h[i, j] + h[i + 1, j]))
                    gained = step * (1.0e-4 * there - 9.81 * (h[i + 1, j] - h[i, j]))
                    u[i, j] = (u[i, j] + gained) / (1.0 + step * drag)

    @njit
    def diffuse_loop(
        values: Any, factor: Any, mixing: Any, c0: int, c1: int, r0: int, r1: int
    ) -> None:
        for i in range(c0, c1):
            for j in range(r0, r1):
                below = mixing[i, j, 1]
                pivot = 1.0 + below
                factor[i, j, 0] = below / pivot
                values[i, j, 0] /= pivot
                for k in range(1, values.shape[2]):
                    above = mixing[i, j, k]
                    below = mixing[i, j, k + 1]
                    pivot = 1.0 + above * (1.0 - factor[i, j, k - 1]) + below
                    factor[i, j, k] = below / pivot
                    values[i, j, k] = (values[i, j, k] + above * values[i, j, k - 1]) / pivot
                for k in range(values.shape[2] - 2, -1, -1):
                    values[i, j, k] += factor[i, j, k] * values[i, j, k + 1]

    @njit
    def carry_loop(
        new: Any,
        q: Any,
        u: Any,
        v: Any,
        surface: Any,
        step: float,
        thickness: float,
        dx: float,
        c0: int,
        c1: int,
        r0: int,
        r1: int,
    ) -> None:
        top = q.shape[2] - 1
        for i in range(c0, c1):
            for j in range(r0, r1):
                gathered = 0.0
                sinking = 0.0
                for k in range(top, -1, -1):
                    here = q[i, j, k]
                    east, west = u[i, j, k], u[i - 1, j, k]
                    north, south = v[i, j, k], v[i, j - 1, k]
                    into = (west - east) / dx + (south - north) / dx
                    flow = (max(west, 0.0) * (q[i - 1, j, k] - here)
                            - min(east, 0.0) * (q[i + 1, j, k] - here)) / dx  # fmt: skip
                    flow += (max(south, 0.0) * (q[i, j - 1, k] - here)
                             - min(north, 0.0) * (q[i, j + 1, k] - here)) / dx  # fmt: skip
                    if k < top:
                        flow += max(sinking, 0.0) * (q[i, j, k + 1] - here)
                    gathered += into
                    sinking = gathered
                    if k > 0:
                        flow -= min(sinking, 0.0) * (q[i, j, k - 1] - here)
                    new[i, j, k] = here + step * flow
                surface[i, j] += step * thickness * gathered

    return {"filter": smooth_loop, "advection": advect_loop, "momentum": accelerate_loop,
            "column": diffuse_loop, "three dimensions": carry_loop}  # fmt: skip


def compare(points: int, layers: int, rounds: int) -> None:
    """Print what each kernel takes.

    Raises:
        ValueError: the values differ.
    """
    try:
        loops = loops_by_numba()
    except ImportError as error:
        print(f"Numba is not measured: {error}")
        return
    configure(distributed=False)
    random = np.random.default_rng(1)
    mask = (random.random((points, points)) > 0.2).astype(int)
    flat = Grid((points, points), (1.0, 1.0), boundaries="open", halo=REACH, mask=mask)
    few = max(points // 4, 4)
    deep = Grid((few, few), (1.0, 1.0), boundaries="open")

    def made(grid: Grid, where: Points = Points.T, **layer: int) -> Field:
        shape = grid.points + tuple(layer.values())
        one = Field(grid, where, values=random.random(shape) - 0.2, **layer)
        one.exchange(grid.halo)
        return one

    def below(count: int, where: Points = Points.T) -> Field:
        return made(deep, where, layers=count)

    u, v, h = made(flat, Points.U), made(flat, Points.V), made(flat)
    q, new, wind, smoothed = made(flat), made(flat), made(flat, Points.U), made(flat)
    values, factor, mixing = below(layers), below(layers), below(layers + 1)
    tracer, moved, surface = below(layers), below(layers), made(deep)
    east, north = below(layers, Points.U), below(layers, Points.V)
    sea = np.ascontiguousarray(flat.property("mask_t").data_ro)
    problems: dict[str, tuple[Callable[[], None], tuple[Any, ...]]] = {
        "filter": (lambda: invoke(smooth(smoothed, q)), (smoothed, q, sea)),
        "advection": (lambda: invoke(advect(new, q, wind, 0.1)), (new, q, wind, 0.1)),
        "momentum": (lambda: invoke(accelerate(u, v, h, 0.01)), (u, v, h, 0.01, sea)),
        "column": (lambda: invoke(diffuse(values, factor, mixing)), (values, factor, mixing)),
        "three dimensions": (
            lambda: invoke(carry(moved, tracer, east, north, surface, 0.01, 1.0)),
            (moved, tracer, east, north, surface, 0.01, 1.0, 1.0),
        ),
    }
    print(f"{points} x {points} points; {few} x {few} points with {layers} layers, in us")
    for name, (call, passed) in problems.items():
        first = passed[0]
        box = first.internal.box
        bounds = [end for part in box[:2] for end in (part.start, part.stop)]
        arrays = [np.ascontiguousarray(one.storage.to_numpy()) if isinstance(one, Field) else one
                  for one in passed]  # fmt: skip
        call()
        loops[name](*arrays, *bounds)
        if not np.array_equal(
            arrays[0][bounds[0] : bounds[1], bounds[2] : bounds[3]], first.values
        ):
            raise ValueError(f"{name} by Numba has other values.")
        found = least_in_turn(
            {"C": call, "Numba": lambda loop=loops[name], given=(*arrays, *bounds): loop(*given)},
            rounds,
        )
        ratio = found["Numba"] / found["C"]
        print(f"  {name:18}C {found['C']:8.0f}   Numba {found['Numba']:8.0f}   "
              f"C has {ratio:.2f} times its speed, goal {GOAL}")  # fmt: skip
    configure()


def separate(f: list[Field]) -> None:
    """Do 13 deferred invokes of one kernel, and complete them."""
    invoke(move(f[0], f[1]))
    invoke(move(f[2], f[3]))
    invoke(move(f[4], f[5]))
    invoke(move(f[6], f[7]))
    invoke(move(f[8], f[9]))
    invoke(move(f[10], f[11]))
    invoke(move(f[12], f[13]))
    invoke(move(f[14], f[15]))
    invoke(move(f[16], f[17]))
    invoke(move(f[18], f[19]))
    invoke(move(f[20], f[21]))
    invoke(move(f[22], f[23]))
    invoke(move(f[24], f[23]))
    complete_invokes()


def compare_deferred(points: int, rounds: int) -> None:
    """Print what 13 deferred invokes take, compared with one invoke of 13 kernels.

    `configure` would also forget the calls that are cached, so it is called for blocks of calls.
    """
    fields = made_fields(points, 25)
    found = {"one invoke": float("inf"), "13 deferred invokes": float("inf")}
    for _ in range(max(rounds // 10, 2)):
        for name, call, defer in (
            ("one invoke", moves, False), ("13 deferred invokes", separate, True)
        ):  # fmt: skip
            configure(distributed=False, defer=defer)
            call(fields)
            took = least_in_turn({name: lambda call=call: call(fields)}, 20)[name]
            found[name] = min(found[name], took)
    configure()
    ratio = found["13 deferred invokes"] / found["one invoke"]
    print(
        f"{points} x {points} points, in us: " + ", ".join(f"{a} {b:.1f}" for a, b in found.items())
    )
    print(f"  deferred invokes take {ratio:.2f} times as long, goal {GOAL_OF_DEFERRED}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Compare kernels in Python with Numba.")
    parser.add_argument("--points", type=int, default=256, help="points along each side")
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    compare(given.points, given.layers, given.rounds)
    for points in (8, given.points):
        compare_deferred(points, given.rounds)


if __name__ == "__main__":
    main()
