"""Target: LFRic in Python with loops and kernels in CUDA, one thread per column."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.config.settings import Settings
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Program, Schedule
from psyclone_storage.ir.walk import statements
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.dialects import LFRIC_WORDS
from psyclone_storage.targets.halo_checks import refuse_halo_checks
from psyclone_storage.targets.lfric_meshes import meshes
from psyclone_storage.targets.lfric_python.on_device import SHARED_LOOPS, on_device
from psyclone_storage.targets.native.printer import emit_meshes_cuda
from psyclone_storage.targets.python import heads_of_invokes, python, resolve_without_translation
from psyclone_storage.targets.spec import Target

_COLOUR = (
    "Colour the loop: '--apply colour', 'Dynamo0p3ColourTrans' in a recipe, which "
    "'configure(script=...)' names where an invoke is compiled where it stands."
)


def _check_loops(program: Program, rules: Rules) -> tuple[Diagnostic, ...]:
    """Return errors for loops whose iterations cannot run in separate threads (G005)."""
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


def _meshes_on_device(settings: Settings) -> Infrastructure:
    refuse_halo_checks(settings.lfric.run_time_checks, "the target 'cuda'")
    return on_device(meshes(settings))


TARGET = Target(
    python(
        LFRIC_WORDS,
        emit_native=emit_meshes_cuda,
        heads=heads_of_invokes,
        resolve=resolve_without_translation,
    ),
    _meshes_on_device,
    refuses=_check_loops,
)
