"""Read stencils: the elements that a task reads, and their positions in its local copy (ACC-30).

A stencil is a set of global indices together with a map to local ones. A box maps by subtraction,
any other set by a hash map (ACC-35). The module `patch` copies the elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

from psyclone_storage.base.records import dataclass

Index: TypeAlias = "int | tuple[int, ...]"
Indices = np.ndarray[Any, np.dtype[np.intp]]


class Stencil(Protocol):
    """A set of elements of a buffer, in a local order."""

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Return the shape of the local copy."""

    @property
    def size(self) -> int:
        """Return the number of elements."""

    def flat(self) -> Indices:
        """Return the global element numbers, in local order."""

    def local(self, index: Index) -> Index:
        """Return the local index for a global one; raise `IndexError` outside of the stencil."""


@dataclass(frozen=True, slots=True)
class Box:
    """The box from `starts` to `stops` (exclusive) in a buffer of `shape`.

    The local index is the global index minus `starts`.
    """

    starts: tuple[int, ...]
    stops: tuple[int, ...]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        """Reject a box that is not inside the buffer."""
        bounds = zip(self.starts, self.stops, self.shape, strict=True)
        if any(not 0 <= start <= stop <= extent for start, stop, extent in bounds):
            raise IndexError(
                f"The box from {self.starts} to {self.stops} does not lie in shape {self.shape}."
            )

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Return the extents of the box."""
        return tuple(b - a for a, b in zip(self.starts, self.stops, strict=True))

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.local_shape)

    def flat(self) -> Indices:
        """Return the global element numbers, in C order of the box."""
        axes = [np.arange(a, b) for a, b in zip(self.starts, self.stops, strict=True)]
        return np.ravel_multi_index(np.ix_(*axes), self.shape).ravel()

    def local(self, index: Index) -> Index:
        """Return the index in the box."""
        given = index if isinstance(index, tuple) else (index,)
        moved = tuple(at - start for at, start in zip(given, self.starts, strict=True))
        if any(not 0 <= at < extent for at, extent in zip(moved, self.local_shape, strict=True)):
            raise _outside(index)
        return moved if isinstance(index, tuple) else moved[0]


@dataclass(frozen=True, slots=True)
class IndexMap:
    """An arbitrary set of elements; `places` maps element numbers to local indices."""

    places: Mapping[int, int]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        """Reject a map that omits a local index, or has an element outside of the buffer."""
        if sorted(self.places.values()) != list(range(len(self.places))):
            raise ValueError("The local indices of a stencil must be 0, 1, 2 ... once each.")
        size = math.prod(self.shape)
        if any(not 0 <= place < size for place in self.places):
            raise IndexError(f"A stencil names elements outside of a buffer of {size}.")

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Return the number of elements, as a one-dimensional shape."""
        return (len(self.places),)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return len(self.places)

    def flat(self) -> Indices:
        """Return the global element numbers, in local order."""
        order = np.empty(len(self.places), np.intp)
        for place, local in self.places.items():
            order[local] = place
        return order

    def local(self, index: Index) -> int:
        """Return the local index of an element, given by its number or its multi-index."""
        number = int(np.ravel_multi_index(index, self.shape)) if isinstance(index, tuple) else index
        found = self.places.get(number)
        if found is None:
            raise _outside(index)
        return found


def read_stencil(given: Any, shape: tuple[int, ...]) -> Stencil | None:
    """Return the stencil that `given` describes for a buffer of `shape`, None for the whole buffer.

    - None is the whole buffer (ACC-32). `()` and any other empty collection is an empty stencil:
      the task reads nothing (ACC-31).
    - A slice, a range or a tuple of slices is a box, or an index set if a step is not 1.
    - A set, list or array of element numbers, or of index tuples, is an index set; local indices
      follow the order of the element numbers.
    - A mapping from element number to local index is used unchanged.

    Raises `IndexError` for elements outside the buffer, `TypeError` for anything else.
    """
    if given is None or isinstance(given, (Box, IndexMap)):
        return given
    if isinstance(given, Mapping):
        return IndexMap({int(place): int(local) for place, local in given.items()}, shape)
    if isinstance(given, (slice, range)):
        given = (given,)
    if isinstance(given, tuple) and given and all(isinstance(p, (slice, range)) for p in given):
        return _read_slices(given, shape)
    if isinstance(given, Iterable) and not isinstance(given, str):
        return _read_indices(list(given), shape)
    raise TypeError(
        f"A read stencil is made of slices, indices or a mapping, not of {type(given).__name__}."
    )


def _read_slices(given: tuple[slice | range, ...], shape: tuple[int, ...]) -> Stencil:
    if len(given) > len(shape):
        raise IndexError(f"A stencil of {len(given)} slices does not fit shape {shape}.")
    whole = tuple(slice(None) for _ in shape[len(given) :])
    ranges = [
        part if isinstance(part, range) else range(*part.indices(extent))
        for part, extent in zip((*given, *whole), shape, strict=True)
    ]
    if all(part.step == 1 for part in ranges):
        stops = tuple(max(part.start, part.stop) for part in ranges)
        return Box(tuple(part.start for part in ranges), stops, shape)
    numbers = np.arange(math.prod(shape)).reshape(shape)[np.ix_(*map(list, ranges))]
    return _counted(numbers.ravel().tolist(), shape)


def _read_indices(given: list[Any], shape: tuple[int, ...]) -> IndexMap:
    if any(isinstance(index, (tuple, np.ndarray)) for index in given):
        try:
            columns = np.array(given, np.intp).T
            given = np.ravel_multi_index(tuple(columns), shape).tolist()
        except ValueError as error:
            raise IndexError(f"A stencil does not fit shape {shape}: {error}.") from error
    if not all(isinstance(index, (int, np.integer)) for index in given):
        raise TypeError("The indices of a read stencil are integers, or tuples of integers.")
    return _counted([int(index) for index in given], shape)


def _counted(numbers: list[int], shape: tuple[int, ...]) -> IndexMap:
    ordered = sorted(set(numbers))
    return IndexMap({number: local for local, number in enumerate(ordered)}, shape)


def _outside(index: Index) -> IndexError:
    return IndexError(f"Element {index} lies outside of the read stencil: register a larger one.")
