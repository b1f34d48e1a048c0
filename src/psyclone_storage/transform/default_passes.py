"""Passes over every schedule after its recipe: fusion of built-ins and outlining.

Adjacent loops of built-ins are fused. A loop of a built-in does little work for each value that it
loads, so that it is bound by memory bandwidth. Built-ins that use the same fields share the loads
if they share a loop. `analysis.order` proves that the fusion is safe. It does not change a bit of
the results: each dof sees the same operations in the same order. Fusion is not a step of a recipe,
because the author of a recipe sees one loop for each built-in, as in the algorithm.

Loops over cells whose kernels are inlined get a procedure of their own. The arguments of a kernel
are known not to alias, whereas the variables that replace them in the routine are not. A compiler
loses more by this than it gains by seeing the statements. If a loop contains several kernels, this
holds only for the arguments of one of them: two kernels may be passed one field by two pointers.
The user has not requested the procedure, so such a loop stays in the routine, unless `outline`
declares that the arguments do not alias.

Where fields are in storages, loops over points whose kernels the compiler sees, inlined or copied
into the layer, get a procedure too. Calls to storages make the routine so long that compilers stop
inlining kernels, and its windows are pointers, which may overlap.
"""

from __future__ import annotations

from psyclone_storage.analysis.footprints import check_fuse
from psyclone_storage.analysis.schedules.dependence import takes_random_numbers
from psyclone_storage.analysis.schedules.nests import LoopFootprint
from psyclone_storage.base.records import replace
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Schedule, Statement
from psyclone_storage.ir.walk import kernel_calls, outer_loops
from psyclone_storage.passes.nests import fuse_schedule_loops
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.outline import OutlineLoop, is_in_place
from psyclone_storage.transform.transfers import with_derived

MOST_FIELDS = 8
"""How many fields a loop may use: a processor follows about so many streams of data at once."""


def with_shared_loops(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with neighbouring loops of built-ins fused where they share a field.

    Loops under a directive stay as they are: their recipe has decided about them. So do those of
    which one alone fills levels of halo: together they might need an exchange for that.
    """
    bare = without_halos(schedule)
    fills = {loop.uid: loop.filled for loop in outer_loops(schedule)}
    body: list[Statement] = []
    for item in bare.body:
        before = body[-1] if body else None
        if (
            isinstance(before, Loop)
            and isinstance(item, Loop)
            and _gains(before, item)
            and fills[before.uid] == fills[item.uid]
            and not check_fuse(LoopFootprint(bare, rules, before), LoopFootprint(bare, rules, item))
        ):
            body[-1] = fuse_schedule_loops(before, item)
        else:
            body.append(item)
    if len(body) == len(bare.body):
        return schedule
    return with_derived(replace(bare, body=tuple(body)), rules)


def with_outlined_columns(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with loops over cells outlined that have statements of kernels in them."""
    for loop in outer_loops(schedule):
        in_place = any(map(is_in_place, kernel_calls(loop)))
        step = OutlineLoop(loop.uid, aliases=True)
        if loop.over.starts_cells and in_place and not step.check(schedule, rules):
            schedule = step.apply(schedule, rules)
    return schedule


def with_outlined_points(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with loops over points outlined of which a compiler sees all kernels."""
    for loop in outer_loops(schedule):
        step = OutlineLoop(loop.uid, aliases=True)
        seen = all(call.codes for call in kernel_calls(loop))
        if not loop.over.starts_cells and seen and not step.check(schedule, rules):
            schedule = step.apply(schedule, rules)
    return schedule


def _gains(before: Loop, after: Loop) -> bool:
    """Return whether both are loops of built-ins that share a field, and few fields altogether.

    Random numbers are drawn one after the other, on the host: fused with them, no other built-in
    would be vectorised, or run on a device.
    """
    calls = (*kernel_calls(before), *kernel_calls(after))
    if not all(call.kernel.is_builtin and not takes_random_numbers(call) for call in calls):
        return False
    first, second = _fields(before), _fields(after)
    return bool(first & second) and len(first | second) <= MOST_FIELDS


def _fields(loop: Loop) -> set[tuple[str, int | None]]:
    """Return the fields that `loop` uses, each component of a field vector for itself."""
    return {
        (actual.datum, actual.component)
        for call in kernel_calls(loop)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.kind is ArgKind.FIELD and actual.datum is not None
    }
