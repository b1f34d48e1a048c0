"""Decomposition of a domain over ranks.

The rules are those of the Fortran infrastructure, so that programs in both languages have the same
points on the same ranks.
"""

from __future__ import annotations

from itertools import pairwise

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.gocean.region import Region


@dataclass(frozen=True, slots=True)
class Subdomain:
    """Part of a domain on one rank: owned points and a halo around them.

    Its arrays contain `halo` points on every side of the owned points, and one additional column
    and row of padding.
    """

    domain: Region
    halo: int

    @property
    def internal(self) -> Region:
        """Owned points, as a region of the rank's arrays."""
        columns, rows = self.domain.shape
        return Region((self.halo, self.halo), (self.halo + columns, self.halo + rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Extents of the rank's arrays."""
        columns, rows = self.domain.shape
        return columns + 2 * self.halo + 1, rows + 2 * self.halo + 1

    def local(self, region: Region) -> Region:
        """Return a region of the domain as a region of the rank's arrays."""
        x, y = self.domain.start
        return region.moved((self.halo - x, self.halo - y))


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Decomposition of a domain with `points` points in x and y into `parts` in each direction."""

    points: tuple[int, int]
    parts: tuple[int, int]
    subdomains: tuple[Subdomain, ...]


def decompose(
    points: tuple[int, int], ranks: int, halo: int, parts: tuple[int, int] | None = None
) -> Decomposition:
    """Divide a domain into one rectangle for each rank.

    Without `parts`, the total length of cuts is minimal. Among equal ones, cuts across y are
    preferred. Ranks are numbered along x first. If the points cannot be divided evenly, the first
    rectangles of a row or column have one more.

    Raises:
        ValueError: there are too few points, or the number of parts differs from the number of
            ranks.
    """
    if min(points) < 1:
        raise ValueError(f"A domain has at least one point in x and in y, not {points}.")
    if halo < 1:
        raise ValueError(f"A halo is at least one point wide, not {halo}.")
    chosen = _shortest_cuts(points, ranks) if parts is None else parts
    if min(chosen) < 1 or chosen[0] * chosen[1] != ranks:
        raise ValueError(f"{chosen} parts in x and in y are not one for each of {ranks} ranks.")
    if chosen[0] > points[0] or chosen[1] > points[1]:
        raise ValueError(f"A domain of {points} points has too few for {chosen} parts.")
    subdomains = tuple(
        Subdomain(Region((x[0], y[0]), (x[1], y[1])), halo)
        for y in _cut(points[1], chosen[1])
        for x in _cut(points[0], chosen[0])
    )
    return Decomposition(points, chosen, subdomains)


def _shortest_cuts(points: tuple[int, int], ranks: int) -> tuple[int, int]:
    possible = [
        (x, ranks // x)
        for x in range(1, min(ranks, points[0]) + 1)
        if ranks % x == 0 and ranks // x <= points[1]
    ]
    if not possible:
        raise ValueError(f"A domain of {points} points cannot be divided among {ranks} ranks.")
    return min(possible, key=lambda parts: (parts[0] - 1) * points[1] + (parts[1] - 1) * points[0])


def _cut(points: int, parts: int) -> list[tuple[int, int]]:
    """Return the start and the exclusive end of each part."""
    size, more = divmod(points, parts)
    starts = [part * size + min(part, more) for part in range(parts + 1)]
    return list(pairwise(starts))
