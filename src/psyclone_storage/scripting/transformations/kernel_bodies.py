"""PSyclone's names for changes of kernels, of their bodies and of how they are called."""

from __future__ import annotations

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.scripting.transformations.base import Transformation, TransformationOptions
from psyclone_storage.scripting.views import ScheduleNode
from psyclone_storage.transform.hoist import MoveInvariantAssignments, MoveInvariantBounds
from psyclone_storage.transform.kernel.arrays import ArraysToLoops, ArraysToRanges
from psyclone_storage.transform.kernel.inline import InlineCall
from psyclone_storage.transform.kernel.intrinsics import IntrinsicsToCode
from psyclone_storage.transform.kernel.pass_bounds import MoveBoundsInside
from psyclone_storage.transform.step import Step


class WriteOut(Transformation):
    """Write out a function of the language wherever a kernel calls it."""

    function = ""
    """Its name."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return IntrinsicsToCode(nodes[0].uid, self.function)

    def _is_idle(self, reasons: Reasons) -> bool:
        return all(reason.code == "T067" for reason in reasons)


def writes_out(function: str) -> type[WriteOut]:
    """Return the transformation that writes out `function`."""
    return type("WriteOut", (WriteOut,), {"function": function, "__doc__": WriteOut.__doc__})


class AssignInLoops(Transformation):
    """Write the array assignments of a kernel as loops."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return ArraysToLoops(nodes[0].uid)


class WriteRanges(Transformation):
    """Write whole arrays in a kernel with their ranges."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return ArraysToRanges(nodes[0].uid)


class Inline(Transformation):
    """Replace the call of a kernel by its statements."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return InlineCall(nodes[0].uid)


class Hoist(Transformation):
    """Move assignments of a kernel out of the loops that they do not depend on."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MoveInvariantAssignments(nodes[0].uid)


class HoistLoopBounds(Transformation):
    """Compute the bounds of the loops in a kernel in front of them."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MoveInvariantBounds(nodes[0].uid)


class MoveBounds(Transformation):
    """Let a kernel look at the bounds of its loop, which runs over all points."""

    def _step(self, nodes: tuple[ScheduleNode, ...], options: TransformationOptions) -> Step:
        return MoveBoundsInside(nodes[0].uid)
