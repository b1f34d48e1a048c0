"""Bases of steps on loop nests of schedules and of kernel code.

Both kinds use the same legality checks (`analysis.footprints`) and rewrites (`passes.loops`).
Kernel code is accessed through its call, even if the kernel is inlined.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.nests import CodeFootprint, footprints_of
from psyclone_storage.analysis.footprints import (
    NO_ASSERTIONS,
    Reasons,
    UserAssertions,
    check_parallel,
)
from psyclone_storage.analysis.schedules.nests import LoopFootprint
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Over, Schedule, Statement
from psyclone_storage.ir.walk import place_of, replaced
from psyclone_storage.transform.kernel.code import ChangesCode, placed
from psyclone_storage.transform.step import ReplacesLoop, check_no_directive, loops_inside


class OnScheduleNest(ReplacesLoop):  # pylint: disable=abstract-method
    """Base of steps on a loop nest of the schedule; by default, on the rows of a grid."""

    __slots__ = ()

    @classmethod
    def candidates(cls, item: Statement) -> Iterable[Loop]:
        """Return every loop over rows."""
        return (loop for loop in loops_inside(item) if loop.over is Over.ROWS)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the step cannot be applied to the nest."""
        return (
            *check_no_directive(schedule, loop.uid),
            *self.check_options(loop),
            *self.check_nest(LoopFootprint(schedule, rules, loop)),
        )

    def check_options(self, loop: Loop) -> Reasons:
        """Return diagnostics for invalid options."""
        return ()

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return diagnostics if the step cannot be applied to `nest`."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class OnKernelNest(ChangesCode):  # pylint: disable=abstract-method
    """Base of steps on the loop with the number `loop` in kernel code."""

    loop: int = 1

    @property
    def assertions(self) -> UserAssertions:
        """The user's assertions about the nest."""
        return NO_ASSERTIONS

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return diagnostics if the step cannot be applied to the loop."""
        nests = footprints_of(code)
        if not 1 <= self.loop <= len(nests):
            message = f"'{code.name}' has no loop {self.loop}: it has {len(nests)}."
            return (Diagnostic("T064", message, code.module.routine),)
        nest = replace(nests[self.loop - 1], assertions=self.assertions)
        return (placed(reason, nest.line.place) for reason in self.check_nest(nest))

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return diagnostics if the step cannot be applied to `nest`."""
        raise NotImplementedError


def check_gain(nest: LoopFootprint, changed: Loop) -> Reasons:
    """Return diagnostics if replacing a nest by `changed` gains nothing for threads (T082).

    This is the case if the original nest can run in parallel, or if `changed` cannot.
    """
    loop, schedule = nest.loop, nest.schedule
    if not check_parallel(nest):
        message = f"Threads may share '{loop.uid}' as it is."
    elif check_parallel(
        replace(nest, schedule=replaced(schedule, loop.uid, changed), loop=changed)
    ):
        message = f"Threads may not share '{loop.uid}', nor '{changed.uid}' around it."
    else:
        return ()
    return (Diagnostic("T082", message, place_of(loop)),)
