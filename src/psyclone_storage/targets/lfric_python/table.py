"""Lowering table of the meshes of our Python runtime.

Values that do not change for the same data are determined by a set-up, which runs once: numbers and
arrays of the mesh. Cells and dofs are counted from 1, as in kernels. Fields exchange their halos
and update flags between loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.infrastructures.lfric import INTEGER, OBJECT_TYPES, OF_SIZE, SIZES
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.devices import moved_parts
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import SpaceRef
from psyclone_storage.ir.schedule import Datum, DatumRole, KernelCall, Phase
from psyclone_storage.ir.storage_access import StoragePolicy
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Call, Comment, Declare, DeviceItem, HoldData, Line
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.emit_storage import why_held
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.lowering.profile import profiled_in_python
from psyclone_storage.lowering.routine_builder import SetupSection, colons
from psyclone_storage.targets.lfric_python import abi, mesh, spaces
from psyclone_storage.targets.lfric_python import exact_sums as sums
from psyclone_storage.targets.lfric_python.argument_contracts import argument_contracts
from psyclone_storage.targets.lfric_python.halo_extent import (
    held_parts,
    look_at_depth,
    look_at_operators,
    look_at_steps,
)
from psyclone_storage.targets.lfric_python.runtime_values import (
    EXTENTS_OF,
    array_of,
    component_of,
    no_form,
    ranks_of,
    runtime_data_array,
    runtime_number,
    table,
)
from psyclone_storage.targets.python_halo_checks import halo_checks_in_python


def meshes_in_c(*, exact_sums: bool = False, run_time_checks: bool = False) -> Infrastructure:
    """Return the table of the runtime's meshes for loops in C, with exact sums if requested.

    Lowering raises `CompileError` G010 for unsupported features, including `run_time_checks`.
    """
    return Infrastructure(
        "The runtime for LFRic in Python",
        abi.RESERVED,
        lambda _: "",
        INTEGER,
        runtime_value_type,
        _dummies,
        _VALUES,
        _ACTIONS,
        _no_items,
        exact_sums=exact_sums,
        sums_in_order=False,
        names_what_is_copied=False,
        around=_held,
        holding=StoragePolicy(),
        outlines=False,
        profiled=profiled_in_python,
        finish=_refuse_checks if run_time_checks else _add_nothing,
        sizes=SIZES,
    )


def runtime_value_type(datum: Datum) -> ScalarType:
    """Return the type of the values of a field, an operator or a scalar.

    Reals of equal size are the same type, independent of the kind's name.

    Raises:
        CompileError: G010, the size is not supported.
    """
    known = OBJECT_TYPES.get(datum.type.name) if isinstance(datum.type, DerivedType) else None
    type_ = known.data if known else datum.type if isinstance(datum.type, ScalarType) else INTEGER
    if type_.intrinsic is not Intrinsic.REAL:
        return type_
    size = SIZES.get(key_of(type_.kind or ""), 0)
    if size not in OF_SIZE:
        raise no_form(f"'{datum.name}', whose reals are of the kind '{type_.kind}'", datum.span)
    return OF_SIZE[size]


def _dummies(context: LoweringContext) -> tuple[Declare, ...]:
    made = []
    for datum in context.schedule.data:
        type_ = context.ops.value_type(datum)
        shape = colons(datum.rank if datum.role is DatumRole.ARGUMENT else 0)
        made.append(Declare(datum.name, ScalarType(type_.intrinsic, type_.kind), (), shape))
    return tuple(made)


def _add_nothing(_context: LoweringContext) -> None:
    """Do nothing."""


def _refuse_checks(context: LoweringContext) -> None:
    """Raise the error for run-time checks, which are not supported, at the first call."""
    for call in kernel_calls(context.schedule):
        what = f"tests of the fields of '{call.kernel.name}', as RUN_TIME_CHECKS asks for"
        hint = "Set RUN_TIME_CHECKS = none, or leave this call in a program in Fortran."
        raise no_form(what, call.span, hint)


def _no_items(
    _context: LoweringContext, _calls: Iterable[KernelCall], _lines: Iterable[Line]
) -> tuple[DeviceItem, ...]:
    return ()


# ---------------------------------------------------------------------------- data


def _held(context: LoweringContext, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return the statements of a routine in a block that acquires its fields and operators."""
    look_at_operators(context)
    look_at_steps(context)
    words = argument_contracts(context)
    items = tuple(
        Held(
            runtime_data_array(context, datum, component).text,
            component_of(datum, component),
            written=any(one.writes for one in meant),
            covered=all(one.covered is not Fresh.NO for one in meant),
            why=why_held(context, datum, meant[0]),
            meant=words.get(datum.name, ""),
        )
        for datum in context.schedule.data
        for component, meant in held_parts(context, datum)
    )
    return (HoldData(items, lines),) if items else lines


