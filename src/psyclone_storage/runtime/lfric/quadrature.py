"""LFRic quadratures: points and weights in the reference cell, from the Fortran library."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.lfric.library import Array, infrastructure, numbers_of
from psyclone_storage.runtime.ranks import SingleRank

RULES = ("gaussian", "gauss_lobatto", "newton_cotes", "segment_centre")
"""The rules, in the order of their numbers in the library."""
_PARTS = {"all": (1, 1), "horizontal": (1, 0), "vertical": (0, 1)}
_FACES = (4, 2)
_EDGES = (8, 4)


@cache
def _fill(function: str, rule: str, *arguments: Any, shapes: tuple[Any, ...]) -> tuple[Array, ...]:
    """Return arrays filled by a library function; equal arguments return the same arrays.

    The arrays of a rule are thus copied to a device once.

    Raises:
        ValueError: the rule is unknown, or requires more points.
    """
    if rule not in RULES:
        known = ", ".join(f"'{one}'" for one in RULES)
        raise ValueError(f"A rule is one of {known}, not '{rule}'.")
    made = tuple(np.empty(shape, order="F") for shape in shapes)
    addresses = [array.ctypes.data for array in made]
    passed = [numbers_of(one) if isinstance(one, tuple) else one for one in arguments]
    number = RULES.index(rule) + 1
    if infrastructure(SingleRank()).call(function, number, *passed, *addresses):
        raise ValueError(f"The rule '{rule}' is not one of so few points.")
    for array in made:
        array.flags.writeable = False
    return made


def _checked(count: int) -> int:
    if count < 1:
        raise ValueError(f"A quadrature has at least one point in each direction, not {count}.")
    return count


@dataclass(frozen=True)
class QuadratureXYoZ:
    """A quadrature over the volume of a cell: horizontal points times vertical points.

    By default, there are as many points in y and in z as in x.
    """

    np_x: int
    np_y: int = 0
    np_z: int = 0
    rule: str = "gaussian"

    def __post_init__(self) -> None:
        """Set default values, and check that the quadrature exists."""
        _checked(self.np_x)
        object.__setattr__(self, "np_y", _checked(self.np_y or self.np_x))
        object.__setattr__(self, "np_z", _checked(self.np_z or self.np_x))
        _ = self._arrays

    @cached_property
    def _arrays(self) -> tuple[Array, ...]:
        numbers = self.np_x, self.np_y, self.np_z
        shapes = ((self.np_xy, 2), self.np_z, self.np_xy, self.np_z)
        return _fill("quadrature_xyoz", self.rule, numbers, shapes=shapes)

    @property
    def np_xy(self) -> int:
        """The number of horizontal points."""
        return self.np_x * self.np_y

    @property
    def points_xy(self) -> Array:
        """The horizontal points, with the indices (point, xy); y varies fastest."""
        return self._arrays[0]

    @property
    def points_z(self) -> Array:
        """The vertical points."""
        return self._arrays[1]

    @property
    def weights_xy(self) -> Array:
        """The weights of the horizontal points."""
        return self._arrays[2]

    @property
    def weights_z(self) -> Array:
        """The weights of the vertical points."""
        return self._arrays[3]

    @cached_property
    def points(self) -> Array:
        """All points, with the indices (xyz, horizontal point, vertical point)."""
        found = np.empty((3, self.np_xy, self.np_z), order="F")
        found[:2] = self.points_xy.T[:, :, np.newaxis]
        found[2] = self.points_z
        return found


class _OfParts:
    """Base class of quadratures over the faces or edges of a cell."""

    @cached_property
    def _arrays(self) -> tuple[Array, ...]:
        raise NotImplementedError

    @property
    def points_xyz(self) -> Array:
        """The points, with the indices (xyz, point, part); a part is a face or an edge."""
        return self._arrays[0]

    @property
    def points(self) -> Array:
        """The points, with the indices (xyz, point, part); a part is a face or an edge."""
        return self._arrays[0]

    @property
    def weights_xyz(self) -> Array:
        """The weights, with the indices (point, part); a part is a face or an edge."""
        return self._arrays[1]


@dataclass(frozen=True)
class QuadratureFace(_OfParts):
    """A quadrature over all faces of a cell, or over its `horizontal` or `vertical` faces.

    Horizontal faces are the side faces. A face has `np_1` points in one direction and `np_2`, by
    default `np_1`, in the other.
    """

    np_1: int
    np_2: int = 0
    faces: str = "all"
    rule: str = "gaussian"

    def __post_init__(self) -> None:
        """Set default values, and check that the quadrature exists."""
        _checked(self.np_1)
        object.__setattr__(self, "np_2", _checked(self.np_2 or self.np_1))
        _ = self._arrays

    @cached_property
    def _arrays(self) -> tuple[Array, ...]:
        shapes = ((3, self.np_xyz, self.nfaces), (self.np_xyz, self.nfaces))
        numbers = self.np_1, self.np_2
        return _fill("quadrature_face", self.rule, numbers, *_parts(self.faces), shapes=shapes)

    @property
    def np_xyz(self) -> int:
        """The number of points on a face."""
        return self.np_1 * self.np_2

    @property
    def nfaces(self) -> int:
        """The number of faces."""
        return int(np.dot(_parts(self.faces), _FACES))


@dataclass(frozen=True)
class QuadratureEdge(_OfParts):
    """A quadrature over all edges of a cell, or over its `horizontal` or `vertical` edges."""

    np_1: int
    edges: str = "all"
    rule: str = "gaussian"

    def __post_init__(self) -> None:
        """Check that the quadrature exists."""
        _checked(self.np_1)
        _ = self._arrays

    @cached_property
    def _arrays(self) -> tuple[Array, ...]:
        shapes = ((3, self.np_1, self.nedges), (self.np_1, self.nedges))
        return _fill("quadrature_edge", self.rule, self.np_1, *_parts(self.edges), shapes=shapes)

    @property
    def np_xyz(self) -> int:
        """The number of points on an edge."""
        return self.np_1

    @property
    def nedges(self) -> int:
        """The number of edges."""
        return int(np.dot(_parts(self.edges), _EDGES))


def _parts(word: str) -> tuple[int, int]:
    if word not in _PARTS:
        raise ValueError(f"Faces and edges are 'all', 'horizontal' or 'vertical', not '{word}'.")
    return _PARTS[word]


Quadrature: TypeAlias = QuadratureXYoZ | QuadratureFace | QuadratureEdge
