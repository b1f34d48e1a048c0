"""What GOcean's fields and grids have to do with a device.

A field is an object with an array in it, and so is its grid: the object goes to the device before
its parts. A field knows whether a device has its values (`data_on_device`), which is the guard of
all that happens to it, and remains right when a routine is called with other fields. A grid has no
such flag; entering what is there already costs next to nothing (ADR 0020).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from psyclone_storage.backend import abi_gocean as abi
from psyclone_storage.backend.constructs import DeviceItem, enter_lines
from psyclone_storage.backend.gocean.context import Context
from psyclone_storage.ir.devices import device_calls, entered_data
from psyclone_storage.ir.expr import Expr, Literal, Member, Name, Unary, spell
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.schedule import HaloExchange, KernelCall
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Branch, Comment, Directive, Do, If, Line

_TRUE = Literal(".true.", Intrinsic.LOGICAL)
_OF_GRID = re.compile(rf"(\w+)%{abi.GRID}\b")


def enter_data_lines(context: Context, enter: EnterData, lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return what gives the device the fields and grids that the regions of the routine take.

    `lines` are those of the regions.
    """
    fields = [_field_entered(context, name, enter.queue) for name in enter.data]
    others = [
        item
        for item in region_items(context, device_calls(context.schedule), lines)
        if item.text.partition("%")[0] not in enter.data or f"%{abi.GRID}" in item.text
    ]
    return (
        Comment("Give the device what it does not have"),
        *fields,
        *enter_lines(others, enter.queue),
    )


def _field_entered(context: Context, name: str, queue: int) -> If:
    flag, data = _flag(name), context.reach(abi.Path.DATA, Name(name))
    items = (DeviceItem(name), DeviceItem(spell(data), 1))
    body: tuple[Line, ...] = (*enter_lines(items, queue), Assign(flag, _TRUE))
    return If((Branch(Unary(".not.", flag), body),))


def region_items(
    context: Context, calls: Iterable[KernelCall], lines: Iterable[Line]
) -> tuple[DeviceItem, ...]:
    """Return what `calls` take, and the grids that loops in `lines` take their bounds from."""
    found: dict[str, DeviceItem] = {}
    for item in (*_of_calls(context, calls), *_of_bounds(lines)):
        known = found.get(item.text, item)
        found[item.text] = item if item.written else known
    return tuple(found.values())


def _of_calls(context: Context, calls: Iterable[KernelCall]) -> Iterator[DeviceItem]:
    for call in calls:
        for dummy in call.dummies:
            if dummy.arg is None or dummy.role not in (Role.FIELD, Role.GRID_PROPERTY):
                continue
            field = call.args[dummy.arg].value
            yield DeviceItem(spell(field))
            if dummy.role is Role.FIELD:
                written = call.kernel.args[dummy.arg].access.writes
                yield DeviceItem(spell(context.reach(abi.Path.DATA, field)), 1, written)
                continue
            path = spell(context.reach(dummy.property_name, field))
            yield from _grids(path)
            if dummy.rank:
                yield DeviceItem(path, 2)


def _of_bounds(lines: Iterable[Line]) -> Iterator[DeviceItem]:
    for line in lines:
        if isinstance(line, Do):
            for bound in (line.start, line.stop):
                yield from _grids(spell(bound))
            yield from _of_bounds(line.body)


def _grids(text: str) -> Iterator[DeviceItem]:
    for found in _OF_GRID.finditer(text):
        yield DeviceItem(found[1])
        yield DeviceItem(found[0], 1)


def update_lines(context: Context, update: Update) -> tuple[Line, ...]:
    """Return the copy of a field's values, under a test if the device may not have them."""
    return _copy(context, update.datum, update.to.value, guarded=update.guarded)


def carried_lines(context: Context, exchange: HaloExchange, call: Line) -> tuple[Line, ...]:
    """Return the call of an exchange, which works on the host, between copies from and to a device.

    The device may have no copy of the field.
    """
    guarded = exchange.datum not in entered_data(context.schedule)
    before = _copy(context, exchange.datum, "host", guarded=guarded)
    after = _copy(context, exchange.datum, "device", guarded=guarded)
    return (*(before if exchange.fetched else ()), call, *(after if exchange.sent else ()))


def _copy(context: Context, name: str, side: str, *, guarded: bool) -> tuple[Line, ...]:
    data = spell(context.reach(abi.Path.DATA, Name(name)))
    copy = Directive(f"acc update {side}({data})")
    return (If((Branch(_flag(name), (copy,)),)),) if guarded else (copy,)


def _flag(name: str) -> Expr:
    return Member(Name(name), abi.ON_DEVICE)
