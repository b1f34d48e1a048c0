"""The may-alias query: which data of a schedule may be one object when the program runs.

Every question about legality and every plan asks here. Two names may mean one object if they are
elements of one array at indices that are not known, such as `x(i)` and `x(j)`, or a field vector
and an element of it (`Datum.may_alias`, which the domain fills). Components of one vector are
apart; which component an element may be is not known.

Two arguments of one call are never one object if the call writes one of them: Fortran does not
allow it.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.schedule import Actual, Datum, Schedule, data_by_name

APART = "If they are never the same, pass them under names or constant indices of their own."


@dataclass(frozen=True, slots=True)
class Aliases:
    """The data of one schedule, and which of them may be one object."""

    data: dict[str, Datum]

    def others(self, name: str) -> tuple[str, ...]:
        """Return the other data that may be the same object as `name`."""
        return self.data[name].may_alias

    def closure(self, names: Iterable[str]) -> frozenset[str]:
        """Return `names` and all data that may be the same object as one of them."""
        given = frozenset(names)
        return given.union(*(self.others(name) for name in given))

    def connected(self, names: Iterable[str]) -> frozenset[str]:
        """Return `names` and all data that may be the same as one of them, or as one of those."""
        found = frozenset(names)
        while (more := self.closure(found)) != found:
            found = more
        return found

    def overlap(self, first: Actual, second: Actual) -> bool:
        """Return whether two arguments of different calls may have a part in common."""
        if first.datum is None or second.datum is None:
            return False
        if first.datum != second.datum:
            return second.datum in self.others(first.datum)
        return None in (first.component, second.component) or first.component == second.component

    def described(self, first: Actual, second: Actual) -> str:
        """Return what two arguments that overlap have in common, as messages have it."""
        if first.datum is None or second.datum is None:
            return f"'{spell(second.value)}'"
        met, written = (spell(self.data[name].actual) for name in (first.datum, second.datum))
        if first.datum != second.datum:
            return f"'{written}', which may be '{met}'"
        return f"'{written}'" if second.component is None else f"'{written}({second.component})'"

    def hint(self, first: Actual, second: Actual) -> str:
        """Return what to do about two arguments that overlap, if they are in fact different."""
        return "" if first.datum == second.datum else APART


def aliases_in(schedule: Schedule) -> Aliases:
    """Return the may-alias query for the data of `schedule`."""
    return _aliases(data_by_name(schedule))


@kept_lately
def _aliases(data: dict[str, Datum]) -> Aliases:
    return Aliases(data)
