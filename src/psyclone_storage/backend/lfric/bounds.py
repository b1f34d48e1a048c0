"""Bounds of loops, and depths of halo as expressions.

A bound is put into a variable before the first loop, so that no loop asks the mesh again.
"""

from __future__ import annotations

import re

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.context import Context, bound, constant, number, whole
from psyclone_storage.backend.lfric.mesh import Ends, ends_of, halo_depth, mesh_of
from psyclone_storage.backend.lfric.spaces import Space, space_object
from psyclone_storage.backend.workspace import Section
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Binary, Expr, Index, Literal, Name
from psyclone_storage.ir.region import Depth, Term, multiples
from psyclone_storage.ir.schedule import Extent, Loop, Over, Reach
from psyclone_storage.ir.types import Intrinsic


def loop_bounds(context: Context, loop: Loop, space: Space) -> tuple[Name, Name]:
    """Return the variables that hold the first and the last index of a loop over cells or dofs.

    They are called after the loop's place in the schedule.
    """
    first, last = _start(context, loop.extent, space), _stop(context, loop, space)
    key, stem = ("bounds", loop.uid), re.sub(r"\W+", "_", loop.uid)
    start = number(context, Section.BOUNDS, (*key, "start"), f"{stem}_start", first)
    stop = number(context, Section.BOUNDS, (*key, "stop"), f"{stem}_stop", last)
    return start, stop


def last_of_colour(context: Context, extent: Extent, space: Space, colour: Name) -> Expr:
    """Return the number of cells of a colour that lie within `extent`."""
    return _end(context, extent, space, Ends.CELLS, (colour,))


def last_tile(context: Context, extent: Extent, space: Space, colour: Name) -> Expr:
    """Return the number of tiles of a colour that have cells within `extent`."""
    return _end(context, extent, space, Ends.TILES, (colour,))


def last_of_tile(context: Context, extent: Extent, space: Space, tile: tuple[Name, Name]) -> Expr:
    """Return the number of cells of a tile, given by colour and number, within `extent`."""
    return _end(context, extent, space, Ends.CELLS_OF_TILES, tile)


def _end(
    context: Context, extent: Extent, space: Space, ends: Ends, place: tuple[Expr, ...]
) -> Expr:
    match extent.reach:
        case Reach.ALL | Reach.OWNED:
            return Index(ends_of(context, space, ends, False), place)
        case Reach.HALO:
            depth = depth_value(context, extent.depth, space)
            return Index(ends_of(context, space, ends, True), (*place, depth))
    raise InternalError(f"Coloured cells have no extent '{extent.reach.value}'.")


def depth_value(context: Context, depth: Depth, space: Space) -> Expr:
    """Return `depth` as an integer expression; the whole halo is that of the space's mesh."""
    terms = [_term_value(context, term, space) for term in depth.terms]
    if not terms:
        return whole(0)
    if len(terms) == 1:
        return terms[0]
    return Index(Name("max"), tuple(_of_index_kind(context, term) for term in terms))


def _term_value(context: Context, term: Term, space: Space) -> Expr:
    parts: list[Expr] = [halo_depth(context, space)] if term.whole else []
    parts += [constant(context, part) for part in multiples(term)]
    if not parts:
        return whole(term.constant)
    total = parts[0]
    for part in parts[1:]:
        total = Binary("+", total, part)
    if term.constant:
        total = Binary("+" if term.constant > 0 else "-", total, whole(abs(term.constant)))
    return total


def _of_index_kind(context: Context, value: Expr) -> Expr:
    """Return `value` with the kind of the variables: all arguments of `max` must agree in kind."""
    if not isinstance(value, Literal):
        return value
    kind = context.work.kind(str(abi.INTEGER.kind))
    return Literal(f"{value.text}_{kind}", Intrinsic.INTEGER, kind)


def _start(context: Context, extent: Extent, space: Space) -> Expr:
    if extent.reach is not Reach.HALO_ONLY:
        return whole(1)
    return Binary("+", bound(mesh_of(context, space), abi.Mesh.LAST_EDGE), whole(1))


def _stop(context: Context, loop: Loop, space: Space) -> Expr:
    if loop.over is Over.DOFS:
        return _last_dof(context, loop.extent, space)
    return _last_cell(context, loop.extent, space)


def _last_dof(context: Context, extent: Extent, space: Space) -> Expr:
    owner = space_object(context, space)
    match extent.reach:
        case Reach.ALL:
            return bound(owner, abi.Space.UNDF)
        case Reach.OWNED:
            return bound(owner, abi.Space.LAST_OWNED)
        case Reach.ANNEXED:
            return bound(owner, abi.Space.LAST_ANNEXED)
        case Reach.HALO:
            depth = depth_value(context, extent.depth, space)
            return bound(owner, abi.Space.LAST_HALO, depth)
    raise InternalError(f"Dofs have no extent '{extent.reach.value}'.")


def _last_cell(context: Context, extent: Extent, space: Space) -> Expr:
    match extent.reach:
        case Reach.ALL:
            return bound(space_object(context, space), abi.Space.NCELL)
        case Reach.OWNED:
            return bound(mesh_of(context, space), abi.Mesh.LAST_EDGE)
        case Reach.HALO | Reach.HALO_ONLY:
            depth = depth_value(context, extent.depth, space)
            return bound(mesh_of(context, space), abi.Mesh.LAST_HALO, depth)
    raise InternalError(f"Cells have no extent '{extent.reach.value}'.")
