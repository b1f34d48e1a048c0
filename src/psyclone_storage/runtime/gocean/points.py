"""Kinds of grid points, and the boundary points of each kind."""

from __future__ import annotations

from enum import Enum

from psyclone_storage.runtime.gocean.region import Region


class Points(Enum):
    """Kinds of points for fields on an Arakawa C grid.

    T points are at cell centres. U points are on the east or west sides of cells, and V points on
    the north or south sides. F points are at corners.
    """

    U = "u"
    V = "v"
    T = "t"
    F = "f"
    ALL = "all"

    @property
    def on_sides(self) -> tuple[bool, bool]:
        """True for x and y if the points are between T points in this direction."""
        return self in (Points.U, Points.F), self in (Points.V, Points.F)


class Offset(Enum):
    """Index offset: points with the index of a T point are south-west or north-east of it."""

    SOUTH_WEST = "sw"
    NORTH_EAST = "ne"

    @property
    def shift(self) -> float:
        """Distance of points from the T point with the same index, in grid spacings."""
        return -0.5 if self is Offset.SOUTH_WEST else 0.5


def regions(
    points: Points,
    own: Region,
    *,
    at_start: tuple[bool, bool],
    fixed_end: tuple[bool, bool],
    offset: Offset,
) -> tuple[Region, Region]:
    """Return the internal region of a field, and that region with its boundary points.

    - `own`: the points of a rank.

    - `at_start`: whether the domain has a boundary at the start of the rank, in x and y.

    - `fixed_end`: whether the domain has a boundary at the end of the rank of which kernels do not
      compute the points.

    With the offset to the south-west, the first U points in x, the first V points in y, and the
    first F points in both directions are on the boundary at the start. With the offset to the
    north-east, the last ones are on the boundary at the end.
    """
    sides = points.on_sides
    is_first, is_last = offset is Offset.SOUTH_WEST, offset is Offset.NORTH_EAST
    x, y = (int(is_first and side and at) for side, at in zip(sides, at_start, strict=True))
    to_x, to_y = (int(is_last and side and at) for side, at in zip(sides, fixed_end, strict=True))
    internal = own.widened((-x, -y), (-to_x, -to_y))
    return internal, internal.widened((1, 1), (1, 1))
