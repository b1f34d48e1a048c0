"""Lowering table of the LFRic infrastructure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from psyclone_storage.infrastructures.lfric import INTEGER, module_of_kind
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.expr import Expr
from psyclone_storage.lowering.infrastructure import PADDING, Infrastructure, LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.fortran_halo_checks import checks_ended
from psyclone_storage.targets.lfric_fortran import (
    abi,
    basis,
    bounds,
    depths,
    halos,
    mesh,
    spaces,
    stencils,
)
from psyclone_storage.targets.lfric_fortran import exact_sums as sums
from psyclone_storage.targets.lfric_fortran import field_values as data_of
from psyclone_storage.targets.lfric_fortran.checks import CheckLevel, check_lines
from psyclone_storage.targets.lfric_fortran.device import copy_to, enter_device, region_items
from psyclone_storage.targets.lfric_fortran.dummies import dummy_declarations
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound


def lfric_infrastructure(
    checks: CheckLevel = CheckLevel.NONE, *, exact_sums: bool = False, padding: int = PADDING
) -> Infrastructure:
    """Return LFRic's infrastructure with the requested run-time checks and exact sums.

    Partial sums of threads are `padding` values apart. Lowering raises `CompileError` G001 if a
    kind cannot be reduced, and G002 for exact sums on a device.
    """
    return Infrastructure(
        "LFRic",
        abi.RESERVED,
        module_of_kind,
        INTEGER,
        data_of.data_type,
        dummy_declarations,
        _VALUES,
        _ACTIONS,
        region_items,
        finish=partial(_add_checks, checks),
        fetches_strips=True,
        starts_together=True,
        exact_sums=exact_sums,
        padding=padding,
    )


def _add_checks(level: CheckLevel, context: LoweringContext) -> None:
    """Add the run-time checks for the lowered statements."""
    context.work.add(SetupSection.CHECKS, *check_lines(context, level))


def _cell_count(context: LoweringContext, asked: ops.CellCount) -> Expr:
    if asked.owned:
        return mesh.mesh_number(context, asked.space, "ncell_2d_no_halos", abi.Mesh.LAST_EDGE)
    return mesh.mesh_number(context, asked.space, "ncell_2d", abi.Mesh.NCELLS_2D)


_VALUES: Mapping[type[ops.RuntimeValue], Callable[[LoweringContext, Any], Expr]] = {
    ops.DataOf: lambda context, op: data_of.data_array(context, op.datum, op.component),
    ops.ExtentsOf: lambda context, op: data_of.extents_array(context, op.datum),
    ops.OperatorCells: lambda context, op: data_of.operator_ncell_3d(context, op.datum),
    ops.BandNumber: lambda context, op: data_of.columnwise_number(context, op.datum, op.role),
    ops.ColumnMap: lambda context, op: data_of.columnwise_map(context, op.datum, op.role, op.side),
    ops.LoopStart: bounds.loop_start,
    ops.LoopEnd: bounds.loop_end,
    ops.ColourMap: bounds.cell_at,
    ops.HaloDepth: lambda context, _: depths.common_halo_depth(context),
    ops.Layers: lambda context, op: spaces.nlayers(context, op.space),
    ops.DofsPerCell: lambda context, op: spaces.ndf(context, op.space),
    ops.DofsOnRank: lambda context, op: spaces.undf(context, op.space),
    ops.DataPerDof: lambda context, op: spaces.ndata(context, op.space),
    ops.Dofmap: lambda context, op: spaces.dofmap(context, op.space),
    ops.BoundaryDofs: lambda context, op: spaces.boundary_dofs(context, op.space),
    ops.Orientation: lambda context, op: bound(
        spaces.space_object(context, op.space), abi.ORIENTATION, op.cell
    ),
    ops.BasisAtPoints: basis.basis_at_points,
    ops.BasisAtNodes: basis.basis_at_nodes,
    ops.QuadraturePart: basis.quadrature_part,
    ops.CellCount: _cell_count,
    ops.MeshPair: mesh.pair_value,
    ops.FaceCount: lambda context, op: mesh.face_count(context, op.space, op.role),
    ops.Normals: lambda context, op: mesh.normals(context, op.space, op.name),
    ops.AdjacentFaces: lambda context, op: mesh.adjacent_face(context, op.space),
    ops.StencilMap: lambda context, op: stencils.stencil_dofmap(context, op.stencil),
    ops.StencilSizes: lambda context, op: stencils.stencil_sizes(context, op.stencil),
    ops.StencilDirection: lambda context, op: stencils.stencil_direction(context, op.stencil),
    ops.StencilCells: lambda context, op: stencils.stencil_cells(context, op.stencil),
    ops.LongestBranch: lambda context, op: stencils.stencil_max_branch(context, op.stencil),
    ops.IsDirty: halos.is_dirty,
    ops.ExactSum: lambda context, op: sums.exact_sum(context, op.datum),
}
_ACTIONS: Mapping[type[ops.RuntimeAction], Callable[[LoweringContext, Any], tuple[Any, ...]]] = {
    ops.Exchange: halos.exchanged,
    ops.ExchangeTogether: halos.exchange_phase,
    ops.MarkDirty: halos.marked_dirty,
    ops.MarkClean: halos.marked_clean,
    ops.FillDofs: halos.given_numbers,
    ops.BeginHaloChecks: halos.checks_begun,
    ops.EndHaloChecks: checks_ended,
    ops.CheckHalo: halos.halo_checked,
    ops.NoteWrite: halos.noted,
    ops.Reduce: halos.reduced_over_ranks,
    ops.BeginExactSum: sums.begin_exact_sum,
    ops.AddExactly: sums.add_exactly,
    ops.EndExactSum: sums.end_exact_sum,
    ops.EnterDevice: enter_device,
    ops.CopyTo: copy_to,
}
