"""The units of data that have their own replicas, and the statements that access them.

The units are fields, operators and vector components.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from psyclone_storage.base.memo import kept_by_version, kept_lately, kept_with_first
from psyclone_storage.base.splices import Splice, without_one
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import Aliases, aliases_in
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.schedule import Actual, Datum, Schedule
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.walk import Region, positions_in, sequential_statements, statements


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


# ---------------------------------------------------------------------------- uses

_Accesses = Iterable[tuple[str, int | None, Access]]
"""Names of data, the component of each (all of them if None), and what is done to it."""


def own_accesses(item: sch.Statement) -> _Accesses:
    """Return the direct data accesses of `item`, without nested statements."""
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
    """Return the names of the data that `item` and the statements nested in it access."""
    return _data_inside(item) if isinstance(item, sch.Compound) else _data_in((item,))


@kept_with_first
def _data_inside(item: sch.Compound) -> frozenset[str]:
    return _data_in(statements(item))


def _data_in(items: tuple[sch.Statement, ...]) -> frozenset[str]:
    return frozenset(datum for item in items for datum, _, _ in own_accesses(item))


class _Users:
    """The top-level statements that access each datum, by identity, as often as they occur."""

    __slots__ = ("by_datum",)

    def __init__(self) -> None:
        self.by_datum: defaultdict[str, dict[int, tuple[sch.Statement, ...]]] = defaultdict(dict)

    def copy(self) -> _Users:
        """Return a copy that can change by itself."""
        made = _Users()
        made.by_datum.update((datum, items.copy()) for datum, items in self.by_datum.items())
        return made


def _updated_users(known: _Users, _: Schedule, splice: Splice[sch.Statement]) -> _Users:
    """Return the users of data, updated for a change of the body."""
    for item in splice.removed:
        for datum in data_of(item):
            items = known.by_datum[datum]
            items[id(item)] = without_one(items[id(item)], item)
            if not items[id(item)]:
                del items[id(item)]
    for item in splice.added:
        for datum in data_of(item):
            items = known.by_datum[datum]
            items[id(item)] = (*items.get(id(item), ()), item)
    return known


_users = kept_by_version(_Users)(_updated_users)


def positions_using(schedule: Schedule, data: frozenset[str]) -> list[int]:
    """Return the positions of the top-level statements that access some of `data`."""
    users = _users(schedule).by_datum
    found = {key: items[0] for datum in data for key, items in users.get(datum, {}).items()}
    return positions_in(schedule, found.values())


def sequence_using(schedule: Schedule, data: frozenset[str]) -> Iterator[sch.Statement]:
    """Yield the sequential statements of the top-level statements that access some of `data`."""
    items = (schedule.body[at] for at in positions_using(schedule, data))
    return chain.from_iterable(
        sequential_statements(item) if isinstance(item, Region) else (item,) for item in items
    )
