"""Kernels for fields with layers: targets compute what Python does, point by point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.gocean import (
    GO_CT,
    GO_GRID_MASK_T,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_LAYERS,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    GO_WRITE,
    configure,
    field,
    grid_property,
    invoke,
    kernel,
    layers,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid, Points
from psyclone_storage.storage.core.device import DeviceKind, use_device

POINTS, LAYERS = (5, 4), 6


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def spread(
    new: field[GO_WRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010"), GO_LAYERS],
    depth: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    rate: scalar[GO_READ, GO_R_SCALAR],
):
    for k in layers():
        around = old[1, 0, k] + old[-1, 0, k] + old[0, 1, k] + old[0, -1, k]
        new[0, 0, k] = old[0, 0, k] + rate * around / (depth[0, 0] + depth[1, 0])
        if old[0, 0, k] > 0.5:
            new[0, 0, k] += k


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def solve(
    values: field[GO_READWRITE, GO_CT, GO_LAYERS],
    factor: field[GO_READWRITE, GO_CT, GO_LAYERS],
    mixing: field[GO_READ, GO_CT, GO_LAYERS],
):
    pivot = 1.0 + mixing[0, 0, 1]
    factor[0, 0, 0] = mixing[0, 0, 1] / pivot
    values[0, 0, 0] /= pivot
    for k in range(1, len(layers())):
        above = mixing[0, 0, k]
        pivot = 1.0 + above * (1.0 - factor[0, 0, k - 1]) + mixing[0, 0, k + 1]
        factor[0, 0, k] = mixing[0, 0, k + 1] / pivot
        values[0, 0, k] = (values[0, 0, k] + above * values[0, 0, k - 1]) / pivot
    for k in range(len(layers(values)) - 2, -1, -1):
        values[0, 0, k] += factor[0, 0, k] * values[0, 0, k + 1]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def add_up(
    total: field[GO_WRITE, GO_CT],
    last: field[GO_READWRITE, GO_CT, GO_LAYERS],
    values: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
):
    found = 0.0
    for k in reversed(layers(values)):
        if values[-1, 0, k] < 0.0:
            continue
        found = 0.5 * found + values[1, 0, k]
        if found > 3.0:
            break
    total[0, 0] = found
    n = 1 if found > 1.0 else -1
    last[0, 0, n] = values[0, 0, n - 1]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def guarded(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
):
    """Read and write layers that the field may lack, only under conditions."""
    n = len(layers())
    for k in layers():
        if old[0, 0, k] > 0.0 and k < n - 1:
            new[0, 0, k] = old[1, 0, k + 1]
        elif k < n - 2 and old[0, 0, k + 2] < old[-1, 0, k]:
            new[0, 0, k + 2] -= 0.5
        if k + 1 < n and old[0, 0, k + 1] > old[0, 0, k]:
            new[0, 0, k + 1] += old[0, 0, k + 1]
        x = 0.25 if k + mask[0, 0] >= n else old[0, 0, k + 1] if k < n - 1 else -1.0
        new[0, 0, k] += x if k == n - 1 or old[0, 0, k + 1] > 0.0 else 2.0
    if mask[0, 0] == 0:
        return
    if n > 8:
        new[0, 0, 8] = old[0, 0, 7]
    if mask[0, 0] > 5:
        new[0, 0, 9] = old[0, 0, 8]
    for k in range(12):
        if old[0, 0, 0] < 0.0 and k >= n:
            break
        if k < n:
            new[0, 0, k] += 1.0


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_layers_under_conditions_need_not_exist(target: str) -> None:
    deep = given()[0]
    mask = np.random.default_rng(6).integers(0, 3, POINTS)
    grid = Grid(POINTS, periodic=(True, True), mask=mask)
    old, new = (Field(grid, Points.T, name, values=deep, layers=LAYERS) for name in "ab")
    configure(target=target)
    try:
        invoke(guarded(new, old))
    finally:
        configure()
    found = new.gather()
    for i, j in np.ndindex(*POINTS):
        wanted = guarded.at(
            deep[i, j], lambda x, y, i=i, j=j: deep[(i + x) % POINTS[0], j + y], int(mask[i, j])
        )
        assert np.array_equal(found[i, j], wanted)


def test_numpy_reports_a_layer_that_is_missing_without_a_condition() -> None:
    grid = Grid(POINTS)
    values, few = Field(grid, layers=LAYERS), Field(grid, layers=2)
    configure(target="numpy")
    try:
        with pytest.raises(IndexError):
            invoke(at_scalar(few, values, 3))
    finally:
        configure()


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def at_scalar(
    few: field[GO_READWRITE, GO_CT, GO_LAYERS],
    values: field[GO_READ, GO_CT, GO_LAYERS],
    count: scalar[GO_READ, GO_I_SCALAR],
):
    for k in range(count):
        few[0, 0, k] = values[0, 0, k]


def given() -> tuple[Any, Any, Any]:
    """Return values with layers, values without, and the mixing between layers."""
    rng = np.random.default_rng(5)
    deep = rng.normal(size=(*POINTS, LAYERS))
    mixing = rng.uniform(0.1, 1.0, (*POINTS, LAYERS + 1))
    mixing[..., [0, -1]] = 0.0
    return deep, rng.uniform(1.0, 2.0, POINTS), mixing


def by_targets(target: str) -> tuple[Any, ...]:
    device = "gpu" if target == "cuda" else None
    deep, flat, mixing = given()
    grid = Grid(POINTS, periodic=(True, True), device=device)
    old = Field(grid, Points.T, "old", values=deep, layers=LAYERS)
    new, factor, last = (Field(grid, Points.T, name, layers=LAYERS) for name in "abc")
    depth, total = Field(grid, Points.T, "depth", values=flat), Field(grid, Points.T, "total")
    between = Field(grid, Points.T, "between", values=mixing, layers=LAYERS + 1)
    configure(target=target)
    try:
        invoke(spread(new, old, depth, 0.3), solve(new, factor, between), add_up(total, last, new))
    finally:
        configure()
    return new.gather(), total.gather(), last.gather()


def by_python() -> tuple[Any, ...]:
    deep, flat, mixing = given()
    new, last, total = np.zeros_like(deep), np.zeros_like(deep), np.zeros(POINTS)

    def around(values: Any, i: int, j: int) -> Any:
        return lambda x, y: values[(i + x) % POINTS[0], (j + y) % POINTS[1]]

    for i, j in np.ndindex(*POINTS):
        new[i, j] = spread.at(new[i, j], around(deep, i, j), around(flat, i, j), 0.3)
    for i, j in np.ndindex(*POINTS):
        new[i, j] = solve.at(new[i, j], np.zeros(LAYERS), mixing[i, j])["values"]
    for i, j in np.ndindex(*POINTS):
        found = add_up.at(0.0, last[i, j], around(new, i, j))
        total[i, j], last[i, j] = found["total"], found["last"]
    return new, total, last


@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_targets_compute_what_python_does(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CFLAGS", "-O1")
    use_device(DeviceKind.EMULATED)
    for one, other in zip(by_targets(target), by_python(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_field_without_layers_is_refused_where_one_with_layers_is_meant() -> None:
    grid = Grid(POINTS)
    deep, flat = Field(grid, label="deep", layers=3), Field(grid, label="flat")
    with pytest.raises(ValueError, match="'flat' has no layers, but what is called takes a field"):
        invoke(spread(flat, deep, Field(grid), 0.3))
    with pytest.raises(ValueError, match="'deep' has 3 layers, but what is called takes a field"):
        invoke(spread(Field(grid, layers=3), deep, Field(grid, label="deep", layers=3), 0.3))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def wrong(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    flat: field[GO_READ, GO_CT],
):
    new[0, 0] = 1.0
    new[1, 0, 0] = 1.0
    new[0, 0, 0] = flat[0, 0, 0]
    for k in layers(flat):
        new[0, 0, k] = 1.0
    for k in layers():
        new[0, 0, k + 1] = 1.0
    new[0, 0, 0.5] = 0.0


def test_wrong_elements_are_refused() -> None:
    grid = Grid(POINTS)
    with pytest.raises(CompileError) as caught:
        invoke(wrong(Field(grid, layers=3), Field(grid)))
    assert [one.message for one in caught.value.problems] == [
        "'new[0, 0]' is no element of a field with layers.",
        "'new' is written off the point that the kernel is called for.",
        "'flat[0, 0, 0]' is no element of a field without layers.",
        "'layers(flat)' is of no field with layers.",
        "'k + 1' is out of range: it reaches the length.",
        "'0.5' is not an integer, as an index must be.",
    ]


@pytest.fixture(autouse=True)
def usual_options() -> Iterator[None]:
    """Restore the options of invokes."""
    yield
    configure()


def layered(target: str = "c", **counts: int) -> list[Field]:
    """Return fields on one grid for a target, with a number of layers each."""
    configure(target=target)
    grid = Grid(POINTS, device="gpu" if target == "cuda" else None)
    return [Field(grid, label=name, layers=count) for name, count in counts.items()]


@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_a_field_with_too_few_layers_is_refused(target: str) -> None:
    use_device(DeviceKind.EMULATED)
    new, old = layered(target, new=6, old=5)
    depth = Field(new.grid)
    message = r"'old' has too few layers: 5\. What is called accesses 6 there, because the field"
    with pytest.raises(ValueError, match=message):
        invoke(spread(new, old, depth, 0.3))
    invoke(spread(old, new, depth, 0.3))
    values, factor, mixing = layered(target, values=6, factor=6, mixing=6)
    with pytest.raises(
        ValueError, match=r"'mixing' has too few layers: 6\. What is called accesses 7"
    ):
        invoke(solve(values, factor, mixing))


def test_layers_of_loops_without_iterations_are_not_needed() -> None:
    invoke(solve(*layered(values=1, factor=1, mixing=2)))
    with pytest.raises(
        ValueError, match=r"'mixing' has too few layers: 1\. What is called accesses 2"
    ):
        invoke(solve(*layered(values=1, factor=1, mixing=1)))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def careful(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    mask: field[GO_READ, GO_CT],
    top: scalar[GO_READ, GO_I_SCALAR],
):
    for k in layers():
        new[0, 0, k] = old[0, 0, k] if k < len(layers(old)) else 0.0
        if k < len(layers(old)) and old[0, 0, k] > 0.0:
            new[0, 0, k] += 1.0
        if mask[0, 0] < 0.0:
            break
    if top > 3:
        new[0, 0, 3] = old[0, 0, 3]
    for k in range(100):
        if old[0, 0, k] >= mask[0, 0]:
            break
    for k in layers():
        new[0, 0, k] += old[0, 0, k]
        if k + 1 == len(layers(old)):
            break
    if mask[0, 0] > 3.0:
        new[0, 0, 0] += old[0, 0, 3]
    for k in layers():
        new[0, 0, k] += old[0, 0, k]
        if k == 1:
            return


def test_layers_under_conditions_are_not_needed() -> None:
    new, old = layered(new=4, old=2)
    invoke(careful(new, old, Field(new.grid), 2))
    np.testing.assert_array_equal(new.values[0, 0], [0.0, 0.0, 0.0, 0.0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def masked(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    mask: grid_property[GO_GRID_MASK_T],
):
    for k in range(len(layers(old)) - 1, 0, -2):
        new[0, 0, 0] += old[0, 0, k]
    if mask[0, 0] == 1:
        for k in range(len(layers(old)) - 1, 0, -1):
            new[0, 0, k + 2] += old[0, 0, k]


def test_needs_of_kernels_in_one_invoke_add_up() -> None:
    new, old, more, last = layered(new=4, old=2, more=4, last=3)
    with pytest.raises(
        ValueError, match=r"'new' has too few layers: 4. .* accesses 5 .*because the field 'last'"
    ):
        invoke(masked(new, old), masked(new, last), masked(last, old))
    with pytest.raises(
        ValueError, match=r"'new' has too few layers: 4. .* 6 .*because the field 'more'"
    ):
        invoke(masked(new, more))
    new, old = layered(new=1, old=1)
    invoke(masked(new, old))
