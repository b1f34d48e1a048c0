"""Colouring: cells in groups of which no two share a dof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.schedules.races import changes_shared_dofs
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Reach, Schedule
from psyclone_storage.ir.walk import (
    outer_loops,
    place_of,
    replaced,
)
from psyclone_storage.transform.step import (
    Place,
    Reasons,
    loop_named,
    not_a_loop,
    part_of_a_split,
    under_directive,
)


@dataclass(frozen=True, slots=True)
class ColourLoop:
    """Visit the cells of a loop colour by colour, so that those of one colour can run in parallel.

    The loop keeps its name and counts colours; the one inside is called `cells(<loop>)`. It goes as
    far into the halo as before. Fields between two meshes take the colours of the coarse one
    (seed, "Colouring").

    With `tiling` it counts colours of tiles, as the mesh was made with; `tiles(<loop>)` inside it
    counts the tiles of a colour and `cells(<loop>)` the cells of a tile, one after the other. Tiles
    of one colour share no dof.

    Refused unless two cells may change one dof: a kernel that writes discontinuous fields or
    operators only gains nothing from colours and would lose locality.

    before: loop1 over cells { k(u: inc w0) }
    after:  loop1 over colours { cells(loop1) over cells of a colour { k(u: inc w0) } }
    """

    name: ClassVar[str] = "colour"

    loop: str
    tiling: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop over cells that no other loop is around."""
        for loop in outer_loops(schedule):
            if loop.over is Over.CELLS:
                yield {"loop": loop.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against colouring."""
        if problems := not_a_loop(schedule, self.loop):
            return problems
        loop = loop_named(schedule, self.loop)
        reasons = list(under_directive(schedule, self.loop))
        reasons += part_of_a_split(schedule, self.loop)
        if loop.over is not Over.CELLS:
            message = f"'{loop.uid}' runs over {loop.over.value}, which have no colours."
            reasons.append(Diagnostic("T005", message, place_of(loop)))
        elif not changes_shared_dofs(rules, loop):
            message = (
                f"Colours do not help '{loop.uid}': no two cells change a dof that they share."
            )
            hint = "Run it in parallel as it is."
            reasons.append(Diagnostic("T006", message, place_of(loop), hint=hint))
        if loop.extent.reach is Reach.HALO_ONLY:
            message = f"'{loop.uid}' leaves the owned cells out, but a colour starts with those."
            reasons.append(Diagnostic("T005", message, place_of(loop)))
        return tuple(reasons)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with a loop over colours around the loop."""
        raise_if_any(self.check(schedule, rules))
        loop = loop_named(schedule, self.loop)
        if self.tiling:
            return replaced(schedule, loop.uid, _in_tiles(loop))
        cells = replace(loop, uid=f"cells({loop.uid})", over=Over.CELLS_OF_COLOUR)
        coloured = Loop(loop.uid, Over.COLOURS, loop.extent, loop.bounds_from, (cells,))
        return replaced(schedule, loop.uid, coloured)


def _in_tiles(loop: Loop) -> Loop:
    cells = replace(loop, uid=f"cells({loop.uid})", over=Over.CELLS_OF_TILE)
    tiles = replace(loop, uid=f"tiles({loop.uid})", over=Over.TILES_OF_COLOUR, body=(cells,))
    return replace(loop, over=Over.TILE_COLOURS, body=(tiles,))
