"""OpenMP's `simd`: a loop whose iterations are shared by the lanes of vector instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.analysis.schedules.reduction import against_plain_sums, reductions_in
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Over, Schedule
from psyclone_storage.ir.walk import kernel_calls, path_to, place_of, replaced
from psyclone_storage.transform.step import OnLoop, check_no_directive, loop_named, loops_in

_OF_THREADS = (Directive.OMP_DO, Directive.OMP_PARALLEL_DO)


@dataclass(frozen=True, slots=True)
class VectoriseLoop(OnLoop):
    """Vectorise a loop over dofs: vector lanes share its iterations.

    A compiler may not change the order of a sum, and so adds one number at a time. With this step
    each lane has a partial sum, and these are added at the end: sums differ by rounding, all else
    is unchanged. Where threads share the loop each has lanes, so apply the step after `openmp-do`
    or `openmp-parallel-do`, and before `outline`, without which arrays that may overlap prevent
    vectorisation. With `for_sums` the step applies only to loops that reduce to a scalar: others
    need no permission.

    Refused for other loops than those over dofs; for kernels other than built-ins; for random
    numbers; for sums that are exact, or reproducible; and under other directives.

    before: omp-do(loop1) { loop1 over dofs { s = s + f * f } }
    after:  omp-do(loop1) with lanes { loop1 over dofs { s = s + f * f } }
    """

    name: ClassVar[str] = "openmp-simd"

    for_sums: bool = False

    @classmethod
    def candidates(cls, schedule: Schedule) -> Iterable[Loop]:
        """Return every loop over dofs."""
        return (loop for loop in loops_in(schedule) if loop.over is Over.DOFS)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return all reasons against lanes."""
        place = place_of(loop)
        region = _region_of_threads(schedule, loop)
        if region is not None and region.options.lanes:
            return (Diagnostic("T082", f"'{loop.uid}' is shared by lanes already.", place),)
        if self.for_sums and not reductions_in(loop):
            return (Diagnostic("T082", f"'{loop.uid}' reduces to nothing.", place),)
        if loop.over is not Over.DOFS:
            message = f"Lanes cannot share '{loop.uid}': it counts {loop.over.value}, no dofs."
            return (Diagnostic("T066", message, place),)
        reasons = tuple(
            Diagnostic("T066", f"Lanes cannot share '{loop.uid}': {why}.", place, hint=hint)
            for why, hint in dict(_against_lanes(schedule, loop, rules)).items()
        )
        around = () if region is None else (region.directive, Directive.OMP_PARALLEL)
        return (
            *check_no_directive(schedule, loop.uid, around=around),
            *reasons,
            *check_races(schedule, rules, loop),
        )

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the loop under a directive that allows lanes."""
        loop = loop_named(schedule, self.loop)
        region = _region_of_threads(schedule, loop)
        if region is not None:
            made = replace(region, options=replace(region.options, lanes=True))
            return replaced(schedule, region.uid, made)
        made = DirectiveRegion(f"omp-simd({loop.uid})", Directive.OMP_SIMD, (loop,))
        return replaced(schedule, loop.uid, made)


def _region_of_threads(schedule: Schedule, loop: Loop) -> DirectiveRegion | None:
    """Return the directive by which threads share `loop`, if they do."""
    for item in path_to(schedule, loop.uid)[-2:-1]:
        if isinstance(item, DirectiveRegion) and item.directive in _OF_THREADS:
            return item
    return None


def _against_lanes(schedule: Schedule, loop: Loop, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield each obstacle, and a remedy for it."""
    for call in kernel_calls(loop):
        formula = call.kernel.formula
        if formula is None:
            yield f"it calls '{call.kernel.name}'", ""
        elif formula.is_random:
            yield f"'{call.kernel.name}' asks for random numbers, one after the other", ""
    yield from against_plain_sums(schedule, loop, rules)
    if rules.sums_in_order() and reductions_in(loop):
        yield "its sums are to be reproducible, as REPRODUCIBLE_REDUCTIONS asks", ""
