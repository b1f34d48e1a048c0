"""Asynchronous halo exchanges: start an exchange early, and finish it where it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.dependence import Uses
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_by_item
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.datum_parts import DatumPart, positions_using
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Compound, HaloExchange, Phase, Schedule, Statement
from psyclone_storage.ir.walk import (
    find,
    place_in_body,
    place_near,
    replaced,
    statements,
    with_inside,
)
from psyclone_storage.transform.halos import with_halos, without_halos
from psyclone_storage.transform.legality import HalosInFlight
from psyclone_storage.transform.step import CheckedStep, StepPlace, check_present


@dataclass(frozen=True, slots=True)
class SplitExchange(CheckedStep):
    """Split a halo exchange into its start and its end, which `move` can then separate.

    Both parts are pinned, have the same depth and evaluate the same run-time test, so that either
    both happen or neither. Their names are `start(<exchange>)` and `finish(<exchange>)`, with a
    number appended if these names are used. Apply `compute-redundantly` first: the depth of a
    pinned exchange does not change.

    Rejected for statements that are not complete halo exchanges, and if the infrastructure has no
    separate start and end, such as dl_esm_inf.

    before: loop1, halo(u)@loop2, loop2
    after:  loop1, start(halo(u)@loop2), finish(halo(u)@loop2), loop2
    """

    name: ClassVar[str] = "split-exchange"

    exchange: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every exchange that is not split."""
        return iter(_whole_exchanges(schedule))

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the exchange cannot be split."""
        if problems := check_present(schedule, self.exchange):
            return problems
        found = find(schedule, self.exchange)
        if not isinstance(found, HaloExchange):
            message = f"'{self.exchange}' is not a halo exchange."
            return (Diagnostic("T004", message, place_near(schedule, self.exchange)),)
        if found.phase is not Phase.WHOLE:
            message = f"'{self.exchange}' is one end of an exchange already."
            return (Diagnostic("T030", message, place_near(schedule, self.exchange)),)
        if not rules.overlaps_exchanges():
            message = f"'{self.exchange}' cannot be split: the API exchanges in one call."
            return (Diagnostic("T032", message, place_near(schedule, self.exchange)),)
        return ()

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the exchange replaced by its start and end."""
        whole = find(schedule, self.exchange)
        assert isinstance(whole, HaloExchange)
        number = _free_number(schedule, whole.uid)
        start = replace(whole, uid=f"start({whole.uid}){number}", phase=Phase.START, pinned=True)
        finish = replace(whole, uid=f"finish({whole.uid}){number}", phase=Phase.FINISH, pinned=True)
        return replaced(schedule, whole.uid, start, finish)


