"""Memoisation of functions of immutable objects, by object identity.

`kept_with_first` stores a result on the object itself. `kept_lately` caches results for the last
few objects, if many versions of an object stay alive. `kept_by_version` derives the result for a
version from that of an earlier one; `kept_by_item` does so item by item, `kept_in_sequence` joins
the results of all items, and `found_by_item` those of the few items that have any. They store
results in the `Versions` that all versions of an object share. Objects are compared by identity,
because equal records may differ in fields that comparisons ignore.

The time for a version should depend on the number of changed items, except for copies of tuples. A
function that derives a version from an earlier one therefore describes the change to
`Versions.note`; otherwise the two tuples are compared item by item.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
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
_NOTES = 64
_ANCESTORS = 8
"""The number of consecutive noted changes that are combined."""
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


_Changes = tuple[SplicedRange[CachedItem], ...]
"""Changes of a tuple, in order."""


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
        return with_changes(known, self.mapped(make))

    def mapped(
        self, make: Callable[[CachedItem], CachedValue]
    ) -> tuple[SplicedRange[CachedValue], ...]:
        """Return the changes of a tuple that has the result of `make` for each item."""
        return tuple(
            [
                SplicedRange(start, stop, tuple([make(item) for item in after]))
                for start, stop, after in self.changes
            ]
        )


class Versions:
    """The results of functions for the last versions of a tuple, such as the body of a schedule.

    An object and all objects that are derived from it share one. A copy of an object in another
    process begins without results.
    """

    __slots__ = ("_made", "_notes", "_splices", "last_place")

    def __init__(self) -> None:
        self.last_place = 0
        self._made: dict[Any, tuple[_VersionResult, ...]] = {}
        self._notes: dict[int, tuple[Any, Any, _Changes[Any]]] = {}
        self._splices: dict[tuple[int, int], tuple[Any, Any, Splice[Any]]] = {}

    def __reduce__(self) -> tuple[type[Versions], tuple[()]]:
        return Versions, ()

    def results(self, function: Any) -> tuple[_VersionResult, ...]:
        """Return the latest results of a function, latest first."""
        return self._made.get(function, ())

    def add(self, function: Any, result: _VersionResult) -> None:
        """Cache one more result, and forget the oldest ones."""
        self._made[function] = (result, *self._made.get(function, ())[: _VERSIONS - 1])

    def note(
        self,
        earlier: tuple[CachedItem, ...],
        later: tuple[CachedItem, ...],
        changes: _Changes[CachedItem],
    ) -> None:
        """Record that `later` is `earlier` with `changes`.

        Many changes are not recorded, because their combination takes longer than a comparison.
        """
        if earlier is later or id(later) in self._notes:
            return
        changes = tuple(
            [
                one
                for one in changes
                if one.stop - one.start != len(one.after)
                or any(map(is_not, earlier[one.start : one.stop], one.after))
            ]
        )
        if sum(one.stop - one.start + len(one.after) for one in changes) > _SMALL:
            return
        if len(self._notes) == _NOTES:
            del self._notes[next(iter(self._notes))]
        self._notes[id(later)] = later, earlier, changes

    def ancestors(self, later: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the versions from which `later` was derived by noted changes, latest first."""
        for _ in range(_ANCESTORS):
            if id(later) not in self._notes:
                return
            later = self._notes[id(later)][1]
            yield later

    def splice(self, earlier: tuple[Any, ...], later: tuple[Any, ...]) -> Splice[Any]:
        """Return the difference between two versions, which many functions request."""
        key = id(earlier), id(later)
        if key not in self._splices:
            if len(self._splices) == _SPLICES:
                del self._splices[next(iter(self._splices))]
            changes = self._noted(earlier, later)
            made = splice_between(earlier, later) if changes is None else _splice(earlier, changes)
            self._splices[key] = earlier, later, made
        return self._splices[key][2]

    def _noted(self, earlier: tuple[Any, ...], later: tuple[Any, ...]) -> _Changes[Any] | None:
        """Return the combination of the noted changes from `earlier` to `later`, or None."""
        found: _Changes[Any] | None = None
        at = later
        for ancestor in self.ancestors(later):
            changes = self._notes[id(at)][2]
            found = changes if found is None else combined(changes, found)
            if ancestor is earlier:
                return found
            if len(found) > _SMALL:
                return None
            at = ancestor
        return None


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
            for one in _by_similarity(same, items, versions):
                splice = versions.splice(one.items, items)
                if splice.size < (best.size if best else len(items)):
                    best, nearest = splice, one.made
                if best and best.size <= _SMALL:
                    break
            result = update(nearest, tree, best or splice_between((), items), *others)
            versions.add(update, _VersionResult(items, others, result))
            return result

        known.__wrapped__ = update  # type: ignore[attr-defined]
        return known

    return decorated