def _extents(context: LoweringContext, asked: ops.ExtentsOf) -> ex.Expr:
    """Return the extents of a scalar array, which each call determines."""
    datum = asked.datum
    marked = (f"{EXTENTS_OF}{datum.name}",)
    wished = Declare(f"dims_{datum.name}", INTEGER, marked, (ex.whole(datum.rank),))
    return context.work.variable(SetupSection.COUNTERS, ("extents", datum.name), wished)


def _band_number(context: LoweringContext, asked: ops.BandNumber) -> ex.Expr:
    word, name = abi.BAND_NUMBERS[asked.role], asked.datum.name
    value = ex.Member(ex.Name(name), word)
    return runtime_number(context, SetupSection.COLUMNS, (word, name), f"{name}_{word}", value)


def _column_map(context: LoweringContext, asked: ops.ColumnMap) -> ex.Expr:
    word, rank = abi.COLUMN_MAPS[asked.role]
    word, name = f"{word}_{asked.side}", asked.datum.name
    wished, value = array_of(f"{name}_{word}", INTEGER, rank), ex.Member(ex.Name(name), word)
    return table(context, SetupSection.COLUMNS, (word, name), wished, value)


def _operator_cells(context: LoweringContext, asked: ops.OperatorCells) -> ex.Expr:
    value = ex.Member(ex.Name(asked.datum.name), abi.OPERATOR_CELLS)
    key = ("operator cells", asked.datum.name)
    wished = Declare(f"{asked.datum.name}_{abi.OPERATOR_CELLS}", INTEGER)
    return context.work.assigned(SetupSection.DATA, key, wished, value)


def _orientation(context: LoweringContext, asked: ops.Orientation) -> ex.Expr:  # noqa: ARG001
    raise no_form("the orientation of dofs", None)


# ---------------------------------------------------------------------------- halos


def _owner(datum: Datum, component: int | None) -> ex.Expr:
    return component_of(datum, component)


def _exchanged(context: LoweringContext, asked: ops.Exchange) -> tuple[Line, ...]:
    owner = _owner(asked.datum, asked.component)
    look_at_depth(context, asked.datum, asked.component, asked.depth, 0)
    match asked.phase:
        case Phase.START:
            return (Call(ex.Member(owner, abi.FIELD_START), (_level(asked.depth),)),)
        case Phase.FINISH:
            return (Call(ex.Member(owner, abi.FIELD_FINISH), ()),)
    return (Call(ex.Member(owner, abi.FIELD_EXCHANGE), (_level(asked.depth),)),)


def _level(depth: ex.Expr) -> ex.Expr:
    """Return the depth of an exchange: at least 1, even if a variable is 0.

    The stencil of extent 0 is the cell itself, whose annexed dofs belong to the first level.
    """
    return (
        depth
        if ex.integer_value(depth) is not None
        else ex.CallFunction(ex.Name("max"), (depth, ex.whole(1)))
    )


def _exchanged_together(context: LoweringContext, asked: ops.ExchangeTogether) -> tuple[Line, ...]:
    if any(one.phase is not Phase.WHOLE for one in asked.exchanges):
        datum = context.schedule.datum(asked.exchanges[0].datum)
        raise no_form("exchanges of several fields that begin and end apart", datum.span)
    what = "What is dirty of these goes" if asked.dirty_only else "These go"
    owners: list[ex.Expr] = []
    depths: list[ex.Expr] = []
    for one, depth in zip(asked.exchanges, asked.depths, strict=True):
        datum = context.schedule.datum(one.datum)
        for part in moved_parts(datum, one.component):
            look_at_depth(context, datum, part, depth, 0)
            owners.append(_owner(datum, part))
            depths.append(_level(depth))
    flag = ex.Keyword(abi.ONLY_DIRTY, ex.Literal(".true.", Intrinsic.LOGICAL))
    args = (ex.ArrayLiteral(tuple(owners)), ex.ArrayLiteral(tuple(depths)))
    call = Call(ex.Name(abi.EXCHANGE), (*args, *((flag,) if asked.dirty_only else ())))
    return (Comment(f"{what} in one message to each neighbour"), call)


def _is_dirty(_context: LoweringContext, asked: ops.IsDirty) -> ex.Expr:
    owner = _owner(asked.datum, asked.component)
    return ex.CallFunction(ex.Member(owner, abi.IS_DIRTY), (_level(asked.depth),))


def _marked_dirty(_context: LoweringContext, asked: ops.MarkDirty) -> tuple[Line, ...]:
    return (Call(ex.Member(_owner(asked.datum, asked.component), abi.SET_DIRTY), ()),)


def _marked_clean(context: LoweringContext, asked: ops.MarkClean) -> tuple[Line, ...]:
    look_at_depth(context, asked.datum, asked.component, asked.depth, 0)
    return (Call(ex.Member(_owner(asked.datum, asked.component), abi.SET_CLEAN), (asked.depth,)),)


