"""Elimination of dead updates of the run-time halo flags.

`halos` plans an update (`MarkHalo`) after each loop that changes the state of a halo. An update is
dead if no reader can observe it, for example if the field is exchanged unconditionally afterwards.
Readers are guards, joint exchanges, later invokes, and all statements on possible aliases.

The flags of a component are represented symbolically: the maximum of a depth and of the flags at an
earlier time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.datum_parts import DatumPart, alias_parts
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import HaloExchange, MarkHalo, Phase, Schedule
from psyclone_storage.ir.walk import sequential_statements

_DIRTY = ""
_ENTRY = "entry"


@dataclass(frozen=True, slots=True)
class _Flags:
    """Symbolic flags: the levels in `depth` and those that were clean at time `since` are clean.

    If `since` is `_DIRTY`, only those in `depth` are clean.
    """

    depth: Depth
    since: str

    def after(self, item: MarkHalo | HaloExchange | None) -> _Flags:
        """Return the flags after a statement on this component."""
        match item:
            case MarkHalo(dirty=True, clean=clean):
                return _Flags(clean, _DIRTY)
            case MarkHalo(clean=clean):
                return self._grown(clean)
            case HaloExchange(phase=Phase.WHOLE | Phase.FINISH, depth=depth):
                return self._grown(depth)
        return self

    def _grown(self, depth: Depth) -> _Flags:
        return _Flags(self.depth.max(depth), self.since)


def plan_dirty_flags(schedule: Schedule) -> dict[str, MarkHalo | None]:
    """Return the changed flag updates by uid: the part that is needed, or None if dead.

    Guards, joint exchanges and later invokes read the same flags as before.
    """
    changed: dict[str, MarkHalo | None] = {}
    for key, items in _by_key(schedule).items():
        flags = _Flags(NOTHING, _ENTRY)
        for place, item in enumerate(items):
            if DatumPart(item.datum, item.component) != key:
                flags = _Flags(NOTHING, item.uid)
                continue
            after = flags.after(item)
            if isinstance(item, MarkHalo):
                for less in _reduced(item):
                    if _are_equal_when_read(after, flags.after(less), key, items[place + 1 :]):
                        changed[item.uid] = less
                        after = flags.after(less)
                        break
            flags = after
    return changed


def _by_key(schedule: Schedule) -> dict[DatumPart, list[MarkHalo | HaloExchange]]:
    """Return the statements on each part or on a possible alias of it."""
    aliases = alias_parts(schedule)
    found: dict[DatumPart, list[MarkHalo | HaloExchange]] = defaultdict(list)
    for item in sequential_statements(schedule):
        if isinstance(item, MarkHalo | HaloExchange):
            for key in (DatumPart(item.datum, item.component), *aliases[item.datum]):
                found[key].append(item)
    return found


def _reduced(mark: MarkHalo) -> Iterator[MarkHalo | None]:
    """Yield possible reductions of an update: None, then each of its two parts."""
    yield None
    if mark.dirty and mark.clean.terms:
        yield replace(mark, clean=NOTHING)
        yield replace(mark, dirty=False)


def _are_equal_when_read(
    one: _Flags, other: _Flags, key: DatumPart, later: Sequence[MarkHalo | HaloExchange]
) -> bool:
    """Return whether two flag states become equal before a statement reads them."""
    for item in later:
        if one == other:
            return True
        if DatumPart(item.datum, item.component) != key or _reads_flags(item):
            return False
        one, other = one.after(item), other.after(item)
    return one == other


def _reads_flags(item: MarkHalo | HaloExchange) -> bool:
    return isinstance(item, HaloExchange) and (item.guarded or bool(item.joint))
