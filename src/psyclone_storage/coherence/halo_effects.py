"""Effects of loops on the halos of fields, for each field component.

The needs and results of all calls of a loop, according to the rules of the domain, are merged into
one `HaloEffect` per component. This module does not track state between loops.
"""

from __future__ import annotations

from functools import lru_cache

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.memo import Identity, kept_with_first, remember
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.datum_parts import DatumPart, passed_parts
from psyclone_storage.ir.kernel import Access, ArgKind
from psyclone_storage.ir.region import NOTHING, Depth, deepest
from psyclone_storage.ir.rules import HaloLeft, HaloNeed, Rules
from psyclone_storage.ir.schedule import Datum, Loop, Schedule, data_by_name
from psyclone_storage.ir.walk import calls_in

_SETTINGS = 8
"""Settings that are in use at once: programs, rules and flags."""


@dataclass(frozen=True, slots=True)
class HaloEffect:
    """Effect of an outermost loop on one component.

    `need` is the state required before the loop, by the call `reader`. `left` is the state after
    the loop, by the call `writer`. Either may be None. `reads` is true if a call reads a value from
    before the loop.
    """

    part: DatumPart
    need: HaloNeed | None = None
    reader: str = ""
    left: HaloLeft | None = None
    writer: str = ""
    reads: bool = True


@dataclass(slots=True)
class _Gathered:
    """Accumulated effect on one component while the calls of a loop are processed.

    With `fully`, `left` was written without reading old values, so later calls of the same
    iteration read values of this loop. `effect` is the result, once requested.
    """

    need: HaloNeed | None = None
    reader: str = ""
    left: HaloLeft | None = None
    writer: str = ""
    fully: bool = False
    reads: bool = False
    effect: HaloEffect | None = None


_ByPart = dict[DatumPart, _Gathered]


def halo_effects_of(
    schedule: Schedule, loop: Loop, rules: Rules, data: dict[str, Datum]
) -> tuple[HaloEffect, ...]:
    """Return the effects of `loop` on the fields that it accesses."""
    return _effects_in(_with_calls({}, schedule, loop, rules, data))


def _with_calls(
    gathered: _ByPart, schedule: Schedule, loop: Loop, rules: Rules, data: dict[str, Datum]
) -> _ByPart:
    """Return `gathered` with the effects of the calls of `loop` added."""
    for around, call in calls_in(loop):
        for at, described in enumerate(call.kernel.args):
            if described.kind is not ArgKind.FIELD:
                continue
            need = left = None
            if described.access.reads:
                need = rules.halo_need(schedule, around, call, at)
                need = need if schedule.fills else replace(need, filled=None)
                need = need if need.anything else None
            if described.access.writes:
                left = rules.halo_left(schedule, around, call, at)
            for key in passed_parts(call.args[at], data):
                entry = gathered.setdefault(key, _Gathered())
                entry.reads = entry.reads or (described.access.reads and not entry.fully)
                in_place = described.stencil is None
                if need is not None and not (in_place and _just_written(entry, need)):
                    _add_need(entry, need, call.uid)
                if left is not None:
                    _add_left(entry, left, call.uid, described.access is Access.WRITE)
    return gathered


def _effects_in(gathered: _ByPart) -> tuple[HaloEffect, ...]:
    for key, entry in gathered.items():
        if entry.effect is None:
            entry.effect = HaloEffect(
                key, entry.need, entry.reader, entry.left, entry.writer, entry.reads
            )
    effects = (entry.effect for entry in gathered.values() if entry.effect is not None)
    return tuple(
        one for one in effects if one.need is not None or one.left is not None or one.reads
    )


class HaloEffects:
    """Halo effects of the loops of a schedule and its later versions, cached on each loop."""

    def __init__(self, schedule: Schedule, rules: Rules) -> None:
        flags = (schedule.distributed, schedule.annexed_clean, schedule.fills)
        identities = map(Identity, (rules, schedule.data, schedule.imported))
        self._setting = _setting(*identities, flags)

    def of(self, loop: Loop, filled: Depth) -> tuple[HaloEffect, ...]:
        """Return the effects of `loop` if it fills the halo to depth `filled`."""
        return _effects(loop, self._setting, filled)

    def parts(self, loop: Loop) -> frozenset[DatumPart]:
        """Return the parts of the data that `loop` accesses."""
        return _parts(loop, self._setting)

    def kept_parts(self, old: Loop, new: Loop) -> frozenset[DatumPart]:
        """Return parts on which `new` has the effects of `old`; none unless it only has more calls.

        Only the effects of the additional calls are computed. A recipe that fuses many loops, one
        after the other, thus takes time for what each step adds.
        """
        length, setting = len(old.body), self._setting
        longer = replace(new, body=old.body, asserted=old.asserted) == old
        if old.filled.terms or not longer or old.body != new.body[:length]:
            return frozenset()
        added = replace(new, body=new.body[length:])
        gathered, found = dict(_gathered(old, setting)), _parts(added, setting)
        for part in found & gathered.keys():
            gathered[part] = replace(gathered[part], effect=None)
        made = _with_calls(gathered, setting.schedule, added, setting.rules, setting.data)
        remember(_gathered, new, made, setting)
        return self.parts(old) - found