def _filled(context: LoweringContext, asked: ops.FillDofs) -> tuple[Line, ...]:
    """Return the assignment that initialises unread dofs, which are contiguous."""
    space = SpaceRef((asked.datum.name, ""), asked.datum.name, asked.datum, "")
    if asked.annexed:
        before = spaces.end_of(context, space, abi.LAST_OWNED)
    elif asked.beyond is None:
        before = spaces.end_of(context, space, abi.LAST_ANNEXED)
    else:
        before = spaces.end_of(context, space, abi.LAST_HALO, asked.beyond)
    if asked.depth is None:
        last = spaces.end_of(context, space, abi.LAST_ANNEXED)
    else:
        last = spaces.end_of(context, space, abi.LAST_HALO, asked.depth)
    values = runtime_data_array(context, asked.datum, asked.component)
    dofs = ex.Range(ex.Binary(Operator.PLUS, before, ex.whole(1)), last)
    return (Assign(ex.Section(values, (dofs,)), ex.whole(0)),)


def _reduced(context: LoweringContext, asked: ops.Reduce) -> tuple[Line, ...]:
    """Return the statements of a reduction over all ranks."""
    ranks = ranks_of(context, asked.datum)
    value = ex.Member(ex.Name(asked.datum.name), abi.VALUE)
    return (Assign(value, ex.CallFunction(ex.Member(ranks, abi.REDUCTIONS[asked.op]), (value,))),)


def _nothing(_context: LoweringContext, _asked: object) -> tuple[Line, ...]:
    return ()


_VALUES: Mapping[type[ops.RuntimeValue], Callable[[LoweringContext, Any], ex.Expr]] = {
    ops.DataOf: lambda context, op: runtime_data_array(context, op.datum, op.component),
    ops.ExtentsOf: _extents,
    ops.OperatorCells: _operator_cells,
    ops.BandNumber: _band_number,
    ops.ColumnMap: _column_map,
    ops.LoopStart: mesh.runtime_loop_start,
    ops.LoopEnd: mesh.runtime_loop_end,
    ops.ColourMap: mesh.runtime_cell_at,
    ops.HaloDepth: mesh.runtime_halo_depth,
    ops.Layers: spaces.layers,
    ops.DofsPerCell: lambda context, op: spaces.space_number(context, op.space, abi.NDF),
    ops.DofsOnRank: lambda context, op: spaces.space_number(context, op.space, abi.UNDF),
    ops.DataPerDof: lambda context, op: spaces.space_number(context, op.space, abi.NDATA),
    ops.Dofmap: lambda context, op: spaces.array(context, op.space, abi.DOFMAP),
    ops.BoundaryDofs: lambda context, op: spaces.array(context, op.space, abi.BOUNDARY),
    ops.Orientation: _orientation,
    ops.BasisAtPoints: spaces.runtime_basis_at_points,
    ops.BasisAtNodes: spaces.runtime_basis_at_nodes,
    ops.QuadraturePart: spaces.part_of_rule,
    ops.CellCount: mesh.cell_count,
    ops.MeshPair: mesh.runtime_pair_value,
    ops.FaceCount: mesh.runtime_face_count,
    ops.Normals: mesh.runtime_normals,
    ops.AdjacentFaces: lambda context, op: table(
        context, SetupSection.TOPOLOGY, ("adjacent", mesh.key_of_mesh(context, op.space)),
        array_of(abi.ADJACENT_FACE, INTEGER, 2),
        ex.Member(mesh.runtime_mesh(op.space), abi.ADJACENT_FACE),
    ),
    ops.StencilMap: spaces.stencil_map,
    ops.StencilSizes: spaces.runtime_stencil_sizes,
    ops.StencilDirection: spaces.direction,
    ops.StencilCells: spaces.runtime_stencil_cells,
    ops.LongestBranch: spaces.longest_branch,
    ops.IsDirty: _is_dirty,
    ops.ExactSum: lambda context, op: sums.runtime_exact_sum(context, op.datum),
}  # fmt: skip
_ACTIONS: Mapping[type[ops.RuntimeAction], Callable[[LoweringContext, Any], tuple[Line, ...]]] = {
    ops.Exchange: _exchanged,
    ops.ExchangeTogether: _exchanged_together,
    ops.MarkDirty: _marked_dirty,
    ops.MarkClean: _marked_clean,
    ops.FillDofs: _filled,
    ops.Reduce: _reduced,
    ops.BeginExactSum: sums.begin_runtime_sum,
    ops.AddExactly: sums.add_to_runtime_sum,
    ops.EndExactSum: sums.end_runtime_sum,
    ops.EnterDevice: _nothing,
    ops.CopyTo: _nothing,
    **halo_checks_in_python(component_of),
}
