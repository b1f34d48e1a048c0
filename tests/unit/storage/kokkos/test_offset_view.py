"""Tests of offset views, whose indices start at any number."""

from __future__ import annotations

from typing import Any

import pytest

from psyclone_storage.storage.kokkos import (
    ALL,
    LayoutLeft,
    OffsetView,
    View,
    ViewExtentError,
    ViewIndexError,
    ViewRankError,
    ViewTypeError,
    subview,
    view_alloc,
)


def test_indices_run_from_the_first_to_the_last() -> None:
    offset = OffsetView["double**", LayoutLeft]("A", (-1, 3), (2, 4))
    assert (offset.begins(), offset.begin(0), offset.end(0), offset.end(1)) == ((-1, 2), -1, 4, 5)
    assert (offset.extents, offset.extent(1), offset.label()) == ((5, 3), 3, "A")
    offset[-1, 4] = 7.0
    assert offset(-1, 4) == offset[-1, 4] == offset.view()(0, 2) == 7.0
    for indices in ((4, 2), (-2, 2), (0, 5), (0, 1)):
        with pytest.raises(ViewIndexError, match=r'"A" \(-1:4, 2:5\)> has no element'):
            offset(*indices)
    with pytest.raises(ViewRankError):
        offset(1)
    with pytest.raises(ViewIndexError):
        offset.begin(2)


def test_a_view_gets_offsets_without_a_copy() -> None:
    view = View["int*"]("a", 3)
    offset = OffsetView["const int*"](view, [-1])
    view[2] = 5
    assert offset[1] == 5
    with pytest.raises(ViewTypeError, match="needs 1 first indices"):
        OffsetView["int*"](view, [0, 0])


def test_a_part_keeps_the_indices_that_it_selects() -> None:
    offset = OffsetView["int**"](view_alloc("A"), (-2, 2), (1, 4))
    offset[1, 3] = 9
    column = subview(offset, ALL, 3)
    assert (column.begins(), column(1)) == ((-2,), 9)
    box = subview(offset, (0, 2), (2, 4))
    assert (box.begins(), box.extents, box(1, 3)) == ((0, 2), (2, 2), 9)
    with pytest.raises(ViewIndexError):
        subview(offset, (-3, 2), ALL)
    with pytest.raises(ViewTypeError, match="selects nothing"):
        subview(offset, "x", ALL)
    with pytest.raises(ViewRankError):
        subview(offset, ALL)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("A", (3, 1)), ViewExtentError),
        (("A", 3), ViewTypeError),
        ((3, (0, 1)), ViewTypeError),
        (("A", (0, 1), (0, 1)), ViewTypeError),
    ],
)
def test_what_makes_no_offset_view(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        OffsetView["int*"](*arguments)


def test_a_range_without_indices_is_legal() -> None:
    assert OffsetView["int*"]("A", (1, 0)).extents == (0,)
