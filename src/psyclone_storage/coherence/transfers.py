"""Transfer planner: copies between the memories of host and device.

Each operator, field and field-vector component has a host replica and possibly a device replica.
The state of a datum is the set of possible run-time cases: which memory is valid, and whether a
device replica exists. The event table maps these cases. Transfers happen as late as possible; data
that the other side never reads are not transferred.

Contract between invokes: *a datum present on the device is valid there; any other datum is valid on
the host*. At entry, an invoke relies on the device replica if it exists, and on nothing else. At
exit, it must restore the contract.

Kernels may write only some points, so a write also requires a valid replica. Possible aliases share
their replicas: an event on one applies to all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.coherence.solver import OUTSIDE, Solver
from psyclone_storage.coherence.tables import MEMORY, Holders, MemoryEvent
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart, components_of
from psyclone_storage.ir.devices import (
    device_calls,
    device_regions,
    moved_data,
)
from psyclone_storage.ir.insertion import END, Insertion
from psyclone_storage.ir.transfer import EnterData, Side, TaskWait, Update, Wait
from psyclone_storage.ir.walk import kernel_calls


class MemoryCase(NamedTuple):
    """A possible run-time case: which memories are valid, seen from the host.

    If `present` is false, there is no device replica, and device regions use the host replica.
    """

    holders: Holders
    present: bool = True

    def is_right(self, side: Side) -> bool:
        """Return whether the replica on `side` is valid."""
        return self.holders in (_CURRENT_ON[side], Holders.BOTH)

    def after(self, event: MemoryEvent, side: Side) -> MemoryCase:
        """Return the case after an event on `side`, according to the event table."""
        if not self.present:
            return self
        seen = self.holders if side is Side.HOST else _SEEN_FROM_DEVICE[self.holders]
        left = MEMORY[event, seen].holders
        assert left is not None
        return MemoryCase(left if side is Side.HOST else _SEEN_FROM_DEVICE[left])


_CURRENT_ON = {Side.HOST: Holders.HERE, Side.DEVICE: Holders.THERE}
_SEEN_FROM_DEVICE = {
    Holders.HERE: Holders.THERE,
    Holders.THERE: Holders.HERE,
    Holders.BOTH: Holders.BOTH,
}
_ENTRY = frozenset(
    (MemoryCase(Holders.HERE, present=False), MemoryCase(Holders.THERE), MemoryCase(Holders.BOTH))
)
"""The contract between invokes: a replica that a device has is right."""


@dataclass(frozen=True, slots=True)
class ReplicaStates:
    """The possible cases of a datum, and the statement that wrote it last."""

    cases: frozenset[MemoryCase] = _ENTRY
    writer: str = OUTSIDE

    @property
    def may_be_absent(self) -> bool:
        """True if the device may have no replica."""
        return any(not case.present for case in self.cases)

    def is_right(self, side: Side) -> bool:
        """Return whether the replica on `side`, if it exists, is certainly valid."""
        of_side = (case for case in self.cases if case.present or side is Side.HOST)
        return all(case.is_right(side) for case in of_side)

    def entered(self) -> ReplicaStates:
        """Return the state after a device replica was created where none existed."""
        cases = (case if case.present else MemoryCase(Holders.BOTH) for case in self.cases)
        return replace(self, cases=frozenset(cases))

    def after(self, event: MemoryEvent, side: Side, writer: str = "") -> ReplicaStates:
        """Return the state after an event on `side`; `writer` is set for writes."""
        cases = frozenset(case.after(event, side) for case in self.cases)
        return ReplicaStates(cases, writer or self.writer)


class SideUse(NamedTuple):
    """A use of one part of the data by a statement on one side."""

    part: DatumPart
    side: Side
    writes: bool


class ExchangeTransfers(NamedTuple):
    """Transfers of an exchange: from the device before it, to the device after it.

    With `in_strips`, only the values that it sends and receives are transferred.
    """

    fetched: bool
    sent: bool
    in_strips: bool


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """All transfers of a schedule.

    `entered` are the data that must be on the device. `inserted` are updates and waits, in order.
    `exchanges` are the transfers of halo exchanges, by uid.
    """

    entered: tuple[str, ...] = ()
    inserted: tuple[Insertion[Update | Wait], ...] = ()
    exchanges: tuple[tuple[str, ExchangeTransfers], ...] = ()


def queue_of(item: sch.Statement) -> int:
    """Return the device queue of all calls in `item`, -1 if the host waits for any of them."""
    if isinstance(item, EnterData):
        return item.queue
    if not isinstance(item, sch.Loop | sch.DirectiveRegion):
        return -1
    regions = list(device_regions(item))
    inside = sum(len(kernel_calls(region)) for region in regions)
    queues = {region.options.queue for region in regions}
    return queues.pop() if len(queues) == 1 and inside == len(kernel_calls(item)) else -1


def plan_transfers(schedule: sch.Schedule, *, in_strips: bool = False) -> TransferPlan:
    """Return the transfers and waits for `schedule`, which contains no derived ones.

    Schedules without device regions are planned too, because a previous invoke may have left their
    data on a device. With `in_strips`, the infrastructure can transfer only the values that an
    exchange sends.
    """
    solver = _TransferSolver(schedule, in_strips)
    for item in opened(schedule.body):
        solver.step(item)
    solver.finish()
    entered = _entered(schedule) if solver.enters else ()
    return TransferPlan(entered, tuple(solver.inserted), tuple(solver.exchanges))


def opened(body: tuple[sch.Statement, ...]) -> Iterator[sch.Statement]:
    """Yield the statements between which something can be inserted, in order.

    Profile regions are expanded.
    """
    for item in body:
        if isinstance(item, sch.ProfileRegion):
            yield from opened(item.body)
        else:
            yield item


def _entered(schedule: sch.Schedule) -> tuple[str, ...]:
    uses = moved_data(schedule, device_calls(schedule))
    return tuple(dict.fromkeys(use.datum for use in uses))


class _TransferSolver(Solver[ReplicaStates, SideUse]):
    """The coherence solver for host and device; also tracks exchanges and the active queue."""

    def __init__(self, schedule: sch.Schedule, in_strips: bool) -> None:
        super().__init__(schedule)
        self.in_strips = in_strips
        self.inserted: list[Insertion[Update | Wait]] = []
        self.exchanges: list[tuple[str, ExchangeTransfers]] = []
        self.enters = False
        # The exchange, by its place in `exchanges`, whose halo the device's replica lacks.
        self._unsent: dict[DatumPart, int] = {}
        self._queue = self._next_queue = -1

    def step(self, item: sch.Statement) -> None:
        """Process one statement."""
        self._next_queue = queue_of(item)
        match item:
            case EnterData():
                self._enter(item)
            case Update():
                self._wait(item.uid)
                part = DatumPart(item.datum, item.component)
                self._send_halo(part)
                if not self.state(part).is_right(item.to.other):
                    self._update(part, item.to.other, item.uid)
                self.states[part] = self.state(part).after(MemoryEvent.READ, item.to)
            case sch.HaloExchange():
                self._wait(item.uid)
                self._exchange(item)
            case sch.Loop() | sch.DirectiveRegion():
                self.reach(item.uid, self._uses(item))
                self._queue = self._next_queue
            case sch.FillHalo():
                for part in self.with_aliases(DatumPart(item.datum, item.component)):
                    self.reach(item.uid, (SideUse(part, Side.HOST, True),))
            case sch.GlobalReduction():
                self._wait(item.uid)
            case sch.KernelCall() | sch.MarkHalo() | sch.ProfileRegion() | Wait() | TaskWait():
                return

    def finish(self) -> None:
        """Restore the contract: make all device replicas valid."""
        for part in list(self._unsent):
            self._send_halo(part)
        stale = [part for part, now in self.states.items() if not now.is_right(Side.DEVICE)]
        self._wait(END)
        for part in stale:
            self._update(part, Side.DEVICE, END)

    def entry(self, part: DatumPart) -> ReplicaStates:
        return ReplicaStates()

    def lacks(self, place: str, use: SideUse) -> bool:
        return not self.state(use.part).is_right(use.side)

    def prepare(self, place: str, uses: Sequence[SideUse], lacking: Sequence[SideUse]) -> None:
        """Wait for the queue if other work follows, and request halos that the device needs."""
        if lacking or self._next_queue != self._queue:
            self._wait(place)
        for use in uses:
            if use.side is Side.DEVICE:
                self._send_halo(use.part)

    def make_right(self, place: str, use: SideUse) -> None:
        self._update(use.part, use.side, place)

    def apply(self, place: str, use: SideUse) -> None:
        if use.writes:
            self._write(use.part, use.side, place)

    def _uses(self, item: sch.Loop | sch.DirectiveRegion) -> list[SideUse]:
        on_device = device_calls(item)
        there = {call.uid for call in on_device}
        elsewhere = tuple(call for call in kernel_calls(item) if call.uid not in there)
        return [
            SideUse(DatumPart(use.datum, use.component), side, use.writes)
            for side, calls in ((Side.DEVICE, on_device), (Side.HOST, elsewhere))
            for use in moved_data(self.schedule, calls)
        ]

    def _enter(self, item: EnterData) -> None:
        self.enters = True
        self._queue = item.queue
        for name in _entered(self.schedule):
            for part in components_of(self.schedule.datum(name)):
                self.states[part] = self.state(part).entered()

    def _write(self, part: DatumPart, side: Side, writer: str) -> None:
        self.states[part] = self.state(part).after(MemoryEvent.READ_WRITE, side, writer)
        if side is Side.HOST:
            self._unsent.pop(part, None)

    def _send_halo(self, part: DatumPart) -> None:
        """Request that the last exchange of `part`, or of a possible alias, sends its halo."""
        same = self.with_aliases(part)
        for one in [other for other in self._unsent if other in same]:
            place = self._unsent.pop(one)
            uid, carried = self.exchanges[place]
            self.exchanges[place] = (uid, carried._replace(sent=True))

    def _update(self, part: DatumPart, to: Side, before: str) -> None:
        self._send_halo(part)
        now = self.state(part)
        uid = f"update-{to.value}({part.text})@{before}"
        update = Update(uid, *part, to, now.may_be_absent, reader=before, writer=now.writer)
        self.inserted.append(Insertion(before, update))
        self.states[part] = now.after(MemoryEvent.READ, to)

    def _exchange(self, item: sch.HaloExchange) -> None:
        """Plan the transfers of an exchange, which works on the host replica.

        If the device replica is valid, it receives the halo and remains valid unless the host
        writes first. The sent values come from the device; with `in_strips`, a stale host replica
        stays stale. If the device replica is not valid, the exchange counts as a write by the host,
        which is not transferred immediately.
        """
        part = DatumPart(item.datum, item.component)
        self._send_halo(part)
        if all(self.state(one).is_right(Side.DEVICE) for one in self.with_aliases(part)):
            self._exchange_for_both(part, item)
            return
        for other in self.aliases[item.datum]:
            # The object which is exchanged may be this one.
            self.reach(item.uid, (SideUse(other, Side.HOST, True),))
        now = self.state(part)
        fetches = item.phase is not sch.Phase.FINISH and not now.is_right(Side.HOST)
        writes = item.phase is not sch.Phase.START
        sends = writes and item.guarded and now.is_right(Side.DEVICE)
        self.exchanges.append((item.uid, ExchangeTransfers(fetches, sends, False)))
        if item.guarded:
            return
        self.states[part] = now.after(MemoryEvent.READ, Side.HOST) if fetches else now
        if writes:
            self._write(part, Side.HOST, item.uid)

    def _exchange_for_both(self, part: DatumPart, item: sch.HaloExchange) -> None:
        """Plan an exchange that keeps the device replica valid.

        A guard that skips the exchange also skips its transfers; then the state does not change.
        """
        now = self.state(part)
        fetches = item.phase is not sch.Phase.FINISH and not now.is_right(Side.HOST)
        if item.phase is not sch.Phase.START:
            self._unsent[part] = len(self.exchanges)
        self.exchanges.append((item.uid, ExchangeTransfers(fetches, False, self.in_strips)))
        if fetches and not self.in_strips and not item.guarded:
            self.states[part] = now.after(MemoryEvent.READ, Side.HOST)

    def _wait(self, before: str) -> None:
        if self._queue >= 0:
            wait = Wait(f"wait({self._queue})@{before}", self._queue)
            self.inserted.append(Insertion(before, wait))
        self._queue = -1
