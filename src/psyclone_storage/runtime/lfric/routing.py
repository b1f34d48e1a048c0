"""Routing of a halo exchange: the dofs that each rank sends and receives.

The Fortran library determines them for a function space and a depth.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.lfric.library import Array


@dataclass(frozen=True)
class DofMessage:
    """A message to or from one rank: runs of consecutive dofs, counted from 1, in a fixed order."""

    rank: int
    first: Array
    length: Array

    @cached_property
    def places(self) -> Array | slice:
        """The array indices of the dofs, from 0; a slice if they are consecutive."""
        if np.array_equal(self.first[1:], (self.first + self.length)[:-1]):
            return slice(int(self.first[0]) - 1, int(self.first[0]) - 1 + self.size)
        starts = np.repeat(self.first - 1 - np.cumsum(self.length) + self.length, self.length)
        return starts + np.arange(len(starts))

    @cached_property
    def indices(self) -> Array:
        """The array indices for a kernel, as an array of shape (1, dofs)."""
        places = self.places
        each = np.arange(places.start, places.stop) if isinstance(places, slice) else places
        return each[np.newaxis]

    @property
    def size(self) -> int:
        """The number of values for one field."""
        return int(self.length.sum())


@dataclass(frozen=True)
class Routing:
    """The messages of an exchange, sorted by rank."""

    sent: tuple[DofMessage, ...]
    received: tuple[DofMessage, ...]


def routing_of(shown: Mapping[str, Array]) -> Routing:
    """Return the routing from the arrays that the library returns."""
    return Routing(
        _messages(shown["receivers"], shown, "sent"),
        _messages(shown["senders"], shown, "received"),
    )


def _messages(ranks: Array, shown: Mapping[str, Array], way: str) -> tuple[DofMessage, ...]:
    begin = shown[f"{way}_begin"] - 1
    return tuple(
        DofMessage(
            int(rank),
            shown[f"{way}_first"][begin[at] : begin[at + 1]],
            shown[f"{way}_length"][begin[at] : begin[at + 1]],
        )
        for at, rank in enumerate(ranks)
    )
