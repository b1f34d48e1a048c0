"""Rectangular regions of grid points."""

from __future__ import annotations

from psyclone_storage.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """Points from `start` up to but excluding `stop`, in x and y, counted from 0."""

    start: tuple[int, int]
    stop: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points in x and y, which may be 0."""
        (x, y), (to_x, to_y) = self.start, self.stop
        return max(0, to_x - x), max(0, to_y - y)

    @property
    def points(self) -> int:
        """Number of points."""
        columns, rows = self.shape
        return columns * rows

    @property
    def box(self) -> tuple[slice, slice]:
        """Index tuple that selects the region in an array."""
        (x, y), (to_x, to_y) = self.start, self.stop
        return slice(x, to_x), slice(y, to_y)

    def moved(self, by: tuple[int, int]) -> Region:
        """Return the region shifted by a vector."""
        (x, y), (to_x, to_y), (dx, dy) = self.start, self.stop, by
        return Region((x + dx, y + dy), (to_x + dx, to_y + dy))

    def widened(self, before: tuple[int, int], behind: tuple[int, int]) -> Region:
        """Return the region extended by these numbers of points at its start and end."""
        (x, y), (to_x, to_y) = self.start, self.stop
        start = (x - before[0], y - before[1])
        return Region(start, (to_x + behind[0], to_y + behind[1]))

    def shared(self, other: Region) -> Region:
        """Return the intersection of two regions, which may be empty."""
        (x, y), (to_x, to_y) = self.start, self.stop
        (ox, oy), (oto_x, oto_y) = other.start, other.stop
        return Region((max(x, ox), max(y, oy)), (min(to_x, oto_x), min(to_y, oto_y)))
