"""OpenMP regions executed by a single thread, and tasks for other threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.dependence import dependences
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.analysis.schedules.reduction import check_reductions_in_region, reductions_in
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Schedule, Statement
from psyclone_storage.ir.transfer import TaskWait
from psyclone_storage.ir.walk import find, place_near, place_of, replaced, statements
from psyclone_storage.transform.blocks import (
    OnBlock,
    block_between,
    check_block,
    runs_between_exchanges,
)
from psyclone_storage.transform.device import leaves_tasks
from psyclone_storage.transform.step import (
    CheckedStep,
    SharesIterations,
    StepPlace,
    check_no_directive,
    check_present,
)

_TASKS = (Directive.OMP_TASK, Directive.OMP_TASKLOOP)
_TEAM = (Directive.OMP_PARALLEL,)
_AROUND_TASKS = (Directive.OMP_PARALLEL, Directive.OMP_SINGLE, Directive.OMP_MASTER)


@dataclass(frozen=True, slots=True)
class OpenSingle(OnBlock):
    """Let the first thread to arrive execute the statements from `first` to `last`.

    The parallel region is created by `openmp-parallel`, before or after this step. The other
    threads wait at the end. With `nowait` they do not, so no later statement of the region may
    depend on the result.

    before: openmp-taskloop(loop1) { loop1 }
    after:  omp-single(omp-taskloop(loop1)) { omp-taskloop(loop1) { loop1 } }
    """

    name: ClassVar[str] = "openmp-single"

    nowait: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every statement that creates tasks."""
        yield from _places_of_one(schedule)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        return _check_one(schedule, self.first, self.last)

    def region(self, block: tuple[Statement, ...]) -> DirectiveRegion:
        """Return the statements under `omp single`."""
        options = RegionOptions(nowait=self.nowait)
        return DirectiveRegion(f"omp-single({self.first})", Directive.OMP_SINGLE, block, options)


