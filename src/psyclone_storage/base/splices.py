"""Differences between two versions of a tuple, and results that follow them.

A `Splice` is the difference between two versions. `Joined` and `Positions` follow a tuple by
splices, in time proportional to the changed items. Items are compared by identity.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import chain, compress, count, starmap, zip_longest
from operator import indexOf, is_, is_not
from typing import Any, Generic, NamedTuple, TypeVar

SplicedItem = TypeVar("SplicedItem")
AnyItem = TypeVar("AnyItem")

_SMALL = 16
"""The number of items that are compared first."""
_BETWEEN = 1 << 48
"""The distance between the labels of adjacent items at first."""
_WIDER = 8
"""The factor by which the part grows in which a common item is searched for."""


class SplicedRange(NamedTuple, Generic[SplicedItem]):
    """Items `after` that replace those from `start` to `stop` of the earlier version."""

    start: int
    stop: int
    after: tuple[SplicedItem, ...]


class Splice(NamedTuple, Generic[SplicedItem]):
    """The difference between two versions of a tuple: its changes, in order.

    `removed` and `added` are the items in the changes. Both contain an item whose order changed.
    """

    changes: tuple[SplicedRange[SplicedItem], ...]
    removed: tuple[SplicedItem, ...]
    added: tuple[SplicedItem, ...]

    @property
    def size(self) -> int:
        """The number of removed and added items."""
        return len(self.removed) + len(self.added)


def splice_between(
    earlier: tuple[SplicedItem, ...], later: tuple[SplicedItem, ...], first: int = 0, last: int = 0
) -> Splice[SplicedItem]:
    """Return the difference between two versions of a tuple.

    The `first` items and the `last` ones are known to be common.
    """
    start, same = common_ends(earlier, later, first, last)
    at, stop, end = start, len(earlier) - same, len(later) - same
    changes: list[SplicedRange[SplicedItem]] = []
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
    earlier: tuple[SplicedItem, ...], later: tuple[SplicedItem, ...], first: int = 0, last: int = 0
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


def _items_at(items: tuple[SplicedItem, ...], places: range) -> tuple[SplicedItem, ...]:
    """Return the items at consecutive places, which ascend or descend."""
    if places.step > 0:
        return items[places.start : places.stop]
    return items[places.stop + 1 : places.start + 1][::-1]


def _common_run(
    earlier: tuple[SplicedItem, ...], later: tuple[SplicedItem, ...], olds: range, news: range
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
    earlier: tuple[SplicedItem, ...], later: tuple[SplicedItem, ...], olds: range, news: range
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


class Joined(Generic[SplicedItem]):
    """A tuple of results for each item of a body, and the concatenation of these tuples.

    The concatenation is the same object as long as no result changes. Otherwise, only the part from
    the first to the last changed result is concatenated again.
    """

    __slots__ = ("_stale", "_whole", "parts")

    def __init__(self) -> None:
        self.parts: list[tuple[SplicedItem, ...]] = []
        self._whole: tuple[SplicedItem, ...] = ()
        # The numbers of results before and after those that changed since the concatenation.
        self._stale: tuple[int, int] | None = None

    def copy(self) -> Joined[SplicedItem]:
        """Return a copy that can change by itself."""
        made: Joined[SplicedItem] = Joined()
        made.parts, made._whole, made._stale = self.parts.copy(), self._whole, self._stale
        return made

    def put(self, start: int, stop: int, parts: Sequence[tuple[SplicedItem, ...]]) -> None:
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
        make: Callable[[AnyItem], tuple[SplicedItem, ...]],
    ) -> list[tuple[SplicedItem, ...]]:
        """Put results of `make` for added items; return the results of removed items."""
        removed: list[tuple[SplicedItem, ...]] = []
        for change in reversed(splice.changes):
            removed += self.parts[change.start : change.stop]
            self.put(change.start, change.stop, list(map(make, change.after)))
        return removed

    def whole(
        self, derive: Callable[[tuple[Any, ...], tuple[Any, ...], int, int], None] | None = None
    ) -> tuple[SplicedItem, ...]:
        """Return the concatenation.

        If it changed, `derive` is called with the earlier and the later one, and with the numbers
        of items in common at their beginnings and at their ends.
        """
        if self._stale:
            start, stop = self._stale[0], len(self.parts) - self._stale[1]
            earlier = self._whole
            head = sum(map(len, self.parts[:start]))
            tail = sum(map(len, self.parts[stop:]))
            middle = chain.from_iterable(self.parts[start:stop])
            self._whole = (*earlier[:head], *middle, *earlier[len(earlier) - tail :])
            self._stale = None
            if derive:
                derive(earlier, self._whole, head, tail)
        return self._whole


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


def without_one(items: tuple[SplicedItem, ...], item: SplicedItem) -> tuple[SplicedItem, ...]:
    """Return `items` without one occurrence of an item that they contain."""
    at = indexOf(map(id, items), id(item))
    return (*items[:at], *items[at + 1 :])
