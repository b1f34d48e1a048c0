"""Rewrites of loop nests of schedules and subroutines: swap, strip-mine, tile, fuse.

This module imports no code analysis, because each compilation needs `fuse_schedule_loops`.
`analysis.footprints` checks legality.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.ir.nests import AnyLoop, inner_loop
from psyclone_storage.ir.schedule import Loop, Over

Strips = Callable[[AnyLoop], tuple[AnyLoop, AnyLoop]]
"""Splits a loop into an empty loop over strips and the loop over the iterations of one strip."""

# ---------------------------------------------------------------------------- any nest


def inner_of(outer: AnyLoop) -> AnyLoop:
    """Return the only loop in `outer`.

    Raises:
        InternalError: the body is not a single loop.
    """
    inner = inner_loop(outer)
    if inner is None:
        raise InternalError(f"'{outer.uid}' does not contain exactly one loop.")
    return inner


def swap(outer: AnyLoop) -> AnyLoop:
    """Return the nest with `outer` and its inner loop interchanged."""
    inner = inner_of(outer)
    return replace(inner, body=(replace(outer, body=inner.body),))


def strip_mine(loop: AnyLoop, strips: Strips[AnyLoop]) -> AnyLoop:
    """Return a loop over strips that contains the loop over one strip."""
    over_strips, in_strip = strips(loop)
    return replace(over_strips, body=(in_strip,))


def tile(outer: AnyLoop, strips: Strips[AnyLoop]) -> AnyLoop:
    """Return two loops over tiles that contain two loops over one tile."""
    inner = inner_of(outer)
    outer_tiles, outer_points = strips(outer)
    inner_tiles, inner_points = strips(inner)
    points = replace(outer_points, body=(inner_points,))
    return replace(outer_tiles, body=(replace(inner_tiles, body=(points,)),))


def tile_inner(outer: AnyLoop, strips: Strips[AnyLoop]) -> AnyLoop:
    """Return a loop over tiles of the inner loop that contains `outer` and the loop in a tile."""
    tiles, points = strips(inner_of(outer))
    return replace(tiles, body=(replace(outer, body=(points,)),))


def fuse(*loops: AnyLoop) -> AnyLoop:
    """Return the first of `loops` with the bodies of all, which have the same counter."""
    return replace(loops[0], body=tuple(chain.from_iterable(loop.body for loop in loops)))


# ---------------------------------------------------------------------------- loops of schedules

_STRIPS = {
    Over.ROWS: (Over.ROW_TILES, Over.ROWS_OF_TILE),
    Over.COLUMNS: (Over.COLUMN_TILES, Over.COLUMNS_OF_TILE),
}
POINTS = tuple(_STRIPS)
"""What loops over a grid count as long as there are no tiles."""


def strips_of_points(loop: Loop, size: int, word: str) -> tuple[Loop, Loop]:
    """Return the strip loop and the inner loop for strips of `size` rows or columns.

    `word` is the prefix of the inner loop's uid.
    """
    over_strips, in_strip = _STRIPS[loop.over]
    inside = replace(loop, uid=f"{word}({loop.uid})", over=in_strip, tile=size)
    return replace(loop, over=over_strips, tile=size, body=()), inside


def fuse_schedule_loops(*loops: Loop) -> Loop:
    """Return the first of `loops` with the calls and assertions of all, and their extent."""
    extents = [loop.extent for loop in loops]
    return replace(
        fuse(*loops),
        extent=next((one for one in reversed(extents) if one.extended), extents[0]),
        asserted=tuple(chain.from_iterable(loop.asserted for loop in loops)),
    )
