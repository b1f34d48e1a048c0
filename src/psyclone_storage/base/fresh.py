"""Three-valued logic for replica states: yes, no or maybe.

The compiler and the storage runtime share it. At run time only yes and no occur.
"""

from __future__ import annotations

from enum import Enum


class Fresh(Enum):
    """True if a fact holds: yes, no, or known only at run time (maybe)."""

    NO = "no"
    MAYBE = "maybe"
    YES = "yes"

    @staticmethod
    def of(value: bool) -> Fresh:
        """Return YES or NO."""
        return Fresh.YES if value else Fresh.NO

    def join(self, other: Fresh) -> Fresh:
        """Return the fact after control-flow paths join: MAYBE if they disagree."""
        return self if self is other else Fresh.MAYBE

    def __and__(self, other: Fresh) -> Fresh:
        """Return the three-valued conjunction."""
        if Fresh.NO in (self, other):
            return Fresh.NO
        return Fresh.YES if self is other is Fresh.YES else Fresh.MAYBE

    def __or__(self, other: Fresh) -> Fresh:
        """Return the three-valued disjunction."""
        if Fresh.YES in (self, other):
            return Fresh.YES
        return Fresh.NO if self is other is Fresh.NO else Fresh.MAYBE

    def __invert__(self) -> Fresh:
        """Return the three-valued negation."""
        return {Fresh.YES: Fresh.NO, Fresh.NO: Fresh.YES, Fresh.MAYBE: Fresh.MAYBE}[self]
