"""Execute a schedule against an adversary with storages, and report every stale value it reads.

The proof that a plan of `holding` is right, and so it shares nothing with it. An object has parts:
the points inside, the boundary points around them, and what lies beyond: wider halos, or values at
dofs of which kernels see the first. Each part has a version,
which counts the writes to it, and so has each copy of it. A storage believes of each side that it
is current or not, as it was told; it moves whole objects, and knows nothing of parts. A copy that
it believes current and of which a part is older than the truth is a lost value.

Which parts a call writes is found out by going all ways through its code. The adversary chooses
where values are at entry, which names mean one object, whether guarded exchanges happen, and
whether there is anything beyond the region of a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from psyclone_storage.analysis.schedules.check_columns import fills_columns
from psyclone_storage.analysis.schedules.check_devices import DeviceFault
from psyclone_storage.analysis.schedules.same_objects import same_objects
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.affine import difference
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Expr, Index, Name
from psyclone_storage.ir.holding import (
    AcquireData,
    HoldingAction,
    HoldingContract,
    HoldingPlan,
    PrefetchData,
    ReleaseData,
    TouchData,
)
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import (
    FIRST_INTERNAL,
    LAST_INTERNAL,
    Access,
    ArgKind,
    GridBounds,
)
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.schedule import (
    Datum,
    DirectiveRegion,
    FillHalo,
    HaloExchange,
    KernelCall,
    Loop,
    Phase,
    ProfileRegion,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Assign, Blank, Comment, Continue, Do, If, Line, Return

_SCALARS = (ArgKind.SCALAR, ArgKind.SCALAR_ARRAY, ArgKind.GRID_PROPERTY)
_MOST_WAYS = 4096


class ValuePart(Enum):
    """Some of the values of an object."""

    INSIDE = "inside"
    AROUND = "around"
    BEYOND = "beyond"


@dataclass(frozen=True, slots=True)
class StorageWorld:
    """What the adversary has fixed.

    `on_host` and `on_device` name the objects of which the copies there are current at entry.
    Names in one set of `same` mean one object, and agree about that. `exchanges` tells whether
    guarded exchanges happen, `wide` whether fields have values beyond their regions. `all_points`
    is what metadata call the points inside and around; other sets that are built in have those
    inside.
    """

    on_host: frozenset[str] = frozenset()
    on_device: frozenset[str] = frozenset()
    same: tuple[frozenset[str], ...] = ()
    exchanges: bool = True
    wide: bool = False
    all_points: str = ""


_Named = tuple[str, int | None]


@dataclass(slots=True)
class _ReplicaParts:
    """What one side has: the version of each part, and whether the storage believes in it."""

    versions: dict[ValuePart, int]
    valid: bool


@dataclass(slots=True)
class _StorageModel:
    """One object. `held` are its accesses under way: where, and whether they write."""

    truth: dict[ValuePart, int]
    copies: dict[Side, _ReplicaParts]
    held: list[tuple[_Named, Side, bool]] = field(default_factory=list)

    def bring(self, side: Side) -> None:
        """Make the copy on `side` equal to one that is believed current."""
        here, there = self.copies[side], self.copies[side.other]
        if not here.valid and there.valid:
            here.versions = dict(there.versions)
            here.valid = True

    def is_new_on(self, side: Side) -> None:
        """Believe in the copy on `side` alone."""
        self.copies[side].valid = True
        self.copies[side.other].valid = False


@dataclass(slots=True)
class _HoldingExecution:
    """An execution: the objects by name, and what was found wrong."""

    world: StorageWorld
    contract: HoldingContract
    codes: Mapping[str, tuple[KernelCode, ...]]
    objects: dict[_Named, _StorageModel]
    wrong: list[DeviceFault] = field(default_factory=list)

    def report(self, uid: str, named: _Named, message: str) -> None:
        """Note that something is wrong."""
        self.wrong.append(DeviceFault(uid, named[0], message))


def check_holding(
    schedule: Schedule,
    plan: HoldingPlan,
    contract: HoldingContract,
    codes: Mapping[str, tuple[KernelCode, ...]],
    world: StorageWorld,
) -> tuple[DeviceFault, ...]:
    """Return all that goes wrong in `world`; `codes` are those of kernels, by their names."""
    run = _HoldingExecution(world, contract, codes, _storages(schedule, world))
    for item in _in_order(schedule.body):
        for action in plan.before(item.uid):
            _ask(run, action)
        _execute(run, item)
    for action in plan.before("end"):
        _ask(run, action)
    _check_end(run)
    return tuple(run.wrong)


def storage_worlds(schedule: Schedule, all_points: str = "") -> Iterator[StorageWorld]:
    """Yield worlds where values are on either side or on both, with what else can be chosen."""
    names = frozenset(datum.name for datum in schedule.data)
    nothing: frozenset[str] = frozenset()
    for here, there in ((names, nothing), (nothing, names), (names, names)):
        for same in same_objects(schedule):
            for exchanges in (True, False):
                for wide in (True, False):
                    yield StorageWorld(here, there, same, exchanges, wide, all_points)


def _storages(schedule: Schedule, world: StorageWorld) -> dict[_Named, _StorageModel]:
    parts = [part for part in ValuePart if world.wide or part is not ValuePart.BEYOND]
    made: dict[_Named, _StorageModel] = {}
    for datum in schedule.data:
        twins = next((names for names in world.same if datum.name in names), frozenset())
        for component in _components(datum):
            twin = next((name for name in sorted(twins) if (name, component) in made), None)
            current = {Side.HOST: world.on_host, Side.DEVICE: world.on_device}
            copies = {
                side: _ReplicaParts(dict.fromkeys(parts, 0 if datum.name in names else -1),
                            datum.name in names)
                for side, names in current.items()
            }  # fmt: skip
            new = _StorageModel(dict.fromkeys(parts, 0), copies)
            made[datum.name, component] = new if twin is None else made[twin, component]
    return made


def _components(datum: Datum) -> tuple[int | None, ...]:
    return (None,) if datum.vector == 1 else tuple(range(1, datum.vector + 1))


def _in_order(body: Iterable[Statement]) -> Iterator[Statement]:
    for item in body:
        if isinstance(item, ProfileRegion):
            yield from _in_order(item.body)
        else:
            yield item


def _text(named: _Named) -> str:
    return named[0] if named[1] is None else f"{named[0]}[{named[1]}]"


# ---------------------------------------------------------------------------- what is asked


def _ask(run: _HoldingExecution, action: HoldingAction) -> None:
    named = (action.datum, action.component)
    thing = run.objects[named]
    match action:
        case AcquireData():
            _acquire(run, action, thing)
        case TouchData(side=side):
            if not any(where is side for _, where, _ in thing.held):
                run.report("touch", named, f"'{_text(named)}' is touched where nobody has it.")
            thing.is_new_on(side)
        case ReleaseData(side=side):
            mine = [one for one in thing.held if one[:2] == (named, side)]
            if not mine:
                run.report("release", named, f"'{_text(named)}' is released, but not held.")
            else:
                thing.held.remove(mine[-1])
        case PrefetchData(side=side):
            if any(writes for _, _, writes in thing.held):
                run.report("prefetch", named, f"'{_text(named)}' is brought while it is written.")
            thing.bring(side)


def _acquire(run: _HoldingExecution, asked: AcquireData, thing: _StorageModel) -> None:
    named = (asked.datum, asked.component)
    others = [one for one in thing.held if one[0] == named or one[0][0] not in asked.may_be]
    if others and (asked.writes or any(writes for _, _, writes in others)):
        run.report("acquire", named, f"'{_text(named)}' is acquired while it is held.")
    brings = asked.covered is Fresh.NO or (asked.covered is Fresh.MAYBE and run.world.wide)
    if brings:
        thing.bring(asked.side)
    thing.held.append((named, asked.side, asked.writes))
    if asked.writes:
        thing.copies[asked.side.other].valid = thing.copies[asked.side.other].valid and brings


# ---------------------------------------------------------------------------- what is done


def _execute(run: _HoldingExecution, item: Statement) -> None:
    match item:
        case DirectiveRegion() | Loop():
            _descend(run, item, run.contract.home)
        case HaloExchange():
            _exchange(run, item)
        case FillHalo(uid=uid, datum=datum, component=component):
            _write(run, uid, (datum, component), run.contract.home, frozenset())


def _descend(run: _HoldingExecution, block: DirectiveRegion | Loop, side: Side) -> None:
    if isinstance(block, DirectiveRegion) and run.contract.directives_act:
        side = Side.DEVICE if block.place is Side.DEVICE and not block.copies else side
    for item in block.body:
        if isinstance(item, KernelCall):
            assert isinstance(block, Loop)
            _call(run, block, item, side)
        elif isinstance(item, DirectiveRegion | Loop):
            _descend(run, item, side)


def _call(run: _HoldingExecution, loop: Loop, call: KernelCall, side: Side) -> None:
    uses = [
        (at, named)
        for at, (described, actual) in enumerate(zip(call.kernel.args, call.args, strict=True))
        if described.kind not in _SCALARS and actual.datum is not None
        for named in run.objects
        if named[0] == actual.datum and actual.component in (None, named[1])
    ]
    for at, named in uses:
        if call.kernel.args[at].access.reads:
            _look(run, call.uid, named, side, frozenset(ValuePart))
    for at, named in uses:
        if call.kernel.args[at].access.writes:
            codes = call.known_codes or run.codes.get(call.kernel.name, ())
            _write(
                run,
                call.uid,
                named,
                side,
                _parts_written(loop, call, at, codes, run.world.all_points),
            )


def _look(
    run: _HoldingExecution, uid: str, named: _Named, side: Side, parts: frozenset[ValuePart]
) -> None:
    """Read the parts of a copy that are there, which must be held."""
    thing = run.objects[named]
    if not any(where is side for _, where, _ in thing.held):
        run.report(uid, named, f"'{uid}' uses '{_text(named)}', which is not held there.")
    for part in thing.truth:
        if part in parts and thing.copies[side].versions[part] != thing.truth[part]:
            where = f"{part.value} on the {side.value}, where it is stale"
            run.report(uid, named, f"'{uid}' reads '{_text(named)}' {where}.")


def _write(
    run: _HoldingExecution, uid: str, named: _Named, side: Side, wholly: frozenset[ValuePart]
) -> None:
    """Write some of each part of a copy, or all of those in `wholly`."""
    thing = run.objects[named]
    writes = [one for one in thing.held if one[1] is side and one[2]]
    if not writes:
        run.report(uid, named, f"'{uid}' writes '{_text(named)}', which is not held for that.")
    _look(run, uid, named, side, frozenset(ValuePart) - wholly)
    for part in thing.truth:
        thing.truth[part] += 1
        thing.copies[side].versions[part] = thing.truth[part]


def _exchange(run: _HoldingExecution, exchange: HaloExchange) -> None:
    """Exchange a halo: where the field is held, or by an access of the exchange's own."""
    if exchange.guarded and not run.world.exchanges:
        return
    named, home = (exchange.datum, exchange.component), run.contract.home
    thing = run.objects[named]
    if not run.contract.through_exchanges:
        if thing.held:
            run.report(exchange.uid, named, f"'{_text(named)}' is held while it is exchanged.")
        if exchange.phase is Phase.START:
            return
        thing.bring(home)
        thing.held.append((named, home, True))
    if exchange.phase is not Phase.START:
        _write(run, exchange.uid, named, home, frozenset())
    else:
        _look(run, exchange.uid, named, home, frozenset(ValuePart))
    if not run.contract.through_exchanges:
        thing.held.pop()
        thing.is_new_on(home)


