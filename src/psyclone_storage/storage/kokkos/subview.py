"""`subview`: the type and handle of the part of a view that one choice per dimension selects.

A choice is an index, which removes the dimension, or `ALL`, a pair (begin, end), a slice or a
`range`, which keep it. The result has a regular layout if the kinds of the choices guarantee that
it is contiguous; otherwise its layout is `LayoutStride`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from psyclone_storage.base.records import replace
from psyclone_storage.storage.core.errors import ViewIndexError, ViewRankError, ViewTypeError
from psyclone_storage.storage.kokkos.view_handle import Handle
from psyclone_storage.storage.kokkos.view_layout import (
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    ViewLayout,
)
from psyclone_storage.storage.kokkos.view_type import ViewType

T = TypeVar("T", bound=ViewType)


class _All:
    """The choice that selects all indices of a dimension."""

    def __repr__(self) -> str:
        return "ALL"


ALL = _All()


class DimensionSlice(NamedTuple):
    """The selected range of one dimension; a `length` of None removes the dimension."""

    begin: int
    length: int | None
    step: int = 1
    whole: bool = False


def cut(view_type: T, handle: Handle, choices: tuple[Any, ...]) -> tuple[T, Handle]:
    """Return type and handle of the part of a view that `choices` select (VIEW-58).

    Raises `ViewRankError` unless there is one choice for each dimension, `ViewIndexError` for an
    index out of range, and `ViewTypeError` for an invalid choice or a layout that does not allow
    subviews.
    """
    layout = handle.layout
    if len(choices) != view_type.rank:
        raise ViewRankError(
            f'A subview of "{handle.label}" takes {view_type.rank} choices, one for each '
            f"dimension, not {len(choices)}: {choices}."
        )
    chosen = [
        _choice(handle.label, axis, given, extent)
        for axis, (given, extent) in enumerate(zip(choices, layout.extents, strict=True))
    ]
    begins = [choice.begin for choice in chosen]
    kept = [axis for axis, choice in enumerate(chosen) if choice.length is not None]
    kind, laid_out = _layout(view_type, layout, chosen, kept)
    data = view_type.data_type.with_rank(len(kept))
    part = handle._replace(layout=laid_out, offset=handle.offset + layout.offset(begins))
    return replace(view_type, data_type=data, array_layout=kind), part


def is_whole(choice: Any) -> bool:
    """Return whether a choice selects all indices of a dimension."""
    return choice is ALL or (isinstance(choice, slice) and choice == slice(None))


def _choice(label: str, axis: int, given: Any, extent: int) -> DimensionSlice:
    match given:
        case _ if is_whole(given):
            return DimensionSlice(0, extent, whole=True)
        case slice(start=start, stop=stop, step=step):
            wanted = (0 if start is None else start, extent if stop is None else stop, step or 1)
        case range():
            wanted = (given.start, given.stop, given.step)
        case (begin, end):
            wanted = (begin, end, 1)
        case _ if hasattr(given, "__index__"):
            return _index(label, axis, given.__index__(), extent)
        case _:
            raise ViewTypeError(
                f"{given!r} selects nothing: write an index, ALL, a pair (begin, end) or a slice."
            )
    begin, end, step = (number.__index__() for number in wanted)
    if not 0 <= begin <= end <= extent or step < 1:
        raise ViewIndexError(
            f'The range {given!r} does not fit extent {extent} of dimension {axis} of "{label}".'
        )
    return DimensionSlice(begin, -(-(end - begin) // step), step)


def _index(label: str, axis: int, index: int, extent: int) -> DimensionSlice:
    if not 0 <= index < extent:
        raise ViewIndexError(
            f'Index {index} does not fit extent {extent} of dimension {axis} of "{label}".'
        )
    return DimensionSlice(index, None)


def _layout(
    view_type: ViewType, layout: ViewLayout, chosen: list[DimensionSlice], kept: list[int]
) -> tuple[type[ViewLayout], ViewLayout]:
    """Return the class of the subview's layout, and the layout."""
    extents = tuple(chosen[axis].length or 0 for axis in kept)
    kind = view_type.array_layout
    if not kept and kind not in (LayoutLeft, LayoutRight, LayoutStride):
        return LayoutRight, LayoutRight()
    if layout.strides is None:
        raise ViewTypeError(f"{view_type} has no strides: only single elements can be cut out.")
    inwards = chosen if kind is LayoutLeft else list(reversed(chosen))
    if not kept or (kind in (LayoutLeft, LayoutRight) and _stays_packed(inwards)):
        laid_out = kind(*extents) if kind is not LayoutStride else LayoutStride((), ())
        return kind, laid_out
    strides = tuple(layout.strides[axis] * chosen[axis].step for axis in kept)
    return LayoutStride, LayoutStride(extents, strides)


def _stays_packed(choices: Iterable[DimensionSlice]) -> bool:
    """Return whether the choices, starting with the fastest dimension, guarantee contiguity.

    They do if whole dimensions come first, then at most one range, then only indices.
    """
    open_end = True
    for choice in choices:
        if choice.length is None:
            open_end = False
        elif not open_end or choice.step != 1:
            return False
        elif not choice.whole:
            open_end = False
    return True
