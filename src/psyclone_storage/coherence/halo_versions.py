"""Incremental halo planning: only data that a step affects are planned again.

The plan for a part of the data depends on the loops that access it and on its possible aliases. The
plan of a changed schedule therefore equals the previous plan, except for the parts that replaced
statements access. `tests/properties` compares it with complete plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter, is_

from psyclone_storage.base.records import dataclass, field, same_in_all_fields
from psyclone_storage.base.splices import Splice
from psyclone_storage.coherence.halo_effects import HaloEffects
from psyclone_storage.coherence.halo_init import Wanted, depth_to_fill, wanted_levels
from psyclone_storage.coherence.halos import plan_parts
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart, alias_parts
from psyclone_storage.ir.insertion import END, Insertion
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import find, item_with, position_in, sequential_statements

Planned = sch.HaloExchange | sch.FillHalo | sch.MarkHalo
"""A statement that a plan inserts for one part of the data."""

_ByPart = Mapping[DatumPart, Insertion[Planned]]


@dataclass(frozen=True, slots=True)
class PlanByPlace:
    """The plan of one schedule version, by statement uid.

    `exchanges` and `fills` precede a statement or the end; `marks` follow it; `computed` are the
    halo levels that it fills. `changed` are the statements whose plan may differ from that of the
    previous version. The other fields are used for the next version: the statements that access
    each part, and the `wanted` levels after loops.
    """

    exchanges: Mapping[str, _ByPart] = field(default_factory=dict)
    fills: Mapping[str, _ByPart] = field(default_factory=dict)
    marks: Mapping[str, _ByPart] = field(default_factory=dict)
    computed: Mapping[str, Depth] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    touching: Mapping[DatumPart, frozenset[str]] = field(default_factory=dict)
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    without_annexed: frozenset[str] = frozenset()

    def before(self, place: str) -> list[Insertion[Planned]]:
        """Return the insertions before a statement or the end: exchanges, then fills."""
        found = (self.exchanges.get(place, {}), self.fills.get(place, {}))
        return [one for by_part in found for one in by_part.values()]

    def after(self, place: str) -> list[Planned]:
        """Return the flag updates to insert after a statement."""
        return [one.statement for one in self.marks.get(place, {}).values()]


def updated_plan(
    known: PlanByPlace, schedule: sch.Schedule, splice: Splice[sch.Statement], rules: Rules
) -> PlanByPlace:
    """Return the plan of `schedule`, given that of a version that differs by `splice`.

    An empty plan belongs to a schedule without statements. Neither version contains derived
    statements.
    """
    return _Update(known, schedule, splice, rules).made()


class _Update:
    """Derives a plan from that of an earlier version."""

    def __init__(
        self,
        known: PlanByPlace,
        schedule: sch.Schedule,
        splice: Splice[sch.Statement],
        rules: Rules,
    ) -> None:
        self._known = known
        self._schedule = schedule
        self._rules = rules
        self._effects = HaloEffects(schedule, rules)
        self._splice = splice
        self._aliases = alias_parts(schedule)
        self._removed = [one for item in splice.removed for one in _planned_in(item)]
        self._added = [one for item in splice.added for one in _planned_in(item)]
        self._touching = dict(known.touching)
        self._without_annexed = rules.without_annexed(schedule)

    def made(self) -> PlanByPlace:
        """Return the new plan."""
        known = self._known
        parts = self._with_aliases(self._touched())
        wanted, computed = self._computed(parts)
        differ = {
            part
            for item in self._statements_of(parts)
            if known.computed.get(item.uid) != computed.get(item.uid)
            for part in self._parts_of(item)
        }
        parts = self._with_aliases(parts | differ)
        items = self._statements_of(parts)
        plan = plan_parts(self._schedule, self._rules, computed, items, parts)
        before = (known.touching.get(part, frozenset()) for part in parts)
        places = frozenset((END, *map(_UID, items))).union(*before)
        changed = {at for at in places if known.computed.get(at) != computed.get(at)}

        def merged(
            old: Mapping[str, _ByPart], new: Iterable[tuple[str, Planned, str]]
        ) -> dict[str, _ByPart]:
            made = self._merged(old, new, places, parts)
            changed.update(at for at in places if _differ(old.get(at, {}), made.get(at, {})))
            return made

        marks = ((at, one, "") for at, marks in plan.marks.items() for one in marks)
        inserted = (
            merged(known.exchanges, plan.exchanges),
            merged(known.fills, plan.fills),
            merged(known.marks, marks),
        )
        return PlanByPlace(
            *inserted,
            computed,
            frozenset(changed),
            self._touching,
            wanted,
            self._without_annexed,
        )

    def _touched(self) -> set[DatumPart]:
        """Return the parts that changed statements access, or whose rules changed."""
        found: set[DatumPart] = set()
        kept = self._kept_parts()
        for item in self._removed:
            for part in self._parts_of(item) - kept.get(item.uid, frozenset()):
                self._touching[part] -= {item.uid}
                found.add(part)
        for item in self._added:
            for part in self._parts_of(item) - kept.get(item.uid, frozenset()):
                self._touching[part] = self._touching.get(part, frozenset()) | {item.uid}
                found.add(part)
        if self._rules.keeps_annexed_clean(self._schedule):
            return set(self._touching)
        differ = self._without_annexed ^ self._known.without_annexed
        if differ:
            found.update(part for part in self._touching if part.datum in differ)
        return found

    def _kept_parts(self) -> dict[str, frozenset[DatumPart]]:
        """Return the parts on which a loop that was extended has the same effects as before.

        The keys are uids. Fusion changes one place, at which the loop remains the first statement.
        Loops that may fill halo levels are excluded, because that depends on all their effects.
        """
        changes, removed, added = self._splice
        if len(changes) != 1 or not removed or not added:
            return {}
        old, new = removed[0], added[0]
        if not (isinstance(old, sch.Loop) and isinstance(new, sch.Loop) and old.uid == new.uid):
            return {}
        if self._rules.may_fill(old) or self._rules.may_fill(new):
            return {}
        return {new.uid: self._effects.kept_parts(old, new)}

    def _parts_of(self, item: sch.Statement) -> frozenset[DatumPart]:
        if isinstance(item, sch.Loop):
            return self._effects.parts(item)
        assert isinstance(item, sch.HaloExchange)
        return frozenset([DatumPart(item.datum, item.component)])

    def _with_aliases(self, parts: set[DatumPart]) -> set[DatumPart]:
        """Return `parts` with all direct and indirect aliases."""
        found, waiting = set(parts), list(parts)
        while waiting:
            others = set(self._aliases[waiting.pop().datum]) - found
            found |= others
            waiting += others
        return found

    def _statements_of(self, parts: Iterable[DatumPart]) -> list[sch.Statement]:
        """Return the statements that access some of `parts`, in order."""
        uids = frozenset().union(*(self._touching.get(part, ()) for part in parts))
        found = {position_in(self._schedule, one): one for one in map(self._item_with, uids)}
        return [one for at in sorted(found) for one in _planned_in(found[at]) if one.uid in uids]

    def _item_with(self, uid: str) -> sch.Statement:
        """Return the statement of the body that is or contains one that the plan is about."""
        item = item_with(self._schedule, uid)
        assert item is not None
        return item

    def _computed(self, parts: set[DatumPart]) -> tuple[dict[str, Wanted], dict[str, Depth]]:
        """Return the levels wanted after loops, and the levels that loops compute."""
        items = self._statements_of(parts)
        wanted, computed = dict(self._known.wanted), dict(self._known.computed)
        for item in self._removed:
            wanted.pop(item.uid, None)
            computed.pop(item.uid, None)
        found = wanted_levels(items, self._rules, self._effects, parts)
        for uid, levels in found.items():
            others = wanted.get(uid, {}).items()
            wanted[uid] = {part: depth for part, depth in others if part not in parts} | levels
            loop = find(self._schedule, uid)
            assert isinstance(loop, sch.Loop)
            computed[uid] = depth_to_fill(loop, self._effects, wanted[uid])
            if not computed[uid].terms:
                del computed[uid]
        return wanted, computed

    def _merged(
        self,
        old: Mapping[str, _ByPart],
        new: Iterable[tuple[str, Planned, str]],
        changed: Iterable[str],
        parts: set[DatumPart],
    ) -> dict[str, _ByPart]:
        """Return the insertions of both plans: new ones for `parts` at the places `changed`.

        An insertion that is the same in all fields remains the same object.
        """
        made: dict[str, dict[DatumPart, Insertion[Planned]]] = {place: {} for place in changed}
        for place, found in made.items():
            kept = old.get(place, {}).items()
            found.update((part, one) for part, one in kept if part not in parts)
        for place, one, after in new:
            part = DatumPart(one.datum, one.component)
            made[place][part] = _kept(old.get(place, {}).get(part), Insertion(place, one, after))
        merged = dict(old)
        for place, found in made.items():
            if not found:
                merged.pop(place, None)
                continue
            merged[place] = found
            loop = find(self._schedule, place) if len(found) > 1 else None
            if isinstance(loop, sch.Loop):
                order = (effect.part for effect in self._effects.of(loop, NOTHING))
                merged[place] = {part: found[part] for part in order if part in found}
        return merged


_UID = attrgetter("uid")


def _kept(old: Insertion[Planned] | None, new: Insertion[Planned]) -> Insertion[Planned]:
    """Return the old insertion if it is the same in all fields, otherwise the new one."""
    return old if old and same_in_all_fields(old, new) else new


def _differ(old: _ByPart, new: _ByPart) -> bool:
    """Return whether two places have other insertions, or in another order."""
    return len(old) != len(new) or not all(map(is_, old.values(), new.values()))


def _planned_in(item: sch.Statement) -> tuple[sch.Statement, ...]:
    """Return the loops and pinned exchanges in a statement, in execution order."""
    inside = (
        sequential_statements(item)
        if isinstance(item, sch.DirectiveRegion | sch.ProfileRegion)
        else (item,)
    )
    return tuple(
        one
        for one in inside
        if isinstance(one, sch.Loop) or (isinstance(one, sch.HaloExchange) and one.pinned)
    )
