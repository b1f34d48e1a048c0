"""Lowering table of the grids of our Python runtime.

Indices are counted from 0, and the first internal point of a rank follows its halo. A field
contains its regions; ranges in the settings are counted from 1, as in Fortran. Directives for
threads and devices are handled by the printer. The runtime tracks where values are valid, so there
are no transfers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.gocean import ALL, ANY_TYPE, INTERNAL
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import kernel as kern
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import substituted
from psyclone_storage.ir.schedule import (
    Axis,
    Datum,
    HaloExchange,
    KernelCall,
    Loop,
    Phase,
    Schedule,
)
from psyclone_storage.ir.storage_access import StoragePolicy
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Call, Comment, Declare, DeviceItem, HoldData, Line
from psyclone_storage.ir.walk import kernel_calls, sequential_statements, sets_flags
from psyclone_storage.lowering.emit_storage import why_held
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.lowering.profile import profiled_in_python
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.lowering.split_bounds import peeled_end
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.gocean_python.argument_contracts import field_contracts
from psyclone_storage.targets.python_halo_checks import halo_checks_in_python

_PREFIX = "go_grid_"
PROPERTY = "property of the grid"
"""The first part of the key that a property has in a workspace; its name follows."""
_DIMENSIONS = {Axis.EAST: 0, Axis.NORTH: 1}
_CHECKS = halo_checks_in_python(lambda datum, _: ex.Name(datum.name))
_REGIONS = {INTERNAL: abi.INTERNAL, ALL: abi.WHOLE}


def grids_in_python(ranks: Mapping[str, int], *, exact_sums: bool) -> Infrastructure:
    """Return the table of the runtime's grids; `ranks` are the ranks of grid properties.

    With `exact_sums`, sums of fields are rounded once.
    """

    def grid_property(context: LoweringContext, asked: ops.GridPropertyOf) -> ex.Expr:
        declared = Declare(asked.name, abi.REAL)
        return property_of(context, asked, declared, is_read=ranks[asked.name] > 0)

    return Infrastructure(
        "The runtime for grids in Python",
        abi.RESERVED,
        lambda _: "",
        abi.INTEGER,
        _value_type,
        _dummies,
        {
            ops.DataOf: lambda context, asked: field_array(context, asked.datum),
            ops.GridPropertyOf: grid_property,
            ops.LoopStart: lambda context, asked: _loop_end(context, asked.loop, last=False),
            ops.LoopEnd: lambda context, asked: _loop_end(context, asked.loop, last=True),
            ops.PointsEnd: _points_end,
            ops.LayersOf: lambda _, asked: layers_of(asked.datum),
            ops.IsDirty: _is_dirty,
        },
        {
            ops.Exchange: _exchanged,
            ops.ExchangeTogether: _exchanged_together,
            ops.MarkDirty: lambda _, asked: (_called(asked.datum, abi.SET_DIRTY),),
            ops.EnterDevice: lambda _context, _asked: (),
            ops.CopyTo: lambda _context, _asked: (),
            ops.ReducePoints: _reduced_on_rank,
            ops.Reduce: lambda context, asked: _reduced_over_ranks(context, asked.datum, asked.op),
            ops.EndExactSum: _rounded,
            **_CHECKS,
            ops.NoteWrite: _noted,
        },
        _no_items,
        exact_sums=exact_sums,
        names_what_is_copied=False,
        around=_held,
        holding=StoragePolicy(),
        outlines=False,
        profiled=profiled_in_python,
    )


def _value_type(datum: Datum) -> ScalarType:
    return datum.type if isinstance(datum.type, ScalarType) else abi.REAL


def _dummies(context: LoweringContext) -> tuple[Declare, ...]:
    return tuple(
        Declare(datum.name, abi.INTEGER if _value_type(datum) == abi.INTEGER else abi.REAL)
        for datum in context.schedule.data
    )


def _no_items(
    _context: LoweringContext, _calls: Iterable[KernelCall], _lines: Iterable[Line]
) -> tuple[DeviceItem, ...]:
    return ()


# ---------------------------------------------------------------------------- data


def field_array(
    context: LoweringContext,
    datum: Datum,
    type_: ScalarType = abi.REAL,
    shape: tuple[ex.Expr, ...] = (),
) -> ex.Name:
    """Return the name of the value array of a field, declared with a type and shape."""
    wished = Declare(f"{datum.name}_data", type_, (), shape)
    return context.work.variable(SetupSection.COUNTERS, ("array", datum.name), wished)


def layers_of(datum: Datum) -> ex.Expr:
    """Return the number of layers of a field."""
    return ex.Member(ex.Name(datum.name), abi.LAYERS)


def _held(context: LoweringContext, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return the statements of a routine in a block that acquires its fields."""
    items = held_fields(context)
    return (HoldData(items, lines, sets_flags(context.schedule)),) if items else lines