class _Setting:
    """The rules and data on which the effects of loops depend."""

    __slots__ = ("data", "rules", "schedule")

    def __init__(self, rules: Rules, schedule: Schedule) -> None:
        self.rules = rules
        self.schedule = schedule
        self.data = data_by_name(schedule)


@lru_cache(maxsize=_SETTINGS)
def _setting(
    rules: Identity, data: Identity, imported: Identity, flags: tuple[bool, bool, bool]
) -> _Setting:
    """Return the shared setting of all schedule versions with these data and flags."""
    distributed, annexed_clean, fills = flags
    bare = Schedule("", data.of, (), distributed, annexed_clean, imported.of, fills)
    return _Setting(rules.of, bare)


@kept_with_first
def _effects(loop: Loop, setting: _Setting, filled: Depth) -> tuple[HaloEffect, ...]:
    if loop.filled == filled:
        return _effects_in(_gathered(loop, setting))
    filling = replace(loop, filled=filled)
    return halo_effects_of(setting.schedule, filling, setting.rules, setting.data)


@kept_with_first
def _gathered(loop: Loop, setting: _Setting) -> _ByPart:
    """Return the effects of a loop, which must not be modified."""
    return _with_calls({}, setting.schedule, loop, setting.rules, setting.data)


@kept_with_first
def _parts(loop: Loop, setting: _Setting) -> frozenset[DatumPart]:
    return frozenset(effect.part for effect in _effects(loop, setting, NOTHING))


def _just_written(entry: _Gathered, need: HaloNeed) -> bool:
    """Return whether an earlier call of the same iteration wrote all values that are read."""
    left = entry.left
    if left is None or not entry.fully:
        return False
    touched = need.depth if need.filled is None else need.depth.max(need.filled)
    annexed = not (need.annexed or need.filled is not None) or left.annexed is Fresh.YES
    return annexed and left.clean.covers(touched) is Fresh.YES


def _add_need(entry: _Gathered, need: HaloNeed, reader: str) -> None:
    old = entry.need
    if old is None:
        entry.need, entry.reader = need, reader
        return
    if old.depth.covers(need.depth) is not Fresh.YES:
        entry.reader = reader
    entry.need = union_of_needs(old, need)


def union_of_needs(first: HaloNeed, second: HaloNeed) -> HaloNeed:
    """Return the union of two needs, with the reason of the deeper one."""
    if first.depth.covers(second.depth) is Fresh.YES:
        deep, other = first, second
    else:
        deep, other = second, first
    if deep == other:
        return deep
    depth = deep.depth.max(other.depth)
    carried = deep.carried and other.carried
    touched = [need.filled for need in (first, second) if need.filled is not None]
    filled = deepest(touched) if touched else None
    return HaloNeed(depth, deep.annexed or other.annexed, deep.why, carried, filled)


def _add_left(entry: _Gathered, left: HaloLeft, writer: str, fully: bool) -> None:
    entry.left = left if entry.left is None else _worse(entry.left, left)
    entry.writer = writer
    entry.fully = fully


def _worse(first: HaloLeft, second: HaloLeft) -> HaloLeft:
    """Return the state that certainly holds after both writes of an iteration, in any order."""
    if first == second:
        return first
    if first.clean.covers(second.clean) is Fresh.YES:
        shallow, other = second, first
    elif second.clean.covers(first.clean) is Fresh.YES:
        shallow, other = first, second
    else:
        shallow, other = HaloLeft(NOTHING, second.annexed, second.why), first
    keeps = shallow.keeps_beyond and other.keeps_beyond
    return HaloLeft(shallow.clean, shallow.annexed & other.annexed, shallow.why, keeps)
