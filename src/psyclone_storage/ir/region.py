"""Symbolic halo depths.

A depth is the maximum of sums. Each sum consists of an integer and run-time expressions, and may be
relative to the whole halo. A run-time value, such as a stencil extent, may be 0. A comparison
returns yes, no or maybe. The module implements its own arithmetic because importing a computer
algebra package takes longer than compiling a file.

Invariant: no term of a depth covers another one, so that equal depths have equal representations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    integer_value,
    spell,
    whole,
)
from psyclone_storage.ir.operators import Operator


@dataclass(frozen=True, slots=True)
class Term:
    """`constant` plus the sum of `unknowns`, relative to the whole halo if `whole`.

    `unknowns` are expressions with values of at least 0, sorted by spelling.
    """

    whole: bool = False
    unknowns: tuple[Expr, ...] = ()
    constant: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings of all run-time expressions of the sum, sorted."""
        return tuple(map(spell, self.unknowns))

    def covers(self, other: Term) -> bool:
        """Return whether the term is at least `other` for all values of the unknowns.

        The whole halo has at least one level. A field may have a deeper halo.
        """
        if self.whole and other.whole:
            return self.constant >= other.constant
        if self.whole:
            return not other.unknowns and self.constant + 1 >= other.constant
        return not other.whole and self._exceeds_by(other, 0)

    def surpasses(self, other: Term) -> bool:
        """Return whether the term exceeds `other` by at least one level for all values."""
        if self.whole and other.whole:
            return self.constant > other.constant
        if self.whole:
            return self.constant == 0 and other == _NO_LEVELS
        return not other.whole and self._exceeds_by(other, 1)

    def _exceeds_by(self, other: Term, levels: int) -> bool:
        if other.unknowns and Counter(other.names) - Counter(self.names):
            return False
        return self.constant >= other.constant + levels


_NO_LEVELS = Term()


@dataclass(frozen=True, slots=True)
class Depth:
    """A number of halo levels: the maximum of `terms`; 0 if none exist."""

    terms: tuple[Term, ...] = ()

    @staticmethod
    def of(levels: int) -> Depth:
        """Return a depth that is a known non-negative integer."""
        return Depth((Term(constant=levels),)) if levels > 0 else NOTHING

    @staticmethod
    def value(expr: Expr) -> Depth:
        """Return the depth given by the expression `expr`, whose value is at least 0."""
        known = integer_value(expr)
        return Depth((Term(unknowns=(expr,)),)) if known is None else Depth.of(known)

    @property
    def known(self) -> int | None:
        """The number of levels if it is known at compile time, otherwise None."""
        if not self.terms:
            return 0
        first = self.terms[0]
        single = len(self.terms) == 1 and not first.names and not first.whole
        return first.constant if single else None

    def plus(self, other: Depth) -> Depth:
        """Return the sum of two depths, at most the whole halo."""
        if not self.terms or not other.terms:
            return self if self.terms else other
        return _largest(
            Term(a.whole or b.whole, _sorted(a.unknowns + b.unknowns), a.constant + b.constant)
            for a in self.terms
            for b in other.terms
        )

    def minus(self, levels: int) -> Depth:
        """Return the depth reduced by `levels`; terms known at compile time are at least 0."""
        return _largest(replace(term, constant=term.constant - levels) for term in self.terms)

    def times(self, factor: int) -> Depth:
        """Return the depth on a mesh refined by `factor`; the whole halo remains the whole halo."""
        return _largest(
            Term(term.whole, _sorted(term.unknowns * factor), term.constant * factor)
            for term in self.terms
        )

    def max(self, other: Depth) -> Depth:
        """Return the maximum of two depths, symbolically if it is not known at compile time."""
        return _largest(self.terms + other.terms)

    def covers(self, other: Depth) -> Fresh:
        """Return whether this depth is at least `other`.

        YES and NO hold for all values of the unknowns; MAYBE depends on them.
        """
        if self.terms == other.terms or not other.terms:
            return Fresh.YES
        if all(any(mine.covers(theirs) for mine in self.terms) for theirs in other.terms):
            return Fresh.YES
        # A sum below 0 is no level, so that only what is more than that exceeds it.
        mine = (*self.terms, _NO_LEVELS)
        exceeded = any(all(theirs.surpasses(term) for term in mine) for theirs in other.terms)
        return Fresh.NO if exceeded else Fresh.MAYBE


def _largest(terms: Iterable[Term]) -> Depth:
    """Return the depth with `terms`, without terms that another term covers."""
    kept: list[Term] = []
    for term in sorted({_capped(term) for term in terms}, key=_order, reverse=True):
        positive = term.whole or term.names or term.constant > 0
        if positive and not any(other.covers(term) for other in kept):
            kept = [other for other in kept if not term.covers(other)] + [term]
    return Depth(tuple(sorted(kept, key=_order)))


def _order(term: Term) -> tuple[bool, tuple[str, ...], int]:
    """Return the sort key of a term."""
    return term.whole, term.names, term.constant


def _sorted(exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(sorted(exprs, key=spell)) if len(exprs) > 1 else exprs


def _capped(term: Term) -> Term:
    """Return `term` limited to the whole halo, its upper bound."""
    if not term.whole:
        return term
    return Term(whole=True, constant=0 if term.unknowns else min(term.constant, 0))


NOTHING = Depth()
WHOLE = Depth((Term(whole=True),))


def deepest(depths: Iterable[Depth]) -> Depth:
    """Return the maximum of `depths`, 0 if none exist."""
    return reduce(Depth.max, depths, NOTHING)


def describe_depth(depth: Depth) -> str:
    """Return the depth as text: `2`, `extent + 1`, `max(2, extent)`, `whole - 1`."""
    texts = [_describe_term(term) for term in depth.terms]
    if len(texts) > 1:
        return f"max({', '.join(texts)})"
    return texts[0] if texts else "0"


def _describe_term(term: Term) -> str:
    parts = ["whole"] if term.whole else []
    parts += map(spell, multiples(term))
    text = " + ".join(parts)
    if not parts:
        return str(term.constant)
    if term.constant:
        text += f" {'+' if term.constant > 0 else '-'} {abs(term.constant)}"
    return text


def multiples(term: Term) -> tuple[Expr, ...]:
    """Return each distinct run-time expression of a sum, times its number of occurrences."""
    return tuple(
        unknown if count == 1 else Binary(Operator.TIMES, whole(count), unknown)
        for unknown, count in Counter(term.unknowns).items()
    )
