"""Overlap and coverage of data accesses, as in PSyclone's dependence analysis.

Two accesses *overlap* if they touch a common part of a datum. Accesses *cover* another one if
together they touch all its parts. The parts of a field vector are its components: a kernel accesses
all components of a vector argument, a halo exchange just one. Any other datum has a single part.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.kernel import Access


@dataclass(frozen=True, slots=True)
class DataUse:
    """Access of a statement to the data of an argument, for dependence analysis.

    `components` are the accessed components, counted from 1; a datum that is not a vector has
    component 1. `exchange` marks accesses of halo exchanges. `maybe` marks an access to another
    object that may alias this one.
    """

    statement: str
    datum: str
    components: frozenset[int]
    access: Access
    exchange: bool = False
    maybe: bool = False


_ONE_PART = frozenset({1})


def touched_parts(component: int | None, vector: int) -> frozenset[int]:
    """Return the parts that `component` denotes; None denotes all `vector` components."""
    if component is not None:
        return frozenset({component})
    return _ONE_PART if vector == 1 else frozenset(range(1, vector + 1))


class AccessCoverage:
    """An access, and the parts of it that other accesses cover."""

    def __init__(self, use: DataUse) -> None:
        self.use = use
        self._covered: frozenset[int] = frozenset()
        self._exchanged: frozenset[int] = frozenset()

    def overlaps(self, other: DataUse) -> bool:
        """Return whether `other` accesses a common part of the datum.

        Exchanges of different components of a vector do not overlap.
        """
        return self.use.datum == other.datum and not self.use.components.isdisjoint(
            other.components
        )

    def update_coverage(self, other: DataUse) -> None:
        """Add `other` to the accesses that cover this one, if it certainly overlaps.

        Raises:
            InternalError: a second halo exchange of the same component.
        """
        if not self.overlaps(other):
            return
        if other.maybe:
            return
        common = self.use.components & other.components
        if other.exchange:
            if common & self._exchanged:
                raise InternalError(
                    f"'{other.statement}' is a second halo exchange of the same component of"
                    f" '{other.datum}' for '{self.use.statement}'."
                )
            self._exchanged |= common
        self._covered |= common

    @property
    def remaining(self) -> frozenset[int]:
        """The parts that are not covered yet."""
        return self.use.components - self._covered

    @property
    def covered(self) -> bool:
        """True if the accesses added so far cover this one completely."""
        return not self.remaining

    def reset_coverage(self) -> None:
        """Remove all added accesses."""
        self._covered = self._exchanged = frozenset()
