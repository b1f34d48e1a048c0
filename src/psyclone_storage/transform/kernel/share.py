"""Loops inside a kernel whose iterations a device shares, within one call of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.independence import independence_of
from psyclone_storage.analysis.bodies.nests import CodeFootprint, counter
from psyclone_storage.analysis.footprints import UserAssertions, check_parallel
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.directive import AccLoopDirective, AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.unit import DirectiveLine, Do
from psyclone_storage.ir.walk import place_near
from psyclone_storage.passes.loops import rewrite_loop
from psyclone_storage.transform.kernel.code import check_call, check_each
from psyclone_storage.transform.nests import OnKernelNest
from psyclone_storage.transform.step import Reasons

_LEVELS = tuple(level.value for level in DeviceLevel if level is not DeviceLevel.SEQ)
"""What of a device may share a loop, from the inside to the outside."""


@dataclass(frozen=True, slots=True)
class ShareInKernel(OnKernelNest):
    """Let the lanes of a device share a loop in a kernel that is called on it.

    `level` says who shares it: `vector`, `worker` or `gang`. The kernel must have been made for
    that by `acc-routine` with a `parallelism` of at least that level, and the loop around its
    calls must leave it to the kernel. What an iteration sets for itself alone is private, and what
    the loop reduces is put together in the end. `sums` is the user's word that sums and products of
    real numbers may get their terms in another order, which changes them by rounding.

    Refused if a value goes from one iteration to another, or if that cannot be told; if a variable
    that the loop sets is used after it; and if a loop around it or inside of it is shared by the
    same level.

    before: do k = 1, n; t = b(k); a(k) = t * t
    after:  !$acc loop vector independent private(t); do k = 1, n; t = b(k); a(k) = t * t
    """

    name: ClassVar[str] = "kernel-acc-loop"

    level: str = "vector"
    sums: bool = False

    @property
    def assertions(self) -> UserAssertions:
        """Whether sums may be rounded in another order."""
        return UserAssertions(sums=self.sums)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against sharing the loop."""
        if self.level not in _LEVELS:
            message = f"'{self.level}' does not share loops of a kernel."
            hint = f"There are {listed(_LEVELS, 'and')}."
            return (Diagnostic("T057", message, place_near(schedule, self.call), hint=hint),)
        problems = check_call(schedule, self.call)
        return problems or check_each(schedule, self.call, self.check_code)

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return all reasons against sharing the iterations of `nest`."""
        return tuple(_reasons(self.level, nest))

    def transform_code(self, code: KernelCode) -> KernelCode:
        """Return `code` with the directive."""
        return with_shared(code, self.loop, self.level)


def with_shared(code: KernelCode, number: int, level: str) -> KernelCode:
    """Return `code` with loop `number` shared by `level`."""
    flow = flow_of(code)
    found = independence_of(flow.loops[number - 1], flow)
    reductions = tuple((one.operator.spelling, one.name) for one in found.reductions)
    shared = AccLoopDirective((DeviceLevel(level),), tuple(found.private), reductions)
    return rewrite_loop(code, number, lambda loop: (DirectiveLine(meaning=shared), loop))


def _reasons(level: str, nest: CodeFootprint) -> Iterator[Diagnostic]:
    code, loop, flow = nest.flow.code, nest.loop, nest.flow
    if code.in_place:
        yield Diagnostic("T054", f"'{code.name}' is not called any more.", code.module.routine)
        return
    called = (
        item.meaning for item in code.directives if isinstance(item.meaning, AccRoutineDirective)
    )
    if not any(one.level.rank >= DeviceLevel(level).rank for one in called):
        yield Diagnostic(
            "T081",
            f"'{code.name}' is not compiled for loops that '{level}' shares.",
            code.module.routine,
            hint=f"Apply 'acc-routine{{parallelism={level}}}' to it first.",
        )
    if _is_out_of_order(level, loop, flow):
        message = f"A loop around or in the one over '{counter(loop)}' leaves no '{level}' for it."
        hint = "A gang has workers, and a worker has lanes."
        yield Diagnostic("T084", message, nest.line.place, hint=hint)
    yield from check_parallel(nest)


def _is_out_of_order(level: str, loop: FlowNode, flow: Flow) -> bool:
    """Return whether a loop has a directive already, or is around or in a shared one wrongly."""
    own = DeviceLevel(level).rank
    for other, directive in _shared_loops(flow):
        # Where no level is given, the compiler may take any.
        ranks = [taken.rank for taken in directive.levels] or [DeviceLevel.VECTOR.rank, own]
        if other.number == loop.number:
            return True
        if other.number < loop.number < other.stop and DeviceLevel.SEQ.rank < min(ranks) <= own:
            return True
        if loop.number < other.number < loop.stop and max(ranks) >= own:
            return True
    return False


def _shared_loops(flow: Flow) -> Iterator[tuple[FlowNode, AccLoopDirective]]:
    """Yield each loop that has a directive in front of it, with that."""
    for before, node in pairwise(flow.nodes):
        meaning = before.line.meaning if isinstance(before.line, DirectiveLine) else None
        alike = before.around == node.around and before.blocks == node.blocks
        if alike and isinstance(node.line, Do) and isinstance(meaning, AccLoopDirective):
            yield node, meaning
