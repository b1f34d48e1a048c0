"""Loops along rows: hot paths of inlined kernels, and loops that run inside their kernels."""

from __future__ import annotations

from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.routine import HotPath, KernelUse, Routine
from psyclone_storage.ir.schedule import KernelCall, Loop, Over, Schedule
from psyclone_storage.ir.walk import kernel_calls

ALONG_ROWS = (Over.COLUMNS, Over.COLUMNS_OF_TILE)
"""What such loops count: points that lie next to each other in memory."""


def hot_path(call: KernelCall) -> HotPath | None:
    """Return the hot path of an inlined kernel call, or None."""
    match call.codes:
        case (Routine(kernel_use=KernelUse(in_place=True, hot_path=path)),):
            return path
    return None


def runs_inside(loop: Loop) -> bool:
    """Return whether the kernels of a loop run it themselves: they receive its ends."""
    return any(
        dummy.role is Role.STRIP_FIRST
        for call in loop.body
        if isinstance(call, KernelCall)
        for dummy in call.dummies
    )


def changed_in_strips(schedule: Schedule, loop: Loop) -> tuple[str, ...]:
    """Return the data that a kernel in `loop` may write and that its branch conditions read.

    Conditions and hoisted values are evaluated for all points of a strip before its first point is
    computed, so they must not change within the strip.
    """
    calls = kernel_calls(loop)
    written = {
        actual.datum
        for call in calls
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.access.writes and actual.datum is not None
    }
    changed = aliases_in(schedule).closure(written)
    asked = {datum for call in calls for datum in _asked(call)}
    return tuple(sorted(changed & asked))


def _asked(call: KernelCall) -> set[str]:
    """Return the data that the branch conditions and hoisted values of a call read."""
    if (path := hot_path(call)) is None:
        return set()
    exprs = (*path.conditions, *(one.value for one in path.lifted))
    names = frozenset[str]().union(*map(names_in, exprs))
    dummies = zip(map(key_of, call.codes[0].dummies), call.dummies, strict=True)
    positions = {dummy.arg for name, dummy in dummies if name in names and dummy.arg is not None}
    actuals = (call.args[at].datum for at in positions)
    return {datum for datum in actuals if datum is not None}
