"""Storage access planner: where an invoke acquires and releases data.

A storage tracks at run time which of its replicas are valid, and transfers values when data are
acquired. An invoke therefore assumes nothing at entry and owes nothing at exit. The plan defines
when to acquire data, with which access, and what to prefetch.

- Consecutive uses on one side share one acquire with the union of their accesses. It ends where the
  other side needs the data, or at a halo exchange that acquires them itself.
- Values that are completely overwritten before they are read are not transferred (*coverage*). This
  requires a loop over the complete field and code that writes every value; write access in the
  metadata is not sufficient.
- A replica that an earlier statement made stale will need a transfer, so it is prefetched after the
  last write.
- If statements wait only for their own data, the data of later statements are prefetched at the
  start of the invoke.

Invariant: each use of a datum lies in exactly one section on its side, and sections of a datum do
not overlap. `transfers` handles devices without storages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from psyclone_storage.analysis.bodies.definite_assignment import (
    ColumnNames,
    writes_columns,
    writes_its_point,
    writes_once,
)
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.coherence.solver import Solver
from psyclone_storage.coherence.transfers import opened
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir import storage_access as sa
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.devices import MOVED, device_calls, moved_parts
from psyclone_storage.ir.insertion import END, Insertion
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.transfer import EnterData, Side, Update
from psyclone_storage.ir.walk import (
    calls_in,
    kernel_calls,
    outer_loops,
    place_near,
    place_of,
    statements,
)

CodesOf = Callable[[Kernel], tuple[Routine, ...]]
"""The subroutines of a kernel, none where they cannot be read."""
DummiesOf = Callable[[Kernel], tuple[Dummy, ...]]
"""The dummy arguments of a kernel's subroutine."""


class StorageUse(NamedTuple):
    """A use of a datum by a call or exchange on one side.

    `reads` means that old values are needed, `covered` that all values are written. `around` is the
    position of the outermost statement that contains the use.
    """

    part: DatumPart
    side: Side
    around: int
    reads: bool
    writes: bool
    covered: Fresh
    user: str
    why: str


@dataclass(frozen=True, slots=True)
class AccessSection:
    """Consecutive uses of a datum on one side, which share one acquire.

    If it `follows_exchange`, it begins after an exchange that acquired the datum itself.
    """

    uses: tuple[StorageUse, ...]
    follows_exchange: bool = False

    @property
    def key(self) -> DatumPart:
        """The datum of the section."""
        return self.uses[0].part

    @property
    def side(self) -> Side:
        """The side on which the datum is acquired."""
        return self.uses[0].side

    @property
    def first(self) -> int:
        """The position of the first statement in the section."""
        return self.uses[0].around

    @property
    def last(self) -> int:
        """The position of the last statement in the section."""
        return self.uses[-1].around

    @property
    def writes(self) -> bool:
        """True if any use writes."""
        return any(use.writes for use in self.uses)

    @property
    def covered(self) -> Fresh:
        """True if all values are written before old values can be read."""
        return ~_needed(self.uses)[0] if self.writes else Fresh.NO

    @property
    def why(self) -> str:
        """The reason why values must be transferred or not."""
        return _needed(self.uses)[1]


@dataclass(frozen=True, slots=True)
class KernelKnowledge:
    """Input of the analysis besides the schedule: the domain's rules and kernel code."""

    rules: Rules
    codes_of: CodesOf
    dummies_of: DummiesOf


def plan_storage_access(
    schedule: sch.Schedule, knowledge: KernelKnowledge, policy: sa.StoragePolicy
) -> sa.StoragePlan:
    """Return the storage accesses of `schedule`, which must satisfy `check_storage_policy`."""
    items = tuple(item for item in opened(schedule.body) if not isinstance(item, Update))
    places = (*(item.uid for item in items), END)
    others = aliases_in(schedule).others
    before: list[list[sa.StorageAction]] = [[] for _ in places]
    sections = _AccessSolver(schedule, knowledge, policy).solve(items)
    ends = partial(_ends, policy=policy, places=_Places(items))
    for own in sections.values():
        for number, section in enumerate(own):
            before[ends(own, number)[1]] += _ended(section, again=number + 1 < len(own))
    for key, own in sections.items():
        if policy.waits_apart and ends(own, 0)[0] > 0:
            before[0].append(sa.PrefetchData(*key, own[0].side))
        for at, action in _prefetches(own):
            if not _written_meanwhile(at, others(key.datum), sections, ends):
                before[at].append(action)
    for key, own in sections.items():
        for number, section in enumerate(own):
            before[ends(own, number)[0]].append(_acquired(section, others(key.datum)))
    placed = zip(places, before, strict=True)
    return sa.StoragePlan(tuple(Insertion(uid, one) for uid, actions in placed for one in actions))


