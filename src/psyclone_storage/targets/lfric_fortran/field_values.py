"""Access to the data of fields and operators: proxies, arrays and operator members.

Objects of the algorithm layer hide their data; their proxies do not. Generated code gets one proxy
per object and one pointer per array before all loops.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.lfric import INTEGER, OBJECT_TYPES, ObjectType
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.types import DerivedType, ScalarType
from psyclone_storage.ir.unit import Assign, Declare
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    SetupSection,
)
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound, setup_number, view

_COLUMNWISE_NUMBERS: Mapping[Role, abi.Columnwise] = {
    Role.CMA_NROW: abi.Columnwise.NROW,
    Role.CMA_NCOL: abi.Columnwise.NCOL,
    Role.CMA_BANDWIDTH: abi.Columnwise.BANDWIDTH,
    Role.CMA_ALPHA: abi.Columnwise.ALPHA,
    Role.CMA_BETA: abi.Columnwise.BETA,
    Role.CMA_GAMMA_M: abi.Columnwise.GAMMA_M,
    Role.CMA_GAMMA_P: abi.Columnwise.GAMMA_P,
}


def object_type(datum: Datum) -> ObjectType:
    """Return the properties of the type of a field or operator, which the domain has checked."""
    known = OBJECT_TYPES.get(datum.type.name) if isinstance(datum.type, DerivedType) else None
    if known is None or known.kind is not datum.kind:
        raise InternalError(f"'{datum.name}' is neither a field nor an operator of a known type.")
    return known


def data_type(datum: Datum) -> ScalarType:
    """Return the type of the values of a field, an operator or a scalar."""
    if isinstance(datum.type, ScalarType):
        return datum.type
    return object_type(datum).data


def proxy(context: LoweringContext, datum: Datum, component: int | None = None) -> ex.Expr:
    """Return the proxy of a field, of one component of a field vector, or of an operator."""
    work, known = context.work, object_type(datum)
    shape = (ex.whole(datum.vector),) if datum.vector > 1 else ()
    declared = Declare(f"{datum.name}_proxy", known.proxy_type, (), shape)
    whole_proxy: ex.Expr = work.variable(SetupSection.DATA, ("proxy", datum.name), declared)
    item: ex.Expr = ex.Name(datum.name)
    if datum.vector > 1:
        position = (ex.whole(component or 1),)
        whole_proxy, item = ex.Element(whole_proxy, position), ex.Element(item, position)
    if work.first(("proxy set", datum.name, component or 1)):
        work.add(SetupSection.DATA, Assign(whole_proxy, bound(item, abi.FieldMember.PROXY)))
    return whole_proxy


def field_data(context: LoweringContext, datum: Datum, component: int | None = None) -> ex.Name:
    """Return the pointer to all values of a field or of a field-vector component."""
    source = ex.Member(proxy(context, datum, component), abi.FieldMember.DATA)
    part = f"_{component or 1}" if datum.vector > 1 else ""
    declared = view(f"{datum.name}{part}_data", data_type(datum), 1)
    key = ("data", datum.name, component or 1)
    return context.work.pointer(SetupSection.DATA, key, declared, source)


def data_array(context: LoweringContext, datum: Datum, component: int | None = None) -> ex.Name:
    """Return the pointer to the values of a field, a field-vector component or an operator."""
    match datum.kind:
        case ArgKind.OPERATOR:
            return operator_stencil(context, datum)
        case ArgKind.COLUMNWISE_OPERATOR:
            return columnwise_matrix(context, datum)
    return field_data(context, datum, component)


def operator_stencil(context: LoweringContext, datum: Datum) -> ex.Name:
    """Return the pointer to the matrices of an operator, shaped (ncell_3d, ndf_to, ndf_from)."""
    source = ex.Member(proxy(context, datum), abi.OperatorMember.STENCIL)
    declared = view(f"{datum.name}_local_stencil", data_type(datum), 3)
    return context.work.pointer(SetupSection.DATA, ("stencil", datum.name), declared, source)


def operator_ncell_3d(context: LoweringContext, datum: Datum) -> ex.Name:
    """Return the number of cells in all layers for which an operator has a matrix."""
    source = ex.Member(proxy(context, datum), abi.OperatorMember.NCELL_3D)
    key = ("ncell_3d", datum.name)
    return setup_number(context, SetupSection.DATA, key, f"{datum.name}_ncell_3d", source)


def columnwise_matrix(context: LoweringContext, datum: Datum) -> ex.Name:
    """Return the pointer to the bands of a columnwise operator, (bandwidth, nrow, ncell_2d)."""
    source = ex.Member(proxy(context, datum), abi.Columnwise.MATRIX)
    declared = view(f"{datum.name}_matrix", data_type(datum), 3)
    return context.work.pointer(SetupSection.COLUMNS, ("matrix", datum.name), declared, source)


def columnwise_number(context: LoweringContext, datum: Datum, role: Role) -> ex.Name:
    """Return a size parameter of the banded matrix of a columnwise operator."""
    member = _COLUMNWISE_NUMBERS[role]
    source = ex.Member(proxy(context, datum), member)
    key = (member, datum.name)
    return setup_number(context, SetupSection.COLUMNS, key, f"{datum.name}_{member}", source)


def columnwise_map(context: LoweringContext, datum: Datum, role: Role, side: str) -> ex.Name:
    """Return the dof numbering of a columnwise operator for its space on `side` (`to` or `from`).

    The banded map has the shape (ndf, nlayers); the indirection map is one-dimensional.
    """
    banded = role is Role.BANDED_MAP
    if banded:
        member = abi.Columnwise.BANDED_TO if side == "to" else abi.Columnwise.BANDED_FROM
    else:
        member = abi.Columnwise.INDIRECTION_TO if side == "to" else abi.Columnwise.INDIRECTION_FROM
    wish = f"{datum.name}_{'banded' if banded else 'indirection'}_map_{side}"
    declared = view(wish, INTEGER, 2 if banded else 1)
    source = ex.Member(proxy(context, datum), member)
    return context.work.pointer(SetupSection.COLUMNS, (member, datum.name), declared, source)


def extents_array(context: LoweringContext, datum: Datum) -> ex.Name:
    """Return the integer array of the extents of a scalar array."""
    wished = Declare(f"dims_{datum.name}", INTEGER, (), (ex.whole(datum.rank),))
    value = ex.intrinsic("shape", ex.Name(datum.name))
    return context.work.assigned(SetupSection.SHAPES, ("shape", datum.name), wished, value)
