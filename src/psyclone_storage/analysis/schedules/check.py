"""Execute a schedule against an adversary, and report every stale value that it reads.

The proof that the planner is right, and so it shares nothing with the planner: no symbolic
depths, no rules of a domain. It takes one rank of a partition, with a halo of a few levels, and
keeps for every field the set of places whose values are right. Statements are executed one after
the other: a loop computes the cells it says, a cell touches the dofs on it, an exchange copies
from the owner.

The adversary chooses what the invoke is entered with: the run-time flags call some levels clean,
and only those are. Guards ask the flags, as generated code does.

A replica may also never have been filled: then it holds no number at all, and a kernel that adds to
it stops a program that traps invalid operations, although nobody uses the sum. A device traps none.

What a write makes right follows from the meaning of the access alone. A dof that is overwritten
is right; one that is added to is right if all cells around it are computed and its old value was
right; and if a rank changes its own dofs, then every copy it has not made right is stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from psyclone_storage.analysis.schedules.check_interiors import beyond_edge, interior_of
from psyclone_storage.analysis.schedules.same_objects import NamedPart, parts_as_one
from psyclone_storage.analysis.schedules.scenario import HaloScenario
from psyclone_storage.analysis.schedules.touch import (
    ExchangedComponent,
    key_text,
    keys_of,
)
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.expr import Expr, integer_value, spell
from psyclone_storage.ir.halo_depths import FieldPart, depths_of_steps, fields_of_whole_halo
from psyclone_storage.ir.kernel import Access, ArgKind, GridStencil, KernelArg, MeshRole
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import (
    Actual,
    DirectiveRegion,
    FillHalo,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Over,
    Phase,
    Reach,
    Schedule,
    Statement,
    data_by_name,
)
from psyclone_storage.ir.walk import calls_in, in_sequence, statements

OWNED = 0
"""The place of dofs that this rank owns; halo level k is place k."""

ANNEXED = -1
"""The place of dofs on owned cells that another rank owns."""

_OPERATOR_LEVELS = 1
_FINE = 2


@dataclass(frozen=True, slots=True)
class HaloFault:
    """Something wrong at run time: where, to which field, and what, as a full sentence."""

    uid: str
    key: ExchangedComponent
    message: str


@dataclass(slots=True)
class _Copies:
    """The copies of one component on this rank: which are right, and what the flags say.

    `empty` are the places that nothing has ever filled. `version` counts the writes to owned dofs;
    `sent` is the version that an exchange under way carries, and `flying` are the places that it is
    going to write. `started` names its start.
    """

    right: frozenset[int]
    flags: int
    empty: frozenset[int]
    version: int = 0
    sent: int = 0
    flying: frozenset[int] = frozenset()
    started: str = ""


@dataclass(slots=True)
class _HaloExecution:
    """An execution: the world, the copies so far met, the exchanges that happened.

    Where it `fills`, nothing may be added to what was never filled, but by the loops `untrapped`.
    """

    world: HaloScenario
    fills: bool
    untrapped: frozenset[str] = frozenset()
    as_one: Mapping[NamedPart, NamedPart] = field(default_factory=dict)
    copies: dict[NamedPart, _Copies] = field(default_factory=dict)
    operators: dict[NamedPart, int] = field(default_factory=dict)
    stale: list[HaloFault] = field(default_factory=list)
    done: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an execution came to: what was wrong, and the exchanges that really happened."""

    stale: tuple[HaloFault, ...]
    exchanged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _ArgumentUse:
    """One argument of one call in its loop: the places it reads or writes of one component."""

    key: ExchangedComponent
    access: Access
    cells: frozenset[int]
    places: frozenset[int]
    over_dofs: bool
    shared: bool
    masked: bool


@dataclass(frozen=True, slots=True)
class _PreparedCall:
    """A call in its loop: the fields that it touches with their components, and its operators.

    `names` are the extents that the places depend on. What is read and what is written has been
    looked up for the worlds in `met`, by all of them that it depends on.
    """

    loop: Loop
    call: KernelCall
    fields: tuple[tuple[KernelArg, Actual, tuple[ExchangedComponent, ...]], ...]
    operators: tuple[tuple[KernelArg, Actual, ExchangedComponent], ...]
    names: tuple[str, ...]
    met: dict[object, tuple[tuple[_ArgumentUse, ...], tuple[_ArgumentUse, ...]]] = field(
        default_factory=dict, compare=False
    )


