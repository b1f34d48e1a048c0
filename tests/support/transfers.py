"""The least number of transfers between a host and a device that a program needs: an oracle.

Owns what is done with data, in the order in which a program does it (`trace_of`), and the least
that anybody could move who knew all of it before (`least_transfers`). It reads schedules as they
are lowered, that is which kernel is called where and what its metadata say of its arguments; it
knows nothing of what is planned, held, brought or told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from psyclone_storage.infrastructures.lfric import is_continuous
from psyclone_storage.ir.devices import device_calls
from psyclone_storage.ir.expr import Expr, Member, Name, spell
from psyclone_storage.ir.kernel import Access, ArgKind, KernelArg
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.walk import kernel_calls

HOST, DEVICE = "host", "device"
SIDES = (HOST, DEVICE)
KEPT = (ArgKind.FIELD, ArgKind.OPERATOR, ArgKind.COLUMNWISE_OPERATOR, ArgKind.GRID_PROPERTY)
"""What a device has a copy of."""


class Use(NamedTuple):
    """Where something uses a datum, whether it needs values of before, and whether it writes."""

    side: str
    needs: bool
    writes: bool


Trace = dict[str, list[Use]]
"""What is done with each datum, by its name, in order."""


def least_transfers(uses: Iterable[Use]) -> int:
    """Return the least number of transfers of one datum, which the host has at first.

    Before each use a copy may be made; who writes leaves the only one.
    """
    cheapest = {frozenset({HOST}): 0}
    for side, needs, writes in uses:
        after: dict[frozenset[str], int] = {}
        for current, cost in cheapest.items():
            for there in {current, current | {side}}:
                if needs and side not in there:
                    continue
                left = frozenset({side}) if writes else there
                price = cost + len(there - current)
                after[left] = min(after.get(left, price), price)
        cheapest = after
    return min(cheapest.values())


def least_by_force(uses: list[Use]) -> int:
    """Return the same by trying to copy, or not, to either side before each use."""
    prices = []
    for copies in product((None, *SIDES), repeat=len(uses)):
        current, right = {HOST}, True
        for (side, needs, writes), copied in zip(uses, copies, strict=True):
            current |= {copied} if copied else set()
            right = right and (not needs or side in current)
            current = {side} if writes else current
        if right:
            prices.append(sum(copied is not None for copied in copies))
    return min(prices)


def least_of(trace: Trace) -> tuple[int, int]:
    """Return the least number of transfers of all data, and how many of them are the first.

    What a device is the first to need goes there once, whatever happens later.
    """
    first = sum(
        least_transfers(uses[:1] if uses[0].side == DEVICE else uses) > 0 for uses in trace.values()
    )
    return sum(map(least_transfers, trace.values())), first


def uses_of(schedule: Schedule, *, kernels_cover: bool = True) -> Iterator[tuple[str, Use]]:
    """Yield what the calls of a routine do with data, by what the algorithm calls them.

    With `kernels_cover` a kernel that writes a field which shares no dofs leaves no old value.
    """
    there = {call.uid for call in device_calls(schedule)}
    for call in kernel_calls(schedule):
        side = DEVICE if call.uid in there else HOST
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.kind not in KEPT or is_scalar(described):
                continue
            needs = described.access is not Access.WRITE or not (
                covers(call, described) and (kernels_cover or call.kernel.is_builtin)
            )
            yield named(described, actual.value), Use(side, needs, described.access.writes)


def is_scalar(described: KernelArg) -> bool:
    """Return whether an argument is a number of the grid, which no copy is made of."""
    return described.kind is ArgKind.GRID_PROPERTY and "const" in described.grid_property


def covers(call: KernelCall, described: KernelArg) -> bool:
    """Return whether a call that writes an argument writes all of its values, on one rank."""
    if call.kernel.points is not None or described.kind is not ArgKind.FIELD:
        return False
    return call.kernel.is_builtin or not is_continuous(described.space)


def named(described: KernelArg, value: Expr) -> str:
    """Return what a datum is called; an array of the grid is the same for all fields."""
    if described.kind is ArgKind.GRID_PROPERTY:
        return described.grid_property
    return spell(value) if isinstance(value, Name | Member) else str(value)


def trace_of(runs: Iterable[str], routines: dict[str, list[tuple[str, Use]]]) -> Trace:
    """Return what a program does with its data that runs routines in an order."""
    trace: defaultdict[str, list[Use]] = defaultdict(list)
    for run in runs:
        for name, use in routines[run]:
            trace[name].append(use)
    return dict(trace)
