"""Lowering table of dl_esm_inf."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from psyclone_storage.infrastructures.gocean import INTEGER, REAL, RequiredProperty
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.cached_values import CachedArray
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Datum, HaloExchange, Phase, Statement
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Call, Comment, Declare, Line
from psyclone_storage.ir.walk import sets_flags, statements
from psyclone_storage.lowering.cached_values import cached_array
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.targets.dl_esm_inf import abi
from psyclone_storage.targets.dl_esm_inf.bounds import points_end, region_end, region_start
from psyclone_storage.targets.dl_esm_inf.device import (
    copy_field,
    enter_fields,
    field_and_grid_items,
    on_host,
    transfer_procedures,
)
from psyclone_storage.targets.dl_esm_inf.paths import Paths
from psyclone_storage.targets.fortran_halo_checks import (
    HaloCheck,
    checks_ended,
    halo_check_call,
)


def gocean_infrastructure(paths: Mapping[str, ex.Expr]) -> Infrastructure:
    """Return the table of dl_esm_inf; `paths` are the expressions for grid properties."""
    known = Paths(paths)
    return Infrastructure(
        "GOcean",
        abi.RESERVED,
        lambda _: abi.GOceanModule.KINDS,
        INTEGER,
        _value_type,
        _dummies,
        {
            ops.DataOf: lambda _, op: known.reach(RequiredProperty.DATA, ex.Name(op.datum.name)),
            ops.GridPropertyOf: lambda _, op: known.reach(op.name, op.field),
            CachedArray: cached_array,
            ops.LoopStart: partial(region_start, known),
            ops.LoopEnd: partial(region_end, known),
            ops.PointsEnd: partial(points_end, known),
            ops.IsDirty: _is_dirty,
        },
        {
            ops.Exchange: _exchanged,
            ops.ExchangeTogether: _exchanged_together,
            ops.MarkDirty: _marked_dirty,
            ops.EnterDevice: partial(enter_fields, known),
            ops.CopyTo: partial(copy_field, known),
            ops.BeginHaloChecks: _checks_begun,
            ops.EndHaloChecks: checks_ended,
            ops.CheckHalo: _halo_checked,
            ops.NoteWrite: _noted,
        },
        partial(field_and_grid_items, known),
        helpers=transfer_procedures,
        # Values are components of objects, which compilers do not follow.
        names_what_is_copied=False,
    )


def _value_type(datum: Datum) -> ScalarType:
    if isinstance(datum.type, ScalarType):
        return datum.type
    return REAL


# ---------------------------------------------------------------------------- dummy arguments


def _dummies(context: LoweringContext) -> tuple[Declare, ...]:
    schedule = context.schedule
    changed = {name for item in statements(schedule) for name in _changed_besides(item)}
    exchanges = [item for item in statements(schedule) if isinstance(item, HaloExchange)]
    joint = {item.datum for item in exchanges if item.joint}
    return tuple(
        _declare(datum, datum.name in changed, datum.name in joint or bool(datum.may_alias))
        for datum in schedule.data
    )


def _changed_besides(item: Statement) -> tuple[str, ...]:
    """Return the fields that a statement other than a loop modifies, including flags."""
    match item:
        case HaloExchange(datum=datum) | Update(datum=datum):
            return (datum,)
        case EnterData(data=data):
            return data
    return ()


def _declare(datum: Datum, exchanged: bool, pointed_to: bool) -> Declare:
    """Return the declaration of a dummy argument.

    It has the `target` attribute if it is exchanged jointly, by pointers, or may alias another:
    otherwise compilers assume that dummy arguments do not alias.
    """
    changes = exchanged or datum.access.writes
    data_type = abi.FIELD if datum.kind is ArgKind.FIELD else datum.type
    intent = "intent(inout)" if changes else "intent(in)"
    return Declare(datum.name, data_type, ("target", intent) if pointed_to else (intent,))


# ---------------------------------------------------------------------------- halos


def _exchanged(context: LoweringContext, asked: ops.Exchange) -> tuple[Line, ...]:
    name, call = asked.datum.name, exchange_call(asked)
    if asked.in_strips:
        return (call,)
    return on_host(context, (name,), call, beside_device=asked.beside_device)


def exchange_call(asked: ops.Exchange) -> Call:
    """Return the call of an exchange, or of its start or end."""
    procedures = {Phase.START: abi.EXCHANGE_START, Phase.FINISH: abi.EXCHANGE_FINISH}
    procedure = procedures.get(asked.phase, abi.EXCHANGE)
    return Call(ex.Member(ex.Name(asked.datum.name), procedure), (asked.depth,))


def _is_dirty(_context: LoweringContext, asked: ops.IsDirty) -> ex.Expr:
    return ex.CallFunction(ex.Member(ex.Name(asked.datum.name), abi.IS_DIRTY), (asked.depth,))


def _exchanged_together(context: LoweringContext, asked: ops.ExchangeTogether) -> tuple[Line, ...]:
    names = [exchange.datum for exchange in asked.exchanges]
    beside = any(exchange.fetched or exchange.sent for exchange in asked.exchanges)
    comment, call = exchange_fields(context, asked)
    return (comment, *on_host(context, names, call, beside_device=beside))


def exchange_fields(context: LoweringContext, asked: ops.ExchangeTogether) -> tuple[Comment, Call]:
    """Return one exchange call for several fields, with a comment.

    If fields have flags, only fields with dirty halos are exchanged.
    """
    exchange_several, reference = (
        ex.Name(context.work.imports.local(abi.GOceanModule.FIELD, name))
        for name in (abi.EXCHANGE_SEVERAL, abi.FIELD_REFERENCE)
    )
    names = [exchange.datum for exchange in asked.exchanges]
    fields = ex.ArrayLiteral(
        tuple(ex.StructureConstructor(reference, (ex.Name(name),)) for name in names)
    )
    flags = (ex.Keyword(abi.ONLY_DIRTY, ex.logical(True)),)
    what = "What is dirty of these goes" if asked.dirty_only else "These go"
    call = Call(
        exchange_several,
        (fields, ex.ArrayLiteral(asked.depths), *(flags if asked.dirty_only else ())),
    )
    return Comment(f"{what} in one message to each neighbour"), call


def _marked_dirty(_context: LoweringContext, asked: ops.MarkDirty) -> tuple[Line, ...]:
    return (Call(ex.Member(ex.Name(asked.datum.name), abi.SET_DIRTY)),)


def _checks_begun(context: LoweringContext, asked: ops.BeginHaloChecks) -> tuple[Line, ...]:
    begin = halo_check_call(context, HaloCheck.BEGIN, context.schedule.name, ex.whole(asked.every))
    return (begin,)


def _halo_checked(context: LoweringContext, asked: ops.CheckHalo) -> tuple[Line, ...]:
    """Return the check of a halo before it is read, or at the end of an invoke with flags."""
    field, name, depth = ex.Name(asked.datum.name), ex.spell(asked.datum.actual), asked.depth
    if not sets_flags(context.schedule):
        values: tuple[ex.Expr, ex.Expr] = (depth, ex.logical(False))
    elif ex.integer_value(depth) == 0:
        dirty = _is_dirty(context, ops.IsDirty(asked.datum, None, ex.whole(1)))
        values = (ex.intrinsic("merge", ex.whole(0), ex.whole(1), dirty), ex.logical(False))
    else:
        values = (depth, _is_dirty(context, ops.IsDirty(asked.datum, None, depth)))
    return (halo_check_call(context, HaloCheck.NEEDS, field, name, asked.reader, *values),)


def _noted(context: LoweringContext, asked: ops.NoteWrite) -> tuple[Line, ...]:
    field = ex.Name(asked.datum.name)
    return (halo_check_call(context, HaloCheck.WROTE, field, asked.writer),)
