"""Lowering table of our grids for loops in C, in which points are counted from 1.

Bounds and properties become variables of the set-up, which runs once for the same fields. Array
properties are acquired together with fields. All variables are declared with the types and shapes
that kernels use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.gocean import SINGLE, GridProperty
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.expr import Binary, Expr, Name, integer_value, spell, whole
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.storage_access import StoragePolicy
from psyclone_storage.ir.transfer import Held, Side
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare, HoldData, Line
from psyclone_storage.ir.walk import sets_flags
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.gocean_python.argument_contracts import form_of
from psyclone_storage.targets.gocean_python.table import (
    PROPERTY,
    field_array,
    grids_in_python,
    held_fields,
    layers_of,
    property_of,
)

_ENDS = {ops.LoopStart: "first", ops.LoopEnd: "last"}
_EXTENTS = ("nx", "ny")
_EXTENT = ScalarType(Intrinsic.INTEGER, "8")
_REAL, _SHORT = ScalarType(Intrinsic.REAL, "8"), ScalarType(Intrinsic.REAL, "4")


def grids_in_c(properties: Mapping[str, GridProperty], *, exact_sums: bool) -> Infrastructure:
    """Return the table of the runtime's grids with these properties; see `grids_in_python`."""
    ranks = {name: one.rank for name, one in properties.items()}
    plain = grids_in_python(ranks, exact_sums=exact_sums)

    def data(context: LoweringContext, asked: ops.DataOf) -> Expr:
        shape, form = _extents(context), form_of(asked.datum)
        if form.has_layers:
            shape = (_layers(context, asked.datum), *shape)
        return field_array(context, asked.datum, _type_of(form.values), shape)

    def loop_end(context: LoweringContext, asked: ops.LoopStart | ops.LoopEnd) -> Expr:
        axis = asked.loop.over.axis
        name = f"{axis.value if axis else 'k'}_{_ENDS[type(asked)]}"
        return _bound(context, name, plain.values[type(asked)](context, asked))

    def points_end(context: LoweringContext, asked: ops.PointsEnd) -> Expr:
        name = f"{asked.axis.value}_{'last' if asked.last else 'first'}"
        return _bound(context, name, plain.values[ops.PointsEnd](context, asked))

    def grid_property(context: LoweringContext, asked: ops.GridPropertyOf) -> Expr:
        known = properties[asked.name]
        shape = _extents(context) if known.rank else ()
        return property_of(context, asked, Declare(asked.name, _type_of(known), (), shape))

    values: dict[type[ops.RuntimeValue], Callable[[LoweringContext, Any], Expr]] = {
        **plain.values,
        ops.DataOf: data,
        ops.LoopStart: loop_end,
        ops.LoopEnd: loop_end,
        ops.PointsEnd: points_end,
        ops.GridPropertyOf: grid_property,
        ops.LayersOf: lambda context, asked: _layers(context, asked.datum),
    }
    arrays = frozenset(name for name, one in properties.items() if one.rank)

    def around(context: LoweringContext, lines: tuple[Line, ...]) -> tuple[Line, ...]:
        return _held(context, lines, arrays)

    return replace(
        plain,
        name="The runtime for grids in C",
        value_type=_value_type,
        dummies=_dummies,
        values=values,
        around=around,
        faster_layers=True,
    )


def grids_in_cuda(properties: Mapping[str, GridProperty], *, exact_sums: bool) -> Infrastructure:
    """Return the table for a device, whose queues wait only for the data of each function."""
    contract = StoragePolicy(home=Side.DEVICE, waits_apart=True)
    table = grids_in_c(properties, exact_sums=exact_sums)
    return replace(
        table, name="The runtime for grids in CUDA", holding=contract, faster_layers=False
    )


def _type_of(item: GridProperty | ScalarType) -> ScalarType:
    """Return the type of values in C; reals have eight bytes, or four."""
    if item == SINGLE:
        return _SHORT
    return _REAL if item.intrinsic is Intrinsic.REAL else ScalarType(item.intrinsic)


def _value_type(datum: Datum) -> ScalarType:
    return _type_of(datum.type) if isinstance(datum.type, ScalarType) else _REAL


def _dummies(context: LoweringContext) -> tuple[Declare, ...]:
    return tuple(Declare(datum.name, _value_type(datum)) for datum in context.schedule.data)


def _extents(context: LoweringContext) -> tuple[Expr, ...]:
    """Return the extents of all arrays, which are those of the grid."""
    return tuple(
        context.work.variable(SetupSection.COUNTERS, ("extent", name), Declare(name, _EXTENT))
        for name in _EXTENTS
    )


def _layers(context: LoweringContext, datum: Datum) -> Name:
    """Return the variable with the number of layers of a field."""
    wished = Declare(f"{datum.name}_layers", abi.INTEGER)
    return context.work.assigned(
        SetupSection.BOUNDS, ("layers", datum.name), wished, layers_of(datum)
    )


def _bound(context: LoweringContext, name: str, counted_from_0: Expr) -> Name:
    """Return the variable with a bound, counted from 1."""
    key = ("bound", spell(counted_from_0))
    wished = Declare(name, abi.INTEGER)
    return context.work.assigned(SetupSection.BOUNDS, key, wished, _from_1(counted_from_0))


def _from_1(index: Expr) -> Expr:
    match index:
        case Binary(Operator.MINUS, behind, by) if integer_value(by) == 1:
            return behind
    value = integer_value(index)
    return Binary(Operator.PLUS, index, whole(1)) if value is None else whole(value + 1)


def _held(
    context: LoweringContext, lines: tuple[Line, ...], arrays: frozenset[str]
) -> tuple[Line, ...]:
    """Return the statements in a block that acquires their fields and grid properties."""
    properties = tuple(
        Held(name.text, name, written=False, why="a property of the grid")
        for key, name in context.work.asked_for(PROPERTY)
        if key[1] in arrays
    )
    fields = held_fields(context)
    flags = sets_flags(context.schedule)
    return (HoldData((*fields, *properties), lines, flags),) if fields else lines