def held_fields(context: LoweringContext) -> tuple[Held, ...]:
    """Return the acquired fields of a routine, with the purpose of each access.

    Functions of the runtime acquire the fields that they reduce.
    """
    used = {
        actual.datum
        for call in kernel_calls(context.schedule)
        if not call.kernel.is_builtin
        for actual in call.args
    }
    acquired = {one.datum: one for one in context.held.acquired if one.datum in used}
    meant, moved = field_contracts(context), _moved_depths(context.schedule)
    return tuple(
        Held(
            ex.spell(context.value(ops.DataOf(datum))),
            ex.Name(datum.name),
            written=acquired[datum.name].writes and datum.name not in moved,
            covered=acquired[datum.name].covered is not Fresh.NO,
            why=why_held(context, datum, acquired[datum.name]),
            meant=meant.get(datum.name, ""),
            moved=moved.get(datum.name, 0),
        )
        for datum in context.schedule.data
        if datum.name in acquired
    )


def _moved_depths(schedule: Schedule) -> dict[str, int]:
    """Return how deep an invoke exchanges the halo of data that it does not change otherwise.

    Each exchange has a guard: the runtime knows from the flags whether it moves anything.
    """
    depths: dict[str, list[int | None]] = {}
    for item in sequential_statements(schedule):
        if isinstance(item, HaloExchange):
            is_tested = item.guarded and item.phase is Phase.WHOLE
            depths.setdefault(item.datum, []).append(item.depth.known if is_tested else None)
    written = {
        actual.datum
        for call in kernel_calls(schedule)
        for actual, described in zip(call.args, call.kernel.args, strict=True)
        if described.access.writes and actual.datum is not None
    }
    return {
        name: max(known)
        for name, found in depths.items()
        if name not in written and None not in found and (known := [one for one in found if one])
    }


def property_of(
    context: LoweringContext, asked: ops.GridPropertyOf, declared: Declare, *, is_read: bool = False
) -> ex.Expr:
    """Return the variable of a grid property: a number, or a storage to be read.

    `declared` is its declaration, renamed to the property.
    """
    name = asked.name.removeprefix(_PREFIX)
    literal = ex.Literal(f'"{name}"', Intrinsic.CHARACTER)
    found: ex.Expr = ex.CallFunction(
        ex.Member(ex.Member(asked.field, abi.GRID), abi.PROPERTY), (literal,)
    )
    if is_read:
        found = ex.Member(found, abi.READ_ONLY)
    key = (PROPERTY, asked.name, asked.field)
    return context.work.assigned(SetupSection.GRID, key, replace(declared, name=name), found)


# ---------------------------------------------------------------------------- loops


def _loop_end(context: LoweringContext, loop: Loop, *, last: bool) -> ex.Expr:
    return peeled_end(
        context,
        loop,
        lambda end: _uncut_end(context, loop, last=end),
        lambda end: _owned_end(loop, last=end),
        last=last,
    )


def _owned_end(loop: Loop, *, last: bool) -> ex.Expr:
    """Return the first or last index owned by the rank, along the axis of `loop`."""
    axis, field = loop.over.axis, _looped_field(kernel_calls(loop)[0], loop.bounds_from)
    if axis is None:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which grids do not have.")
    return _end(_owned_region(field), axis, last=last)


def _owned_region(field: ex.Expr) -> ex.Expr:
    return ex.Member(ex.Member(ex.Member(field, abi.GRID), abi.SUBDOMAIN), abi.INTERNAL)


def _uncut_end(context: LoweringContext, loop: Loop, *, last: bool) -> ex.Expr:
    calls, axis = kernel_calls(loop), loop.over.axis
    if axis is None:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which grids do not have.")
    if loop.bounds is not None:
        return _written(loop.bounds, axis, _looped_field(calls[0], loop.bounds_from), last=last)
    return _points_end(context, ops.PointsEnd(calls[0], loop.bounds_from, axis, last))


def _points_end(_context: LoweringContext, asked: ops.PointsEnd) -> ex.Expr:
    points, field = asked.call.kernel.points, _looped_field(asked.call, asked.arg)
    if points is None:
        raise InternalError(f"'{asked.call.uid}' is for no points of a grid.")
    if points.bounds is not None:
        return _written(points.bounds, asked.axis, field, last=asked.last)
    if asked.call.kernel.args[asked.arg].space == ANY_TYPE:
        shape = ex.Member(ex.Member(field, abi.GRID), abi.SHAPE)
        return _before(_part(shape, asked.axis)) if asked.last else ex.whole(0)
    if points.name not in _REGIONS:
        message = f"Fields in Python have no region of the points '{points.name}'."
        raise CompileError(
            Diagnostic("G010", message, asked.call.span, hint=f"Loop over '{INTERNAL}' or '{ALL}'.")
        )
    return _end(ex.Member(field, _REGIONS[points.name]), asked.axis, last=asked.last)


def _looped_field(call: KernelCall, bounds_from: int) -> ex.Expr:
    actual = call.args[bounds_from]
    if actual.datum is None:
        raise InternalError(f"'{call.uid}' takes its bounds from a constant.")
    return actual.value


