"""Whole numbers as sums: terms that are added or subtracted, and one constant.

An index such as `map(df) + k + 1` is taken to pieces by it, whatever the order of its terms.
"""

from __future__ import annotations

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Literal,
    Name,
    Parenthesised,
    Unary,
    canonical,
    integer_value,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic


@dataclass(frozen=True, slots=True)
class IndexSum:
    """A sum of `terms`, each with its sign, 1 or -1, and a constant."""

    terms: tuple[tuple[int, Expr], ...]
    constant: int = 0

    @property
    def key(self) -> str:
        """Return a text under which two sums are equal whatever their order."""
        return " ".join([*sorted(f"{sign:+}*{canonical(term)}" for sign, term in self.terms),
                         str(self.constant)])  # fmt: skip

    @property
    def expr(self) -> Expr:
        """Return the sum as an expression."""
        number = Literal(str(abs(self.constant)), Intrinsic.INTEGER)
        found: Expr | None = None
        for sign, term in sorted(self.terms, key=lambda one: -one[0]):
            if found is None:
                found = term if sign > 0 else Unary(Operator.MINUS, term)
            else:
                found = Binary(Operator.PLUS if sign > 0 else Operator.MINUS, found, term)
        if found is None:
            return number if self.constant >= 0 else Unary(Operator.MINUS, number)
        if not self.constant:
            return found
        return Binary(Operator.PLUS if self.constant > 0 else Operator.MINUS, found, number)

    def plus(self, by: int) -> IndexSum:
        """Return the sum with a greater constant."""
        return IndexSum(self.terms, self.constant + by)

    def without(self, position: int) -> IndexSum:
        """Return the sum without the term at a position."""
        return IndexSum(self.terms[:position] + self.terms[position + 1 :], self.constant)

    def is_name(self, key: str) -> bool:
        """Return whether the sum is a variable and a constant."""
        match self.terms:
            case ((1, Name() as name),):
                return name.key == key
        return False


def summed(expr: Expr) -> IndexSum:
    """Return a whole number as a sum."""
    if (value := integer_value(expr)) is not None:
        return IndexSum((), value)
    match expr:
        case Parenthesised(operand) | Unary(Operator.PLUS, operand):
            return summed(operand)
        case Unary(Operator.MINUS, operand):
            return _negated(summed(operand))
        case Binary(Operator.PLUS | Operator.MINUS as op, left, right):
            first, second = summed(left), summed(right)
            second = second if op is Operator.PLUS else _negated(second)
            return _cancelled(first.terms + second.terms, first.constant + second.constant)
    return IndexSum(((1, expr),))


def _negated(of: IndexSum) -> IndexSum:
    return IndexSum(tuple((-sign, term) for sign, term in of.terms), -of.constant)


def _cancelled(terms: tuple[tuple[int, Expr], ...], constant: int) -> IndexSum:
    """Return a sum in which no term is both added and subtracted."""
    kept: list[tuple[int, Expr]] = []
    for sign, term in terms:
        opposite = (-sign, canonical(term))
        against = next((one for one in kept if (one[0], canonical(one[1])) == opposite), None)
        if against is None:
            kept.append((sign, term))
        else:
            kept.remove(against)
    return IndexSum(tuple(kept), constant)