@dataclass(frozen=True, slots=True)
class PreparedSchedule:
    """What is the same in every world in which a schedule is executed.

    `steps` are done one after the other. The generated code stops where one of `limited` goes
    beyond an operator, or if a field has a shallower halo than a step relies on. The fields `whole`
    give the whole halo its depth. A device runs the loops `untrapped`.
    """

    schedule: Schedule
    steps: tuple[_PreparedCall | Statement, ...]
    limited: tuple[Expr, ...]
    untrapped: frozenset[str]
    relied_on: Mapping[FieldPart, Depth]
    whole: tuple[str, ...]


def prepare(schedule: Schedule) -> PreparedSchedule:
    """Return what `check_halos` and `execute` take for a schedule in many worlds."""
    data = data_by_name(schedule)
    steps: list[_PreparedCall | Statement] = []
    limited: list[Expr] = []
    for item in in_sequence(schedule):
        if not isinstance(item, Loop):
            steps.append(item)
            continue
        for loop, call in calls_in(item):
            passed = [
                (described, actual, actual.datum)
                for described, actual in zip(call.kernel.args, call.args, strict=True)
            ]
            fields = tuple(
                (described, actual, keys_of(actual, data))
                for described, actual, datum in passed
                if described.kind is ArgKind.FIELD and datum is not None
            )
            operators = tuple(
                (described, actual, ExchangedComponent(datum, None))
                for described, actual, datum in passed
                if described.kind.is_operator and datum is not None
            )
            inner = _names_in(loop.peel.interior.depth) if loop.peel else set()
            names = tuple(sorted(_names_of(loop, call) | _names_in(loop.extent.depth) | inner))
            steps.append(_PreparedCall(loop, call, fields, operators, names))
            limited += [
                asked
                for described, actual, _ in passed
                if described.kind.is_operator
                for asked in (actual.extent, call.halo_depth)
                if asked is not None and integer_value(asked) is None
            ]
    whole = tuple(part.datum for part in fields_of_whole_halo(schedule))
    untrapped, relied_on = _for_devices(schedule), depths_of_steps(schedule)
    return PreparedSchedule(schedule, tuple(steps), tuple(limited), untrapped, relied_on, whole)


def check_halos(
    schedule: Schedule | PreparedSchedule, world: HaloScenario
) -> tuple[HaloFault, ...]:
    """Return every stale read, and every false promise at the end, of `schedule` in `world`."""
    return execute(schedule, world).stale


def execute(schedule: Schedule | PreparedSchedule, world: HaloScenario) -> Outcome:
    """Execute the halo semantics of `schedule` in `world`."""
    ready = schedule if isinstance(schedule, PreparedSchedule) else prepare(schedule)
    # The generated code stops: a variable takes a call beyond an operator.
    if any(_number(asked, world) > _OPERATOR_LEVELS for asked in ready.limited):
        return Outcome((), ())
    if world.depths:
        world = replace(world, whole=min(map(world.depth_of, ready.whole), default=None))
        # It stops here, too: a halo is shallower than a step relies on.
        if any(
            world.number_of(levels) > world.depth_of(part.datum)
            for part, levels in ready.relied_on.items()
        ):
            return Outcome((), ())
    as_one = parts_as_one(ready.schedule, world.same)
    run = _HaloExecution(world, ready.schedule.fills, ready.untrapped, as_one)
    for step in ready.steps:
        match step:
            case _PreparedCall():
                _call(run, step)
            case HaloExchange():
                _exchange(run, step)
            case FillHalo():
                _clear(run, step)
            case MarkHalo():
                _mark(run, step)
    _leave(run, ready.schedule)
    return Outcome(tuple(run.stale), tuple(run.done))


def _for_devices(schedule: Schedule) -> frozenset[str]:
    """Return the loops, and those inside them, that a device runs."""
    return frozenset(
        inner.uid
        for region in statements(schedule)
        if isinstance(region, DirectiveRegion) and region.runs_on_device
        for inner in statements(region)
        if isinstance(inner, Loop)
    )


def extent_names(schedule: Schedule) -> frozenset[str]:
    """Return the names of run-time extents that a world for `schedule` must give values to."""
    names: set[str] = set()
    for item in in_sequence(schedule):
        if isinstance(item, HaloExchange):
            names |= _names_in(item.depth)
        elif isinstance(item, MarkHalo):
            names |= _names_in(item.clean)
        elif isinstance(item, FillHalo):
            names |= _names_in(item.depth) | _names_in(item.beyond)
        elif isinstance(item, Loop):
            names |= {name for inner in calls_in(item) for name in _names_of(*inner)}
    return frozenset(names)


