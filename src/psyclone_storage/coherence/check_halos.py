"""Checker for halo exchanges: reports all stale reads of a schedule on one rank.

The checker uses concrete halo depths and no rules of a domain. Each field has a set of places with
valid values: owned dofs, annexed dofs and halo levels. A loop computes cells, a cell accesses its
dofs, and an exchange copies values from their owners.

The scenario determines the run-time flags at entry; exactly the levels that they mark clean are
valid. Guards read the flags, as in generated code.

A replica may be uninitialised. Adding to it can trap an invalid floating-point operation on the
host, even if the result is never read.

The effect of a write follows from its access mode. An overwritten dof is valid. An incremented dof
is valid if all surrounding cells are computed and its old value was valid. When a rank changes its
own dofs, all replicas that it has not recomputed become stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, cast

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.coherence.execution import (
    CallStep,
    Execution,
    Fault,
    PassedData,
    PreparedSchedule,
    prepare,
)
from psyclone_storage.coherence.scenarios import HaloScenario, names_in_depth, names_of_call
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.expr import Expr, integer_value, spell
from psyclone_storage.ir.halo_depths import depths_of_steps, fields_of_whole_halo
from psyclone_storage.ir.kernel import Access, ArgKind, GridStencil, KernelArg, MeshRole
from psyclone_storage.ir.loop_split import Interior, PeelSection
from psyclone_storage.ir.region import Depth

OWNED = 0
"""The place of dofs that this rank owns; halo level k is place k."""

ANNEXED = -1
"""The place of dofs on owned cells that another rank owns."""

_OPERATOR_LEVELS = 1
_FINE = 2
_READING = (Access.READ, Access.READWRITE, Access.READINC)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an execution: the faults, and the exchanges that were performed."""

    stale: tuple[Fault, ...]
    exchanged: tuple[str, ...]


def check_halos(
    schedule: sch.Schedule | PreparedSchedule, scenario: HaloScenario
) -> tuple[Fault, ...]:
    """Return all stale reads in `schedule`, and all incorrect halo flags at its end."""
    return execute(schedule, scenario).stale


def execute(schedule: sch.Schedule | PreparedSchedule, scenario: HaloScenario) -> Outcome:
    """Execute the halo semantics of `schedule` in a scenario."""
    prepared = prepare(schedule)
    limits = _limits(prepared)
    if any(_number(asked, scenario) > _OPERATOR_LEVELS for asked in limits.on_operators):
        return Outcome((), ())
    if scenario.depths:
        whole = min(map(scenario.depth_of, limits.whole), default=None)
        scenario = replace(scenario, whole=whole)
        if any(
            scenario.number_of(levels) > scenario.depth_of(part.datum)
            for part, levels in limits.relied_on.items()
        ):
            return Outcome((), ())
    execution = _HaloExecution(prepared, scenario)
    return Outcome(execution.run(), tuple(execution.done))


class _Limits(NamedTuple):
    """Conditions under which generated code stops with an error.

    It stops if a depth exceeds the halo levels of an operator, or if a field has a shallower halo
    than a step requires. The fields `whole` determine the depth of the whole halo.
    """

    on_operators: tuple[Expr, ...]
    relied_on: Mapping[DatumPart, Depth]
    whole: tuple[str, ...]


@kept_with_first
def _limits(prepared: PreparedSchedule) -> _Limits:
    schedule = prepared.schedule
    on_operators = tuple(
        asked
        for _, steps in prepared.steps
        for step in steps
        if isinstance(step, CallStep)
        for one in step.passed
        if one.described.kind.is_operator
        for asked in (one.actual.extent, step.call.halo_depth)
        if asked is not None and integer_value(asked) is None
    )
    whole = tuple(part.datum for part in fields_of_whole_halo(schedule))
    return _Limits(on_operators, depths_of_steps(schedule), whole)


# ---------------------------------------------------------------------------- places


def _number(expr: Expr, scenario: HaloScenario) -> int:
    known = integer_value(expr)
    return scenario.extents[spell(expr)] if known is None else known


def _cells(loop: sch.Loop, scenario: HaloScenario) -> range:
    """Return the levels of the cells that `loop` computes; level 0 is the owned cells.

    On a structured grid, only owned points are considered, because no loop relies on others.
    """
    if loop.over.axis is not None or _interior_of(loop) is not None:
        return range(1)
    match loop.extent.reach:
        case sch.Reach.HALO:
            return range(scenario.number_of(loop.extent.depth) + 1)
        case sch.Reach.HALO_ONLY:
            return range(1, scenario.number_of(loop.extent.depth) + 1)
    return range(1)


@lru_cache(maxsize=1024)
def _around(place: int, shared: bool) -> frozenset[int]:
    """Return the levels of the cells around a dof at `place`, in the worst case."""
    if not shared:
        return frozenset((place,))
    return frozenset((0, 1) if place in (OWNED, ANNEXED) else (place, place + 1))


