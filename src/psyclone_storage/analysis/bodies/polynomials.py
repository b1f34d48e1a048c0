"""Whole-number expressions as polynomials, and what follows from inequalities between them.

`n*(j - 1) + i` is the polynomial `n*j - n + i`. What is no sum of products, as `map(df)` or `n/2`,
is a symbol of its own, equal to itself. Symbols stand for whole numbers whose values are unknown.

`NonNegativePolynomials` are polynomials whose values are not negative, as `stop - i` in a loop up
to `stop`. Whether another follows from them is found by cancelling its terms, one after the other,
against multiples of facts; what needs more than a few of them is not found, which is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import product
from math import gcd

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Binary, Expr, Name, Unary, canonical, whole_number
from psyclone_storage.ir.operators import Operator

Monomial = tuple[str, ...]
"""A product of symbols, in the order of their texts; nothing for the constant."""

_MOST_TERMS = 40
_MOST_FACTS_USED = 7
_MOST_TRIALS = 400


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of monomials, each times its factor, none of which is 0."""

    factors: Mapping[Monomial, int]

    @property
    def known(self) -> int | None:
        """The value, if it depends on no symbol."""
        if not self.factors:
            return 0
        return self.factors[()] if self.factors.keys() == {()} else None

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols that it depends on."""
        return frozenset(symbol for monomial in self.factors for symbol in monomial)

    @property
    def degree(self) -> int:
        """The number of symbols in its longest product."""
        return max(map(len, self.factors), default=0)

    def plus(self, other: Polynomial, times: int = 1) -> Polynomial:
        """Return the sum of this and `times` the `other`."""
        found = dict(self.factors)
        for monomial, factor in other.factors.items():
            found[monomial] = found.get(monomial, 0) + times * factor
        return Polynomial({monomial: factor for monomial, factor in found.items() if factor})

    def minus(self, other: Polynomial) -> Polynomial:
        """Return the difference of two polynomials."""
        return self.plus(other, -1)

    def times(self, other: Polynomial) -> Polynomial:
        """Return the product of two polynomials."""
        found: dict[Monomial, int] = {}
        for (one, first), (two, second) in product(self.factors.items(), other.factors.items()):
            monomial = tuple(sorted(one + two))
            found[monomial] = found.get(monomial, 0) + first * second
        return Polynomial({monomial: factor for monomial, factor in found.items() if factor})

    def renamed(self, change: Callable[[str], str]) -> Polynomial:
        """Return the polynomial with other symbols, two of which may become one."""
        found: dict[Monomial, int] = {}
        for monomial, factor in self.factors.items():
            new = tuple(sorted(map(change, monomial)))
            found[new] = found.get(new, 0) + factor
        return Polynomial({monomial: factor for monomial, factor in found.items() if factor})

    def replaced(self, name: str, value: Polynomial) -> Polynomial:
        """Return the polynomial with `value` in the place of the symbol `name`."""
        total = Polynomial({})
        for monomial, factor in self.factors.items():
            rest = tuple(one for one in monomial if one != name)
            term = Polynomial({rest: factor})
            for _ in range(len(monomial) - len(rest)):
                term = term.times(value)
            total = total.plus(term)
        return total


def constant(value: int) -> Polynomial:
    """Return the polynomial that is `value`."""
    return Polynomial({(): value} if value else {})


def symbol(name: str) -> Polynomial:
    """Return the polynomial that is one symbol."""
    return Polynomial({(name,): 1})


def polynomial_of(expr: Expr, note: Callable[[str, Expr], None]) -> Polynomial:
    """Return the whole-number expression `expr` as a polynomial.

    `note` is told each symbol and the expression that it stands for.
    """
    value = whole_number(expr)
    if value is not None:
        return constant(value)
    match expr:
        case Unary(Operator.MINUS, operand):
            return constant(0).minus(polynomial_of(operand, note))
        case Unary(Operator.PLUS, operand):
            return polynomial_of(operand, note)
        case Binary(Operator.PLUS, left, right):
            return polynomial_of(left, note).plus(polynomial_of(right, note))
        case Binary(Operator.MINUS, left, right):
            return polynomial_of(left, note).minus(polynomial_of(right, note))
        case Binary(Operator.TIMES, left, right):
            found = polynomial_of(left, note).times(polynomial_of(right, note))
            if len(found.factors) <= _MOST_TERMS:
                return found
    key = expr.key if isinstance(expr, Name) else canonical(expr)
    note(key, expr)
    return symbol(key)


# ---------------------------------------------------------------------------- what follows


@dataclass(frozen=True, slots=True)
class NonNegativePolynomials:
    """Polynomials whose values are known not to be negative."""

    known: tuple[Polynomial, ...] = ()

    def and_these(self, more: Iterable[Polynomial]) -> NonNegativePolynomials:
        """Return these facts and `more`."""
        return NonNegativePolynomials((*self.known, *more))

    def and_zero(self, zeros: Iterable[Polynomial]) -> NonNegativePolynomials:
        """Return these facts and that `zeros` are 0."""
        both = ((zero, constant(0).minus(zero)) for zero in zeros)
        return self.and_these(one for pair in both for one in pair)

    def imply(self, wanted: Polynomial) -> bool:
        """Return whether `wanted` is certainly not negative."""
        return _Search(self.known).follows(wanted, _MOST_FACTS_USED)

    def exclude_zero(self, value: Polynomial) -> bool:
        """Return whether `value` is certainly not 0."""
        if value.known is not None:
            return value.known != 0
        if not may_be_zero(value):
            return True
        one = constant(1)
        return self.imply(value.minus(one)) or self.imply(constant(-1).minus(value))


def may_be_zero(value: Polynomial) -> bool:
    """Return whether a common divisor of the factors leaves room for the value 0."""
    divisor = reduce(gcd, (factor for term, factor in value.factors.items() if term), 0)
    return divisor == 0 or value.factors.get((), 0) % divisor == 0


class _Search:
    """A search for a sum of multiples of facts that a polynomial is not smaller than."""

    __slots__ = ("_facts", "_trials")

    def __init__(self, facts: tuple[Polynomial, ...]) -> None:
        self._facts = facts
        self._trials = _MOST_TRIALS

    def follows(self, wanted: Polynomial, depth: int) -> bool:
        """Return whether `wanted`, minus multiples of at most `depth` facts, is not negative."""
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
        """Yield multiples of `wanted`, minus multiples of facts, in which `term` is gone."""
        for fact in self._facts:
            other = fact.factors.get(term, 0)
            if other * factor > 0:
                common = gcd(other, factor)
                scaled = Polynomial(
                    {one: value * abs(other // common) for one, value in wanted.factors.items()}
                )
                yield scaled.plus(fact, -abs(factor // common))