def _by_similarity(
    results: list[_VersionResult], items: tuple[Any, ...], versions: Versions
) -> Iterator[_VersionResult]:
    """Yield the results for earlier versions, those with the fewest expected differences first.

    These are the versions from which `items` were derived, then those of about the same length.
    """
    if results:
        for ancestor in versions.ancestors(items):
            yield from (one for one in results if one.items is ancestor)
        yield from sorted(results, key=lambda one: abs(len(one.items) - len(items)))


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


class _Sequence(NamedTuple, Generic[CachedValue]):
    """The results for each item of a version, and the same joined."""

    by_item: tuple[tuple[CachedValue, ...], ...] = ()
    joined: tuple[CachedValue, ...] = ()


def kept_in_sequence(
    make: Callable[[CachedItem, *Others], tuple[CachedValue, ...]],
) -> Callable[[Versioned[CachedItem], *Others], tuple[CachedValue, ...]]:
    """Return a memoised function that joins the results of `make` for all items of a body."""

    def update(
        known: _Sequence[CachedValue],
        _: Versioned[CachedItem],
        splice: Splice[CachedItem],
        *others: *Others,
    ) -> _Sequence[CachedValue]:
        changes = splice.mapped(lambda item: make(item, *others))
        joined = with_changes(known.joined, joined_changes(known.by_item, changes))
        return _Sequence(with_changes(known.by_item, changes), joined)

    sequence = kept_by_version(_Sequence[CachedValue]())(update)

    def joined(tree: Versioned[CachedItem], *others: *Others) -> tuple[CachedValue, ...]:
        return sequence(tree, *others).joined

    return joined


def kept_by_pair(
    make: Callable[[CachedItem, CachedItem], tuple[CachedValue, ...]],
) -> Callable[[Versioned[CachedItem]], tuple[CachedValue, ...]]:
    """Return a memoised function that joins the results of `make` for all adjacent items."""

    def update(
        known: _Sequence[CachedValue], tree: Versioned[CachedItem], splice: Splice[CachedItem]
    ) -> _Sequence[CachedValue]:
        body, shift, stale = tree.body, 0, set[int]()
        for start, stop, after in splice.changes:
            stale.update(range(max(0, start + shift - 1), start + shift + len(after)))
            shift += len(after) - (stop - start)
        made = (
            SplicedRange(at, at + 1, (make(*body[at : at + 2]) if at + 1 < len(body) else (),))
            for at in sorted(stale)
        )
        changes = combined(splice.mapped(_nothing), tuple(made))
        joined = with_changes(known.joined, joined_changes(known.by_item, changes))
        return _Sequence(with_changes(known.by_item, changes), joined)

    sequence = kept_by_version(_Sequence[CachedValue]())(update)

    def joined(tree: Versioned[CachedItem]) -> tuple[CachedValue, ...]:
        return sequence(tree).joined

    return joined


def _nothing(_: object) -> tuple[Any, ...]:
    return ()


