"""Bounds of loops, including colours.

A bound is stored in a variable before the first loop, so that loops do not query the mesh.
"""

from __future__ import annotations

import re

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.loop_split import Peel, PeelSection
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.runtime_ops import ColourMap, LoopEnd, LoopStart, SpaceRef
from psyclone_storage.ir.schedule import Extent, Loop, Over, Reach
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.function_space_refs import space_of
from psyclone_storage.lowering.halo_depth import depth_value, of_index_kind
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    SetupSection,
)
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.mesh import (
    ColourEnds,
    colour_ends,
    colour_map,
    in_one_colour,
    mesh_of,
    ncolours,
    tiling_map,
)
from psyclone_storage.targets.lfric_fortran.spaces import space_object
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound, setup_number

_IN_VARIABLES = (Over.CELLS, Over.DOFS)
_ENDS = {
    Over.CELLS_OF_COLOUR: ColourEnds.CELLS,
    Over.TILES_OF_COLOUR: ColourEnds.TILES,
    Over.CELLS_OF_TILE: ColourEnds.CELLS_OF_TILES,
}
_IN_COLOUR = 2
"""The length of a position behind a colour; behind a tile of a colour it is longer."""


def loop_start(context: LoweringContext, asked: LoopStart) -> ex.Expr:
    """Return the first index of a loop: a variable for loops over cells or dofs, otherwise 1.

    Variables of bounds are named after the position of the loop in the schedule.
    """
    loop = asked.loop
    if loop.over not in _IN_VARIABLES:
        return ex.whole(1)
    first = _start(context, loop, _space(context, loop))
    return _variable(context, loop, "start", first)


def loop_end(context: LoweringContext, asked: LoopEnd) -> ex.Expr:
    """Return the last index of a loop."""
    loop, space = asked.loop, _space(context, asked.loop)
    if loop.over in _IN_VARIABLES:
        return _variable(context, loop, "stop", _stop(context, loop, space))
    if loop.over in (Over.COLOURS, Over.TILE_COLOURS):
        return ncolours(context, space, of_tiles=loop.over is Over.TILE_COLOURS)
    if loop.over not in _ENDS:
        what = loop.over.value
        raise InternalError(f"'{loop.uid}' counts {what}, which LFRic does not have.")
    if loop.extent.reach not in (Reach.ALL, Reach.OWNED, Reach.HALO):
        raise InternalError(f"Coloured cells have no extent '{loop.extent.reach.value}'.")
    in_halo = loop.extent.reach is Reach.HALO
    depth = (depth_value(context, loop.extent.depth),) if in_halo else ()
    ends = colour_ends(context, space, _ENDS[loop.over], in_halo)
    if context.for_threads:
        first = (ex.whole(1),) * len(asked.within)
        counts_cells = loop.over is not Over.TILES_OF_COLOUR
        last = _last_cell(context, loop.extent, space) if counts_cells else ex.whole(1)
        in_one_colour(context, ends, (*first, *depth), last)
    return ex.Element(ends, (*asked.within, *depth))


def cell_at(context: LoweringContext, asked: ColourMap) -> ex.Expr:
    """Return the cell at a position within a colour, or within a tile of a colour."""
    in_tiles = len(asked.position) > _IN_COLOUR
    cells = tiling_map(context, asked.space) if in_tiles else colour_map(context, asked.space)
    return ex.Element(cells, asked.position)


def _space(context: LoweringContext, loop: Loop) -> SpaceRef:
    """Return the function space that provides the bounds of a loop."""
    return space_of(context, kernel_calls(loop)[0], loop.bounds_from)


def _variable(context: LoweringContext, loop: Loop, which: str, value: ex.Expr) -> ex.Name:
    key, stem = ("bounds", loop.uid, which), re.sub(r"\W+", "_", loop.uid)
    return setup_number(context, SetupSection.BOUNDS, key, f"{stem}_{which}", value)


def _start(context: LoweringContext, loop: Loop, space: SpaceRef) -> ex.Expr:
    if loop.peel is not None and loop.peel.section is PeelSection.RIM:
        inner = _last_inner_cell(context, loop.peel, space)
        return ex.Binary(Operator.PLUS, inner, ex.whole(1))
    if loop.extent.reach is not Reach.HALO_ONLY:
        return ex.whole(1)
    return ex.Binary(Operator.PLUS, bound(mesh_of(context, space), abi.Mesh.LAST_EDGE), ex.whole(1))


def _stop(context: LoweringContext, loop: Loop, space: SpaceRef) -> ex.Expr:
    if loop.over is Over.DOFS:
        return last_dof(context, loop.computed, space)
    if loop.peel is not None and loop.peel.section is PeelSection.INTERIOR:
        return _last_inner_cell(context, loop.peel, space)
    return _last_cell(context, loop.extent, space)


def _last_inner_cell(context: LoweringContext, peel: Peel, space: SpaceRef) -> ex.Expr:
    """Return the last cell of an interior, which is empty if the mesh is too small.

    LFRic also creates meshes without inner halos: then all inner cells are at the deepest depth,
    and the last cell is the same for each depth. Depths beyond 1 are therefore meaningful only if
    there are cells at depth 1, which is the case on every rank with neighbours and deeper cells.
    """
    depth, mesh = peel.interior.depth, mesh_of(context, space)
    if not depth.terms:
        return bound(mesh, abi.Mesh.LAST_EDGE)
    last = bound(mesh, abi.Mesh.LAST_INNER, depth_value(context, depth))
    if depth == Depth.of(1):
        return last
    are_told_apart = ex.Binary(
        Operator.GREATER, bound(mesh, abi.Mesh.NUM_INNER, ex.whole(1)), ex.whole(0)
    )
    return ex.intrinsic("merge", last, of_index_kind(context, ex.whole(0)), are_told_apart)


def last_dof(context: LoweringContext, extent: Extent, space: SpaceRef) -> ex.Expr:
    """Return the last dof of a loop over the dofs of a space."""
    owner = space_object(context, space)
    match extent.reach:
        case Reach.ALL:
            return bound(owner, abi.SpaceProcedure.UNDF)
        case Reach.OWNED:
            return bound(owner, abi.SpaceProcedure.LAST_OWNED)
        case Reach.ANNEXED:
            return bound(owner, abi.SpaceProcedure.LAST_ANNEXED)
        case Reach.HALO:
            depth = depth_value(context, extent.depth)
            return bound(owner, abi.SpaceProcedure.LAST_HALO, depth)
    raise InternalError(f"Dofs have no extent '{extent.reach.value}'.")


def _last_cell(context: LoweringContext, extent: Extent, space: SpaceRef) -> ex.Expr:
    match extent.reach:
        case Reach.ALL:
            return bound(space_object(context, space), abi.SpaceProcedure.NCELL)
        case Reach.OWNED:
            return bound(mesh_of(context, space), abi.Mesh.LAST_EDGE)
        case Reach.HALO | Reach.HALO_ONLY:
            depth = depth_value(context, extent.depth)
            return bound(mesh_of(context, space), abi.Mesh.LAST_HALO, depth)
    raise InternalError(f"Cells have no extent '{extent.reach.value}'.")
