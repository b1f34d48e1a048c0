"""What a buffer must do, in a form too simple to be wrong: one array, and who has which part of it.

The model knows no locks, no streams and no faces. It knows for each chunk the set of places whose
replica is current, and that is enough to know which transfers a sequence of uses cannot do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ITEM = np.dtype("i8").itemsize


@dataclass(slots=True)
class Traffic:
    """Count transfers and their bytes."""

    count: int = 0
    nbytes: int = 0

    def add(self, nbytes: int) -> None:
        """Count one transfer."""
        self.count += 1
        self.nbytes += nbytes


@dataclass(slots=True)
class Model:
    """Keep the true values and, for each chunk, the places that have them.

    `bounds` are the first elements of the chunks and the end of the last one. `init` is the value
    of elements that nobody wrote, None if they have none. `known` marks the elements with a value:
    writing a part of a chunk without values makes the chunk valid, but gives the rest no value.

    Between `least` and `most` transfers are allowed. They differ in one case of work in the
    background: while a first value is being set, whoever needs it elsewhere may set it again, or
    copy it.
    """

    bounds: Sequence[int]
    init: int | None
    poisoned: bool = False
    least: Traffic = field(default_factory=Traffic)
    most: Traffic = field(default_factory=Traffic)
    values: Array = field(init=False)
    known: Array = field(init=False)
    places: list[set[str]] = field(init=False)
    _racing: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Start without values."""
        self.forget_all(self.bounds)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self.bounds[-1]

    @property
    def chunks(self) -> range:
        """Return the numbers of all chunks."""
        return range(len(self.bounds) - 1)

    def span(self, chunk: int) -> slice:
        """Return the elements of a chunk."""
        return slice(self.bounds[chunk], self.bounds[chunk + 1])

    def chunks_in(self, region: slice) -> list[int]:
        """Return the chunks that `region` touches."""
        spans = [(chunk, self.span(chunk)) for chunk in self.chunks]
        return [c for c, span in spans if region.start < span.stop and span.start < region.stop]

    def chunks_cut_by(self, region: slice) -> list[int]:
        """Return the chunks of which `region` has some elements, but not all."""
        spans = [(chunk, self.span(chunk)) for chunk in self.chunks_in(region)]
        return [c for c, span in spans if span.start < region.start or region.stop < span.stop]

    def has(self, place: str) -> bool:
        """Say whether `place` has all the values."""
        return all(place in places for places in self.places)

    def is_complete(self, places: Iterable[str]) -> bool:
        """Say whether one of `places` alone has all the values that there are, and there are any.

        What nobody wrote is nowhere, and needs to be nowhere.
        """
        held = [there for there in self.places if there]
        return bool(held) and any(all(place in there for there in held) for place in places)

    def agrees(self, found: Array, region: slice = slice(None)) -> bool:
        """Say whether `found` are the values of `region`, as far as there are any."""
        known = self.known[region]
        return found.shape == known.shape and bool(
            (found[known] == self.values[region][known]).all()
        )

    # -- what happens ----------------------------------------------------------------------------

    def need(
        self, place: str, chunks: Iterable[int] | None = None, *, background: bool = False
    ) -> None:
        """Bring to `place` what has values and is not there."""
        for chunk in self.chunks if chunks is None else chunks:
            span = self.span(chunk)
            if place in self.places[chunk]:
                continue
            if self.places[chunk]:
                self.move((span.stop - span.start) * ITEM, certain=chunk not in self._racing)
            elif self.init is None:
                continue
            else:
                self.values[span], self.known[span] = self.init, True
                if background:
                    self._racing.add(chunk)
            self.places[chunk].add(place)

    def write(self, place: str, region: slice, values: Array) -> None:
        """Set `region` at `place`; no other place has the chunks any more."""
        for chunk in self.chunks_in(region):
            self._claim(place, chunk)
        self.values[region], self.known[region] = values, True

    def claim(self, place: str) -> None:
        """Make `place` the only one that has the values, which stay."""
        for chunk in self.chunks:
            self._claim(place, chunk)

    def peek(self, place: str, region: slice) -> None:
        """Move the elements of `region` that `place` lacks, to be thrown away after their use."""
        for chunk in self.chunks_in(region):
            span, places = self.span(chunk), self.places[chunk]
            if places and place not in places:
                elements = min(span.stop, region.stop) - max(span.start, region.start)
                self.move(elements * ITEM, certain=True)
            elif not places:
                self.need(place, [chunk])

    def move(self, nbytes: int, *, certain: bool) -> None:
        """Count one transfer."""
        self.most.add(nbytes)
        if certain:
            self.least.add(nbytes)

    def settle(self, count: int, nbytes: int) -> None:
        """Take over what has been moved, once nothing is under way."""
        self.least, self.most = Traffic(count, nbytes), Traffic(count, nbytes)
        self._racing.clear()

    def resize(self, size: int) -> None:
        """Have `size` elements in one chunk; what is new has no value."""
        kept = min(size, self.size)
        values, known = self.values[:kept], self.known[:kept]
        self.bounds = (0, size)
        self.values, self.known = np.zeros(size, "i8"), np.zeros(size, bool)
        self.values[:kept], self.known[:kept] = values, known

    def forget_all(self, bounds: Sequence[int]) -> None:
        """Have no values at all, in chunks with these bounds."""
        self.bounds = bounds
        self.values, self.known = np.zeros(self.size, "i8"), np.zeros(self.size, bool)
        self.places = [set() for _ in self.chunks]

    def _claim(self, place: str, chunk: int) -> None:
        self.places[chunk] = {place}
        self._racing.discard(chunk)
