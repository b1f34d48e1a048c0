"""Which marks tell the run-time flags of halos something that somebody comes to hear.

`coherence.halos` plans a mark wherever a loop leaves the flags behind. Nobody hears of it if the
flags are set to the same, with the mark or without it, before anyone asks: a field that is written
and then exchanged in any case is an example. Asking are guards, joint exchanges, what comes after
the schedule, and all that happens to what may be the same object under another name.

The flags of one component are followed through a schedule as the larger of a depth and of what they
were at some time before, which nobody needs to know.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.datum_parts import DatumPart, alias_parts
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import HaloExchange, MarkHalo, Phase, Schedule
from psyclone_storage.ir.walk import in_sequence

_DIRTY = ""
_ENTRY = "entry"


@dataclass(frozen=True, slots=True)
class _Flags:
    """The flags call clean what is within `depth`, and what they called clean at the time `since`.

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
    """Return what is left of each mark that is not all needed, by uid; None for nothing.

    The promise: guards, joint exchanges and later invokes find the flags as they would have been.
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
                for less in _lesser(item):
                    if _comes_to_the_same(after, flags.after(less), key, items[place + 1 :]):
                        changed[item.uid] = less
                        after = flags.after(less)
                        break
            flags = after
    return changed


def _by_key(schedule: Schedule) -> dict[DatumPart, list[MarkHalo | HaloExchange]]:
    """Return the statements about each component, and about what may be the same object."""
    aliases = alias_parts(schedule)
    found: dict[DatumPart, list[MarkHalo | HaloExchange]] = defaultdict(list)
    for item in in_sequence(schedule):
        if isinstance(item, MarkHalo | HaloExchange):
            for key in (DatumPart(item.datum, item.component), *aliases[item.datum]):
                found[key].append(item)
    return found


def _lesser(mark: MarkHalo) -> Iterator[MarkHalo | None]:
    """Yield what may be left of a mark: nothing, or one of its parts."""
    yield None
    if mark.dirty and mark.clean.terms:
        yield replace(mark, clean=NOTHING)
        yield replace(mark, dirty=False)


def _comes_to_the_same(
    one: _Flags, other: _Flags, key: DatumPart, later: Sequence[MarkHalo | HaloExchange]
) -> bool:
    """Return whether flags that may differ are the same before anyone asks them."""
    for item in later:
        if one == other:
            return True
        if DatumPart(item.datum, item.component) != key or _asks(item):
            return False
        one, other = one.after(item), other.after(item)
    return one == other


def _asks(item: MarkHalo | HaloExchange) -> bool:
    return isinstance(item, HaloExchange) and (item.guarded or bool(item.joint))
