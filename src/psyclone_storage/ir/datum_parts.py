"""The units of data that have their own replicas: fields, operators and vector components."""

from __future__ import annotations

from typing import NamedTuple

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.ir.aliases import Aliases, aliases_in
from psyclone_storage.ir.schedule import Actual, Datum, Schedule


class DatumPart(NamedTuple):
    """A field, an operator, or one component of a field vector.

    `component` counts from 1. It equals None for a datum that is not a vector.
    """

    datum: str
    component: int | None

    @property
    def text(self) -> str:
        """The name in uids and messages: `u`, or `u[2]` for a component."""
        return self.datum if self.component is None else f"{self.datum}[{self.component}]"


def components_of(datum: Datum) -> tuple[DatumPart, ...]:
    """Return the components of a field vector; for any other datum, the datum itself."""
    if datum.vector == 1:
        return (DatumPart(datum.name, None),)
    return tuple(DatumPart(datum.name, number) for number in range(1, datum.vector + 1))


def passed_parts(actual: Actual, data: dict[str, Datum]) -> tuple[DatumPart, ...]:
    """Return the parts of a datum that the argument `actual` passes; empty for a constant."""
    if actual.datum is None:
        return ()
    if actual.component is not None:
        return (DatumPart(actual.datum, actual.component),)
    return components_of(data[actual.datum])


def alias_parts(schedule: Schedule) -> dict[str, tuple[DatumPart, ...]]:
    """Return, for each datum, the parts of other data that may alias it."""
    return _alias_parts(aliases_in(schedule))


@kept_lately
def _alias_parts(aliases: Aliases) -> dict[str, tuple[DatumPart, ...]]:
    return {
        name: tuple(
            part for other in aliases.others(name) for part in components_of(aliases.data[other])
        )
        for name in aliases.data
    }
