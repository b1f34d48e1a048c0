"""Levels of the halo of a field on a function space, for run-time checks.

Level 0 consists of annexed dofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from psyclone_storage.runtime.halo_checks import HaloChecks
from psyclone_storage.runtime.lfric.field import DofField
from psyclone_storage.runtime.ranks import Ranks


class DofHalo:
    """The halo of a field on a function space."""

    def __init__(self, field: DofField) -> None:
        """Store the field."""
        self._field, self._space = field, field.space
        self.depth = field.halo_depth

    @property
    def ranks(self) -> Ranks:
        """The ranks of the mesh."""
        ranks: Ranks = self._field.mesh.ranks
        return ranks

    @property
    def has_annexed(self) -> bool:
        """True if this rank has annexed dofs."""
        return self._space.last_dof_annexed > self._space.last_dof_owned

    def new_field(self) -> DofField:
        """Return a field of zeros with an equal halo."""
        return DofField(self._space, dtype=self._field.dtype, halo_depth=self.depth)

    def first_level(self, differs: Any, depth: int) -> int | None:
        """Return the first level, up to `depth`, with a true value; None without any."""
        begin = self._space.last_dof_owned
        for level in range(depth + 1):
            end = self._last(level)
            if differs[begin:end].any():
                return level
            begin = end
        return None

    def dirty_parts(self, clean: int, annexed: bool) -> Iterator[slice]:
        """Yield the dofs after level `clean`, and annexed dofs if requested."""
        if annexed:
            yield slice(self._space.last_dof_owned, self._last(0))
        yield slice(self._last(clean), self._last(self.depth))

    def _last(self, level: int) -> int:
        space = self._space
        return space.last_dof_halo(level) if level else space.last_dof_annexed


halo_checks = HaloChecks(DofHalo)
