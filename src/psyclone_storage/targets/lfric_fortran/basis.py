"""Basis functions, at quadrature points or at the nodes of a target space.

Each array is allocated and computed once per invoke, even if several kernels receive it, and
deallocated at the end.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.infrastructures.lfric import INTEGER, QUADRATURE_TYPES, REAL
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.expr import Section as ArraySection
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import BasisOperation, BasisShape
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.unit import Allocate, Assign, Call, Declare, Do
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    SetupSection,
    colons,
)
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.spaces import (
    dimension,
    ndf,
    nodes,
    space_object,
)
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound, setup_number, view

_POINT_COUNTS: Mapping[BasisShape, tuple[str, ...]] = {
    BasisShape.XYOZ: ("np_xy", "np_z"),
    BasisShape.FACE: ("np_xyz", "nfaces"),
    BasisShape.EDGE: ("np_xyz", "nedges"),
}
_STEMS = {BasisOperation.BASIS: "basis", BasisOperation.DIFF_BASIS: "diff_basis"}
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


def quadrature_part(context: LoweringContext, asked: ops.QuadraturePart) -> ex.Name:
    """Return a number of points, faces or edges of a quadrature rule, or its weights."""
    return _member(context, asked.rule, asked.shape, _MEMBERS[asked.role])


def basis_at_points(context: LoweringContext, asked: ops.BasisAtPoints) -> ex.Name:
    """Return the array of basis functions, or of their derivatives, at quadrature points.

    The shape is (dim, ndf, np_xy, np_z), (dim, ndf, np_xyz, nfaces) or (dim, ndf, np_xyz, nedges).
    """
    space, rule = asked.space, asked.rule
    counts = tuple(_member(context, rule, asked.shape, name) for name in _POINT_COUNTS[asked.shape])
    key = (asked.operation, space.key, rule.name)
    wish = f"{_STEMS[asked.operation]}_{space.label}_{rule.name}"
    array, is_new = _array(context, key, wish, 4)
    if is_new:
        size, dofs = _dimension(context, asked), ndf(context, space)
        constant = _constant(context, asked.operation)
        context.work.add(
            SetupSection.BASIS,
            Allocate((ex.Extents(array, (size, dofs, *counts)),)),
            Call(
                ex.Member(ex.Name(rule.name), abi.Quadrature.EVALUATE),
                (constant, space_object(context, space), size, dofs, array),
            ),
        )
    return array


def basis_at_nodes(context: LoweringContext, asked: ops.BasisAtNodes) -> ex.Name:
    """Return the array of basis functions at a target space's nodes: (dim, ndf, ndf_target)."""
    space, operation, target = asked.space, asked.operation, asked.target
    key = (operation, space.key, "at nodes", target.key)
    wish = f"{_STEMS[operation]}_{space.label}_on_{target.label}"
    array, is_new = _array(context, key, wish, 3)
    if is_new:
        extents = (_dimension(context, asked), ndf(context, space), ndf(context, target))
        context.work.add(
            SetupSection.BASIS,
            Allocate((ex.Extents(array, extents),)),
            _evaluation(context, space, array, operation, target),
        )
    return array


def _evaluation(
    context: LoweringContext,
    space: ops.SpaceRef,
    array: ex.Name,
    operation: BasisOperation,
    target: ops.SpaceRef,
) -> Do:
    """Return the loops that evaluate each basis function of `space` at each node of `target`."""
    work = context.work
    node = work.variable(SetupSection.COUNTERS, "node", Declare("node", INTEGER))
    df = work.variable(SetupSection.COUNTERS, "basis df", Declare("df_basis", INTEGER))
    position = ArraySection(nodes(context, target), (ex.Range(), node))
    value = bound(
        space_object(context, space),
        abi.SpaceProcedure.EVALUATE,
        _constant(context, operation),
        df,
        position,
    )
    values = ArraySection(array, (ex.Range(), df, node))
    inner = Do(
        df,
        ex.whole(1),
        ndf(context, space),
        (Assign(values, value),),
    )
    return Do(node, ex.whole(1), ndf(context, target), (inner,))


def _array(context: LoweringContext, key: object, wish: str, rank: int) -> tuple[ex.Name, bool]:
    known = Declare(wish, REAL, ("allocatable",), colons(rank))
    array = context.work.variable(SetupSection.BASIS, ("array", key), known)
    is_new = context.work.first(("computed", key))
    if is_new:
        context.work.releases(array)
    return array, is_new


def _dimension(context: LoweringContext, asked: ops.BasisAtPoints | ops.BasisAtNodes) -> ex.Expr:
    """Return the first extent of a basis array; for a wildcard space, a run-time value."""
    if asked.size is not None:
        return ex.whole(asked.size)
    return dimension(context, asked.space, asked.operation is BasisOperation.DIFF_BASIS)


def _constant(context: LoweringContext, operation: BasisOperation) -> ex.Name:
    name = abi.EVALUATIONS[operation]
    return ex.Name(context.work.imports.local(abi.LFRicModule.FUNCTION_SPACE, name))


def _member(context: LoweringContext, rule: Datum, shape: BasisShape, name: str) -> ex.Name:
    work, known = context.work, QUADRATURE_TYPES[shape]
    wished = Declare(f"{rule.name}_proxy", known.proxy_type)
    value = bound(ex.Name(rule.name), abi.Quadrature.PROXY)
    proxy = work.assigned(SetupSection.QUADRATURE, ("rule", rule.name), wished, value)
    source = ex.Member(proxy, name)
    key, wish = (name, rule.name), f"{name}_{rule.name}"
    rank = _WEIGHT_RANKS.get(name)
    if rank is None:
        return setup_number(context, SetupSection.QUADRATURE, key, wish, source)
    return work.pointer(SetupSection.QUADRATURE, key, view(wish, REAL, rank), source)
