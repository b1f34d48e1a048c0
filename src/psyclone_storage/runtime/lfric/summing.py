"""Exact sums of reals over loops of generated C code and over all ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from psyclone_storage.runtime.exact_sum import LEAST_EXPONENT, exact_multiple, rounded
from psyclone_storage.runtime.native import address_of
from psyclone_storage.runtime.ranks import Ranks

_DIGITS, _DIGIT_BITS = 67, 32
_SPECIALS = 3
"""After the digits: the numbers of values that were infinity, minus infinity, and NaN."""
LENGTH = _DIGITS + _SPECIALS
_LEAST_POWER = -1074
"""The exponent of the unit of the digits, the smallest positive real."""


class DigitSum:
    """An exact sum: an integer multiple of the smallest positive real, in digits of base 2**32.

    Each digit is a 64-bit integer. `address` is the address of the digits. Sums of threads and of
    ranks are combined by adding their digits.
    """

    __slots__ = ("_digits", "address")

    def __init__(self) -> None:
        """Start with 0."""
        self._digits = np.zeros(LENGTH, np.int64)
        self.address = address_of(self._digits)

    def add(self, values: Any) -> None:
        """Add reals, with the same result as loops in C, in any order."""
        flat = np.ravel(np.asarray(values, np.float64))
        finite = flat[np.isfinite(flat)]
        number = exact_multiple(finite) >> (_LEAST_POWER - LEAST_EXPONENT)
        sign, number = (-1, -number) if number < 0 else (1, number)
        for place in range(_DIGITS):
            self._digits[place] += sign * (number >> place * _DIGIT_BITS & (1 << _DIGIT_BITS) - 1)
        found = (flat == np.inf, flat == -np.inf, np.isnan(flat))
        self._digits[_DIGITS:] += [int(one.sum()) for one in found]

    def total(self, ranks: Ranks) -> float:
        """Return the sum of all values that the ranks have added, rounded once.

        If some values are infinite or NaN, the result is the sum of only these.

        Collective: all ranks must call it.
        """
        return _total(ranks.gathered(self._parts()))

    def total_of_rank(self) -> float:
        """Return the sum of the values that this rank has added, rounded once."""
        return _total([self._parts()])

    def _parts(self) -> tuple[int, tuple[bool, ...]]:
        """Return the sum of finite values as an integer, and the kinds of non-finite values."""
        digits = self._digits[:_DIGITS].tolist()
        number = sum(digit << place * _DIGIT_BITS for place, digit in enumerate(digits) if digit)
        return number, tuple((self._digits[_DIGITS:] > 0).tolist())


def _total(parts: list[tuple[int, tuple[bool, ...]]]) -> float:
    above, below, invalid = (any(one) for one in zip(*(found for _, found in parts), strict=True))
    if invalid or (above and below):
        return math.nan
    if above or below:
        return math.inf if above else -math.inf
    return rounded(sum(number for number, _ in parts) << (_LEAST_POWER - LEAST_EXPONENT))
