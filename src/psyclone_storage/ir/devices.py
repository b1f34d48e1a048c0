"""Statements of a schedule that run on a device with separate memory, and their data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from psyclone_storage.base.memo import kept_by_item
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import (
    Compound,
    Datum,
    DirectiveRegion,
    KernelCall,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, Side, Update
from psyclone_storage.ir.walk import Block, kernel_calls, with_inside

MOVED = (ArgKind.FIELD, ArgKind.OPERATOR, ArgKind.COLUMNWISE_OPERATOR)
"""The arguments whose values are moved between host and device."""


class DatumUse(NamedTuple):
    """An access of one statement to a field, an operator or a component of a field vector."""

    datum: str
    component: int | None
    writes: bool


def takes_data(item: object) -> bool:
    """Return whether `item` is a device region whose data the schedule must transfer.

    Regions that copy their own data are excluded.
    """
    return isinstance(item, DirectiveRegion) and item.place is Side.DEVICE and not item.copies


def has_device(schedule: Schedule) -> bool:
    """Return whether `schedule` contains a device region or a data transfer."""
    return bool(_of_device(schedule))


@kept_by_item
def _of_device(item: Statement) -> tuple[Statement, ...]:
    return tuple(
        one for one in with_inside(item) if isinstance(one, EnterData | Update) or takes_data(one)
    )


def device_regions(block: Block) -> Iterator[DirectiveRegion]:
    """Yield the outermost regions of `block` that run on a device with separate memory."""
    if isinstance(block, DirectiveRegion) and takes_data(block):
        yield block
        return
    for item in block.body:
        if isinstance(item, Compound):
            yield from device_regions(item)


def device_calls(block: Block) -> tuple[KernelCall, ...]:
    """Return the kernel calls in `block` that run on a device with separate memory."""
    return tuple(call for region in device_regions(block) for call in kernel_calls(region))


def entered_data(schedule: Schedule) -> frozenset[str]:
    """Return the data that an `EnterData` statement of `schedule` copies to the device."""
    return frozenset(_entered_by_item(schedule))


@kept_by_item
def _entered_by_item(item: Statement) -> tuple[str, ...]:
    return item.data if isinstance(item, EnterData) else ()


def moved_data(schedule: Schedule, calls: tuple[KernelCall, ...]) -> tuple[DatumUse, ...]:
    """Return the accesses of `calls` to fields, operators and all data that may alias them.

    Each component of a field vector has an entry of its own.
    """
    aliases = aliases_in(schedule)
    data = aliases.data
    writes: dict[tuple[str, int | None], bool] = {}
    for call in calls:
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.kind not in MOVED or actual.datum is None:
                continue
            datum = data[actual.datum]
            keys = [(datum.name, part) for part in moved_parts(datum, actual.component)]
            keys += [
                (name, part)
                for name in aliases.others(datum.name)
                for part in moved_parts(data[name])
            ]
            for key in keys:
                writes[key] = writes.get(key, False) or described.access.writes
    return tuple(
        DatumUse(datum.name, part, writes[datum.name, part])
        for datum in schedule.data
        for part in moved_parts(datum)
        if (datum.name, part) in writes
    )


def moved_parts(datum: Datum, component: int | None = None) -> tuple[int | None, ...]:
    """Return the components that are transferred separately.

    The result is `(None,)` for a datum that is not a field vector. With `component`, only that
    component is returned.
    """
    if component is not None or datum.vector == 1:
        return (component,)
    return tuple(range(1, datum.vector + 1))
