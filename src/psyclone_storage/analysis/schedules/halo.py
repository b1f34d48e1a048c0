"""Where halo exchanges go, and what the run-time flags are told: the halo side of coherence.

`plan_halos` walks a schedule once, backwards for how deep the readers of a value look before
it is written again, and once forwards with a three-valued state per field component. An exchange
stands directly before the first loop that needs it (lazy, as the seed's Halo Exchange Logic asks)
and goes as deep as any reader of the same value needs, so that one is enough.

The invariant of the forward walk: what the state calls clean is clean on every rank, and the
run-time flags say exactly what the state says: clean to `clean`, and dirty beyond it if `beyond`
is NO. Hence a guard, which asks the flags, never skips an exchange that is needed. Where there are
no such flags, what may be stale is exchanged without a guard.

A loop that adds to replicas which are not worth an exchange still needs a number in each of them.
Those that may never have been filled are given one, without a message.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import reduce

from psyclone_storage.analysis.schedules.fills import planned_fills
from psyclone_storage.analysis.schedules.touch import (
    ExchangedComponent,
    Touch,
    Touches,
    aliases_of,
    key_text,
    union_of_needs,
)
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.rules import HaloLeft, HaloNeed, Rules
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    FillHalo,
    HaloExchange,
    Loop,
    MarkHalo,
    Phase,
    Reason,
    Schedule,
)
from psyclone_storage.ir.walk import in_sequence, kernel_calls, outer_loops, statements

END = "end"
"""The place after the last statement of a schedule."""

OUTSIDE = ""
"""The writer of a value that was made before the invoke."""

_ONE = Depth.of(1)
_RESTORE = HaloNeed(NOTHING, True, "in later invokes, which count on clean annexed dofs")


@dataclass(frozen=True, slots=True)
class Halo:
    """What is known of the halo of one component at one place of a schedule.

    Levels 1 to `clean` are clean. Deeper ones are dirty if `beyond` is NO; if it is MAYBE, only
    the run-time flags know. `annexed` tells of the annexed dofs. Annexed dofs and levels 1 to
    `filled` hold numbers, clean or stale; if it is None, not even annexed dofs need to. `writer` is
    the call that wrote last, `written` what that write left, `exchange` the last exchange since.
    """

    clean: Depth
    beyond: Fresh
    annexed: Fresh
    writer: str = OUTSIDE
    written: str = "its halo in a state that only the run-time flags know"
    exchange: str = ""
    filled: Depth | None = None

    def lacks(self, need: HaloNeed) -> Fresh:
        """Return whether something of `need` is stale: YES and NO are certain."""
        if need.annexed and self.annexed is Fresh.NO:
            return Fresh.YES
        covers = self.clean.covers(need.depth)
        if covers is not Fresh.YES:
            certain = covers is Fresh.NO and self.beyond is Fresh.NO
            return Fresh.YES if certain else Fresh.MAYBE
        return ~self.annexed if need.annexed else Fresh.NO

    def unfilled(self, need: HaloNeed) -> bool:
        """Return whether something that `need` adds to may never have been filled."""
        if need.filled is None:
            return False
        return self.filled is None or self.filled.covers(need.filled) is not Fresh.YES

    def depth_for(self, need: HaloNeed) -> Depth:
        """Return how deep an exchange has to go: annexed dofs come with level 1."""
        return need.depth.max(_ONE) if need.annexed else need.depth

    def surely_exchanged(self, need: HaloNeed) -> bool:
        """Return whether `need` asks for an exchange that flags, if asked, would never skip."""
        lacks = self.lacks(need)
        dirty = self.beyond is Fresh.NO and self.clean.covers(self.depth_for(need)) is Fresh.NO
        return lacks is Fresh.YES or (lacks is Fresh.MAYBE and dirty)

    def filled_to(self, need: HaloNeed) -> Halo:
        """Return the state after what `need` adds to has been given a number."""
        return replace(self, filled=_larger(self.filled or NOTHING, _wanted(need)))

    def exchanged(self, depth: Depth, uid: str) -> Halo:
        """Return the state after the exchange `uid`, whether or not a guard skipped it."""
        clean = _larger(self.clean, depth)
        fills = self.filled is not None or depth.covers(_ONE) is Fresh.YES
        filled = _larger(self.filled or NOTHING, depth) if fills else None
        return replace(self, clean=clean, annexed=Fresh.YES, exchange=uid, filled=filled)

    def written_by(self, writer: str, left: HaloLeft) -> Halo:
        """Return the state after the call `writer`, in its loop, has left `left`.

        What is clean holds a number, and what held one does so still.
        """
        fills = self.filled is not None or left.annexed is Fresh.YES
        filled = _larger(self.filled or NOTHING, left.clean) if fills else None
        if left.keeps_beyond:
            clean = _larger(self.clean, left.clean)
            return Halo(clean, self.beyond, self.annexed, writer, left.why, filled=filled)
        return Halo(left.clean, Fresh.NO, left.annexed, writer, left.why, filled=filled)


def _larger(first: Depth, second: Depth) -> Depth:
    if first == second or not second.terms:
        return first
    return first.max(second) if first.terms else second


class ElisionReason(Enum):
    """Why a read beyond owned dofs needs no exchange."""

    ALWAYS = "annexed dofs are kept clean"
    LEFT = "left clean by the last write"
    EXCHANGED = "exchanged before"
    NO_ANNEXED = "no annexed dofs"
    CARRIED = "stale copies stay stale and unread"


@dataclass(frozen=True, slots=True)
class ElidedExchange:
    """An exchange that was proved unnecessary: the call `reader` in `loop` needs it not.

    `read` says how it reads, `because` why that is safe; `writer` and `written` tell of the
    last write before, as in `Reason`, and `exchange` names the last exchange since, if any.
    """

    loop: str
    key: ExchangedComponent
    reader: str
    read: str
    because: ElisionReason
    writer: str
    written: str
    exchange: str


@dataclass(frozen=True, slots=True)
class PlacedExchange:
    """An exchange and the uid of the statement that it stands before, or `END`."""

    before: str
    exchange: HaloExchange


@dataclass(frozen=True, slots=True)
class Filled:
    """What gives a number to replicas, and the uid of the loop before which it stands.

    It may stand earlier, too, for what a loop before has looked at holds numbers; but behind the
    loop `after`, which has looked at what may be the same object.
    """

    before: str
    fill: FillHalo
    after: str


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A note to the run-time flags and the uid of the loop that it follows."""

    after: str
    mark: MarkHalo


