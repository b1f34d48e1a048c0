"""Why data are brought to where an invoke uses them, or are not: what it asks of storages."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.text import counted
from psyclone_storage.ir.holding import AcquireData, HoldingPlan, PrefetchData


def explain_holding(name: str, plan: HoldingPlan) -> str:
    """Return what the invoke `name` holds and why, as text; empty if that is nothing."""
    if not plan.placed:
        return ""
    early = sum(isinstance(one.action, PrefetchData) for one in plan.placed)
    first = f"{name}: {counted(len(plan.acquired), 'time')} data are acquired of storages"
    lines = [f"{first}, {counted(early, 'time')} brought early" if early else first]
    for before, action in plan.placed:
        if isinstance(action, AcquireData):
            lines += ["", *_acquired(action)]
        elif isinstance(action, PrefetchData):
            what = _named(action)
            lines += ["", f"{what}: brought to the {action.side.value} early, before {before}"]
            lines.append(f"  stale:   {f'since {action.writer}' if action.writer else 'maybe'}")
    return "\n".join(lines) + "\n"


def _named(action: AcquireData | PrefetchData) -> str:
    return action.datum if action.component is None else f"{action.datum}[{action.component}]"


def _acquired(action: AcquireData) -> Iterator[str]:
    verb = "changed" if action.writes else "read"
    yield f"{_named(action)}: {verb} on the {action.side.value}"
    yield f"  for:     {', '.join(action.users)}"
    match action.covered:
        case Fresh.YES:
            yield f"  brought: never, as {action.why}"
        case Fresh.MAYBE:
            yield f"  brought: only if its halo is wider than its region, as {action.why}"
        case Fresh.NO:
            yield f"  brought: if it is stale there, as {action.why}"
