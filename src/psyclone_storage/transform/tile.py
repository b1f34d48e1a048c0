"""Strip-mining and tiling of loop nests."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from psyclone_storage.analysis.bodies.nests import CodeFootprint
from psyclone_storage.analysis.footprints import Reasons, check_strip_mine, check_tile
from psyclone_storage.analysis.schedules.nests import LoopFootprint
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Schedule
from psyclone_storage.ir.walk import place_of
from psyclone_storage.passes.loops import strip_mine_loop, tile_loops
from psyclone_storage.passes.nests import strip_mine, strips_of_points, tile, tile_inner
from psyclone_storage.transform.nests import OnKernelNest, OnScheduleNest, check_gain


@dataclass(frozen=True, slots=True)
class StripMineLoop(OnScheduleNest):
    """Strip-mine a loop over a grid: a loop over chunks of `size` rows or columns, and one inside.

    The loop keeps its name and iterates over chunks; the inner loop is named `chunk(<loop>)`. The
    last chunk contains the remaining rows or columns. The order of the points does not change, so
    the legality depends only on the form of the loop.

    Rejected for statements that are not loops over rows or columns, and for a size below 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  loop1 over tiles of rows { chunk(loop1) over rows of a tile { columns@loop1 { k } } }
    """

    name: ClassVar[str] = "chunk-loop"

    size: int = 32

    def check_options(self, loop: Loop) -> Reasons:
        """Return diagnostics if the chunk size is invalid."""
        return _check_size(self.size, place_of(loop))

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return diagnostics if the loop cannot be strip-mined."""
        return check_strip_mine(nest)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Loop:
        """Return the loop over chunks."""
        return strip_mine(loop, partial(strips_of_points, size=self.size, word="chunk"))


@dataclass(frozen=True, slots=True)
class TileLoops(OnScheduleNest):
    """Visit the points of a grid in tiles of `rows` rows and `columns` columns.

    Data that the points of a tile share stay in the cache. The two loops keep their names and
    iterate over tiles; the inner loops, `tile(<loop>)`, iterate over the points of a tile. Tiles at
    the ends contain the remaining points.

    Rejected unless the loops are over rows and columns with nothing between them, no point depends
    on a point to the north-west or south-east, and the sizes are at least 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  loop1 over tiles of rows { columns@loop1 over tiles of columns {
            tile(loop1) over rows of a tile { tile(columns@loop1) over columns of a tile { k } } } }
    """

    name: ClassVar[str] = "tile-loops"

    rows: int = 32
    columns: int = 32

    def check_options(self, loop: Loop) -> Reasons:
        """Return diagnostics if the tile size is invalid."""
        place = place_of(loop)
        return (*_check_size(self.rows, place), *_check_size(self.columns, place))

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return diagnostics if the loops cannot be tiled."""
        return check_tile(nest)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Loop:
        """Return the two loops over tiles around those over the points of a tile."""
        return tile(loop, self._strips)

    def _strips(self, loop: Loop) -> tuple[Loop, Loop]:
        size = self.rows if loop.over is Over.ROWS else self.columns
        return strips_of_points(loop, size, "tile")


@dataclass(frozen=True, slots=True)
class TileColumns(OnScheduleNest):
    """Let threads share tiles of `size` columns, each processed row by row.

    The step is for kernels whose columns can run in parallel but whose rows cannot. Each thread has
    its own columns and processes their rows in order; within a tile the points of a row are
    contiguous. Threads share cache lines only at tile borders, and each row of a tile is long
    enough for vectorisation. The loop over columns keeps its name and iterates over tiles; the
    inner loop, `tile(<loop>)`, iterates over the columns of a tile. The last tile contains the
    remaining columns.

    Rejected unless the loop is over rows and contains only a loop over columns; if rows can run in
    parallel, or a point depends on one in another column; and for a size below 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  columns@loop1 over tiles of columns { loop1 over rows {
            tile(columns@loop1) over columns of a tile { k } } }
    """

    name: ClassVar[str] = "tile-columns"

    size: int = 64

    def check_options(self, loop: Loop) -> Reasons:
        """Return diagnostics if the tile size is invalid."""
        return _check_size(self.size, place_of(loop))

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return diagnostics if tiles are illegal or gain nothing.

        Concurrent tiles contain columns that do not depend on each other, so only the order of rows
        in a column matters, and that is preserved.
        """
        if problems := nest.check_nested():
            return problems
        if nest.loop.over is not Over.ROWS:
            message = f"'{nest.loop.uid}' counts {nest.loop.over.value}, not rows."
            return (Diagnostic("T016", message, place_of(nest.loop)),)
        return check_gain(nest, self._tiled(nest.loop))

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Loop:
        """Return the loop over tiles of columns around the rows and the columns of a tile."""
        return self._tiled(loop)

    def _tiled(self, loop: Loop) -> Loop:
        return tile_inner(loop, partial(strips_of_points, size=self.size, word="tile"))


@dataclass(frozen=True, slots=True)
class StripMineInKernel(OnKernelNest):
    """Strip-mine a loop in a kernel into chunks of `size` iterations, in the same order.

    before: do k = 1, n
    after:  do k_chunk = 1, n, 32; do k = k_chunk, min(k_chunk + 31, n)
    """

    name: ClassVar[str] = "kernel-chunk"

    size: int = 32

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return diagnostics if the loop cannot be strip-mined."""
        return _check_size(self.size, nest.line.place) or check_strip_mine(nest)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the loop strip-mined."""
        return strip_mine_loop(code, self.loop, self.size)


@dataclass(frozen=True, slots=True)
class TileInKernel(OnKernelNest):
    """Tile a loop in a kernel and the loop that is its body, in tiles of `size` by `size`.

    `inner` is the size for the inner loop if it differs, otherwise 0. Rejected if the loops must
    not be interchanged, and if the step of one is not 1.

    before: do i = 1, n; do j = 1, m
    after:  do i_chunk; do j_chunk; do i in its chunk; do j in its chunk
    """

    name: ClassVar[str] = "kernel-tile"

    size: int = 32
    inner: int = 0

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return diagnostics if the loops cannot be tiled."""
        place = nest.line.place
        wrong = (*_check_size(self.size, place), *_check_size(self.inner or 1, place))
        return wrong or check_tile(nest)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the two loops tiled."""
        return tile_loops(code, self.loop, self.size, self.inner or self.size)


def _check_size(size: int, place: Span | None) -> Reasons:
    if size >= 1:
        return ()
    message = f"A tile cannot have {size} rows or columns."
    return (Diagnostic("T017", message, place, hint="Give 1 or more."),)
