"""Actual arguments of kernel calls, by the role of the dummy argument."""

from __future__ import annotations

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import BasisShape, MeshRole, StencilShape
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.schedule import Axis, Datum, KernelCall
from psyclone_storage.lowering.function_space_refs import (
    iteration_space,
    mesh_space,
    space_named,
    space_of,
)
from psyclone_storage.lowering.infrastructure import LoweringContext

_ALL = ex.Range()


def actual_arguments(
    context: LoweringContext, call: KernelCall, index: ex.Expr
) -> tuple[ex.Expr, ...]:
    """Return the actual arguments for all dummies of `call`.

    `index` is the current cell or dof; `:` for a kernel that processes all cells at once.
    """
    return tuple(_actual(context, call, dummy, index) for dummy in call.dummies)


def mask_condition(context: LoweringContext, call: KernelCall, index: ex.Expr) -> ex.Expr | None:
    """Return the condition under which cell `index` is processed; None for all cells."""
    mask = call.kernel.mask
    if mask is None:
        return None
    values = ops.DataOf(context.datum(call, mask), call.args[mask].component)
    first = ex.Element(
        context.value(ops.Dofmap(space_of(context, call, mask))), (ex.whole(1), index)
    )
    return ex.Binary(Operator.GREATER, ex.Element(context.value(values), (first,)), ex.whole(0))


def scalar_value(context: LoweringContext, call: KernelCall, arg: int) -> ex.Expr:
    """Return a scalar argument: a variable, or a constant as written."""
    actual = call.args[arg]
    return context.work.constant(actual.value) if actual.datum is None else ex.Name(actual.datum)


def _actual(context: LoweringContext, call: KernelCall, dummy: Dummy, index: ex.Expr) -> ex.Expr:
    """Return the actual argument for one dummy argument."""
    role = dummy.role
    if role in _COUNTERS:
        return context.counter(_COUNTERS[role])
    if role in _OF_THE_LOOP:
        return context.ends[_OF_THE_LOOP.index(role)]
    if role is Role.NLAYERS and dummy.arg is not None:
        return context.value(ops.LayersOf(context.datum(call, dummy.arg)))
    if role in _OF_THE_CALL:
        return _of_the_call(context, call, dummy, index)
    if role in _OF_A_QUADRATURE:
        return context.value(ops.QuadraturePart(*_rule(context, call, dummy), role))
    if dummy.arg is None:
        raise InternalError(f"'{dummy.name}' of '{call.uid}' belongs to no argument.")
    if role is Role.IMPORTED:
        name = call.args[dummy.arg].datum
        if name is None:
            raise InternalError(f"'{call.uid}' imports no variable for argument {dummy.arg}.")
        datum = context.schedule.datum(name)
        return ex.Name(context.work.imports.local(datum.module, ex.spell(datum.actual)))
    if role in _ENDS:
        return context.value(ops.PointsEnd(call, dummy.arg, *_ENDS[role]))
    if role in _OF_A_SPACE:
        space = space_of(context, call, dummy.arg, dummy.space)
        return _of_a_space(context, call, dummy, space, index)
    if role in _OF_A_STENCIL:
        return _of_a_stencil(context, role, _stencil_of(context, call, dummy.arg), index)
    return _of_an_argument(context, call, dummy, dummy.arg, index)


_COUNTERS = {Role.GRID_INDEX_I: Axis.EAST.value, Role.GRID_INDEX_J: Axis.NORTH.value}
_OF_THE_LOOP = (Role.STRIP_FIRST, Role.STRIP_LAST)
_ENDS = {
    Role.FIRST_COLUMN: (Axis.EAST, False),
    Role.LAST_COLUMN: (Axis.EAST, True),
    Role.FIRST_ROW: (Axis.NORTH, False),
    Role.LAST_ROW: (Axis.NORTH, True),
}
"""The direction of a grid and which end of it an argument stands for."""

