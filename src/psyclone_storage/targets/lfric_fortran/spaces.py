"""Quantities of function spaces."""

from __future__ import annotations

from psyclone_storage.infrastructures.lfric import INTEGER, REAL
from psyclone_storage.ir.expr import Expr, Member, Name
from psyclone_storage.ir.runtime_ops import SpaceRef
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.field_values import proxy
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound, setup_number, view


def space_object(context: LoweringContext, space: SpaceRef) -> Expr:
    """Return the function space object."""
    members = {
        "": abi.FieldMember.SPACE,
        "to": abi.OperatorMember.SPACE_TO,
        "from": abi.OperatorMember.SPACE_FROM,
    }
    return Member(proxy(context, space.datum), members[space.side])


def ndf(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the number of dofs per cell (ndf)."""
    return _asked(context, SetupSection.DOFS, space, "ndf", abi.SpaceProcedure.NDF)


def undf(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the number of dofs on this rank, including halos (undf)."""
    return _asked(context, SetupSection.DOFS, space, "undf", abi.SpaceProcedure.UNDF)


def dimension(context: LoweringContext, space: SpaceRef, differential: bool) -> Name:
    """Return the number of components of a basis function, or of its derivative."""
    if differential:
        return _asked(
            context, SetupSection.BASIS, space, "diff_dim", abi.SpaceProcedure.DIFF_DIMENSION
        )
    return _asked(context, SetupSection.BASIS, space, "dim", abi.SpaceProcedure.DIMENSION)


def nlayers(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the number of layers in the mesh of a space."""
    key = ("nlayers", space.datum.name)
    value = bound(space_object(context, space), abi.SpaceProcedure.NLAYERS)
    return setup_number(context, SetupSection.LAYERS, key, f"nlayers_{space.datum.name}", value)


def ndata(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the number of values per dof."""
    return _asked(context, SetupSection.DOFS, space, "ndata", abi.SpaceProcedure.NDATA)


def dofmap(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the pointer to the map from cells to dofs, with shape (ndf, ncells)."""
    key = ("map", space.key)
    known = view(f"map_{space.label}", INTEGER, 2)
    target = bound(space_object(context, space), abi.SpaceProcedure.DOFMAP)
    return context.work.pointer(SetupSection.DOFMAPS, key, known, target)


def boundary_dofs(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the pointer to the mask of boundary dofs, bottom and top, with shape (ndf, 2)."""
    key = ("boundary", space.key)
    known = view(f"boundary_dofs_{space.label}", INTEGER, 2)
    target = bound(space_object(context, space), abi.SpaceProcedure.BOUNDARY_DOFS)
    return context.work.pointer(SetupSection.BOUNDARY, key, known, target)


def nodes(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the pointer to the node positions in the reference element, (3, ndf)."""
    key = ("nodes", space.key)
    known = view(f"nodes_{space.label}", REAL, 2)
    target = bound(space_object(context, space), abi.SpaceProcedure.NODES)
    return context.work.pointer(SetupSection.BASIS, key, known, target)


def _asked(
    context: LoweringContext,
    section: SetupSection,
    space: SpaceRef,
    stem: str,
    procedure: abi.SpaceProcedure,
) -> Name:
    value = bound(space_object(context, space), procedure)
    return setup_number(context, section, (stem, space.key), f"{stem}_{space.label}", value)