def _check_end(run: _HoldingExecution) -> None:
    """See that nothing is held, and that each copy which is believed in is right."""
    for named, thing in run.objects.items():
        if thing.held:
            run.report("end", named, f"The invoke does not release '{_text(named)}'.")
        if not any(copy.valid for copy in thing.copies.values()):
            run.report("end", named, f"Nobody has '{_text(named)}' any more.")
        for side, copy in thing.copies.items():
            if copy.valid and copy.versions != thing.truth:
                message = f"'{_text(named)}' is taken for current on the {side.value}, but is not."
                run.report("end", named, message)


# ---------------------------------------------------------------------------- what calls write


def _parts_written(
    loop: Loop, call: KernelCall, arg: int, codes: tuple[KernelCode, ...], all_points: str
) -> frozenset[ValuePart]:
    """Return the parts of an argument that a call certainly gives new values, all of them."""
    described, nothing = call.kernel.args[arg], frozenset[ValuePart]()
    if described.access is not Access.WRITE or described.kind is not ArgKind.FIELD:
        return nothing
    points = call.kernel.points
    if loop.peel is not None:
        return nothing
    if points is None:
        owned = loop.extent.reach is not Reach.HALO_ONLY and described.mesh is None
        owned = owned and call.kernel.mask is None
        if not owned or call.kernel.is_builtin:
            return frozenset(ValuePart) if owned else nothing
        if call.kernel.iteration.over_dofs:
            sets = bool(codes) and all(_sets_dof(code, call.dummies, arg) for code in codes)
            return frozenset(ValuePart) if sets else nothing
        filled = bool(codes) and all(fills_columns(code, call.dummies, arg) for code in codes)
        return frozenset({ValuePart.INSIDE, ValuePart.AROUND}) if filled else nothing
    if loop.parts or points.bounds is not None:
        return nothing
    if not codes or not all(_always(code, arg) for code in codes):
        return nothing
    if loop.bounds is not None:
        return _parts_within(loop.bounds)
    around = {ValuePart.AROUND} if points.name == all_points else set()
    return frozenset({ValuePart.INSIDE, *around})


