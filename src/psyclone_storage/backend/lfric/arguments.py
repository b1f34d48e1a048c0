"""The actual arguments of a kernel call: one expression per role of a dummy argument."""

from __future__ import annotations

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.frame import imported_variable
from psyclone_storage.backend.lfric.basis import QUADRATURE_ROLES, basis_array, quadrature_member
from psyclone_storage.backend.lfric.context import Context, bound, constant, whole
from psyclone_storage.backend.lfric.data import (
    COLUMNWISE_ROLES,
    columnwise_map,
    columnwise_matrix,
    columnwise_number,
    field_data,
    operator_ncell_3d,
    operator_stencil,
)
from psyclone_storage.backend.lfric.mesh import (
    FACE_COUNT_ROLES,
    adjacent_face,
    face_count,
    intergrid_value,
    mesh_number,
    normals,
)
from psyclone_storage.backend.lfric.spaces import (
    Space,
    boundary_dofs,
    dofmap,
    ndf,
    nlayers,
    space_object,
    space_of,
    undf,
)
from psyclone_storage.backend.lfric.stencils import (
    stencil_direction,
    stencil_dofmap,
    stencil_max_branch,
    stencil_of,
    stencil_sizes,
)
from psyclone_storage.backend.workspace import Section
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Binary, Expr, Index, Name, Range
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.unit import Declare

_ALL = Range()


def actual_arguments(context: Context, call: KernelCall, index: Expr) -> tuple[Expr, ...]:
    """Return what is passed for each dummy of `call`.

    `index` is the current cell or dof; a kernel that is called for all cells at once has `:`.
    """
    return tuple(_actual(context, call, dummy, index) for dummy in call.dummies)


def scalar_value(context: Context, call: KernelCall, arg: int) -> Expr:
    """Return the scalar that a call passes: a variable, or a constant as it was written."""
    actual = call.args[arg]
    return constant(context, actual.value) if actual.datum is None else Name(actual.datum)


def _actual(context: Context, call: KernelCall, dummy: Dummy, index: Expr) -> Expr:
    """Return the actual argument for one dummy, from the group that its role belongs to."""
    role = dummy.role
    if role in _OF_THE_CALL:
        return _of_the_call(context, call, dummy, index)
    if role in QUADRATURE_ROLES:
        return quadrature_member(context, call, dummy)
    if dummy.arg is None:
        raise InternalError(f"Role '{role.value}' belongs to no argument.")
    if role is Role.IMPORTED:
        return imported_variable(context.schedule, call, dummy.arg, context.work)
    if role in _OF_A_SPACE:
        space = space_of(context, call, dummy.arg, dummy.space)
        return _of_a_space(context, call, dummy, space, index)
    if role in _OF_A_STENCIL:
        return _of_a_stencil(context, call, dummy, index)
    return _of_an_argument(context, call, dummy, index)


_OF_THE_CALL = FACE_COUNT_ROLES | {
    Role.CELL,
    Role.NLAYERS,
    Role.NCELL_2D,
    Role.NCELL_2D_NO_HALOS,
    Role.CELL_MAP,
    Role.CELLS_PER_CELL_X,
    Role.CELLS_PER_CELL_Y,
    Role.CELLS_PER_CELL,
    Role.NCELL_FINE,
    Role.NORMALS,
    Role.ADJACENT_FACE,
}
_OF_A_SPACE = {
    Role.NDF,
    Role.UNDF,
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
}


def _of_the_call(context: Context, call: KernelCall, dummy: Dummy, index: Expr) -> Expr:
    space = iteration_space(context, call)
    match dummy.role:
        case Role.CELL:
            return index
        case Role.NLAYERS:
            return nlayers(context, call)
        case Role.NCELL_2D:
            return mesh_number(context, space, "ncell_2d", abi.Mesh.NCELLS_2D)
        case Role.NCELL_2D_NO_HALOS:
            return mesh_number(context, space, "ncell_2d_no_halos", abi.Mesh.LAST_EDGE)
        case Role.CELL_MAP:
            return Index(intergrid_value(context, call, Role.CELL_MAP), (_ALL, _ALL, index))
        case Role.CELLS_PER_CELL:
            along_x = intergrid_value(context, call, Role.CELLS_PER_CELL_X)
            return Binary("*", along_x, intergrid_value(context, call, Role.CELLS_PER_CELL_Y))
        case Role.NORMALS:
            return normals(context, space, dummy.property_name)
        case Role.ADJACENT_FACE:
            return Index(adjacent_face(context, space), (_ALL, index))
        case role if role in FACE_COUNT_ROLES:
            return face_count(context, space, role)
        case role:
            return intergrid_value(context, call, role)


