"""Execute a schedule against an adversary with a device, and report every stale value it reads.

The proof that transfers are right, and so it shares nothing with what plans them: no three-valued
facts, no walk of theirs. Each object has a version, which counts the writes to it, and so has each
copy; a copy whose version is not the object's is stale.

The adversary chooses what the invoke is entered with: which objects the device has, for which of
those the host's copy is stale, which names mean one object, and whether guarded exchanges happen.
At the end an object that the device has must be right there, one that it has not, on the host.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    FillHalo,
    GlobalReduction,
    HaloExchange,
    KernelCall,
    Loop,
    Phase,
    ProfileRegion,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, Side, Update, Wait

_STALE = -1
_NO_QUEUE = -1
_SCALARS = (ArgKind.SCALAR, ArgKind.SCALAR_ARRAY, ArgKind.GRID_PROPERTY)


@dataclass(frozen=True, slots=True)
class DeviceWorld:
    """What the adversary has fixed.

    `present` are the names of objects that the device has at entry, `newer` those of them of which
    the host's copy is stale. Names in one set of `same` mean one object; those in `present` and
    `newer` must agree about it. `exchanges` tells whether guarded halo exchanges happen.
    """

    present: frozenset[str] = frozenset()
    newer: frozenset[str] = frozenset()
    same: tuple[frozenset[str], ...] = ()
    exchanges: bool = True


@dataclass(frozen=True, slots=True)
class DeviceFault:
    """Something wrong at run time: where, to which datum, and what, as a full sentence."""

    uid: str
    datum: str
    message: str


_Part = tuple[str, int | None]
"""A field or operator, or one component of a field vector, by name."""


@dataclass(slots=True)
class _Object:
    """One object: how often it was written, and the versions of its two copies.

    `device` is None as long as there is no copy there. `queue` is where work on the device's copy
    is still under way.
    """

    version: int
    host: int
    device: int | None
    queue: int = _NO_QUEUE


@dataclass(frozen=True, slots=True)
class _CallPlace:
    """Where a call runs: on which side, whether its data must be there, and in which queue."""

    side: Side = Side.HOST
    must_be_there: bool = False
    queue: int = _NO_QUEUE


_HOST = _CallPlace()


@dataclass(slots=True)
class _DeviceExecution:
    """An execution: the objects by name, and what was found wrong."""

    world: DeviceWorld
    objects: dict[_Part, _Object]
    wrong: list[DeviceFault] = field(default_factory=list)

    def report(self, uid: str, part: _Part, message: str) -> None:
        """Note that something is wrong."""
        self.wrong.append(DeviceFault(uid, part[0], message))


def check_transfers(schedule: Schedule, world: DeviceWorld) -> tuple[DeviceFault, ...]:
    """Return every stale read, and every broken promise at the end, of `schedule` in `world`."""
    run = _DeviceExecution(world, _objects(schedule, world))
    for item in schedule.body:
        _execute(run, item, _HOST)
    for part, thing in run.objects.items():
        owed = thing.host if thing.device is None else thing.device
        if owed != thing.version:
            side = "host" if thing.device is None else "device"
            run.report("end", part, f"The invoke leaves '{_text(part)}' stale on the {side}.")
        if thing.queue != _NO_QUEUE:
            run.report("end", part, f"The invoke does not wait for '{_text(part)}'.")
    return tuple(run.wrong)


def _objects(schedule: Schedule, world: DeviceWorld) -> dict[_Part, _Object]:
    made: dict[_Part, _Object] = {}
    for datum in schedule.data:
        twins = next((names for names in world.same if datum.name in names), frozenset())
        for part in (None,) if datum.vector == 1 else tuple(range(1, datum.vector + 1)):
            twin = next((name for name in sorted(twins) if (name, part) in made), None)
            there = datum.name in world.present
            host = _STALE if there and datum.name in world.newer else 0
            new = _Object(0, host, 0 if there else None)
            made[datum.name, part] = new if twin is None else made[twin, part]
    return made


def _text(part: _Part) -> str:
    name, component = part
    return name if component is None else f"{name}[{component}]"


def _execute(run: _DeviceExecution, item: Statement, place: _CallPlace) -> None:
    match item:
        case DirectiveRegion():
            _descend(run, item, _place_in(item, place))
        case Loop() | ProfileRegion():
            _descend(run, item, place)
        case KernelCall():
            _call(run, item, place)
        case HaloExchange():
            _exchange(run, item)
        case FillHalo(uid=uid, datum=datum, component=component):
            _read(run, uid, (datum, component), _HOST)
            _write(run, (datum, component), _HOST)
        case EnterData():
            _enter(run, item)
        case Update():
            _update(run, item)
        case Wait(queue=queue):
            for thing in run.objects.values():
                thing.queue = _NO_QUEUE if thing.queue == queue else thing.queue
        case GlobalReduction(uid=uid):
            if busy := [part for part, thing in run.objects.items() if thing.queue != _NO_QUEUE]:
                run.report(uid, busy[0], f"'{uid}' does not wait for what is computed.")


def _descend(
    run: _DeviceExecution, block: Loop | DirectiveRegion | ProfileRegion, place: _CallPlace
) -> None:
    for item in block.body:
        _execute(run, item, place)


def _place_in(construct: DirectiveRegion, around: _CallPlace) -> _CallPlace:
    """Return where the calls in `construct` run."""
    queue = construct.options.queue if construct.options.queue >= 0 else around.queue
    if construct.place is not Side.DEVICE or construct.copies:
        return around
    if construct.directive.holds_data:
        return _CallPlace(Side.DEVICE, False, queue)
    strict = construct.options.present and around.side is not Side.DEVICE
    return _CallPlace(Side.DEVICE, strict, queue)


def _call(run: _DeviceExecution, call: KernelCall, place: _CallPlace) -> None:
    uses = list(_uses(run, call))
    for part, _ in uses:
        _read(run, call.uid, part, place)
    for part, writes in uses:
        if writes:
            _write(run, part, place)


def _uses(run: _DeviceExecution, call: KernelCall) -> Iterator[tuple[_Part, bool]]:
    for described, actual in zip(call.kernel.args, call.args, strict=True):
        if described.kind in _SCALARS or actual.datum is None:
            continue
        for part in run.objects:
            if part[0] == actual.datum and actual.component in (None, part[1]):
                yield part, described.access.writes


def _read(run: _DeviceExecution, uid: str, part: _Part, place: _CallPlace) -> None:
    """Read the copy that is at hand; a write, too, may leave some of the old values."""
    thing = run.objects[part]
    if place.side is Side.DEVICE and thing.device is None and place.must_be_there:
        run.report(uid, part, f"'{uid}' counts on '{_text(part)}', which the device does not have.")
    if thing.queue not in (_NO_QUEUE, place.queue):
        run.report(uid, part, f"'{uid}' does not wait for '{_text(part)}', which is in a queue.")
    there = place.side is Side.DEVICE and thing.device is not None
    if (thing.device if there else thing.host) != thing.version:
        where = f"on the {place.side.value}, where it is stale"
        run.report(uid, part, f"'{uid}' reads '{_text(part)}' {where}.")
    if place.side is Side.DEVICE and place.queue != _NO_QUEUE:
        thing.queue = place.queue


def _write(run: _DeviceExecution, part: _Part, place: _CallPlace) -> None:
    thing = run.objects[part]
    thing.version += 1
    if place.side is Side.DEVICE and thing.device is not None:
        thing.device = thing.version
    else:
        thing.host = thing.version


def _exchange(run: _DeviceExecution, exchange: HaloExchange) -> None:
    """Exchange the host's copy, with what it brings from and to the device.

    In strips, what is sent is the device's, and what lies within is left alone on both sides. A
    halo that is sent to the device does not make right what was wrong there before.
    """
    if exchange.guarded and not run.world.exchanges:
        return
    part = (exchange.datum, exchange.component)
    thing = run.objects[part]
    host, device = thing.host == thing.version, thing.device == thing.version
    if thing.device is None:
        _read(run, exchange.uid, part, _HOST)
    elif exchange.in_strips and exchange.fetched:
        _sent_from_device(run, exchange.uid, part)
    elif not exchange.in_strips or exchange.phase is not Phase.FINISH:
        if exchange.fetched:
            _copied(run, exchange.uid, part, Side.HOST)
        _read(run, exchange.uid, part, _HOST)
        host = host or exchange.fetched
    if exchange.phase is not Phase.START:
        thing.version += 1
        thing.host = thing.version if host else _STALE
        if thing.device is not None and exchange.sent:
            thing.device = thing.version if device else _STALE
    if exchange.sent and thing.queue != _NO_QUEUE:
        run.report(exchange.uid, part, _not_awaited(exchange.uid, part))


def _sent_from_device(run: _DeviceExecution, uid: str, part: _Part) -> None:
    """Let the strips that are sent come from the device's copy."""
    thing = run.objects[part]
    if thing.device != thing.version:
        message = f"'{uid}' sends what the device has of '{_text(part)}', where it is stale."
        run.report(uid, part, message)
    if thing.queue != _NO_QUEUE:
        run.report(uid, part, _not_awaited(uid, part))


def _not_awaited(uid: str, part: _Part) -> str:
    return f"'{uid}' does not wait for '{_text(part)}', which is in a queue."


def _enter(run: _DeviceExecution, enter: EnterData) -> None:
    for (name, _), thing in run.objects.items():
        if name in enter.data and thing.device is None:
            thing.device = thing.host
            thing.queue = enter.queue


def _update(run: _DeviceExecution, update: Update) -> None:
    part = (update.datum, update.component)
    if run.objects[part].device is not None:
        _copied(run, update.uid, part, update.to)
    elif not update.guarded:
        message = f"'{update.uid}' copies '{update.datum}', which the device does not have."
        run.report(update.uid, part, message)


def _copied(run: _DeviceExecution, uid: str, part: _Part, to: Side) -> None:
    thing = run.objects[part]
    assert thing.device is not None
    if thing.queue != _NO_QUEUE:
        run.report(uid, part, _not_awaited(uid, part))
    if to is Side.HOST:
        thing.host = thing.device
    else:
        thing.device = thing.host
