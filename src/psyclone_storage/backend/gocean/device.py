"""What GOcean's fields and grids have to do with a device.

A field is an object with an array in it, and so is its grid: the object goes to the device before
its parts. A field knows whether a device has its values (`data_on_device`), which is the guard of
all that happens to it, and remains right when a routine is called with other fields. A grid has no
such flag; entering what is there already costs next to nothing (ADR 0020).

The infrastructure does not know how values are moved, and needs to where a program looks at a field
that a device has. So a field is given the procedures that do it, which are in the same module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from psyclone_storage.backend import abi_gocean as abi
from psyclone_storage.backend.constructs import DeviceItem, enter_lines
from psyclone_storage.backend.gocean.context import Context
from psyclone_storage.backend.workspace import Imports, Section
from psyclone_storage.ir.devices import device_calls, entered_data
from psyclone_storage.ir.expr import Binary, Expr, Literal, Member, Name, Range, Unary, spell
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.schedule import HaloExchange, KernelCall, Program
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Branch,
    Comment,
    Declare,
    DirectiveLine,
    Do,
    If,
    Line,
    PointerAssign,
    Routine,
)
from psyclone_storage.ir.walk import statements

_PART = ("startx", "starty", "nx", "ny")
_TRUE = Literal(".true.", Intrinsic.LOGICAL)
_FALSE = Literal(".false.", Intrinsic.LOGICAL)
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
    handed = (
        PointerAssign(Member(Name(name), member), Name(procedure))
        for procedure, member in abi.MEMBER_OF.items()
    )
    body: tuple[Line, ...] = (*enter_lines(items, queue), Assign(flag, _TRUE), *handed)
    return If((Branch(Unary(".not.", flag), body),))


def movers(program: Program, imports: Imports) -> tuple[Routine, ...]:
    """Return the procedures that fields are given, if a device is given any."""
    bodies = (statements(invoke.schedule) for invoke in program.invokes)
    if not any(isinstance(item, EnterData) for body in bodies for item in body):
        return ()
    kind = imports.local(abi.Module.KINDS, abi.WORKING_PRECISION)
    address = DerivedType(imports.local(abi.Module.C_BINDING, "c_ptr"))
    return (
        _mover(abi.READ_FROM_DEVICE, "host", kind, address),
        _mover(abi.WRITE_TO_DEVICE, "device", kind, address),
    )


def _mover(name: str, side: str, kind: str, address: DerivedType) -> Routine:
    """Return the procedure that copies part of an array to one side, column by column."""
    array = "to" if side == "host" else "from"
    other = Declare("from" if side == "host" else "to", address, ("intent(in)",))
    intent = "intent(inout)" if side == "host" else "intent(in)"
    values = Declare(
        array, ScalarType(Intrinsic.REAL, kind), ("target", intent), (Range(), Range())
    )
    bounds = [Declare(word, abi.INTEGER, ("intent(in)",)) for word in _PART]
    blocking = Declare("blocking", ScalarType(Intrinsic.LOGICAL), ("intent(in)",))
    copy = DirectiveLine(f"acc update {side}({array}(startx:startx + nx - 1,j))")
    last = Binary("-", Binary("+", Name("starty"), Name("ny")), Literal("1", Intrinsic.INTEGER))
    return Routine(
        name,
        (*((other, values) if side == "host" else (values, other)), *bounds, blocking),
        (Declare("j", abi.INTEGER),),
        (Do("j", Name("starty"), last, (copy,)),),
        f"Move values of a field, as its infrastructure asks for them: the {side} has them then.",
    )


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
    called = on_host(context, (exchange,), call)
    return (*(before if exchange.fetched else ()), *called, *(after if exchange.sent else ()))


def on_host(context: Context, exchanges: tuple[HaloExchange, ...], call: Line) -> tuple[Line, ...]:
    """Return a call that exchanges the values of the host, in a routine that moves them itself.

    The infrastructure would take the device's for the newer ones, and move them once more.
    """
    body = statements(context.schedule)
    moves = any(isinstance(item, EnterData | Update) for item in body)
    if not moves and not any(item.fetched or item.sent for item in exchanges):
        return (call,)
    before: list[Line] = []
    after: list[Line] = []
    for name in dict.fromkeys(item.datum for item in exchanges):
        flag = _flag(name)
        there: Expr = _TRUE
        if name not in entered_data(context.schedule):
            wished = Declare(f"{name}_on_device", ScalarType(Intrinsic.LOGICAL))
            there = context.work.variable(Section.COUNTERS, (name, abi.ON_DEVICE), wished)
            before.append(Assign(there, flag))
        before.append(Assign(flag, _FALSE))
        after.append(Assign(flag, there))
    # Two names may be one object: what was saved first is put back last.
    return (*before, call, *reversed(after))


def _copy(context: Context, name: str, side: str, *, guarded: bool) -> tuple[Line, ...]:
    data = spell(context.reach(abi.Path.DATA, Name(name)))
    copy = DirectiveLine(f"acc update {side}({data})")
    return (If((Branch(_flag(name), (copy,)),)),) if guarded else (copy,)


def _flag(name: str) -> Expr:
    return Member(Name(name), abi.ON_DEVICE)
