"""OpenMP steps: loops distributed over threads, and parallel regions.

Data clauses (private, shared, reduction) follow from the statements of a region and are generated
by the back end. This module checks which statements may run under which directive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.analysis.schedules.reduction import check_reductions_in_region, reductions_in
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir.directive import Directive, RegionOptions, Sharing, ThreadSchedule
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Schedule, Statement
from psyclone_storage.ir.walk import place_near, place_of
from psyclone_storage.transform.blocks import (
    OnBlock,
    block_between,
    check_block,
    runs_between_exchanges,
)
from psyclone_storage.transform.step import SharesIterations, StepPlace, check_no_directive

_IN_A_TEAM = (
    Directive.OMP_DO,
    Directive.OMP_SINGLE,
    Directive.OMP_MASTER,
    Directive.OMP_TASK,
    Directive.OMP_TASKLOOP,
)
_SCHEDULES = regex(r"(static|dynamic|guided)(,[1-9]\d*)?|auto|runtime")


@dataclass(frozen=True, slots=True)
class ParallelDo(SharesIterations):
    """Run the iterations of one loop in parallel threads.

    `schedule` is OpenMP's: `static`, `dynamic`, `guided`, each optionally with a chunk size as in
    `static,8`, or `auto` or `runtime`. Loop variables are private, other variables are shared, and
    reductions are combined at the end. `reproducible` is as for `openmp-do`; a loop with a
    reduction is then put under `omp do` in a parallel region of its own.

    Rejected under another directive, for a loop over colours, and if iterations race: cells that
    add to shared dofs (GH_INC, GH_READINC) must be coloured first (PSyclone's defect B7). A kernel
    must not change saved state such as a module variable, unless `force` asserts that this is
    harmless.

    before: loop1 over colours { cells(loop1) over cells of a colour { k } }
    after:  loop1 over colours { omp-parallel-do(cells(loop1)) { cells(loop1) ... { k } } }
    """

    name: ClassVar[str] = "openmp-parallel-do"

    schedule: str = "static"
    force: bool = False
    reproducible: bool | None = None

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot run in parallel."""
        return _check_threads(schedule, rules, loop, self)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop under `omp parallel do`."""
        options = RegionOptions(_sharing(self.schedule))
        uid = f"omp-parallel-do({loop.uid})"
        made = DirectiveRegion(uid, Directive.OMP_PARALLEL_DO, (loop,), options)
        if _sums_in_order(loop, rules, self.reproducible):
            shared = _shared(loop, replace(options, reproducible=True))
            made = DirectiveRegion(uid, Directive.OMP_PARALLEL, (shared,))
        return made


@dataclass(frozen=True, slots=True)
class ShareLoop(SharesIterations):
    """Distribute the iterations of one loop over the threads of a parallel region.

    The region is created by `openmp-parallel`, before or after this step; if it is missing at the
    end of the recipe, that is an error. `schedule` is as for `openmp-parallel-do`. With
    `reproducible` each thread has a partial sum, and partial sums are added in thread order, so
    that the same number of threads gives bit-identical results. This requires the schedule
    `static`. The default is the setting REPRODUCIBLE_REDUCTIONS.

    Rejected for the reasons of `openmp-parallel-do`.

    before: loop1 over dofs { s = s + f * f }
    after:  omp-do(loop1) { loop1 over dofs { s = s + f * f } }
    """

    name: ClassVar[str] = "openmp-do"

    schedule: str = "static"
    reproducible: bool | None = None
    force: bool = False

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot be distributed."""
        return _check_threads(schedule, rules, loop, self, around=(Directive.OMP_PARALLEL,))

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop under `omp do`."""
        reproducible = _sums_in_order(loop, rules, self.reproducible)
        return _shared(loop, RegionOptions(_sharing(self.schedule), reproducible=reproducible))


@dataclass(frozen=True, slots=True)
class OpenParallelRegion(OnBlock):
    """Create a parallel region around the statements from `first` to `last`, inclusive.

    Each loop in the region must be under `openmp-do`, applied before or after this step. Every
    thread executes all other statements, so a loop without `openmp-do` at the end of the recipe is
    an error. Exchanges for these loops happen before the region, and halo flags are updated after
    it.

    Rejected if the statements are not adjacent loops, under a directive, if an exchange would be
    needed between two of them, and if one uses a scalar that another reduces.

    before: omp-do(loop1) { loop1 } omp-do(loop2) { loop2 }
    after:  omp-parallel(omp-do(loop1)) { omp-do(loop1) { loop1 } omp-do(loop2) { loop2 } }
    """

    name: ClassVar[str] = "openmp-parallel"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every sequence of adjacent work-sharing statements, the longest ones first.

        Of sequences that would need an exchange inside, only the shortest one is yielded.
        """
        for run in runs_between_exchanges(schedule, _shares_all):
            for last in reversed(run):
                yield {"first": run[0].uid, "last": last.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        reasons = check_block(schedule, self.first, self.last, inside=_IN_A_TEAM)
        return (
            *reasons,
            *check_reductions_in_region(schedule, block_between(schedule, self.first, self.last)),
        )

    def region(self, block: tuple[Statement, ...]) -> DirectiveRegion:
        """Return the statements under `omp parallel`."""
        return DirectiveRegion(f"omp-parallel({self.first})", Directive.OMP_PARALLEL, block)


def _check_threads(
    schedule: Schedule,
    rules: Rules,
    loop: Loop,
    step: ParallelDo | ShareLoop,
    around: Collection[Directive] = (),
) -> Reasons:
    reasons = check_no_directive(schedule, loop.uid, around=around)
    reasons += _check_schedule(step.schedule, place_near(schedule, loop.uid))
    sums = _check_sums(loop, rules, step)
    return (*reasons, *check_races(schedule, rules, loop), *sums)


def _check_schedule(text: str, place: Span | None) -> Reasons:
    """Return a diagnostic if OpenMP has no such loop schedule (T024)."""
    if _SCHEDULES.fullmatch(text):
        return ()
    hint = "There are static, dynamic, guided (each with a chunk size: static,8), auto and runtime."
    return (Diagnostic("T024", f"OpenMP has no schedule '{text}'.", place, hint=hint),)


def read_schedule(text: str, place: Span | None = None) -> ThreadSchedule:
    """Return the loop schedule that `text` requests.

    Raises:
        CompileError: `T024`, OpenMP has no such schedule.
    """
    raise_if_any(_check_schedule(text, place))
    return _sharing(text)


def _check_sums(loop: Loop, rules: Rules, step: ParallelDo | ShareLoop) -> Reasons:
    """Return a diagnostic if sums must be reproducible but the schedule prevents it."""
    if step.schedule.startswith("static") or not _sums_in_order(loop, rules, step.reproducible):
        return ()
    message = f"Sums under the schedule '{step.schedule}' are not reproducible."
    return (Diagnostic("T024", message, place_of(loop), hint="Use the schedule 'static'."),)


def _sums_in_order(loop: Loop, rules: Rules, wanted: bool | None) -> bool:
    """Return whether `loop` has reductions that are combined in thread order."""
    return (rules.sums_in_order() if wanted is None else wanted) and bool(reductions_in(loop))


def _shared(loop: Loop, options: RegionOptions) -> DirectiveRegion:
    return DirectiveRegion(f"omp-do({loop.uid})", Directive.OMP_DO, (loop,), options)


def _sharing(text: str) -> ThreadSchedule:
    """Return the loop schedule for a valid text."""
    rule, _, chunk = text.partition(",")
    return ThreadSchedule(Sharing(rule), int(chunk or 0))


def _shares_all(item: Statement) -> bool:
    """Return whether the enclosing threads share all work of `item`."""
    if isinstance(item, DirectiveRegion):
        return item.directive is Directive.OMP_DO or item.directive.is_of_one_thread
    return isinstance(item, Loop) and all(map(_shares_all, item.body))
