"""Checker for host-device transfers: reports all stale reads of a schedule.

Each object has a version, the number of writes to it, and each replica has the version of its
values. A replica with an older version is stale. The scenario determines which objects are on the
device at entry, for which of them the host copy is stale, and whether guarded exchanges happen.

At exit, objects present on the device must be valid there, and others on the host.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import dataclass
from psyclone_storage.coherence.execution import (
    CallStep,
    Execution,
    Fault,
    PreparedSchedule,
    prepare,
)
from psyclone_storage.coherence.scenarios import DeviceScenario
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart, components_of
from psyclone_storage.ir.transfer import EnterData, Side, Update, Wait

_STALE = -1
_NO_QUEUE = -1


def check_transfers(
    schedule: sch.Schedule | PreparedSchedule, scenario: DeviceScenario
) -> tuple[Fault, ...]:
    """Return all stale reads in `schedule`, and all objects that are stale at its end."""
    return _DeviceExecution(prepare(schedule), scenario).run()


@dataclass(slots=True)
class _Object:
    """An object: the number of writes to it and the versions of its two replicas.

    `device` equals None if there is no device replica. Operations on the device replica may be
    pending in `queue`.
    """

    version: int
    host: int
    device: int | None
    queue: int = _NO_QUEUE


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a call: the side, the device queue, and if its data must be present."""

    side: Side = Side.HOST
    must_be_there: bool = False
    queue: int = _NO_QUEUE


_HOST = _Place()


def _place_of(regions: tuple[sch.DirectiveRegion, ...]) -> _Place:
    """Return where the calls inside `regions` run."""
    place = _HOST
    for region in regions:
        if region.place is not Side.DEVICE or region.copies:
            continue
        queue = region.options.queue if region.options.queue >= 0 else place.queue
        strict = region.options.present and place.side is not Side.DEVICE
        place = _Place(Side.DEVICE, strict and not region.directive.holds_data, queue)
    return place


class _DeviceExecution(Execution[DeviceScenario, _Object]):
    """Executes a schedule on a host with one device."""

    def initial(self, part: DatumPart) -> _Object:
        there = part.datum in self.scenario.present
        newer = there and part.datum in self.scenario.newer
        return _Object(0, _STALE if newer else 0, 0 if there else None)

    def call(self, step: CallStep) -> None:
        place = _place_of(step.regions)
        uses = [(part, one.described) for one in step.passed for part in one.parts]
        for part, _ in uses:
            self._read(step.call.uid, part, place)
        for part, described in uses:
            if described.access.writes:
                self._write(part, place)

    def fill(self, fill: sch.FillHalo, part: DatumPart) -> None:
        self._read(fill.uid, part, _HOST)
        self._write(part, _HOST)

    def other(self, statement: sch.Statement) -> None:
        match statement:
            case EnterData():
                self._enter(statement)
            case Update():
                self._update(statement)
            case Wait(queue=queue):
                for one in self.objects.values():
                    one.queue = _NO_QUEUE if one.queue == queue else one.queue
            case sch.GlobalReduction(uid=uid):
                if busy := [part for part, one in self.objects.items() if one.queue != _NO_QUEUE]:
                    self.report(uid, busy[0], f"'{uid}' does not wait for what is computed.")

    def finish(self) -> None:
        for part, one in self.objects.items():
            owed = one.host if one.device is None else one.device
            if owed != one.version:
                side = "host" if one.device is None else "device"
                self.report("end", part, f"The invoke leaves '{part.text}' stale on the {side}.")
            if one.queue != _NO_QUEUE:
                self.report("end", part, f"The invoke does not wait for '{part.text}'.")

    def exchange(self, exchange: sch.HaloExchange) -> None:
        """Exchange the host replica, including the transfers that the exchange makes.

        With `in_strips`, the device replica is sent and interior values do not change on either
        side. Sending a halo to the device does not make other stale values valid.
        """
        if exchange.guarded and not self.scenario.exchanges:
            return
        part = DatumPart(exchange.datum, exchange.component)
        one = self.object_of(part)
        host, device = one.host == one.version, one.device == one.version
        if one.device is None:
            self._read(exchange.uid, part, _HOST)
        elif exchange.in_strips and exchange.fetched:
            self._send_from_device(exchange.uid, part)
        elif not exchange.in_strips or exchange.phase is not sch.Phase.FINISH:
            if exchange.fetched:
                self._copy(exchange.uid, part, Side.HOST)
            self._read(exchange.uid, part, _HOST)
            host = host or exchange.fetched
        if exchange.phase is not sch.Phase.START:
            one.version += 1
            one.host = one.version if host else _STALE
            if one.device is not None and exchange.sent:
                one.device = one.version if device else _STALE
        if exchange.sent:
            self._expect_no_queue(exchange.uid, part)

    def _read(self, uid: str, part: DatumPart, place: _Place) -> None:
        """Read a replica on the side of the call.

        Writes count as reads, because they may be partial.
        """
        one, name = self.object_of(part), f"'{part.text}'"
        on_device = place.side is Side.DEVICE
        if on_device and one.device is None and place.must_be_there:
            self.report(uid, part, f"'{uid}' counts on {name}, which the device does not have.")
        self._expect_no_queue(uid, part, place.queue)
        there = on_device and one.device is not None
        if (one.device if there else one.host) != one.version:
            where = f"on the {place.side.value}, where it is stale"
            self.report(uid, part, f"'{uid}' reads {name} {where}.")
        if on_device and place.queue != _NO_QUEUE:
            one.queue = place.queue

    def _write(self, part: DatumPart, place: _Place) -> None:
        one = self.object_of(part)
        one.version += 1
        if place.side is Side.DEVICE and one.device is not None:
            one.device = one.version
        else:
            one.host = one.version

    def _send_from_device(self, uid: str, part: DatumPart) -> None:
        one = self.object_of(part)
        if one.device != one.version:
            message = f"'{uid}' sends what the device has of '{part.text}', where it is stale."
            self.report(uid, part, message)
        self._expect_no_queue(uid, part)

    def _expect_no_queue(self, uid: str, part: DatumPart, allowed: int = _NO_QUEUE) -> None:
        """Report pending operations on an object in a queue other than `allowed`."""
        if self.object_of(part).queue not in (_NO_QUEUE, allowed):
            message = f"'{uid}' does not wait for '{part.text}', which is in a queue."
            self.report(uid, part, message)

    def _enter(self, enter: EnterData) -> None:
        for part in self._parts_of(enter.data):
            one = self.object_of(part)
            if one.device is None:
                one.device = one.host
                one.queue = enter.queue

    def _parts_of(self, names: tuple[str, ...]) -> Iterator[DatumPart]:
        for name in names:
            yield from components_of(self.schedule.datum(name))

    def _update(self, update: Update) -> None:
        part = DatumPart(update.datum, update.component)
        if self.object_of(part).device is not None:
            self._copy(update.uid, part, update.to)
        elif not update.guarded:
            message = f"'{update.uid}' copies '{update.datum}', which the device does not have."
            self.report(update.uid, part, message)

    def _copy(self, uid: str, part: DatumPart, to: Side) -> None:
        one = self.object_of(part)
        assert one.device is not None
        self._expect_no_queue(uid, part)
        if to is Side.HOST:
            one.host = one.device
        else:
            one.device = one.host
