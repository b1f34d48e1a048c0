"""Derivation of host-device transfers from the loops of a schedule.

Updates and waits are derived like exchanges: every step removes them and derives them again with
`coherence.transfers`. Updates that a script requested stay in place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.coherence.transfers import (
    ExchangeTransfers,
    TransferPlan,
    plan_transfers,
)
from psyclone_storage.ir.devices import has_device
from psyclone_storage.ir.insertion import END
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, ProfileRegion, Schedule, Statement
from psyclone_storage.ir.transfer import EnterData, Update, Wait
from psyclone_storage.transform.halos import with_halos

_NOTHING = ExchangeTransfers(False, False, False)


def with_derived(schedule: Schedule, rules: Rules) -> Schedule:
    """Return `schedule` with all derived statements: first exchanges, then transfers."""
    return with_transfers(with_halos(schedule, rules), in_strips=rules.exchanges_in_strips())


def with_transfers(
    schedule: Schedule, *, in_strips: bool = False, beside_device: bool = False
) -> Schedule:
    """Return `schedule`, which already has its exchanges, with the transfers that it needs.

    With `in_strips` an exchange transfers only the values that it sends from, and receives to, a
    device. The statement that enters data comes first. A schedule that does not involve a device is
    returned unchanged unless `beside_device`: other invokes may have left its data on one.

    The function is idempotent. Names are `update-host(u)@loop2` for a transfer before `loop2`, and
    `wait(1)@end` for a wait after the last statement.

        before: acc-parallel(loop1) [write u], halo(u)@loop2, loop2 [read u]
        after:  acc-parallel(loop1), halo(u)@loop2 [from and to the device],
                update-host(u)@loop2, loop2
    """
    if not (beside_device or has_device(schedule)):
        return schedule
    bare = _first_of_all(replace(schedule, body=tuple(_without(schedule.body))))
    plan = plan_transfers(bare, in_strips=in_strips)
    before: dict[str, list[Statement]] = defaultdict(list)
    for place, statement, _ in plan.inserted:
        before[place].append(statement)
    body = _arranged(bare.body, before, plan)
    return replace(bare, body=(*body, *before.get(END, ())))


def _arranged(
    body: tuple[Statement, ...], before: Mapping[str, list[Statement]], plan: TransferPlan
) -> Iterator[Statement]:
    """Yield `body` with the planned statements before each statement, including profile regions."""
    for item in body:
        if isinstance(item, ProfileRegion):
            yield replace(item, body=tuple(_arranged(item.body, before, plan)))
        else:
            yield from (*before.get(item.uid, ()), _informed(item, plan))


def _without(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield `body` without derived updates and waits."""
    for item in body:
        if isinstance(item, ProfileRegion):
            yield replace(item, body=tuple(_without(item.body)))
        elif not isinstance(item, Wait) and not (isinstance(item, Update) and not item.pinned):
            yield item


def _first_of_all(schedule: Schedule) -> Schedule:
    """Return `schedule` with the statement that enters data at its start."""
    entering = [item for item in schedule.body if isinstance(item, EnterData)]
    others = [item for item in schedule.body if not isinstance(item, EnterData)]
    return replace(schedule, body=(*entering, *others))


def _informed(item: Statement, plan: TransferPlan) -> Statement:
    """Return `item` with its planned data and transfers."""
    match item:
        case EnterData():
            return replace(item, data=plan.entered)
        case HaloExchange():
            carried = dict(plan.exchanges).get(item.uid, _NOTHING)
            return replace(
                item,
                fetched=carried.fetched,
                sent=carried.sent,
                in_strips=carried.in_strips,
            )
        case Update():
            return replace(item, guarded=item.datum not in plan.entered)
    return item