def iteration_space(context: Context, call: KernelCall) -> Space:
    """Return the space of the first field or operator of a call, for what only needs a mesh."""
    first = next(at for at, arg in enumerate(call.kernel.args) if not arg.kind.is_scalar)
    return space_of(context, call, first)


def _of_a_space(
    context: Context, call: KernelCall, dummy: Dummy, space: Space, index: Expr
) -> Expr:
    match dummy.role:
        case Role.NDF:
            return ndf(context, space)
        case Role.UNDF:
            return undf(context, space)
        case Role.DOFMAP:
            return Index(dofmap(context, space), (_ALL, index))
        case Role.WHOLE_DOFMAP:
            return dofmap(context, space)
        case Role.BOUNDARY_DOFS:
            return boundary_dofs(context, space)
        case Role.ORIENTATION:
            return bound(space_object(context, space), abi.ORIENTATION, index)
    return basis_array(context, call, dummy)


def _of_a_stencil(context: Context, call: KernelCall, dummy: Dummy, index: Expr) -> Expr:
    if dummy.arg is None:
        raise InternalError(f"'{dummy.name}' belongs to no argument.")
    stencil = stencil_of(context, call, dummy.arg)
    branches = (_ALL,) if stencil.branched else ()
    match dummy.role:
        case Role.STENCIL_SIZE:
            return Index(stencil_sizes(context, stencil), (*branches, index))
        case Role.STENCIL_DIRECTION:
            return stencil_direction(context, stencil)
        case Role.STENCIL_MAX_BRANCH:
            return stencil_max_branch(context, stencil)
    return Index(stencil_dofmap(context, stencil), (_ALL, _ALL, *branches, index))


def _of_an_argument(context: Context, call: KernelCall, dummy: Dummy, index: Expr) -> Expr:
    if dummy.arg is None:
        raise InternalError(f"'{dummy.name}' belongs to no argument.")
    if dummy.role in (Role.SCALAR, Role.SCALAR_ARRAY, Role.DOF_VALUE) and (
        call.kernel.args[dummy.arg].kind.is_scalar
    ):
        return scalar_value(context, call, dummy.arg)
    datum = context.datum(call, dummy.arg)
    match dummy.role:
        case Role.FIELD:
            return field_data(context, datum, _component(call, dummy))
        case Role.DOF_VALUE:
            return Index(field_data(context, datum, _component(call, dummy)), (index,))
        case Role.OPERATOR_NCELL_3D:
            return operator_ncell_3d(context, datum)
        case Role.OPERATOR:
            return operator_stencil(context, datum)
        case Role.CMA_MATRIX:
            return columnwise_matrix(context, datum)
        case Role.BANDED_MAP | Role.INDIRECTION_MAP:
            side = "to" if dummy.space == call.kernel.args[dummy.arg].space else "from"
            return columnwise_map(context, datum, dummy.role, side)
        case Role.ARRAY_SHAPE:
            return _array_shape(context, datum.name, datum.rank)
        case role if role in COLUMNWISE_ROLES:
            return columnwise_number(context, datum, role)
    raise InternalError(f"An LFRic kernel has no argument of role '{dummy.role.value}'.")


def _component(call: KernelCall, dummy: Dummy) -> int | None:
    """Return which component is passed: the one written in the algorithm, or the dummy's."""
    written = None if dummy.arg is None else call.args[dummy.arg].component
    return written if written is not None else dummy.component


def _array_shape(context: Context, name: str, rank: int) -> Name:
    """Return the integer array of the extents of a scalar array."""
    wished = Declare(f"dims_{name}", abi.INTEGER, (), (whole(rank),))
    value = Index(Name("shape"), (Name(name),))
    return context.work.assigned(Section.SHAPES, ("shape", name), wished, value)