def check_storage_policy(
    schedule: sch.Schedule, policy: sa.StoragePolicy
) -> tuple[Diagnostic, ...]:
    """Return diagnostics for statements of `schedule` that storages do not support.

    Directives that create device copies would add a second copy of a field, tracked separately, and
    storages do not support their queues. A statement must not use a datum on both sides. If
    directives have no effect, there are no restrictions.
    """
    problems: list[Diagnostic] = []
    if not policy.directives_act:
        return ()
    moving = filter(_moves_data, statements(schedule))
    problems += (_two_contracts(item, place_near(schedule, item.uid)) for item in moving)
    for item in opened(schedule.body):
        if isinstance(item, sch.Loop | sch.DirectiveRegion):
            problems += _on_both_sides(item)
    return tuple(problems)


def _moves_data(item: sch.Statement) -> bool:
    """Return whether a script requested device copies or asynchronous regions.

    Derived updates for devices without storages do not count.
    """
    if isinstance(item, sch.DirectiveRegion):
        return item.directive.holds_data or item.options.queue >= 0
    return isinstance(item, EnterData) or (isinstance(item, Update) and item.pinned)


def _two_contracts(item: sch.Statement, place: Span | None) -> Diagnostic:
    message = (
        f"'{item.uid}' moves data that storages keep on a device, or does not wait until they are"
        " there: two would decide which copy is current."
    )
    hint = "Leave out the step: a storage brings what a region on a device needs."
    return Diagnostic("S116", message, place, hint=hint)


def _on_both_sides(item: sch.Loop | sch.DirectiveRegion) -> Iterator[Diagnostic]:
    there = device_calls(item)
    moved = {call.uid for call in there}
    here = [call for call in kernel_calls(item) if call.uid not in moved]
    shared = _data_of(there) & _data_of(here)
    for name in sorted(shared):
        message = f"'{item.uid}' uses '{name}' on the host and on a device, turn by turn."
        hint = "Put all of the statement into the region for the device, or none of it."
        yield Diagnostic("S116", message, place_of(item), hint=hint)


def _data_of(calls: Iterable[sch.KernelCall]) -> set[str]:
    pairs = (pair for call in calls for pair in zip(call.kernel.args, call.args, strict=True))
    return {
        actual.datum
        for described, actual in pairs
        if described.kind in MOVED and actual.datum is not None
    }


# ---------------------------------------------------------------------------- sections


def _apart(sections: list[AccessSection]) -> Iterator[AccessSection]:
    """Yield the sections.

    A section is split after its last write if the other side needs it next.
    """
    for number, section in enumerate(sections):
        behind = sections[number + 1] if number + 1 < len(sections) else None
        writes = [use.around for use in section.uses if use.writes]
        if behind is None or behind.side is section.side or not writes:
            yield section
            continue
        yield replace(section, uses=tuple(use for use in section.uses if use.around <= writes[-1]))
        if rest := tuple(use for use in section.uses if use.around > writes[-1]):
            yield AccessSection(rest)


