"""Exact sums compared with sums of fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psyclone_storage.runtime.exact_sum import exact_multiple, rounded

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, max_size=30), st.randoms())
def test_a_sum_is_exact_in_any_order_and_in_any_parts(values: list[float], order: object) -> None:
    cut = len(values) // 3
    order.shuffle(values)  # type: ignore[attr-defined]
    total = exact_multiple(np.array(values[:cut])) + exact_multiple(np.array(values[cut:]))
    exact = sum(map(Fraction, values), Fraction(0))
    assert Fraction(total, 2**1126) == exact
    if abs(exact) < Fraction(np.finfo(float).max):
        assert rounded(total) == float(exact)


@pytest.mark.parametrize(
    "values",
    [[5e-324], [5e-324, -5e-324], [1.7976931348623157e308, 5e-324], [-0.0], [], [1e308, -1e308]],
)
def test_a_sum_of_extremes(values: list[float]) -> None:
    assert rounded(exact_multiple(np.array(values))) == math.fsum(values)


def test_a_sum_that_is_too_large_is_infinite() -> None:
    assert rounded(exact_multiple(np.full(4, 1.7e308))) == math.inf
    assert rounded(exact_multiple(np.full(4, -1.7e308))) == -math.inf


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_exact_sum(value: float) -> None:
    with pytest.raises(ValueError, match="no exact sum"):
        exact_multiple(np.array([1.0, value]))


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.float64])
def test_values_of_other_kinds(kind: type) -> None:
    assert rounded(exact_multiple(np.arange(6).reshape(2, 3).astype(kind))) == 15.0
