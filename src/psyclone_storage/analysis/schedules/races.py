"""Data races between the iterations of a loop.

The checks apply to CPU threads and accelerators. Two iterations race if both access a dof and one
of them changes it to a value that depends on their order.

- Incrementing a dof that cells share (GH_INC, GH_READINC) is a race. Cells of the same colour share
  no dof.
- Overwriting a shared dof (GH_WRITE) is safe, because every cell writes the same value, unless two
  calls of the loop write it: then the first value of one cell can follow the second of another.
- A loop must not write values that a stencil of another iteration reads.
- Operators, and fields on discontinuous spaces, belong to one cell. A loop over dofs visits each
  dof once. `analysis.schedules.grid` checks grid points. Reduced scalars are thread-private.

Possible aliases (`ir.aliases`) count as one object, except within one call: Fortran forbids passing
an object twice to a procedure that changes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.grid import check_points_parallel
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.source import Span
from psyclone_storage.ir.datum_parts import DatumPart, alias_parts, passed_parts
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Loop, Over, Schedule, data_by_name
from psyclone_storage.ir.walk import calls_in


def check_races(schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
    """Return diagnostics if the iterations of `loop` must not run concurrently."""
    match loop.over:
        case Over.COLOURS | Over.TILE_COLOURS:
            message = f"'{loop.uid}' counts colours, which have to follow one another."
            inside = next((item.uid for item in loop.body if isinstance(item, Loop)), loop.uid)
            what = "cells" if loop.over is Over.COLOURS else "tiles"
            hint = f"Take the loop inside it, '{inside}': {what} of one colour share no dof."
            return (Diagnostic("S011", message, _span(loop), hint=hint),)
        case Over.DOMAIN:
            message = f"'{loop.uid}' calls its kernel once: there is nothing to run in parallel."
            return (Diagnostic("S011", message, _span(loop)),)
        case over if over.axis is not None:
            return check_points_parallel(schedule, loop)
        case Over.CELLS | Over.CELLS_OF_TILE:
            return (
                *_additions(rules, loop),
                *_second_writes(schedule, rules, loop),
                *_stencil_reads(schedule, loop),
            )
    return tuple(_stencil_reads(schedule, loop))


def changes_shared_dofs(rules: Rules, loop: Loop) -> bool:
    """Return whether two iterations of the cell loop `loop` may change the same dof."""
    return any(
        described.access.writes and rules.shares_dofs(described)
        for _, call in calls_in(loop)
        for described in call.kernel.args
    )


def _additions(rules: Rules, loop: Loop) -> Iterator[Diagnostic]:
    for _, call in calls_in(loop):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            access = described.access
            if not access.writes or access is Access.WRITE or not rules.shares_dofs(described):
                continue
            yield Diagnostic(
                "S010",
                f"Cells of '{loop.uid}' race: '{call.kernel.name}' changes '{spell(actual.value)}'"
                f" by '{access.value}' on '{described.space}', whose dofs neighbours share.",
                actual.span or call.span,
                hint="Colour the loop first.",
            )


def _second_writes(schedule: Schedule, rules: Rules, loop: Loop) -> Iterator[Diagnostic]:
    data, aliases = data_by_name(schedule), alias_parts(schedule)
    writers: dict[DatumPart, list[KernelCall]] = defaultdict(list)
    for _, call in calls_in(loop):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.access is Access.WRITE and rules.shares_dofs(described):
                for key in passed_parts(actual, data):
                    writers[key].append(call)
    for key, calls in writers.items():
        others = [one for other in aliases[key.datum] for one in writers.get(other, ())]
        clashing = [*calls[1:], *(one for one in others if one is not calls[0])]
        if clashing:
            first, second = calls[0].kernel.name, clashing[-1].kernel.name
            yield Diagnostic(
                "S010",
                f"Cells of '{loop.uid}' race: '{first}' and '{second}' both write"
                f" '{key.text}', whose dofs neighbours share, and the first of one cell can"
                " come last.",
                clashing[-1].span,
                hint="Colour the loop first.",
            )


def _stencil_reads(schedule: Schedule, loop: Loop) -> Iterator[Diagnostic]:
    """Yield diagnostics for stencil reads of values that other iterations may write."""
    data, aliases = data_by_name(schedule), alias_parts(schedule)
    uses = [
        (key, call, described)
        for _, call in calls_in(loop)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        for key in passed_parts(actual, data)
    ]
    writing = [(key, call) for key, call, described in uses if described.access.writes]
    written = dict(writing)
    for key, call, described in uses:
        if described.stencil is None:
            continue
        others = (one for other, one in writing if other in aliases[key.datum] and one is not call)
        if (writer := written.get(key) or next(others, None)) is not None:
            yield Diagnostic(
                "S010",
                f"Iterations of '{loop.uid}' race: '{call.kernel.name}' looks at neighbours in"
                f" '{key.text}', which '{writer.kernel.name}' writes.",
                call.span,
            )


def _span(loop: Loop) -> Span | None:
    return next((call.span for _, call in calls_in(loop)), None)
