"""Loop versioning for loops that were fused under a test of their bounds.

If the bounds of the parts may differ, the fused loop is correct only where they agree. It then has
two versions: the fused loop, under a test of all bounds, and its parts in order. The second version
is derived from the first with all enclosing constructs: calls keep their order when loops are
fused, so removing calls separates the loops again.
"""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.walk import kernel_calls, statements


def loops_with_parts(statement: sch.Loop | sch.DirectiveRegion) -> tuple[sch.Loop, ...]:
    """Return the loops in `statement`, including itself, that were fused under a run-time test."""
    found = (statement, *statements(statement))
    return tuple(item for item in found if isinstance(item, sch.Loop) and item.parts)


def source_loops(loop: sch.Loop) -> tuple[sch.Loop, ...]:
    """Return the loops that were fused into `loop`, in order."""
    starts = {part.call: part.bounds_from for part in loop.parts}
    groups: list[list[str]] = []
    for call in kernel_calls(loop):
        if call.uid in starts:
            groups.append([])
        groups[-1].append(call.uid)
    return tuple(
        replace(part, bounds_from=starts[group[0]])
        for group in groups
        for part in _restricted((loop,), frozenset(group))
        if isinstance(part, sch.Loop)
    )


def taken_apart(statement: sch.Loop | sch.DirectiveRegion) -> tuple[sch.Statement, ...]:
    """Return one copy of `statement` for each original loop of its fused loops, in order.

    Statements next to a fused loop are repeated in each copy.
    """
    first: set[str] = set()
    for loop in loops_with_parts(statement):
        own = {call.uid for call in kernel_calls(loop)}
        inside = False
        for call in kernel_calls(statement):
            if inside and call.uid not in own:
                first.add(call.uid)
            inside = call.uid in own
        first |= {part.call for part in loop.parts}
    groups: list[list[str]] = [[]]
    for call in kernel_calls(statement):
        if call.uid in first and groups[-1]:
            groups.append([])
        groups[-1].append(call.uid)
    return tuple(part for group in groups for part in _restricted((statement,), frozenset(group)))


def _restricted(
    body: tuple[sch.Statement, ...], calls: frozenset[str]
) -> tuple[sch.Statement, ...]:
    """Return `body` restricted to the calls `calls`, in loops that are no longer fused."""
    kept: list[sch.Statement] = []
    for item in body:
        match item:
            case sch.KernelCall():
                kept += [item] if item.uid in calls else []
            case sch.Loop():
                inside = _restricted(item.body, calls)
                kept += [_alone(item, inside)] if inside else []
            case sch.DirectiveRegion() | sch.ProfileRegion():
                inside = _restricted(item.body, calls)
                left = replace(item, body=inside)
                kept += [left] if kernel_calls(left) else []
            case _:
                kept.append(item)
    return tuple(kept)


def _alone(loop: sch.Loop, body: tuple[sch.Statement, ...]) -> sch.Loop:
    """Return `loop` with only `body`, and with the bounds of that original loop."""
    left = replace(loop, body=body, parts=())
    first = kernel_calls(left)[0].uid
    own = [part.bounds_from for part in loop.parts if part.call == first]
    return replace(left, bounds_from=own[0]) if own else left