@lru_cache(maxsize=1024)
def _touched(cells: frozenset[int], shared: bool, levels: int) -> frozenset[int]:
    """Return the places of the dofs that cells of the levels `cells` access."""
    places = [OWNED, *([ANNEXED] if shared else []), *range(1, max(levels, *cells, 0) + 1)]
    return frozenset(place for place in places if _around(place, shared) & cells)


def _dofs(loop: sch.Loop, shared: bool, scenario: HaloScenario) -> frozenset[int]:
    """Return the places of the dofs that `loop`, a loop over dofs, computes."""
    places = {OWNED}
    extent = loop.computed
    if shared and extent.reach in (sch.Reach.ANNEXED, sch.Reach.HALO):
        places.add(ANNEXED)
    if extent.reach is sch.Reach.HALO:
        places |= set(range(1, scenario.number_of(extent.depth) + 1))
    return frozenset(places)


def _interior_of(loop: sch.Loop) -> Interior | None:
    """Return the interior to which a split loop is restricted, or None."""
    peel = loop.peel
    return peel.interior if peel is not None and peel.section is PeelSection.INTERIOR else None


def _beyond_edge(interior: Interior, described: KernelArg, reach: int, depth: int) -> int:
    """Return the level of the outermost cell that an interior loop accesses.

    Level 0 is the border of the owned region. Cells at `depth` access others within `reach`; grid
    points access those of their stencil.
    """
    if interior.margins is None:
        return reach - depth
    kept, stencil = interior.margins, described.stencil
    offsets = stencil.offsets if isinstance(stencil, GridStencil) else ()
    outmost = [
        max(-i - kept.west, i - kept.east, -j - kept.south, j - kept.north) for i, j in offsets
    ]
    return max(0, *outmost, 0)


# ---------------------------------------------------------------------------- uses of arguments


@dataclass(frozen=True, slots=True)
class _ArgumentUse:
    """One argument of a call: the places of one part that the call reads or writes."""

    part: DatumPart
    access: Access
    cells: frozenset[int]
    places: frozenset[int]
    over_dofs: bool
    shared: bool
    masked: bool


_Uses = tuple[tuple[_ArgumentUse, ...], tuple[_ArgumentUse, ...]]


def _read_and_written(step: CallStep, scenario: HaloScenario) -> _Uses:
    """Return the accesses of a call that read and those that write, cached by scenario."""
    names = _names_of_step(step)
    extents = tuple(scenario.extents.get(name) for name in names)
    known = (scenario.levels, scenario.whole, scenario.shared, extents)
    if known not in step.memo:
        uses = tuple(_uses(step, scenario))
        step.memo[known] = (
            tuple(use for use in uses if use.access in _READING),
            tuple(use for use in uses if use.access.writes),
        )
    return cast("_Uses", step.memo[known])


@kept_with_first
def _names_of_step(step: CallStep) -> tuple[str, ...]:
    """Return the names of the run-time extents on which the accesses of a call depend."""
    loop = step.loop
    inner = names_in_depth(loop.peel.interior.depth) if loop.peel else set()
    return tuple(names_of_call(loop, step.call) | names_in_depth(loop.extent.depth) | inner)


def _uses(step: CallStep, scenario: HaloScenario) -> Iterator[_ArgumentUse]:
    loop, call = step.loop, step.call
    interior = _interior_of(loop)
    cells = frozenset() if interior else frozenset(_cells(loop, scenario))
    dofs, masked = loop.over is sch.Over.DOFS, call.kernel.mask is not None
    for one in step.passed:
        if one.described.kind is not ArgKind.FIELD:
            continue
        shared = one.actual.datum in scenario.shared
        computed = _inside(cells) if one.described.mesh is MeshRole.FINE else cells
        if dofs:
            places = _dofs(loop, shared, scenario)
        else:
            accessed = _accessed_cells(step, one, computed, scenario)
            places = _touched(accessed, shared, scenario.levels)
            if interior:
                # The innermost cells have dofs of this rank alone around them.
                places |= {OWNED}
        for part in one.parts:
            yield _ArgumentUse(part, one.described.access, computed, places, dofs, shared, masked)


def _accessed_cells(
    step: CallStep, passed: PassedData, computed: frozenset[int], scenario: HaloScenario
) -> frozenset[int]:
    """Return the levels of the cells that a call accesses when it computes `computed`."""
    described, actual = passed.described, passed.actual
    extent = actual.extent if described.stencil is not None else None
    reach = 0 if extent is None else _number(extent, scenario)
    interior = _interior_of(step.loop)
    if interior is not None:
        depth = scenario.number_of(interior.depth)
        return frozenset(range(_beyond_edge(interior, described, reach, depth) + 1))
    if extent is not None:
        return _within_stencil(step.call, computed, reach)
    if isinstance(described.stencil, GridStencil):
        return _within_stencil(step.call, computed, described.stencil.depth)
    return computed