def _names_of(loop: Loop, call: KernelCall) -> set[str]:
    """Return the names of run-time extents of a call in its loop."""
    extents = (actual.extent for actual in call.args)
    spelled = {spell(expr) for expr in extents if expr and integer_value(expr) is None}
    return spelled | _names_in(loop.computed.depth)


def _names_in(depth: Depth) -> set[str]:
    return {name for term in depth.terms for name in term.names}


# ---------------------------------------------------------------------------- places


def _number(expr: Expr, world: HaloScenario) -> int:
    known = integer_value(expr)
    return world.extents[spell(expr)] if known is None else known


def _cells(loop: Loop, world: HaloScenario) -> range:
    """Return the levels of the cells that `loop` computes; owned cells are level 0.

    What is computed at points of a grid outside the owned ones is trusted by nobody.
    """
    if loop.over.axis is not None or interior_of(loop) is not None:
        return range(1)
    match loop.extent.reach:
        case Reach.HALO:
            return range(world.number_of(loop.extent.depth) + 1)
        case Reach.HALO_ONLY:
            return range(1, world.number_of(loop.extent.depth) + 1)
    return range(1)


@lru_cache(maxsize=1024)
def _around(place: int, shared: bool) -> frozenset[int]:
    """Return the levels of the cells around a dof at `place`, as far from inside as they can be."""
    if not shared:
        return frozenset((place,))
    return frozenset((0, 1) if place in (OWNED, ANNEXED) else (place, place + 1))


@lru_cache(maxsize=1024)
def _touched(cells: frozenset[int], shared: bool, levels: int) -> frozenset[int]:
    """Return the places of the dofs on cells of the levels `cells`."""
    places = [OWNED, *([ANNEXED] if shared else []), *range(1, max(levels, *cells, 0) + 1)]
    return frozenset(place for place in places if _around(place, shared) & cells)


def _dofs(loop: Loop, shared: bool, world: HaloScenario) -> frozenset[int]:
    """Return the places of the dofs that `loop`, over dofs, computes."""
    places = {OWNED}
    extent = loop.computed
    if shared and extent.reach in (Reach.ANNEXED, Reach.HALO):
        places.add(ANNEXED)
    if extent.reach is Reach.HALO:
        places |= set(range(1, world.number_of(extent.depth) + 1))
    return frozenset(places)


# ---------------------------------------------------------------------------- a call


def _call(run: _HaloExecution, step: _PreparedCall) -> None:
    """Execute a call for all that its loop runs over: first all reads, then all writes."""
    uid, traps = step.call.uid, step.loop.uid not in run.untrapped
    if step.operators:
        _operators(run, step)
    read, written = _read_and_written(step, run.world)
    for use in read:
        _read(run, uid, use)
    for use in written:
        copies = _copies(run, use.key)
        _fill(run, uid, use, copies, traps=traps)
        _write(run, uid, use, copies)


def _read_and_written(
    step: _PreparedCall, world: HaloScenario
) -> tuple[tuple[_ArgumentUse, ...], tuple[_ArgumentUse, ...]]:
    """Return what a call reads and what it writes, the same in all worlds of equal extents."""
    known = (world.levels, world.whole, world.shared, *map(world.extents.get, step.names))
    if known not in step.met:
        uses = tuple(_uses(step, world))
        reading = (Access.READ, Access.READWRITE, Access.READINC)
        step.met[known] = (
            tuple(use for use in uses if use.access in reading),
            tuple(use for use in uses if use.access.writes),
        )
    return step.met[known]


def _uses(step: _PreparedCall, world: HaloScenario) -> Iterator[_ArgumentUse]:
    loop, call = step.loop, step.call
    cells = frozenset() if interior_of(loop) else frozenset(_cells(loop, world))
    dofs, masked = loop.over is Over.DOFS, call.kernel.mask is not None
    for described, actual, keys in step.fields:
        shared = actual.datum in world.shared
        computed = _inside(cells) if described.mesh is MeshRole.FINE else cells
        if dofs:
            places = _dofs(loop, shared, world)
        else:
            looked = _looked_by(step, described, actual, computed, world)
            places = _touched(looked, shared, world.levels)
            if interior_of(loop):
                # The innermost cells have dofs of this rank alone around them.
                places |= {OWNED}
        for key in keys:
            yield _ArgumentUse(key, described.access, computed, places, dofs, shared, masked)


