"""Levels of the halo of a field on a grid, for run-time checks.

A level consists of the points at one distance from a rank's own points. Only points that an
exchange receives or copies belong to it: those beyond closed or prescribed boundaries of a rank
have no other owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from psyclone_storage.runtime.gocean.boundaries import Slices
from psyclone_storage.runtime.gocean.field import Field
from psyclone_storage.runtime.halo_checks import HaloChecks
from psyclone_storage.runtime.ranks import Ranks


class GridHalo:
    """The halo of a field on a grid."""

    has_annexed = False

    def __init__(self, field: Field) -> None:
        """Store the field."""
        self._field = field

    @property
    def ranks(self) -> Ranks:
        """The ranks of the grid."""
        ranks: Ranks = self._field.grid.ranks
        return ranks

    @property
    def depth(self) -> int:
        """The width of the halo in points."""
        return self._field.grid.halo

    def new_field(self) -> Field:
        """Return a field of zeros on the same points."""
        one = self._field
        return Field(one.grid, one.points, dtype=one.storage.dtype, layers=one.layers)

    def first_level(self, differs: Any, depth: int) -> int | None:
        """Return the distance of the nearest true point that an exchange to `depth` sets."""
        seen = np.zeros(differs.shape[:2], bool)
        for box in self._boxes(depth):
            seen[box] |= differs[box].reshape(*seen[box].shape, -1).any(axis=-1)
        places = np.argwhere(seen)
        if not places.size:
            return None
        own = self._field.grid.subdomain.internal
        outside = np.maximum(np.subtract(own.start, places), places - own.stop + 1)
        return min(int(outside.max(axis=1).min()), depth)

    def dirty_parts(self, clean: int, annexed: bool) -> Iterator[Slices]:
        """Yield all points that an exchange sets; loops over grids leave no level clean."""
        yield from self._boxes(self.depth)

    def _boxes(self, depth: int) -> Iterator[Slices]:
        plan = self._field.grid.plan(depth)
        for message in plan.received:
            yield from (region.box for region in message.regions)
        yield from (target.box for _, target in plan.copied)


halo_checks = HaloChecks(GridHalo)