def _written(bounds: kern.GridBounds, axis: Axis, field: ex.Expr, *, last: bool) -> ex.Expr:
    """Return a bound of the settings, in which indices are counted from 1."""
    pair = (bounds.inner_start, bounds.inner_stop)
    if axis is Axis.NORTH:
        pair = (bounds.outer_start, bounds.outer_stop)
    region = _owned_region(field)
    ends = {
        kern.FIRST_INTERNAL.text: _end(region, axis, last=False),
        kern.LAST_INTERNAL.text: _end(region, axis, last=True),
    }
    return substituted(pair[last], ends)


def _end(region: ex.Expr, axis: Axis, *, last: bool) -> ex.Expr:
    found = _part(ex.Member(region, abi.STOP if last else abi.START), axis)
    return _before(found) if last else found


def _part(pair: ex.Expr, axis: Axis) -> ex.Expr:
    return ex.Element(pair, (ex.whole(_DIMENSIONS[axis]),))


def _before(index: ex.Expr) -> ex.Expr:
    return ex.Binary(Operator.MINUS, index, ex.whole(1))


# ---------------------------------------------------------------------------- halos


def _exchanged(_context: LoweringContext, asked: ops.Exchange) -> tuple[Line, ...]:
    match asked.phase:
        case Phase.START:
            return (_called(asked.datum, abi.FIELD_START, asked.depth),)
        case Phase.FINISH:
            return (_called(asked.datum, abi.FIELD_FINISH),)
    return (_called(asked.datum, abi.FIELD_EXCHANGE, asked.depth),)


def _noted(context: LoweringContext, asked: ops.NoteWrite) -> tuple[Line, ...]:
    """Return the note of a write; without marks in the schedule, the halo is marked dirty."""
    marked = () if sets_flags(context.schedule) else (_called(asked.datum, abi.SET_DIRTY),)
    return (*_CHECKS[ops.NoteWrite](context, asked), *marked)


def _called(datum: Datum, method: str, *args: ex.Expr) -> Call:
    return Call(ex.Member(ex.Name(datum.name), method), args)


def _is_dirty(_context: LoweringContext, asked: ops.IsDirty) -> ex.Expr:
    return ex.CallFunction(ex.Member(ex.Name(asked.datum.name), abi.IS_DIRTY), (asked.depth,))


def _exchanged_together(_context: LoweringContext, asked: ops.ExchangeTogether) -> tuple[Line, ...]:
    """Return one joint exchange for the fields of each depth."""
    what = "What is dirty of these goes" if asked.dirty_only else "These go"
    flags = (ex.Keyword(abi.ONLY_DIRTY, ex.Literal(".true.", Intrinsic.LOGICAL)),)
    lines: list[Line] = [Comment(f"{what} in one message to each neighbour")]
    for depth in dict.fromkeys(asked.depths):
        pairs = zip(asked.exchanges, asked.depths, strict=True)
        fields = tuple(ex.Name(one.datum) for one, own in pairs if own == depth)
        args = (ex.ArrayLiteral(fields), depth, *(flags if asked.dirty_only else ()))
        lines.append(Call(ex.Name(abi.EXCHANGE), args))
    return tuple(lines)


# ---------------------------------------------------------------------------- reductions


def _reduced_on_rank(context: LoweringContext, asked: ops.ReducePoints) -> tuple[Line, ...]:
    """Return the assignment of what the points of a rank contribute to a reduction."""
    call, formula = asked.call, asked.call.kernel.formula
    if formula is None or formula.reduction is None:
        raise InternalError(f"'{call.kernel.name}' is not a reduction.")
    places = [
        formula.letters.index(part.text)
        for part in ex.walk(formula.value)
        if isinstance(part, ex.Name)
    ]
    fields = [ex.Name(context.datum(call, at).name) for at in places]
    exact = (ex.Keyword(abi.EXACT, ex.Literal(".true.", Intrinsic.LOGICAL)),)
    args = (_operation(formula.reduction), *fields, *(exact if asked.exact else ()))
    found = ex.CallFunction(ex.Name(abi.REDUCED_ON_RANK), args)
    return (Assign(_value_of(context.datum(call, 0)), found),)


def _reduced_over_ranks(
    context: LoweringContext, datum: Datum, operation: kern.ReductionOp
) -> tuple[Line, ...]:
    """Return the assignment of the combined contributions of all ranks of a field's grid."""
    field = next(
        actual
        for call in kernel_calls(context.schedule)
        if call.kernel.is_builtin and call.args[0].datum == datum.name
        for actual in call.args[1:]
    )
    args = (_operation(operation), field.value, _value_of(datum))
    return (Assign(_value_of(datum), ex.CallFunction(ex.Name(abi.REDUCED_OVER_RANKS), args)),)


def _rounded(context: LoweringContext, asked: ops.EndExactSum) -> tuple[Line, ...]:
    if asked.over_ranks:
        return _reduced_over_ranks(context, asked.datum, kern.ReductionOp.SUM)
    value = _value_of(asked.datum)
    return (Assign(value, ex.CallFunction(ex.Name(abi.ROUNDED_PART), (value,))),)


def _operation(operation: kern.ReductionOp) -> ex.Expr:
    return ex.Literal(f'"{operation.value}"', Intrinsic.CHARACTER)


def _value_of(datum: Datum) -> ex.Member:
    return ex.Member(ex.Name(datum.name), abi.VALUE)