def _looked_by(
    step: _PreparedCall,
    described: KernelArg,
    actual: Actual,
    computed: frozenset[int],
    world: HaloScenario,
) -> frozenset[int]:
    """Return the levels of the cells that a call looks at from the `computed` ones."""
    extent = actual.extent if described.stencil is not None else None
    reach = 0 if extent is None else _number(extent, world)
    interior = interior_of(step.loop)
    if interior is not None:
        depth = world.number_of(interior.depth)
        return frozenset(range(beyond_edge(interior, described, reach, depth) + 1))
    if extent is not None:
        return _looked_at(step.call, computed, reach)
    if isinstance(described.stencil, GridStencil):
        return _looked_at(step.call, computed, described.stencil.depth)
    return computed


def _inside(cells: frozenset[int]) -> frozenset[int]:
    """Return the levels of the cells of a fine mesh in the `cells` of a coarse one."""
    return frozenset(
        inner
        for level in cells
        for inner in ((OWNED,) if level == OWNED else (_FINE * level - 1, _FINE * level))
    )


def _looked_at(call: KernelCall, cells: frozenset[int], extent: int) -> frozenset[int]:
    """Return the levels of the cells that a stencil of `extent` around `cells` may reach.

    A kernel that is called for halo cells of its own accord looks along the halo, not out of it.
    """
    if not cells:
        return cells
    furthest = max(cells)
    if call.kernel.iteration.takes_halo_depth:
        return frozenset(range(max(furthest, extent) + 1))
    return frozenset(range(furthest + extent + 1))


def _operators(run: _HaloExecution, step: _PreparedCall) -> None:
    """Check that operators read hold values in every cell looked at; note those written."""
    call, cells = step.call, _cells(step.loop, run.world)
    for described, actual, key in step.operators:
        around = _number(actual.extent, run.world) if actual.extent is not None else 0
        furthest = max(_looked_at(call, frozenset(cells), around), default=0)
        known = run.operators.get(run.as_one.get(key, key), _OPERATOR_LEVELS)
        if described.access.reads and furthest > known:
            message = f"The operator '{key.datum}' has no values in halo level {furthest}."
            run.stale.append(HaloFault(call.uid, key, message))
    if interior_of(step.loop) is not None:
        # The rim comes with the rest of what is written, and finds there what was before.
        return
    for described, _, key in step.operators:
        if described.access.writes:
            run.operators[run.as_one.get(key, key)] = cells[-1]


def _read(run: _HaloExecution, uid: str, use: _ArgumentUse) -> None:
    right = _copies(run, use.key).right
    if use.places <= right:
        return
    for place in sorted(use.places - right):
        beyond = place > run.world.depth_of(use.key.datum)
        state = "which does not exist" if beyond else "which is stale"
        message = f"'{uid}' reads {_place_text(use.key, place)}, {state}."
        run.stale.append(HaloFault(uid, use.key, message))


def _fill(
    run: _HaloExecution, uid: str, use: _ArgumentUse, copies: _Copies, *, traps: bool
) -> None:
    """Note what is filled by a write, or added to although nothing has filled it.

    A call for some cells alone may leave out any of them.
    """
    if not use.access.increments:
        if not use.masked:
            copies.empty -= use.places
        return
    for place in sorted(use.places & copies.empty) if run.fills and traps else ():
        message = f"'{uid}' adds to {_place_text(use.key, place)}, which nothing has ever filled."
        run.stale.append(HaloFault(uid, use.key, message))


def _write(run: _HaloExecution, uid: str, use: _ArgumentUse, copies: _Copies) -> None:
    deepest = run.world.depth_of(use.key.datum)
    for place in sorted(place for place in use.places if place > deepest):
        message = f"'{uid}' writes {_place_text(use.key, place)}, which does not exist."
        run.stale.append(HaloFault(uid, use.key, message))
    for place in sorted(use.places & copies.flying):
        message = f"'{uid}' writes {_place_text(use.key, place)} while it is exchanged."
        run.stale.append(HaloFault(uid, use.key, message))
    made_right = frozenset(place for place in use.places if _comes_out_right(use, place, copies))
    if OWNED not in use.places:
        copies.right = (copies.right - use.places) | made_right
        return
    copies.version += 1
    # The owner's value is the true one, even where the owner has only computed a part of it; but
    # then no other rank can have computed the same.
    complete = OWNED in made_right
    copies.right = made_right if complete else frozenset((OWNED,))


def _comes_out_right(use: _ArgumentUse, place: int, copies: _Copies) -> bool:
    if not use.access.increments:
        return not use.masked or place == OWNED or place in copies.right
    complete = use.over_dofs or _around(place, use.shared) <= use.cells
    return complete and place in copies.right


