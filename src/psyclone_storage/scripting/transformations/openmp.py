"""PSyclone's names for OpenMP transformations."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.ir.directive import NO_OPTIONS, Directive, RegionOptions
from psyclone_storage.scripting.errors import TransformationError, refusal
from psyclone_storage.scripting.transformations.base import (
    RegionTrans,
    Transformation,
    TransformationOptions,
    Unsupported,
)
from psyclone_storage.scripting.transformations.on_files import NodeRequest, thread_schedule
from psyclone_storage.scripting.views import DirectiveRegion, ScheduleNode
from psyclone_storage.transform.file_regions import with_teams, without_barriers
from psyclone_storage.transform.file_statements import EditRoutine
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.openmp_target import OpenTarget, TeamsDo
from psyclone_storage.transform.openmp_tasks import (
    AwaitTasks,
    MakeTask,
    OpenMaster,
    OpenSingle,
    TaskLoop,
)
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import NamedStep

_ON_FILES = {
    "do": Directive.OMP_DO,
    "paralleldo": Directive.OMP_PARALLEL_DO,
    "teamsdistributeparalleldo": Directive.OMP_TEAMS_DO,
    "teamsloop": Directive.OMP_TEAMS_LOOP,
    "loop": Directive.OMP_LOOP,
}
_HINT = "Use 'do', 'paralleldo' or 'teamsdistributeparalleldo'."
_DIRECTIVES = tuple(_ON_FILES)
_WITHOUT_SCHEDULE = ("teamsloop", "loop")


class ParallelLoop(Transformation):
    """Apply `omp parallel do` to a loop; `omp_directive` has no effect, as in PSyclone."""

    of_loops = True
    options: Mapping[str, object] = {"reprod": None, "force": False}

    def __init__(self, omp_directive: str = "do", omp_schedule: str = "static") -> None:
        # In 2019 the schedule came first.
        is_directive = omp_directive in _DIRECTIVES
        self.omp_schedule = omp_schedule if is_directive else omp_directive

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return _parallel_do(nodes[0].uid, self.omp_schedule, options)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        options = RegionOptions(thread_schedule(self.omp_schedule))
        return request.over_loop(Directive.OMP_PARALLEL_DO, options)


class WorkshareLoop(Transformation):
    """Apply `omp do` or `omp_directive` to a loop; `reprod` requests reproducible sums.

    Without `reprod`, the settings decide.
    """

    of_loops = True
    options: Mapping[str, object] = {"reprod": None, "force": False}

    def __init__(self, omp_directive: str = "do", omp_schedule: str = "static") -> None:
        # In 2019 the schedule came first.
        is_directive = omp_directive in _DIRECTIVES
        self.omp_directive = omp_directive if is_directive else "do"
        self.omp_schedule = omp_schedule if is_directive else omp_directive

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        match self.omp_directive:
            case "paralleldo":
                return _parallel_do(nodes[0].uid, self.omp_schedule, options)
            case "teamsdistributeparalleldo":
                return TeamsDo(nodes[0].uid)
            case "teamsloop" | "loop":
                message = f"'{self.name}' does not write 'omp {self.omp_directive}'."
                raise TransformationError(Diagnostic("T015", message, hint=_HINT))
        force = bool(options["force"])
        return ShareLoop(nodes[0].uid, self.omp_schedule, _reproducible(options), force)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        if self.omp_directive not in _ON_FILES:
            hint = f"There are {listed(_DIRECTIVES, 'and')}."
            raise refusal(f"'{self.name}' does not write 'omp {self.omp_directive}'.", hint)
        nowait = bool(request.options.get("nowait")) and self.omp_directive == "do"
        schedule = thread_schedule(self.omp_schedule)
        is_ordered = self.omp_directive not in _WITHOUT_SCHEDULE
        options = RegionOptions(schedule if is_ordered else None, nowait=nowait)
        return request.over_loop(_ON_FILES[self.omp_directive], options)


def _parallel_do(uid: str, sharing: str, options: TransformationOptions) -> ParallelDo:
    return ParallelDo(uid, sharing, bool(options["force"]), _reproducible(options))


def _reproducible(options: TransformationOptions) -> bool | None:
    wanted = options["reprod"]
    return None if wanted is None else bool(wanted)


class ParallelRegion(RegionTrans):
    """Enclose neighbouring nodes in `omp parallel`."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return OpenParallelRegion(*self._ends(nodes))

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return request.region(Directive.OMP_PARALLEL, NO_OPTIONS)


