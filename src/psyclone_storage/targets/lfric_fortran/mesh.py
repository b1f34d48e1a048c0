"""Mesh quantities: bounds and halos, colours, pairs of meshes, the reference element.

They are requested lazily, so that an invoke of built-ins uses no mesh.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.lfric import ADJACENT_FACE, INTEGER, LOGICAL, REAL
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.expr import Keyword, Member, Name
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.runtime_ops import MeshPair, SpaceRef
from psyclone_storage.ir.unit import (
    Allocate,
    Assign,
    Branch,
    Call,
    Declare,
    Do,
    If,
    PointerAssign,
)
from psyclone_storage.lowering.halo_depth import of_index_kind
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection, colons
from psyclone_storage.lowering.threads import one_thread
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.spaces import space_object
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound, setup_number, view

_FACE_COUNTS = {
    Role.NFACES_HORIZONTAL: ("nfaces_re_h", abi.ReferenceElementProcedure.NFACES_HORIZONTAL),
    Role.NFACES_VERTICAL: ("nfaces_re_v", abi.ReferenceElementProcedure.NFACES_VERTICAL),
    Role.NFACES: ("nfaces_re", abi.ReferenceElementProcedure.NFACES),
}


def mesh_of(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the pointer to the mesh of a space; one for the invoke unless there may be several."""
    owner = space.datum.name if context.several_meshes else ""
    known = Declare(f"mesh_{owner}" if owner else "mesh", abi.MESH)
    target = bound(space_object(context, space), abi.SpaceProcedure.MESH)
    return context.work.pointer(SetupSection.MESH, ("mesh", owner), known, target)


def mesh_number(context: LoweringContext, space: SpaceRef, wish: str, procedure: abi.Mesh) -> Name:
    """Return the integer that a procedure of the space's mesh returns."""
    mesh = mesh_of(context, space)
    value = bound(mesh, procedure)
    suffix = f"_{space.datum.name}" if context.several_meshes else ""
    return setup_number(context, SetupSection.MESH, (procedure, mesh), wish + suffix, value)


# ---------------------------------------------------------------------------- colours


def ncolours(context: LoweringContext, space: SpaceRef, *, of_tiles: bool = False) -> Name:
    """Return the number of colours of the cells, or of the tiles."""
    mesh, serial = mesh_of(context, space), context.for_threads
    wish = "ntilecolours" if of_tiles else "ncolours"
    value = bound(mesh, abi.Mesh.NTILE_COLOURS if of_tiles else abi.Mesh.NCOLOURS)
    if serial:
        one = of_index_kind(context, ex.whole(1))
        value = ex.intrinsic("merge", one, value, _alone(context))
    return setup_number(context, SetupSection.COLOURS, (wish, mesh, serial), wish, value)


