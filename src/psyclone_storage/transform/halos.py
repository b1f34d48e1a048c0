"""Keep what distributed memory asks for in step with the loops of a schedule.

Exchanges, marks and global reductions are derived: every step drops them and derives them anew,
never patches them. What a script has pinned stays where it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from psyclone_storage.analysis.halo import END, HaloPlan, plan_halos
from psyclone_storage.analysis.touch import calls_in
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.kernel import Access, KernelArg
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import (
    GlobalReduction,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Schedule,
    Statement,
)


def without_halos(schedule: Schedule) -> Schedule:
    """Return `schedule` without what `with_halos` derives; pinned exchanges stay."""
    body = tuple(item for item in schedule.body if not _is_derived(item))
    return schedule if len(body) == len(schedule.body) else replace(schedule, body=body)


def with_halos(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with the exchanges, marks and reductions that its loops ask for.

    Applying it twice changes nothing. Names are `halo(u)@loop2` for the exchange of `u` before
    `loop2` (`halo(u)@end` after the last loop), `halo(u[2])@loop2` for the second component of a
    vector, `mark(u)@loop2` and `reduce(s)@loop2` for what follows `loop2`.

    before: loop2 [write u owned], loop3 [read u, stencil 1, add to s]
    after:  loop2, mark(u)@loop2, halo(u)@loop3, loop3, reduce(s)@loop3
    """
    bare = without_halos(schedule)
    if not bare.distributed:
        return bare
    plan = plan_halos(bare, rules)
    before, after = _by_place(plan)
    body: list[Statement] = []
    for item in bare.body:
        body += before[item.uid]
        body.append(item)
        body += after[item.uid]
        if isinstance(item, Loop):
            body += _reductions(item)
    body += before[END]
    return replace(bare, body=tuple(body))


def _is_derived(item: Statement) -> bool:
    if isinstance(item, HaloExchange):
        return not item.pinned
    return isinstance(item, MarkHalo | GlobalReduction)


def _by_place(
    plan: HaloPlan,
) -> tuple[dict[str, list[HaloExchange]], dict[str, list[MarkHalo]]]:
    before: dict[str, list[HaloExchange]] = defaultdict(list)
    after: dict[str, list[MarkHalo]] = defaultdict(list)
    for placed in plan.exchanges:
        before[placed.before].append(placed.exchange)
    for marked in plan.marks:
        after[marked.after].append(marked.mark)
    return before, after


def _reductions(loop: Loop) -> Iterator[GlobalReduction]:
    """Yield the reductions over all ranks that complete the scalars that `loop` reduces to."""
    for _, call in calls_in(loop):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.access is Access.REDUCTION:
                yield _reduction(loop, call, described, actual.datum)


def _reduction(
    loop: Loop, call: KernelCall, described: KernelArg, datum: str | None
) -> GlobalReduction:
    formula = call.kernel.formula
    if formula is None or formula.reduction is None or datum is None:
        raise InternalError(
            f"'{call.kernel.name}' in '{loop.uid}' reduces to a {described.kind.value},"
            " but how is not known."
        )
    return GlobalReduction(f"reduce({datum})@{loop.uid}", datum, formula.reduction)
