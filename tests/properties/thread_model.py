"""A model of threads on a small mesh: the values that two threads use at the same time.

It shares no code with `analysis.races` and the other analyses: neither domain rules nor reasons. It
executes every iteration of every loop of a schedule, records the accessed places of each field, and
derives concurrency from the directives alone.

Two iterations race if both access a place and one of them writes. There are two exceptions, which
follow from the meaning of accesses: all cells write the same value by `gh_write`, so two iterations
of one such call agree; and an iteration that has written the value itself reads that value,
whichever iteration wrote it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Protocol

from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.kernel import Access, KernelArg
from psyclone_storage.ir.schedule import (
    Actual,
    Compound,
    DirectiveRegion,
    KernelCall,
    Loop,
    Over,
    ProfileRegion,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import TaskWait

Place = tuple[object, ...]
Here = Mapping[Over, Place]
"""Where the loops around a call stand, by what they count."""


class Mesh(Protocol):
    """What there is to count, and where an argument of a call lives."""

    def counted(self, loop: Loop, here: Here) -> Iterable[Place]:
        """Return the iterations of `loop` while the loops around it stand `here`."""

    def places(self, loop: Loop, described: KernelArg, actual: Actual, here: Here) -> set[Place]:
        """Return the places that a call, whose innermost loop is `loop`, touches `here`."""


@dataclass(frozen=True, slots=True)
class Event:
    """A call touches a place: it reads, or `fills` it with what any iteration would write."""

    call: str
    reads: bool
    writes: bool
    fills: bool


@dataclass(slots=True)
class Trace:
    """What is done one after the other, by place."""

    events: dict[Place, list[Event]] = field(default_factory=lambda: defaultdict(list))

    def add(self, other: Trace) -> None:
        for place, events in other.events.items():
            self.events[place] += events


@dataclass(frozen=True, slots=True)
class Team:
    """Who does the statements that come.

    Attributes:
        repeats: whether several do all that is not dealt out.
        waits: whether each waits for the others at the end of a loop that is dealt out.
    """

    repeats: bool = False
    waits: bool = True


ALONE = Team()
THREADS = Team(repeats=True)
GANGS = Team(repeats=True, waits=False)

REGIONS = {Directive.OMP_PARALLEL: THREADS, Directive.ACC_PARALLEL: GANGS}
DEALT = (
    Directive.OMP_DO,
    Directive.OMP_PARALLEL_DO,
    Directive.OMP_SIMD,
    Directive.OMP_TASKLOOP,
    Directive.OMP_TEAMS_DO,
    Directive.ACC_LOOP,
)
OF_ONE = (Directive.OMP_SINGLE, Directive.OMP_MASTER)


def races(schedule: Schedule, mesh: Mesh) -> tuple[str, ...]:
    """Return what two threads of `schedule` would use at one time, as sentences."""
    model = _Model(mesh)
    model.sequence(schedule.body, {}, ALONE)
    return tuple(dict.fromkeys(model.found))


@dataclass(slots=True)
class _Done:
    """What was done, and the parts that may go on when the next statement begins.

    `tasks` end at the next wait for tasks, `others` and `first` at the next barrier. The `first`
    thread of a team does what it does in order; `by_any` is what any thread may have done.
    """

    trace: Trace = field(default_factory=Trace)
    by_any: Trace = field(default_factory=Trace)
    tasks: list[Trace] = field(default_factory=list)
    others: list[Trace] = field(default_factory=list)
    first: list[Trace] = field(default_factory=list)


@dataclass(slots=True)
class _Model:
    mesh: Mesh
    found: list[str] = field(default_factory=list)
    innermost: Loop | None = None

    # ------------------------------------------------------------------ one after the other

    def sequence(self, body: Sequence[Statement], here: Here, team: Team) -> _Done:
        """Do statements in order, but for what nobody waits for."""
        done = _Done()
        for item in body:
            if isinstance(item, TaskWait):
                done.tasks.clear()
                continue
            self._then(done, self._statement(item, here, team), ends_all=_ends_all(item, team))
        return done

    def _then(self, done: _Done, following: _Done, *, ends_all: bool) -> None:
        for pending in (*done.tasks, *done.others):
            self._at_once([pending, following.trace])
        for pending in done.first:
            self._at_once([pending, following.by_any])
        if ends_all:
            for pendings in (done.tasks, done.others, done.first):
                pendings.clear()
        done.trace.add(following.trace)
        done.by_any.add(following.by_any)
        done.tasks += following.tasks
        done.others += following.others
        done.first += following.first

    def _statement(self, item: Statement, here: Here, team: Team) -> _Done:
        match item:
            case DirectiveRegion():
                return self._construct(item, here, team)
            case ProfileRegion(body=body):
                return self.sequence(body, here, team)
            case Loop():
                done = _Done()
                for place in self.mesh.counted(item, here):
                    inside = {**here, item.over: place}
                    self._then(done, self._inside(item, inside, team), ends_all=False)
                return done
            case KernelCall():
                trace = self._call(item, here)
                if team.repeats:
                    self._at_once([trace, trace], repeated=True)
                return by_any(trace)
        return _Done()

    def _inside(self, loop: Loop, here: Here, team: Team) -> _Done:
        before, self.innermost = self.innermost, loop
        done = self.sequence(loop.body, here, team)
        self.innermost = before
        return done

    # ------------------------------------------------------------------ at the same time

    def _construct(self, item: DirectiveRegion, here: Here, team: Team) -> _Done:
        kind = item.directive
        if kind in DEALT and not item.options.sequential:
            return self._dealt_out(item, here, team)
        if kind in OF_ONE:
            done = self.sequence(item.body, here, ALONE)
            if kind is Directive.OMP_MASTER:
                return _Done(done.trace, first=[done.trace], others=done.tasks)
            return by_any(done.trace, others=item.options.nowait)
        if kind is Directive.OMP_TASK:
            done = self.sequence(item.body, here, ALONE)
            return by_any(done.trace, tasks=True)
        if kind in REGIONS:
            return by_any(self.sequence(item.body, here, REGIONS[kind]).trace)
        return self.sequence(item.body, here, team)

    def _dealt_out(self, item: DirectiveRegion, here: Here, team: Team) -> _Done:
        (loop,) = item.body
        assert isinstance(loop, Loop)
        iterations = [
            self._inside(inner, inside, ALONE).trace
            for inner, inside in self._nest(loop, here, _collapsed(item))
        ]
        self._at_once(iterations)
        trace = Trace()
        for one in iterations:
            trace.add(one)
        return by_any(trace, tasks=item.options.nogroup, others=not team.waits)

    def _nest(self, loop: Loop, here: Here, depth: int) -> Iterator[tuple[Loop, Here]]:
        """Yield the iterations of `depth` nested loops that are dealt out as one."""
        for place in self.mesh.counted(loop, here):
            inside = {**here, loop.over: place}
            if depth == 1:
                yield loop, inside
                continue
            (inner,) = loop.body
            assert isinstance(inner, Loop)
            yield from self._nest(inner, inside, depth - 1)

    def _at_once(self, branches: Sequence[Trace], *, repeated: bool = False) -> None:
        touching: dict[Place, list[list[Event]]] = defaultdict(list)
        for branch in branches:
            for place, events in branch.events.items():
                touching[place].append(events)
        for place, users in touching.items():
            if len(users) < 2 or not any(event.writes for user in users for event in user):
                continue
            for one, two in combinations(_unlike(users, repeated=repeated), 2):
                if _clash(one, two) or _clash(two, one) or repeated:
                    calls = sorted({event.call for event in (*one, *two)})
                    self.found.append(f"{', '.join(calls)} race at {place}")
                    break

    def _call(self, call: KernelCall, here: Here) -> Trace:
        assert self.innermost is not None
        trace = Trace()
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            access = described.access
            if actual.datum is None or access is Access.REDUCTION:
                continue
            event = Event(call.uid, access.reads, access.writes, access is Access.WRITE)
            looked = self.mesh.places(self.innermost, described, actual, here)
            own = looked
            if described.stencil is not None:
                own = self.mesh.places(
                    self.innermost, replace(described, stencil=None), actual, here
                )
            for place in looked:
                at = event if place in own else replace(event, writes=False, fills=False)
                trace.events[place].append(at)
        return trace


def by_any(trace: Trace, *, tasks: bool = False, others: bool = False) -> _Done:
    """Return what any thread may have done, and whether it may go on."""
    return _Done(trace, trace, [trace] if tasks else [], [trace] if others else [])


def _ends_all(item: Statement, team: Team) -> bool:
    """Return whether no thread goes on after `item` before all that came before is done."""
    if not isinstance(item, DirectiveRegion) or not team.waits:
        return False
    if item.directive is Directive.OMP_DO:
        return True
    return item.directive is Directive.OMP_SINGLE and not item.options.nowait


def _collapsed(item: DirectiveRegion) -> int:
    return item.options.collapse


def _unlike(users: Sequence[list[Event]], *, repeated: bool) -> list[list[Event]]:
    """Return `users`, of those that do the same only two: what holds for two holds for more."""
    if repeated:
        return list(users)
    kept: list[list[Event]] = []
    for user in users:
        if kept.count(user) < 2:
            kept.append(user)
    return kept


def _clash(one: Sequence[Event], two: Sequence[Event]) -> bool:
    """Return whether something that `one` writes disturbs `two`, which uses the same place."""
    for written in one:
        if not written.writes:
            continue
        mine: set[str] = set()
        for event in two:
            same = written.fills and event.fills and event.call == written.call
            own = written.fills and not event.writes and mine == {written.call}
            if not same and not own:
                return True
            if event.fills:
                mine.add(event.call)
    return False


def parallel_places(tree: Schedule | Compound) -> Iterator[DirectiveRegion]:
    """Yield the constructs below `tree`, outermost first."""
    for item in tree.body:
        if isinstance(item, DirectiveRegion):
            yield item
        if isinstance(item, Compound):
            yield from parallel_places(item)
