"""Loops that compute halo levels in addition, because a later loop adds to them.

A loop that adds to a field also adds to dofs in the halo. These must contain a number, and their
sums are right if the values are right. A built-in that sets the field just before, without reading
any other, computes those dofs as well: that costs less than an exchange, and needs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.coherence.halo_effects import HaloEffect, HaloEffects
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.region import NOTHING, Depth, deepest
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, Loop, Schedule
from psyclone_storage.ir.walk import sequential_statements

_ONE = Depth.of(1)
"""Annexed dofs lie on cells of halo level 1: there is no loop to them alone where none is kept."""

_Wanted = dict[DatumPart, Depth]
"""The levels of halo of each field that the loops behind a place want to hold numbers."""


def plan_halo_init(schedule: Schedule, rules: Rules, touched: HaloEffects) -> Mapping[str, Depth]:
    """Return the depth of halo that loops are to fill, by uid."""
    wanted: _Wanted = {}
    fills: dict[str, Depth] = {}
    for item in reversed(tuple(sequential_statements(schedule))):
        if isinstance(item, HaloExchange) and item.pinned:
            wanted.pop(DatumPart(item.datum, item.component), None)
        if not isinstance(item, Loop):
            continue
        effects = touched.of(item, NOTHING)
        if rules.may_fill(item):
            depth = deepest(wanted.get(effect.part, Depth()) for effect in effects)
            fills |= {item.uid: depth} if depth.terms else {}
        for effect in effects:
            _want(effect, wanted)
    return fills


def _want(effect: HaloEffect, wanted: _Wanted) -> None:
    """Change the levels wanted after a loop to those wanted before it."""
    key, need, left = effect.part, effect.need, effect.left
    if left is not None and not left.keeps_beyond and not (need and need.filled is not None):
        wanted.pop(key, None)
    if need is None:
        return
    if need.filled is not None:
        wanted[key] = deepest((wanted.get(key, _ONE), need.filled, _ONE))
    elif key in wanted and wanted[key].covers(need.depth) is not Fresh.YES:
        # An exchange for this reader fills more than a loop would.
        del wanted[key]