_OF_A_PAIR = {
    Role.CELL_MAP,
    Role.CELLS_PER_CELL_X,
    Role.CELLS_PER_CELL_Y,
    Role.CELLS_PER_CELL,
    Role.NCELL_FINE,
}
_FACE_COUNTS = {Role.NFACES, Role.NFACES_HORIZONTAL, Role.NFACES_VERTICAL}
_OF_THE_CALL = {
    *_OF_A_PAIR,
    *_FACE_COUNTS,
    Role.CELL,
    Role.NLAYERS,
    Role.NCELL_2D,
    Role.NCELL_2D_NO_HALOS,
    Role.NORMALS,
    Role.ADJACENT_FACE,
}
_OF_A_QUADRATURE = {
    Role.NPOINTS_XY,
    Role.NPOINTS_Z,
    Role.NPOINTS_XYZ,
    Role.QUADRATURE_NFACES,
    Role.QUADRATURE_NEDGES,
    Role.WEIGHTS_XY,
    Role.WEIGHTS_Z,
    Role.WEIGHTS_XYZ,
}
_OF_A_SPACE = {
    Role.NDF,
    Role.UNDF,
    Role.DATA_PER_DOF,
    Role.FIELD_LAYERS,
    Role.DOFMAP,
    Role.WHOLE_DOFMAP,
    Role.BASIS,
    Role.DIFF_BASIS,
    Role.ORIENTATION,
    Role.BOUNDARY_DOFS,
}
_OF_A_STENCIL = {
    Role.STENCIL_SIZE,
    Role.STENCIL_DIRECTION,
    Role.STENCIL_MAX_BRANCH,
    Role.STENCIL_MAP,
    Role.STENCIL_CELLS,
}
_BAND_NUMBERS = {
    Role.CMA_NROW,
    Role.CMA_NCOL,
    Role.CMA_BANDWIDTH,
    Role.CMA_ALPHA,
    Role.CMA_BETA,
    Role.CMA_GAMMA_M,
    Role.CMA_GAMMA_P,
}


def _of_the_call(
    context: LoweringContext, call: KernelCall, dummy: Dummy, index: ex.Expr
) -> ex.Expr:
    role = dummy.role
    if role is Role.CELL:
        return index
    if role in _OF_A_PAIR:
        return _of_a_pair(context, call, role, index)
    space = iteration_space(context, call)
    if role in _FACE_COUNTS:
        return context.value(ops.FaceCount(space, role))
    match role:
        case Role.NLAYERS:
            return context.value(ops.Layers(space))
        case Role.NCELL_2D:
            return context.value(ops.CellCount(space))
        case Role.NCELL_2D_NO_HALOS:
            return context.value(ops.CellCount(space, owned=True))
        case Role.NORMALS:
            return context.value(ops.Normals(space, dummy.property_name))
    return ex.Section(context.value(ops.AdjacentFaces(space)), (_ALL, index))


def _of_a_pair(context: LoweringContext, call: KernelCall, role: Role, index: ex.Expr) -> ex.Expr:
    first = {arg.mesh: position for position, arg in reversed(list(enumerate(call.kernel.args)))}
    coarse, fine = (
        space_of(context, call, first[mesh]) for mesh in (MeshRole.COARSE, MeshRole.FINE)
    )
    match role:
        case Role.CELL_MAP:
            return ex.Section(context.value(ops.MeshPair(coarse, fine, role)), (_ALL, _ALL, index))
        case Role.CELLS_PER_CELL:
            along_x = context.value(ops.MeshPair(coarse, fine, Role.CELLS_PER_CELL_X))
            along_y = context.value(ops.MeshPair(coarse, fine, Role.CELLS_PER_CELL_Y))
            return ex.Binary(Operator.TIMES, along_x, along_y)
    return context.value(ops.MeshPair(coarse, fine, role))


def _of_a_space(
    context: LoweringContext, call: KernelCall, dummy: Dummy, space: ops.SpaceRef, index: ex.Expr
) -> ex.Expr:
    match dummy.role:
        case Role.NDF:
            return context.value(ops.DofsPerCell(space))
        case Role.UNDF:
            return context.value(ops.DofsOnRank(space))
        case Role.DATA_PER_DOF:
            return context.value(ops.DataPerDof(space))
        case Role.FIELD_LAYERS:
            return context.value(ops.Layers(space))
        case Role.DOFMAP:
            return ex.Section(context.value(ops.Dofmap(space)), (_ALL, index))
        case Role.WHOLE_DOFMAP:
            return context.value(ops.Dofmap(space))
        case Role.BOUNDARY_DOFS:
            return context.value(ops.BoundaryDofs(space))
        case Role.ORIENTATION:
            return context.value(ops.Orientation(space, index))
    return context.value(_basis(context, call, dummy, space))


