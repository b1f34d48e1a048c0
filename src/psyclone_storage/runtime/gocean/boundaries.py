"""Boundaries of a domain: their kinds, and their effects on fields.

A closed boundary is a wall. The normal velocity is zero on it; beyond it, a field has the values of
the mirror image. On a C-grid, the walls in x are at U and F points, those in y at V and F points.
Points on and beyond a prescribed boundary have the values that a program stores there.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.gocean.decomposition import Decomposition
from psyclone_storage.runtime.gocean.given import truth_pair
from psyclone_storage.runtime.gocean.points import Offset, Points

Slices = tuple[slice, slice]
_NORMAL = (Points.U, Points.V)
"""Points of the velocity component that is normal to walls in x, and in y."""


class Boundary(Enum):
    """Behaviour of one side of a domain."""

    OPEN = "open"
    CLOSED = "closed"
    PERIODIC = "periodic"
    PRESCRIBED = "prescribed"

    @property
    def is_fixed(self) -> bool:
        """True if kernels over internal points do not compute the points on the boundary."""
        return self in (Boundary.CLOSED, Boundary.PRESCRIBED)


Sides = tuple[tuple[Boundary, Boundary], tuple[Boundary, Boundary]]
"""The boundaries at the start and at the end, in x and in y."""


def sides_of(boundaries: Any, periodic: Any) -> Sides:
    """Return the boundaries that the arguments of a grid describe.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: a name is unknown, both arguments are given, or a direction is periodic on one
            side.
    """
    if boundaries is None:
        pair = (False, False) if periodic is None else periodic
        in_x, in_y = truth_pair("the directions in which a grid is periodic", pair)
        return _both(_kind(in_x)), _both(_kind(in_y))
    if periodic is not None:
        raise ValueError("A grid takes 'boundaries' or 'periodic', not both: omit 'periodic'.")
    if isinstance(boundaries, str | Boundary):
        return _both(_named(boundaries)), _both(_named(boundaries))
    x, y = (_of_direction(one) for one in _pair(boundaries))
    return x, y


def is_periodic(sides: Sides) -> tuple[bool, bool]:
    """Return whether a domain is periodic, in x and in y."""
    (x, _), (y, _) = sides
    return x is Boundary.PERIODIC, y is Boundary.PERIODIC


def _kind(periodic: bool) -> Boundary:
    return Boundary.PERIODIC if periodic else Boundary.OPEN


def _both(kind: Boundary) -> tuple[Boundary, Boundary]:
    return kind, kind


def _pair(given: Any) -> tuple[Any, Any]:
    found = tuple(given) if isinstance(given, tuple | list) else ()
    if len(found) != 2:
        raise TypeError(
            f"The boundaries of a grid are one name, or a pair of names for x and for y, not "
            f"{given!r}."
        )
    return found[0], found[1]


def _of_direction(given: Any) -> tuple[Boundary, Boundary]:
    if isinstance(given, str | Boundary):
        return _both(_named(given))
    start, end = (_named(one) for one in _pair(given))
    if (start is Boundary.PERIODIC) is not (end is Boundary.PERIODIC):
        raise ValueError(f"The boundaries {given!r} are periodic on one side: name both.")
    return start, end


def _named(given: Any) -> Boundary:
    try:
        return Boundary(given)
    except ValueError:
        known = ", ".join(f"'{one.value}'" for one in Boundary)
        raise ValueError(f"A boundary is one of {known}, not {given!r}.") from None


@dataclass(frozen=True)
class Reflection:
    """Points of an array that are set to those of its mirror image, times `factor`."""

    target: Slices
    source: Slices
    factor: int

    def apply(self, array: Any) -> None:
        """Set the points of `array`; values without a sign are copied."""
        if self.factor == 0:
            array[self.target] = 0
        elif self.factor < 0 and array.dtype.kind not in "ub":
            array[self.target] = -array[self.source]
        else:
            array[self.target] = array[self.source]


@dataclass(frozen=True)
class _Side:
    """One side of the domain in one direction, in the indices of a rank's arrays.

    - `wall`: twice the index of the boundary.
    - `reached`: the first and the last index of the rank's points and halo.
    """

    axis: int
    is_end: bool
    wall: int
    reached: tuple[int, int]

    @property
    def on_wall(self) -> slice:
        """The points on the boundary, if the rank has them."""
        at = self.wall // 2
        return slice(at, at + 1) if self.wall % 2 == 0 and self._has(at) else slice(0, 0)

    @property
    def beyond(self) -> slice:
        """The points beyond the boundary."""
        first, last = self.reached
        if self.is_end:
            return slice(max(first, self.wall // 2 + 1), last + 1)
        return slice(first, max(first, min(last + 1, (self.wall + 1) // 2)))

    @property
    def mirrored(self) -> slice:
        """The mirror image of the points beyond the boundary, in their order."""
        beyond = self.beyond
        stop = self.wall - beyond.stop
        return slice(self.wall - beyond.start, stop if stop >= 0 else None, -1)

    def _has(self, index: int) -> bool:
        return self.reached[0] <= index <= self.reached[1]

    def across(self, part: slice) -> Slices:
        """Return the index for `part` in this direction and for all points in the other."""
        return (part, slice(None)) if self.axis == 0 else (slice(None), part)


def _sides_at(
    decomposition: Decomposition, rank: int, points: Points, offset: Offset, depth: int
) -> Iterator[_Side]:
    """Yield all sides of the domain for a rank, up to a depth of its halo."""
    own = decomposition.subdomains[rank]
    for axis, on_side in enumerate(points.on_sides):
        first, last = own.internal.start[axis], own.internal.stop[axis] - 1
        zero = own.halo - own.domain.start[axis]
        shift = (-1 if offset is Offset.SOUTH_WEST else 1) if on_side else 0
        for is_end in (False, True):
            beyond = zero + (decomposition.points[axis] if is_end else 0)
            # Between the last T point and the first one outside, in units of half a point.
            wall = 2 * beyond - 1 - shift
            yield _Side(axis, is_end, wall, (first - depth, last + depth))


def reflections(
    decomposition: Decomposition, rank: int, sides: Sides, kind: tuple[Points, Offset], depth: int
) -> tuple[Reflection, ...]:
    """Return the reflections at closed boundaries for a kind of points, up to a halo depth.

    Reflections in y follow those in x, so that corners are reflected twice.
    """
    points, offset = kind
    if points is Points.ALL:
        return ()
    found = []
    for one in _sides_at(decomposition, rank, points, offset, depth):
        if sides[one.axis][one.is_end] is not Boundary.CLOSED:
            continue
        is_normal = points is _NORMAL[one.axis]
        if is_normal and one.on_wall.stop:
            found.append(Reflection(one.across(one.on_wall), one.across(one.on_wall), 0))
        if one.beyond.start < one.beyond.stop:
            target, source = one.across(one.beyond), one.across(one.mirrored)
            found.append(Reflection(target, source, -1 if is_normal else 1))
    return tuple(found)


def prescribed_parts(
    decomposition: Decomposition, rank: int, sides: Sides, kind: tuple[Points, Offset]
) -> Iterator[Slices]:
    """Yield the points of a rank's arrays on and beyond prescribed boundaries."""
    points, offset = kind
    for one in _sides_at(decomposition, rank, points, offset, decomposition.subdomains[rank].halo):
        if sides[one.axis][one.is_end] is Boundary.PRESCRIBED:
            for part in (one.on_wall, one.beyond):
                if part.start < part.stop:
                    yield one.across(part)