class _AccessSolver(Solver[list[AccessSection], StorageUse]):
    """The coherence solver for storages; the last section of a datum may still be open."""

    def __init__(
        self, schedule: sch.Schedule, knowledge: KernelKnowledge, policy: sa.StoragePolicy
    ) -> None:
        super().__init__(schedule)
        self.knowledge, self.policy = knowledge, policy
        self._closed: set[DatumPart] = set()

    def solve(self, items: tuple[sch.Statement, ...]) -> dict[DatumPart, list[AccessSection]]:
        """Return the sections of each datum, in order of first use."""
        for at, item in enumerate(items):
            if isinstance(item, sch.HaloExchange) and not self.policy.through_exchanges:
                self._closed.update(self.with_aliases(DatumPart(item.datum, item.component)))
                continue
            for use in self.uses_of(at, item):
                self.reach(item.uid, (use,))
        return {part: list(_apart(own)) for part, own in self.states.items()}

    def entry(self, part: DatumPart) -> list[AccessSection]:
        return []

    def lacks(self, place: str, use: StorageUse) -> bool:
        own = self.state(use.part)
        return not own or own[-1].side is not use.side or use.part in self._closed

    def make_right(self, place: str, use: StorageUse) -> None:
        """Begin a section, which acquires the datum at its start."""
        section = AccessSection((), use.part in self._closed)
        self.states[use.part] = [*self.state(use.part), section]
        self._closed.discard(use.part)

    def apply(self, place: str, use: StorageUse) -> None:
        own = self.states[use.part]
        own[-1] = replace(own[-1], uses=(*own[-1].uses, use))

    def uses_of(self, at: int, item: sch.Statement) -> Iterator[StorageUse]:
        """Yield the uses of the outermost statement at position `at`."""
        match item:
            case sch.HaloExchange():
                yield from self._of_halo(at, item, "its halo is exchanged")
            case sch.FillHalo():
                yield from self._of_halo(at, item, "a part of its halo is given numbers")
            case sch.Loop() | sch.DirectiveRegion():
                moved = device_calls(item) if self.policy.directives_act else ()
                there = frozenset(call.uid for call in moved)
                for loop in (item,) if isinstance(item, sch.Loop) else outer_loops(item):
                    yield from self._of_loop(at, loop, there)

    def _of_halo(
        self, at: int, item: sch.HaloExchange | sch.FillHalo, why: str
    ) -> Iterator[StorageUse]:
        key, home = DatumPart(item.datum, item.component), self.policy.home
        use = StorageUse(key, home, at, True, True, Fresh.NO, item.uid, why)
        yield from self._of_all(use)

    def _of_loop(self, at: int, outer: sch.Loop, there: frozenset[str]) -> Iterator[StorageUse]:
        written: set[DatumPart] = set()
        for loop, call in calls_in(outer):
            side = Side.DEVICE if call.uid in there else self.policy.home
            for use in self._of_call(at, side, loop, call):
                if use.part in written and _looks_around(call, use.part):
                    yield use._replace(reads=True, covered=Fresh.NO, why=_LOOKS_AROUND)
                yield use
                if use.writes:
                    written.add(use.part)

    def _of_call(
        self, at: int, side: Side, loop: sch.Loop, call: sch.KernelCall
    ) -> Iterator[StorageUse]:
        """Yield the uses of a call: first reads, then writes."""
        data = sch.data_by_name(self.schedule)
        found: list[StorageUse] = []
        for arg, (described, actual) in enumerate(zip(call.kernel.args, call.args, strict=True)):
            if described.kind not in MOVED or actual.datum is None or actual.datum not in data:
                continue
            access, covered, why = described.access, Fresh.NO, f"{call.kernel.name} reads it"
            if access is Access.WRITE:
                covered, why = _covered(loop, call, arg, self.knowledge)
            elif access.writes:
                why = f"{call.kernel.name} reads and writes it"
            for part in moved_parts(data[actual.datum], actual.component):
                key = DatumPart(actual.datum, part)
                use = StorageUse(key, side, at, access.reads, access.writes, covered, call.uid, why)
                found += self._of_all(use)
        yield from sorted(found, key=lambda use: use.writes and not use.reads)

    def _of_all(self, use: StorageUse) -> Iterator[StorageUse]:
        """Yield a use, and the corresponding uses of possible aliases."""
        yield use
        why = f"'{use.part.datum}' may be the same object, and {use.why}"
        for other in self.aliases[use.part.datum]:
            yield use._replace(part=other, covered=Fresh.NO, why=why)


def _looks_around(call: sch.KernelCall, key: DatumPart) -> bool:
    return any(
        actual.datum == key.datum and described.stencil is not None
        for described, actual in zip(call.kernel.args, call.args, strict=True)
    )


def _covered(
    loop: sch.Loop, call: sch.KernelCall, arg: int, knowledge: KernelKnowledge
) -> tuple[Fresh, str]:
    """Return whether a call overwrites an argument completely, and the reason."""
    name = call.kernel.name
    part = knowledge.rules.written_part(loop, call, arg)
    if part.all_of_it is Fresh.NO:
        return Fresh.NO, f"{name} writes {part.why}"
    if call.kernel.formula is not None:
        covers = call.kernel.formula.reduction is None
        return (part.all_of_it if covers else Fresh.NO), f"{name} writes {part.why}"
    codes = call.known_codes or knowledge.codes_of(call.kernel)
    dummies = knowledge.dummies_of(call.kernel)
    if not codes or not all(_leaves_nothing(code, dummies, call, arg) for code in codes):
        return Fresh.NO, f"{name} may leave values as they are"
    return part.all_of_it, f"{name} writes {part.why}"


