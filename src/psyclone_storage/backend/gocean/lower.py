"""From a program for GOcean to the module that holds its routines: loops, calls, exchanges.

`backend.frame` owns the order of a routine. A schedule is handed over with everything decided, and
nothing about it is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from psyclone_storage.backend import abi_gocean as abi
from psyclone_storage.backend.constructs import (
    TASK_WAIT,
    DeviceItem,
    Inside,
    enclosed,
    wait_line,
)
from psyclone_storage.backend.frame import Infrastructure, imported_variable, lower_routines
from psyclone_storage.backend.gocean.bounds import loop_bounds, points_of_call
from psyclone_storage.backend.gocean.context import Context
from psyclone_storage.backend.gocean.device import (
    carried_lines,
    enter_data_lines,
    movers,
    on_host,
    region_items,
    update_lines,
)
from psyclone_storage.backend.in_place import in_place_lines
from psyclone_storage.backend.workspace import Workspace
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.devices import device_regions
from psyclone_storage.ir.directive import Directive as Kind
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
)
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import (
    Axis,
    Datum,
    DirectiveRegion,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Over,
    Phase,
    Program,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, TaskWait, Update, Wait
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Branch, Call, Comment, Declare, Do, If, Line, Unit
from psyclone_storage.ir.walk import kernel_calls, statements

_OVER_TILES = (Over.ROW_TILES, Over.COLUMN_TILES)
_INSIDE_TILES = (Over.ROWS_OF_TILE, Over.COLUMNS_OF_TILE)


def lower_program(program: Program, paths: Mapping[str, str], comment: str = "") -> Unit:
    """Return the module of a program's routines, which call dl_esm_inf.

    `paths` give, for each grid property, the Fortran that leads to it from the field `{0}`.
    """

    def begin(schedule: Schedule, work: Workspace) -> _Lowering:
        return _Lowering(Context(schedule, work, paths))

    infrastructure = Infrastructure(abi.RESERVED, lambda _: abi.Module.KINDS, begin, movers)
    return lower_routines(program, infrastructure, comment)


@dataclass(frozen=True, slots=True)
class _Lowering:
    """The lowering of one routine."""

    context: Context

    def dummies(self) -> tuple[Declare, ...]:
        """Return the declarations of the routine's dummy arguments."""
        context = self.context
        changed = {name for item in statements(context.schedule) for name in _changed_besides(item)}
        joint = {item.datum for item in _exchanges(context.schedule) if item.joint}
        return tuple(
            context.work.dummy(_declare(datum, datum.name in changed, datum.name in joint))
            for datum in context.schedule.data
        )

    def lower(self, statement: Statement) -> tuple[Line, ...]:
        """Return the lines of a statement that stands directly in the schedule."""
        context = self.context
        match statement:
            case HaloExchange():
                return tuple(_exchange(context, statement))
            case MarkHalo():
                return (_mark(statement),)
            case EnterData():
                regions = device_regions(context.schedule)
                lines = [line for region in regions for line in _nested(context, region)]
                return enter_data_lines(context, statement, lines)
            case Update():
                return update_lines(context, statement)
            case Wait():
                return (wait_line(statement),)
        return _nested(context, statement)

    def lower_joint(self, exchanges: tuple[HaloExchange, ...]) -> tuple[Line, ...]:
        """Return the one call of exchanges that share their messages."""
        return tuple(_joint_exchange(self.context, exchanges))

    def finish(self) -> None:
        """Add nothing: a routine for GOcean has no set-up."""


def _changed_besides(item: Statement) -> tuple[str, ...]:
    """Return the fields that a statement other than a loop changes, flags included."""
    match item:
        case HaloExchange(datum=datum) | Update(datum=datum):
            return (datum,)
        case EnterData(data=data):
            return data
    return ()


def _exchanges(schedule: Schedule) -> Iterator[HaloExchange]:
    return (item for item in statements(schedule) if isinstance(item, HaloExchange))


def _declare(datum: Datum, exchanged: bool, joint: bool) -> Declare:
    """Return the declaration of a dummy argument; what is exchanged jointly is pointed to."""
    changes = exchanged or datum.access.writes
    data_type = abi.FIELD if datum.kind is ArgKind.FIELD else datum.type
    intent = "intent(inout)" if changes else "intent(in)"
    return Declare(datum.name, data_type, ("target", intent) if joint else (intent,))


# ---------------------------------------------------------------------------- statements


def _exchange(context: Context, exchange: HaloExchange) -> Iterator[Line]:
    """Yield who needs an exchange and who made it necessary, and its call."""
    if exchange.phase is not Phase.WHOLE:
        raise InternalError(f"'{exchange.uid}' is asynchronous, which dl_esm_inf does not offer.")
    yield from _explanation(exchange)
    field, deep = Name(exchange.datum), (_whole(_levels(exchange)),)
    call = Call(Member(field, abi.EXCHANGE), deep)
    lines = carried_lines(context, exchange, call)
    if exchange.guarded:
        yield If((Branch(Index(Member(field, abi.IS_DIRTY), deep), lines),))
    else:
        yield from lines


