"""Sums that loops in C add to without rounding, against sums of fractions."""

from __future__ import annotations

import ctypes
import math
import random
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from psyclone_storage.languages.c import exact_sums
from psyclone_storage.languages.c.helpers import preamble
from psyclone_storage.runtime.compiling import load_library
from psyclone_storage.runtime.lfric import ExactSum
from psyclone_storage.runtime.ranks import SingleRank

LARGEST, LEAST = 1.7976931348623157e308, 5e-324
Add = Callable[[int, float], None]


@pytest.fixture(scope="module", name="add")
def adding() -> Add:
    entry = f"void add(int64_t sum, double x) {{ {exact_sums.HELPER}((int64_t *)sum, x); }}"
    library = load_library(f"{preamble([exact_sums.HELPER])}\n{entry}\n")
    function = library.add
    function.argtypes, function.restype = [ctypes.c_int64, ctypes.c_double], None
    made: Add = function
    return made


def total(add: Add, values: Sequence[float]) -> float:
    made = ExactSum()
    for value in values:
        add(made.address, value)
    assert same(made.total(SingleRank()), made.total_of_rank())
    return made.total_of_rank()


def same(one: float, other: float) -> bool:
    return struct.pack("d", one) == struct.pack("d", other) or (
        math.isnan(one) and math.isnan(other)
    )


def test_sums_are_those_of_fractions(add: Add) -> None:
    chance = random.Random(1)
    for _ in range(300):
        values = [
            math.ldexp(chance.uniform(-1, 1), chance.randint(-1090, 1000))
            for _ in range(chance.randint(1, 40))
        ]
        values += [-one for one in values[: chance.randint(0, 20)]]
        chance.shuffle(values)
        exact = sum(map(Fraction, values))
        assert same(total(add, values), exact.numerator / exact.denominator)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([], 0.0),
        ([-0.0], 0.0),
        ([LEAST, LEAST], 2 * LEAST),
        ([LARGEST, LARGEST, -LARGEST], LARGEST),
        ([LARGEST, LARGEST], math.inf),
        ([-LARGEST, -LARGEST], -math.inf),
        ([1.0, math.inf], math.inf),
        ([-math.inf, 1.0, -math.inf], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([1.0, math.nan], math.nan),
        ([1.0, 2.0**-53], 1.0),
        ([1.0, 2.0**-53, LEAST], 1.0 + 2.0**-52),
    ],
)
def test_ends_of_what_there_is(add: Add, values: list[float], wanted: float) -> None:
    assert same(total(add, values), wanted)
