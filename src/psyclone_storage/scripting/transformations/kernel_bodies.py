"""PSyclone's names for transformations of kernel bodies and kernel calls."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.facts import Fact, FactKind
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.passes.hoist import cannot_fail
from psyclone_storage.passes.inline.kernels import routines_calling
from psyclone_storage.scripting.errors import TransformationError, refusal
from psyclone_storage.scripting.psyir.calls import IntrinsicCall
from psyclone_storage.scripting.psyir.data import DataNode
from psyclone_storage.scripting.psyir.symbols import calling_line
from psyclone_storage.scripting.transformations.base import (
    ForFiles,
    Transformation,
    TransformationOptions,
)
from psyclone_storage.scripting.transformations.on_files import NodeRequest, whole_routine
from psyclone_storage.scripting.views import ScheduleNode
from psyclone_storage.transform.file_statements import InlineStatement, RewriteStatement
from psyclone_storage.transform.hoist import (
    ComputeBefore,
    MoveBoundsOfLoop,
    MoveInvariantAssignments,
    MoveInvariantBounds,
    MoveOneAssignment,
)
from psyclone_storage.transform.kernel.arrays import (
    ArraysToLoops,
    ArraysToRanges,
    ArraysToScalars,
    IncreaseRank,
    KeepArrays,
)
from psyclone_storage.transform.kernel.inline import InlineCall
from psyclone_storage.transform.kernel.intrinsics import IntrinsicsToCode, check_signs
from psyclone_storage.transform.kernel.pass_bounds import MoveBoundsInside
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import NamedStep

_DIRECTED = (un.DirectiveBlock, un.DirectiveLine)


class WriteOut(Transformation):
    """Replace calls of an intrinsic function in a kernel by equivalent statements."""

    function = ""
    """Its name."""
    rewrites_statement = True
    """Whether it changes all parts of a statement when it is applied to one."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return IntrinsicsToCode(nodes[0].uid, self.function)

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T067" for reason in reasons)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        node = request.nodes[0]
        if not isinstance(node, IntrinsicCall) or key_of(node.routine.name) != self.function:
            raise refusal(f"'{self.name}' takes a call of '{self.function}'.")
        step = request.on_statement(IntrinsicsToCode("", self.function))
        code = replace(request.bench.code(request.routine.key), body=(step.line,))
        if self.function == "sign" and (reasons := check_signs(code)):
            raise TransformationError(*reasons)
        return step


def writes_out(function: str) -> type[WriteOut]:
    """Return the transformation class that replaces calls of `function`."""
    return type("WriteOut", (WriteOut,), {"function": function, "__doc__": WriteOut.__doc__})


class AssignInLoops(Transformation):
    """Replace the array assignments of a kernel by loops."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return ArraysToLoops(nodes[0].uid)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return request.on_statement(ArraysToLoops(""), masked=True)


class WriteRanges(Transformation):
    """Replace whole arrays in a kernel by array sections."""

    rewrites_statement = True

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return ArraysToRanges(nodes[0].uid)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        if not request.may_be_array():
            return request.nothing()
        return request.on_statement(ArraysToRanges(""))

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T067" for reason in reasons)


class IncreaseRankOfArrays(ForFiles):
    """Give local arrays a further dimension for the iterations of a loop of a file."""

    options: Mapping[str, object] = {"arrays": ()}

    def _on_file(self, request: NodeRequest) -> NamedStep:
        names = request.names("arrays")
        if not names:
            raise refusal(f"'{self.name}' needs the names of arrays in its option 'arrays'.")
        number = request.loop_number()
        return IncreaseRank(request.routine.key, number, tuple(map(str.strip, names)))


class UseScalars(ForFiles):
    """Replace local arrays by scalars if each iteration of a loop of a file uses one element."""

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return ArraysToScalars(request.routine.key, request.loop_number())

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T067" for reason in reasons)


class KeepLocalArrays(ForFiles):
    """Let the automatic arrays of a routine of a file stay allocated between calls."""

    def _on_file(self, request: NodeRequest) -> NamedStep:
        key = whole_routine(request)
        codes = {one: request.bench.code(one) for one in request.bench.routines}
        callers = routines_calling(codes, key)
        if key in callers:
            raise refusal(f"'{key}' may call itself, so it cannot have saved arrays.")
        for routine in callers:
            body = request.bench.code(routine).body
            if any(isinstance(one, _DIRECTED) for one in walk_lines(body)):
                message = f"'{routine}' has directives and calls '{key}', which would not be"
                raise refusal(f"{message} thread-safe with saved arrays.")
        step = KeepArrays(key)
        if not request.bench.check(step):
            _assume_one_call(request, key, callers)
        return step

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T067" for reason in reasons)


def _assume_one_call(request: NodeRequest, key: str, callers: tuple[str, ...]) -> None:
    """Record that a routine is not called by several threads, as no other file shows such a call.

    Raises:
        TransformationError: `T015`, another file has such a call.
    """
    code = request.bench.code(key)
    names = {one.rpartition(".")[2] for one in (key, *callers)} | code.module.generics
    place = request.bench.threaded_call(code.module.name, names)
    if place is not None:
        message = f"'{key}' is called where directives may start threads, which would not be"
        where = f"{place.source.name}:{place.line}"
        raise refusal(f"{message} thread-safe with saved arrays: {where}.")
    request.bench.assume(Fact(FactKind.ONE_CALL, code.name, key, place=calling_line()))


class ComputeInVariable(ForFiles):
    """Compute an expression of a file in a new variable before its statement."""

    options: Mapping[str, object] = {"storage_name": ""}

    def _on_file(self, request: NodeRequest) -> NamedStep:
        node, wish = request.nodes[0], str(request.options["storage_name"] or "tmp")
        if not isinstance(node, DataNode) or not wish.isidentifier():
            raise refusal(f"'{self.name}' takes an expression, and a name for a variable.")
        return request.on_statement(ComputeBefore("", node.frozen(), wish))


class Inline(Transformation):
    """Replace a kernel call by the statements of the kernel, or a call in a file by those of it."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return InlineCall(nodes[0].uid)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return InlineStatement(request.routine.key, *request.called())


class Hoist(Transformation):
    """Move loop-invariant assignments of a kernel out of their loops."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MoveInvariantAssignments(nodes[0].uid)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        loop, line = request.assignment_in_loop()
        code = request.bench.code(request.routine.key)
        is_used = not cannot_fail(line, code) or request.is_target_used_outside(loop, line)
        step = MoveOneAssignment("", line, is_used_outside=is_used)
        return RewriteStatement(request.routine.key, loop, step)


class HoistLoopBounds(Transformation):
    """Compute loop bounds in a kernel before the loops."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MoveInvariantBounds(nodes[0].uid)

    def _on_file(self, request: NodeRequest) -> NamedStep:
        return request.on_statement(MoveBoundsOfLoop("", request.uid))


class MoveBounds(Transformation):
    """Move the bounds check of a loop into its kernel; the loop then runs over all points."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MoveBoundsInside(nodes[0].uid)
