"""Check of the cells where operators are used; operator halos are never exchanged."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.schedule import Actual, KernelCall, Loop, Reach, Schedule
from psyclone_storage.ir.walk import calls_in, outer_loops


def check_operators(schedule: Schedule, rules: LfricRules) -> Iterator[Diagnostic]:
    """Yield diagnostics for operators used in halo cells where they have no values.

    The extent of a loop follows from metadata, except where the algorithm gives a halo depth or a
    stencil extent. Matrices are computed where they are needed. A kernel over owned cells leaves
    the matrices of halo cells unchanged, so later loops of the invoke must not read them there. The
    state from earlier invokes is unknown.
    """
    left: dict[str, KernelCall] = {}
    for loop in outer_loops(schedule):
        for around, call in calls_in(loop):
            if _is_told_how_far(call):
                yield from rules.check_extent(around, call)
            yield from _stale(left, around, call)
            for access, datum, _ in _operators(call):
                if access.writes and around.extent.reach is Reach.OWNED:
                    left[datum] = call
                elif access.writes:
                    left.pop(datum, None)


def _is_told_how_far(call: KernelCall) -> bool:
    told = call.kernel.iteration.takes_halo_depth
    return any(arg.kind.is_operator and (told or arg.stencil) for arg in call.kernel.args)


def _operators(call: KernelCall) -> Iterator[tuple[Access, str, Actual]]:
    for described, actual in zip(call.kernel.args, call.args, strict=True):
        if described.kind.is_operator and actual.datum is not None:
            yield described.access, actual.datum, actual


def _stale(left: dict[str, KernelCall], loop: Loop, call: KernelCall) -> Iterator[Diagnostic]:
    for access, datum, actual in _operators(call):
        writer = left.get(datum)
        if writer is None or not access.reads or not loop.extent.reach.in_halo:
            continue
        yield Diagnostic(
            "S001",
            f"Kernel '{call.kernel.name}' reads the operator '{spell(actual.value)}' in halo cells,"
            f" where '{writer.kernel.name}' has not computed it.",
            actual.span or call.span,
            hint=f"Write the operator in '{writer.kernel.name}' with 'operates_on = CELL_COLUMN',"
            " which computes its first halo level, too.",
            related=(Related(writer.span, "computed on owned cells"),) if writer.span else (),
        )
