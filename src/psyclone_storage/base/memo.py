"""Memoisation of functions of immutable objects, by object identity.

`kept_with_first` stores a result on the object itself. `kept_lately` caches results for the last
few objects, if many versions of an object stay alive. `kept_by_version` derives the result for a
version from that of an earlier one; `kept_by_item` does so item by item. Both store results in the
`Versions` that all versions of an object share. Objects are compared by identity, because equal
records may differ in fields that comparisons ignore.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, wraps
from itertools import chain, compress, count, starmap, zip_longest
from operator import indexOf, is_, is_not
from threading import local
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, TypeVarTuple

CachedRecord = TypeVar("CachedRecord")
Others = TypeVarTuple("Others")
CachedValue = TypeVar("CachedValue")
CachedItem = TypeVar("CachedItem")
AnyItem = TypeVar("AnyItem")
CachedItem_co = TypeVar("CachedItem_co", covariant=True)

_VERSIONS = 8
_SPLICES = 32
_FEW = 16
"""The number of changed items up to which a result is modified instead of copied."""
_SMALL = 16
"""The number of items that are compared first."""
_BETWEEN = 1 << 48
"""The distance between the labels of adjacent items at first."""
_WIDER = 8
"""The factor by which the part grows in which a common item is searched for."""


class Keeper:
    """Base of slotted records on which `kept_with_first` can store results."""


class Identity:
    """A wrapper that compares an object by identity, for use as a cache key."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __hash__(self) -> int:
        return id(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.of is other.of


def kept_with_first(
    make: Callable[[CachedRecord, *Others], CachedValue],
) -> Callable[[CachedRecord, *Others], CachedValue]:
    """Return `make`, memoised by its first argument and equal further arguments.

    The first argument must be immutable and have a `__dict__`; the others must be hashable. `make`
    must depend only on its arguments. Callers must not modify results.
    """
    place = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def known(record: CachedRecord, *others: *Others) -> CachedValue:
        kept: dict[tuple[Any, ...], CachedValue] = vars(record).setdefault(place, {})
        if others not in kept:
            kept[others] = make(record, *others)
        return kept[others]

    return known


def remember(
    make: Callable[[CachedRecord], CachedValue], record: CachedRecord, made: CachedValue
) -> None:
    """Store `made` as the memoised result of `make` for `record`."""
    vars(record).setdefault(f"{make.__module__}.{make.__qualname__}", {})[()] = made


def kept_lately(make: Callable[[*Others], CachedValue]) -> Callable[[*Others], CachedValue]:
    """Return `make`, cached for the most recent argument tuples, which must be immutable."""

    @lru_cache(maxsize=_VERSIONS)
    def known(*same: Identity) -> CachedValue:
        return make(*(one.of for one in same))

    @wraps(make)
    def recent(*records: *Others) -> CachedValue:
        return known(*map(Identity, records))

    return recent


class SplicedRange(NamedTuple, Generic[CachedItem]):
    """Items `after` that replace those from `start` to `stop` of the earlier version."""

    start: int
    stop: int
    after: tuple[CachedItem, ...]


class Splice(NamedTuple, Generic[CachedItem]):
    """The difference between two versions of a tuple: its changes, in order.

    `removed` and `added` are the items in the changes. Both contain an item whose order changed.
    """

    changes: tuple[SplicedRange[CachedItem], ...]
    removed: tuple[CachedItem, ...]
    added: tuple[CachedItem, ...]

    @property
    def size(self) -> int:
        """The number of removed and added items."""
        return len(self.removed) + len(self.added)


class Versions:
    """The results of functions for the last versions of a tuple, such as the body of a schedule.

    An object and all objects that are derived from it share one. Each thread has its own results,
    because updates modify them. A copy of an object in another process begins without results.
    """

    __slots__ = ("_of_thread",)

    def __init__(self) -> None:
        self._of_thread = _ThreadResults()

    def __reduce__(self) -> tuple[type[Versions], tuple[()]]:
        return Versions, ()

    def results(self, function: Any) -> list[_VersionResult]:
        """Return the latest results of a function, latest first."""
        return self._of_thread.made.setdefault(function, [])

    def splice(self, earlier: tuple[Any, ...], later: tuple[Any, ...]) -> Splice[Any]:
        """Return the difference between two versions, which many functions request."""
        key, splices = (id(earlier), id(later)), self._of_thread.splices
        if key not in splices:
            if len(splices) == _SPLICES:
                del splices[next(iter(splices))]
            ends = self._common_ends(earlier, later)
            splices[key] = earlier, later, splice_between(earlier, later, *ends)
        return splices[key][2]

    def derive(
        self, earlier: tuple[Any, ...], later: tuple[Any, ...], start: int, stop: int
    ) -> None:
        """Record that two versions have `start` items at their beginnings, `stop` at their ends."""
        if earlier is later:
            return
        origins = self._of_thread.origins
        if len(origins) == _SPLICES:
            del origins[next(iter(origins))]
        origins.pop(id(later), None)
        origins[id(later)] = _Origin(later, earlier, start, stop)

    def _common_ends(self, earlier: tuple[Any, ...], later: tuple[Any, ...]) -> tuple[int, int]:
        """Return numbers of items that are known to be common at the beginnings and at the ends."""
        known = {id(made): ends for made, ends in self._ancestors(earlier)}
        for made, (start, stop) in self._ancestors(later):
            if id(made) in known:
                other_start, other_stop = known[id(made)]
                return min(start, other_start), min(stop, other_stop)
        return 0, 0

    def _ancestors(
        self, version: tuple[Any, ...]
    ) -> Iterator[tuple[tuple[Any, ...], tuple[int, int]]]:
        """Yield a version and those that it was derived from, with the items in common."""
        start = stop = len(version)
        yield version, (start, stop)
        for _ in range(_VERSIONS):
            origin = self._of_thread.origins.get(id(version))
            if origin is None:
                return
            version = origin.earlier
            start, stop = min(start, origin.start), min(stop, origin.stop)
            yield version, (start, stop)


class _ThreadResults(local):
    """The results of one thread, the differences between versions, and their origins."""

    def __init__(self) -> None:
        self.made: dict[Any, list[_VersionResult]] = {}
        self.splices: dict[tuple[int, int], tuple[Any, Any, Splice[Any]]] = {}
        self.origins: dict[int, _Origin] = {}


class _Origin(NamedTuple):
    """The version from which one was derived, with the numbers of items in common at both ends."""

    later: tuple[Any, ...]
    earlier: tuple[Any, ...]
    start: int
    stop: int


class _VersionResult(NamedTuple):
    """The result of a function for one version of a tuple, with its further arguments."""

    items: tuple[Any, ...]
    others: tuple[Any, ...]
    made: Any


class Versioned(Protocol[CachedItem_co]):
    """An object with a tuple of which there are several versions, as a schedule has a body."""

    @property
    def body(self) -> tuple[CachedItem_co, ...]:
        """The tuple."""

    @property
    def versions(self) -> Versions:
        """The results for this and other versions."""


VersionedTree = TypeVar("VersionedTree", bound=Versioned[Any])


def kept_by_version(
    empty: Callable[[], CachedValue],
) -> Callable[
    [Callable[[CachedValue, VersionedTree, Splice[CachedItem], *Others], CachedValue]],
    Callable[[VersionedTree, *Others], CachedValue],
]:
    """Return a decorator that memoises a function of the versions of a body.

    The function computes the result for a version from the result for an earlier one. Its arguments
    are the earlier result, the new version, the difference (`Splice`) and further arguments, which
    are compared by identity. It must depend only on these. It may modify the earlier result, so
    that a step takes time for what it changes: callers must not use a result after they have
    requested that of another version. Without an earlier version, the function updates `empty()`,
    the result for an empty body.
    """

    def decorated(
        update: Callable[[CachedValue, VersionedTree, Splice[CachedItem], *Others], CachedValue],
    ) -> Callable[[VersionedTree, *Others], CachedValue]:
        def known(tree: VersionedTree, *others: *Others) -> CachedValue:
            items, versions = tree.body, tree.versions
            results = versions.results(update)
            for earlier, used, made in results:
                if earlier is items and all(map(is_, used, others)):
                    known_result: CachedValue = made
                    return known_result
            same = [one for one in results if all(map(is_, one.others, others))]
            best, nearest = None, None
            # A version of about the same length is likely to have the fewest differences.
            for one in sorted(same, key=lambda one: abs(len(one.items) - len(items))):
                splice = versions.splice(one.items, items)
                if splice.size < (best.size if best else len(items)):
                    best, nearest = splice, one
                if best and best.size <= _FEW:
                    break
            if best is None or nearest is None:
                best, made = splice_between((), items), empty()
            elif best.size <= _FEW:
                made = nearest.made
                del results[next(at for at, one in enumerate(results) if one is nearest)]
            else:
                made = _copied(nearest.made)
            result = update(made, tree, best, *others)
            results.insert(0, _VersionResult(items, others, result))
            del results[_VERSIONS:]
            return result

        known.__wrapped__ = update  # type: ignore[attr-defined]
        return known

    return decorated


def _copied(made: CachedValue) -> CachedValue:
    """Return a result that may be modified; only results that can be have a method `copy`."""
    return made.copy() if hasattr(made, "copy") else made


class Joined(Generic[CachedItem]):
    """A tuple of results for each item of a body, and the concatenation of these tuples.

    The concatenation is the same object as long as no result changes. Otherwise, only the part from
    the first to the last changed result is concatenated again.
    """

    __slots__ = ("_stale", "_whole", "parts")

    def __init__(self) -> None:
        self.parts: list[tuple[CachedItem, ...]] = []
        self._whole: tuple[CachedItem, ...] = ()
        # The numbers of results before and after those that changed since the concatenation.
        self._stale: tuple[int, int] | None = None

    def copy(self) -> Joined[CachedItem]:
        """Return a copy that can change by itself."""
        made: Joined[CachedItem] = Joined()
        made.parts, made._whole, made._stale = self.parts.copy(), self._whole, self._stale
        return made

    def put(self, start: int, stop: int, parts: Sequence[tuple[CachedItem, ...]]) -> None:
        """Replace the results from `start` to `stop`."""
        old = self.parts[start:stop]
        pairs = zip_longest(chain.from_iterable(old), chain.from_iterable(parts))
        same = all(starmap(is_, pairs))
        ends = start, len(self.parts) - stop
        self.parts[start:stop] = parts
        if same and (self._stale is None or [*map(len, old)] == [*map(len, parts)]):
            return
        earlier = self._stale or ends
        self._stale = min(earlier[0], ends[0]), min(earlier[1], ends[1])

    def update(
        self,
        splice: Splice[AnyItem],
        make: Callable[[AnyItem], tuple[CachedItem, ...]],
    ) -> list[tuple[CachedItem, ...]]:
        """Put results of `make` for added items; return the results of removed items."""
        removed: list[tuple[CachedItem, ...]] = []
        for change in reversed(splice.changes):
            removed += self.parts[change.start : change.stop]
            self.put(change.start, change.stop, list(map(make, change.after)))
        return removed

    def whole(self, versions: Versions | None = None) -> tuple[CachedItem, ...]:
        """Return the concatenation; if it is a version of a body, record its origin."""
        if self._stale:
            start, stop = self._stale[0], len(self.parts) - self._stale[1]
            earlier = self._whole
            head = sum(map(len, self.parts[:start]))
            tail = sum(map(len, self.parts[stop:]))
            middle = chain.from_iterable(self.parts[start:stop])
            self._whole = (*earlier[:head], *middle, *earlier[len(earlier) - tail :])
            self._stale = None
            if versions:
                versions.derive(earlier, self._whole, head, tail)
        return self._whole


def kept_by_item(
    make: Callable[[CachedItem, *Others], tuple[CachedValue, ...]],
) -> Callable[[Versioned[CachedItem], *Others], tuple[CachedValue, ...]]:
    """Return a memoised function that concatenates the results of `make` for the items of a body.

    Results are reused for items in common with a recent version of the body. If none differs, the
    result is the same tuple.
    """

    def update(
        known: Joined[CachedValue],
        _: Versioned[CachedItem],
        splice: Splice[CachedItem],
        *others: *Others,
    ) -> Joined[CachedValue]:
        known.update(splice, lambda item: make(item, *others))
        return known

    joined = kept_by_version(Joined[CachedValue])(update)

    def known(tree: Versioned[CachedItem], *others: *Others) -> tuple[CachedValue, ...]:
        return joined(tree, *others).whole()

    return known


class Positions:
    """The positions of the items of a tuple, which changes of the tuple update.

    Labels increase along the tuple. A new item gets one between those of its neighbours, and a
    binary search of the labels finds the position of an item.
    """

    __slots__ = ("_label_of", "_labels", "_repeated")

    def __init__(self) -> None:
        self._labels: list[int] = []
        self._label_of: dict[int, int] = {}
        # The identities of items that a version contains twice. They are searched for.
        self._repeated: set[int] = set()

    def copy(self) -> Positions:
        """Return a copy that can change by itself."""
        made = Positions()
        made._labels, made._label_of, made._repeated = (
            self._labels.copy(),
            self._label_of.copy(),
            self._repeated.copy(),
        )
        return made

    def update(self, splice: Splice[Any]) -> None:
        """Follow a change of the tuple."""
        for item in splice.removed:
            self._label_of.pop(id(item), None)
        for change in reversed(splice.changes):
            self._put(change)

    def _put(self, change: SplicedRange[Any]) -> None:
        start, stop, after = change
        below = self._labels[start - 1] if start else 0
        space = len(after) + 1
        end = stop == len(self._labels)
        step = _BETWEEN if end else (self._labels[stop] - below) // space
        labels = range(below + step, below + space * step, step or 1)
        if len(labels) < len(after):
            self._spread()
            self._put(change)
            return
        self._labels[start:stop] = labels
        for key, label in zip(map(id, after), labels, strict=True):
            if key in self._label_of or key in self._repeated:
                self._label_of.pop(key, None)
                self._repeated.add(key)
            else:
                self._label_of[key] = label

    def _spread(self) -> None:
        """Give all items labels at equal distances."""
        labels = range(_BETWEEN, (len(self._labels) + 1) * _BETWEEN, _BETWEEN)
        later = dict(zip(self._labels, labels, strict=True))
        self._labels = list(labels)
        self._label_of = {item: later[label] for item, label in self._label_of.items()}

    def of(self, item: object, body: tuple[Any, ...]) -> int:
        """Return the position of an item of the tuple `body`."""
        label = self._label_of.get(id(item))
        return (
            indexOf(map(id, body), id(item)) if label is None else bisect_left(self._labels, label)
        )


def without_one(items: tuple[CachedItem, ...], item: CachedItem) -> tuple[CachedItem, ...]:
    """Return `items` without one occurrence of an item that they contain."""
    at = indexOf(map(id, items), id(item))
    return (*items[:at], *items[at + 1 :])


def splice_between(
    earlier: tuple[CachedItem, ...], later: tuple[CachedItem, ...], first: int = 0, last: int = 0
) -> Splice[CachedItem]:
    """Return the difference between two versions of a tuple.

    The `first` items and the `last` ones are known to be common.
    """
    start, same = common_ends(earlier, later, first, last)
    at, stop, end = start, len(earlier) - same, len(later) - same
    changes: list[SplicedRange[CachedItem]] = []
    while start < stop or at < end:
        skipped, added = _next_common(earlier, later, range(start, stop), range(at, end))
        changes.append(SplicedRange(start, start + skipped, later[at : at + added]))
        start, at = start + skipped, at + added
        same = _common_run(earlier, later, range(start, stop), range(at, end))
        start, at = start + same, at + same
    removed = chain.from_iterable(earlier[one.start : one.stop] for one in changes)
    made = chain.from_iterable(one.after for one in changes)
    return Splice(tuple(changes), tuple(removed), tuple(made))


def common_ends(
    earlier: tuple[CachedItem, ...], later: tuple[CachedItem, ...], first: int = 0, last: int = 0
) -> tuple[int, int]:
    """Return the numbers of common items at the beginnings and at the ends.

    They are at least `first` and `last`, and count no item twice.
    """
    shorter = min(len(earlier), len(later)) - last
    places = range(first, shorter)
    start = first + _common_run(earlier, later, places, places)
    olds, news = (
        range(len(items) - last - 1, len(items) - 1 - last - (shorter - start), -1)
        for items in (earlier, later)
    )
    return start, last + _common_run(earlier, later, olds, news)


def _items_at(items: tuple[CachedItem, ...], places: range) -> tuple[CachedItem, ...]:
    """Return the items at consecutive places, which ascend or descend."""
    if places.step > 0:
        return items[places.start : places.stop]
    return items[places.stop + 1 : places.start + 1][::-1]


def _common_run(
    earlier: tuple[CachedItem, ...], later: tuple[CachedItem, ...], olds: range, news: range
) -> int:
    """Return the number of items with which both ranges begin, in time proportional to it.

    Both ranges ascend, or both descend.
    """
    found, size = 0, _SMALL
    shorter = min(len(olds), len(news))
    while found < shorter:
        size = min(size, shorter - found)
        old, new = (
            _items_at(items, places[found : found + size])
            for items, places in ((earlier, olds), (later, news))
        )
        same = min(next(compress(count(), map(is_not, old, new)), size), size)
        found += same
        if same < size:
            break
        size *= _WIDER
    return found


def _next_common(
    earlier: tuple[CachedItem, ...], later: tuple[CachedItem, ...], olds: range, news: range
) -> tuple[int, int]:
    """Return how far an item of both tuples is from the start of both ranges, or their lengths.

    Common items are usually close to the start of both, so that a wider part is searched only if a
    narrow one has none.
    """
    size = _SMALL
    while True:
        old, new = (
            items[places.start : min(places.start + size, places.stop)]
            for items, places in ((earlier, olds), (later, news))
        )
        places = dict(zip(map(id, reversed(new)), count(1 - len(new))))
        for at, item in enumerate(old):
            if id(item) in places:
                return at, -places[id(item)]
        if size >= max(len(olds), len(news)):
            return len(olds), len(news)
        size *= _WIDER