def joined_changes(
    by_item: tuple[tuple[CachedValue, ...], ...],
    changes: _Changes[tuple[CachedValue, ...]],
) -> _Changes[CachedValue]:
    """Return the changes of the joined items of a tuple of tuples, given its changes."""
    made: list[SplicedRange[CachedValue]] = []
    at = place = 0
    for start, stop, after in changes:
        place += sum(map(len, by_item[at:start]))
        end = place + sum(map(len, by_item[start:stop]))
        made.append(SplicedRange(place, end, tuple(chain.from_iterable(after))))
        at, place = stop, end
    return tuple(made)


class _Sparse(NamedTuple, Generic[CachedValue]):
    """The items with results, by identity: how often each occurs, and its results."""

    by_item: Mapping[int, tuple[int, tuple[CachedValue, ...]]]
    joined: tuple[CachedValue, ...]


def found_by_item(
    make: Callable[[CachedItem, *Others], tuple[CachedValue, ...]],
) -> Callable[[Versioned[CachedItem], *Others], tuple[CachedValue, ...]]:
    """Return a memoised function that joins the results of `make` for all items of a body.

    In contrast to `kept_in_sequence`, the time for a version without results depends only on the
    number of changed items.
    """

    def update(
        known: _Sparse[CachedValue],
        tree: Versioned[CachedItem],
        splice: Splice[CachedItem],
        *others: *Others,
    ) -> _Sparse[CachedValue]:
        gone = [item for item in splice.removed if id(item) in known.by_item]
        made = [(item, found) for item in splice.added if (found := make(item, *others))]
        if not gone and not made:
            return known
        by_item = dict(known.by_item)
        for item in gone:
            number, found = by_item.pop(id(item))
            if number > 1:
                by_item[id(item)] = number - 1, found
        for item, found in made:
            number, _ = by_item.get(id(item), (0, found))
            by_item[id(item)] = number + 1, found
        present = filter(by_item.__contains__, map(id, tree.body if by_item else ()))
        return _Sparse(by_item, tuple(chain.from_iterable(by_item[one][1] for one in present)))

    found = kept_by_version(_Sparse[CachedValue]({}, ()))(update)

    def joined(tree: Versioned[CachedItem], *others: *Others) -> tuple[CachedValue, ...]:
        return found(tree, *others).joined

    return joined


def _splice(earlier: tuple[CachedItem, ...], changes: _Changes[CachedItem]) -> Splice[CachedItem]:
    """Return the splice with these changes of a tuple."""
    removed = chain.from_iterable(earlier[one.start : one.stop] for one in changes)
    return Splice(changes, tuple(removed), tuple(chain.from_iterable(one.after for one in changes)))


def with_changes(
    earlier: tuple[CachedItem, ...], changes: _Changes[CachedItem]
) -> tuple[CachedItem, ...]:
    """Return a tuple with changes; the same tuple if there are none."""
    if not any(one.after or one.start < one.stop for one in changes):
        return earlier
    made = list(earlier)
    for start, stop, after in reversed(changes):
        made[start:stop] = after
    return tuple(made)


def combined(first: _Changes[CachedItem], second: _Changes[CachedItem]) -> _Changes[CachedItem]:
    """Return the changes of a tuple to which first `first` apply, then `second`."""
    made: list[SplicedRange[CachedItem]] = []
    waiting = deque(first)
    shift = 0  # from places in the tuple to those in the result of `first`
    for start, stop, after in second:
        while waiting and waiting[0].start + shift + len(waiting[0].after) <= start:
            one = waiting.popleft()
            made.append(one)
            shift += len(one.after) - (one.stop - one.start)
        begin, end = start - shift, stop - shift
        kept: tuple[CachedItem, ...] = ()
        while waiting and (at := waiting[0].start + shift) < stop:
            one = waiting.popleft()
            if at < start:
                begin, kept = one.start, one.after[: start - at]
            shift += len(one.after) - (one.stop - one.start)
            end = stop - shift
            if at + len(one.after) > stop:
                waiting.appendleft(SplicedRange(one.stop, one.stop, one.after[stop - at :]))
                end, shift = one.stop, stop - one.stop
        made.append(SplicedRange(begin, end, (*kept, *after)))
    return (*made, *waiting)


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
    return _splice(earlier, tuple(changes))


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