@dataclass(frozen=True, slots=True)
class HaloPlan:
    """All that has to be inserted into a schedule, in its order, and what was elided.

    `computed` are the levels of halo that loops over dofs compute besides, by uid.
    """

    exchanges: tuple[PlacedExchange, ...] = ()
    marks: tuple[PlacedMark, ...] = ()
    elided: tuple[ElidedExchange, ...] = ()
    fills: tuple[Filled, ...] = ()
    computed: Mapping[str, Depth] = field(default_factory=dict)


def plan_halos(schedule: Schedule, rules: Rules) -> HaloPlan:
    """Plan the exchanges that `schedule` needs besides those pinned in it, and the marks.

    Exchanges in the schedule that are not pinned, and all its marks, are ignored: they are
    derived, and planned anew. Without distributed memory there is nothing to plan.
    """
    if not schedule.distributed:
        return HaloPlan()
    touched = Touches(schedule, rules)
    computed = planned_fills(schedule, rules, touched)
    walk = _HaloWalk(schedule, rules, touched, computed)
    walk.run()
    return HaloPlan(
        tuple(walk.exchanges), tuple(walk.marks), tuple(walk.elided), tuple(walk.fills), computed
    )


_UNKNOWN = "its halo in a state that nothing tells"
_ENTRY = Halo(NOTHING, Fresh.MAYBE, Fresh.MAYBE)
_ENTRY_CLEAN = Halo(NOTHING, Fresh.MAYBE, Fresh.YES, filled=NOTHING)


# ---------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class _Event:
    """A touch of one component in the outer loop `place`, or a pinned exchange."""

    place: str
    key: ExchangedComponent
    touch: Touch | None = None
    pinned: HaloExchange | None = None


