"""Steps that hoist loop-invariant code."""

from __future__ import annotations

from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Expr, whole
from psyclone_storage.ir.rewrite import first_words, place_of_line
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Line
from psyclone_storage.passes.hoist import (
    check_expression,
    hoist_assignments,
    hoist_bounds,
    reason_to_stay,
    with_expression_before,
)
from psyclone_storage.passes.scratch import nothing_to_do
from psyclone_storage.transform.kernel.code import ChangesCode


@dataclass(frozen=True, slots=True)
class MoveInvariantAssignments(ChangesCode):
    """Hoist loop-invariant assignments out of the loops of a kernel.

    The hoisted assignments are executed only if the loop has an iteration, so that no computation
    is added. An assignment stays in the loop if it reads a variable that the loop changes, if its
    target is changed elsewhere in the loop or read before, or if it may share data with a pointer.

    before: do k = 1, n; area = dx * dy; f(k) = area * g(k); end do
    after:  if (1 <= n) area = dx * dy; do k = 1, n; f(k) = area * g(k); end do
    """

    name: ClassVar[str] = "hoist"

    def check_code(self, code: Routine) -> Reasons:
        """Return diagnostics if no assignment can be hoisted."""
        if hoist_assignments(code) == code:
            return (nothing_to_do(code, "has no assignment that could leave its loop"),)
        return ()

    def transform_code(self, code: Routine) -> Routine:
        """Return the changed `code`."""
        return hoist_assignments(code)


@dataclass(frozen=True, slots=True)
class MoveInvariantBounds(ChangesCode):
    """Hoist computed loop bounds in a kernel into variables before the loops.

    before: do k = 2 * n, size(f); ...
    after:  loop_start = 2 * n; loop_stop = size(f); do k = loop_start, loop_stop; ...
    """

    name: ClassVar[str] = "hoist-bounds"

    def check_code(self, code: Routine) -> Reasons:
        """Return diagnostics if no loop has computed bounds."""
        if hoist_bounds(code) == code:
            return (nothing_to_do(code, "has no loop whose bounds are computed"),)
        return ()

    def transform_code(self, code: Routine) -> Routine:
        """Return the changed `code`."""
        return hoist_bounds(code)


@dataclass(frozen=True, slots=True)
class MoveOneAssignment(MoveInvariantAssignments):
    """Hoist one loop-invariant assignment, `line`, out of the loop around it.

    It obeys the rules of `hoist`. If `is_used_outside` is false, no statement outside the loop
    names its target, so that an assignment that cannot fail needs no condition.
    """

    line: Line | None = field(default=None, repr=False)
    is_used_outside: bool = True

    def check_code(self, code: Routine) -> Reasons:
        """Return all reasons against moving the assignment."""
        if self.line is None or self.transform_code(code) != code:
            return ()
        why, other = reason_to_stay(code, self.line)
        place = place_of_line(other) if other else None
        if place is not None:
            why = f"{why} (line {place.line})"
        message = f"'{first_words(self.line)}' cannot leave its loop{': ' * bool(why)}{why}."
        related = (Related(place, "this statement"),) if place else ()
        return (Diagnostic("T067", message, place_of_line(self.line), related=related),)

    def transform_code(self, code: Routine) -> Routine:
        """Return the changed `code`."""
        return hoist_assignments(code, self.line, is_used_outside=self.is_used_outside)


@dataclass(frozen=True, slots=True)
class MoveBoundsOfLoop(MoveInvariantBounds):
    """Hoist the bounds of the loop `uid` in front of it, unless they are plain values."""

    uid: str = ""

    def check_code(self, code: Routine) -> Reasons:
        """Return a reason if the loop has no bounds that need a variable."""
        if hoist_bounds(code, self.uid) == code:
            return (nothing_to_do(code, "has no bounds in this loop that are computed"),)
        return ()

    def transform_code(self, code: Routine) -> Routine:
        """Return the changed `code`."""
        return hoist_bounds(code, self.uid)


@dataclass(frozen=True, slots=True)
class ComputeBefore(ChangesCode):
    """Compute `expr`, a part of the only statement of the code, before it in a new variable.

    The statement must compute it first, and no procedure may have side effects meanwhile. The
    variable is called `variable` or similar.

    before: call update(f, 2 * g)
    after:  allocate(tmp(1:n)); tmp(:) = 2 * g; call update(f, tmp); deallocate(tmp)
    """

    expr: Expr = field(default=whole(0), repr=False)
    variable: str = "tmp"
    name: ClassVar[str] = "compute-before"

    def check_code(self, code: Routine) -> Reasons:
        """Return the reason for which the expression cannot be computed before."""
        line = code.body[0]
        why = check_expression(code, line, self.expr)
        return (Diagnostic("T060", why, place_of_line(line)),) if why else ()

    def transform_code(self, code: Routine) -> Routine:
        """Return the changed `code`."""
        return with_expression_before(code, code.body[0], self.expr, self.variable)
