"""Memoisation of functions of immutable objects, by object identity.

`kept_with_first` stores a result on the object itself. `kept_lately` caches results for the last
few objects, if many versions of an object stay alive. `kept_by_version` derives the result for a
version from that of an earlier one; `kept_by_item` does so item by item. Both store results in the
`Versions` that all versions of an object share. Objects are compared by identity, because equal
records may differ in fields that comparisons ignore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from itertools import chain, compress, count
from operator import is_, is_not
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, TypeVarTuple

CachedRecord = TypeVar("CachedRecord")
Others = TypeVarTuple("Others")
CachedValue = TypeVar("CachedValue")
CachedItem = TypeVar("CachedItem")
CachedItem_co = TypeVar("CachedItem_co", covariant=True)

_VERSIONS = 8
_SPLICES = 32
_SMALL = 16
"""The number of changed items with which no more similar version is searched for."""
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

    def replaced(self, known: tuple[CachedValue, ...]) -> tuple[CachedValue, ...]:
        """Return the results of removed items, given one for each item of the earlier version."""
        return tuple(chain.from_iterable(known[one.start : one.stop] for one in self.changes))

    def updated(
        self, known: tuple[CachedValue, ...], make: Callable[[CachedItem], CachedValue]
    ) -> tuple[CachedValue, ...]:
        """Return one result for each item of the later version.

        Results of common items come from `known`; `make` computes the others.
        """
        made: list[CachedValue] = []
        end = 0
        for change in self.changes:
            made += known[end : change.start]
            made += map(make, change.after)
            end = change.stop
        return (*made, *known[end:])


class Versions:
    """The results of functions for the last versions of a tuple, such as the body of a schedule.

    An object and all objects that are derived from it share one. A copy of an object in another
    process begins without results.
    """

    __slots__ = ("_made", "_splices")

    def __init__(self) -> None:
        self._made: dict[Any, tuple[_VersionResult, ...]] = {}
        self._splices: dict[tuple[int, int], tuple[Any, Any, Splice[Any]]] = {}

    def __reduce__(self) -> tuple[type[Versions], tuple[()]]:
        return Versions, ()

    def results(self, function: Any) -> tuple[_VersionResult, ...]:
        """Return the latest results of a function, latest first."""
        return self._made.get(function, ())

    def add(self, function: Any, result: _VersionResult) -> None:
        """Cache one more result, and forget the oldest ones."""
        self._made[function] = (result, *self._made.get(function, ())[: _VERSIONS - 1])

    def splice(self, earlier: tuple[Any, ...], later: tuple[Any, ...]) -> Splice[Any]:
        """Return the difference between two versions, which many functions request."""
        key = id(earlier), id(later)
        if key not in self._splices:
            if len(self._splices) == _SPLICES:
                del self._splices[next(iter(self._splices))]
            self._splices[key] = earlier, later, splice_between(earlier, later)
        return self._splices[key][2]


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
    empty: CachedValue,
) -> Callable[
    [Callable[[CachedValue, VersionedTree, Splice[CachedItem], *Others], CachedValue]],
    Callable[[VersionedTree, *Others], CachedValue],
]:
    """Return a decorator that memoises a function of the versions of a body.

    The function computes the result for a version from the result for an earlier one. Its arguments
    are the earlier result, the new version, the difference (`Splice`) and further arguments, which
    are compared by identity. It must depend only on these and must not modify them. Without an
    earlier version, it updates `empty`, the result for an empty body.
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
            best, nearest = None, empty
            # A version of about the same length is likely to have the fewest differences.
            for earlier, _, made in sorted(same, key=lambda one: abs(len(one[0]) - len(items))):
                splice = versions.splice(earlier, items)
                if splice.size < (best.size if best else len(items)):
                    best, nearest = splice, made
                if best and best.size <= _SMALL:
                    break
            result = update(nearest, tree, best or splice_between((), items), *others)
            versions.add(update, _VersionResult(items, others, result))
            return result

        known.__wrapped__ = update  # type: ignore[attr-defined]
        return known

    return decorated


def kept_by_item(
    make: Callable[[CachedItem, *Others], CachedValue],
) -> Callable[[Versioned[CachedItem], *Others], tuple[CachedValue, ...]]:
    """Return a memoised function that applies `make` to each item of a body.

    Results are reused for items in common with a recent version of the body.
    """
    nothing: tuple[CachedValue, ...] = ()

    def update(
        known: tuple[CachedValue, ...],
        _: Versioned[CachedItem],
        splice: Splice[CachedItem],
        *others: *Others,
    ) -> tuple[CachedValue, ...]:
        return splice.updated(known, lambda item: make(item, *others))

    return kept_by_version(nothing)(update)


def splice_between(
    earlier: tuple[CachedItem, ...], later: tuple[CachedItem, ...]
) -> Splice[CachedItem]:
    """Return the difference between two versions of a tuple."""
    start = at = _common_length(iter(earlier), iter(later), min(len(earlier), len(later)))
    shorter = min(len(earlier), len(later)) - start
    same = _common_length(reversed(earlier), reversed(later), shorter)
    stop, end = len(earlier) - same, len(later) - same
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


def _common_length(earlier: Iterator[CachedItem], later: Iterator[CachedItem], shorter: int) -> int:
    """Return the number of items with which both begin, at most `shorter`."""
    return min(next(compress(count(), map(is_not, earlier, later)), shorter), shorter)


def _common_run(
    earlier: tuple[CachedItem, ...], later: tuple[CachedItem, ...], olds: range, news: range
) -> int:
    """Return the number of items with which both ranges begin, in time proportional to it."""
    found, size = 0, _SMALL
    shorter = min(len(olds), len(news))
    while found < shorter:
        size = min(size, shorter - found)
        start, at = olds.start + found, news.start + found
        same = _common_length(
            iter(earlier[start : start + size]), iter(later[at : at + size]), size
        )
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
