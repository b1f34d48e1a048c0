"""Basis functions, at quadrature points or at the nodes of a target space.

Each array is allocated and computed once per invoke, whatever the number of kernels that are
given it, and deallocated at the end.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.context import Context, bound, colons, number, view, whole
from psyclone_storage.backend.lfric.spaces import (
    Space,
    dimension,
    ndf,
    nodes,
    space_named,
    space_object,
    space_of,
)
from psyclone_storage.backend.workspace import Section
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Index, Member, Name, Range
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import BasisOperation, BasisShape
from psyclone_storage.ir.schedule import Datum, KernelCall
from psyclone_storage.ir.unit import Allocate, Assign, Call, Declare, Do

_POINT_COUNTS: Mapping[BasisShape, tuple[str, ...]] = {
    BasisShape.XYOZ: ("np_xy", "np_z"),
    BasisShape.FACE: ("np_xyz", "nfaces"),
    BasisShape.EDGE: ("np_xyz", "nedges"),
}
_WEIGHT_RANKS: Mapping[str, int] = {"weights_xy": 1, "weights_z": 1, "weights_xyz": 2}
_MEMBERS: Mapping[Role, str] = {
    Role.NPOINTS_XY: "np_xy",
    Role.NPOINTS_Z: "np_z",
    Role.NPOINTS_XYZ: "np_xyz",
    Role.QUADRATURE_NFACES: "nfaces",
    Role.QUADRATURE_NEDGES: "nedges",
    Role.WEIGHTS_XY: "weights_xy",
    Role.WEIGHTS_Z: "weights_z",
    Role.WEIGHTS_XYZ: "weights_xyz",
}
QUADRATURE_ROLES = frozenset(_MEMBERS)


def quadrature_member(context: Context, call: KernelCall, dummy: Dummy) -> Name:
    """Return the number of points, faces or edges, or the weights, of a call's quadrature."""
    if dummy.quadrature is None:
        raise InternalError(f"'{dummy.name}' belongs to no quadrature.")
    rule = _rule(context, call, dummy.quadrature)
    return _member(context, rule, dummy.quadrature, _MEMBERS[dummy.role])


def basis_array(context: Context, call: KernelCall, dummy: Dummy) -> Name:
    """Return the array of basis functions, or of their derivatives, that `dummy` stands for.

    It is (dim, ndf, np_xy, np_z), (dim, ndf, np_xyz, nfaces), (dim, ndf, np_xyz, nedges) or, at
    the nodes of a target space, (dim, ndf, ndf_target).
    """
    if dummy.arg is None or dummy.operation is None or dummy.quadrature is None:
        raise InternalError(f"'{dummy.name}' is no basis function.")
    space = space_of(context, call, dummy.arg, dummy.space)
    if dummy.quadrature is BasisShape.EVALUATOR:
        return _at_nodes(context, space, dummy, space_named(context, call, dummy.target))
    return _at_points(context, space, dummy, _rule(context, call, dummy.quadrature))


def _at_points(context: Context, space: Space, dummy: Dummy, rule: Datum) -> Name:
    operation, shape = _asked(dummy)
    counts = tuple(_member(context, rule, shape, name) for name in _POINT_COUNTS[shape])
    key = (operation, space.key, rule.name)
    array, is_new = _array(context, key, f"{dummy.role.value}_{space.label}_{rule.name}", 4)
    if is_new:
        size, dofs = _dimension(context, space, dummy), ndf(context, space)
        constant = _constant(context, operation)
        context.work.add(
            Section.BASIS,
            Allocate((Index(array, (size, dofs, *counts)),)),
            Call(
                Member(Name(rule.name), abi.Quadrature.EVALUATE),
                (constant, space_object(context, space), size, dofs, array),
            ),
        )
    return array


def _at_nodes(context: Context, space: Space, dummy: Dummy, target: Space) -> Name:
    operation, _ = _asked(dummy)
    key = (operation, space.key, "at nodes", target.key)
    wish = f"{dummy.role.value}_{space.label}_on_{target.label}"
    array, is_new = _array(context, key, wish, 3)
    if is_new:
        extents = (_dimension(context, space, dummy), ndf(context, space), ndf(context, target))
        context.work.add(
            Section.BASIS,
            Allocate((Index(array, extents),)),
            _evaluation(context, space, array, operation, target),
        )
    return array


def _evaluation(
    context: Context, space: Space, array: Name, operation: BasisOperation, target: Space
) -> Do:
    """Return the loops that evaluate each basis function of `space` at each node of `target`."""
    work = context.work
    node = work.variable(Section.COUNTERS, "node", Declare("node", abi.INTEGER))
    df = work.variable(Section.COUNTERS, "basis df", Declare("df_basis", abi.INTEGER))
    position = Index(nodes(context, target), (Range(), node))
    value = bound(
        space_object(context, space),
        abi.Space.EVALUATE,
        _constant(context, operation),
        df,
        position,
    )
    inner = Do(
        df.text, whole(1), ndf(context, space), (Assign(Index(array, (Range(), df, node)), value),)
    )
    return Do(node.text, whole(1), ndf(context, target), (inner,))


def _array(context: Context, key: object, wish: str, rank: int) -> tuple[Name, bool]:
    known = Declare(wish, abi.REAL, ("allocatable",), colons(rank))
    array = context.work.variable(Section.BASIS, ("array", key), known)
    is_new = context.work.first(("computed", key))
    if is_new:
        context.work.releases(array)
    return array, is_new


def _dimension(context: Context, space: Space, dummy: Dummy) -> Expr:
    """Return the first extent of a basis array, which a wildcard space has to be asked for."""
    known = dummy.shape[0] if dummy.shape else ""
    if known.isdigit():
        return whole(int(known))
    return dimension(context, space, dummy.operation is BasisOperation.DIFF_BASIS)


def _constant(context: Context, operation: BasisOperation) -> Name:
    name = abi.EVALUATIONS[operation]
    return Name(context.work.imports.local(abi.Module.FUNCTION_SPACE, name))


def _asked(dummy: Dummy) -> tuple[BasisOperation, BasisShape]:
    if dummy.operation is None or dummy.quadrature is None:
        raise InternalError(f"'{dummy.name}' is no basis function.")
    return dummy.operation, dummy.quadrature


def _rule(context: Context, call: KernelCall, shape: BasisShape) -> Datum:
    """Return the quadrature object that a call passes for `shape`."""
    return context.of(call.quadratures[call.kernel.quadratures.index(shape)])


def _member(context: Context, rule: Datum, shape: BasisShape, name: str) -> Name:
    work, known = context.work, abi.QUADRATURE_TYPES[shape]
    wished = Declare(f"{rule.name}_proxy", known.proxy_type)
    value = bound(Name(rule.name), abi.Quadrature.PROXY)
    proxy = work.assigned(Section.QUADRATURE, ("rule", rule.name), wished, value)
    source = Member(proxy, name)
    key, wish = (name, rule.name), f"{name}_{rule.name}"
    rank = _WEIGHT_RANKS.get(name)
    if rank is None:
        return number(context, Section.QUADRATURE, key, wish, source)
    return work.pointer(Section.QUADRATURE, key, view(wish, abi.REAL, rank), source)
