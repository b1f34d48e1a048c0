"""Loop bounds passed to a grid kernel, which then tests them itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.expr import Binary, Expr, Name
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Loop, Schedule
from psyclone_storage.ir.unit import Branch, Declare, If
from psyclone_storage.ir.walk import find, path_to, place_of, replaced
from psyclone_storage.passes.scratch import INTEGER, Scratch
from psyclone_storage.transform.kernel.code import OnCall, check_call, check_callers

_BOUNDS = (
    (Role.FIRST_COLUMN, "xstart", 0, Operator.GREATER_EQUAL),
    (Role.LAST_COLUMN, "xstop", 0, Operator.LESS_EQUAL),
    (Role.FIRST_ROW, "ystart", 1, Operator.GREATER_EQUAL),
    (Role.LAST_ROW, "ystop", 1, Operator.LESS_EQUAL),
)
"""The new arguments: role, name, which index they bound, and how."""


@dataclass(frozen=True, slots=True)
class MoveBoundsInside(OnCall):
    """Let loops run over all grid points; the kernel skips points outside its own bounds.

    The kernel gets the bounds as arguments. Loops then have the same extents for all kernels on
    fields of the same size, as OpenCL requires; the computation does not change. A loop runs over
    all points once all its kernels test their bounds.

    Rejected for kernels that are not on a grid; in loops whose bounds a step has set, or that were
    split; and if another procedure of the kernel's module calls the original kernel.

    before: do j = ystart, ystop; do i = xstart, xstop; call k_code(i, j, a)
    after:  do j = 1, size(a, 2); do i = 1, size(a, 1); call k_code(i, j, a, xstart, xstop, ...)
    """

    name: ClassVar[str] = "bounds-inside"

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the kernel cannot test its bounds."""
        if problems := check_call(schedule, self.call):
            return problems
        call = find(schedule, self.call)
        assert isinstance(call, KernelCall)
        return check_callers(schedule, self.call) + tuple(
            Diagnostic("T068", f"The bounds of '{code.name}' stay outside: {text}.", place_of(call))
            for code in call.known_codes
            for text in _reasons(schedule, call, code)
        )

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel and its new arguments."""
        call = find(schedule, self.call)
        assert isinstance(call, KernelCall)
        (loop, *_) = _grid_loops(schedule, self.call)
        dummies = tuple(
            Dummy(role, name, INTEGER, arg=loop.bounds_from) for role, name, *_ in _BOUNDS
        )
        codes = tuple(linked(with_bounds_inside(code)) for code in call.known_codes)
        changed = replace(call, codes=codes, dummies=(*call.dummies, *dummies))
        return replaced(schedule, self.call, changed)


def _reasons(schedule: Schedule, call: KernelCall, code: Routine) -> Iterator[str]:
    loops = _grid_loops(schedule, call.uid)
    if len(loops) < 2 or call.kernel.points is None:
        yield "it is on no grid"
    if any(loop.bounds is not None for loop in loops):
        yield "a step has written those of its loop"
    if any(loop.parts for loop in loops):
        yield "its loop was fused under a test of them, which has to come last"
    if any(loop.peel for loop in loops):
        yield "its loop is a part of one that was cut"
    if any(loop.tile for loop in loops):
        yield "its loop is cut into tiles"
    if code.kernel_use.in_place:
        yield "its statements stand in the loop"
    if any(dummy.role is Role.FIRST_COLUMN for dummy in call.dummies):
        yield "it looks at them already"
    if len(code.dummies) != len(call.dummies):
        yield f"it takes {len(code.dummies)} arguments, and {len(call.dummies)} are passed"


def _grid_loops(schedule: Schedule, uid: str) -> list[Loop]:
    around = path_to(schedule, uid)
    return [item for item in around if isinstance(item, Loop) and item.over.axis is not None]


def with_bounds_inside(code: Routine) -> Routine:
    """Return `code` with four bounds as additional arguments, and a test of the first two."""
    scratch = Scratch(code)
    names: list[Name] = []
    inside: Expr | None = None
    for _, wish, index, op in _BOUNDS:
        name = Name(scratch.fresh(wish))
        names.append(name)
        within = Binary(op, Name(code.dummies[index]), name)
        inside = within if inside is None else Binary(Operator.AND, inside, within)
    assert inside is not None
    declared = tuple(Declare(name.text, INTEGER, ("intent(in)",)) for name in names)
    return replace(
        code.with_specification(declarations=(*code.declarations, *declared)),
        dummies=(*code.dummies, *(name.text for name in names)),
        body=(If((Branch(inside, code.body),)),),
    )
