"""Is a replica of a field up to date? The lattice that the compiler and the storage share.

The compiler knows each fact as yes, no or maybe; at run time only yes and no are left.
"""

from __future__ import annotations

from enum import Enum


class Fresh(Enum):
    """A fact that is known to hold, known not to hold, or known only at run time."""

    NO = "no"
    MAYBE = "maybe"
    YES = "yes"

    @staticmethod
    def of(value: bool) -> Fresh:
        """Return the certain fact that `value` states."""
        return Fresh.YES if value else Fresh.NO

    def join(self, other: Fresh) -> Fresh:
        """Return the join of two control-flow paths: the fact if both agree, else maybe."""
        return self if self is other else Fresh.MAYBE

    def __and__(self, other: Fresh) -> Fresh:
        """Return whether both hold."""
        if Fresh.NO in (self, other):
            return Fresh.NO
        return Fresh.YES if self is other is Fresh.YES else Fresh.MAYBE

    def __or__(self, other: Fresh) -> Fresh:
        """Return whether at least one holds."""
        if Fresh.YES in (self, other):
            return Fresh.YES
        return Fresh.NO if self is other is Fresh.NO else Fresh.MAYBE

    def __invert__(self) -> Fresh:
        """Return whether it does not hold."""
        return {Fresh.YES: Fresh.NO, Fresh.NO: Fresh.YES, Fresh.MAYBE: Fresh.MAYBE}[self]
