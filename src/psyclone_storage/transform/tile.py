"""Strips and tiles of a loop nest: iterations that are close to each other run together."""

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
    """Strip-mine a loop over a grid: chunks of `size` rows or columns, and a loop over each chunk.

    The loop keeps its name and counts chunks; the one inside is called `chunk(<loop>)`. The last
    chunk contains the remaining rows or columns. The order of the points does not change, so that
    the legality depends only on the shape of the loop.

    Refused for statements that are not loops over rows or columns, or a size below 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  loop1 over tiles of rows { chunk(loop1) over rows of a tile { columns@loop1 { k } } }
    """

    name: ClassVar[str] = "chunk-loop"

    size: int = 32

    def check_options(self, loop: Loop) -> Reasons:
        """Return that a chunk has no iterations."""
        return _check_size(self.size, place_of(loop))

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return all reasons against chunks."""
        return check_strip_mine(nest)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Loop:
        """Return the loop over chunks."""
        return strip_mine(loop, partial(strips_of_points, size=self.size, word="chunk"))


@dataclass(frozen=True, slots=True)
class TileLoops(OnScheduleNest):
    """Visit the points of a grid tile by tile, each of `rows` rows and `columns` columns.

    Data that the points of a tile share stay in the cache. The two loops keep their names and count
    tiles; those inside, `tile(<loop>)`, count the points of one. Tiles at the ends contain the
    remaining points.

    Refused unless the loops are over rows and columns with nothing between them, no point depends
    on one to the north-west or south-east of it, and the sizes are at least 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  loop1 over tiles of rows { columns@loop1 over tiles of columns {
            tile(loop1) over rows of a tile { tile(columns@loop1) over columns of a tile { k } } } }
    """

    name: ClassVar[str] = "tile-loops"

    rows: int = 32
    columns: int = 32

    def check_options(self, loop: Loop) -> Reasons:
        """Return that a tile has no rows or no columns."""
        place = place_of(loop)
        return (*_check_size(self.rows, place), *_check_size(self.columns, place))

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return all reasons against tiles."""
        return check_tile(nest)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Loop:
        """Return the two loops over tiles around those over the points of a tile."""
        return tile(loop, self._strips)

    def _strips(self, loop: Loop) -> tuple[Loop, Loop]:
        size = self.rows if loop.over is Over.ROWS else self.columns
        return strips_of_points(loop, size, "tile")


@dataclass(frozen=True, slots=True)
class TileColumns(OnScheduleNest):
    """Let threads share tiles of `size` columns, each visited row by row, where rows must wait.

    It is for kernels whose columns, but not rows, may run in parallel. Each thread has columns of
    its own, and visits their rows in order; inside of a tile the points of a row are contiguous, as
    Fortran stores them. Threads share a cache line at most at the border of two tiles, and each row
    of a tile is long enough for vectorisation. The loop over columns keeps its name and counts
    tiles; the one inside, `tile(<loop>)`, counts the columns of one. The last tile contains the
    remaining columns.

    Refused unless the loop is over rows, with one over columns and nothing between them; where
    threads may share rows, or a point depends on one of another column; or a size below 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  columns@loop1 over tiles of columns { loop1 over rows {
            tile(columns@loop1) over columns of a tile { k } } }
    """

    name: ClassVar[str] = "tile-columns"

    size: int = 64

    def check_options(self, loop: Loop) -> Reasons:
        """Return that a tile has no columns."""
        return _check_size(self.size, place_of(loop))

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return all reasons against tiles, and that they gain nothing.

        Tiles that may run at the same time hold columns that do not depend on each other. So only
        the order of the rows of each column matters, and that stays.
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
    """Cut a loop in a kernel into chunks of `size` iterations, in the same order.

    before: do k = 1, n
    after:  do k_chunk = 1, n, 32; do k = k_chunk, min(k_chunk + 31, n)
    """

    name: ClassVar[str] = "kernel-chunk"

    size: int = 32

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return all reasons against chunks of the loop."""
        return _check_points(self.size) or check_strip_mine(nest)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the loop in chunks."""
        return strip_mine_loop(code, self.loop, self.size)


@dataclass(frozen=True, slots=True)
class TileInKernel(OnKernelNest):
    """Run a loop in a kernel and the loop that is all of its body in tiles of `size` by `size`.

    `inner` is another size for the inner loop, 0 for the same one. Refused where the two must not
    be swapped, and where the step of one is not 1.

    before: do i = 1, n; do j = 1, m
    after:  do i_chunk; do j_chunk; do i in its chunk; do j in its chunk
    """

    name: ClassVar[str] = "kernel-tile"

    size: int = 32
    inner: int = 0

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return all reasons against tiles of the two loops."""
        return _check_points(self.size, self.inner or 1) or check_tile(nest)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the two loops in tiles."""
        return tile_loops(code, self.loop, self.size, self.inner or self.size)


def _check_size(size: int, place: Span | None) -> Reasons:
    if size >= 1:
        return ()
    message = f"A tile cannot have {size} rows or columns."
    return (Diagnostic("T017", message, place, hint="Give 1 or more."),)


def _check_points(*sizes: int) -> Reasons:
    return tuple(
        Diagnostic("T017", f"A tile has at least one point in each direction, not {size}.")
        for size in sizes
        if size < 1
    )
