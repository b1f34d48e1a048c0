"""May-alias analysis: which data of a schedule can be the same object at run time.

All legality checks and plans use this query. Two names may alias if they are elements of one array
at unknown indices, such as `x(i)` and `x(j)`, or if one is a field vector and the other an element
of it. The domain sets `Datum.may_alias` accordingly. Different components of one vector do not
alias.

Two arguments of one call do not alias if the call writes one of them, because Fortran forbids it.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.schedule import Actual, Datum, HaloExchange, Schedule, data_by_name

APART = "If they are never the same, pass them under names or constant indices of their own."


@dataclass(frozen=True, slots=True)
class Aliases:
    """May-alias information for the data of one schedule."""

    data: dict[str, Datum]
    aliased: frozenset[str]
    """The data that may be the same object as others."""

    def others(self, name: str) -> tuple[str, ...]:
        """Return the other data that may be the same object as `name`."""
        return self.data[name].may_alias

    def closure(self, names: Iterable[str]) -> frozenset[str]:
        """Return `names` and all data that may alias one of them."""
        given = frozenset(names)
        found = given & self.aliased
        return given.union(*map(self.others, found)) if found else given

    def connected(self, names: Iterable[str]) -> frozenset[str]:
        """Return `names` and all data that may be the same as one of them, or as one of those."""
        found = frozenset(names)
        while len(more := self.closure(found)) > len(found):
            found = more
        return found

    def overlap(self, first: Actual | HaloExchange, second: Actual | HaloExchange) -> bool:
        """Return whether two arguments or halo exchanges may refer to overlapping data."""
        if first.datum is None or second.datum is None:
            return False
        if first.datum != second.datum:
            return second.datum in self.others(first.datum)
        return None in (first.component, second.component) or first.component == second.component

    def described(self, first: Actual, second: Actual) -> str:
        """Return the text for diagnostics that names the data shared by two arguments."""
        if first.datum is None or second.datum is None:
            return f"'{spell(second.value)}'"
        met, written = (spell(self.data[name].actual) for name in (first.datum, second.datum))
        if first.datum != second.datum:
            return f"'{written}', which may be '{met}'"
        return f"'{written}'" if second.component is None else f"'{written}({second.component})'"

    def hint(self, first: Actual, second: Actual) -> str:
        """Return the hint of a diagnostic about two arguments that may alias.

        The hint is empty if both arguments are the same datum.
        """
        return "" if first.datum == second.datum else APART


def aliases_in(schedule: Schedule) -> Aliases:
    """Return the may-alias query for the data of `schedule`."""
    return _aliases(data_by_name(schedule))


@kept_lately
def _aliases(data: dict[str, Datum]) -> Aliases:
    return Aliases(data, frozenset(name for name, datum in data.items() if datum.may_alias))
