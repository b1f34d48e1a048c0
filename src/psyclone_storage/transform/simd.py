"""OpenMP `simd`: vectorisation of loops."""

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
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Over, Schedule, Statement
from psyclone_storage.ir.walk import kernel_calls, path_to, place_of, replaced
from psyclone_storage.transform.step import OnLoop, check_no_directive, loop_named, loops_inside

_OF_THREADS = (Directive.OMP_DO, Directive.OMP_PARALLEL_DO)


@dataclass(frozen=True, slots=True)
class VectoriseLoop(OnLoop):
    """Vectorise a loop over dofs by OpenMP `simd`.

    A compiler must not reassociate sums, and so adds one number at a time. With this step each
    vector lane has a partial sum, and these are added at the end: sums differ by rounding, other
    results are unchanged. In a parallel loop each thread uses vector lanes, so apply the step after
    `openmp-do` or `openmp-parallel-do`, and before `outline`, without which possible aliases
    prevent vectorisation. With `for_sums` the step applies only to loops with reductions, because
    others need no permission.

    Rejected for loops that are not over dofs; for kernels that are not built-ins; for random
    numbers; for exact or reproducible sums; and under other directives.

    before: omp-do(loop1) { loop1 over dofs { s = s + f * f } }
    after:  omp-do(loop1) with lanes { loop1 over dofs { s = s + f * f } }
    """

    name: ClassVar[str] = "openmp-simd"

    for_sums: bool = False

    @classmethod
    def candidates(cls, item: Statement) -> Iterable[Loop]:
        """Return every loop over dofs."""
        return (loop for loop in loops_inside(item) if loop.over is Over.DOFS)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot be vectorised."""
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
        """Return the schedule with the loop under a `simd` directive."""
        loop = loop_named(schedule, self.loop)
        region = _region_of_threads(schedule, loop)
        if region is not None:
            made = replace(region, options=replace(region.options, lanes=True))
            return replaced(schedule, region.uid, made)
        made = DirectiveRegion(f"omp-simd({loop.uid})", Directive.OMP_SIMD, (loop,))
        return replaced(schedule, loop.uid, made)


def _region_of_threads(schedule: Schedule, loop: Loop) -> DirectiveRegion | None:
    """Return the directive that distributes `loop` over threads, or None."""
    for item in path_to(schedule, loop.uid)[-2:-1]:
        if isinstance(item, DirectiveRegion) and item.directive in _OF_THREADS:
            return item
    return None


def _against_lanes(schedule: Schedule, loop: Loop, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield each reason against vectorisation, with a hint."""
    for call in kernel_calls(loop):
        formula = call.kernel.formula
        if formula is None:
            yield f"it calls '{call.kernel.name}'", ""
        elif formula.is_random:
            yield f"'{call.kernel.name}' asks for random numbers, one after the other", ""
    yield from against_plain_sums(schedule, loop, rules)
    if rules.sums_in_order() and reductions_in(loop):
        yield "its sums are to be reproducible, as REPRODUCIBLE_REDUCTIONS asks", ""
