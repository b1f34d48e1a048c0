"""Scenarios that the worst-case model of `check` executes a schedule in."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.analysis.schedules.same_objects import SameObjects
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.region import Depth


@dataclass(frozen=True, slots=True)
class HaloScenario:
    """One scenario: sizes, values of run-time extents and the state of halos at entry.

    `levels` is the depth of the halo of the mesh, `depths` that of fields with a shallower one.
    `whole` is what generated code finds for the whole halo: that of the mesh if it is None.
    `extents` gives a value to each name in a depth. `shared` holds the data whose dofs cells
    share. `flags` is how many levels the run-time flags call clean at entry. With `annexed_clean`,
    annexed dofs are right at entry. What is not right there holds some number if `filled`; else
    nothing has ever filled it. Where it is not `flagged`, no flags promise anything. Names in one
    set of `same` mean one object.
    """

    levels: int
    extents: Mapping[str, int]
    shared: frozenset[str]
    flags: int = 0
    annexed_clean: bool = False
    filled: bool = True
    flagged: bool = True
    depths: Mapping[str, int] = field(default_factory=dict)
    whole: int | None = None
    same: SameObjects = ()

    def depth_of(self, datum: str) -> int:
        """Return the halo depth of a field."""
        return self.depths.get(datum, self.levels)

    def number_of(self, depth: Depth) -> int:
        """Return the number of levels of a depth."""
        most, whole = 0, self.levels if self.whole is None else self.whole
        for term in depth.terms:
            levels = term.constant + (whole if term.whole else 0)
            most = max(most, levels + sum(self.extents[name] for name in term.names))
        return most