class SingleRegion(RegionTrans):
    """Enclose neighbouring nodes in `omp single`."""

    options: Mapping[str, object] = {"nowait": None}

    def __init__(self, nowait: bool = False) -> None:
        self.nowait = nowait

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        nowait = self.nowait if options["nowait"] is None else bool(options["nowait"])
        return OpenSingle(*self._ends(nodes), nowait)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        wanted = request.options["nowait"]
        nowait = self.nowait if wanted is None else bool(wanted)
        return request.region(Directive.OMP_SINGLE, RegionOptions(nowait=nowait))


class MasterRegion(RegionTrans):
    """Enclose neighbouring nodes in `omp master`."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return OpenMaster(*self._ends(nodes))

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return request.region(Directive.OMP_MASTER, NO_OPTIONS)


class CriticalRegion(Unsupported):
    """Put one or several neighbouring nodes of a file under `omp critical`."""

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return request.region(Directive.OMP_CRITICAL, NO_OPTIONS)


class MaximalParallelRegions(Unsupported):
    """Put the longest runs of shared loops of a file under `omp parallel`."""

    def _on_file(self, request: NodeRequest) -> NamedStep:
        before = request.bench.code(request.routine.key).body
        after = with_teams(before, request.lines())
        return EditRoutine(request.routine.key, before, after, "maximal-parallel-regions")


class MinimalBarriers(Unsupported):
    """Leave out the barriers after shared loops of a file that no later access needs."""

    def _on_file(self, request: NodeRequest) -> NamedStep:
        key = request.routine.key
        before = request.bench.code(key).body
        after = without_barriers(request.bench, key)
        return EditRoutine(key, before, after, "minimal-barriers")


class TaskLoops(Transformation):
    """Execute the iterations of a loop as tasks."""

    of_loops = True
    options: Mapping[str, object] = {"nogroup": None, "force": False}

    def __init__(
        self, grainsize: int | None = None, num_tasks: int | None = None, nogroup: bool = False
    ) -> None:
        self.grainsize, self.num_tasks, self.nogroup = grainsize or 0, num_tasks or 0, nogroup

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        nogroup = self.nogroup if options["nogroup"] is None else bool(options["nogroup"])
        force = bool(options["force"])
        return TaskLoop(nodes[0].uid, self.grainsize, self.num_tasks, nogroup, force)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        wanted = request.options["nogroup"]
        nogroup = self.nogroup if wanted is None else bool(wanted)
        options = RegionOptions(grain=self.grainsize, tasks=self.num_tasks, nogroup=nogroup)
        return request.over_loop(Directive.OMP_TASKLOOP, options)


class Task(Transformation):
    """Execute a loop as one task."""

    options: Mapping[str, object] = {"force": False}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MakeTask(nodes[0].uid, bool(options["force"]))


class TaskWaits(Transformation):
    """Insert waits for tasks before dependent statements in a region executed by one thread."""

    options: Mapping[str, object] = {"fail_on_no_taskloop": True}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        for node in nodes[0].walk(DirectiveRegion):
            if node.directive in ("omp single", "omp master"):
                return AwaitTasks(node.uid)
        return AwaitTasks(nodes[0].uid)

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T082" for reason in reasons)


class TargetRegion(RegionTrans):
    """Enclose neighbouring nodes in `omp target`."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return OpenTarget(*self._ends(nodes))

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return request.region(Directive.OMP_TARGET, NO_OPTIONS)