def _copies(run: _HaloExecution, key: ExchangedComponent) -> _Copies:
    """Return the copies of `key`, as the adversary has left them if they were not met before."""
    part = run.as_one.get(key, key)
    if part not in run.copies:
        world = run.world
        levels = world.depth_of(key.datum)
        flags = min(world.flags, levels)
        right = {OWNED, *range(1, flags + 1)}
        if world.annexed_clean or flags:
            right.add(ANNEXED)
        everywhere = _received(levels)
        empty = frozenset() if world.filled else everywhere - right
        run.copies[part] = _Copies(frozenset(right), flags, empty)
    return run.copies[part]


# ---------------------------------------------------------------------------- what was inserted


def _exchange(run: _HaloExecution, exchange: HaloExchange) -> None:
    key = ExchangedComponent(exchange.datum, exchange.component)
    copies = _copies(run, key)
    depth = run.world.number_of(exchange.depth)
    if exchange.guarded and depth == 0:
        return
    levels = run.world.depth_of(exchange.datum)
    if not 1 <= depth <= levels:
        message = f"'{exchange.uid}' exchanges {depth} levels of {levels}."
        run.stale.append(HaloFault(exchange.uid, key, message))
        return
    if exchange.guarded and depth <= copies.flags:
        return
    received = _received(depth)
    if exchange.phase is not Phase.FINISH:
        copies.sent = copies.version
    if (exchange.phase is Phase.FINISH) != bool(copies.started):
        message = f"'{exchange.uid}' waits for ever: '{copies.started or 'nothing'}' was started."
        run.stale.append(HaloFault(exchange.uid, key, message))
    if exchange.phase is Phase.START:
        copies.right = copies.right - received  # not valid again before the exchange finishes
        copies.flying, copies.started = received, exchange.uid
        return
    copies.flying, copies.started = frozenset(), ""
    fresh = copies.sent == copies.version
    copies.right = copies.right | received if fresh else copies.right - received
    copies.flags = max(copies.flags, depth)
    copies.empty -= received
    run.done.append(exchange.uid)


@lru_cache(maxsize=1024)
def _received(depth: int) -> frozenset[int]:
    """Return the places that an exchange of so many levels fills."""
    return frozenset((ANNEXED, *range(1, depth + 1)))


def _clear(run: _HaloExecution, fill: FillHalo) -> None:
    """Put some number into replicas, which is no more right than what they held before."""
    key = ExchangedComponent(fill.datum, fill.component)
    copies = _copies(run, key)
    first, last = run.world.number_of(fill.beyond) + 1, run.world.number_of(fill.depth)
    places = {ANNEXED} if fill.annexed else set()
    places |= set(range(first, last + 1))
    levels = run.world.depth_of(fill.datum)
    if last > levels:
        message = f"'{fill.uid}' fills {last} levels of {levels}."
        run.stale.append(HaloFault(fill.uid, key, message))
    for place in sorted(places & copies.flying):
        message = f"'{fill.uid}' fills {_place_text(key, place)} while it is exchanged."
        run.stale.append(HaloFault(fill.uid, key, message))
    copies.right -= places
    copies.empty -= places


def _mark(run: _HaloExecution, mark: MarkHalo) -> None:
    copies = _copies(run, ExchangedComponent(mark.datum, mark.component))
    if mark.dirty:
        copies.flags = 0
    clean, levels = run.world.number_of(mark.clean), run.world.depth_of(mark.datum)
    if clean > levels:
        message = f"'{mark.uid}' calls {clean} levels of {levels} clean."
        run.stale.append(
            HaloFault(mark.uid, ExchangedComponent(mark.datum, mark.component), message)
        )
    copies.flags = max(copies.flags, clean)


def _leave(run: _HaloExecution, schedule: Schedule) -> None:
    """Check what later invokes count on: flags that tell the truth, and annexed dofs."""
    for key, copies in ((ExchangedComponent(*part), one) for part, one in run.copies.items()):
        if copies.started:
            message = f"'{copies.started}' starts an exchange that is never finished."
            run.stale.append(HaloFault("end", key, message))
        flags = copies.flags if run.world.flagged else 0
        promised = set(range(1, flags + 1))
        shared = key.datum in run.world.shared
        if shared and (flags or schedule.annexed_clean):
            promised.add(ANNEXED)
        for place in sorted(promised - copies.right):
            message = f"The invoke leaves {_place_text(key, place)} stale but calls it clean."
            run.stale.append(HaloFault("end", key, message))


def _place_text(key: ExchangedComponent, place: int) -> str:
    name = {ANNEXED: "the annexed dofs", OWNED: "the owned dofs"}.get(place, f"halo level {place}")
    return f"{name} of '{key_text(key)}'"
