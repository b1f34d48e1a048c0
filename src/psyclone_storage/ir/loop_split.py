"""The parts that a loop is cut into, so that its interior can run while halos are on their way.

A loop over cells has two: the cells that are far enough inside, which come first in their order,
and the rim. One over a grid has five: a box of points far enough inside, the rows to the south and
to the north of it over their whole length, and what is left of its own rows to the west and to the
east. Each iteration is in one part, also where the interior is empty.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.region import NOTHING, Depth, describe_depth


class PeelSection(Enum):
    """Part of a split loop."""

    INTERIOR = "interior"
    RIM = "rim"
    SOUTH = "south"
    NORTH = "north"
    WEST = "west"
    EAST = "east"


SECTIONS_OF_CELLS = (PeelSection.INTERIOR, PeelSection.RIM)
SECTIONS_OF_POINTS = (
    PeelSection.INTERIOR,
    PeelSection.SOUTH,
    PeelSection.NORTH,
    PeelSection.WEST,
    PeelSection.EAST,
)
"""The parts in the order in which they run."""


@dataclass(frozen=True, slots=True)
class Margins:
    """Number of owned points between the interior of a rank and each of its edges."""

    west: int = 0
    east: int = 0
    south: int = 0
    north: int = 0

    def max(self, other: Margins) -> Margins:
        """Return the larger margin on each side."""
        return Margins(
            max(self.west, other.west),
            max(self.east, other.east),
            max(self.south, other.south),
            max(self.north, other.north),
        )

    def covers(self, other: Margins) -> bool:
        """Return whether no margin of `other` is larger."""
        return self.max(other) == self


@dataclass(frozen=True, slots=True)
class Interior:
    """Distance from the border of a rank at which an iteration reads no halo.

    Cells are at least `depth` levels inside: those of the edge are at level 0. Points of a grid
    keep `margins`, which cells have none of.
    """

    depth: Depth = NOTHING
    margins: Margins | None = None


@dataclass(frozen=True, slots=True)
class Peel:
    """That a loop is a part of what was the loop `of`, cut where its interior ends."""

    section: PeelSection
    interior: Interior
    of: str


def describe_peel(peel: Peel) -> str:
    """Return which part of a loop one is: `interior at depth 2`, `south of the interior`."""
    if peel.section is PeelSection.RIM:
        return f"rim outside of depth {describe_depth(peel.interior.depth)}"
    if peel.section is not PeelSection.INTERIOR:
        return f"{peel.section.value} of the interior"
    margins = peel.interior.margins
    if margins is None:
        return f"interior at depth {describe_depth(peel.interior.depth)}"
    sides = [("west", margins.west), ("east", margins.east)]
    sides += [("south", margins.south), ("north", margins.north)]
    kept = ", ".join(f"{side} {points}" for side, points in sides if points)
    return f"interior, margins {kept or 'of no points'}"
