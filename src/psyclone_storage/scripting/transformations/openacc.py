"""PSyclone's names for OpenACC transformations."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.ir.directive import NO_OPTIONS, Directive, RegionOptions
from psyclone_storage.scripting.errors import TransformationError, refusal
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.loops import Loop as FileLoop
from psyclone_storage.scripting.psyir.statements import Assignment
from psyclone_storage.scripting.transformations.base import (
    RegionTrans,
    Transformation,
    TransformationOptions,
)
from psyclone_storage.scripting.transformations.on_files import NodeRequest
from psyclone_storage.scripting.views import Loop, Schedule, ScheduleNode
from psyclone_storage.transform.file_regions import with_data
from psyclone_storage.transform.file_statements import EditRoutine
from psyclone_storage.transform.openacc import AccData, AccKernels, AccLoop, AccParallel
from psyclone_storage.transform.openacc_data import AccEnterData, AccUpdate
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import NamedStep

_NO_QUEUE = -1


class AccLoops(Transformation):
    """Apply `acc loop` to a loop; `collapse` is a number, or true for all nested loops."""

    of_loops = True
    options: Mapping[str, object] = {
        "collapse": None,
        "independent": True,
        "sequential": False,
        "gang": False,
        "vector": False,
    }

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return AccLoop(
            nodes[0].uid,
            _collapse(self, options["collapse"]),
            independent=bool(options["independent"]),
            sequential=bool(options["sequential"]),
            gang=bool(options["gang"]),
            vector=bool(options["vector"]),
        )

    def _on_file(self, request: NodeRequest) -> NamedStep:
        chosen = request.options
        options = RegionOptions(
            sequential=bool(chosen["sequential"]),
            gangs=bool(chosen["gang"]),
            vectors=bool(chosen["vector"]),
            independent=bool(chosen["independent"]),
        )
        return request.over_loop(Directive.ACC_LOOP, options)


class AccParallelRegion(RegionTrans):
    """Enclose neighbouring nodes, or a whole schedule, in `acc parallel`."""

    options: Mapping[str, object] = {"default_present": True}

    def __init__(self, default_present: bool = True) -> None:
        self.default_present = default_present

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        present = bool(options["default_present"]) and self.default_present
        return AccParallel(*self._ends(nodes), present)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        present = bool(request.options["default_present"]) and self.default_present
        return request.region(Directive.ACC_PARALLEL, RegionOptions(present=present))


class AccKernelsRegion(RegionTrans):
    """Enclose neighbouring nodes, or a whole schedule, in `acc kernels`."""

    options: Mapping[str, object] = {
        "default_present": False,
        "async_queue": False,
        "disable_loop_check": False,
    }

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        queue = _queue(self, options["async_queue"])
        return AccKernels(*self._ends(nodes), bool(options["default_present"]), queue)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        queue = _queue(self, request.options["async_queue"])
        present = bool(request.options["default_present"])
        if not request.options["disable_loop_check"] and not any(map(_is_loop, request.nodes)):
            raise refusal(f"'{self.name}' takes statements with a loop or an array assignment.")
        return request.region(Directive.ACC_KERNELS, RegionOptions(present=present, queue=queue))


class AccDataRegion(RegionTrans):
    """Enclose neighbouring nodes in `acc data`.

    Applied to a schedule, it keeps the data on the device, as PSyclone did in 2019 ("OpenACC
    Support").
    """

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        if isinstance(nodes[0], Schedule):
            return AccEnterData(nodes[0].session.bench.schedule.name)
        return AccData(*self._ends(nodes))

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return request.region(Directive.ACC_DATA, NO_OPTIONS)


class EnterDataOfSchedule(Transformation):
    """Keep the data of a schedule on the device."""

    options: Mapping[str, object] = {"async_queue": False}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return AccEnterData(
            nodes[0].session.bench.schedule.name, _queue(self, options["async_queue"])
        )

    def _on_file(self, request: NodeRequest) -> NamedStep:
        key = request.routine.key
        before = request.bench.code(key).body
        try:
            after = with_data(request.bench, key)
        except CompileError as error:
            raise TransformationError(*error.problems) from error
        return EditRoutine(key, before, after, "acc-enter-data")


class UpdateOfSchedule(Transformation):
    """Mark host data as outdated after changes on the device; regions imply this.

    In files, data regions have the updates that their statements need.
    """

    options: Mapping[str, object] = {"if_present": True}

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        loops = nodes[0].walk(Loop)
        return AccUpdate(loops[0].uid if loops else "end")

    def _on_file(self, request: NodeRequest) -> NamedStep:
        key = request.routine.key
        before = request.bench.code(key).body
        return EditRoutine(key, before, before, "acc-update")

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code in ("T013", "T082") for reason in reasons)


def _is_loop(node: LiveNode) -> bool:
    """Return whether there is a loop or an array assignment in a node of a file."""
    return bool(node.walk(FileLoop)) or any(
        one.is_array_assignment for one in node.walk(Assignment)
    )


def _collapse(transformation: Transformation, value: object) -> int:
    """Return the number of loops to collapse; 0 means all of them.

    PSyclone uses true for all loops, and a false value for one.
    """
    if value is True:
        return 0
    if not value:
        return 1
    if isinstance(value, int):
        return value
    raise _wrong(transformation, "collapse", value)


def _queue(transformation: Transformation, value: object) -> int:
    """Return the number of an asynchronous queue.

    PSyclone uses true for any queue, and false for none.
    """
    if value is True:
        return 0
    if value is False or value is None:
        return _NO_QUEUE
    if isinstance(value, int) and value >= 0:
        return value
    raise _wrong(transformation, "async_queue", value)


def _wrong(transformation: Transformation, option: str, value: object) -> TransformationError:
    message = f"'{transformation.name}' cannot have the value '{value}' for '{option}'."
    return TransformationError(Diagnostic("T015", message))