def _inside(cells: frozenset[int]) -> frozenset[int]:
    """Return the levels of the fine-mesh cells inside the coarse `cells`."""
    return frozenset(
        inner
        for level in cells
        for inner in ((OWNED,) if level == OWNED else (_FINE * level - 1, _FINE * level))
    )


def _within_stencil(call: sch.KernelCall, cells: frozenset[int], extent: int) -> frozenset[int]:
    """Return the levels of the cells within a stencil of size `extent` around `cells`.

    The stencil of a kernel with a halo depth argument does not extend beyond that halo.
    """
    if not cells:
        return cells
    furthest = max(cells)
    if call.kernel.iteration.takes_halo_depth:
        return frozenset(range(max(furthest, extent) + 1))
    return frozenset(range(furthest + extent + 1))


# ---------------------------------------------------------------------------- the model


@dataclass(slots=True)
class _Copies:
    """The replicas of one part on this rank: valid places and run-time flags.

    `empty` are uninitialised places. `version` counts writes to owned dofs. During an exchange,
    `sent` is the version being sent, `flying` are the places that it will write, and `started` is
    its start statement.
    """

    right: frozenset[int]
    flags: int
    empty: frozenset[int]
    version: int = 0
    sent: int = 0
    flying: frozenset[int] = frozenset()
    started: str = ""


