"""Parts of data with replicas of their own: fields, operators and components of field vectors."""

from __future__ import annotations

from typing import NamedTuple

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.ir.aliases import Aliases, aliases_in
from psyclone_storage.ir.schedule import Actual, Datum, Schedule


class DatumPart(NamedTuple):
    """A field or operator, or one component of a field vector.

    `component` counts from 1 and equals None for a datum that is no vector.
    """

    datum: str
    component: int | None

    @property
    def text(self) -> str:
        """The part as it appears in uids and messages: `u`, or `u[2]` for a component."""
        return self.datum if self.component is None else f"{self.datum}[{self.component}]"


def components_of(datum: Datum) -> tuple[DatumPart, ...]:
    """Return every component of a field vector; any other datum as a whole."""
    if datum.vector == 1:
        return (DatumPart(datum.name, None),)
    return tuple(DatumPart(datum.name, number) for number in range(1, datum.vector + 1))


def passed_parts(actual: Actual, data: dict[str, Datum]) -> tuple[DatumPart, ...]:
    """Return the parts of the datum that `actual` passes; none for a constant."""
    if actual.datum is None:
        return ()
    if actual.component is not None:
        return (DatumPart(actual.datum, actual.component),)
    return components_of(data[actual.datum])


def alias_parts(schedule: Schedule) -> dict[str, tuple[DatumPart, ...]]:
    """Return, for each datum, the parts of other data that may be the same object."""
    return _alias_parts(aliases_in(schedule))


@kept_lately
def _alias_parts(aliases: Aliases) -> dict[str, tuple[DatumPart, ...]]:
    return {
        name: tuple(
            part for other in aliases.others(name) for part in components_of(aliases.data[other])
        )
        for name in aliases.data
    }
