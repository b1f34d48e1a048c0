"""Elimination of dead updates of run-time halo flags.

The pass runs on every schedule after its recipe and after exchanges are joined, when all readers of
the flags are known. It changes no result and no exchange.
"""

from __future__ import annotations

from psyclone_storage.coherence.dirty_flags import plan_dirty_flags
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.walk import replaced


def eliminate_dead_halo_flags(schedule: Schedule) -> Schedule:
    """Return `schedule` without flag updates, or parts of them, that no reader can observe.

    before: loop1 [write u], mark(u)@loop1, halo(u)@loop2, loop2 [read u],
            loop3 [write u], mark(u)@loop3, halo(u)@loop4, loop4 [read u]
    after:  loop1, halo(u)@loop2, loop2, loop3, mark(u)@loop3, halo(u)@loop4, loop4
    """
    for uid, left in plan_dirty_flags(schedule).items():
        schedule = replaced(schedule, uid, *((left,) if left else ()))
    return schedule
