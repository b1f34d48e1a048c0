"""The layouts of views: the offset of element (i, j, …) in elements, independent of memory.

The three built-in layouts have strides. A custom layout is any class that implements `ViewLayout`.
If its `strides` are None, `offset` alone determines the positions, as for tiled layouts or
space-filling curves (VIEW-9).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from operator import mul
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from psyclone_storage.storage.core.errors import ViewExtentError, ViewTypeError
from psyclone_storage.storage.core.layout import checked_layout, layout_of, strides_of

Extents = tuple[int, ...]


@runtime_checkable
class ViewLayout(Protocol):
    """A layout: the class is a parameter of the view type, the object has the extents.

    If `is_regular` is true, the extents alone determine the layout: `layout_class(*extents)`.
    """

    is_regular: ClassVar[bool]

    @property
    def extents(self) -> Extents:
        """Return the extents."""

    @property
    def strides(self) -> Extents | None:
        """Return the strides in elements; None if no strides can express the layout."""

    def offset(self, indices: Sequence[int]) -> int:
        """Return the offset of the element at `indices` from the first one, in elements."""

    def span(self) -> int:
        """Return the number of elements from the lowest to the highest address (VIEW-69)."""


class _Strided:
    """A layout with constant strides."""

    __slots__ = ("extents", "strides")

    def __init__(self, extents: Sequence[int], strides: Sequence[int]) -> None:
        self.extents: Extents = tuple(extents)
        self.strides: Extents = tuple(strides)

    def offset(self, indices: Sequence[int]) -> int:
        """Return the sum of indices times strides."""
        return sum(map(mul, indices, self.strides))

    def span(self) -> int:
        """Return the distance from the first to the last element, plus one; 0 if empty."""
        if 0 in self.extents:
            return 0
        return 1 + self.offset([extent - 1 for extent in self.extents])

    def __eq__(self, other: object) -> bool:
        """Compare class, extents and strides."""
        if not isinstance(other, _Strided) or type(other) is not type(self):
            return NotImplemented
        return (self.extents, self.strides) == (other.extents, other.strides)

    def __hash__(self) -> int:
        return hash((type(self), self.extents, self.strides))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.extents))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the extents."""
        return type(self), self.extents


class LayoutRight(_Strided):
    """The C layout: the last stride is 1, and strides grow from right to left (VIEW-6)."""

    __slots__ = ()
    is_regular: ClassVar[bool] = True

    def __init__(self, *extents: int) -> None:
        """Create a contiguous layout with these extents."""
        checked = checked_extents(extents)
        super().__init__(checked, [prod(checked[axis + 1 :]) for axis in range(len(checked))])


class LayoutLeft(_Strided):
    """The Fortran layout: the first stride is 1, and strides grow from left to right (VIEW-7)."""

    __slots__ = ()
    is_regular: ClassVar[bool] = True

    def __init__(self, *extents: int) -> None:
        """Create a contiguous layout with these extents."""
        checked = checked_extents(extents)
        super().__init__(checked, [prod(checked[:axis]) for axis in range(len(checked))])


class LayoutStride(_Strided):
    """A layout with arbitrary strides (VIEW-8).

    `LayoutStride((3, 4), (8, 2))` takes extents and strides; `LayoutStride(3, 8, 4, 2)` takes
    alternating extents and strides.
    """

    __slots__ = ()
    is_regular: ClassVar[bool] = False

    def __init__(self, *pairs: Any) -> None:
        """Create the layout; raise `ViewExtentError` for a negative number or a missing stride."""
        if len(pairs) == 2 and all(isinstance(part, Sequence) for part in pairs):
            extents, strides = (checked_extents(part) for part in pairs)
        else:
            numbers = checked_extents(pairs)
            extents, strides = numbers[0::2], numbers[1::2]
        if len(extents) != len(strides):
            raise ViewExtentError(
                f"A LayoutStride of {len(extents)} extents {extents} has {len(strides)} strides "
                f"{strides}: it must have as many."
            )
        super().__init__(extents, strides)

    @classmethod
    def from_permutation(cls, extents: Sequence[int], permutation: Sequence[int]) -> LayoutStride:
        """Return the contiguous layout for a GDP-3 permutation: entry 0 is the slowest."""
        order = checked_layout(permutation, len(extents))
        return cls(tuple(extents), strides_of(extents, order, 1, 1))

    def permutation(self) -> tuple[int, ...]:
        """Return the order of the dimensions in GDP-3 notation."""
        return layout_of(self.strides)

    def __repr__(self) -> str:
        return f"LayoutStride({self.extents}, {self.strides})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle extents and strides."""
        return LayoutStride, (self.extents, self.strides)


def is_layout_class(candidate: object) -> bool:
    """Return whether `candidate` is a layout class, built-in or custom."""
    return isinstance(candidate, type) and all(
        hasattr(candidate, name) for name in ("is_regular", "offset", "span")
    )


def is_contiguous(layout: ViewLayout) -> bool:
    """Return whether the layout has no gaps (VIEW-72)."""
    return layout.span() == prod(layout.extents)


def same_places(layout: ViewLayout, other: ViewLayout) -> bool:
    """Return whether two layouts of equal extents put each element at the same position.

    Strides of dimensions with fewer than two elements do not matter.
    """
    if layout.strides is None or other.strides is None:
        return layout == other
    if 0 in layout.extents:
        return True
    triples = zip(layout.extents, layout.strides, other.strides, strict=True)
    return all(extent == 1 or mine == theirs for extent, mine, theirs in triples)


def offsets_of(layout: ViewLayout) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the offset of each element in elements, as an array with the extents of the layout."""
    everywhere = product(*(range(extent) for extent in layout.extents))
    places = np.fromiter((layout.offset(at) for at in everywhere), np.intp, prod(layout.extents))
    return places.reshape(layout.extents)


def checked_extents(extents: Sequence[Any]) -> Extents:
    """Return the extents as nonnegative integers.

    Raises `ViewTypeError` for a non-integer, `ViewExtentError` for a negative integer.
    """
    try:
        found = tuple(extent.__index__() for extent in extents)
    except AttributeError:
        raise ViewTypeError(f"Extents and strides are integers, unlike {tuple(extents)}.") from None
    if any(extent < 0 for extent in found):
        raise ViewExtentError(f"Extents and strides cannot be negative, unlike {found}.")
    return found
