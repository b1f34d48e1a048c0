"""Mesh quantities: loop bounds, colours, pairs of meshes, the reference element."""

from __future__ import annotations

import re
from collections.abc import Hashable

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.lfric import INTEGER, REAL
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.halo_depths import fields_of_whole_halo
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.loop_split import Peel, PeelSection
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import SpaceRef
from psyclone_storage.ir.schedule import Loop, Over, Reach
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.function_space_refs import space_of
from psyclone_storage.lowering.halo_depth import depth_value
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.runtime_values import (
    array_of,
    component_of,
    runtime_number,
    table,
)
from psyclone_storage.targets.lfric_python.spaces import runtime_space

_NUMBERS = {Over.COLOURS: abi.COLOURS, Over.TILE_COLOURS: abi.TILE_COLOURS}
_ENDS = {
    Over.CELLS_OF_COLOUR: (abi.ENDS_OF_COLOURS, 1),
    Over.TILES_OF_COLOUR: (abi.ENDS_OF_TILE_COLOURS, 1),
    Over.CELLS_OF_TILE: (abi.ENDS_OF_TILES, 2),
}
"""The arrays that tell where colours and tiles end, for owned cells and for a halo."""
_IN_COLOUR = 2


def runtime_mesh(space: SpaceRef) -> ex.Expr:
    """Return the mesh of a space."""
    return ex.Member(runtime_space(space), abi.MESH)


def key_of_mesh(context: LoweringContext, space: SpaceRef) -> str:
    """Return the key of the mesh of a space; empty unless there may be several meshes."""
    return space.datum.name if context.several_meshes else ""


def runtime_halo_depth(context: LoweringContext, asked: ops.HaloDepth) -> ex.Expr:  # noqa: ARG001
    """Return the minimum halo depth of the fields in whole-halo loops."""
    owners = [
        component_of(context.schedule.datum(part.datum), part.component)
        for part in fields_of_whole_halo(context.schedule)
    ]
    depths = tuple(ex.Member(owner, abi.HALO_DEPTH) for owner in owners)
    return depths[0] if len(depths) == 1 else ex.CallFunction(ex.Name("min"), depths)


def cell_count(context: LoweringContext, asked: ops.CellCount) -> ex.Expr:
    """Return the number of cells in one layer on this rank, or only of owned ones."""
    word = abi.OWNED_CELLS if asked.owned else abi.CELLS
    return _number(context, asked.space, word)


def _number(context: LoweringContext, space: SpaceRef, word: str) -> ex.Expr:
    owner = key_of_mesh(context, space)
    name = f"{word}_{owner}" if owner else word
    value = ex.Member(runtime_mesh(space), word)
    return runtime_number(context, SetupSection.MESH, (word, owner), name, value)


# ---------------------------------------------------------------------------- bounds


def runtime_loop_start(context: LoweringContext, asked: ops.LoopStart) -> ex.Expr:
    """Return the first index of a loop: 1, except for halo-only loops and rims."""
    loop = asked.loop
    space = _space(context, loop)
    if loop.peel is not None and loop.peel.section is PeelSection.RIM:
        inner = _last_inner_cell(context, loop.peel, space)
        return _bound(context, loop, "first", ex.Binary(Operator.PLUS, inner, ex.whole(1)))
    if loop.over is not Over.CELLS or loop.extent.reach is not Reach.HALO_ONLY:
        return ex.whole(1)
    first = ex.Binary(Operator.PLUS, ex.Member(runtime_mesh(space), abi.OWNED_CELLS), ex.whole(1))
    return _bound(context, loop, "first", first)


def runtime_loop_end(context: LoweringContext, asked: ops.LoopEnd) -> ex.Expr:
    """Return the last index of a loop."""
    loop, space = asked.loop, _space(context, asked.loop)
    if loop.over in (Over.CELLS, Over.DOFS):
        return _bound(context, loop, "last", _last(context, loop, space))
    if (word := _NUMBERS.get(loop.over)) is not None:
        return _number(context, space, word)
    if loop.over not in _ENDS:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which meshes do not have.")
    (owned, in_halo), rank = _ENDS[loop.over]
    if loop.extent.reach in (Reach.ALL, Reach.OWNED):
        return ex.Element(_of_mesh(context, space, owned, rank), asked.within)
    if loop.extent.reach is not Reach.HALO:
        raise InternalError(f"Coloured cells have no extent '{loop.extent.reach.value}'.")
    depth = depth_value(context, loop.extent.depth)
    if ex.integer_value(depth) is None:
        depth = _bound(context, loop, "depth", depth)
    return ex.Element(_of_mesh(context, space, in_halo, rank + 1), (*asked.within, depth))


