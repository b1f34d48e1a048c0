"""Tiles of a grid: points that are close to each other, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.schedules.grid import may_reorder_points
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Schedule, Statement
from psyclone_storage.ir.walk import (
    place_near,
    place_of,
    replaced,
    statements,
)
from psyclone_storage.transform.nest import POINTS, check_nest, gains_nothing, inner_of
from psyclone_storage.transform.step import (
    Place,
    Reasons,
    loop_named,
    not_a_loop,
    under_directive,
)

_SPLIT = {
    Over.ROWS: (Over.ROW_TILES, Over.ROWS_OF_TILE),
    Over.COLUMNS: (Over.COLUMN_TILES, Over.COLUMNS_OF_TILE),
}


@dataclass(frozen=True, slots=True)
class StripMineLoop:
    """Let a loop over a grid count chunks of `size` rows or columns, and one inside the rest.

    The loop keeps its name and counts chunks; the one inside is called `chunk(<loop>)`. The last
    chunk is as large as what is left. The order of the points does not change, so that only the
    shape of the loop can speak against it.

    Refused for what is not a loop over rows or columns, or a size below 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  loop1 over tiles of rows { chunk(loop1) over rows of a tile { columns@loop1 { k } } }
    """

    name: ClassVar[str] = "chunk-loop"

    loop: str
    size: int = 32

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop over rows."""
        yield from _loops_over_rows(schedule)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against chunks."""
        if problems := not_a_loop(schedule, self.loop):
            return problems
        loop = loop_named(schedule, self.loop)
        place = place_near(schedule, self.loop)
        reasons = (*under_directive(schedule, self.loop), *_size_reasons(self.size, place))
        if loop.over in POINTS:
            return reasons
        message = f"'{loop.uid}' counts {loop.over.value}, not rows or columns of a grid."
        return (*reasons, Diagnostic("T016", message, place_of(loop)))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with two loops in the place of one."""
        raise_if_any(self.check(schedule, rules))
        loop = loop_named(schedule, self.loop)
        inside = _inside(loop, f"chunk({loop.uid})", self.size, loop.body)
        return replaced(schedule, loop.uid, _over_tiles(loop, self.size, inside))


@dataclass(frozen=True, slots=True)
class TileLoops:
    """Visit the points of a grid tile by tile, each of `rows` rows and `columns` columns.

    What the points of a tile share stays in the cache. The two loops keep their names and count
    tiles; those inside, `tile(<loop>)`, count the points of one. Tiles at the ends are as large as
    what is left.

    Refused unless the loops are over rows and columns with nothing between them, no point depends
    on one to the north-west or south-east of it, and the sizes are at least 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  loop1 over tiles of rows { columns@loop1 over tiles of columns {
            tile(loop1) over rows of a tile { tile(columns@loop1) over columns of a tile { k } } } }
    """

    name: ClassVar[str] = "tile-loops"

    loop: str
    rows: int = 32
    columns: int = 32

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop over rows."""
        yield from _loops_over_rows(schedule)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against tiles."""
        if problems := not_a_loop(schedule, self.loop):
            return problems
        loop = loop_named(schedule, self.loop)
        reasons = under_directive(schedule, self.loop)
        place = place_of(loop)
        reasons += (*_size_reasons(self.rows, place), *_size_reasons(self.columns, place))
        if problems := check_nest(loop):
            return (*reasons, *problems)
        return (*reasons, *may_reorder_points(schedule, loop))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with four loops in the place of two."""
        raise_if_any(self.check(schedule, rules))
        outer = loop_named(schedule, self.loop)
        inner = inner_of(outer)
        first, second = self._size(outer), self._size(inner)
        points = _inside(inner, f"tile({inner.uid})", second, inner.body)
        lines = _inside(outer, f"tile({outer.uid})", first, (points,))
        tiles = _over_tiles(outer, first, _over_tiles(inner, second, lines))
        return replaced(schedule, outer.uid, tiles)

    def _size(self, loop: Loop) -> int:
        return self.rows if loop.over is Over.ROWS else self.columns


@dataclass(frozen=True, slots=True)
class TileColumns:
    """Let threads share tiles of `size` columns, each visited row by row, where rows must wait.

    It is for kernels whose columns, but not rows, may run in parallel. Each thread has columns of
    its own, of which it does the rows in their order; inside of a tile the points of a row follow
    one another, as Fortran stores them. Threads share a cache line at most where two tiles meet,
    and each row of a tile is long enough for vectors. The loop over columns keeps its name and
    counts tiles; the one inside, `tile(<loop>)`, counts the columns of one. The last tile is as
    large as what is left.

    Refused unless the loop is over rows, with one over columns and nothing between them; where
    threads may share rows, or a point depends on one of another column; or a size below 1.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  columns@loop1 over tiles of columns { loop1 over rows {
            tile(columns@loop1) over columns of a tile { k } } }
    """

    name: ClassVar[str] = "tile-columns"

    loop: str
    size: int = 64

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop over rows."""
        yield from _loops_over_rows(schedule)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against tiles, and that they gain nothing.

        Tiles that may run at the same time hold columns that do not depend on each other. So only
        the order of the rows of each column matters, and that stays.
        """
        if problems := not_a_loop(schedule, self.loop):
            return problems
        loop = loop_named(schedule, self.loop)
        place = place_of(loop)
        reasons = (*under_directive(schedule, self.loop), *_size_reasons(self.size, place))
        if problems := check_nest(loop):
            return (*reasons, *problems)
        if loop.over is not Over.ROWS:
            message = f"'{loop.uid}' counts {loop.over.value}, not rows."
            return (*reasons, Diagnostic("T016", message, place))
        return (*reasons, *gains_nothing(schedule, rules, loop, self._tiled(loop)))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with three loops in the place of two."""
        raise_if_any(self.check(schedule, rules))
        return replaced(schedule, self.loop, self._tiled(loop_named(schedule, self.loop)))

    def _tiled(self, outer: Loop) -> Loop:
        inner = inner_of(outer)
        points = _inside(inner, f"tile({inner.uid})", self.size, inner.body)
        return _over_tiles(inner, self.size, replace(outer, body=(points,)))


def _over_tiles(loop: Loop, size: int, inside: Loop) -> Loop:
    return replace(loop, over=_SPLIT[loop.over][0], tile=size, body=(inside,))


def _inside(loop: Loop, uid: str, size: int, body: tuple[Statement, ...]) -> Loop:
    return replace(loop, uid=uid, over=_SPLIT[loop.over][1], tile=size, body=body)


def _size_reasons(size: int, place: Span | None) -> Reasons:
    if size >= 1:
        return ()
    message = f"A tile cannot have {size} rows or columns."
    return (Diagnostic("T017", message, place, hint="Give 1 or more."),)


def _loops_over_rows(schedule: Schedule) -> Iterator[Place]:
    for item in statements(schedule):
        if isinstance(item, Loop) and item.over is Over.ROWS:
            yield {"loop": item.uid}
