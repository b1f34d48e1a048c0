"""Passes that run on every schedule after its recipe: fusion of built-ins, and outlining.

Adjacent built-in loops are fused. They are bound by memory bandwidth, and fused loops that use the
same fields load them once. `analysis.schedules.order` proves that fusion is legal. Results are
bit-identical, because each dof undergoes the same operations in the same order. The fusion is not a
step of recipes, so that recipe authors see one loop for each built-in, as in the algorithm.

Cell loops with inlined kernels are outlined into procedures. Compilers know that dummy arguments do
not alias, which is not true of the variables that replace them after inlining, and the loss
outweighs the gain from inlining. If a loop contains several kernels, their arguments may alias each
other (two pointers to one field). Since the user did not request outlining, such a loop remains
unless `outline` asserts that there are no aliases.

If fields are in storages, point loops with inlined or copied kernels are outlined too. Storage
calls make the routine so long that compilers stop inlining, and its windows are pointers, which may
alias.
"""

from __future__ import annotations

from psyclone_storage.analysis.footprints import check_fuse
from psyclone_storage.analysis.schedules.dependence import takes_random_numbers
from psyclone_storage.analysis.schedules.nests import LoopFootprint
from psyclone_storage.base.records import replace
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Actual, KernelCall, Loop, Schedule, Statement
from psyclone_storage.ir.walk import kernel_calls, outer_loops
from psyclone_storage.passes.nests import fuse_schedule_loops
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.outline import OutlineLoop, is_in_place
from psyclone_storage.transform.transfers import with_derived

MOST_FIELDS = 8
"""How many fields a loop may use: a processor follows about so many streams of data at once."""


def with_shared_loops(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with adjacent built-in loops fused if they share a field.

    Loops under a directive are not fused, because the recipe controls them. Neither are loops that
    fill different halo levels: the fused loop might need an exchange.
    """
    bare = without_halos(schedule)
    fills = {loop.uid: loop.filled for loop in outer_loops(schedule)}
    body: list[Statement | list[Loop]] = []
    sample: Loop | None = None
    for item in bare.body:
        if not isinstance(item, Loop):
            body.append(item)
            sample = None
        elif (
            sample
            and isinstance(body[-1], list)
            and _gains(sample, item)
            and fills[sample.uid] == fills[item.uid]
            and not check_fuse(LoopFootprint(bare, rules, sample), LoopFootprint(bare, rules, item))
        ):
            body[-1].append(item)
            sample = _extended(sample, item)
        else:
            body.append([item])
            sample = item
    if len(body) == len(bare.body):
        return schedule
    fused = (fuse_schedule_loops(*one) if isinstance(one, list) else one for one in body)
    return with_derived(replace(bare, body=tuple(fused)), rules)


def _extended(sample: Loop, loop: Loop) -> Loop:
    """Return `sample` with the calls of `loop` if one of them has other data or another kernel.

    The legality of fusion depends only on these. Therefore a sample of a fused loop, however many
    calls it has, is as large as the number of different calls.
    """
    known = set(map(_data_of, kernel_calls(sample)))
    same = known.issuperset(map(_data_of, kernel_calls(loop)))
    return sample if same else fuse_schedule_loops(sample, loop)


def _data_of(call: KernelCall) -> tuple[str, tuple[Actual, ...]]:
    """Return the name of the kernel, and the actual arguments that are data."""
    return call.kernel.name, tuple([one for one in call.args if one.datum is not None])


def with_outlined_columns(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with cell loops outlined that contain inlined kernels."""
    for loop in outer_loops(schedule):
        in_place = any(map(is_in_place, kernel_calls(loop)))
        step = OutlineLoop(loop.uid, aliases=True)
        if loop.over.starts_cells and in_place and not step.check(schedule, rules):
            schedule = step.apply(schedule, rules)
    return schedule


def with_outlined_points(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with point loops outlined whose kernels are all visible to the compiler."""
    for loop in outer_loops(schedule):
        step = OutlineLoop(loop.uid, aliases=True)
        seen = all(call.codes for call in kernel_calls(loop))
        if not loop.over.starts_cells and seen and not step.check(schedule, rules):
            schedule = step.apply(schedule, rules)
    return schedule


def _gains(before: Loop, after: Loop) -> bool:
    """Return whether both are built-in loops that share a field and use few fields in total.

    Loops with random numbers are excluded: they are sequential and run on the host, so a fused loop
    could neither be vectorised nor run on a device.
    """
    calls = (*kernel_calls(before), *kernel_calls(after))
    if not all(call.kernel.is_builtin and not takes_random_numbers(call) for call in calls):
        return False
    first, second = _fields(before), _fields(after)
    return bool(first & second) and len(first | second) <= MOST_FIELDS


def _fields(loop: Loop) -> set[tuple[str, int | None]]:
    """Return the fields, and components of field vectors, that `loop` accesses."""
    return {
        (actual.datum, actual.component)
        for call in kernel_calls(loop)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.kind is ArgKind.FIELD and actual.datum is not None
    }
