"""The kinds of points of a grid, and which points of one kind surround those of another."""

from __future__ import annotations

from enum import Enum

from psyclone_storage.runtime.gocean.region import Region


class Points(Enum):
    """The kinds of points that a field may be on, in an Arakawa C grid.

    T points are in the middles of cells, U and V points in the middles of their sides to the east
    or west and to the north or south, F points at their corners.
    """

    U = "u"
    V = "v"
    T = "t"
    F = "f"
    ALL = "all"

    @property
    def on_sides(self) -> tuple[bool, bool]:
        """Return whether the points lie between T points in x, and in y."""
        return self in (Points.U, Points.F), self in (Points.V, Points.F)


class Offset(Enum):
    """Index offset: the index of a T point belongs to the points to its south and west, or not."""

    SOUTH_WEST = "sw"
    NORTH_EAST = "ne"

    @property
    def shift(self) -> float:
        """The offset of those points from the T point of their index, in grid distances."""
        return -0.5 if self is Offset.SOUTH_WEST else 0.5


def regions(
    points: Points, own: Region, *, at_start: tuple[bool, bool], offset: Offset
) -> tuple[Region, Region]:
    """Return the internal region of a field and that with the boundary points around it.

    `own` are the points of a rank; `at_start` says in which directions the domain begins there with
    a boundary. With the offset to the south-west the first U points in x, the first V points in y,
    and the first F points in both lie on that boundary.
    """
    x, y = (
        int(offset is Offset.SOUTH_WEST and side and first)
        for side, first in zip(points.on_sides, at_start, strict=True)
    )
    internal = own.widened((-x, -y), (0, 0))
    return internal, internal.widened((1, 1), (1, 1))
