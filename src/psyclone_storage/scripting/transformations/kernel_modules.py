"""PSyclone's names for transformations of kernel modules: inlining, directives, constants.

Each transformation takes kernel calls, or nodes that contain kernel calls. It changes either all of
these kernels, except built-ins, or none. A kernel that already has the requested form remains
unchanged.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.base import (
    Nodes,
    Transformation,
    TransformationOptions,
)
from psyclone_storage.scripting.transformations.on_files import (
    NodeRequest,
    live_nodes,
    transform_file,
    whole_routine,
)
from psyclone_storage.scripting.views import KernelCall, Schedule, ScheduleNode
from psyclone_storage.transform.file_copies import CopyProcedure
from psyclone_storage.transform.kernel.constants import SetKernelConstants
from psyclone_storage.transform.kernel.imports import ImportsToArguments
from psyclone_storage.transform.kernel.inline_module import InlineKernelModule
from psyclone_storage.transform.kernel.routine import DeclareTarget, MakeAccRoutine
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import NamedStep


class OnKernels(Transformation):
    """Transformation of all given kernels, and of all kernels inside given nodes."""

    def apply(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> tuple[Schedule | None, Step | None]:
        """Transform the kernels; return the schedule, and the last step or None if nothing changed.

        Raises:
            TransformationError: all reasons for which a kernel cannot be changed.
        """
        given = {**(options or {}), **keywords}
        if live := live_nodes(node, more):
            transform_file(self, live, given, check=False)
            return None, None
        nodes, chosen = self._read(node, more, given)
        bench, last = nodes[0].session.bench, None
        for step in self._checked(nodes, chosen):
            bench.apply(step)
            last = step
        return nodes[0].schedule, last

    def validate(
        self,
        node: Nodes,
        *more: object,
        options: TransformationOptions | None = None,
        **keywords: object,
    ) -> None:
        """Check the transformation without applying it.

        Raises:
            TransformationError: all reasons for which a kernel cannot be changed.
        """
        given = {**(options or {}), **keywords}
        if live := live_nodes(node, more):
            transform_file(self, live, given, check=True)
            return
        nodes, chosen = self._read(node, more, given)
        self._checked(nodes, chosen)

    @abstractmethod
    def _step_for(self, uid: str, options: TransformationOptions) -> Step:
        """Return the step that changes the kernel called by the statement `uid`."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return self._step_for(nodes[0].uid, options)

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T054" for reason in reasons)

    def _checked(
        self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions
    ) -> list[Step]:
        """Return the steps that change a kernel; raise `TransformationError` if one is rejected."""
        bench = nodes[0].session.bench
        steps: list[Step] = []
        problems: list[Diagnostic] = []
        for uid in _calls(nodes):
            step = self._step_for(uid, options)
            reasons = bench.check(step)
            if not reasons:
                steps.append(step)
            elif not self._is_idle(reasons):
                problems += reasons
        if problems:
            raise TransformationError(*problems)
        return steps


class InlineModule(OnKernels):
    """Copy kernels into the PSy layer, or a procedure into the module of a file that calls it."""

    options: Mapping[str, object] = {"inline": True, "update_all": True}

    def _step_for(self, uid: str, options: TransformationOptions) -> Step:
        if not options["inline"]:
            message = f"'{self.name}' does not take a kernel out of the PSy layer: undo the step."
            raise TransformationError(Diagnostic("T015", message))
        return InlineKernelModule(uid)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        line, function = request.called()
        return CopyProcedure(request.routine.key, line, function)


class PassImports(OnKernels):
    """Pass module variables that kernels use as arguments."""

    def _step_for(self, uid: str, options: TransformationOptions) -> Step:
        return ImportsToArguments(uid)

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T067" for reason in reasons)


class AccRoutine(OnKernels):
    """Make kernels callable from OpenACC code."""

    options: Mapping[str, object] = {"force": False, "parallelism": "seq"}

    def _step_for(self, uid: str, options: TransformationOptions) -> MakeAccRoutine:
        return MakeAccRoutine(uid, str(options["parallelism"]).lower(), bool(options["force"]))

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return self._step_for(whole_routine(request), request.options)


class DeclareForTarget(OnKernels):
    """Make kernels callable from OpenMP code on a device."""

    options: Mapping[str, object] = {"device_string": None, "force": False}

    def _step_for(self, uid: str, options: TransformationOptions) -> DeclareTarget:
        return DeclareTarget(uid, bool(options["force"]))

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return self._step_for(whole_routine(request), request.options)


class KernelConstants(OnKernels):
    """Replace size arguments of kernels by constants."""

    options: Mapping[str, object] = {
        "cellshape": "quadrilateral",
        "element_order": None,
        "element_order_h": None,
        "element_order_v": None,
        "number_of_layers": None,
        "quadrature": False,
    }

    def _step_for(self, uid: str, options: TransformationOptions) -> Step:
        if str(options["cellshape"]).lower() != "quadrilateral":
            message = f"'{self.name}' knows quadrilateral cells alone."
            raise TransformationError(Diagnostic("T015", message))
        names = ("number_of_layers", "element_order", "element_order_h", "element_order_v")
        given = {name: options[name] for name in names if options[name] is not None}
        if wrong := [name for name, value in given.items() if not isinstance(value, int)]:
            message = f"The option '{wrong[0]}' of '{self.name}' is an integer."
            raise TransformationError(Diagnostic("T057", message))
        sizes = {name: value for name, value in given.items() if isinstance(value, int)}
        return SetKernelConstants(uid, quadrature=bool(options["quadrature"]), **sizes)


def _calls(nodes: tuple[ScheduleNode, ...]) -> list[str]:
    """Return the uids of the given calls, and of kernel calls inside other given nodes."""
    found: dict[str, None] = {}
    for node in nodes:
        for call in node.walk(KernelCall):
            if call == node or not call.is_builtin:
                found[call.uid] = None
    return list(found)
