"""Colouring of cells: cells of the same colour share no dof."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.races import changes_shared_dofs
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Reach, Schedule, Statement
from psyclone_storage.ir.walk import outer_loops_of, place_of
from psyclone_storage.transform.step import ReplacesLoop, check_no_directive, check_not_split


@dataclass(frozen=True, slots=True)
class ColourLoop(ReplacesLoop):
    """Visit the cells of a loop colour by colour, so that cells of one colour can run in parallel.

    The loop keeps its name and iterates over colours; the inner loop is named `cells(<loop>)`. The
    halo depth does not change. Inter-grid kernels use the colouring of the coarse mesh.

    With `tiling`, the loop iterates over colours of tiles, as defined by the mesh. `tiles(<loop>)`
    iterates over the tiles of a colour and `cells(<loop>)` sequentially over the cells of a tile.
    Tiles of one colour share no dof.

    With `for_threads`, the colours are for teams of several threads: a team of one thread visits
    the cells in the order of the mesh, and computes the same bits as a loop without colours. Cells
    of one colour are not adjacent, so colours cost one thread locality, as do tiles of one cell. A
    routine tests the number of threads once. Only OpenMP counts: on devices all loops use colours,
    as do Python programs.

    Rejected unless two cells may modify the same dof: kernels that write only discontinuous fields
    or operators would lose locality without any gain.

    before: loop1 over cells { k(u: inc w0) }
    after:  loop1 over colours { cells(loop1) over cells of a colour { k(u: inc w0) } }
    """

    name: ClassVar[str] = "colour"

    tiling: bool = False
    for_threads: bool = False

    @classmethod
    def candidates(cls, item: Statement) -> Iterable[Loop]:
        """Return every outermost loop over cells."""
        return (loop for loop in outer_loops_of(item) if loop.over is Over.CELLS)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot or need not be coloured."""
        reasons = list(check_no_directive(schedule, self.loop))
        reasons += check_not_split(schedule, self.loop)
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

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return a loop over colours that contains the loop over cells."""
        if self.tiling:
            return replace(_in_tiles(loop), for_threads=self.for_threads)
        cells = replace(loop, uid=f"cells({loop.uid})", over=Over.CELLS_OF_COLOUR)
        coloured = Loop(loop.uid, Over.COLOURS, loop.extent, loop.bounds_from, (cells,))
        return replace(coloured, for_threads=self.for_threads)


def _in_tiles(loop: Loop) -> Loop:
    cells = replace(loop, uid=f"cells({loop.uid})", over=Over.CELLS_OF_TILE)
    tiles = replace(loop, uid=f"tiles({loop.uid})", over=Over.TILES_OF_COLOUR, body=(cells,))
    return replace(loop, over=Over.TILE_COLOURS, body=(tiles,))