def _parts_within(bounds: GridBounds) -> frozenset[ValuePart]:
    """Return the parts of a field of which all points lie within `bounds`.

    No field has an internal point outside of the internal region of its grid, nor a boundary point
    further than one point outside of it.
    """
    outside = (
        difference(FIRST_INTERNAL, bounds.outer_start),
        difference(FIRST_INTERNAL, bounds.inner_start),
        difference(bounds.outer_stop, LAST_INTERNAL),
        difference(bounds.inner_stop, LAST_INTERNAL),
    )
    least = min(-1 if points is None else points for points in outside)
    return frozenset([ValuePart.INSIDE, ValuePart.AROUND][: max(least + 1, 0)])


def _sets_dof(code: KernelCode, dummies: tuple[Dummy, ...], arg: int) -> bool:
    """Return whether each way through `code` writes the values of an argument before it looks."""
    if len(dummies) != len(code.dummies):
        return False
    named = zip(code.dummy_keys, dummies, strict=True)
    keys = [key for key, one in named if one.arg == arg and one.role is Role.DOF_VALUE]
    ways = list(_ways(code.body))
    written = all(_first_is_a_write(way, key, ()) for way in ways for key in keys)
    return bool(keys) and len(ways) < _MOST_WAYS and written


def _always(code: KernelCode, arg: int) -> bool:
    """Return whether each way through `code` writes the point of an argument before it looks."""
    key, point = code.dummy_keys[arg + 2], code.dummy_keys[:2]
    ways = list(_ways(code.body))
    return len(ways) < _MOST_WAYS and all(_first_is_a_write(way, key, point) for way in ways)