class _HaloExecution(Execution[HaloScenario, _Copies]):
    """Executes a schedule with halos; also tracks operator levels and performed exchanges."""

    def __init__(self, prepared: PreparedSchedule, scenario: HaloScenario) -> None:
        super().__init__(prepared, scenario)
        self.operators: dict[DatumPart, int] = {}
        self.done: list[str] = []

    def initial(self, part: DatumPart) -> _Copies:
        scenario = self.scenario
        levels = scenario.depth_of(part.datum)
        flags = min(scenario.flags, levels)
        right = {OWNED, *range(1, flags + 1)}
        if scenario.annexed_clean or flags:
            right.add(ANNEXED)
        empty = frozenset() if scenario.filled else _received(levels) - right
        return _Copies(frozenset(right), flags, empty)

    def call(self, step: CallStep) -> None:
        uid = step.call.uid
        traps = self.schedule.fills and not any(one.runs_on_device for one in step.regions)
        self._operators(step)
        read, written = _read_and_written(step, self.scenario)
        for use in read:
            self._read(uid, use)
        for use in written:
            copies = self.object_of(use.part)
            self._add_to_empty(uid, use, copies, traps=traps)
            self._write(uid, use, copies)

    def _operators(self, step: CallStep) -> None:
        """Check that the operators read by a call have values in every cell; record writes."""
        passed = [one for one in step.passed if one.described.kind.is_operator]
        if not passed:
            return
        call, cells = step.call, _cells(step.loop, self.scenario)
        for one in passed:
            part = DatumPart(one.parts[0].datum, None)
            extent = one.actual.extent
            around = _number(extent, self.scenario) if extent is not None else 0
            furthest = max(_within_stencil(call, frozenset(cells), around), default=0)
            known = self.operators.get(self.representative(part), _OPERATOR_LEVELS)
            if one.described.access.reads and furthest > known:
                message = f"The operator '{part.datum}' has no values in halo level {furthest}."
                self.report(call.uid, part, message)
        if _interior_of(step.loop) is not None:
            # The rim comes with the rest of what is written, and finds there what was before.
            return
        for one in passed:
            if one.described.access.writes:
                part = DatumPart(one.parts[0].datum, None)
                self.operators[self.representative(part)] = cells[-1]

    def _read(self, uid: str, use: _ArgumentUse) -> None:
        right = self.object_of(use.part).right
        for place in sorted(use.places - right):
            beyond = place > self.scenario.depth_of(use.part.datum)
            state = "which does not exist" if beyond else "which is stale"
            self.report(uid, use.part, f"'{uid}' reads {_place_text(use.part, place)}, {state}.")

    def _add_to_empty(self, uid: str, use: _ArgumentUse, copies: _Copies, *, traps: bool) -> None:
        """Record initialised places; report increments of uninitialised ones.

        A call for a subset of the cells does not initialise all places.
        """
        if not use.access.increments:
            if not use.masked:
                copies.empty -= use.places
            return
        for place in sorted(use.places & copies.empty) if traps else ():
            where = _place_text(use.part, place)
            self.report(uid, use.part, f"'{uid}' adds to {where}, which nothing has ever filled.")

    def _write(self, uid: str, use: _ArgumentUse, copies: _Copies) -> None:
        deepest = self.scenario.depth_of(use.part.datum)
        for place in sorted(place for place in use.places if place > deepest):
            where = _place_text(use.part, place)
            self.report(uid, use.part, f"'{uid}' writes {where}, which does not exist.")
        for place in sorted(use.places & copies.flying):
            where = _place_text(use.part, place)
            self.report(uid, use.part, f"'{uid}' writes {where} while it is exchanged.")
        made_right = frozenset(
            place for place in use.places if _comes_out_right(use, place, copies)
        )
        if OWNED not in use.places:
            copies.right = (copies.right - use.places) | made_right
            return
        copies.version += 1
        # The owner's value is the true one, even where the owner has only computed a part of it;
        # but then no other rank can have computed the same.
        complete = OWNED in made_right
        copies.right = made_right if complete else frozenset((OWNED,))

    def exchange(self, exchange: sch.HaloExchange) -> None:
        uid, part = exchange.uid, DatumPart(exchange.datum, exchange.component)
        copies = self.object_of(part)
        depth, levels = self.scenario.number_of(exchange.depth), self.scenario.depth_of(part.datum)
        if exchange.guarded and depth == 0:
            return
        if not 1 <= depth <= levels:
            self.report(uid, part, f"'{uid}' exchanges {depth} levels of {levels}.")
            return
        if exchange.guarded and depth <= copies.flags:
            return
        received = _received(depth)
        if exchange.phase is not sch.Phase.FINISH:
            copies.sent = copies.version
        if (exchange.phase is sch.Phase.FINISH) != bool(copies.started):
            started = copies.started or "nothing"
            self.report(uid, part, f"'{uid}' waits for ever: '{started}' was started.")
        if exchange.phase is sch.Phase.START:
            copies.right = copies.right - received  # not valid again before the exchange finishes
            copies.flying, copies.started = received, uid
            return
        copies.flying, copies.started = frozenset(), ""
        fresh = copies.sent == copies.version
        copies.right = copies.right | received if fresh else copies.right - received
        copies.flags = max(copies.flags, depth)
        copies.empty -= received
        self.done.append(uid)

    def fill(self, fill: sch.FillHalo, part: DatumPart) -> None:
        """Initialise replicas with arbitrary values, which are as stale as before."""
        copies = self.object_of(part)
        first, last = (self.scenario.number_of(depth) for depth in (fill.beyond, fill.depth))
        places = {*([ANNEXED] if fill.annexed else []), *range(first + 1, last + 1)}
        levels = self.scenario.depth_of(fill.datum)
        if last > levels:
            self.report(fill.uid, part, f"'{fill.uid}' fills {last} levels of {levels}.")
        for place in sorted(places & copies.flying):
            where = _place_text(part, place)
            self.report(fill.uid, part, f"'{fill.uid}' fills {where} while it is exchanged.")
        copies.right -= places
        copies.empty -= places

    def other(self, statement: sch.Statement) -> None:
        if not isinstance(statement, sch.MarkHalo):
            return
        uid, part = statement.uid, DatumPart(statement.datum, statement.component)
        copies = self.object_of(part)
        if statement.dirty:
            copies.flags = 0
        clean = self.scenario.number_of(statement.clean)
        levels = self.scenario.depth_of(part.datum)
        if clean > levels:
            self.report(uid, part, f"'{uid}' calls {clean} levels of {levels} clean.")
        copies.flags = max(copies.flags, clean)

    def finish(self) -> None:
        """Check the state at exit: halo flags and annexed dofs must be valid."""
        for part, copies in self.objects.items():
            if copies.started:
                message = f"'{copies.started}' starts an exchange that is never finished."
                self.report("end", part, message)
            flags = copies.flags if self.scenario.flagged else 0
            promised = set(range(1, flags + 1))
            shared = part.datum in self.scenario.shared
            if shared and (flags or self.schedule.annexed_clean):
                promised.add(ANNEXED)
            for place in sorted(promised - copies.right):
                where = _place_text(part, place)
                message = f"The invoke leaves {where} stale but calls it clean."
                self.report("end", part, message)


def _comes_out_right(use: _ArgumentUse, place: int, copies: _Copies) -> bool:
    if not use.access.increments:
        return not use.masked or place == OWNED or place in copies.right
    complete = use.over_dofs or _around(place, use.shared) <= use.cells
    return complete and place in copies.right


@lru_cache(maxsize=1024)
def _received(depth: int) -> frozenset[int]:
    """Return the places that an exchange to `depth` updates."""
    return frozenset((ANNEXED, *range(1, depth + 1)))


def _place_text(part: DatumPart, place: int) -> str:
    name = {ANNEXED: "the annexed dofs", OWNED: "the owned dofs"}.get(place, f"halo level {place}")
    return f"{name} of '{part.text}'"
