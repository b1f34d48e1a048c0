"""Memoisation of functions of immutable objects, by object identity.

`kept_with_first` stores a result on the object itself. `kept_lately` caches results for the last
few objects, if many versions of an object stay alive. `kept_by_version` derives the result for a
version from that of an earlier one; `kept_by_item` does so item by item. Objects are compared by
identity, because equal records may differ in fields that comparisons ignore.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import compress, count
from operator import is_, is_not, not_
from typing import Any, Generic, NamedTuple, TypeVar, TypeVarTuple

CachedRecord = TypeVar("CachedRecord")
Others = TypeVarTuple("Others")
CachedValue = TypeVar("CachedValue")
CachedItem = TypeVar("CachedItem")

_VERSIONS = 8
_SMALL = 16
"""The number of changed items with which no more similar version is searched for."""


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


class Splice(NamedTuple, Generic[CachedItem]):
    """The difference between two versions of a tuple: `after` replaces `before` at `start`.

    `removed` and `added` are the items of only one version if the common items have the same order;
    otherwise all items of `before` and `after`.
    """

    start: int
    before: tuple[CachedItem, ...]
    after: tuple[CachedItem, ...]
    removed: tuple[CachedItem, ...]
    added: tuple[CachedItem, ...]

    @property
    def stop(self) -> int:
        """The end of the replaced range in the earlier version."""
        return self.start + len(self.before)

    @property
    def size(self) -> int:
        """The number of removed and added items."""
        return len(self.removed) + len(self.added)

    def updated(
        self, known: tuple[CachedValue, ...], make: Callable[[CachedItem], CachedValue]
    ) -> tuple[CachedValue, ...]:
        """Return one result for each item of the later version.

        Results of common items come from `known`; `make` computes the others.
        """
        stop = self.stop
        if len(self.after) == len(self.added):
            made = [make(item) for item in self.added]
        else:
            results = dict(zip(map(id, self.before), known[self.start : stop], strict=True))
            new = set(map(id, self.added))
            made = [make(it) if id(it) in new else results[id(it)] for it in self.after]
        return (*known[: self.start], *made, *known[stop:])


def kept_by_version(
    empty: CachedValue,
) -> Callable[
    [Callable[[CachedValue, tuple[CachedItem, ...], Splice[CachedItem], *Others], CachedValue]],
    Callable[[tuple[CachedItem, ...], *Others], CachedValue],
]:
    """Return a decorator that memoises a function of versions of a tuple.

    The function computes the result for a version from the result for an earlier one. Its arguments
    are the earlier result, the new version, the difference (`Splice`) and further arguments, which
    are compared by identity. It must not modify them. Without an earlier version, it updates
    `empty`, the result for an empty tuple.
    """

    def decorated(
        update: Callable[
            [CachedValue, tuple[CachedItem, ...], Splice[CachedItem], *Others], CachedValue
        ],
    ) -> Callable[[tuple[CachedItem, ...], *Others], CachedValue]:
        versions: tuple[tuple[tuple[CachedItem, ...], tuple[Any, ...], CachedValue], ...] = ()

        def known(items: tuple[CachedItem, ...], *others: *Others) -> CachedValue:
            nonlocal versions
            same = [one for one in versions if all(map(is_, one[1], others))]
            for earlier, _, made in same:
                if earlier is items:
                    return made
            best, nearest = splice_between((), items), empty
            for earlier, _, made in same:
                if best.size <= _SMALL:
                    break
                splice = splice_between(earlier, items)
                if splice.size < best.size:
                    best, nearest = splice, made
            result = update(nearest, items, best, *others)
            versions = ((items, others, result), *versions[: _VERSIONS - 1])
            return result

        known.__wrapped__ = update  # type: ignore[attr-defined]
        return known

    return decorated


def kept_by_item(
    make: Callable[[CachedItem, *Others], CachedValue],
) -> Callable[[tuple[CachedItem, ...], *Others], tuple[CachedValue, ...]]:
    """Return a memoised function that applies `make` to each item of a tuple.

    Results are reused for items in common with a recent version of the tuple.
    """
    nothing: tuple[CachedValue, ...] = ()

    def update(
        known: tuple[CachedValue, ...],
        _: tuple[CachedItem, ...],
        splice: Splice[CachedItem],
        *others: *Others,
    ) -> tuple[CachedValue, ...]:
        return splice.updated(known, lambda item: make(item, *others))

    return kept_by_version(nothing)(update)


def splice_between(
    earlier: tuple[CachedItem, ...], later: tuple[CachedItem, ...]
) -> Splice[CachedItem]:
    """Return the difference between two versions of a tuple."""
    shorter = min(len(earlier), len(later))
    start = next(compress(count(), map(is_not, earlier, later)), shorter)
    differ = map(is_not, reversed(earlier), reversed(later))
    end = min(next(compress(count(), differ), shorter), shorter - start)
    before, after = earlier[start : len(earlier) - end], later[start : len(later) - end]
    old, new = set(map(id, before)), set(map(id, after))
    stay = compress(before, map(new.__contains__, map(id, before)))
    same = compress(after, map(old.__contains__, map(id, after)))
    if not all(map(is_, stay, same)):
        return Splice(start, before, after, before, after)
    removed = compress(before, map(not_, map(new.__contains__, map(id, before))))
    added = compress(after, map(not_, map(old.__contains__, map(id, after))))
    return Splice(start, before, after, tuple(removed), tuple(added))
