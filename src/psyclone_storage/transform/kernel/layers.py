"""Kernels with loops over layers that depend on each other, for targets that generate C.

These are not steps of recipes: the target applies them after the recipe wherever they are legal and
gain. A loop over columns gets a kernel that computes strips of columns (`passes.column_strips`).
Other kernels compute divisions that need no other layer ahead (`passes.layer_blocks`).
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.bodies.columns import NoStripsError
from psyclone_storage.analysis.schedules.grid import check_points_parallel
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.branch_strips import ALONG_ROWS, runs_inside
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.loops import loops_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import DirectiveRegion, KernelCall, Loop, Schedule, Statement
from psyclone_storage.ir.walk import kernel_calls, path_to, replaced, statements
from psyclone_storage.passes.column_strips import COLUMNS, in_strips
from psyclone_storage.passes.layer_blocks import LAYERS, with_layer_blocks


def with_faster_layers(schedule: Schedule) -> Schedule:
    """Return `schedule` with changed kernels where layers wait for each other."""
    known = _Rewritten()
    for loop in _loops(schedule):
        try:
            made = _loop_in_strips(schedule, loop, known)
        except NoStripsError:
            continue
        schedule = replaced(schedule, loop.uid, made)
    for call in kernel_calls(schedule):
        if _has_layers(call) and not any(map(_is_of_strips, call.dummies)):
            schedule = replaced(schedule, call.uid, _call_in_blocks(call, known))
    return schedule


def explain_layers(schedule: Schedule) -> str:
    """Return which kernels compute several columns or layers together, and why others do not."""
    lines: list[str] = []
    for loop in _loops(schedule):
        calls = [item for item in loop.body if isinstance(item, KernelCall)]
        names = listed((call.kernel.name for call in calls), "and")
        if runs_inside(loop):
            lines.append(f"{loop.uid}: {names} computes strips of {COLUMNS} columns")
            continue
        blocks = [
            call.kernel.name for call in calls for code in call.codes if code.kernel_use.original
        ]
        if blocks:
            ahead = f"divides ahead of the other statements, for blocks of {LAYERS} layers"
            lines.append(f"{loop.uid}: {listed(blocks, 'and')} {ahead}")
        try:
            _loop_in_strips(schedule, loop, _Rewritten())
        except NoStripsError as error:
            lines.append(f"{loop.uid}: {names} computes one column at a time: {error.why}")
    text = "".join(f"  {line}\n" for line in lines)
    return f"{schedule.name}, loops over layers\n{text}" if lines else ""


@dataclass(frozen=True, slots=True)
class _Rewritten:
    """Kernels that were rewritten before, by their original version."""

    strips: dict[Routine, tuple[Routine, tuple[str, str]]] = field(default_factory=dict)
    blocks: dict[Routine, Routine] = field(default_factory=dict)


def _is_of_strips(dummy: Dummy) -> bool:
    return dummy.role is Role.STRIP_FIRST


def _has_layers(call: KernelCall) -> bool:
    """Return whether a kernel may have loops over layers, which only those in Python have."""
    return any(code.module.is_python and loops_of(code) for code in call.codes)


def _loops(schedule: Schedule) -> Iterator[Loop]:
    """Yield the loops along rows, over kernels that may have loops over layers."""
    for loop in statements(schedule):
        if isinstance(loop, Loop) and loop.over in ALONG_ROWS:
            calls = [item for item in loop.body if isinstance(item, KernelCall)]
            if any(map(_has_layers, calls)):
                yield loop


def _loop_in_strips(schedule: Schedule, loop: Loop, known: _Rewritten) -> Loop:
    """Return a loop with kernels that compute strips of its columns.

    Raises:
        NoStripsError: the columns must be computed one after the other, or that gains nothing.
    """
    *around, _ = path_to(schedule, loop.uid)
    regions = [item for item in around if isinstance(item, DirectiveRegion)]
    if around and isinstance(around[-1], DirectiveRegion):
        raise NoStripsError(f"'{around[-1].uid}' shares the columns")
    if any(region.options.collapse > 1 for region in regions):
        raise NoStripsError("a directive collapses the loop with others")
    if any(region.runs_on_device for region in regions):
        raise NoStripsError("it runs on a device")
    if loop.parts:
        raise NoStripsError("the loop was fused under a test of its bounds")
    if reasons := check_points_parallel(schedule, loop):
        raise NoStripsError(reasons[0].message.rstrip("."))
    return replace(loop, body=tuple(_call_in_strips(item, known) for item in loop.body))


def _call_in_strips(call: Statement, known: _Rewritten) -> KernelCall:
    """Return a call of a kernel for the columns of a loop.

    Raises:
        NoStripsError: the kernel computes one column at a time.
    """
    if not isinstance(call, KernelCall) or len(call.codes) != 1:
        raise NoStripsError("the loop contains more than calls of kernels")
    (code,) = call.codes
    at = [dummy.role for dummy in call.dummies].index(Role.GRID_INDEX_I)
    if code not in known.strips:
        made, ends = in_strips(code, code.dummies[at])
        known.strips[code] = _with_original(made, code), ends
    made, ends = known.strips[code]
    first, last = (
        Dummy(role, name, call.dummies[at].type)
        for role, name in zip((Role.STRIP_FIRST, Role.STRIP_LAST), ends, strict=True)
    )
    dummies = (*call.dummies[:at], first, *call.dummies[at + 1 :], last)
    return replace(call, codes=(made,), dummies=dummies)


def _with_original(made: Routine, code: Routine) -> Routine:
    return replace(made, kernel_use=replace(made.kernel_use, original=code))


def _call_in_blocks(call: KernelCall, known: _Rewritten) -> KernelCall:
    """Return a call of a kernel that divides ahead, or `call` if that gains nothing."""
    codes = []
    for code in call.codes:
        if code not in known.blocks:
            made = with_layer_blocks(code)
            known.blocks[code] = code if made is code else _with_original(made, code)
        codes.append(known.blocks[code])
    return replace(call, codes=tuple(codes))
