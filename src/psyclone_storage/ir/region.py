"""Halo depths: a small symbolic algebra.

A depth is a maximum of sums. Each sum has an integer, expressions that have a value at run time
only (one may occur more than once, and equal spellings are one expression), and may count from
the whole halo. A run-time value, such as the extent of a stencil or a requested depth, may be 0,
as in LFRic's own algorithms. Comparison answers yes, no or
maybe: it is an arithmetic of its own because a general algebra package costs more to import than a
file takes to compile.

The invariant: no term of a depth is covered by another of its terms, so that equal depths are
equal values.
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
    """`constant` + the sum of `unknowns`, counted from the whole halo if `whole`.

    `unknowns` are expressions of at least 0, sorted by spelling.
    """

    whole: bool = False
    unknowns: tuple[Expr, ...] = ()
    constant: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings of all expressions in the sum, sorted."""
        return tuple(map(spell, self.unknowns))

    def covers(self, other: Term) -> bool:
        """Return whether this is provably at least `other`, whatever the unknowns are.

        The whole halo has at least one level, and a field may have a deeper halo than the whole.
        """
        if self.whole and other.whole:
            return self.constant >= other.constant
        if self.whole:
            return not other.unknowns and self.constant + 1 >= other.constant
        return not other.whole and self._exceeds_by(other, 0)

    def surpasses(self, other: Term) -> bool:
        """Return whether this is provably at least one level more than `other`."""
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
    """A number of halo levels: the largest of its terms. No terms is depth 0."""

    terms: tuple[Term, ...] = ()

    @staticmethod
    def of(levels: int) -> Depth:
        """Return a depth known now, `levels` >= 0."""
        return Depth((Term(constant=levels),)) if levels > 0 else NOTHING

    @staticmethod
    def value(expr: Expr) -> Depth:
        """Return the depth that `expr` is, at least 0."""
        known = integer_value(expr)
        return Depth((Term(unknowns=(expr,)),)) if known is None else Depth.of(known)

    @property
    def known(self) -> int | None:
        """The number of levels if it is known now, else None."""
        if not self.terms:
            return 0
        first = self.terms[0]
        single = len(self.terms) == 1 and not first.names and not first.whole
        return first.constant if single else None

    def plus(self, other: Depth) -> Depth:
        """Return the sum of two depths; nothing is deeper than the whole halo."""
        if not self.terms or not other.terms:
            return self if self.terms else other
        return _largest(
            Term(a.whole or b.whole, _sorted(a.unknowns + b.unknowns), a.constant + b.constant)
            for a in self.terms
            for b in other.terms
        )

    def minus(self, levels: int) -> Depth:
        """Return the depth less `levels`, at least 0 in every term that is known now."""
        return _largest(replace(term, constant=term.constant - levels) for term in self.terms)

    def times(self, factor: int) -> Depth:
        """Return the depth on a mesh that is `factor` times finer; the whole stays the whole."""
        return _largest(
            Term(term.whole, _sorted(term.unknowns * factor), term.constant * factor)
            for term in self.terms
        )

    def max(self, other: Depth) -> Depth:
        """Return the larger of two depths, both if it cannot be told."""
        return _largest(self.terms + other.terms)

    def covers(self, other: Depth) -> Fresh:
        """Return whether this depth is at least `other`.

        YES and NO hold for every value of the unknowns, MAYBE depends on them.
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
    """Return the depth of `terms`, without those that another covers."""
    kept: list[Term] = []
    for term in sorted({_capped(term) for term in terms}, key=_order, reverse=True):
        positive = term.whole or term.names or term.constant > 0
        if positive and not any(other.covers(term) for other in kept):
            kept = [other for other in kept if not term.covers(other)] + [term]
    return Depth(tuple(sorted(kept, key=_order)))


def _order(term: Term) -> tuple[bool, tuple[str, ...], int]:
    """Return a key that defines an order of terms."""
    return term.whole, term.names, term.constant


def _sorted(exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(sorted(exprs, key=spell)) if len(exprs) > 1 else exprs


def _capped(term: Term) -> Term:
    """Return `term` with the whole halo as its upper limit, which unknowns may lift it to."""
    if not term.whole:
        return term
    return Term(whole=True, constant=0 if term.unknowns else min(term.constant, 0))


NOTHING = Depth()
WHOLE = Depth((Term(whole=True),))


def deepest(depths: Iterable[Depth]) -> Depth:
    """Return the largest of `depths`, depth 0 if there are none."""
    return reduce(Depth.max, depths, NOTHING)


def describe_depth(depth: Depth) -> str:
    """Return the depth as a person reads it: `2`, `extent + 1`, `max(2, extent)`, `whole - 1`."""
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
    """Return each expression in the sum once, times how often it occurs."""
    return tuple(
        unknown if count == 1 else Binary(Operator.TIMES, whole(count), unknown)
        for unknown, count in Counter(term.unknowns).items()
    )
