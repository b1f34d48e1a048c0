"""Parts of data with replicas of their own, and the statements that use them.

A part is a field, an operator or a component of a field vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, compress
from operator import not_
from typing import NamedTuple

from psyclone_storage.base.memo import kept_by_item, kept_lately, kept_with_first
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import Aliases, aliases_in
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.schedule import Actual, Datum, Schedule
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.walk import Region, sequential_statements, statements


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


# ---------------------------------------------------------------------------- uses

_Accesses = Iterable[tuple[str, int | None, Access]]
"""Names of data, the component of each (all of them if None), and what is done to it."""


def own_accesses(item: sch.Statement) -> _Accesses:
    """Return what `item` itself does to which data, not what is inside of it."""
    match item:
        case sch.KernelCall():
            # `check_schedule` examines calls with too few arguments, too.
            passed = zip(item.kernel.args, item.args, strict=False)
            known = [(described, actual, actual.datum) for described, actual in passed]
            return [
                (datum, actual.component, described.access)
                for described, actual, datum in known
                if datum is not None
            ]
        case sch.HaloExchange(phase=sch.Phase.START) | sch.MarkHalo():
            return [(item.datum, item.component, Access.READ)]
        case sch.HaloExchange() | sch.FillHalo() | Update():
            return [(item.datum, item.component, Access.READWRITE)]
        case sch.GlobalReduction():
            return [(item.datum, None, Access.READWRITE)]
        case EnterData():
            return [(name, None, Access.READ) for name in item.data]
    return []


def data_of(item: sch.Statement) -> frozenset[str]:
    """Return the names of the data that `item` uses, whatever is inside it included."""
    return _data_inside(item) if isinstance(item, sch.Compound) else _data_in((item,))


@kept_with_first
def _data_inside(item: sch.Compound) -> frozenset[str]:
    return _data_in(statements(item))


def _data_in(items: tuple[sch.Statement, ...]) -> frozenset[str]:
    return frozenset(datum for item in items for datum, _, _ in own_accesses(item))


_data_by_item = kept_by_item(data_of)


def positions_using(schedule: Schedule, data: frozenset[str]) -> Iterator[int]:
    """Yield the positions in the body of the statements that use some of `data`."""
    uses = map(not_, map(data.isdisjoint, _data_by_item(schedule)))
    return compress(range(len(schedule.body)), uses)


def sequence_using(schedule: Schedule, data: frozenset[str]) -> Iterator[sch.Statement]:
    """Yield those of the sequential statements that use `data`, and others of the same regions."""
    items = (schedule.body[at] for at in positions_using(schedule, data))
    return chain.from_iterable(
        sequential_statements(item) if isinstance(item, Region) else (item,) for item in items
    )
