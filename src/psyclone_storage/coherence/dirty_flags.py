"""Dead updates of the run-time halo flags.

`halos` plans an update (`MarkHalo`) wherever the flags would be wrong after a loop. An update is
dead if the flags have the same value, with or without it, before anything reads them; for example
if a field is written and then exchanged unconditionally. Guards and joint exchanges read flags, and
so do later invokes, and everything that happens to a possible alias.

The flags of one component are the larger of a depth and of what they were at an earlier time.
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
    """The flags call clean the levels in `depth`, and what they called clean at the time `since`.

    They call nothing else clean if `since` is `_DIRTY`.
    """

    depth: Depth
    since: str

    def after(self, item: MarkHalo | HaloExchange | None) -> _Flags:
        """Return the flags after a statement about this component."""
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
    """Return the live part of each flag update that is not all needed, by uid; None for nothing.

    Guards, joint exchanges and later invokes find the flags as they would have been.
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
    """Return the statements on each part, and on what may be the same object."""
    aliases = alias_parts(schedule)
    found: dict[DatumPart, list[MarkHalo | HaloExchange]] = defaultdict(list)
    for item in sequential_statements(schedule):
        if isinstance(item, MarkHalo | HaloExchange):
            for key in (DatumPart(item.datum, item.component), *aliases[item.datum]):
                found[key].append(item)
    return found


def _reduced(mark: MarkHalo) -> Iterator[MarkHalo | None]:
    """Yield what may be left of an update: nothing, or one of its parts."""
    yield None
    if mark.dirty and mark.clean.terms:
        yield replace(mark, clean=NOTHING)
        yield replace(mark, dirty=False)


def _are_equal_when_read(
    one: _Flags, other: _Flags, key: DatumPart, later: Sequence[MarkHalo | HaloExchange]
) -> bool:
    """Return whether flags that may differ are the same before anything reads them."""
    for item in later:
        if one == other:
            return True
        if DatumPart(item.datum, item.component) != key or _reads_flags(item):
            return False
        one, other = one.after(item), other.after(item)
    return one == other


def _reads_flags(item: MarkHalo | HaloExchange) -> bool:
    return isinstance(item, HaloExchange) and (item.guarded or bool(item.joint))
