"""Halo depths of fields that the loops of a schedule require.

The halo of a field may be shallower than that of its mesh. A step that extends a loop into the halo
requires sufficient halo depth of all fields that the loop accesses.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.devices import moved_parts
from psyclone_storage.ir.kernel import ArgKind, KernelArg, MeshRole
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import Actual, KernelCall, Loop, Schedule
from psyclone_storage.ir.walk import calls_in, outer_loops

_ONE = Depth.of(1)
_FINE = 2
"""Levels of a fine mesh in one level of the coarse mesh."""


def fields_of_whole_halo(schedule: Schedule) -> tuple[DatumPart, ...]:
    """Return the fields that must have the full halo depth of the schedule.

    These are the fields of loops that run through the whole halo.
    """
    found = [
        part
        for loop in outer_loops(schedule)
        if any(term.whole for term in loop.computed.depth.terms)
        for part, _ in fields_of_loop(schedule, loop)
    ]
    return tuple(dict.fromkeys(found))


def depths_of_steps(schedule: Schedule) -> dict[DatumPart, Depth]:
    """Return the halo depth that extended loops require of each field.

    Loops that fill more than the first halo level for an extended loop are included.
    """
    found: dict[DatumPart, Depth] = {}
    for loop in outer_loops(schedule):
        if loop.extent.extended or _ONE.covers(loop.filled) is not Fresh.YES:
            for part, depth in fields_of_loop(schedule, loop):
                found[part] = found.get(part, NOTHING).max(depth)
    return found


def fields_of_loop(schedule: Schedule, loop: Loop) -> Iterator[tuple[DatumPart, Depth]]:
    """Yield each field of `loop` with the halo depth that the loop accesses."""
    for around, call in calls_in(loop):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.kind is ArgKind.FIELD and actual.datum is not None:
                depth = _accessed(around.computed.depth, call, described, actual)
                for component in moved_parts(schedule.datum(actual.datum), actual.component):
                    yield DatumPart(actual.datum, component), depth


def _accessed(depth: Depth, call: KernelCall, described: KernelArg, actual: Actual) -> Depth:
    """Return the halo depth of a field that a call accesses in a loop that runs to `depth`.

    If the kernel receives the halo depth as an argument, its stencil stays within the larger of
    `depth` and the stencil extent; otherwise both are added.
    """
    if described.mesh is MeshRole.FINE:
        return depth.times(_FINE)
    if described.stencil is None or actual.extent is None:
        return depth
    around = Depth.value(actual.extent)
    asked = call.kernel.iteration.takes_halo_depth
    return depth.max(around) if asked else depth.plus(around)