def _leaves_nothing(
    code: Routine, dummies: tuple[Dummy, ...], call: sch.KernelCall, arg: int
) -> bool:
    """Return whether a subroutine writes all values of argument `arg`.

    A step may have converted bounds or constants into arguments; the roles are then unknown.
    """
    if len(dummies) != len(code.dummies):
        return False
    written = [
        name
        for name, dummy in zip(code.dummies, dummies, strict=True)
        if dummy.arg == arg and dummy.access.writes
    ]
    if call.kernel.points is not None:
        leaves_none = [writes_its_point(code, name) for name in written]
    elif call.kernel.iteration.over_dofs:
        leaves_none = [writes_once(code, name) for name in written]
    else:
        columns = _column_names(code, dummies, call.kernel.args[arg].space)
        leaves_none = [columns is not None and writes_columns(code, name, columns)
                       for name in written]  # fmt: skip
    return bool(written) and all(leaves_none)


def _column_names(code: Routine, dummies: tuple[Dummy, ...], space: str) -> ColumnNames | None:
    """Return the names of layer count, dof count and dofmap of a space in a subroutine.

    The function returns None if they are not unique, for example for a space with two dofmaps.
    """
    found = [
        [
            name
            for name, dummy in zip(code.dummies, dummies, strict=True)
            if dummy.role is role and dummy.space in ("", space)
        ]
        for role in (Role.NLAYERS, Role.NDF, Role.DOFMAP)
    ]
    if any(len(names) != 1 for names in found):
        return None
    return ColumnNames(*(names[0] for names in found))


_LOOKS_AROUND = "its neighbours are read in the loop that writes it"


def _needed(uses: tuple[StorageUse, ...]) -> tuple[Fresh, str]:
    """Return whether `uses` may read old values, and the reason from the deciding use."""
    needed = whole = Fresh.NO
    why = uses[0].why
    for use in uses:
        before = needed
        if use.reads:
            needed = needed | ~whole
        if use.writes:
            needed = needed | ~(whole | use.covered)
            whole = whole | use.covered
        if needed is not before and (needed is Fresh.YES or before is Fresh.NO):
            why = use.why
    return needed, why


# ---------------------------------------------------------------------------- places


class _Places:
    """Positions of the first computing statement and of the end of the invoke."""

    def __init__(self, items: tuple[sch.Statement, ...]) -> None:
        computing = (
            at for at, one in enumerate(items) if isinstance(one, sch.Loop | sch.DirectiveRegion)
        )
        self.computes, self.last = next(computing, len(items)), len(items)


def _ends(
    own: list[AccessSection], number: int, *, policy: sa.StoragePolicy, places: _Places
) -> tuple[int, int]:
    """Return the positions before which a section is acquired and released."""
    section = own[number]
    start, stop = section.first, section.last + 1
    later = policy.waits_apart and start > places.computes and section.covered is Fresh.NO
    if policy.at_once and number == 0 and not later:
        start = 0
    if policy.at_once and number == len(own) - 1:
        stop = places.last
    return start, stop


def _acquired(section: AccessSection, may_be: tuple[str, ...]) -> sa.AcquireData:
    users = tuple(dict.fromkeys(use.user for use in section.uses))
    return sa.AcquireData(
        *section.key, section.side, section.writes, section.covered, may_be, users, section.why
    )


def _ended(section: AccessSection, *, again: bool) -> Iterator[sa.StorageAction]:
    if section.writes:
        yield sa.TouchData(*section.key, section.side)
    yield sa.ReleaseData(*section.key, section.side, again)


def _prefetches(own: list[AccessSection]) -> Iterator[tuple[int, sa.PrefetchData]]:
    """Yield the transfers that are certain, with their start positions after the last write.

    A transfer starts early only if other statements lie between the write and the use.
    """
    for number, section in enumerate(own):
        elsewhere = partial(_is_elsewhere, section.side)
        earlier = list(takewhile(elsewhere, reversed(own[:number])))
        writer = next((one for one in earlier if one.writes), None)
        exchanged = any(one.follows_exchange for one in (section, *earlier))
        if writer is None or exchanged or section.covered is Fresh.YES:
            continue
        if writer.last + 1 < section.first:
            user = [use.user for use in writer.uses if use.writes][-1]
            yield writer.last + 1, sa.PrefetchData(*section.key, section.side, writer=user)


def _written_meanwhile(
    at: int,
    names: tuple[str, ...],
    sections: Mapping[DatumPart, list[AccessSection]],
    ends: Callable[[list[AccessSection], int], tuple[int, int]],
) -> bool:
    """Return whether data in `names` are acquired for writing at position `at`."""
    return any(
        section.writes and ends(own, number)[0] < at < ends(own, number)[1]
        for key, own in sections.items()
        if key.datum in names
        for number, section in enumerate(own)
    )


def _is_elsewhere(side: Side, section: AccessSection) -> bool:
    return section.side is not side