_Step = tuple[tuple[Expr, ...], Expr | None]
"""What a step of a way looks at, and what it assigns to."""
_Way = tuple[_Step, ...]


def _ways(lines: tuple[Line, ...]) -> Iterator[_Way]:
    """Yield ways through statements, each loop not at all or once; unknown ones look at all."""
    for way, _ in _ways_on(lines):
        yield way


def _ways_on(lines: tuple[Line, ...]) -> list[tuple[_Way, bool]]:
    """Return ways through statements, and whether each goes on behind them."""
    found: list[tuple[_Way, bool]] = [((), True)]
    for line in lines:
        steps = _ways_of(line)
        found = [
            (way + more, on_behind) if goes_on else (way, False)
            for way, goes_on in found
            for more, on_behind in (steps if goes_on else [((), False)])
        ][:_MOST_WAYS]
    return found


_ANYTHING: _Step = ((Name("*"),), None)


def _ways_of(line: Line) -> list[tuple[_Way, bool]]:
    match line:
        case Blank() | Comment() | Continue():
            return [((), True)]
        case Assign(target, value):
            subscripts = target.items if isinstance(target, Index) else ()
            return [((((value, *subscripts), target),), True)]
        case Return(None):
            return [((), False)]
        case Do(body=body):
            return [((), True), *_ways_on(body)]
        case If(branches, otherwise):
            ways: list[tuple[_Way, bool]] = []
            tests: tuple[Expr, ...] = ()
            for branch in branches:
                tests = (*tests, branch.condition)
                head: _Way = ((tests, None),)
                ways += [(head + way, on) for way, on in _ways_on(branch.body)]
            return [*ways, *((((tests, None), *way), on) for way, on in _ways_on(otherwise))]
    return [((_ANYTHING,), True)]


def _first_is_a_write(way: _Way, key: str, point: tuple[str, ...]) -> bool:
    """Return whether what is first done with `key` is a write to `point` of it, or to all of it."""
    for looked, target in way:
        if any(key in names_in(expr) or expr == Name("*") for expr in looked):
            return False
        if isinstance(target, Name) and target.key == key:
            return True
        if isinstance(target, Index) and isinstance(target.base, Name) and target.base.key == key:
            return tuple(getattr(item, "key", "") for item in target.items) == tuple(point)
    return False