def _of_mesh(context: LoweringContext, space: SpaceRef, word: str, rank: int) -> ex.Expr:
    value = ex.Member(runtime_mesh(space), word)
    key = (word, key_of_mesh(context, space))
    return table(context, SetupSection.COLOURS, key, array_of(word, INTEGER, rank), value)


def runtime_cell_at(context: LoweringContext, asked: ops.ColourMap) -> ex.Expr:
    """Return the cell at a position within a colour, or within a tile of a colour."""
    in_tiles = len(asked.position) > _IN_COLOUR
    word = abi.TILE_MAP if in_tiles else abi.COLOUR_MAP
    cells = _of_mesh(context, asked.space, word, 3 if in_tiles else 2)
    return ex.Element(cells, asked.position)


def _space(context: LoweringContext, loop: Loop) -> SpaceRef:
    """Return the function space that provides the bounds of a loop."""
    return space_of(context, kernel_calls(loop)[0], loop.bounds_from)


def _bound(context: LoweringContext, loop: Loop, which: str, value: ex.Expr) -> ex.Expr:
    key: Hashable = ("bound", which, loop.uid)
    name = f"{re.sub(r'[^A-Za-z0-9]+', '_', loop.uid)}_{which}"
    return runtime_number(context, SetupSection.BOUNDS, key, name, value)


def _last(context: LoweringContext, loop: Loop, space: SpaceRef) -> ex.Expr:
    if loop.peel is not None and loop.peel.section is PeelSection.INTERIOR:
        return _last_inner_cell(context, loop.peel, space)
    extent = loop.computed if loop.over is Over.DOFS else loop.extent
    owner = runtime_space(space)
    if loop.over is Over.DOFS:
        words = {
            Reach.ALL: abi.UNDF,
            Reach.OWNED: abi.LAST_OWNED,
            Reach.ANNEXED: abi.LAST_ANNEXED,
        }
        deepest = ex.Member(owner, abi.LAST_HALO)
    else:
        owner = runtime_mesh(space)
        words = {Reach.ALL: abi.CELLS_OF_SPACE, Reach.OWNED: abi.OWNED_CELLS}
        deepest = ex.Member(owner, abi.LAST_HALO_CELL)
    if extent.reach is Reach.ALL:
        owner = runtime_space(space)
    if (word := words.get(extent.reach)) is not None:
        return ex.Member(owner, word)
    return ex.CallFunction(deepest, (depth_value(context, extent.depth),))


def _last_inner_cell(context: LoweringContext, peel: Peel, space: SpaceRef) -> ex.Expr:
    """Return the last cell of an interior, which is empty if the mesh is too small."""
    depth, mesh = peel.interior.depth, runtime_mesh(space)
    if not depth.terms:
        return ex.Member(mesh, abi.OWNED_CELLS)
    return ex.CallFunction(ex.Member(mesh, abi.LAST_INNER_CELL), (depth_value(context, depth),))


# ---------------------------------------------------------------------------- two meshes, elements


def runtime_pair_value(context: LoweringContext, asked: ops.MeshPair) -> ex.Expr:
    """Return a property of a pair of meshes for an inter-grid kernel."""
    if asked.role is Role.NCELL_FINE:
        return _number(context, asked.fine, abi.CELLS)
    pair = (asked.coarse.datum.name, asked.fine.datum.name)
    found = ex.CallFunction(
        ex.Member(runtime_mesh(asked.coarse), abi.MAP_TO), (runtime_mesh(asked.fine),)
    )
    if asked.role is Role.CELL_MAP:
        wished = array_of(f"cells_{pair[1]}_per_{pair[0]}", INTEGER, 3)
        value = ex.Member(found, abi.CELLS_OF_MAP)
        return table(context, SetupSection.GRIDS, ("cells", pair), wished, value)
    word = abi.IN_PAIRS[asked.role]
    name = f"{word}_{pair[1]}_per_{pair[0]}"
    return runtime_number(context, SetupSection.GRIDS, (word, pair), name, ex.Member(found, word))


def runtime_face_count(context: LoweringContext, asked: ops.FaceCount) -> ex.Expr:
    """Return the number of horizontal, vertical or all faces of the reference element."""
    word = abi.FACES[asked.role]
    value = ex.Member(ex.Member(runtime_mesh(asked.space), abi.ELEMENT), word)
    key = (word, key_of_mesh(context, asked.space))
    return runtime_number(context, SetupSection.ELEMENT, key, word, value)


def runtime_normals(context: LoweringContext, asked: ops.Normals) -> ex.Expr:
    """Return the array of normals with this metadata name, (3, faces)."""
    value = ex.Member(ex.Member(runtime_mesh(asked.space), abi.ELEMENT), asked.name)
    key = (asked.name, key_of_mesh(context, asked.space))
    return table(context, SetupSection.ELEMENT, key, array_of(asked.name, REAL, 2), value)
