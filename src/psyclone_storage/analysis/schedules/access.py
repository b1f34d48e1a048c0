"""Overlap and coverage of accesses: the `DataAccess` of PSyclone's dependence analysis.

*Overlap* means that two accesses touch a common part of a datum. *Coverage* means that other
accesses, taken together, touch all that one access touches. `analysis.dependence` treats reads and
writes. The parts of a datum are the components of a field vector: a kernel that is passed the whole
vector touches all of them, a halo exchange just one. Any other datum has a single part, because all
loops start at its first element.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.kernel import Access


@dataclass(frozen=True, slots=True)
class DataUse:
    """Access of one statement to the data of an argument, for dependence analysis.

    `components` are the parts touched, counted from 1; a datum that is not a vector has part 1
    only. `exchange` marks the access of a halo exchange. `maybe` marks an access that names another
    object, which may alias this one at run time.
    """

    statement: str
    datum: str
    components: frozenset[int]
    access: Access
    exchange: bool = False
    maybe: bool = False


_ONE_PART = frozenset({1})


def touched_parts(component: int | None, vector: int) -> frozenset[int]:
    """Return the parts that `component` means for a datum of `vector` parts; None is all."""
    if component is not None:
        return frozenset({component})
    return _ONE_PART if vector == 1 else frozenset(range(1, vector + 1))


class AccessCoverage:
    """One access, compared with others, and how much of it the others cover."""

    def __init__(self, use: DataUse) -> None:
        self.use = use
        self._covered: frozenset[int] = frozenset()
        self._exchanged: frozenset[int] = frozenset()

    def overlaps(self, other: DataUse) -> bool:
        """Return whether `other` touches data that this access touches.

        Two exchanges of different components of a vector do not overlap; each of them overlaps
        with a kernel that is passed the vector.
        """
        return self.use.datum == other.datum and not self.use.components.isdisjoint(
            other.components
        )

    def update_coverage(self, other: DataUse) -> None:
        """Count what `other` touches as covered, if it certainly overlaps.

        Raises `InternalError` for a second halo exchange of one component: exchanges are placed
        such that no two of them serve one access.
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
        """The parts that no access so far has covered."""
        return self.use.components - self._covered

    @property
    def covered(self) -> bool:
        """True if the accesses so far, taken together, cover all of this one."""
        return not self.remaining

    def reset_coverage(self) -> None:
        """Forget all accesses so far, so that coverage can be gathered anew."""
        self._covered = self._exchanged = frozenset()
