"""Bases of steps on loop nests, in a schedule or in the code of a kernel.

Both ask the same legality queries (`analysis.footprints`) and use the same rewrites
(`passes.loops`). The code of a kernel is reached through its call, whether the kernel is called or
its statements are inlined in the schedule.
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
from psyclone_storage.ir.schedule import Loop, Over, Schedule
from psyclone_storage.ir.walk import place_of, replaced
from psyclone_storage.transform.kernel.code import ChangesCode, placed
from psyclone_storage.transform.step import ReplacesLoop, check_no_directive, loops_in


class OnScheduleNest(ReplacesLoop):  # pylint: disable=abstract-method
    """Base of steps on a nest of the schedule, by default around the rows of a grid."""

    __slots__ = ()

    @classmethod
    def candidates(cls, schedule: Schedule) -> Iterable[Loop]:
        """Return every loop over rows."""
        return (loop for loop in loops_in(schedule) if loop.over is Over.ROWS)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return all reasons against the step on the nest."""
        return (
            *check_no_directive(schedule, loop.uid),
            *self.check_options(loop),
            *self.check_nest(LoopFootprint(schedule, rules, loop)),
        )

    def check_options(self, loop: Loop) -> Reasons:
        """Return what is wrong with the options of the step."""
        return ()

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return all reasons against the step on `nest`."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class OnKernelNest(ChangesCode):  # pylint: disable=abstract-method
    """Base of steps on loop number `loop` in the code that a call runs."""

    loop: int = 1

    @property
    def assertions(self) -> UserAssertions:
        """The assertions of the user about the nest."""
        return NO_ASSERTIONS

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return all reasons against the step on the loop, at the loop if they have no place."""
        nests = footprints_of(code)
        if not 1 <= self.loop <= len(nests):
            message = f"'{code.name}' has no loop {self.loop}: it has {len(nests)}."
            return (Diagnostic("T064", message, code.module.routine),)
        nest = replace(nests[self.loop - 1], assertions=self.assertions)
        return (placed(reason, nest.line.place) for reason in self.check_nest(nest))

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return all reasons against the step on `nest`."""
        raise NotImplementedError


def check_gain(nest: LoopFootprint, changed: Loop) -> Reasons:
    """Return why threads gain nothing by `changed` instead of a nest (T082).

    They may share the unchanged nest, or not even `changed`.
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