@dataclass(frozen=True, slots=True)
class OpenMaster(OnBlock):
    """Let the master thread of a team execute the statements from `first` to `last`.

    As `openmp-single`, but the other threads never wait, so no later statement of the region may
    depend on the result.

    before: openmp-taskloop(loop1) { loop1 }
    after:  omp-master(omp-taskloop(loop1)) { omp-taskloop(loop1) { loop1 } }
    """

    name: ClassVar[str] = "openmp-master"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every statement that creates tasks."""
        yield from _places_of_one(schedule)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        return _check_one(schedule, self.first, self.last)

    def region(self, block: tuple[Statement, ...]) -> DirectiveRegion:
        """Return the statements under `omp master`."""
        return DirectiveRegion(f"omp-master({self.first})", Directive.OMP_MASTER, block)


@dataclass(frozen=True, slots=True)
class TaskLoop(SharesIterations):
    """Divide the iterations of a loop into tasks, which the threads of a team execute.

    The creating thread is determined by `openmp-single` or `openmp-master`. `grainsize` is the
    number of iterations in a task, `num_tasks` the number of tasks; 0 leaves it to the compiler,
    and only one can be given. The thread waits for its tasks. With `nogroup` it does not, and
    `openmp-taskwait` must precede statements that depend on them.

    Rejected if iterations race, and for loops with reductions.

    before: loop1 over rows
    after:  omp-taskloop(loop1) { loop1 over rows }
    """

    name: ClassVar[str] = "openmp-taskloop"

    grainsize: int = 0
    num_tasks: int = 0
    nogroup: bool = False
    force: bool = False

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if tasks cannot be created."""
        reasons = check_no_directive(schedule, self.loop, around=_AROUND_TASKS)
        if self.grainsize < 0 or self.num_tasks < 0 or (self.grainsize and self.num_tasks):
            message = "Tasks have a size, or there is a number of them, from 1 on, but not both."
            reasons += (Diagnostic("T084", message, place_near(schedule, self.loop)),)
        return (*reasons, *_no_sums(loop), *check_races(schedule, rules, loop))

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop under `omp taskloop`."""
        options = RegionOptions(grain=self.grainsize, tasks=self.num_tasks, nogroup=self.nogroup)
        uid = f"omp-taskloop({loop.uid})"
        return DirectiveRegion(uid, Directive.OMP_TASKLOOP, (loop,), options)


@dataclass(frozen=True, slots=True)
class MakeTask(SharesIterations):
    """Execute a loop as a task, concurrently with other tasks of the team.

    The creating thread is determined by `openmp-single` or `openmp-master`. `openmp-taskwait` must
    precede statements that depend on the task.

    Rejected for loops with reductions.

    before: loop1
    after:  omp-task(loop1) { loop1 }
    """

    name: ClassVar[str] = "openmp-task"

    force: bool = False

    @classmethod
    def candidates(cls, item: Statement) -> Iterable[Loop]:
        """Return `item` if it is a loop."""
        return (item,) if isinstance(item, Loop) else ()

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the task cannot be created."""
        return (*check_no_directive(schedule, loop.uid, around=_AROUND_TASKS), *_no_sums(loop))

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop under `omp task`."""
        return DirectiveRegion(f"omp-task({loop.uid})", Directive.OMP_TASK, (loop,))


@dataclass(frozen=True, slots=True)
class AwaitTasks(CheckedStep):
    """Insert waits for tasks before statements that depend on them.

    `region` is an `openmp-single` or `openmp-master` region. A wait is inserted directly before the
    first statement in it that depends on an unfinished task.

    before: omp-single { omp-task(loop1) [write u], omp-task(loop2) [read u] }
    after:  omp-single { omp-task(loop1), task-wait@omp-task(loop2), omp-task(loop2) }
    """

    name: ClassVar[str] = "openmp-taskwait"

    region: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every single-thread region."""
        for item in statements(schedule):
            if isinstance(item, DirectiveRegion) and item.directive.is_of_one_thread:
                yield {"region": item.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if no statement in the region depends on a task."""
        if problems := check_present(schedule, self.region):
            return problems
        region = find(schedule, self.region)
        if not isinstance(region, DirectiveRegion) or not region.directive.is_of_one_thread:
            message = f"In '{self.region}' no thread makes tasks for others."
            return (Diagnostic("T004", message, place_near(schedule, self.region)),)
        if self._awaited(schedule, region) == region.body:
            message = f"Nothing in '{self.region}' depends on a task that is under way."
            return (Diagnostic("T082", message, place_near(schedule, self.region)),)
        return ()

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the waits inserted."""
        region = find(schedule, self.region)
        assert isinstance(region, DirectiveRegion)
        awaited = replace(region, body=self._awaited(schedule, region))
        return replaced(schedule, region.uid, awaited)

    def _awaited(self, schedule: Schedule, region: DirectiveRegion) -> tuple[Statement, ...]:
        body: list[Statement] = []
        pending: list[Statement] = []
        for item in region.body:
            if any(dependences(schedule, task, item) for task in pending):
                body.append(TaskWait(f"task-wait@{item.uid}"))
                pending.clear()
            if isinstance(item, TaskWait):
                pending.clear()
            elif leaves_tasks(item):
                pending.append(item)
            body.append(item)
        return tuple(body)


def _places_of_one(schedule: Schedule) -> Iterator[StepPlace]:
    """Yield sequences of adjacent statements that create tasks, the longest ones first."""
    for run in runs_between_exchanges(schedule, _makes_tasks):
        for last in reversed(run):
            yield {"first": run[0].uid, "last": last.uid}


def _makes_tasks(item: Statement) -> bool:
    if isinstance(item, DirectiveRegion):
        return item.directive.makes_tasks
    return isinstance(item, Loop) and item.over.in_sequence and all(map(_makes_tasks, item.body))


def _check_one(schedule: Schedule, first: str, last: str) -> Reasons:
    reasons = check_block(schedule, first, last, around=_TEAM, inside=_TASKS)
    return (*reasons, *check_reductions_in_region(schedule, block_between(schedule, first, last)))


def _no_sums(loop: Loop) -> Iterator[Diagnostic]:
    for reduced in reductions_in(loop):
        yield Diagnostic(
            "T087",
            f"'{loop.uid}' reduces to '{reduced.datum}', which tasks cannot do together.",
            place_of(loop),
            hint="Share the loop by 'openmp-do' instead.",
        )
