"""Where data move between the host and a device: the memory side of coherence.

Each operator, field and component of a field vector has a replica on the host and, once it was
entered, one on a device. As with halos, a replica has to be right before it is read, and a write
makes the other one stale. `plan_transfers` walks a schedule once, forwards, with a three-valued
state for each of them, and moves data as late as it can: what is never read on the other side is
never moved there.

The contract between invokes (ADR 0020): *a datum that the device has is right there, and one that
it has not is right on the host*. So at its entry an invoke knows nothing for certain of a host
replica, and may count on the device's if there is one; at its end it owes the same to the next.

The invariant of the walk: a replica that the state calls fresh (YES) is right in every world that
the contract allows, and at each place at least one replica is right.

A kernel that writes may leave points alone, so that a write needs a fresh replica as a read does.
Data that may be one object at run time share their replicas, so what happens to one counts for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from psyclone_storage.analysis.schedules.halo import END, OUTSIDE
from psyclone_storage.analysis.schedules.touch import ExchangedComponent, components_of, key_text
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.devices import (
    device_calls,
    device_regions,
    has_device,
    moved_data,
)
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    FillHalo,
    GlobalReduction,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Phase,
    ProfileRegion,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, Side, TaskWait, Update, Wait
from psyclone_storage.ir.walk import kernel_calls


@dataclass(frozen=True, slots=True)
class ReplicaStates:
    """What is known of one datum at one place of a schedule.

    `host` and `device` tell whether the replica is right, of the device's on the condition that
    there is one, which `present` tells. `writer` is the statement that wrote last.
    """

    host: Fresh = Fresh.MAYBE
    device: Fresh = Fresh.YES
    present: Fresh = Fresh.MAYBE
    writer: str = OUTSIDE

    def of(self, side: Side) -> Fresh:
        """Return whether the replica on `side` is right."""
        return self.host if side is Side.HOST else self.device

    def updated(self, side: Side) -> ReplicaStates:
        """Return the state after the replica on `side` was made equal to the other."""
        if side is Side.HOST:
            return replace(self, host=Fresh.YES)
        return replace(self, device=Fresh.YES)

    def written(self, side: Side, writer: str) -> ReplicaStates:
        """Return the state after a write on `side`, whose replica was right before.

        A region for the device that finds no replica there works on the host's.
        """
        if side is Side.HOST:
            return replace(self, host=Fresh.YES, device=Fresh.NO, writer=writer)
        return replace(self, host=~self.present, device=Fresh.YES, writer=writer)


class Insertion(NamedTuple):
    """A statement to insert, and the uid of that which it comes before, or `END`."""

    before: str
    statement: Update | Wait


class ExchangeTransfers(NamedTuple):
    """What an exchange has to do with a device: bring from it before, bring to it after."""

    fetched: bool
    sent: bool


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """All transfers of a schedule.

    `entered` are the data that the device must have. `inserted` are updates and waits, in order.
    `exchanges` tells, by uid, what halo exchanges carry.
    """

    entered: tuple[str, ...] = ()
    inserted: tuple[Insertion, ...] = ()
    exchanges: tuple[tuple[str, ExchangeTransfers], ...] = ()


def queue_of(item: Statement) -> int:
    """Return the queue that all of `item` is put into, -1 if the host waits for some of it."""
    if isinstance(item, EnterData):
        return item.queue
    if not isinstance(item, Loop | DirectiveRegion):
        return -1
    regions = list(device_regions(item))
    inside = sum(len(kernel_calls(region)) for region in regions)
    queues = {region.options.queue for region in regions}
    return queues.pop() if len(queues) == 1 and inside == len(kernel_calls(item)) else -1


def plan_transfers(schedule: Schedule) -> TransferPlan:
    """Return the transfers and waits that `schedule`, without any that are derived, needs."""
    if not has_device(schedule):
        return TransferPlan()
    walk = _ResidencyWalk(schedule)
    for item in opened(schedule.body):
        walk.step(item)
    walk.end()
    entered = _entered(schedule) if walk.enters else ()
    return TransferPlan(entered, tuple(walk.inserted), tuple(walk.exchanges))


def opened(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield the statements between which something can be inserted, in order."""
    for item in body:
        if isinstance(item, ProfileRegion):
            yield from opened(item.body)
        else:
            yield item


def _entered(schedule: Schedule) -> tuple[str, ...]:
    uses = moved_data(schedule, device_calls(schedule))
    return tuple(dict.fromkeys(use.datum for use in uses))


