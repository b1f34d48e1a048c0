"""Loop unswitching along grid rows: consecutive points with equal branches form a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.bodies.hot_path import (
    NoHotPathError,
    has_branches,
    hot_path_of,
    work_of,
    work_on,
)
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.branch_strips import ALONG_ROWS, changed_in_strips
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.routine import HotPath
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, KernelCall, Loop, Schedule
from psyclone_storage.ir.walk import find, kernel_calls, path_to, place_of, replaced
from psyclone_storage.transform.kernel.code import OnCall, calls_for, check_call, codes_of
from psyclone_storage.transform.outline import is_in_place
from psyclone_storage.transform.step import StepPlace

_OF_GRIDS = (Iteration.GRID_POINT,)
_LEAST_WORK = 16
"""Fewer operations are done sooner than it is found out which way points take."""
_MOST_POINTS = 4096
"""What is lifted has an array of so many values, which has to lie in a fast cache."""


@dataclass(frozen=True, slots=True)
class UnswitchCall(OnCall):
    """Move the branches of a kernel out of the loop along a row (loop unswitching).

    Compilers do not vectorise loops with branches, such as those for land and borders. The step
    assumes that most points take the path with most operations. Consecutive points of a row that
    take this path run in a loop without branches, at most `size` at a time; other points are
    computed one by one. The step adds no computation. All points on the path use the code of one
    loop, so that results do not depend on where a rank begins. Functions such as `sin`, whose
    vector versions round differently, are evaluated point by point in a separate loop before.

    Apply it after `inline-point-call` and before `outline`, without which a compiler assumes that
    arrays alias. The loop must be along a row: the innermost one, over columns.

    Rejected if the statements are not inlined, or if the loop runs on a device; if the kernel has
    no branches, little work, loops or calls; and if a condition or an argument of such a function
    depends on a value computed in the loop, or on a function that is not intrinsic.

    before: do i ...; if (mask(i, j) > 0) then; u(i, j) = ...; end if
    after:  do i_strip ... 32; do while ...; do i = first, next - 1; u(i, j) = ...; end do; ...
    """

    name: ClassVar[str] = "unswitch"

    size: int = 32

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every kernel call for a grid point."""
        return calls_for(schedule, _OF_GRIDS)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the loop cannot be unswitched."""
        if problems := check_call(schedule, self.call):
            return problems
        call = find(schedule, self.call)
        assert isinstance(call, KernelCall)
        code, place = codes_of(schedule, self.call)[0], place_of(call)
        if not 2 <= self.size <= _MOST_POINTS:
            message = f"A strip cannot have {self.size} points."
            hint = f"Give a size from 2 to {_MOST_POINTS}, as 32."
            return (Diagnostic("T057", message, place, hint=hint),)
        if code.kernel_use.hot_path is not None:
            message = f"The branches of '{self.call}' are out of their loop already."
            return (Diagnostic("T082", message, place),)
        if not code.kernel_use.in_place:
            message = f"'{code.name}' is called, and its branches are not in the loop."
            hint = "Apply 'inline-point-call' first."
            return (Diagnostic("T091", message, place, hint=hint),)
        return self._path(schedule, call)[1]

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the hot path recorded in the call."""
        call = find(schedule, self.call)
        assert isinstance(call, KernelCall)
        return replaced(schedule, call.uid, with_path(call, self._path(schedule, call)[0]))

    def _path(self, schedule: Schedule, call: KernelCall) -> tuple[HotPath | None, Reasons]:
        """Return the hot path of a call, or diagnostics if it cannot be separated."""
        code, place = codes_of(schedule, self.call)[0], place_of(call)
        *around, loop, _ = path_to(schedule, self.call)
        for item in around:
            if isinstance(item, DirectiveRegion) and item.runs_on_device:
                message = f"'{item.uid}' runs '{self.call}' on a device, which has no vectors."
                return None, (Diagnostic("T091", message, place),)
        if not isinstance(loop, Loop) or loop.over not in ALONG_ROWS:
            message = f"The loop around '{self.call}' is not along a row of the grid."
            hint = (
                "Leave the loop over columns inside, without a directive between it and the call."
            )
            return None, (Diagnostic("T091", message, place, hint=hint),)
        try:
            path = hot_path_of(code, self.size)
        except NoHotPathError as none:
            message = f"'{code.name}' keeps its branches: {none.why}."
            return None, (_refusal(message, place, none.lacking),)
        return path, tuple(_about_loop(schedule, loop, self.size))


def _refusal(message: str, place: Span | None, lacking: tuple[str, ...]) -> Diagnostic:
    """Return the diagnostic for a kernel without a hot path; modules may be `lacking`."""
    if not lacking:
        return Diagnostic("T091", message, place)
    modules = "module" if len(lacking) == 1 else "modules"
    hint = f"Add the folder of the {modules} {listed(lacking, 'and')} with '-d'."
    return Diagnostic("T097", message, place, hint=hint)


def _about_loop(schedule: Schedule, loop: Loop, size: int) -> Iterator[Diagnostic]:
    """Yield diagnostics for properties of a loop that prevent unswitching."""
    work, with_paths = 0, loop
    for call in kernel_calls(loop):
        if not call.kernel.is_builtin and not is_in_place(call):
            message = f"'{loop.uid}' also calls '{call.kernel.name}', which makes no vectors."
            hint = "Apply 'inline-point-call' to it first."
            yield Diagnostic("T091", message, place_of(call), hint=hint)
        for code in call.codes:
            try:
                path = hot_path_of(code, size)
            except NoHotPathError as none:
                if has_branches(code):
                    message = f"'{loop.uid}' also has the branches of '{code.name}': {none.why}."
                    yield _refusal(message, place_of(call), none.lacking)
                work += work_of(code)
            else:
                work += work_on(path)
                with_paths = replaced(with_paths, call.uid, with_path(call, path))
    if changed := changed_in_strips(schedule, with_paths):
        names = listed(changed, "and")
        message = f"A branch in '{loop.uid}' depends on {names}, which the loop changes."
        yield Diagnostic("T091", message, place_of(loop))
    if work < _LEAST_WORK:
        message = f"'{loop.uid}' has {work} operations for a point, of {_LEAST_WORK} that gain."
        yield Diagnostic("T091", message, place_of(loop))


def with_path(call: KernelCall, path: HotPath | None) -> KernelCall:
    """Return a call of an inlined kernel with the hot path `path`."""
    code = call.codes[0]
    use = replace(code.kernel_use, hot_path=path)
    return replace(call, codes=(replace(code, kernel_use=use),))
