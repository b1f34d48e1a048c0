"""Sums of floating-point numbers without rounding, which do not depend on the order.

A finite number is an integer multiple of the smallest positive number. The multiples are added as
integers and rounded once at the end. The same values give bitwise equal sums for any distribution
over ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MANTISSA = 53
_HALF = 26
LEAST_EXPONENT = -1126
"""The smallest exponent of numbers, as a 53-bit integer mantissa times a power of two."""
_AT_A_TIME = 1 << 25
"""The largest number of half mantissas whose sum a double represents exactly."""


def exact_multiple(values: np.ndarray[Any, Any]) -> int:
    """Return the exact sum of integers or finite reals of at most 64 bits, in units of 2**-1126.

    Raises:
        ValueError: a value is infinite or NaN.
    """
    flat = np.ravel(values)
    if flat.dtype.kind in "biu":
        return sum(map(int, flat.tolist())) << -LEAST_EXPONENT
    if not np.all(np.isfinite(flat)):
        raise ValueError("A value that is infinite or not a number has no exact sum.")
    return sum(
        _multiple(flat[start : start + _AT_A_TIME].astype(np.float64, copy=False))
        for start in range(0, flat.size, _AT_A_TIME)
    )


def _multiple(values: np.ndarray[Any, Any]) -> int:
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA).astype(np.int64)
    least = int(exponents.min(initial=0))
    places = exponents - least
    total = 0
    for half, shift in ((mantissas >> _HALF, _HALF), (mantissas & ((1 << _HALF) - 1), 0)):
        sums = np.bincount(places, weights=half.astype(np.float64))
        for place in np.flatnonzero(sums):
            exponent = least + int(place) - _MANTISSA + shift
            total += int(sums[place]) << (exponent - LEAST_EXPONENT)
    return total


def rounded(multiple: int) -> float:
    """Return the number nearest to `multiple` units of 2**-1126; infinite if it is too large."""
    try:
        return multiple / (1 << -LEAST_EXPONENT)
    except OverflowError:
        return float("inf") if multiple > 0 else float("-inf")
