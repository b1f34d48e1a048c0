"""Halo planner: halo exchanges, halo initialisation and updates of the run-time flags.

`plan_halos` analyses a schedule once backwards, for loops that fill halo levels (`halo_init`), and
once forwards. The state of a field part is symbolic: clean and initialised depths, and facts that
are yes, no or known only at run time. An exchange is inserted directly before the first loop that
needs it, with the depth that all readers of the same value need.

Invariant: values that the state calls clean are clean on every rank, and the run-time flags agree
with the state. A guard, which reads the flags, therefore never skips a necessary exchange. Without
flags, possibly stale data are exchanged unconditionally.

A loop may add to replicas that are not worth an exchange. Those that may be uninitialised are set
to a number first, without communication.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping
from enum import Enum
from functools import reduce

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.memo import kept_by_item
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.coherence.halo_effects import HaloEffect, HaloEffects, union_of_needs
from psyclone_storage.coherence.halo_init import plan_halo_init
from psyclone_storage.coherence.solver import OUTSIDE, Solver
from psyclone_storage.coherence.tables import HALO, Copy, HaloEvent
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.insertion import END, Insertion
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.rules import HaloLeft, HaloNeed, Rules
from psyclone_storage.ir.walk import kernel_calls, outer_loops, sequential_statements, statements

_ONE = Depth.of(1)
_RESTORE = HaloNeed(NOTHING, True, "in later invokes, which count on clean annexed dofs")


@dataclass(frozen=True, slots=True)
class Halo:
    """State of the halo of a component at one point of a schedule.

    Levels 1 to `clean` are clean. Deeper levels are dirty if `beyond` is NO, and known only to the
    run-time flags if it is MAYBE. `annexed` is the state of annexed dofs. Annexed dofs and levels 1
    to `filled` are initialised; with None, no replica may be. `writer` is the last writing call,
    `written` describes the state it left, and `exchange` is the last exchange since.
    """

    clean: Depth
    beyond: Fresh
    annexed: Fresh
    writer: str = OUTSIDE
    written: str = "its halo in a state that only the run-time flags know"
    exchange: str = ""
    filled: Depth | None = None

    def lacks(self, need: HaloNeed) -> Fresh:
        """Return whether values that `need` requires are stale: YES and NO are certain."""
        if need.annexed and self.annexed is Fresh.NO:
            return Fresh.YES
        covers = self.clean.covers(need.depth)
        if covers is not Fresh.YES:
            certain = covers is Fresh.NO and self.beyond is Fresh.NO
            return Fresh.YES if certain else Fresh.MAYBE
        return ~self.annexed if need.annexed else Fresh.NO

    def unfilled(self, need: HaloNeed) -> bool:
        """Return whether values to which the loop of `need` adds may be uninitialised."""
        if need.filled is None:
            return False
        return self.filled is None or self.filled.covers(need.filled) is not Fresh.YES

    def depth_for(self, need: HaloNeed) -> Depth:
        """Return the depth of an exchange for `need`; annexed dofs require depth 1."""
        return need.depth.max(_ONE) if need.annexed else need.depth

    def surely_exchanged(self, need: HaloNeed) -> bool:
        """Return whether `need` requires an exchange that a guard would never skip."""
        lacks = self.lacks(need)
        dirty = self.beyond is Fresh.NO and self.clean.covers(self.depth_for(need)) is Fresh.NO
        return lacks is Fresh.YES or (lacks is Fresh.MAYBE and dirty)

    def filled_to(self, need: HaloNeed) -> Halo:
        """Return the state after the values to which `need` adds are initialised."""
        return replace(self, filled=_larger(self.filled or NOTHING, _wanted(need)))

    def exchanged(self, depth: Depth, uid: str) -> Halo:
        """Return the state after the exchange `uid`, even if a guard skipped it."""
        fills = depth.covers(_ONE) is Fresh.YES
        clean, beyond, filled = self._levels_after(HaloEvent.SHORT_EXCHANGE, depth, fills)
        return Halo(clean, beyond, Fresh.YES, self.writer, self.written, uid, filled)

    def written_by(self, writer: str, left: HaloLeft) -> Halo:
        """Return the state after `writer` has left the state `left`.

        Clean values are initialised, and initialised values remain so.
        """
        event = HaloEvent.SHORT_EXCHANGE if left.keeps_beyond else HaloEvent.OWNERS_WRITE
        fills = left.annexed is Fresh.YES
        clean, beyond, filled = self._levels_after(event, left.clean, fills)
        annexed = self.annexed if left.keeps_beyond else left.annexed
        return Halo(clean, beyond, annexed, writer, left.why, filled=filled)

    def _levels_after(
        self, event: HaloEvent, depth: Depth, fills: bool
    ) -> tuple[Depth, Fresh, Depth | None]:
        """Return `clean`, `beyond` and `filled` after levels to `depth` became clean.

        `event` applies to the deeper levels. With `fills`, annexed dofs are initialised.
        """
        fills = fills or self.filled is not None
        filled = _larger(self.filled or NOTHING, depth) if fills else None
        if HALO[event, Copy.CLEAN] is Copy.CLEAN:
            return _larger(self.clean, depth), self.beyond, filled
        return depth, Fresh.NO, filled


def _larger(first: Depth, second: Depth) -> Depth:
    if first == second or not second.terms:
        return first
    return first.max(second) if first.terms else second


class ElisionReason(Enum):
    """Reason why a read beyond owned dofs needs no exchange."""

    ALWAYS = "annexed dofs are kept clean"
    LEFT = "left clean by the last write"
    EXCHANGED = "exchanged before"
    NO_ANNEXED = "no annexed dofs"
    CARRIED = "stale copies stay stale and unread"


@dataclass(frozen=True, slots=True)
class ElidedExchange:
    """An exchange that the analysis proved unnecessary for the call `reader` in `loop`.

    `read` describes the access, `because` the reason. `writer` and `written` describe the last
    write before, as in `Reason`. `exchange` is the last exchange since, if any.
    """

    loop: str
    part: DatumPart
    reader: str
    read: str
    because: ElisionReason
    writer: str
    written: str
    exchange: str


@dataclass(frozen=True, slots=True)
class HaloPlan:
    """All insertions into a schedule, in order, and the elided exchanges.

    `marks` are inserted after loops, by uid. `computed` are the halo levels that dof loops also
    fill, by uid.
    """

    exchanges: tuple[Insertion[sch.HaloExchange], ...] = ()
    marks: Mapping[str, tuple[sch.MarkHalo, ...]] = field(default_factory=dict)
    elided: tuple[ElidedExchange, ...] = ()
    fills: tuple[Insertion[sch.FillHalo], ...] = ()
    computed: Mapping[str, Depth] = field(default_factory=dict)


def plan_halos(schedule: sch.Schedule, rules: Rules) -> HaloPlan:
    """Plan the exchanges and flag updates that `schedule` needs in addition to pinned ones.

    Derived exchanges and all flag updates in the schedule are ignored and planned again. The plan
    is empty without distributed memory.
    """
    if not schedule.distributed:
        return HaloPlan()
    effects = HaloEffects(schedule, rules)
    computed = plan_halo_init(schedule, rules, effects)
    return plan_parts(schedule, rules, computed)


def plan_parts(
    schedule: sch.Schedule,
    rules: Rules,
    computed: Mapping[str, Depth],
    items: Iterable[sch.Statement] | None = None,
    parts: Container[DatumPart] | None = None,
) -> HaloPlan:
    """Return the plan for `parts` of the data (all if None), given the filled levels `computed`.

    `parts` must include all possible aliases. `items` are the statements that access them, in
    order.
    """
    effects = HaloEffects(schedule, rules)
    sequence = sequential_statements(schedule) if items is None else items
    events = tuple(_events(sequence, effects, computed, parts))
    solver = _HaloSolver(schedule, rules, events)
    solver.solve()
    return HaloPlan(
        tuple(solver.exchanges), solver.marks, tuple(solver.elided), tuple(solver.fills), computed
    )


_UNKNOWN = "its halo in a state that nothing tells"
_ENTRY = Halo(NOTHING, Fresh.MAYBE, Fresh.MAYBE)
_ENTRY_CLEAN = Halo(NOTHING, Fresh.MAYBE, Fresh.YES, filled=NOTHING)


# ---------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class _Event:
    """An effect of the outermost loop `place` on one part, or a pinned exchange."""

    place: str
    part: DatumPart
    effect: HaloEffect | None = None
    pinned: sch.HaloExchange | None = None


def _events(
    items: Iterable[sch.Statement],
    effects: HaloEffects,
    computed: Mapping[str, Depth],
    parts: Container[DatumPart] | None,
) -> Iterator[_Event]:
    for item in items:
        if isinstance(item, sch.Loop):
            for effect in effects.of(item, computed.get(item.uid, NOTHING)):
                if parts is None or effect.part in parts:
                    yield _Event(item.uid, effect.part, effect)
        elif isinstance(item, sch.HaloExchange) and item.pinned:
            part = DatumPart(item.datum, item.component)
            if parts is None or part in parts:
                yield _Event(item.uid, part, pinned=item)


def _wanted(need: HaloNeed) -> Depth:
    """Return the halo levels that must be initialised for `need`.

    The result is at least 1 if the algorithm may request depth 0.
    """
    levels = need.filled or NOTHING
    return levels.max(_ONE) if levels.terms else NOTHING


def _exchangeable(state: Halo, need: HaloNeed) -> HaloNeed:
    """Return the need that an exchange must satisfy, including uninitialised values if necessary.

    If the state knows of no initialised level, but some may be, an exchange must cover all levels
    to which the loop adds.
    """
    known = state.filled is None or not state.filled.terms
    if known or not state.unfilled(need) or (state.filled or NOTHING).covers(_ONE) is Fresh.YES:
        return need
    return HaloNeed(need.depth.max(_wanted(need)), True, need.why)


def _on_device(schedule: sch.Schedule) -> frozenset[str]:
    """Return the loops whose calls all run on a device.

    A device traps no floating-point exceptions.
    """
    return frozenset(_device_loops(schedule))


@kept_by_item
def _device_loops(item: sch.Statement) -> tuple[str, ...]:
    """Return the loops in a top-level statement whose calls all run on a device."""
    inside = (item, *statements(item)) if isinstance(item, sch.Compound) else ()
    there = {
        call.uid
        for region in inside
        if isinstance(region, sch.DirectiveRegion) and region.runs_on_device
        for call in kernel_calls(region)
    }
    if not there or not isinstance(item, sch.Compound):
        return ()
    loops = (item,) if isinstance(item, sch.Loop) else outer_loops(item)
    return tuple(
        loop.uid for loop in loops if there.issuperset(call.uid for call in kernel_calls(loop))
    )


def _readers(events: Iterable[_Event]) -> Iterator[tuple[HaloEffect, HaloNeed]]:
    """Yield the effects that read the current value: up to and including the next write."""
    for event in events:
        effect = event.effect
        if effect is None:
            return
        if effect.need is not None:
            yield effect, effect.need
        if effect.left is not None:
            return


def _exchange_is_vain(state: Halo, following: Iterable[_Event]) -> tuple[bool, int]:
    """Return whether an exchange before the first event is useless, and the number of events seen.

    The first event adds to replicas that may be stale. The function compares the states with and
    without an exchange. The exchange is useless if the first reader that would benefit needs a
    larger exchange anyway, or if the field is overwritten first. If all events were seen, no reader
    benefits.
    """
    with_it = without = state
    passed = 0
    for event in following:
        effect = event.effect
        if effect is None:
            return True, passed
        need, left = effect.need, effect.left
        carried = need is not None and need.carried
        if passed and need is not None:
            if with_it.surely_exchanged(need):
                return True, passed
            if not carried and without.lacks(need) is not Fresh.NO:
                return False, passed
        if left is not None:
            if not carried and not left.keeps_beyond:
                return True, passed
            with_it = with_it.written_by(effect.writer, left)
            poorer = _carried(without, left) if carried else left
            without = without.written_by(effect.writer, poorer)
        passed += 1
    return False, passed


def _carried(state: Halo, left: HaloLeft) -> HaloLeft:
    """Return the state after a loop adds to stale replicas: at most as clean as before."""
    clean = state.clean if left.clean.covers(state.clean) is Fresh.YES else NOTHING
    annexed = Fresh.of(state.annexed is Fresh.YES) & left.annexed
    return HaloLeft(clean, annexed, "its halo no cleaner than it was")


# ---------------------------------------------------------------------------- the solver


class _HaloSolver(Solver[Halo, HaloEffect]):
    """The coherence solver for halos, including exchanges in progress and initialisation."""

    def __init__(self, schedule: sch.Schedule, rules: Rules, events: tuple[_Event, ...]) -> None:
        super().__init__(schedule)
        self.exchanges: list[Insertion[sch.HaloExchange]] = []
        self.marks: dict[str, tuple[sch.MarkHalo, ...]] = {}
        self.elided: list[ElidedExchange] = []
        self.fills: list[Insertion[sch.FillHalo]] = []
        self._events = events
        self._on_device = _on_device(schedule)
        self._keeps_annexed = rules.keeps_annexed_clean(schedule)
        self._without_annexed = rules.without_annexed(schedule)
        self._has_flags = rules.knows_clean_halos()
        self._in_flight: set[DatumPart] = set()
        self._waiting: set[DatumPart] = set()
        self._vain_until: dict[DatumPart, int] = {}
        self._readers: dict[DatumPart, str] = {}
        self._uids = {event.place for event in events}
        # The events of the part in question, from the current one on, and what that one needs.
        self._following: deque[_Event] = deque()
        self._need: HaloNeed | None = None

    def solve(self) -> None:
        """Process all events, then restore the state that later invokes rely on."""
        following: dict[DatumPart, deque[_Event]] = defaultdict(deque)
        for event in self._events:
            following[event.part].append(event)
        for event in self._events:
            self._following = following[event.part]
            if event.effect is not None:
                self.reach(event.place, (event.effect,))
            elif event.pinned is not None:
                self._pinned(event.part, event.pinned)
            self._following.popleft()
        if self._keeps_annexed:
            for part, state in tuple(self.states.items()):
                if state.annexed is not Fresh.YES:
                    effect = HaloEffect(part, _RESTORE, END)
                    self.states[part] = self._exchange(END, part, state, ((effect, _RESTORE),))

    def entry(self, part: DatumPart) -> Halo:
        """Return the state of a field before the invoke, whose halo may be uninitialised."""
        no_annexed = self._keeps_annexed or part.datum in self._without_annexed
        state = _ENTRY_CLEAN if no_annexed else _ENTRY
        return state if self._has_flags else replace(state, written=_UNKNOWN)

    def lacks(self, place: str, use: HaloEffect) -> bool:
        """Return whether an effect needs an exchange now; increments of stale copies may not."""
        part = use.part
        self._need = None
        if use.need is None:
            self._waiting.discard(part)
            return False
        state = self.state(part)
        need = self._need = _exchangeable(state, use.need)
        lacks = state.lacks(need) is not Fresh.NO
        may_carry = need.carried and not self.aliases[part.datum]
        waits = lacks and may_carry and self._may_wait(state, part)
        (self._waiting.add if waits else self._waiting.discard)(part)
        if waits or not lacks:
            self._elide(place, use, need, state)
        return lacks and not waits

    def make_right(self, place: str, use: HaloEffect) -> None:
        assert self._need is not None
        readers = ((use, self._need), *tuple(_readers(self._following))[1:])
        self.states[use.part] = self._exchange(place, use.part, self.state(use.part), readers)
        self._after_exchange(use.part)

    def apply(self, place: str, use: HaloEffect) -> None:
        if self._need is not None:
            self._fill(place, use, self._need)
            for other in self.aliases[use.part.datum]:
                self._readers[other] = place
        if use.left is not None:
            self._leave(place, use, use.left)

    def _fill(self, place: str, effect: HaloEffect, need: HaloNeed) -> None:
        """Plan to initialise values to which the loop adds, if they may be uninitialised."""
        part, state = effect.part, self.state(effect.part)
        if not state.unfilled(need) or place in self._on_device:
            return
        uid = f"fill({part.text})@{place}"
        beyond = state.filled or NOTHING
        annexed = state.filled is None
        fill = sch.FillHalo(uid, *part, annexed, beyond, _wanted(need), effect.reader)
        self.fills.append(Insertion(place, fill, self._readers.get(part, "")))
        self.states[part] = state.filled_to(need)

    def _may_wait(self, state: Halo, part: DatumPart) -> bool:
        """Return whether replicas may remain stale while the next loop adds to them.

        If so, the result is cached for all such loops that the search has passed.
        """
        following = self._following
        if len(following) > self._vain_until.get(part, len(following)):
            return True
        vain, passed = _exchange_is_vain(state, following)
        if not vain and passed == len(following):
            vain = not self._keeps_annexed or state.annexed is Fresh.YES
        if vain:
            self._vain_until[part] = len(following) - passed
        return vain

    def _leave(self, place: str, effect: HaloEffect, left: HaloLeft) -> None:
        """Record the state after the loop `place`, and plan the update of the flags."""
        part, state = effect.part, self.state(effect.part)
        if part in self._in_flight:
            raise InternalError(f"'{part.text}' is written while its exchange runs.")
        if part in self._waiting:
            left = _carried(state, left)
        elif left.annexed is not Fresh.YES and part.datum in self._without_annexed:
            left = replace(left, annexed=Fresh.YES)
        after = state.written_by(effect.writer, left)
        self._mark(place, part, (state, after), left.clean)
        self.states[part] = after
        self._after_write(part, after)

    def _after_write(self, part: DatumPart, after: Halo) -> None:
        """Invalidate the state of possible aliases after a write.

        An alias may be unchanged or have the state `after`; only its flags know.
        """
        for other in self.aliases[part.datum]:
            before = self.state(other)
            annexed = before.annexed.join(after.annexed)
            written = f"what may be the same object, {part.text}: {after.written}"
            self.states[other] = Halo(
                NOTHING, Fresh.MAYBE, annexed, after.writer, written, filled=before.filled
            )

    def _after_exchange(self, part: DatumPart) -> None:
        """Record that an exchange may have cleaned the halos of possible aliases."""
        for other in self.aliases[part.datum]:
            if other in self.states:
                self.states[other] = replace(self.states[other], beyond=Fresh.MAYBE)

    def _exchange(
        self,
        place: str,
        part: DatumPart,
        state: Halo,
        readers: tuple[tuple[HaloEffect, HaloNeed], ...],
    ) -> Halo:
        """Plan the exchange before `place` for all `readers`; return the state after it."""
        if part in self._in_flight:
            raise InternalError(f"'{part.text}' is read while its exchange runs.")
        need = reduce(union_of_needs, (need for _, need in readers))
        depth = state.depth_for(need)
        exchange = sch.HaloExchange(
            uid=self._fresh_uid(f"halo({part.text})@{place}"),
            datum=part.datum,
            component=part.component,
            depth=depth,
            guarded=self._has_flags and not state.surely_exchanged(need),
            annexed_only=not need.depth.terms,
            reasons=tuple(
                sch.Reason(effect.reader, wish.why, state.writer, state.written)
                for effect, wish in readers
                if state.lacks(wish) is not Fresh.NO
            ),
        )
        self.exchanges.append(Insertion(place, exchange))
        return state.exchanged(depth, exchange.uid)

    def _fresh_uid(self, wanted: str) -> str:
        """Return the uid `wanted`, with a numeric suffix if a pinned exchange already has it."""
        uid, number = wanted, 2
        while uid in self._uids:
            uid, number = f"{wanted}#{number}", number + 1
        return uid

    def _elide(self, place: str, effect: HaloEffect, need: HaloNeed, state: Halo) -> None:
        if effect.part in self._waiting:
            because = ElisionReason.CARRIED
        elif state.exchange:
            because = ElisionReason.EXCHANGED
        elif effect.part.datum in self._without_annexed and not need.depth.terms:
            because = ElisionReason.NO_ANNEXED
        else:
            because = ElisionReason.ALWAYS if state.writer == OUTSIDE else ElisionReason.LEFT
        last = (state.writer, state.written, state.exchange)
        self.elided.append(
            ElidedExchange(place, effect.part, effect.reader, need.why, because, *last)
        )

    def _mark(self, place: str, part: DatumPart, states: tuple[Halo, Halo], clean: Depth) -> None:
        """Plan the flag update after `place`, unless the flags are already correct."""
        before, after = states
        if not self._has_flags or (before.beyond is after.beyond and before.clean == after.clean):
            return
        # Where the flags call the deeper levels dirty already, or the write left them alone or
        # clean, only the clean levels are news.
        grows = before.beyond is after.beyond and after.clean.covers(before.clean) is Fresh.YES
        uid = f"mark({part.text})@{place}"
        mark = sch.MarkHalo(uid, part.datum, part.component, not grows, clean)
        self.marks[place] = (*self.marks.get(place, ()), mark)

    def _pinned(self, part: DatumPart, exchange: sch.HaloExchange) -> None:
        """Record the effect of a pinned exchange, which takes effect when it finishes."""
        if exchange.phase is sch.Phase.START:
            self._in_flight.add(part)
            return
        self._in_flight.discard(part)
        self.states[part] = self.state(part).exchanged(exchange.depth, exchange.uid)
        self._after_exchange(part)
