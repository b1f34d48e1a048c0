"""Footprints of schedule loops, based on kernel metadata."""

from __future__ import annotations

from psyclone_storage.analysis.footprints import NO_ASSERTIONS, Reasons, UserAssertions, check_fuse
from psyclone_storage.analysis.schedules.grid import check_points_fuse, check_points_order
from psyclone_storage.analysis.schedules.order import (
    check_alike,
    check_interference,
    check_neighbours,
)
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.nests import inner_loop
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Schedule
from psyclone_storage.ir.walk import find, place_of

POINTS = (Over.ROWS, Over.COLUMNS)
"""What loops over a grid count as long as there are no tiles."""


@dataclass(frozen=True, slots=True)
class LoopFootprint:
    """The footprint of a schedule loop, based on kernel metadata."""

    schedule: Schedule
    rules: Rules
    loop: Loop
    assertions: UserAssertions = NO_ASSERTIONS

    @property
    def inner(self) -> LoopFootprint | None:
        """The grid loop that is the complete body of this grid loop, or None."""
        inner = inner_loop(self.loop)
        if inner is None or self.loop.over not in POINTS or inner.over not in POINTS:
            return None
        return replace(self, loop=inner)

    def check_nested(self) -> Reasons:
        """Return diagnostics if the loop and its body are not two nested grid loops (T016)."""
        if problems := self.check_strips():
            return problems
        if self.inner is not None:
            return ()
        loop = self.loop
        loops = [item for item in loop.body if isinstance(item, Loop)]
        message = f"'{loop.uid}' does not hold one loop over rows or columns, and nothing else."
        hint = f"Fuse '{loops[0].uid}' and '{loops[1].uid}' first." if len(loops) > 1 else ""
        return (Diagnostic("T016", message, place_of(loop), hint=hint),)

    def check_known(self) -> Reasons:
        """Return no diagnostic: metadata describe all accesses of kernels."""
        return ()

    def check_bounds(self) -> Reasons:
        """Return no diagnostic: bounds of grid loops are independent of each other."""
        return ()

    def check_order(self) -> Reasons:
        """Return diagnostics for dependences on points to the north-west or south-east (S014)."""
        return check_points_order(self.schedule, self.loop)

    def check_strips(self) -> Reasons:
        """Return a diagnostic if the loop is not over rows or columns (T016)."""
        loop = self.loop
        if loop.over in POINTS:
            return ()
        message = f"'{loop.uid}' counts {loop.over.value}, not rows or columns of a grid."
        return (Diagnostic("T016", message, place_of(loop)),)

    def check_alike(self, other: LoopFootprint | None) -> Reasons:
        """Return diagnostics if the loops have different iteration spaces (S007, S008)."""
        assert other is not None
        return check_alike(self.schedule, self.rules, self.loop, other.loop, self.assertions)

    def check_ahead(self, other: LoopFootprint) -> Reasons:
        """Return diagnostics for dependences on `other` that fusion would violate (S009)."""
        if self.loop.over.axis is not None:
            in_order = self.assertions.in_order
            return check_points_fuse(self.schedule, self.loop, other.loop, in_order=in_order)
        return check_interference(self.schedule, self.rules, self.loop, other.loop)

    def check_concurrent(self) -> Reasons:
        """Return diagnostics if the iterations must not run concurrently (S010, S011)."""
        return check_races(self.schedule, self.rules, self.loop)


def check_fuse_neighbours(
    schedule: Schedule,
    rules: Rules,
    first: str,
    second: str,
    assertions: UserAssertions = NO_ASSERTIONS,
) -> Reasons:
    """Return diagnostics if the loop `second` must not be fused into the preceding `first`."""
    if problems := check_neighbours(schedule, first, second):
        return problems
    one, two = find(schedule, first), find(schedule, second)
    assert isinstance(one, Loop)
    assert isinstance(two, Loop)
    nest = LoopFootprint(schedule, rules, one, assertions)
    return check_fuse(nest, replace(nest, loop=two))
