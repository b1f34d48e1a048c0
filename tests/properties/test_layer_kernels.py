"""Loops over layers with conditions on the layer: target C computes what Python computes."""

from __future__ import annotations

import importlib.util
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mutated_texts import seeds
from properties.layer_kernels import LayerKernelWriter
from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_CT,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_LAYERS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    configure,
    field,
    invoke,
    kernel,
    layers,
    scalar,
)
from psyclone_storage.runtime import native
from psyclone_storage.runtime.gocean import Field, Grid, Points

POINTS = (2, 2)
LENGTHS = (1, 2, 3, 4, 31, 32, 33, 34, 64, 65)
SCALARS = (-(2**31), -1, 0, 1, 2, 5, 31, 2**31 - 1)
STAGES, SPLIT = "_at[33]", ("psy_min_i4(k_block, ", "psy_max_i4(k_end, ", "psy_max_i4(k_block, ")


def kernel_of(seed: int, folder: Path) -> Any:
    """Return the kernel of a new module."""
    path = folder / f"layers_{seed}.py"
    path.write_text(LayerKernelWriter(seed).kernel(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.column


def check(step: Any, seed: int, length: int) -> bool:
    """Compare values for random scalars."""
    random = np.random.default_rng((seed, length))
    ways = [int(random.choice(SCALARS)) for _ in range(2)]
    return agrees(step, length, *ways)


def agrees(step: Any, length: int, way: int, other: int) -> bool:
    """Compare values with those of Python; return False if Python rejects an index."""
    random = np.random.default_rng(length)
    old, start = (random.normal(size=(*POINTS, length)) for _ in range(2))
    grid = Grid(POINTS, periodic=(True, True))
    before, new = (Field(grid, Points.T, values=one, layers=length) for one in (old, start))
    wanted = start.copy()
    try:
        for i, j in np.ndindex(*POINTS):

            def around(x: int, y: int, i: int = i, j: int = j) -> Any:
                return old[(i + x) % POINTS[0], (j + y) % POINTS[1]]

            wanted[i, j] = step.at(start[i, j], around, way, other)
    except IndexError:
        with pytest.raises(IndexError):
            invoke(step(new, before, way, other))
        return False
    invoke(step(new, before, way, other))
    message = f"{step.name}: {length} layers, scalars {way} and {other}"
    np.testing.assert_array_equal(new.gather(), wanted, message)
    return True


def test_layers_have_the_values_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    original = native.load_library
    texts: list[str] = []
    monkeypatch.setattr(native, "load_library", lambda text: texts.append(text) or original(text))
    compared, chosen = 0, [*seeds(0, 12, pytestconfig.getoption("--campaign"))]
    configure(target="c")
    try:
        for seed in chosen:
            PROGRAM.session.compiled.clear()
            step = kernel_of(seed, tmp_path)
            lengths = np.random.default_rng(seed).choice(LENGTHS, 3, replace=False)
            compared += sum(check(step, seed, int(length)) for length in lengths)
    finally:
        configure()
    staged = [text for text in texts if STAGES in text]
    split = [text for text in staged if any(word in text for word in SPLIT)]
    assert compared > 2 * len(chosen)
    assert len(staged) > len(chosen) // 2
    assert len(split) > len(chosen) // 4


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def ranges(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
    way: scalar[GO_READ, GO_I_SCALAR],
    other: scalar[GO_READ, GO_I_SCALAR],
):
    """Compare layers with scalars that have no neighbour of 32 bits, and repeat conditions."""
    total = 0.5
    for k in reversed(layers()):
        part = old[0, 0, k] / (1.5 + old[1, 0, k] * old[1, 0, k])
        value = part * total
        if k > way:
            value += 1.0
        if k < other:
            value *= 2.0
        if way < k and not k >= other:
            value -= total
            if k > way:
                value *= 3.0
            elif k > other:
                value = -1.0
        if k != way and old[0, 0, k] > 0.0:
            value += 7.0
        else:
            value -= 7.0
        if k == 0 or k == len(layers()) - 1:
            value *= 0.25
        elif k == way:
            value *= 5.0
        total = total * 0.5 + part
        new[0, 0, k] = value
    new[0, 0, 0] += total


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def chain(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
    way: scalar[GO_READ, GO_I_SCALAR],
    other: scalar[GO_READ, GO_I_SCALAR],
):
    """Use a condition that would need too many loops, and one that the loop changes."""
    total = 0.5
    end = 5
    for k in layers():
        part = old[0, 0, k] / (1.5 + old[1, 0, k] * old[1, 0, k])
        value = part * total
        for m in range(2):
            value = value * 0.5 + old[m, 0, k]
        if k < end:
            value += 1.0
        if (k < 3 or k == 5 or k > way) and (k < 4 or k > 9 or k == other) and old[0, 0, k] > 0.0:
            value += 2.0
        elif k in (7, 9, 11, other):
            value -= 3.0
        else:
            value *= 4.0
        end -= 1
        total = total * 0.5 + part
        new[0, 0, k] = value
    new[0, 0, 0] += total


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def updated(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
    way: scalar[GO_READ, GO_I_SCALAR],
    other: scalar[GO_READ, GO_I_SCALAR],
):
    """Use values before and after a scalar that a sum needs is set anew."""
    total = 0.0
    for k in reversed(layers()):
        part = old[0, 0, k] / 3.0
        twice = part * 2.0
        high = part > 0.1
        part *= 0.5
        total = total * 0.5 + part
        value = total * twice
        if high and way < k < other:
            value = total * 3.0
        new[0, 0, k] = value


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def counted(
    new: field[GO_READWRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
    way: scalar[GO_READ, GO_I_SCALAR],
    other: scalar[GO_READ, GO_I_SCALAR],
):
    """Count to the greatest or down to the least integers."""
    total = 0.5
    for k in range(way, other):
        part = 1.0 / (1.5 + k)
        total = total * 0.5 + part
    for k in range(way, other, -1):
        part = 1.0 / (2.5 + k)
        total = total * 0.25 + part
    new[0, 0, 0] = total + old[0, 0, 0]


@pytest.mark.parametrize(
    ("way", "other"),
    [(2**31 - 10, 2**31 - 1), (2**31 - 40, 2**31 - 2), (10 - 2**31, -(2**31)), (3, 50), (50, 3)],
)
def test_loops_end_at_extreme_integers(way: int, other: int) -> None:
    PROGRAM.session.compiled.clear()
    configure(target="c")
    try:
        assert agrees(counted, 2, way, other)
    finally:
        configure()


@pytest.mark.parametrize("step", [ranges, chain, updated], ids=lambda step: step.name)
def test_ranges_have_the_right_ends(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    original = native.load_library
    texts: list[str] = []
    monkeypatch.setattr(native, "load_library", lambda text: texts.append(text) or original(text))
    PROGRAM.session.compiled.clear()
    configure(target="c")
    try:
        for length in (1, 2, 3, 32, 33, 65):
            for way, other in product((-(2**31), 0, 1, 2**31 - 1), repeat=2):
                assert agrees(step, length, way, other)
    finally:
        configure()
    (text,) = texts
    assert STAGES in text
    assert text.count("for (k = ") <= 16
