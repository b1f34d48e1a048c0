"""LFRic kernels in Python: accepted kernels compute the same as Python, without a stack trace."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

from lfric_in_python import CORPUS, KERNELS, in_python
from mutated_texts import WORDS_OF_COLUMNS, mutated, seeds
from pairwise import some_of
from properties.python_columns import (
    REALS,
    ColumnWriter,
    PrecisionWriter,
    as_library,
    by_c,
    by_numpy,
    by_python,
    codes_of,
    printed,
)
from properties.python_kernels import SETTINGS
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest

MUTATED = (
    *"box_mean galerkin_gradient restrict_tracer laplacian apply_divergence wind_cap_dof".split(),
    *"smooth_bundle integer_stencil two_branches facet_flux".split(),
)
ALGORITHMS = (
    *"any_space_remap array_elements branches long_krylov_iteration builtins_power".split(),
    *"reductions_sums invoke_in_loop".split(),
)
COMPILER = make_compiler(
    SETTINGS, CompileRequest(api="lfric", directories=(KERNELS,), suffix=".py")
)


@cache
def kernels() -> list[str]:
    """Return kernels that were translated, and one at random."""
    found = [in_python(KERNELS / f"{name}_kernel_mod.f90") for name in MUTATED]
    return [*found, ColumnWriter(1).kernel(), ColumnWriter(2).kernel()]


@cache
def algorithms() -> list[str]:
    """Return algorithms that were translated."""
    return [in_python(CORPUS / f"{name}.x90") for name in ALGORITHMS]


def test_c_computes_what_python_computes(pytestconfig: pytest.Config) -> None:
    for start in range(pytestconfig.getoption("--campaign")):
        texts = {}
        for seed in range(80 * start, 80 * start + some_of(80)):
            text = ColumnWriter(seed).kernel()
            try:
                codes_of(text)
            except CompileError:
                continue
            texts[seed] = text
        assert len(texts) > some_of(60)
        library, units = as_library(texts)
        for seed, text in texts.items():
            try:
                wanted = by_python(text, seed)
            except (OverflowError, ValueError, ZeroDivisionError):
                continue
            for one, other in zip(wanted, by_c(library, units[seed], seed), strict=True):
                assert np.array_equal(one, other, equal_nan=True), text


def test_c_and_numpy_compute_with_four_bytes_what_python_does(
    pytestconfig: pytest.Config,
) -> None:
    """What C and NumPy compute of data of two precisions has the bits of Python and NumPy."""
    for start in range(pytestconfig.getoption("--campaign")):
        texts, single = {}, {}
        for seed in range(80 * start, 80 * start + some_of(80)):
            rng = random.Random(seed)
            of_four = frozenset(rng.sample(REALS, rng.choice([1, 2, 4, 5])))
            text = PrecisionWriter(seed).kernel()
            try:
                codes_of(text, of_four)
            except CompileError:
                continue
            texts[seed], single[seed] = text, of_four
        assert len(texts) > some_of(30)
        library, units = as_library(texts, single)
        for seed, text in texts.items():
            try:
                wanted = by_python(text, seed, single[seed])
            except (OverflowError, ValueError, ZeroDivisionError):
                continue
            found = by_c(library, units[seed], seed, single[seed])
            for one, other in zip(wanted, found, strict=True):
                assert np.array_equal(one, other, equal_nan=True), (seed, single[seed], text)
            (code,) = codes_of(text, single[seed])
            with suppress(OverflowError):
                found = by_numpy(code, seed, single[seed])
                for one, other in zip(wanted, found, strict=True):
                    assert np.array_equal(one.ravel(), other, equal_nan=True), (seed, text)


def test_no_mutation_makes_a_trace(pytestconfig: pytest.Config) -> None:
    refused, rounds = 0, pytestconfig.getoption("--campaign")
    for seed in seeds(0, some_of(300), rounds):
        rng = random.Random(seed)
        text = mutated(rng, rng.choice(kernels()), WORDS_OF_COLUMNS)
        try:
            printed(text)
        except CompileError as error:
            refused += 1
            check(error.problems)
    assert some_of(100) < refused / rounds < some_of(300)


def test_no_mutation_of_an_algorithm_makes_a_trace(pytestconfig: pytest.Config) -> None:
    refused, rounds = 0, pytestconfig.getoption("--campaign")
    for seed in seeds(0, some_of(150), rounds):
        rng = random.Random(seed)
        text = mutated(rng, rng.choice(algorithms()), WORDS_OF_COLUMNS)
        try:
            COMPILER.compile_text(SourceText("alg.py", text))
        except CompileError as error:
            refused += 1
            check(error.problems)
    assert some_of(50) < refused / rounds < some_of(150)


def check(problems: tuple[Diagnostic, ...]) -> None:
    """See that what is said has a place."""
    assert all(one.code != "I001" for one in problems)
    assert all(one.span is not None or one.file for one in problems)