def _events(
    schedule: Schedule, touched: Touches, computed: Mapping[str, Depth]
) -> Iterator[_Event]:
    for item in in_sequence(schedule):
        if isinstance(item, Loop):
            for touch in touched.of(item, computed.get(item.uid, NOTHING)):
                yield _Event(item.uid, touch.key, touch)
        elif isinstance(item, HaloExchange) and item.pinned:
            yield _Event(item.uid, ExchangedComponent(item.datum, item.component), pinned=item)


def _wanted(need: HaloNeed) -> Depth:
    """Return the levels that have to hold numbers, at least 1 where the algorithm may ask for 0."""
    levels = need.filled or NOTHING
    return levels.max(_ONE) if levels.terms else NOTHING


def _exchangeable(state: Halo, need: HaloNeed) -> HaloNeed:
    """Return what to exchange for `need`: all that it adds to, where no other way fills it.

    Where it is not known that any level holds numbers, but some may, there is no telling behind
    which dof those begin that may not.
    """
    known = state.filled is None or not state.filled.terms
    if known or not state.unfilled(need) or (state.filled or NOTHING).covers(_ONE) is Fresh.YES:
        return need
    return HaloNeed(need.depth.max(_wanted(need)), True, need.why)


def _on_device(schedule: Schedule) -> frozenset[str]:
    """Return the loops of which a device runs all calls: it traps no operation."""
    there = {
        call.uid
        for region in statements(schedule)
        if isinstance(region, DirectiveRegion) and region.runs_on_device
        for call in kernel_calls(region)
    }
    if not there:
        return frozenset()
    loops = ((loop, kernel_calls(loop)) for loop in outer_loops(schedule))
    return frozenset(loop.uid for loop, calls in loops if {call.uid for call in calls} <= there)


def _readers(events: Iterable[_Event]) -> Iterator[tuple[Touch, HaloNeed]]:
    """Yield the touches among `events` that read one value: up to the next write, inclusive."""
    for event in events:
        touch = event.touch
        if touch is None:
            return
        if touch.need is not None:
            yield touch, touch.need
        if touch.left is not None:
            return


def _exchange_is_vain(state: Halo, following: Iterable[_Event]) -> tuple[bool, int]:
    """Return whether an exchange before the first of `following` is in vain, and where that shows.

    The first event adds to replicas of which `state` says that they may be stale. Two runs of the
    events are compared, with an exchange before and without. It is in vain if the first reader to
    gain from it needs even more, so that an exchange stands there in any case, or if there is no
    such reader before the field is overwritten. The second result counts the events passed;
    if those are all of them, no reader gained.
    """
    with_it = without = state
    passed = 0
    for event in following:
        touch = event.touch
        if touch is None:
            return True, passed
        need, left = touch.need, touch.left
        carried = need is not None and need.carried
        if passed and need is not None:
            if with_it.surely_exchanged(need):
                return True, passed
            if not carried and without.lacks(need) is not Fresh.NO:
                return False, passed
        if left is not None:
            if not carried and not left.keeps_beyond:
                return True, passed
            with_it = with_it.written_by(touch.writer, left)
            poorer = _carried(without, left) if carried else left
            without = without.written_by(touch.writer, poorer)
        passed += 1
    return False, passed


def _carried(state: Halo, left: HaloLeft) -> HaloLeft:
    """Return what a loop leaves that adds to stale replicas: no more than was clean before."""
    clean = state.clean if left.clean.covers(state.clean) is Fresh.YES else NOTHING
    annexed = Fresh.of(state.annexed is Fresh.YES) & left.annexed
    return HaloLeft(clean, annexed, "its halo no cleaner than it was")


# ---------------------------------------------------------------------------- the forward walk


