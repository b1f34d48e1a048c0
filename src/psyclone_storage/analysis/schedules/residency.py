"""Where data move between the host and a device: the memory side of coherence.

Each operator, field and component of a field vector has a replica on the host and, once it was
entered, one on a device. As with halos, a replica has to be right before it is read, and a write
makes the other one stale. `plan_transfers` walks a schedule once, forwards, with a three-valued
state for each of them, and moves data as late as it can: what is never read on the other side is
never moved there.

The contract between invokes: *a datum that the device has is right there, and one that
it has not is right on the host*. So at its entry an invoke knows nothing for certain of a host
replica, and may count on the device's if there is one; at its end it owes the same to the next.

The invariant of the walk: a replica that the state calls fresh (YES) is right in every world that
the contract allows, and at each place at least one replica is right.

A kernel that writes may leave points alone, so that a write needs a fresh replica as a read does.
Data that may be one object at run time share their replicas, so what happens to one counts for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from psyclone_storage.analysis.schedules.halo import END, OUTSIDE
from psyclone_storage.analysis.schedules.touch import (
    ExchangedComponent,
    aliases_of,
    components_of,
    key_text,
)
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.devices import (
    device_calls,
    device_regions,
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
    """What an exchange has to do with a device: bring from it before, bring to it after.

    With `in_strips` it brings what it sends and receives, no more.
    """

    fetched: bool
    sent: bool
    in_strips: bool


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


def plan_transfers(schedule: Schedule, *, in_strips: bool = False) -> TransferPlan:
    """Return the transfers and waits that `schedule`, without any that are derived, needs.

    A schedule without a region for a device is planned as any other: what it uses may have been
    left on one. With `in_strips` the infrastructure can bring what an exchange sends from there.
    """
    walk = _ResidencyWalk(schedule, in_strips, aliases_of(schedule))
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
    in_strips: bool
    aliases: Mapping[str, tuple[ExchangedComponent, ...]]
    state: dict[ExchangedComponent, ReplicaStates] = field(default_factory=dict)
    inserted: list[Insertion] = field(default_factory=list)
    exchanges: list[tuple[str, ExchangeTransfers]] = field(default_factory=list)
    unsent: dict[ExchangedComponent, int] = field(default_factory=dict)
    """The exchange, by its place in `exchanges`, of which the device's replica lacks the halo."""
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
                self._send_halo(key)
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
        for key in list(self.unsent):
            self._send_halo(key)
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
        for key, side, _ in uses:
            if side is Side.DEVICE:
                self._send_halo(key)
        for key, side in stale:
            self._update(key, side, item.uid)
        for key, side, writes in uses:
            if writes:
                self._write(key, side, item.uid)
        self.queue = queue_of(item)

    def _fill(self, item: FillHalo) -> None:
        """Let the host write a part of its replica."""
        self._wait(item.uid)
        for key in (ExchangedComponent(item.datum, item.component), *self.aliases[item.datum]):
            if self._of(key).host is not Fresh.YES:
                self._update(key, Side.HOST, item.uid)
            self._write(key, Side.HOST, item.uid)

    def _write(self, key: ExchangedComponent, side: Side, writer: str) -> None:
        self.state[key] = self._of(key).written(side, writer)
        if side is Side.HOST:
            self.unsent.pop(key, None)

    def _send_halo(self, key: ExchangedComponent) -> None:
        """Let the last exchange of what may be this object send the halo, if it did not."""
        same = (key, *self.aliases[key.datum])
        for one in [other for other in self.unsent if other in same]:
            place = self.unsent.pop(one)
            uid, carried = self.exchanges[place]
            self.exchanges[place] = (uid, carried._replace(sent=True))

    def _update(self, key: ExchangedComponent, to: Side, before: str) -> None:
        self._send_halo(key)
        now = self._of(key)
        guarded = now.present is not Fresh.YES
        uid = f"update-{to.value}({key_text(key)})@{before}"
        update = Update(uid, *key, to, guarded, reader=before, writer=now.writer)
        self.inserted.append(Insertion(before, update))
        self.state[key] = now.updated(to)

    def _exchange(self, item: HaloExchange) -> None:
        """Let an exchange, which works on the host's replica, bring values from and to a device.

        Where the device's replica is right, it gets the halo and stays right, unless the host
        writes before that is needed. What is sent comes from it, by itself where that can be told
        apart: then a host's replica that was stale is so still. Where it is not right, the
        exchange is a write of the host, which need not go to the device at once.
        """
        key = ExchangedComponent(item.datum, item.component)
        self._send_halo(key)
        if all(self._of(one).device is Fresh.YES for one in (key, *self.aliases[item.datum])):
            self._exchange_beside(key, item)
            return
        for other in self.aliases[item.datum]:
            # The object which is exchanged may be this one.
            if self._of(other).host is not Fresh.YES:
                self._update(other, Side.HOST, item.uid)
            self._write(other, Side.HOST, item.uid)
        now = self._of(key)
        fetches = item.phase is not Phase.FINISH and now.host is not Fresh.YES
        writes = item.phase is not Phase.START
        sends = writes and item.guarded and now.device is Fresh.YES
        self.exchanges.append((item.uid, ExchangeTransfers(fetches, sends, False)))
        if item.guarded:
            return
        now = now.updated(Side.HOST) if fetches else now
        self.state[key] = now
        if writes:
            self._write(key, Side.HOST, item.uid)

    def _exchange_beside(self, key: ExchangedComponent, item: HaloExchange) -> None:
        """Let an exchange keep a device's replica right.

        What a guard decides is decided for its transfers too: if it skips them, all is as before.
        """
        now = self._of(key)
        fetches = item.phase is not Phase.FINISH and now.host is not Fresh.YES
        if item.phase is not Phase.START:
            self.unsent[key] = len(self.exchanges)
        self.exchanges.append((item.uid, ExchangeTransfers(fetches, False, self.in_strips)))
        if fetches and not self.in_strips and not item.guarded:
            self.state[key] = now.updated(Side.HOST)

    def _wait(self, before: str) -> None:
        if self.queue >= 0:
            wait = Wait(f"wait({self.queue})@{before}", self.queue)
            self.inserted.append(Insertion(before, wait))
        self.queue = -1
