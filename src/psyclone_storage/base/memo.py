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
from operator import is_
from threading import local
from typing import Any, NamedTuple, Protocol, TypeVar, TypeVarTuple

from psyclone_storage.base.splices import Joined, Splice, splice_between

CachedRecord = TypeVar("CachedRecord")
Others = TypeVarTuple("Others")
CachedValue = TypeVar("CachedValue")
CachedItem = TypeVar("CachedItem")
CachedItem_co = TypeVar("CachedItem_co", covariant=True)

_VERSIONS = 8
_SPLICES = 32
_FEW = 16
"""The number of changed items up to which a result is modified instead of copied."""


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
    make: Callable[[CachedRecord, *Others], CachedValue],
    record: CachedRecord,
    made: CachedValue,
    *others: *Others,
) -> None:
    """Store `made` as the memoised result of `make` for `record` and the further arguments."""
    vars(record).setdefault(f"{make.__module__}.{make.__qualname__}", {})[others] = made


def kept_lately(make: Callable[[*Others], CachedValue]) -> Callable[[*Others], CachedValue]:
    """Return `make`, cached for the most recent argument tuples, which must be immutable."""

    @lru_cache(maxsize=_VERSIONS)
    def known(*same: Identity) -> CachedValue:
        return make(*(one.of for one in same))

    @wraps(make)
    def recent(*records: *Others) -> CachedValue:
        return known(*map(Identity, records))

    return recent


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
