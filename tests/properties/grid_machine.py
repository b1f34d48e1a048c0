"""An interpreter of schedules over a small grid, point by point.

It uses no dependence analysis. A kernel writes to its point a number that depends on all values
that it reads, on the point and on the call, so that a value that is read too early or too late
changes later results. At one point in five it writes nothing, which `go_write` permits. Parallel
iterations are executed backwards, or in random order. Fields on each type of points may have their
own region; a loop that was fused with a run-time test runs fused if the regions agree, otherwise
the original loops run one after the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from psyclone_storage.ir.kernel import ArgKind, GridStencil, KernelArg
from psyclone_storage.ir.schedule import (
    Axis,
    DirectiveRegion,
    KernelCall,
    Loop,
    Over,
    Schedule,
    Statement,
)
from psyclone_storage.ir.walk import kernel_calls, statements

FIRST, LAST_ROW, LAST_COLUMN = 4, 9, 10
WIDTH = 3
PRIME = 10007

Order = Callable[[list[int]], list[int]]
Values = dict[str, dict[tuple[int, int], int]]

Region = tuple[int, int, int]
"""The first index, the last row and the last column."""
EVERYWHERE: Region = (FIRST, LAST_ROW, LAST_COLUMN)
SAME: Mapping[str, Region] = {}
STAGGERED: Mapping[str, Region] = {
    "go_cu": (FIRST, LAST_ROW, LAST_COLUMN - 1),
    "go_cv": (FIRST, LAST_ROW - 1, LAST_COLUMN),
    "go_cf": (FIRST - 1, LAST_ROW - 1, LAST_COLUMN - 1),
}

TILES = (Over.ROW_TILES, Over.COLUMN_TILES)
INSIDE = (Over.ROWS_OF_TILE, Over.COLUMNS_OF_TILE)


def backwards(numbers: list[int]) -> list[int]:
    """Return the iterations of a parallel loop from last to first."""
    return numbers[::-1]


def shuffled(seed: int) -> Order:
    """Return what puts the iterations of a parallel loop into some other order."""
    rng = random.Random(seed)

    def order(numbers: list[int]) -> list[int]:
        return rng.sample(numbers, len(numbers))

    return order


def start_values(names: Sequence[str]) -> Values:
    """Return a number for every point of every field, halo included."""
    return {
        name: {
            (i, j): (7919 * at + 131 * i + 17 * j * j + 3) % PRIME
            for i in range(FIRST - WIDTH, LAST_COLUMN + WIDTH + 1)
            for j in range(FIRST - WIDTH, LAST_ROW + WIDTH + 1)
        }
        for at, name in enumerate(names)
    }


def run(schedule: Schedule, order: Order = list, regions: Mapping[str, Region] = SAME) -> Values:
    """Return the fields, and the scalars as fields of one point, after `schedule`."""
    values = start_values([datum.name for datum in schedule.data])
    machine = _Machine(values, order, regions)
    for statement in schedule.body:
        machine.decide(statement)
    return values


@dataclass
class _Machine:
    values: Values
    order: Order
    regions: Mapping[str, Region] = field(default_factory=dict)
    only: frozenset[str] | None = None
    point: dict[Axis, int] = field(default_factory=dict)
    tile: dict[Axis, int] = field(default_factory=dict)

    def decide(self, statement: Statement) -> None:
        """Do `statement` as it stands if all bounds agree, else each of its loops by itself."""
        assert isinstance(statement, Loop | DirectiveRegion)
        inside = (statement, *statements(statement))
        fused = [item for item in inside if isinstance(item, Loop) and item.parts]
        if all(map(self._agree, fused)):
            self.do(statement, parallel=False)
            return
        cuts = {part.call for loop in fused for part in loop.parts}
        for loop in fused:
            own = {call.uid for call in kernel_calls(loop)}
            uids = [call.uid for call in kernel_calls(statement)]
            after = uids[max(place for place, uid in enumerate(uids) if uid in own) + 1 :]
            cuts |= set(after[:1])
        alone: list[list[str]] = [[]]
        for call in kernel_calls(statement):
            if call.uid in cuts:
                alone.append([])
            alone[-1].append(call.uid)
        for group in alone:
            self.only = frozenset(group)
            self.do(statement, parallel=False)
        self.only = None

    def _agree(self, loop: Loop) -> bool:
        calls = {call.uid: call for call in kernel_calls(loop)}
        found = {self._bounds(loop, calls[part.call], part.bounds_from) for part in loop.parts}
        return len(found) == 1

    def _bounds(self, loop: Loop, call: KernelCall, position: int) -> tuple[int, int]:
        space = call.kernel.args[position].space
        first, last_row, last_column = self.regions.get(space, EVERYWHERE)
        return first, last_column if loop.over.axis is Axis.EAST else last_row

    def do(self, statement: Statement, *, parallel: bool) -> None:
        match statement:
            case DirectiveRegion(directive=directive, body=body):
                for inside in body:
                    self.do(inside, parallel=directive.shares_work)
            case Loop():
                self._loop(statement, parallel)
            case KernelCall():
                self._call(statement)
            case _:
                raise AssertionError(f"{statement.uid} is nothing that one process does")

    def _loop(self, loop: Loop, parallel: bool) -> None:
        axis = loop.over.axis
        assert axis is not None
        calls = [call for call in kernel_calls(loop) if self.only is None or call.uid in self.only]
        if not calls:
            return
        positions = {part.call: part.bounds_from for part in loop.parts}
        first, last = self._bounds(loop, calls[0], positions.get(calls[0].uid, loop.bounds_from))
        if loop.over in TILES:
            numbers = list(range(first, last + 1, loop.tile))
        elif loop.over in INSIDE:
            start = self.tile[axis]
            numbers = list(range(start, min(start + loop.tile - 1, last) + 1))
        else:
            numbers = list(range(first, last + 1))
        for number in self.order(numbers) if parallel else numbers:
            (self.tile if loop.over in TILES else self.point)[axis] = number
            for inside in loop.body:
                self.do(inside, parallel=False)

    def _call(self, call: KernelCall) -> None:
        if self.only is not None and call.uid not in self.only:
            return
        here = (self.point[Axis.EAST], self.point[Axis.NORTH])
        pairs = list(zip(call.kernel.args, call.args, strict=True))
        total = 11 * here[0] + 29 * here[1] + sum(map(ord, call.uid))
        for at, (described, actual) in enumerate(pairs, start=1):
            if described.access.reads and actual.datum is not None:
                for place in sorted(_places(described, here)):
                    total = (total * 31 + at * self.values[actual.datum][place]) % PRIME
        if sum(here) % 5 == 0:
            return
        for at, (described, actual) in enumerate(pairs, start=1):
            if described.access.writes and actual.datum is not None:
                (place, *_) = sorted(_places(described, here, own=True))
                self.values[actual.datum][place] = (total + at) % PRIME


def _places(
    described: KernelArg, here: tuple[int, int], *, own: bool = False
) -> set[tuple[int, int]]:
    if described.kind is not ArgKind.FIELD:
        return {(FIRST, FIRST)}
    offsets = {(0, 0)}
    if isinstance(described.stencil, GridStencil) and not own:
        offsets |= set(described.stencil.offsets)
    return {(here[0] + i, here[1] + j) for i, j in offsets}