def _basis(
    context: LoweringContext, call: KernelCall, dummy: Dummy, space: ops.SpaceRef
) -> ops.RuntimeValue:
    if dummy.operation is None or dummy.quadrature is None:
        raise InternalError(f"'{dummy.name}' is no basis function.")
    size = ex.whole_number(dummy.shape[0]) if dummy.shape else None
    if dummy.quadrature is BasisShape.EVALUATOR:
        target = space_named(context, call, dummy.target)
        return ops.BasisAtNodes(space, dummy.operation, size, target)
    return ops.BasisAtPoints(space, dummy.operation, size, *_rule(context, call, dummy))


def _rule(context: LoweringContext, call: KernelCall, dummy: Dummy) -> tuple[Datum, BasisShape]:
    """Return the quadrature object that a call passes for `dummy`, and its shape."""
    if dummy.quadrature is None:
        raise InternalError(f"'{dummy.name}' belongs to no quadrature.")
    rule = call.quadratures[call.kernel.quadratures.index(dummy.quadrature)]
    return context.of(rule), dummy.quadrature


def _stencil_of(context: LoweringContext, call: KernelCall, arg: int) -> ops.StencilRef:
    """Return the stencil with which `call` accesses argument `arg`."""
    actual, shape = call.args[arg], call.kernel.args[arg].stencil
    if actual.extent is None or not isinstance(shape, StencilShape):
        raise InternalError(f"Argument {arg + 1} of '{call.kernel.name}' has no stencil.")
    extent = context.work.constant(actual.extent)
    if call.kernel.args[arg].kind.is_operator:
        space = mesh_space(context, call)
        return ops.StencilRef(space, extent, shape, actual.direction, of_cells=True)
    return ops.StencilRef(space_of(context, call, arg), extent, shape, actual.direction)


def _of_a_stencil(
    context: LoweringContext, role: Role, stencil: ops.StencilRef, index: ex.Expr
) -> ex.Expr:
    branches = (_ALL,) if stencil.branched else ()
    match role:
        case Role.STENCIL_SIZE:
            sizes = context.value(ops.StencilSizes(stencil))
            return (
                ex.Section(sizes, (*branches, index)) if branches else ex.Element(sizes, (index,))
            )
        case Role.STENCIL_DIRECTION:
            return context.value(ops.StencilDirection(stencil))
        case Role.STENCIL_MAX_BRANCH:
            return context.value(ops.LongestBranch(stencil))
        case Role.STENCIL_CELLS:
            return ex.Section(context.value(ops.StencilCells(stencil)), (_ALL, *branches, index))
    return ex.Section(context.value(ops.StencilMap(stencil)), (_ALL, _ALL, *branches, index))


def _of_an_argument(
    context: LoweringContext, call: KernelCall, dummy: Dummy, arg: int, index: ex.Expr
) -> ex.Expr:
    described = call.kernel.args[arg]
    if dummy.role is Role.GRID_PROPERTY:
        return context.value(ops.GridPropertyOf(dummy.property_name, call.args[arg].value))
    if described.kind.is_scalar and dummy.role is not Role.ARRAY_SHAPE:
        return scalar_value(context, call, arg)
    datum = context.datum(call, arg)
    if dummy.role in _BAND_NUMBERS:
        return context.value(ops.BandNumber(datum, dummy.role))
    match dummy.role:
        case Role.FIELD | Role.OPERATOR | Role.CMA_MATRIX:
            return context.value(ops.DataOf(datum, _component(call, dummy)))
        case Role.DOF_VALUE:
            return ex.Element(context.value(ops.DataOf(datum, _component(call, dummy))), (index,))
        case Role.OPERATOR_NCELL_3D:
            return context.value(ops.OperatorCells(datum))
        case Role.BANDED_MAP | Role.INDIRECTION_MAP:
            side = "to" if dummy.space == described.space else "from"
            return context.value(ops.ColumnMap(datum, dummy.role, side))
        case Role.ARRAY_SHAPE:
            return context.value(ops.ExtentsOf(datum))
    raise InternalError(f"No argument of a kernel has the role '{dummy.role.value}'.")


def _component(call: KernelCall, dummy: Dummy) -> int | None:
    """Return the component that is passed: from the algorithm, or that of the dummy."""
    written = None if dummy.arg is None else call.args[dummy.arg].component
    return written if written is not None else dummy.component