class _HaloWalk:
    """The forward walk over the events of a schedule: what it knows and what it has planned."""

    def __init__(
        self, schedule: Schedule, rules: Rules, touched: Touches, computed: Mapping[str, Depth]
    ) -> None:
        self.exchanges: list[PlacedExchange] = []
        self.marks: list[PlacedMark] = []
        self.elided: list[ElidedExchange] = []
        self.fills: list[Filled] = []
        self._events = tuple(_events(schedule, touched, computed))
        self._on_device = _on_device(schedule)
        self._keeps_annexed = rules.keeps_annexed_clean(schedule)
        self._without_annexed = rules.without_annexed(schedule)
        self._has_flags = rules.knows_clean_halos()
        self._states: dict[ExchangedComponent, Halo] = {}
        self._in_flight: set[ExchangedComponent] = set()
        self._waiting: set[ExchangedComponent] = set()
        self._vain_until: dict[ExchangedComponent, int] = {}
        self._looks: dict[ExchangedComponent, str] = {}
        self._uids = {item.uid for item in in_sequence(schedule)}
        self._aliases = aliases_of(schedule)

    def run(self) -> None:
        """Walk over all events, then restore what later invokes count on."""
        following: dict[ExchangedComponent, deque[_Event]] = defaultdict(deque)
        for event in self._events:
            following[event.key].append(event)
        for event in self._events:
            if event.touch is not None:
                self._touch(event.place, event.touch, following[event.key])
            elif event.pinned is not None:
                self._pinned(event.key, event.pinned)
            following[event.key].popleft()
        if self._keeps_annexed:
            for key, state in tuple(self._states.items()):
                if state.annexed is not Fresh.YES:
                    touch = Touch(key, _RESTORE, END)
                    self._states[key] = self._exchange(END, key, state, ((touch, _RESTORE),))

    def _state(self, key: ExchangedComponent) -> Halo:
        return self._states.get(key) or self._entry(key)

    def _entry(self, key: ExchangedComponent) -> Halo:
        """Return the state of a field before the invoke: nothing may have filled its halo."""
        no_annexed = self._keeps_annexed or key.datum in self._without_annexed
        state = _ENTRY_CLEAN if no_annexed else _ENTRY
        return state if self._has_flags else replace(state, written=_UNKNOWN)

    def _touch(self, place: str, touch: Touch, following: deque[_Event]) -> None:
        key, need, left = touch.key, touch.need, touch.left
        state = self._state(key)
        if need is None:
            self._waiting.discard(key)
        else:
            need = _exchangeable(state, need)
            lacks = state.lacks(need) is not Fresh.NO
            may_carry = need.carried and not self._aliases[key.datum]
            waits = lacks and may_carry and self._may_wait(state, key, following)
            (self._waiting.add if waits else self._waiting.discard)(key)
            if lacks and not waits:
                readers = ((touch, need), *tuple(_readers(following))[1:])
                self._states[key] = self._exchange(place, key, state, readers)
                self._after_exchange(key)
            else:
                self._spare(place, touch, need, state)
            self._fill(place, touch, need)
            for other in self._aliases[key.datum]:
                self._looks[other] = place
        if left is not None:
            self._leave(place, touch, left)

    def _fill(self, place: str, touch: Touch, need: HaloNeed) -> None:
        """Plan to give numbers to what is added to, where nothing may have done so yet."""
        key, state = touch.key, self._state(touch.key)
        if not state.unfilled(need) or place in self._on_device:
            return
        uid = f"fill({key_text(key)})@{place}"
        beyond = state.filled or NOTHING
        annexed = state.filled is None
        fill = FillHalo(uid, *key, annexed, beyond, _wanted(need), touch.reader)
        self.fills.append(Filled(place, fill, self._looks.get(key, "")))
        self._states[key] = state.filled_to(need)

    def _may_wait(self, state: Halo, key: ExchangedComponent, following: deque[_Event]) -> bool:
        """Return whether stale replicas may stay so while the next loop adds to them.

        If so, that holds for all such loops that the search has passed, too.
        """
        if len(following) > self._vain_until.get(key, len(following)):
            return True
        vain, passed = _exchange_is_vain(state, following)
        if not vain and passed == len(following):
            vain = not self._keeps_annexed or state.annexed is Fresh.YES
        if vain:
            self._vain_until[key] = len(following) - passed
        return vain

    def _leave(self, place: str, touch: Touch, left: HaloLeft) -> None:
        """Note what the loop `place` leaves of a field, and plan to tell the flags."""
        key, state = touch.key, self._state(touch.key)
        if key in self._in_flight:
            raise InternalError(f"'{key_text(key)}' is written while its exchange runs.")
        if key in self._waiting:
            left = _carried(state, left)
        elif left.annexed is not Fresh.YES and key.datum in self._without_annexed:
            left = replace(left, annexed=Fresh.YES)
        after = state.written_by(touch.writer, left)
        self._mark(place, key, (state, after), left.clean)
        self._states[key] = after
        self._after_write(key, after)

    def _after_write(self, key: ExchangedComponent, after: Halo) -> None:
        """Forget what was known of data that may be the object that was written.

        They may be as they were or as `after` says: only their flags know.
        """
        for other in self._aliases[key.datum]:
            before = self._state(other)
            annexed = before.annexed.join(after.annexed)
            written = f"what may be the same object, {key_text(key)}: {after.written}"
            self._states[other] = Halo(
                NOTHING, Fresh.MAYBE, annexed, after.writer, written, filled=before.filled
            )

    def _after_exchange(self, key: ExchangedComponent) -> None:
        """Note that flags of what may be the same object can be cleaner than was known."""
        for other in self._aliases[key.datum]:
            if other in self._states:
                self._states[other] = replace(self._states[other], beyond=Fresh.MAYBE)

    def _exchange(
        self,
        place: str,
        key: ExchangedComponent,
        state: Halo,
        readers: tuple[tuple[Touch, HaloNeed], ...],
    ) -> Halo:
        """Plan the exchange before `place` that serves all `readers`; return the state after."""
        if key in self._in_flight:
            raise InternalError(f"'{key_text(key)}' is read while its exchange runs.")
        need = reduce(union_of_needs, (need for _, need in readers))
        depth = state.depth_for(need)
        exchange = HaloExchange(
            uid=self._fresh_uid(f"halo({key_text(key)})@{place}"),
            datum=key.datum,
            component=key.component,
            depth=depth,
            guarded=self._has_flags and not state.surely_exchanged(need),
            annexed_only=not need.depth.terms,
            reasons=tuple(
                Reason(touch.reader, wish.why, state.writer, state.written)
                for touch, wish in readers
                if state.lacks(wish) is not Fresh.NO
            ),
        )
        self.exchanges.append(PlacedExchange(place, exchange))
        return state.exchanged(depth, exchange.uid)

    def _fresh_uid(self, wanted: str) -> str:
        """Return `wanted`, with a number if a pinned exchange has that name already."""
        uid, number = wanted, 2
        while uid in self._uids:
            uid, number = f"{wanted}#{number}", number + 1
        return uid

    def _spare(self, place: str, touch: Touch, need: HaloNeed, state: Halo) -> None:
        if touch.key in self._waiting:
            because = ElisionReason.CARRIED
        elif state.exchange:
            because = ElisionReason.EXCHANGED
        elif touch.key.datum in self._without_annexed and not need.depth.terms:
            because = ElisionReason.NO_ANNEXED
        else:
            because = ElisionReason.ALWAYS if state.writer == OUTSIDE else ElisionReason.LEFT
        last = (state.writer, state.written, state.exchange)
        self.elided.append(ElidedExchange(place, touch.key, touch.reader, need.why, because, *last))

    def _mark(
        self, place: str, key: ExchangedComponent, states: tuple[Halo, Halo], clean: Depth
    ) -> None:
        """Plan what the flags must be told after `place`, unless they say so already."""
        before, after = states
        if not self._has_flags or (before.beyond is after.beyond and before.clean == after.clean):
            return
        # Where the flags call the deeper levels dirty already, or the write left them alone or
        # clean, only the clean levels are news.
        grows = before.beyond is after.beyond and after.clean.covers(before.clean) is Fresh.YES
        uid = f"mark({key_text(key)})@{place}"
        self.marks.append(
            PlacedMark(place, MarkHalo(uid, key.datum, key.component, not grows, clean))
        )

    def _pinned(self, key: ExchangedComponent, exchange: HaloExchange) -> None:
        """Note what a pinned exchange does: all of it happens when it finishes."""
        if exchange.phase is Phase.START:
            self._in_flight.add(key)
            return
        self._in_flight.discard(key)
        self._states[key] = self._state(key).exchanged(exchange.depth, exchange.uid)
        self._after_exchange(key)
