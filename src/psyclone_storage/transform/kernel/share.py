"""Loops inside a kernel that run in parallel on a device, within one call of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode
from psyclone_storage.analysis.bodies.independence import independence_of
from psyclone_storage.analysis.bodies.nests import CodeFootprint, counter
from psyclone_storage.analysis.footprints import Reasons, UserAssertions, check_parallel
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.directive import (
    AccLoopDirective,
    AccRoutineDirective,
    DeviceLevel,
    Directive,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Schedule
from psyclone_storage.ir.unit import DirectiveLine, Do
from psyclone_storage.ir.walk import path_to, place_near
from psyclone_storage.passes.loops import share_loop
from psyclone_storage.transform.kernel.code import (
    check_call,
    check_each,
    codes_of,
    place_in_algorithm,
)
from psyclone_storage.transform.nests import OnKernelNest

_REGIONS = (Directive.ACC_PARALLEL, Directive.ACC_KERNELS)
_LEVELS = tuple(level.value for level in DeviceLevel if level is not DeviceLevel.SEQ)
"""What of a device may share a loop, from the inside to the outside."""


@dataclass(frozen=True, slots=True)
class ShareInKernel(OnKernelNest):
    """Distribute a loop inside a device kernel over a level of device parallelism.

    `level` is `vector`, `worker` or `gang`. The kernel must have been prepared by `acc-routine`
    with a `parallelism` of at least that level, and the loop around its calls must not use that
    level. An inlined kernel must instead be in an OpenACC region, under `acc-loop{gang=true}`.
    Variables that each iteration sets are private, and reductions are combined at the end. `sums`
    permits reassociation of sums and products of reals, which changes rounding.

    Rejected if an iteration depends on another, or if that is unknown; if a variable set by the
    loop is used after it; and if an enclosing or inner loop uses the same level.

    before: do k = 1, n; t = b(k); a(k) = t * t
    after:  !$acc loop vector independent private(t); do k = 1, n; t = b(k); a(k) = t * t
    """

    name: ClassVar[str] = "kernel-acc-loop"

    level: str = "vector"
    sums: bool = False

    @property
    def assertions(self) -> UserAssertions:
        """The permission to reassociate sums."""
        return UserAssertions(sums=self.sums)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the loop cannot be distributed."""
        if self.level not in _LEVELS:
            message = f"'{self.level}' does not share loops of a kernel."
            hint = f"There are {listed(_LEVELS, 'and')}."
            return (Diagnostic("T057", message, place_near(schedule, self.call), hint=hint),)
        if problems := check_call(schedule, self.call):
            return problems
        return (
            *_check_region(schedule, self.call, self.level),
            *check_each(schedule, self.call, self.check_code),
        )

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return diagnostics if the iterations of `nest` cannot be distributed."""
        return tuple(_reasons(self.level, nest))

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the directive."""
        return share_loop(code, self.loop, DeviceLevel(self.level))


def _reasons(level: str, nest: CodeFootprint) -> Iterator[Diagnostic]:
    code, loop, flow = nest.flow.code, nest.loop, nest.flow
    called = (
        item.meaning for item in code.directives if isinstance(item.meaning, AccRoutineDirective)
    )
    if code.kernel_use.in_place:
        yield from _check_reductions(nest)
    elif not any(one.level.rank >= DeviceLevel(level).rank for one in called):
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


def _check_region(schedule: Schedule, uid: str, level: str) -> Iterator[Diagnostic]:
    """Yield diagnostics if `level` cannot be used in an inlined kernel (T081, T084)."""
    code, place = codes_of(schedule, uid)[0], place_in_algorithm(schedule, uid)
    if not code.kernel_use.in_place:
        return
    around = [item for item in path_to(schedule, uid) if isinstance(item, DirectiveRegion)]
    if not any(item.directive in _REGIONS for item in around):
        message = f"'{code.name}' is inlined in no region of OpenACC."
        hint = "Apply 'acc-loop{gang=true}' and 'acc-parallel' around it first."
        yield Diagnostic("T081", message, place, hint=hint)
    for item in around:
        if item.directive is Directive.ACC_LOOP and not item.options.sequential:
            taken = DeviceLevel.VECTOR if item.options.vectors else DeviceLevel.GANG
            if not item.options.gangs or taken.rank <= DeviceLevel(level).rank:
                message = f"'{item.uid}' around '{code.name}' leaves no '{level}' for its loops."
                hint = "Share that loop by 'acc-loop{gang=true}'."
                yield Diagnostic("T084", message, place, hint=hint)


def _check_reductions(nest: CodeFootprint) -> Iterator[Diagnostic]:
    """Yield diagnostics for reduction variables that no clause can name (T084)."""
    code = nest.flow.code
    for item in independence_of(nest.loop, nest.flow).reductions:
        if key_of(item.name) in code.dummy_keys:
            message = f"'{item.name}' is passed to '{code.name}': no clause can name it here."
            yield Diagnostic("T084", message, nest.line.place)


def _is_out_of_order(level: str, loop: FlowNode, flow: Flow) -> bool:
    """Return whether a loop has a directive, or conflicts with the level of another loop."""
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
    """Yield each loop with a preceding OpenACC `loop` directive, and the directive."""
    for before, node in pairwise(flow.nodes):
        meaning = before.line.meaning if isinstance(before.line, DirectiveLine) else None
        alike = before.around == node.around and before.blocks == node.blocks
        if alike and isinstance(node.line, Do) and isinstance(meaning, AccLoopDirective):
            yield node, meaning
