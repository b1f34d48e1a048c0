"""Parts of a split loop, whose interior can run while halo exchanges are in progress.

A loop over cells has two parts: the interior cells, which come first in cell order, and the rim. A
loop over grid points has five: an interior box, the full rows south and north of it, and the rest
of its own rows to the west and east. Each iteration belongs to exactly one part, even if the
interior is empty.
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
    """Number of owned points between the interior and each edge of a rank's subdomain."""

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
        """Return whether each margin is at least as large as in `other`."""
        return self.max(other) == self


@dataclass(frozen=True, slots=True)
class Interior:
    """Distance from the subdomain border at which an iteration reads no halo.

    Cells are at least `depth` levels inside, where border cells are at level 0. Grid points keep
    `margins`; cells have None.
    """

    depth: Depth = NOTHING
    margins: Margins | None = None


@dataclass(frozen=True, slots=True)
class Peel:
    """The part of a split loop that a loop represents.

    `of` is the uid of the loop before the split, and `interior` is where it was split.
    """

    section: PeelSection
    interior: Interior
    of: str


@dataclass(frozen=True, slots=True)
class RowStrips:
    """The place of a loop over rows in a chain of loops that run strip by strip.

    Adjacent loops with equal `chain` run together, in strips of `rows` rows. If `rows` is 0, the
    data of a strip fit in `cache` mebibytes. The loop runs `shift` rows after the strip.
    """

    chain: str
    rows: int
    cache: int
    shift: int


def describe_strips(strips: RowStrips) -> str:
    """Return a description: `in strips of 16 rows of the chain loop1, 2 rows later`."""
    delay = f", {strips.shift} rows later" if strips.shift else ""
    size = f"{strips.rows} rows" if strips.rows else f"{strips.cache} MiB"
    return f"in strips of {size} of the chain {strips.chain}{delay}"


def describe_peel(peel: Peel) -> str:
    """Return a description of the loop part: `interior at depth 2`, `south of the interior`."""
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
