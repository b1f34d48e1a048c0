"""What of LFRic's schedules has no form for a device: loops whose order shows."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.backend.meshes.on_device import SHARED_LOOPS
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Program, Schedule
from psyclone_storage.ir.walk import statements

_COLOUR = (
    "Colour the loop: '--apply colour', 'Dynamo0p3ColourTrans' in a recipe, which "
    "'configure(script=...)' names where an invoke is compiled where it stands."
)


def not_for_threads(program: Program, rules: Rules) -> tuple[Diagnostic, ...]:
    """Return what is said of loops whose iterations cannot have threads of their own (G005)."""
    return tuple(
        found
        for invoke in program.invokes
        for loop in statements(invoke.schedule)
        if isinstance(loop, Loop) and loop.over in SHARED_LOOPS
        for found in _races(invoke.schedule, rules, loop)
    )


def _races(schedule: Schedule, rules: Rules, loop: Loop) -> Iterator[Diagnostic]:
    for reason in check_races(schedule, rules, loop):
        hint = _COLOUR if loop.over is Over.CELLS and reason.hint else reason.hint
        message = f"{reason.message} So they have no threads of their own on a device."
        yield replace(reason, code="G005", message=message, hint=hint)
