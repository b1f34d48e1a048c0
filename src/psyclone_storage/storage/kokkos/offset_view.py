"""`OffsetView`, a view with arbitrary lower index bounds, like a Fortran array.

`OffsetView["double**"]("A", (-1, 3), (0, 4))` has the indices -1 to 3 and 0 to 4, both ends
included. `view()` returns the wrapped view, which provides all other methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import ViewExtentError, ViewIndexError, ViewTypeError
from psyclone_storage.storage.kokkos.subview import is_whole
from psyclone_storage.storage.kokkos.view import View, ViewClass
from psyclone_storage.storage.kokkos.view_create import AllocProperties


@dataclass(frozen=True, slots=True)
class OffsetViewType:
    """The type of an offset view."""

    inner: ViewClass

    def __call__(self, *arguments: Any) -> OffsetView:
        """Create an offset view from a label and index pairs, or from a view and lower bounds."""
        match arguments:
            case (str() | AllocProperties() as label, *pairs):
                begins, extents = _measured(pairs)
                return OffsetView(self.inner(label, *extents), begins)
            case (View() as view, begins):
                return OffsetView(self.inner(view), begins)
        raise ViewTypeError(
            f"{self} is made from a label and pairs (first, last), or from a view and the first "
            f"index of each dimension, unlike {arguments}."
        )

    def __repr__(self) -> str:
        return f"Offset{self.inner!r}"


class _TypedOffsetView(type):
    """The metaclass that makes `OffsetView[...]` a type, with the arguments of `View[...]`."""

    def __getitem__(cls, arguments: Any) -> OffsetViewType:
        return OffsetViewType(ViewClass.of(arguments))


class OffsetView(metaclass=_TypedOffsetView):
    """A view whose indices start at `begins`."""

    __slots__ = ("_view", "_begins")

    def __init__(self, view: View, begins: Sequence[int]) -> None:
        """Wrap `view` with the lower bounds `begins`.

        Raises `ViewTypeError` unless there is one lower bound for each dimension.
        """
        if len(begins) != view.rank:
            raise ViewTypeError(f"{view!r} needs {view.rank} first indices, not {len(begins)}.")
        self._view = view
        self._begins = tuple(begins)

    def view(self) -> View:
        """Return the wrapped view of the same memory, whose indices start at 0."""
        return self._view

    @property
    def buffer(self) -> CoherentBuffer:
        """Return the coherent buffer that the view shares with all other facades."""
        return self._view.buffer

    @property
    def window_spec(self) -> WindowSpec:
        """Return dtype, shape, strides and offset of the viewed elements in the buffer."""
        return self._view.window_spec

    def begins(self) -> tuple[int, ...]:
        """Return the first index of each dimension."""
        return self._begins

    def begin(self, dimension: int) -> int:
        """Return the first index of a dimension."""
        self._view.extent(dimension)
        return self._begins[dimension]

    def end(self, dimension: int) -> int:
        """Return the last index of a dimension plus one."""
        return self.begin(dimension) + self._view.extent(dimension)

    @property
    def extents(self) -> tuple[int, ...]:
        """Return all extents."""
        return self._view.extents

    def extent(self, dimension: int) -> int:
        """Return an extent; raise `ViewIndexError` for a dimension beyond the rank."""
        return self._view.extent(dimension)

    def label(self) -> str:
        """Return the label of the memory."""
        return self._view.label()

    def __call__(self, *indices: SupportsIndex) -> Any:
        """Return the element at the given indices, one for each dimension."""
        return self._view(*self._shifted(indices))

    def __getitem__(self, key: Any) -> Any:
        """Return the element at `v[i]` (rank 1) or `v[i, j]`."""
        return self(*(key if isinstance(key, tuple) else (key,)))

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to the element at `v[i]` or `v[i, j]`."""
        self._view[self._shifted(key if isinstance(key, tuple) else (key,))] = value

    def part(self, *choices: Any) -> OffsetView:
        """Return the selected part; each range starts at its first selected index."""
        moved = [
            choice if is_whole(choice) else _moved(choice, begin)
            for choice, begin in zip(choices, self._begins, strict=False)
        ]
        part = self._view.part(*moved, *choices[len(moved) :])
        kept = [
            begin if is_whole(choice) else choice[0]
            for choice, begin in zip(choices, self._begins, strict=True)
            if not hasattr(choice, "__index__")
        ]
        return OffsetView(part, kept)

    def __repr__(self) -> str:
        ranges = ", ".join(
            f"{self.begin(axis)}:{self.end(axis)}" for axis in range(len(self._begins))
        )
        return f'<Offset{self._view.type} "{self.label()}" ({ranges})>'

    def _shifted(self, indices: tuple[SupportsIndex, ...]) -> tuple[int, ...]:
        """Return the indices relative to the lower bounds.

        Raises the errors of the wrapped view; their messages contain the original indices.
        """
        if len(indices) != len(self._begins):
            self._view(*indices)
        shifted = tuple(
            index.__index__() - begin for index, begin in zip(indices, self._begins, strict=True)
        )
        for index, extent in zip(shifted, self.extents, strict=True):
            if not 0 <= index < extent:
                raise ViewIndexError(f"{self!r} has no element {indices}.")
        return shifted


def _measured(pairs: list[Any]) -> tuple[list[int], list[int]]:
    """Return lower bounds and extents for pairs (first, last)."""
    begins: list[int] = []
    extents: list[int] = []
    for pair in pairs:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ViewTypeError(f"The indices of a dimension are a pair (first, last), not {pair}.")
        first, last = pair
        if last < first - 1:
            raise ViewExtentError(f"The indices {first} to {last} go backwards.")
        begins.append(first)
        extents.append(last - first + 1)
    return begins, extents


def _moved(choice: Any, begin: int) -> Any:
    if hasattr(choice, "__index__"):
        return choice.__index__() - begin
    if isinstance(choice, Sequence) and len(choice) == 2:
        return choice[0] - begin, choice[1] - begin
    raise ViewTypeError(f"{choice!r} selects nothing: write an index, ALL, or a pair (begin, end).")
