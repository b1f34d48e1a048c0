"""Rectangles of grid points."""

from __future__ import annotations

from psyclone_storage.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """The points from `start` up to, not including, `stop`, in x and in y, counted from 0."""

    start: tuple[int, int]
    stop: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points in x and in y; none is negative."""
        (x, y), (to_x, to_y) = self.start, self.stop
        return max(0, to_x - x), max(0, to_y - y)

    @property
    def points(self) -> int:
        """The number of points."""
        columns, rows = self.shape
        return columns * rows

    @property
    def box(self) -> tuple[slice, slice]:
        """The index that picks the region out of an array."""
        (x, y), (to_x, to_y) = self.start, self.stop
        return slice(x, to_x), slice(y, to_y)

    def moved(self, by: tuple[int, int]) -> Region:
        """Return the region that lies so far away."""
        (x, y), (to_x, to_y), (dx, dy) = self.start, self.stop, by
        return Region((x + dx, y + dy), (to_x + dx, to_y + dy))

    def widened(self, before: tuple[int, int], behind: tuple[int, int]) -> Region:
        """Return the region with so many points more on its sides, in x and in y."""
        (x, y), (to_x, to_y) = self.start, self.stop
        start = (x - before[0], y - before[1])
        return Region(start, (to_x + behind[0], to_y + behind[1]))

    def shared(self, other: Region) -> Region:
        """Return what two regions have in common, which may be a region without points."""
        (x, y), (to_x, to_y) = self.start, self.stop
        (ox, oy), (oto_x, oto_y) = other.start, other.stop
        return Region((max(x, ox), max(y, oy)), (min(to_x, oto_x), min(to_y, oto_y)))