@dataclass(slots=True)
class _ResidencyWalk:
    """A walk over a schedule: the state of each datum, and what has been found necessary."""

    schedule: Schedule
    state: dict[ExchangedComponent, ReplicaStates] = field(default_factory=dict)
    inserted: list[Insertion] = field(default_factory=list)
    exchanges: list[tuple[str, ExchangeTransfers]] = field(default_factory=list)
    queue: int = -1
    enters: bool = False

    def step(self, item: Statement) -> None:
        """Take one statement into account."""
        match item:
            case EnterData():
                self._enter(item)
            case Update():
                self._wait(item.uid)
                key = ExchangedComponent(item.datum, item.component)
                if self._of(key).of(item.to.other) is not Fresh.YES:
                    self._update(key, item.to.other, item.uid)
                self.state[key] = self._of(key).updated(item.to)
            case HaloExchange():
                self._wait(item.uid)
                self._exchange(item)
            case Loop() | DirectiveRegion():
                self._compute(item)
            case FillHalo():
                self._fill(item)
            case GlobalReduction():
                self._wait(item.uid)
            case KernelCall() | MarkHalo() | ProfileRegion() | Wait() | TaskWait():
                return

    def end(self) -> None:
        """Restore the contract: what the device has is right there."""
        stale = [key for key, now in self.state.items() if now.device is not Fresh.YES]
        self._wait(END)
        for key in stale:
            self._update(key, Side.DEVICE, END)

    def _of(self, key: ExchangedComponent) -> ReplicaStates:
        return self.state.get(key, ReplicaStates())

    def _enter(self, item: EnterData) -> None:
        self.enters = True
        self.queue = item.queue
        for name in _entered(self.schedule):
            for key in components_of(self.schedule.datum(name)):
                self.state[key] = replace(self._of(key), present=Fresh.YES)

    def _compute(self, item: Loop | DirectiveRegion) -> None:
        on_device = device_calls(item)
        there = {call.uid for call in on_device}
        elsewhere = tuple(call for call in kernel_calls(item) if call.uid not in there)
        sides = ((Side.DEVICE, on_device), (Side.HOST, elsewhere))
        uses = [
            (ExchangedComponent(use.datum, use.component), side, use.writes)
            for side, calls in sides
            for use in moved_data(self.schedule, calls)
        ]
        stale = [(key, side) for key, side, _ in uses if self._of(key).of(side) is not Fresh.YES]
        if stale or queue_of(item) != self.queue:
            self._wait(item.uid)
        for key, side in stale:
            self._update(key, side, item.uid)
        for key, side, writes in uses:
            if writes:
                self.state[key] = self._of(key).written(side, item.uid)
        self.queue = queue_of(item)

    def _fill(self, item: FillHalo) -> None:
        """Let the host write a part of its replica."""
        self._wait(item.uid)
        datum = self.schedule.datum(item.datum)
        keys = [ExchangedComponent(item.datum, item.component)]
        keys += [
            key for name in datum.may_alias for key in components_of(self.schedule.datum(name))
        ]
        for key in keys:
            if self._of(key).host is not Fresh.YES:
                self._update(key, Side.HOST, item.uid)
            self.state[key] = self._of(key).written(Side.HOST, item.uid)

    def _update(self, key: ExchangedComponent, to: Side, before: str) -> None:
        now = self._of(key)
        guarded = now.present is not Fresh.YES
        uid = f"update-{to.value}({key_text(key)})@{before}"
        update = Update(uid, *key, to, guarded, reader=before, writer=now.writer)
        self.inserted.append(Insertion(before, update))
        self.state[key] = now.updated(to)

    def _exchange(self, item: HaloExchange) -> None:
        """Let an exchange, which works on the host's replica, bring values from and to a device.

        What a guard decides is decided for its transfers too: if it skips them, all is as before.
        What is sure to happen is a write like any other, and need not go to the device at once.
        """
        key = ExchangedComponent(item.datum, item.component)
        for name in self.schedule.datum(item.datum).may_alias:
            for other in components_of(self.schedule.datum(name)):
                # The object which is exchanged may be this one.
                if self._of(other).host is not Fresh.YES:
                    self._update(other, Side.HOST, item.uid)
                self.state[other] = self._of(other).written(Side.HOST, item.uid)
        now = self._of(key)
        fetches = item.phase is not Phase.FINISH and now.host is not Fresh.YES
        writes = item.phase is not Phase.START
        sends = writes and item.guarded and now.device is Fresh.YES
        self.exchanges.append((item.uid, ExchangeTransfers(fetches, sends)))
        if item.guarded:
            return
        now = now.updated(Side.HOST) if fetches else now
        self.state[key] = now.written(Side.HOST, item.uid) if writes else now

    def _wait(self, before: str) -> None:
        if self.queue >= 0:
            wait = Wait(f"wait({self.queue})@{before}", self.queue)
            self.inserted.append(Insertion(before, wait))
        self.queue = -1
