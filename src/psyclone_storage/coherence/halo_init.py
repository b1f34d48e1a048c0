"""Loops that also compute halo levels, because a later loop adds to them.

A loop that adds to a field also adds to dofs in the halo, which must be initialised. If a built-in
sets the field just before, without reading other fields, it can compute those dofs too. That is
cheaper than an exchange.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.coherence.halo_effects import HaloEffect, HaloEffects
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.region import NOTHING, Depth, deepest
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, Loop, Schedule, Statement
from psyclone_storage.ir.walk import sequential_statements

_ONE = Depth.of(1)
"""Annexed dofs lie on cells of halo level 1: there is no loop to them alone where none is kept."""

Wanted = dict[DatumPart, Depth]
"""The levels of halo of each field that the loops behind a place want to hold numbers."""


def plan_halo_init(schedule: Schedule, rules: Rules, touched: HaloEffects) -> Mapping[str, Depth]:
    """Return the halo depth that each loop should fill, by uid."""
    items = sequential_statements(schedule)
    levels = wanted_levels(items, rules, touched)
    loops = [item for item in items if isinstance(item, Loop) and levels.get(item.uid)]
    depths = ((loop.uid, depth_to_fill(loop, touched, levels[loop.uid])) for loop in loops)
    return {uid: depth for uid, depth in depths if depth.terms}


def depth_to_fill(loop: Loop, touched: HaloEffects, wanted: Wanted) -> Depth:
    """Return the halo depth that a loop should fill for the levels `wanted` by later loops."""
    return deepest(wanted.get(effect.part, Depth()) for effect in touched.of(loop, NOTHING))


def wanted_levels(
    items: Sequence[Statement],
    rules: Rules,
    touched: HaloEffects,
    parts: Container[DatumPart] | None = None,
) -> dict[str, Wanted]:
    """Return the halo levels wanted after each loop that may fill halos, by uid.

    `items` are the statements in execution order. `parts` restricts the result to these parts.
    """
    wanted: Wanted = {}
    found: dict[str, Wanted] = {}
    for item in reversed(items):
        if isinstance(item, HaloExchange) and item.pinned:
            wanted.pop(DatumPart(item.datum, item.component), None)
        if not isinstance(item, Loop):
            continue
        effects = [
            effect for effect in touched.of(item, NOTHING) if parts is None or effect.part in parts
        ]
        if rules.may_fill(item):
            found[item.uid] = {
                effect.part: wanted[effect.part] for effect in effects if effect.part in wanted
            }
        for effect in effects:
            _want(effect, wanted)
    return found


def _want(effect: HaloEffect, wanted: Wanted) -> None:
    """Update the wanted levels from after a loop to before it."""
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
