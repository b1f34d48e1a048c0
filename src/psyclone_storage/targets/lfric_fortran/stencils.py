"""Stencil maps: the neighbours of each cell at which a kernel reads a field or operator.

Calls that read a field with the same extent, shape and direction share a map. Operators are indexed
by cells, for which the infrastructure has no stencil maps. The lowest-order space with one dof per
cell has such maps, and its dofs identify the cells. They are listed in the order of a field's
neighbours, for every shape, on rotated panels and at borders too.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.lfric import CELL_SPACE, INTEGER, OPERATOR_DEPTH, SPACES
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import StencilShape
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import StencilRef
from psyclone_storage.ir.unit import Allocate, Assign, Branch, Declare, Do, If, PointerAssign
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    SetupSection,
    colons,
)
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.logs import log_call
from psyclone_storage.targets.lfric_fortran.mesh import mesh_number, mesh_of
from psyclone_storage.targets.lfric_fortran.spaces import space_object
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound, setup_number, view

_BRANCHES = 4
"""W, S, E and N: the branches that are kept apart."""


def stencil_direction(context: LoweringContext, stencil: StencilRef) -> ex.Expr:
    """Return the direction of a one-dimensional stencil along x or y."""
    if stencil.direction is None:
        raise InternalError(f"The stencil of '{stencil.space.datum.name}' has no direction.")
    known = _known_direction(context, stencil)
    if known is None:
        return stencil.direction
    return ex.Name(context.work.imports.local(abi.LFRicModule.DIRECTION, known))


def stencil_dofmap(context: LoweringContext, stencil: StencilRef) -> ex.Name:
    """Return the pointer to the dofs of stencil cells.

    The shape is (ndf, size, ncells) or, with branches, (ndf, branch length, branches, ncells).
    """
    name = _stem(stencil)
    known = view(f"{name}_stencil_dofmap", INTEGER, 4 if stencil.branched else 3)
    target = bound(_map(context, stencil), abi.StencilMapProcedure.DOFMAP)
    key = ("stencil dofmap", stencil.key)
    return context.work.pointer(SetupSection.STENCILS, key, known, target)


def stencil_sizes(context: LoweringContext, stencil: StencilRef) -> ex.Name:
    """Return the pointer to the stencil sizes, with shape (ncells) or (branches, ncells)."""
    name = _stem(stencil)
    known = view(f"{name}_stencil_sizes", INTEGER, 2 if stencil.branched else 1)
    target = bound(_map(context, stencil), abi.StencilMapProcedure.SIZES)
    key = ("stencil sizes", stencil.key)
    return context.work.pointer(SetupSection.STENCILS, key, known, target)


def stencil_max_branch(context: LoweringContext, stencil: StencilRef) -> ex.Name:
    """Return the maximum branch length, including the centre cell."""
    wish = f"{_stem(stencil)}_max_branch_length"
    value = ex.Binary(Operator.PLUS, stencil.extent, ex.whole(1))
    return setup_number(context, SetupSection.STENCILS, ("max branch", stencil.key), wish, value)


def stencil_cells(context: LoweringContext, stencil: StencilRef) -> ex.Name:
    """Return the array of stencil cells, computed once for owned cells.

    The shape is (size, ncells) or, with branches, (branch length, branches, ncells). If the extent
    is known only at run time, the code stops if it exceeds the cells with operator matrices.
    """
    work, rank = context.work, 3 if stencil.branched else 2
    known = Declare("stencil_cells", INTEGER, ("allocatable",), colons(rank))
    cells = work.variable(SetupSection.STENCILS, ("stencil cells", stencil.key), known)
    if work.first(("listed", stencil.key)):
        work.releases(cells)
        dofs = stencil_dofmap(context, stencil)
        extents = tuple(
            ex.intrinsic("size", dofs, ex.whole(dimension)) for dimension in range(2, rank + 1)
        )
        owned = mesh_number(context, stencil.space, "ncell_2d_no_halos", abi.Mesh.LAST_EDGE)
        work.add(
            SetupSection.STENCILS,
            Allocate((ex.Extents(cells, (*extents, owned)),)),
            Assign(cells, ex.whole(0)),
            _listing(context, stencil, cells, owned),
        )
    return cells


def _listing(context: LoweringContext, stencil: StencilRef, cells: ex.Name, owned: ex.Name) -> Do:
    """Return the loops that store the cells of each stencil in `cells`."""
    dofs = stencil_dofmap(context, stencil)
    cell, place = _counter(context, "cell"), _counter(context, "place")
    branch = _counter(context, "branch") if stencil.branched else None
    branches = (branch,) if branch else ()
    at = ex.Element(dofs, (ex.whole(1), place, *branches, cell))
    found = ex.Element(_cell_of_dof(context, stencil), (at,))
    size = ex.Element(stencil_sizes(context, stencil), (*branches, cell))
    body = Do(
        place, ex.whole(1), size, (Assign(ex.Element(cells, (place, *branches, cell)), found),)
    )
    if branch:
        body = Do(branch, ex.whole(1), ex.whole(_BRANCHES), (body,))
    return Do(cell, ex.whole(1), owned, (body,))


def _cell_of_dof(context: LoweringContext, stencil: StencilRef) -> ex.Name:
    """Return the array that maps each lowest-order dof to its cell, including the halo."""
    work, space = context.work, _cell_space(context, stencil)
    owner = stencil.space.key
    known = Declare("cell_of_dof", INTEGER, ("allocatable",), colons(1))
    inverse = work.variable(SetupSection.STENCILS, ("cell of dof", owner), known)
    if work.first(("inverted", owner)):
        work.releases(inverse)
        target = bound(space, abi.SpaceProcedure.DOFMAP)
        dofmap = work.pointer(
            SetupSection.STENCILS, ("cell dofmap", owner), view("map_cells", INTEGER, 2), target
        )
        cell = _counter(context, "cell")
        held = mesh_number(context, stencil.space, "ncell_2d", abi.Mesh.NCELLS_2D)
        found = ex.Element(inverse, (ex.Element(dofmap, (ex.whole(1), cell)),))
        work.add(
            SetupSection.STENCILS,
            Allocate((ex.Extents(inverse, (bound(space, abi.SpaceProcedure.UNDF),)),)),
            Do(cell, ex.whole(1), held, (Assign(found, cell),)),
        )
    return inverse


def _counter(context: LoweringContext, what: str) -> ex.Name:
    known = Declare(f"stencil_{what}", INTEGER)
    return context.work.variable(SetupSection.COUNTERS, f"stencil {what}", known)


def _cell_space(context: LoweringContext, stencil: StencilRef) -> ex.Name:
    """Return the pointer to the space with one dof per cell, on the mesh of a stencil."""
    imports, owner = context.work.imports, stencil.space.key
    spaces = ex.Name(imports.local(abi.LFRicModule.SPACES, abi.SPACE_COLLECTION))
    w3 = ex.Name(imports.local(abi.LFRicModule.CONTINUITY, SPACES[CELL_SPACE].constant))
    mesh = mesh_of(context, stencil.space)
    target = bound(spaces, abi.SPACE_ON_MESH, mesh, ex.whole(0), ex.whole(0), w3)
    known = Declare("space_of_cells", abi.SPACE)
    return context.work.pointer(SetupSection.STENCILS, ("space of cells", owner), known, target)


def _check_reach(context: LoweringContext, stencil: StencilRef) -> None:
    """Add a check, once per extent, that operators have matrices for all stencil cells."""
    key = ("reach", ex.canonical(stencil.extent))
    known = not context.schedule.distributed or ex.integer_value(stencil.extent) is not None
    if known or not context.work.first(key):
        return
    too_far = ex.Binary(Operator.GREATER, stencil.extent, ex.whole(OPERATOR_DEPTH))
    words = (
        f"{context.schedule.name}: the stencil '{ex.spell(stencil.extent)}' of an operator reaches"
        f" beyond halo level {OPERATOR_DEPTH}, where operators have no values."
    )
    stop = If((Branch(too_far, (log_call(context, words, abi.Log.ERROR),)),))
    context.work.add(SetupSection.STENCILS, stop)


def _stem(stencil: StencilRef) -> str:
    """Return the prefix of the variable names for a stencil."""
    return "cell" if stencil.of_cells else stencil.space.datum.name


def _map(context: LoweringContext, stencil: StencilRef) -> ex.Name:
    """Return the pointer to the stencil map, selected at run time if the direction is open."""
    work, name = context.work, _stem(stencil)
    if stencil.of_cells:
        _check_reach(context, stencil)
    map_type = abi.STENCIL_2D_MAP if stencil.branched else abi.STENCIL_MAP
    known = Declare(f"{name}_stencil_map", map_type)
    key = ("stencil map", stencil.key)
    if stencil.shape is not StencilShape.XORY1D:
        return work.pointer(
            SetupSection.STENCILS, key, known, _lookup(context, stencil, stencil.shape)
        )
    direction = _known_direction(context, stencil)
    if direction is not None:
        target = _lookup(context, stencil, abi.DIRECTIONS[direction])
        return work.pointer(SetupSection.STENCILS, key, known, target)
    pointer = Declare(known.name, known.type, ("pointer",))
    variable = work.variable(SetupSection.STENCILS, key, pointer)
    if work.first(("chosen", key)):
        nothing = PointerAssign(variable, ex.intrinsic("null"))
        work.add(SetupSection.STENCILS, nothing, _choice(context, stencil, variable))
    return variable


def _choice(context: LoweringContext, stencil: StencilRef, variable: ex.Name) -> If:
    direction = stencil_direction(context, stencil)
    branches = tuple(
        Branch(
            ex.Binary(
                Operator.EQUAL,
                direction,
                ex.Name(context.work.imports.local(abi.LFRicModule.DIRECTION, name)),
            ),
            (PointerAssign(variable, _lookup(context, stencil, shape)),),
        )
        for name, shape in abi.DIRECTIONS.items()
    )
    of = "cells" if stencil.of_cells else f"'{stencil.space.datum.name}'"
    routine = context.schedule.name
    words = f"{routine}: the stencil of {of} has a direction that is neither x nor y."
    return If(branches, (log_call(context, words, abi.Log.ERROR),))


def _lookup(context: LoweringContext, stencil: StencilRef, shape: StencilShape) -> ex.Expr:
    """Return the expression that looks up, or creates, the map of a stencil."""
    imports = context.work.imports
    space = (
        _cell_space(context, stencil) if stencil.of_cells else space_object(context, stencil.space)
    )
    if shape is StencilShape.CROSS2D:
        name = imports.local(abi.LFRicModule.STENCIL_2D, abi.STENCIL_2D_CROSS)
        return bound(space, abi.SpaceProcedure.STENCIL_2D, ex.Name(name), stencil.extent)
    name = imports.local(abi.LFRicModule.STENCIL, abi.STENCILS[shape])
    return bound(space, abi.SpaceProcedure.STENCIL, ex.Name(name), stencil.extent)


def _known_direction(context: LoweringContext, stencil: StencilRef) -> str | None:
    """Return the name of the constant direction, or None if it is a run-time value."""
    match stencil.direction:
        case ex.Name(text) if key_of(text) in abi.DIRECTIONS:
            is_datum = any(datum.key == key_of(text) for datum in context.schedule.data)
            return None if is_datum else key_of(text)
    return None
