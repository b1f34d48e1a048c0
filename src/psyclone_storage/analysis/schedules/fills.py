"""Which loops compute levels of halo besides, because a later loop adds to them.

A loop that adds to a field adds to dofs in the halo, too, whose sums nobody will use. They must
hold a number all the same: a field may be new, with signalling values that trap, where the writer
before has computed owned dofs alone. If that writer is a loop of built-ins, whose arguments are
clean there or constant, it computes those dofs as well, which is cheaper than the exchange that
would fill them.

`wanted_fills` asks a schedule, backwards, for all loops that might; whether what they read is clean
there is for the planner of exchanges to tell, which names those that must not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from psyclone_storage.analysis.schedules.touch import Key, Touch, Touches
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.ir.region import Depth, deepest
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, Loop, Schedule
from psyclone_storage.ir.walk import in_sequence

_ONE = Depth.of(1)
"""Annexed dofs lie on cells of halo level 1: there is no loop to them alone where none is kept."""

_Wanted = dict[Key, Depth]
"""The levels of halo of each field that the loops behind a place want to hold numbers."""


def wanted_fills(
    schedule: Schedule, rules: Rules, touched: Touches, refused: Collection[str]
) -> Mapping[str, Depth]:
    """Return the depth of halo that loops are to fill, by uid; none of those `refused`."""
    wanted: _Wanted = {}
    fills: dict[str, Depth] = {}
    for item in reversed(tuple(in_sequence(schedule))):
        if isinstance(item, HaloExchange) and item.pinned:
            wanted.pop(Key(item.datum, item.component), None)
        if not isinstance(item, Loop):
            continue
        touches = touched.of(item, item.filled)
        depth = deepest(wanted.get(touch.key, Depth()) for touch in touches if touch.left)
        filling = bool(depth.terms) and item.uid not in refused and rules.may_fill(item)
        if filling:
            fills[item.uid] = depth
            touches = touched.of(item, depth)
        for touch in touches:
            _want(touch, wanted, filling)
    return fills


def _want(touch: Touch, wanted: _Wanted, filling: bool) -> None:
    """Change what is wanted behind a loop to what is wanted before it."""
    key, need, left = touch.key, touch.need, touch.left
    if left is not None and not left.keeps_beyond and not (need and need.filled is not None):
        wanted.pop(key, None)
    if need is None:
        return
    if need.filled is not None:
        wanted[key] = deepest((wanted.get(key, _ONE), need.filled, _ONE))
    elif filling and need.depth.terms:
        wanted[key] = deepest((wanted.get(key, _ONE), need.depth))
    elif key in wanted and wanted[key].covers(need.depth) is not Fresh.YES:
        # An exchange for this reader fills more than a loop would.
        del wanted[key]