def colour_map(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the pointer to the cells of each colour, with shape (colour, position)."""
    return _cell_map(context, space, "colour_map", abi.Mesh.COLOUR_MAP, 2)


def tiling_map(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the pointer to the cells of each tile, with shape (colour, tile, position)."""
    return _cell_map(context, space, "tiling_map", abi.Mesh.TILING_MAP, 3)


def _cell_map(
    context: LoweringContext, space: SpaceRef, wish: str, procedure: abi.Mesh, rank: int
) -> Name:
    """Return the pointer to the cells of colours; in a loop for threads, one thread has one colour.

    Its cells are numbered as the mesh numbers them.
    """
    work, mesh, serial = context.work, mesh_of(context, space), context.for_threads
    known, target = view(wish, INTEGER, rank), bound(mesh, procedure)
    cells = work.pointer(SetupSection.COLOURS, (procedure, mesh, serial), known, target)
    if not serial or not work.first(("in mesh order", procedure, mesh)):
        return cells
    in_order, number = _in_mesh_order(context, space, (procedure, mesh), rank)
    lines = (number, PointerAssign(cells, in_order))
    work.add(
        SetupSection.COLOURS,
        If((Branch(_alone(context), lines),)),
    )
    return cells


def _in_mesh_order(
    context: LoweringContext, space: SpaceRef, key: Hashable, rank: int
) -> tuple[Name, Do]:
    """Return an array for cells in mesh order, and its loop; it is empty for several threads."""
    work, cell, ones = context.work, context.counter("cell"), (ex.whole(1),) * (rank - 1)
    alone = _alone(context)
    declared = Declare("cells_in_order", INTEGER, ("allocatable", "target"), colons(rank))
    array = work.variable(SetupSection.COLOURS, ("cells in order", key), declared)
    count = mesh_number(context, space, "ncells", abi.Mesh.NCELLS_2D)
    most = ex.intrinsic("merge", count, of_index_kind(context, ex.whole(0)), alone)
    work.add(SetupSection.COLOURS, Allocate((ex.Extents(array, (*ones, most)),)))
    work.releases(array)
    return array, Do(cell, ex.whole(1), count, (Assign(ex.Element(array, (*ones, cell)), cell),))


_Ends = tuple[abi.Mesh, str, int]


class ColourEnds(Enum):
    """Mesh arrays with the last cells or tiles of colours, for owned cells and for a halo.

    Each is described by a procedure, a variable name and a rank. The last dimension of halo arrays
    is the depth.
    """

    CELLS = (
        (abi.Mesh.LAST_EDGE_OF_COLOURS, "last_edge_cells", 1),
        (abi.Mesh.LAST_HALO_OF_COLOURS, "last_halo_cells", 2),
    )
    TILES = (
        (abi.Mesh.LAST_EDGE_TILES, "last_edge_tiles", 1),
        (abi.Mesh.LAST_HALO_TILES, "last_halo_tiles", 2),
    )
    CELLS_OF_TILES = (
        (abi.Mesh.LAST_EDGE_OF_TILES, "last_edge_cells_of_tiles", 2),
        (abi.Mesh.LAST_HALO_OF_TILES, "last_halo_cells_of_tiles", 3),
    )

    def array(self, in_halo: bool) -> _Ends:
        """Return procedure, variable name and rank, for a loop with or without halo."""
        owned, halo = self.value
        return halo if in_halo else owned


def colour_ends(context: LoweringContext, space: SpaceRef, ends: ColourEnds, in_halo: bool) -> Name:
    """Return the array with the last cells or tiles of colours."""
    work, mesh, serial = context.work, mesh_of(context, space), context.for_threads
    procedure, wish, rank = ends.array(in_halo)
    known = Declare(wish, INTEGER, ("allocatable",), colons(rank))
    array = work.variable(SetupSection.COLOURS, (procedure, mesh, serial), known)
    if work.first(("filled", procedure, mesh, serial)):
        work.add(SetupSection.COLOURS, Allocate((array, Keyword("source", bound(mesh, procedure)))))
        work.releases(array)
    return array


def in_one_colour(
    context: LoweringContext, ends: Name, position: tuple[ex.Expr, ...], last: ex.Expr
) -> None:
    """Set the end of the only colour, or of its only tile, to `last` for one thread."""
    if context.work.first(("in one colour", ends, position)):
        line = Assign(ex.Element(ends, position), last)
        line_if = If((Branch(_alone(context), (line,)),))
        context.work.add(SetupSection.COLOURS, line_if)


def _alone(context: LoweringContext) -> Name:
    """Return the variable that is true if parallel regions have one thread."""
    return one_thread(context.work, SetupSection.COLOURS, LOGICAL)


# ---------------------------------------------------------------------------- two meshes


def pair_value(context: LoweringContext, asked: MeshPair) -> Name:
    """Return a property of a pair of meshes for an inter-grid kernel."""
    coarse, fine, role = asked.coarse, asked.fine, asked.role
    pair = (coarse.datum.name, fine.datum.name)
    if role is Role.NCELL_FINE:
        return mesh_number(context, fine, "ncell", abi.Mesh.NCELLS_2D)
    known = Declare(f"map_{pair[0]}_to_{pair[1]}", abi.MESH_MAP)
    target = bound(mesh_of(context, coarse), abi.Mesh.MAP_TO, mesh_of(context, fine))
    mesh_map = context.work.pointer(SetupSection.GRIDS, ("mesh map", pair), known, target)
    suffix = f"_{pair[1]}_per_{pair[0]}"
    match role:
        case Role.CELL_MAP:
            cells = view(f"cells{suffix}", INTEGER, 3)
            target = bound(mesh_map, abi.MeshMap.CELLS)
            return context.work.pointer(SetupSection.GRIDS, ("cell map", pair), cells, target)
        case Role.CELLS_PER_CELL_X:
            value = bound(mesh_map, abi.MeshMap.PER_CELL_X)
            return setup_number(
                context, SetupSection.GRIDS, ("per x", pair), f"ncell{suffix}_x", value
            )
        case Role.CELLS_PER_CELL_Y:
            value = bound(mesh_map, abi.MeshMap.PER_CELL_Y)
            return setup_number(
                context, SetupSection.GRIDS, ("per y", pair), f"ncell{suffix}_y", value
            )
    raise InternalError(f"Role '{role.value}' does not belong to a pair of meshes.")


# ---------------------------------------------------------------------------- elements


def face_count(context: LoweringContext, space: SpaceRef, role: Role) -> Name:
    """Return the number of horizontal, vertical or all faces of the reference element."""
    wish, procedure = _FACE_COUNTS[role]
    value = bound(_reference_element(context, space), procedure)
    return setup_number(
        context, SetupSection.ELEMENT, (procedure, mesh_of(context, space)), wish, value
    )


def normals(context: LoweringContext, space: SpaceRef, name: str) -> Name:
    """Return the array of normals with the metadata name `name`, (3, faces)."""
    work, key = context.work, (name, mesh_of(context, space))
    element = _reference_element(context, space)
    known = Declare(name, REAL, ("allocatable",), colons(2))
    array = work.variable(SetupSection.ELEMENT, key, known)
    if work.first(("filled", key)):
        work.add(SetupSection.ELEMENT, Call(Member(element, abi.NORMALS[name]), (array,)))
        work.releases(array)
    return array


def adjacent_face(context: LoweringContext, space: SpaceRef) -> Name:
    """Return the pointer to the faces shared with neighbours of cells, (nfaces, ncells)."""
    mesh = mesh_of(context, space)
    known = view(ADJACENT_FACE, INTEGER, 2)
    target = bound(mesh, abi.Mesh.ADJACENT_FACE)
    return context.work.pointer(SetupSection.TOPOLOGY, ("adjacent face", mesh), known, target)


def _reference_element(context: LoweringContext, space: SpaceRef) -> Name:
    mesh = mesh_of(context, space)
    known = Declare("reference_element", abi.REFERENCE_ELEMENT, (), (), polymorphic=True)
    target = bound(mesh, abi.Mesh.REFERENCE_ELEMENT)
    return context.work.pointer(SetupSection.ELEMENT, ("reference element", mesh), known, target)
