"""What the exchanges of an invoke cost, as numbers of values for a mesh and a number of ranks.

An estimate, and said to be one: a rank has a square patch of cells, fields are of the lowest
order, and each exchange that run time may spare is counted. Values of a field on a column of `k`
layers are `per_layer * k + fixed`; level `l` of the halo around a patch of `n` cells has some
`4 (sqrt(n) + 2 l - 1)` columns.
"""

from __future__ import annotations

from typing import Any

from psyclone_storage.infrastructures.lfric import ANY_W2_MEMBERS, SPACES
from psyclone_storage.ir.schedule import HaloExchange, Phase, Schedule
from psyclone_storage.ir.walk import in_sequence, kernel_calls

_UNKNOWN = ANY_W2_MEMBERS[0]
"""What a space that kernels leave open counts as."""


def exchange_costs(schedule: Schedule) -> list[dict[str, Any]]:
    """Return, for each exchange, its field, levels and values on a column.

    `levels` is 0 where they depend on run time. A space that the kernels leave open counts as W2,
    the largest of the usual ones, and `assumed` tells so.
    """
    spaces = _spaces(schedule)
    grid = any(call.kernel.points for call in kernel_calls(schedule))
    costs = []
    for item in in_sequence(schedule):
        if isinstance(item, HaloExchange) and item.phase is not Phase.FINISH:
            space = spaces.get(item.datum, "")
            known = grid or _column(space) is not None
            per_layer, fixed = (1, 0) if grid else _column(space) or _column(_UNKNOWN) or (0, 0)
            times = schedule.datum(item.datum).vector if item.component is None else 1
            costs.append(
                {
                    "uid": item.uid,
                    "datum": item.datum,
                    "space": space or "not known",
                    "assumed": not known,
                    "levels": _levels(item),
                    "guarded": item.guarded,
                    "per_layer": per_layer * times,
                    "fixed": fixed * times,
                }
            )
    return costs


def _column(space: str) -> tuple[int, int] | None:
    return SPACES[space].column if space in SPACES else None


def _levels(item: HaloExchange) -> int:
    terms = item.depth.terms
    if any(term.whole or term.names for term in terms):
        return 0
    return max((term.constant for term in terms), default=0)


def _spaces(schedule: Schedule) -> dict[str, str]:
    """Return the function space of each field, the first that a kernel names."""
    found: dict[str, str] = {}
    for call in kernel_calls(schedule):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if actual.datum is None or not described.spaces:
                continue
            if _column(found.get(actual.datum, "")) is None:
                found[actual.datum] = described.spaces[0]
    return found
