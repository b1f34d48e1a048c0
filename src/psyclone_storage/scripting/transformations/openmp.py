"""PSyclone's names for what OpenMP does."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.base import (
    RegionTrans,
    Transformation,
    TransformationOptions,
)
from psyclone_storage.scripting.views import DirectiveRegion, ScheduleNode
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

_DIRECTIVES = ("do", "paralleldo", "teamsdistributeparalleldo", "teamsloop", "loop")


class ParallelLoop(Transformation):
    """Run a loop under `omp parallel do`; `omp_directive` makes no difference to PSyclone."""

    options: Mapping[str, object] = {"reprod": None, "force": False}

    def __init__(self, omp_directive: str = "do", omp_schedule: str = "static") -> None:
        # In 2019 the schedule came first.
        is_directive = omp_directive in _DIRECTIVES
        self.omp_schedule = omp_schedule if is_directive else omp_directive

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return _parallel_do(nodes[0].uid, self.omp_schedule, options)


class WorkshareLoop(Transformation):
    """Run a loop under `omp do`, or `omp_directive`; `reprod` asks for reproducible sums.

    Where it is not given, the settings decide.
    """

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
                hint = "Use 'do', 'paralleldo' or 'teamsdistributeparalleldo'."
                raise TransformationError(Diagnostic("T015", message, hint=hint))
        force = bool(options["force"])
        return ShareLoop(nodes[0].uid, self.omp_schedule, _reproducible(options), force)


def _parallel_do(uid: str, sharing: str, options: TransformationOptions) -> ParallelDo:
    return ParallelDo(uid, sharing, bool(options["force"]), _reproducible(options))


def _reproducible(options: TransformationOptions) -> bool | None:
    wanted = options["reprod"]
    return None if wanted is None else bool(wanted)


class ParallelRegion(RegionTrans):
    """Put one or several neighbouring nodes under `omp parallel`."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return OpenParallelRegion(*self._ends(nodes))


class SingleRegion(RegionTrans):
    """Put one or several neighbouring nodes under `omp single`."""

    options: Mapping[str, object] = {"nowait": None}

    def __init__(self, nowait: bool = False) -> None:
        self.nowait = nowait

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        nowait = self.nowait if options["nowait"] is None else bool(options["nowait"])
        return OpenSingle(*self._ends(nodes), nowait)


class MasterRegion(RegionTrans):
    """Put one or several neighbouring nodes under `omp master`."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return OpenMaster(*self._ends(nodes))


class TaskLoops(Transformation):
    """Make tasks of the iterations of a loop."""

    options: Mapping[str, object] = {"nogroup": None, "force": False}

    def __init__(
        self, grainsize: int | None = None, num_tasks: int | None = None, nogroup: bool = False
    ) -> None:
        self.grainsize, self.num_tasks, self.nogroup = grainsize or 0, num_tasks or 0, nogroup

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        nogroup = self.nogroup if options["nogroup"] is None else bool(options["nogroup"])
        force = bool(options["force"])
        return TaskLoop(nodes[0].uid, self.grainsize, self.num_tasks, nogroup, force)


class Task(Transformation):
    """Make one task of a loop."""

    options: Mapping[str, object] = {"force": False}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MakeTask(nodes[0].uid, bool(options["force"]))


class TaskWaits(Transformation):
    """Wait for tasks where something depends on them, in all that one thread of a team does."""

    options: Mapping[str, object] = {"fail_on_no_taskloop": True}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        for node in nodes[0].walk(DirectiveRegion):
            if node.directive in ("omp single", "omp master"):
                return AwaitTasks(node.uid)
        return AwaitTasks(nodes[0].uid)

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T082" for reason in reasons)


class TargetRegion(RegionTrans):
    """Put one or several neighbouring nodes under `omp target`."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return OpenTarget(*self._ends(nodes))
