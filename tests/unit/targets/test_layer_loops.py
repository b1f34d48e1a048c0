"""Kernels whose layers wait for each other: in C, strips of columns and blocks of layers.

Each kernel is compared with Python itself, point by point and bit for bit, on grids whose columns
fill no strip, one, or several and a part. Values contain infinities and NaN.
"""

# ruff: noqa: ARG001, SIM108 - all kernels have the same arguments

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.uncaught import HaloWidthError
from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_CT,
    GO_GRID_MASK_T,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_LAYERS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    configure,
    field,
    grid_property,
    invoke,
    kernel,
    layers,
    scalar,
)
from psyclone_storage.runtime import native
from psyclone_storage.runtime.gocean import Field, Grid, Points

LAYERS = 37
STRIPS, BLOCKS, NEITHER = "_strip", "_block", ""


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def recurrence(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Divide by the previous layer, down and up again."""
    pivot = 1.0 + old[0, 0, 0]
    new[0, 0, 0] = old[0, 0, 0] / pivot
    for k in range(1, len(layers())):
        pivot = 1.5 + old[1, 0, k] - new[0, 0, k - 1]
        new[0, 0, k] = (old[-1, 0, k] + old[0, 1, k]) / pivot
    for k in range(len(layers()) - 2, -1, -1):
        new[0, 0, k] += 0.5 * new[0, 0, k + 1]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def masked(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Do different things at sea, on ice and on land, also below a condition of a layer."""
    last = len(layers()) - 1
    carried = 0.25
    if mask[0, 0] == 0 and old[0, 0, 1] > 0.5:
        new[0, 0, 1] = -2.0
        return
    if mask[0, 0] == 1:
        for k in range(last):
            carried = (carried + old[0, 0, k]) / (2.0 + carried)
            if old[0, 0, k] > 0.3:
                for n in range(k, last):
                    carried = 1.0 / (1.0 + carried * carried + new[0, 0, n])
                    new[0, 0, n] += carried
            elif way == 1:
                new[0, 0, k] -= carried
    elif mask[0, 0] == 2:
        for k in reversed(layers()):
            carried = (carried - old[0, 0, k]) / 3.0
            new[0, 0, k] = carried
    else:
        new[0, 0, last] = -1.0
    new[0, 0, 0] = carried


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def chosen(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Choose loops, bounds and layers by numbers that all columns share."""
    first = 0
    last = len(layers()) - 1
    if way > 2:
        first = way
        last = last - way
    carried = 1.0
    for n in range(2):
        if way % 2 == n:
            for k in range(first, last):
                other = last - k
                carried = (carried + old[0, 0, other]) / (1.0 + old[0, 0, k] * old[0, 0, k])
                new[0, 0, other] += carried
        else:
            for k in range(last, first, -1):
                carried = np.sqrt(abs(carried)) + old[0, 0, k] / (carried + 1.5)
                new[0, 0, k] = carried - n


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def local(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Use local arrays, and loops in which each column stays alone."""
    around = np.zeros(4)
    for k in layers():
        for n, (i, j) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            around[n] = 0.5 * around[n] + old[i, j, k]
        around[1] = around[0] / (1.0 + around[1] * around[1])
        new[0, 0, k] = around[0] / (2.0 + around[1]) + around[2] - around[3]
    for k in range(min(mask[0, 0], 2)):
        around[0] = (around[0] + new[0, 0, k]) / (1.0 + around[0] * around[0])
    for k in layers():
        if new[0, 0, k] > 0.9:
            break
        around[0] = around[0] / (1.0 + around[0] * around[0])
        if around[0] < 0.0:
            continue
        new[0, 0, k] = around[0]
    n = 0
    while n < 6 and around[0] > 0.1:
        around[0] *= 0.5
        n += 1
    new[0, 0, n] += around[0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def ahead(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Divide what needs no other layer, then add up; values of the previous layer are used."""
    total = 0.0
    share = -1.0
    before = 0.125
    for k in reversed(layers()):
        before = before * 0.5 + share
        east = old[1, 0, k] / (2.0 + old[0, 0, k] * old[0, 0, k])
        part = east + old[-1, 0, k] / 3.0
        if old[0, 0, k] > 0.0:
            flow = east / 7.0
        else:
            flow = -part
        total += part
        part *= 2.0
        share = part + total
        new[0, 0, k] = total + flow + before
    for k in range(2, len(layers())):
        x = 0.4 * new[0, 0, k - 1]
        y = old[0, 0, k] / 1.5
        new[0, 0, k] += x + y
    new[0, 0, 0] += share


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def alone(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Leave a loop early, which only a column alone can do."""
    carried = 1.0
    for k in layers():
        carried = (carried + old[0, 0, k]) / (1.0 + carried * carried)
        if carried < 0.2:
            return
        new[0, 0, k] = carried


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def shortened(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Change the bounds of loops in the loops, which does not change their iterations."""
    end = len(layers())
    total = 0.0
    for k in range(end):
        part = old[0, 0, k] / (1.5 + old[0, 0, k] * old[0, 0, k])
        total += part
        end -= 1
        new[0, 0, k] = total + end
    for k in range(len(layers()) - 1, end, -1):
        part = old[0, 0, k] / 3.0
        total -= part
        end = k
        new[0, 0, k] *= total


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def refilled(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
    way: scalar[GO_READ, GO_I_SCALAR],
):
    """Fill a local array in each layer, and divide what needs no other layer."""
    total = 0.0
    for k in layers():
        parts = np.zeros(2)
        part = old[0, 0, k] / (1.5 + old[0, 0, k] * old[0, 0, k])
        parts[0] += part
        total += parts[0] - parts[1]
        new[0, 0, k] = total


KERNELS = {
    recurrence: STRIPS, masked: STRIPS, chosen: STRIPS, local: STRIPS, ahead: BLOCKS,
    alone: NEITHER, shortened: NEITHER, refilled: NEITHER,
}  # fmt: skip


def run(
    step: Any, points: tuple[int, int], way: int, target: str
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return what a target computes, and what Python computes at each point."""
    random = np.random.default_rng(points[0] + way)
    old = random.normal(size=(*points, LAYERS))
    old[random.random(old.shape) < 0.002] = np.nan
    old[random.random(old.shape) < 0.002] = np.inf
    start = random.normal(size=old.shape)
    mask = random.integers(0, 4, points)
    grid = Grid(points, periodic=(True, True), mask=mask)
    before, new = (Field(grid, Points.T, values=one, layers=LAYERS) for one in (old, start))
    configure(target=target)
    try:
        invoke(step(new, before, way))
    finally:
        configure()
    wanted = start.copy()
    with np.errstate(all="ignore"):
        for i, j in np.ndindex(*points):

            def around(x: int, y: int, i: int = i, j: int = j) -> Any:
                return old[(i + x) % points[0], (j + y) % points[1]]

            wanted[i, j] = step.at(start[i, j], around, int(mask[i, j]), way)
    return new.gather(), wanted


@pytest.mark.parametrize("columns", [1, 3, 4, 5, 15, 16, 17, 33])
@pytest.mark.parametrize("step", KERNELS, ids=lambda step: step.name)
def test_layers_have_the_values_of_python(step: Any, columns: int) -> None:
    for way in (1, 4):
        found, wanted = run(step, (columns, 3), way, "c")
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("step", KERNELS, ids=lambda step: step.name)
def test_the_target_numpy_agrees(step: Any) -> None:
    found, wanted = run(step, (5, 4), 1, "numpy")
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("step", KERNELS, ids=lambda step: step.name)
def test_columns_and_layers_are_computed_together_where_that_gains(
    step: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = texts_of(monkeypatch, lambda: run(step, (4, 3), 1, "c"))
    assert {word for word in (STRIPS, BLOCKS) if word in texts} == {*filter(None, [KERNELS[step]])}


def test_the_explanation_names_the_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    grid = Grid((3, 2), periodic=(True, True), mask=np.ones((3, 2), int))
    old, new = (Field(grid, layers=4) for _ in range(2))
    configure(target="c", explain=True)
    try:
        invoke(recurrence(new, old, 1), ahead(new, old, 1), alone(new, old, 1), name="told")
    finally:
        configure()
    alike = "no layer waits for a division of another layer"
    lines = capsys.readouterr().err.split("invoke_told, loops over layers\n")[1].splitlines()[:4]
    assert lines == [
        "  columns@loop1: 'recurrence' computes strips of 16 columns",
        "  columns@loop2: 'ahead' divides ahead of the other statements, for blocks of 32 layers",
        f"  columns@loop2: 'ahead' computes one column at a time: {alike}",
        "  columns@loop3: 'alone' computes one column at a time: it contains 'return'",
    ]


def texts_of(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> str:
    """Return the C that a call compiles or loads."""
    texts: list[str] = []

    def load(text: str) -> Any:
        texts.append(text)
        return original(text)

    original = native.load_library
    monkeypatch.setattr(native, "load_library", load)
    PROGRAM.session.compiled.clear()
    call()
    return "\n".join(texts)


# ---------------------------------------------------------------------------- steps, dependences


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def first_column(
    a: field[GO_READWRITE, GO_CT, GO_LAYERS],
    b: field[GO_READ, GO_CT, GO_LAYERS],
):
    """Divide by the previous layer."""
    for k in range(1, len(layers())):
        a[0, 0, k] = b[0, 0, k] / (2.0 + a[0, 0, k - 1] * a[0, 0, k - 1])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def next_column(
    c: field[GO_READWRITE, GO_CT, GO_LAYERS],
    a: field[GO_READ, GO_CT, GO_STENCIL("000,110,000"), GO_LAYERS],
):
    """Divide by the previous layer, with the values of the column to the west."""
    for k in range(1, len(layers())):
        c[0, 0, k] = a[-1, 0, k] / (2.0 + c[0, 0, k - 1] * c[0, 0, k - 1])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def earlier_column(
    b: field[GO_READWRITE, GO_CT, GO_LAYERS],
    c: field[GO_READ, GO_CT, GO_STENCIL("000,011,000"), GO_LAYERS],
):
    """Divide by the previous layer, with the values of the column to the east."""
    for k in range(1, len(layers())):
        b[0, 0, k] = c[1, 0, k] / (2.0 + b[0, 0, k - 1] * b[0, 0, k - 1])


TOGETHER = """\
def trans(psy):
    for schedule in psy.children:
        schedule.apply({steps!r})
    return psy
"""
ALL = {"first_column", "next_column", "earlier_column"}
RECIPES: dict[str, set[str]] = {
    "": ALL,
    "fuse{in_order=true}; fuse{in_order=true}": {"earlier_column"},
    "tile-loops{rows=3 columns=5}": ALL,
    "chunk-loop{size=2}": ALL,
    "swap-loops": set(),
    "swap-loops; openmp-parallel-do": set(),
    "openmp-parallel-do": ALL,
    "auto": ALL,
    "acc-loop{collapse=0}; acc-parallel": set(),
}
"""The steps, and the kernels that compute strips of columns after them."""


def run_three(target: str, script: Any = None) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(3)
    grid = Grid((21, 6), boundaries="open")
    a, b, c = (
        Field(grid, Points.T, name, values=random.normal(size=(21, 6, 9)), layers=9)
        for name in "abc"
    )
    configure(target=target, script=script, distributed=False)
    try:
        invoke(first_column(a, b), next_column(c, a), earlier_column(b, c), name="three")
    finally:
        configure()
    return [one.gather() for one in (a, b, c)]


@pytest.mark.parametrize("steps", RECIPES, ids=lambda steps: steps[:12] or "none")
def test_columns_stay_in_order_if_they_depend_on_each_other(
    steps: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "recipe.py"
    script.write_text(TOGETHER.format(steps=steps))
    found: list[Any] = []
    texts = texts_of(monkeypatch, lambda: found.extend(run_three("c", script)))
    for one, other in zip(found, run_three("numpy"), strict=True):
        np.testing.assert_array_equal(one, other)
    assert {name for name in ALL if f"{name}_code(const int32_t i_first" in texts} == RECIPES[steps]


# ---------------------------------------------------------------------------- checks


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def far(
    a: field[GO_READWRITE, GO_CT, GO_LAYERS],
    b: field[GO_READ, GO_CT, GO_STENCIL("000,112,000"), GO_LAYERS],
):
    """Divide by the previous layer, with the values of columns to the west and east."""
    for k in range(1, len(layers(a))):
        a[0, 0, k] = (b[-1, 0, k] + b[2, 0, k]) / (2.0 + a[0, 0, k - 1])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def divided_ahead(
    a: field[GO_READWRITE, GO_CT, GO_LAYERS],
    b: field[GO_READ, GO_CT, GO_STENCIL("000,112,000"), GO_LAYERS],
):
    """Divide, and add up."""
    total = 0.0
    for k in layers(a):
        part = b[2, 0, k] / (2.0 + b[-1, 0, k])
        total += part
        a[0, 0, k] = total


@pytest.mark.parametrize("step", [far, divided_ahead], ids=lambda step: step.name)
def test_halos_and_layers_are_checked_as_for_single_columns(step: Any) -> None:
    narrow = Grid((5, 4), periodic=(True, True))
    wide = Grid((5, 4), periodic=(True, True), halo=2)
    with pytest.raises(HaloWidthError, match="the halo of the grid is 1 wide"):
        invoke(step(Field(narrow, layers=6), Field(narrow, layers=6)))
    with pytest.raises(ValueError, match="has too few layers: 5"):
        invoke(step(Field(wide, layers=6), Field(wide, layers=5)))
    invoke(step(Field(wide, layers=6), Field(wide, layers=6)))
