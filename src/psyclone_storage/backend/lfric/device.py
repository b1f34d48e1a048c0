"""What LFRic's fields, maps and tables have to do with a device.

All that a region takes is an array behind a name, so what goes to the device is read off the
lowered lines. Fields and operators stay there, and so do the maps of the infrastructure, which
never change. What belongs to one call of the routine, as a table of basis functions does, is copied
there at its start and forgotten at its end (ADR 0020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from psyclone_storage.backend.constructs import DeviceItem, enter_lines
from psyclone_storage.backend.lfric.context import Context
from psyclone_storage.backend.lfric.data import columnwise_matrix, field_data, operator_stencil
from psyclone_storage.backend.workspace import Section
from psyclone_storage.ir.devices import device_regions, entered_data, moved_data
from psyclone_storage.ir.expr import Name, walk
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.rewrite import blocks_of, expressions_of
from psyclone_storage.ir.schedule import (
    Datum,
    DirectiveRegion,
    HaloExchange,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.unit import Call, DirectiveLine, Line, ScopedBlock
from psyclone_storage.ir.walk import kernel_calls

Lower = Callable[[Statement], tuple[Line, ...]]


def enter_data_lines(context: Context, enter: EnterData, lower: Lower) -> tuple[Line, ...]:
    """Return what gives the device all that the regions of the routine take.

    `lower` gives the lines of a region. What is not to stay is deleted at the end of the routine.
    """
    lines = [line for region in device_regions(context.schedule) for line in lower(region)]
    names = tuple(dict.fromkeys(_arrays(context, lines)))
    if passing := ", ".join(name for name in names if not _stays(context, name)):
        context.work.at_end(DirectiveLine(f"acc exit data delete({passing})"))
    return tuple(enter_lines(map(DeviceItem, names), enter.queue))


def region_items(
    context: Context, construct: DirectiveRegion, lines: Iterable[Line]
) -> tuple[DeviceItem, ...]:
    """Return the arrays that a region takes, and whether it changes them."""
    uses = moved_data(context.schedule, kernel_calls(construct))
    written = {
        _array_of(context, context.schedule.datum(use.datum), use.component).text
        for use in uses
        if use.writes
    }
    names = dict.fromkeys(_arrays(context, lines))
    return tuple(DeviceItem(name, written=name in written) for name in names)


def update_lines(context: Context, update: Update) -> tuple[Line, ...]:
    """Return the copies of a field, of one component of a field vector, or of an operator."""
    datum = context.schedule.datum(update.datum)
    array = _array_of(context, datum, update.component)
    return (_copy(update.to.value, array, guarded=update.guarded),)


def carried_lines(
    context: Context, exchange: HaloExchange, component: int | None, call: Line
) -> tuple[Line, ...]:
    """Return the call of an exchange, which works on the host, between copies from and to a device.

    The device may have no copy of the field.
    """
    if not exchange.fetched and not exchange.sent:
        return (call,)
    array = field_data(context, context.schedule.datum(exchange.datum), component)
    guarded = exchange.datum not in entered_data(context.schedule)
    before = (_copy("host", array, guarded=guarded),) if exchange.fetched else ()
    after = (_copy("device", array, guarded=guarded),) if exchange.sent else ()
    return (*before, call, *after)


def _copy(side: str, array: Name, *, guarded: bool) -> DirectiveLine:
    return DirectiveLine(f"acc update {side}({array.text}){' if_present' if guarded else ''}")


def _array_of(context: Context, datum: Datum, component: int | None) -> Name:
    match datum.kind:
        case ArgKind.OPERATOR:
            return operator_stencil(context, datum)
        case ArgKind.COLUMNWISE_OPERATOR:
            return columnwise_matrix(context, datum)
    return field_data(context, datum, component)


def _arrays(context: Context, lines: Iterable[Line]) -> Iterator[str]:
    """Yield the names of all arrays in `lines`, in order."""
    arguments = {datum.name for datum in context.schedule.data if datum.rank}
    for name in _names(lines):
        found = context.work.found(name)
        if (found and found[1].shape) or name in arguments:
            yield name


def _names(lines: Iterable[Line]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, ScopedBlock):
            continue
        parts = line.args if isinstance(line, Call) else expressions_of(line)
        yield from (one.text for part in parts for one in walk(part) if isinstance(one, Name))
        for block in blocks_of(line):
            yield from _names(block)


def _stays(context: Context, name: str) -> bool:
    """Return whether an array outlives the routine, and its values do not change on the host."""
    found = context.work.found(name)
    if found is None:
        return False
    section, declared = found
    return "pointer" in declared.attributes and section is not Section.QUADRATURE
