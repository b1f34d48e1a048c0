"""Implications of inequalities between integer polynomials.

`NonNegativePolynomials` are polynomials with nonnegative values, such as `stop - i` in a loop up to
`stop`. To prove another inequality, the search cancels its terms one by one against multiples of
these facts. The number of steps is limited; a proof that needs more is not found, which is safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from math import gcd

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.affine import Monomial, Polynomial, constant_polynomial

_MOST_FACTS_USED = 7
_MOST_TRIALS = 400


@dataclass(frozen=True, slots=True)
class NonNegativePolynomials:
    """Polynomials whose values are known to be nonnegative."""

    known: tuple[Polynomial, ...] = ()

    def and_these(self, more: Iterable[Polynomial]) -> NonNegativePolynomials:
        """Return these facts and `more`."""
        return NonNegativePolynomials((*self.known, *more))

    def and_zero(self, zeros: Iterable[Polynomial]) -> NonNegativePolynomials:
        """Return these facts and the facts that `zeros` are 0."""
        both = ((zero, constant_polynomial(0).minus(zero)) for zero in zeros)
        return self.and_these(one for pair in both for one in pair)

    def imply(self, wanted: Polynomial) -> bool:
        """Return whether `wanted` is provably nonnegative."""
        return _Search(self.known).follows(wanted, _MOST_FACTS_USED)

    def exclude_zero(self, value: Polynomial) -> bool:
        """Return whether `value` is provably nonzero."""
        if value.known is not None:
            return value.known != 0
        if not may_be_zero(value):
            return True
        one = constant_polynomial(1)
        return self.imply(value.minus(one)) or self.imply(constant_polynomial(-1).minus(value))


def may_be_zero(value: Polynomial) -> bool:
    """Return whether the common divisor of the coefficients allows the value 0."""
    divisor = reduce(gcd, (factor for term, factor in value.factors.items() if term), 0)
    return divisor == 0 or value.factors.get((), 0) % divisor == 0


class _Search:
    """A search for multiples of facts whose sum is at most a given polynomial."""

    __slots__ = ("_facts", "_trials")

    def __init__(self, facts: tuple[Polynomial, ...]) -> None:
        self._facts = facts
        self._trials = _MOST_TRIALS

    def follows(self, wanted: Polynomial, depth: int) -> bool:
        """Return whether `wanted`, minus multiples of at most `depth` facts, is nonnegative."""
        value = wanted.known
        if value is not None:
            return value >= 0
        self._trials -= 1
        if depth == 0 or self._trials < 0:
            return False
        term, factor = max(
            ((term, factor) for term, factor in wanted.factors.items() if term),
            key=lambda item: (len(item[0]), item[0]),
        )
        return any(self.follows(rest, depth - 1) for rest in self._without(wanted, term, factor))

    def _without(self, wanted: Polynomial, term: Monomial, factor: int) -> Iterator[Polynomial]:
        """Yield multiples of `wanted`, minus multiples of facts, without the term `term`."""
        for fact in self._facts:
            other = fact.factors.get(term, 0)
            if other * factor > 0:
                common = gcd(other, factor)
                scaled = Polynomial(
                    {one: value * abs(other // common) for one, value in wanted.factors.items()}
                )
                yield scaled.plus(fact, -abs(factor // common))