@dataclass(frozen=True, slots=True)
class OverlapExchange(CheckedStep):
    """Split a halo exchange and start it as early as possible, to overlap it with loops.

    The step combines `split-exchange` and `move`: the start moves before all statements that
    neither depend on it nor access the halo being exchanged. The end stays at the position of the
    exchange.

    Rejected if `split-exchange` is, and if no loop can run between start and end.

    before: loop1, halo(u)@loop2, loop2
    after:  start(halo(u)@loop2), loop1, finish(halo(u)@loop2), loop2
    """

    name: ClassVar[str] = "overlap"

    exchange: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every exchange that is not split."""
        return SplitExchange.places(schedule)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the exchange cannot be split or started earlier."""
        if problems := SplitExchange(self.exchange).check(schedule, rules):
            return problems
        if self._started_early(schedule, rules) is None:
            message = f"No loop can run while '{self.exchange}' is under way."
            return (Diagnostic("T033", message, place_near(schedule, self.exchange)),)
        return ()

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with loops between the start and the end of the exchange."""
        return self._started_early(schedule, rules) or schedule

    def _started_early(self, schedule: Schedule, rules: Rules) -> Schedule | None:
        """Return the schedule with the earliest start, or None if no loop would run meanwhile.

        Statements do not leave a profile region; neither does the start of an exchange.
        """
        split = without_halos(SplitExchange(self.exchange).apply(schedule, rules))
        body = split.body
        uid = f"start({self.exchange}){_free_number(schedule, self.exchange)}"
        if (at := place_in_body(split, uid)) < 0:
            return None
        start = body[at]
        assert isinstance(start, HaloExchange)
        uses, halos = Uses(split), HalosInFlight(split, rules)
        busy = halos.busy({DatumPart(start.datum, start.component): start})
        shared = aliases_in(split).closure([start.datum])
        obstacles = (
            place
            for place in reversed(positions_using(split, shared))
            if place < at
            and (
                uses.dependences(passed := body[place], start)
                or (isinstance(passed, Compound) and halos.touched_by(passed, busy))
            )
        )
        for place in range(next(obstacles, -1) + 1, at):
            if isinstance(body[place], Compound):
                moved = (*body[:place], start, *body[place:at], *body[at + 1 :])
                split.versions.derive(body, moved, place, len(body) - at - 1)
                return replace(split, body=moved)
        return None


@dataclass(frozen=True, slots=True)
class UnpinExchange(CheckedStep):
    """Undo the moving or splitting of a halo exchange: the compiler plans it again.

    For a split exchange, the step removes both parts. The compiler inserts the exchange where it is
    needed, with the necessary depth, or not at all if no loop needs it.

    Rejected for statements that are not exchanges, for an exchange that no step has moved or split,
    and if a region would become empty.

    before: start(halo(u)@loop2), loop1, finish(halo(u)@loop2), loop2
    after:  loop1, halo(u)@loop2, loop2
    """

    name: ClassVar[str] = "unpin-exchange"

    exchange: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every moved exchange and every start of a split one."""
        for item in statements(schedule):
            pinned = isinstance(item, HaloExchange) and item.pinned
            if pinned and not item.uid.startswith("finish("):
                yield {"exchange": item.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the exchange cannot be unpinned."""
        if problems := check_present(schedule, self.exchange):
            return problems
        place = place_near(schedule, self.exchange)
        found = find(schedule, self.exchange)
        if not isinstance(found, HaloExchange):
            return (Diagnostic("T004", f"'{self.exchange}' is not a halo exchange.", place),)
        if not found.pinned:
            message = f"'{self.exchange}' is where the compiler has put it."
            hint = "It follows the loops by itself: change these."
            return (Diagnostic("T035", message, place, hint=hint),)
        ends = set(exchange_ends(schedule, self.exchange))
        return tuple(
            Diagnostic(
                "T035", f"Without '{self.exchange}' there is nothing in '{item.uid}'.", place
            )
            for item in statements(schedule)
            if isinstance(item, Compound) and {inner.uid for inner in item.body} <= ends
        )

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule without the exchange."""
        return without_exchange(schedule, self.exchange)


def exchange_ends(schedule: Schedule, uid: str) -> tuple[str, ...]:
    """Return the uids of both parts of a split exchange, or `uid` itself for a complete one."""
    for this, other in (("start(", "finish("), ("finish(", "start(")):
        partner = other + uid.removeprefix(this)
        if uid.startswith(this) and find(schedule, partner) is not None:
            return uid, partner
    return (uid,)


def without_exchange(schedule: Schedule, uid: str) -> Schedule:
    """Return `schedule` without the halo exchange `uid`; both parts of a split one are removed."""
    for end in exchange_ends(schedule, uid):
        schedule = replaced(schedule, end)
    return schedule


def exchanges_instead(schedule: Schedule, rules: Rules, uid: str) -> tuple[HaloExchange, ...]:
    """Return the exchanges that `schedule` would need without the exchange `uid`.

    The result is empty if no loop needs that exchange.
    """
    pinned = {item.uid for item in statements(schedule) if getattr(item, "pinned", False)}
    if uid not in pinned:
        return tuple(one for one in _planned(schedule, rules) if one.uid == uid)
    present = _planned(schedule, rules)
    bare = without_exchange(schedule, uid)
    return tuple(one for one in _planned(bare, rules) if one not in present)


def _planned(schedule: Schedule, rules: Rules) -> tuple[HaloExchange, ...]:
    """Return the exchanges that the compiler plans for `schedule`."""
    planned = statements(with_halos(schedule, rules))
    return tuple(item for item in planned if isinstance(item, HaloExchange) and not item.pinned)


def _free_number(schedule: Schedule, uid: str) -> str:
    """Return a suffix for unique names of the parts of exchange `uid`."""
    suffix, number = "", 2
    while find(schedule, f"start({uid}){suffix}") or find(schedule, f"finish({uid}){suffix}"):
        suffix, number = f"#{number}", number + 1
    return suffix


@kept_by_item
def _whole_exchanges(item: Statement) -> tuple[StepPlace, ...]:
    """Return the place of each exchange in a top-level statement that is not split."""
    return tuple(
        {"exchange": one.uid}
        for one in with_inside(item)
        if isinstance(one, HaloExchange) and one.phase is Phase.WHOLE
    )
