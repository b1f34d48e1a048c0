"""Lowering of halo exchanges, their transfers and tests, and halo flag updates."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.devices import entered_data, moved_parts
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import FillHalo, HaloExchange, MarkHalo, Phase
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Branch, Comment, Declare, If, Line
from psyclone_storage.lowering.halo_depth import depth_value
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection

_LEAST = Depth.of(1)


def exchange_lines(context: LoweringContext, exchange: HaloExchange) -> tuple[Line, ...]:
    """Return a halo exchange, under a test of the dirty flag if it is guarded.

    An exchange of depth 1 updates annexed dofs.
    """
    datum = context.schedule.datum(exchange.datum)
    value = _levels(context, exchange)
    exchanges = [
        line
        for component in moved_parts(datum, exchange.component)
        for line in _exchange(context, exchange, component, value)
    ]
    return (*_explanation(exchange), *exchanges)


def joint_lines(context: LoweringContext, exchanges: tuple[HaloExchange, ...]) -> tuple[Line, ...]:
    """Return several exchanges of the same phase, as one call or overlapped.

    If an exchange is guarded, the call tests the flags of the fields.
    """
    if exchanges[0].overlapped:
        return _overlapped_lines(context, exchanges)
    depths = tuple(_levels(context, item) for item in exchanges)
    notes = dict.fromkeys(line for exchange in exchanges for line in _explanation(exchange))
    guarded = any(exchange.guarded for exchange in exchanges)
    return (*notes, *context.lines(ops.ExchangeTogether(exchanges, depths, guarded)))


def _overlapped_lines(
    context: LoweringContext, exchanges: tuple[HaloExchange, ...]
) -> tuple[Line, ...]:
    """Return the starts of all exchanges, then their ends.

    The dirty flag of a field is tested once, because its end clears the flag: fields that are the
    same object at run time start two exchanges, and both must finish.
    """
    notes = dict.fromkeys(line for exchange in exchanges for line in _explanation(exchange))
    starts: list[Line] = []
    ends: list[Line] = []
    for exchange in exchanges:
        datum, depth = context.schedule.datum(exchange.datum), _levels(context, exchange)
        for component in moved_parts(datum, exchange.component):
            started, ended = (
                context.lines(ops.Exchange(datum, component, depth, phase))
                for phase in (Phase.START, Phase.FINISH)
            )
            if exchange.guarded:
                name = "_".join(map(str, filter(None, (datum.name, component, "dirty"))))
                wished = Declare(name, ScalarType(Intrinsic.LOGICAL))
                key = ("dirty", datum.name, component)
                dirty = context.work.variable(SetupSection.COUNTERS, key, wished)
                starts.append(Assign(dirty, context.value(ops.IsDirty(datum, component, depth))))
                started, ended = ((If((Branch(dirty, lines),)),) for lines in (started, ended))
            starts += started
            ends += ended
    return (*notes, *starts, *ends)


def mark_lines(context: LoweringContext, mark: MarkHalo) -> tuple[Line, ...]:
    """Return the statements that update the flags of a halo."""
    datum = context.schedule.datum(mark.datum)
    lines: list[Line] = []
    for component in moved_parts(datum, mark.component):
        if mark.dirty:
            lines += context.lines(ops.MarkDirty(datum, component))
        if mark.clean != NOTHING:
            depth = depth_value(context, mark.clean)
            lines += context.lines(ops.MarkClean(datum, component, depth))
    return tuple(lines)


def fill_lines(context: LoweringContext, fill: FillHalo) -> tuple[Line, ...]:
    """Return the statements that initialise dofs to which a kernel adds."""
    datum = context.schedule.datum(fill.datum)
    beyond, depth = (
        depth_value(context, levels) if levels.terms else None
        for levels in (fill.beyond, fill.depth)
    )
    adds = fill.reader.partition("@")[0]
    note = Comment(f"{adds} adds to these dofs of {fill.datum}, which may be new and are not read")
    lines = (
        line
        for component in moved_parts(datum, fill.component)
        for line in context.lines(ops.FillDofs(datum, component, fill.annexed, beyond, depth))
    )
    return (note, *lines)


def _levels(context: LoweringContext, exchange: HaloExchange) -> Expr:
    """Return the depth of an exchange, 1 for annexed dofs only."""
    depth = _LEAST if exchange.depth == NOTHING else exchange.depth
    return depth_value(context, depth)


def _explanation(exchange: HaloExchange) -> Iterator[Comment]:
    """Yield comments with the reader and the writer of the first reason for the exchange."""
    for reason in exchange.reasons[:1]:
        reader, writer = (uid.partition("@")[0] for uid in (reason.reader, reason.writer))
        yield Comment(f"{exchange.datum} is read by {reader} {reason.read}")
        if writer:
            yield Comment(f"and {writer} left {reason.written}")


def _exchange(
    context: LoweringContext, exchange: HaloExchange, component: int | None, depth: Expr
) -> tuple[Line, ...]:
    """Return the exchange of one component with its transfers, under its guard.

    An exchange uses the host copy; the device may have no copy of the field.
    """
    datum = context.schedule.datum(exchange.datum)
    apart = not exchange.in_strips or context.ops.fetches_strips
    moved = apart and (exchange.fetched or exchange.sent)
    guarded = exchange.datum not in entered_data(context.schedule)
    asked = ops.Exchange(datum, component, depth, exchange.phase, moved, exchange.in_strips)
    fetched = ops.CopyTo(
        Side.HOST, datum, component, guarded, depth if exchange.in_strips else None
    )
    sent = ops.CopyTo(Side.DEVICE, datum, component, guarded, depth)
    before = context.lines(fetched) if apart and exchange.fetched else ()
    after = context.lines(sent) if apart and exchange.sent else ()
    lines = (*before, *context.lines(asked), *after)
    if not exchange.guarded:
        return lines
    return (If((Branch(context.value(ops.IsDirty(datum, component, depth)), lines),)),)
