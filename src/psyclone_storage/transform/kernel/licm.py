"""Work that is the same in all iterations of a loop in a kernel, done once in front of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from psyclone_storage.analysis.bodies.accesses import (
    accesses,
    is_understood,
    read_names,
    written_names,
)
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.shapes import declaration_of, type_of
from psyclone_storage.base.diagnostic import raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.affine import difference, sum_of
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Binary, Expr, Literal, Name
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_in, rewritten
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.unit import Assign, Branch, Do, If, Line
from psyclone_storage.passes.scratch import INTEGER, Scratch, nothing_to_do
from psyclone_storage.transform.kernel.code import check_body, check_each, coded_calls, with_each
from psyclone_storage.transform.step import Place, Reasons


@dataclass(frozen=True, slots=True)
class MoveInvariantAssignments:
    """Move assignments out of loops in a kernel whose outcome is the same in all iterations.

    They stand under the condition that there is an iteration, so that nothing is computed that was
    not. An assignment stays that reads what its loop changes, whose target is changed elsewhere in
    the loop or read before, or that may share data with a pointer.

    before: do k = 1, n; area = dx * dy; f(k) = area * g(k); end do
    after:  if (1 <= n) area = dx * dy; do k = 1, n; f(k) = area * g(k); end do
    """

    name: ClassVar[str] = "hoist"

    call: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against moving assignments."""
        return check_body(schedule, self.call) or check_each(schedule, self.call, _check_hoisted)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, with_hoisted)


@dataclass(frozen=True, slots=True)
class MoveInvariantBounds:
    """Compute the bounds of loops in a kernel in front of them, where they are no plain values.

    before: do k = 2 * n, size(f); ...
    after:  loop_start = 2 * n; loop_stop = size(f); do k = loop_start, loop_stop; ...
    """

    name: ClassVar[str] = "hoist-bounds"

    call: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return coded_calls(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against new variables."""
        return check_body(schedule, self.call) or check_each(schedule, self.call, _check_bounds)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, with_plain_bounds)


# ---------------------------------------------------------------------------- assignments


def _check_hoisted(code: KernelCode) -> Reasons:
    if with_hoisted(code) == code:
        return (nothing_to_do(code, "has no assignment that could leave its loop"),)
    return ()


def with_hoisted(code: KernelCode) -> KernelCode:
    """Return `code` with invariant assignments in front of their loops, inner loops first."""
    return replace(code, body=rewritten(code.body, lambda line: _hoisted(line, code)))


def _hoisted(line: Line, code: KernelCode) -> Iterable[Line]:
    if not isinstance(line, Do) or not is_understood(line.body, RoutineNames(code)):
        return (line,)
    runs = _runs(line)
    moving = tuple(item for item in line.body if _is_invariant(item, line, code))
    if not moving or runs is None:
        return (line,)
    staying = tuple(item for item in line.body if item not in moving)
    before = moving if isinstance(runs, bool) else (If((Branch(runs, moving),)),)
    return (*before, replace(line, body=staying))


def _runs(loop: Do) -> Expr | bool | None:
    """Return the condition that `loop` has an iteration; None if its direction is not known."""
    step = 1 if loop.step is None else sum_of(loop.step).known
    if not step:
        return None
    low, high = (loop.start, loop.stop) if step > 0 else (loop.stop, loop.start)
    apart = difference(high, low)
    return True if apart is not None and apart >= 0 else Binary(Operator.LESS_EQUAL, low, high)


def _is_invariant(line: Line, loop: Do, code: KernelCode) -> bool:
    """Return whether `line`, which stands directly in `loop`, does the same in all iterations."""
    if not isinstance(line, Assign):
        return False
    names = RoutineNames(code)
    (target,) = written_names((line,), names)
    changed = written_names(loop.body, names) | {loop.variable.key}
    if read_names((line,), names) & changed:
        return False
    writes = [item for item in accesses(loop.body, names) if item.writes and item.root == target]
    earlier = loop.body[: loop.body.index(line)]
    bounds = names_in(loop.start) | names_in(loop.stop)
    return (
        len(writes) == 1
        and target not in read_names(earlier, names) | bounds
        and not _may_share(target, code)
    )


def _may_share(name: str, code: KernelCode) -> bool:
    declared = declaration_of(code, name)
    words = set() if declared is None else declared.words
    return declared is None or bool(words & {"pointer", "target", "volatile"})


# ---------------------------------------------------------------------------- bounds


def _check_bounds(code: KernelCode) -> Reasons:
    if with_plain_bounds(code) == code:
        return (nothing_to_do(code, "has no loop whose bounds are computed"),)
    return ()


def with_plain_bounds(code: KernelCode) -> KernelCode:
    """Return `code` with the bounds of its loops in variables, if they are not plain already."""
    scratch = Scratch(code)
    body = rewritten(code.body, lambda line: _with_bounds(line, scratch))
    return replace(scratch.code, body=body)


def _with_bounds(line: Line, scratch: Scratch) -> Iterable[Line]:
    if not isinstance(line, Do):
        return (line,)
    before: list[Line] = []
    kind = type_of(line.variable, scratch.code) or INTEGER

    def plain(wish: str, bound: Expr) -> Expr:
        if isinstance(bound, Name | Literal):
            return bound
        variable = scratch.variable(wish, kind)
        before.append(Assign(variable, bound))
        return variable

    start, stop = plain("loop_start", line.start), plain("loop_stop", line.stop)
    step = None if line.step is None else plain("loop_step", line.step)
    return (*before, replace(line, start=start, stop=stop, step=step))
