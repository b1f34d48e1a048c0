"""Kernels over columns of grids that compute strips of adjacent columns together.

This is not a step of recipes: a target whose generated code is C applies it after the recipe to all
loops for which it is legal and gains. The kernel then receives the first and the last column of its
loop (`passes.column_strips`).
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.bodies.columns import NoStripsError
from psyclone_storage.analysis.schedules.grid import check_points_parallel
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.branch_strips import ALONG_ROWS, runs_inside
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.loops import loops_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import DirectiveRegion, KernelCall, Loop, Schedule
from psyclone_storage.ir.walk import path_to, replaced, statements
from psyclone_storage.passes.column_strips import COLUMNS, in_strips


@dataclass(frozen=True, slots=True)
class _Refused:
    """A loop that computes one column at a time, and the reason."""

    loop: Loop
    why: str


def with_column_strips(schedule: Schedule) -> Schedule:
    """Return `schedule` with kernels that compute strips of columns, where that gains."""
    for made in _made(schedule):
        if isinstance(made, Loop):
            schedule = replaced(schedule, made.uid, made)
    return schedule


def explain_column_strips(schedule: Schedule) -> str:
    """Return which loops compute strips of columns, and why others with layers do not."""
    lines = [
        f"  {loop.uid}: {', '.join(_names(loop))} in strips of {COLUMNS} columns\n"
        for loop in _loops(schedule)
        if runs_inside(loop)
    ]
    lines += [
        f"  {made.loop.uid}: {', '.join(_names(made.loop))} column by column, because {made.why}\n"
        for made in _made(schedule)
        if isinstance(made, _Refused)
    ]
    return f"{schedule.name}, strips of columns\n{''.join(lines)}" if lines else ""


def _names(loop: Loop) -> Iterator[str]:
    return (call.kernel.name for call in loop.body if isinstance(call, KernelCall))


def _loops(schedule: Schedule) -> Iterator[Loop]:
    """Yield the loops along rows, over kernels that may have loops over layers."""
    for loop in statements(schedule):
        if isinstance(loop, Loop) and loop.over in ALONG_ROWS:
            calls = [item for item in loop.body if isinstance(item, KernelCall)]
            codes = [code for call in calls for code in call.codes]
            if any(code.module.is_python and loops_of(code) for code in codes):
                yield loop


def _made(schedule: Schedule) -> Iterator[Loop | _Refused]:
    """Yield each loop that takes strips with its new calls, and the others with the reason."""
    known: dict[Routine, tuple[Routine, tuple[str, str]]] = {}
    for loop in _loops(schedule):
        if runs_inside(loop):
            continue
        try:
            _check_loop(schedule, loop)
            calls = tuple(_in_strips(call, known) for call in loop.body)
        except NoStripsError as error:
            yield _Refused(loop, error.why)
        else:
            yield replace(loop, body=calls)


def _check_loop(schedule: Schedule, loop: Loop) -> None:
    """Raise `NoStripsError` if the columns of a loop must be computed one after the other."""
    *around, _ = path_to(schedule, loop.uid)
    regions = [item for item in around if isinstance(item, DirectiveRegion)]
    if around and isinstance(around[-1], DirectiveRegion):
        raise NoStripsError(f"'{around[-1].uid}' shares its columns")
    if any(region.options.collapse > 1 for region in regions):
        raise NoStripsError("a directive collapses it with its outer loop")
    if any(region.runs_on_device for region in regions):
        raise NoStripsError("it runs on a device")
    if loop.parts:
        raise NoStripsError("it was fused under a test of its bounds")
    if reasons := check_points_parallel(schedule, loop):
        raise NoStripsError(f"its columns depend on each other: {reasons[0].message}")


def _in_strips(
    call: object, known: dict[Routine, tuple[Routine, tuple[str, str]]]
) -> KernelCall:
    """Return a call of a kernel for the columns of a loop.

    Raises:
        NoStripsError: the kernel computes one column at a time.
    """
    if not isinstance(call, KernelCall) or len(call.codes) != 1:
        raise NoStripsError("it contains more than calls of kernels")
    (code,) = call.codes
    at = [dummy.role for dummy in call.dummies].index(Role.GRID_INDEX_I)
    if code not in known:
        known[code] = in_strips(code, code.dummies[at])
    made, ends = known[code]
    column = call.dummies[at]
    new = (
        Dummy(role, name, column.type)
        for role, name in zip((Role.STRIP_FIRST, Role.STRIP_LAST), ends, strict=True)
    )
    dummies = (*call.dummies[:at], *new, *call.dummies[at + 1 :])
    return replace(call, codes=(made,), dummies=dummies)