def _joint_exchange(context: Context, exchanges: tuple[HaloExchange, ...]) -> Iterator[Line]:
    """Yield who needs the exchanges of several fields, and their one call.

    Where fields keep flags it is told to ask them; where not, all are exchanged.
    """
    for exchange in exchanges:
        yield from _explanation(exchange)
    exchange_several, reference = (
        Name(context.work.imports.local(abi.Module.FIELD, name))
        for name in (abi.EXCHANGE_SEVERAL, abi.FIELD_REFERENCE)
    )
    fields = ArrayLiteral(tuple(Index(reference, (Name(item.datum),)) for item in exchanges))
    depths = ArrayLiteral(tuple(_whole(_levels(item)) for item in exchanges))
    asked = (Keyword(abi.ONLY_DIRTY, Literal(".true.", Intrinsic.LOGICAL)),)
    guarded = any(item.guarded for item in exchanges)
    what = "What is dirty of these goes" if guarded else "These go"
    yield Comment(f"{what} in one message to each neighbour")
    call = Call(exchange_several, (fields, depths, *(asked if guarded else ())))
    yield from on_host(context, exchanges, call)


def _explanation(exchange: HaloExchange) -> Iterator[Comment]:
    for reason in exchange.reasons[:1]:
        reader, writer = (uid.partition("@")[0] for uid in (reason.reader, reason.writer))
        yield Comment(f"{exchange.datum} is read by {reader} {reason.read}")
        if writer:
            yield Comment(f"and {writer} left {reason.written}")


def _levels(exchange: HaloExchange) -> int:
    depth = exchange.depth.known
    if not depth:
        raise InternalError(f"'{exchange.uid}' has a depth that is not known.")
    return depth


def _mark(mark: MarkHalo) -> Call:
    """Return the call that records that a field was written."""
    if not mark.dirty or mark.clean.terms:
        raise InternalError(f"'{mark.uid}' calls a halo clean, which no loop over a grid leaves.")
    return Call(Member(Name(mark.datum), abi.SET_DIRTY))


def _nested(context: Context, statement: Statement) -> tuple[Line, ...]:
    match statement:
        case Loop():
            return (_loop(context, statement),)
        case DirectiveRegion():
            return _construct(context, statement)
        case TaskWait():
            return (TASK_WAIT,)
        case KernelCall():
            return _call(context, statement)
    raise InternalError(f"'{statement.uid}' has no meaning for GOcean.")


def _construct(context: Context, construct: DirectiveRegion) -> tuple[Line, ...]:
    lines = tuple(line for item in construct.body for line in _nested(context, item))
    items: tuple[DeviceItem, ...] = ()
    if construct.directive is Kind.ACC_DATA:
        items = region_items(context, kernel_calls(construct), lines)
    return enclosed(construct, Inside(lines, {}, items=items))


def _loop(context: Context, loop: Loop) -> Do:
    start, stop = loop_bounds(context, loop)
    name = loop.over.axis.value if loop.over.axis else ""
    if loop.over in _OVER_TILES:
        counter, step = context.counter(f"{name}_tile"), _whole(loop.tile)
        return Do(counter.text, start, stop, _body(context, loop), step)
    if loop.over in _INSIDE_TILES:
        start = context.counter(f"{name}_tile")
        stop = Index(Name("min"), (Binary("+", start, _whole(loop.tile - 1)), stop))
    counter = context.counter(name)
    return Do(counter.text, start, stop, _body(context, loop))


def _body(context: Context, loop: Loop) -> tuple[Line, ...]:
    return tuple(line for item in loop.body for line in _nested(context, item))


def _call(context: Context, call: KernelCall) -> tuple[Line, ...]:
    args = tuple(_actual(context, call, dummy) for dummy in call.dummies)
    match call.codes:
        case (KernelCode(in_place=True) as code,):
            return in_place_lines(code, args, context.work)
    procedure = context.work.imports.local(call.kernel.module, call.kernel.procedure)
    return (Call(Name(procedure), args),)


_BOUNDS = {
    Role.FIRST_COLUMN: (Axis.EAST, 0),
    Role.LAST_COLUMN: (Axis.EAST, 1),
    Role.FIRST_ROW: (Axis.NORTH, 0),
    Role.LAST_ROW: (Axis.NORTH, 1),
}
"""The direction of a grid and the end of it, 0 the first, that an argument stands for."""


def _actual(context: Context, call: KernelCall, dummy: Dummy) -> Expr:
    """Return what is passed for one dummy argument of a kernel's subroutine."""
    match dummy.role:
        case Role.GRID_INDEX_I:
            return context.counter(Axis.EAST.value)
        case Role.GRID_INDEX_J:
            return context.counter(Axis.NORTH.value)
    if dummy.arg is None:
        raise InternalError(f"'{dummy.name}' of '{call.uid}' belongs to no argument.")
    if dummy.role in _BOUNDS:
        axis, end = _BOUNDS[dummy.role]
        return points_of_call(context, call, dummy.arg, axis)[end]
    if dummy.role is Role.IMPORTED:
        return imported_variable(context.schedule, call, dummy.arg, context.work)
    value = call.args[dummy.arg].value
    match dummy.role:
        case Role.FIELD:
            return context.reach(abi.Path.DATA, value)
        case Role.GRID_PROPERTY:
            return context.reach(dummy.property_name, value)
        case Role.SCALAR:
            return context.work.constant(value)
    raise InternalError(f"Role '{dummy.role.value}' does not belong to GOcean.")


def _whole(value: int) -> Literal:
    return Literal(str(value), Intrinsic.INTEGER)
