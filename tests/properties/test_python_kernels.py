"""Kernels in Python: accepted kernels compute the same as Python; no input causes a stack trace."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from mutated_texts import mutated, seeds
from pairwise import some_of
from properties.python_kernels import (
    SETTINGS,
    Writer,
    as_library,
    by_c,
    by_numpy,
    by_python,
    codes_of,
    printed,
)
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest

ROOT = Path(__file__).parents[2]
KERNELS = sorted(
    [
        *(ROOT / "tests/corpus/gocean/python/kernels").glob("*.py"),
        *(ROOT / "examples/python").glob("*/kernels/*.py"),
    ]
)
ALGORITHMS = sorted(
    [
        *(ROOT / "tests/corpus/gocean/python").glob("*.py"),
        *(ROOT / "examples/python").glob("*/*.py"),
    ]
)
COMPILER = make_compiler(
    SETTINGS,
    CompileRequest(
        api="gocean",
        directories=tuple(sorted({file.parent for file in KERNELS})),
        suffix=".py",
    ),
)


@pytest.mark.parametrize("start", range(0, some_of(200), 50))
def test_what_is_accepted_computes_what_python_computes(
    start: int, pytestconfig: pytest.Config
) -> None:
    accepted = 0
    for seed in seeds(start, 50, pytestconfig.getoption("--campaign")):
        text = Writer(seed).kernel()
        try:
            printed(text)
        except CompileError:
            continue
        accepted += 1
        for one, other in zip(by_python(text, seed), by_numpy(text, seed), strict=True):
            assert np.array_equal(one, other, equal_nan=True), text
    assert accepted > 30


@pytest.mark.parametrize("start", range(0, some_of(300), 100))
def test_c_computes_what_python_computes(start: int) -> None:
    texts = {}
    for seed in range(start, start + 100):
        text = Writer(seed).kernel()
        try:
            codes_of(text)
        except CompileError:
            continue
        texts[seed] = text
    library = as_library(texts)
    for seed, text in texts.items():
        for one, other in zip(by_python(text, seed), by_c(library, text, seed), strict=True):
            assert np.array_equal(one, other, equal_nan=True), text
    assert len(texts) > 60


@pytest.mark.parametrize("start", range(0, some_of(1200), 300))
def test_no_mutation_makes_a_trace(start: int, pytestconfig: pytest.Config) -> None:
    refused, rounds = 0, pytestconfig.getoption("--campaign")
    for seed in seeds(start, 300, rounds):
        rng = random.Random(seed)
        text = mutated(rng, rng.choice(KERNELS).read_text(encoding="utf-8"))
        try:
            printed(text)
        except CompileError as error:
            refused += 1
            for problem in error.problems:
                assert problem.span is not None or problem.file
                assert problem.code in {"P050", "P001"} or problem.span is not None
    assert 100 < refused / rounds < 300


@pytest.mark.parametrize("start", range(0, some_of(300), 150))
def test_no_mutation_of_an_algorithm_makes_a_trace(start: int, pytestconfig: pytest.Config) -> None:
    refused, rounds = 0, pytestconfig.getoption("--campaign")
    for seed in seeds(start, 150, rounds):
        rng = random.Random(seed)
        text = mutated(rng, rng.choice(ALGORITHMS).read_text(encoding="utf-8"))
        problems = problems_of(text)
        refused += bool(problems)
        assert all(one.span is not None or one.file for one in problems)
    assert 50 < refused / rounds < 150


def problems_of(text: str) -> tuple[Diagnostic, ...]:
    try:
        COMPILER.compile_text(SourceText("alg.py", text))
    except CompileError as error:
        return error.problems
    return ()


ROUNDED = """\
import math
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def work(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],
    both: field[GO_READWRITE, GO_CT],
    rate: scalar[GO_READ, GO_R_SCALAR],
    step: scalar[GO_READ, GO_I_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
    far = old[0, 0] * 1e10 + rate
    new[0, 0] = {word}(far)
    if {word}(far) > step or far - {word}(far) != 0.0:
        near = float({word}(old[0, 0]))
        both[0, 0] = near * -{word}(-far) + max({word}(far), 0.5) + math.copysign(1.0, near)
    new[0, 0] += math.copysign(0.25, -{word}(old[0, 0])) + {word}(far) / 2
    both[0, 0] += 0.5 * abs({word}(far)) + math.sqrt(abs(-{word}(far)))
    both[0, 0] -= 0.5 * max({word}(far), {word}(-far), step)
    new[0, 0] += float(min({word}(far), 0)) + float(abs(-{word}(old[0, 0])))
    new[0, 0] -= 0.5 * ({word}(far) if old[0, 0] > 0.0 else step)
    both[0, 0] += float({word}(far) + step) - 0.5 * ({word}(far) - {word}(old[0, 0] * 1e17))
    both[0, 0] += math.copysign(1.0, {word}(old[0, 0]) * -step) * (({word}(far) * 3) / 1.0)
    both[0, 0] += math.copysign(1.0, -abs({word}(old[0, 0])))
    new[0, 0] += float({word}(far) % 7) + ({word}(far) * {word}(far)) + {word}(far) ** 2
    new[0, 0] -= float(-7 % max({word}(far), 1)) + max({word}(far) + 1, 2)
    if ({word}(far) + step) * 3 - 1 > step and {word}(far) ** 3 + 1 != 1:
        new[0, 0] += 1.0
"""


@pytest.mark.parametrize("word", ["math.floor", "math.ceil", "math.trunc", "int"])
def test_rounded_numbers_are_right_beyond_whole_ones(word: str) -> None:
    text = ROUNDED.format(word=word)
    library = as_library(dict.fromkeys(range(4), text))
    for seed in range(4):
        wanted = by_python(text, seed)
        for found in (by_numpy(text, seed), by_c(library, text, seed)):
            for one, other in zip(wanted, found, strict=True):
                assert np.array_equal(one, other), word
                assert np.array_equal(np.signbit(one), np.signbit(other)), word
    assert np.abs(by_python(text, 0)[0]).max() > 2.0**32


WITHOUT_VALUE = (
    ROUNDED.partition("    far =")[0]
    + """\
    zero = step - step
    least = -2147483647 - 1
    huge = int(1e300 * (2.0 + rate))
    below = int(-1e300 * (2.0 + rate))
    none = int(1e300 * 1e300 * (2.0 + rate) * 0.0)
    new[0, 0] = step // zero + step % zero + 0.5 * (least // (zero - 1) - least)
    both[0, 0] = 0.25 * (huge - least) + (below - least) + (none - least) + least % (zero - 1)
"""
)


def test_what_has_no_value_in_python_ends_no_process() -> None:
    """Python raises, or has an integer of more bits; C computes on, with some number."""
    library = as_library({0: WITHOUT_VALUE})
    for one in by_c(library, WITHOUT_VALUE, 0):
        assert np.all(one[1:6, 1:5] == 0.0)
    with pytest.raises(ValueError, match="NaN"):
        by_python(WITHOUT_VALUE, 0)


NOT_A_NUMBER = (
    ROUNDED.partition("    far =")[0]
    + """\
    odd = old[0, 0] * 1e308 * 1e308
    odd = odd - odd
    new[0, 0] = max(odd, 0.25) + max(-1.0, odd, 2.0)
    both[0, 0] = min(odd, 0.25) - 0.5 * min(0.5, odd)
    if old[0, 0] == 0.0:
        new[0, 0] = max(old[0, 0], -old[0, 0])
        both[0, 0] = min(-old[0, 0], old[0, 0])
"""
)


def test_extremes_are_those_of_python_beside_what_is_no_number() -> None:
    library = as_library({0: NOT_A_NUMBER})
    wanted = by_python(NOT_A_NUMBER, 0)
    for one, other in zip(wanted, by_c(library, NOT_A_NUMBER, 0), strict=True):
        assert np.array_equal(one, other, equal_nan=True)
        is_number = ~np.isnan(one)
        assert np.array_equal(np.signbit(one[is_number]), np.signbit(other[is_number]))
        assert not is_number.all()
