"""Order of dimensions in memory, in the notation of GDP-3.

A layout is a permutation of `0 .. ndim-1`: the dimension with entry 0 has the largest stride, the
one with the largest entry the smallest (GDP-73). Strides are in bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import TypeAlias

Layout: TypeAlias = tuple[int, ...]
Dims: TypeAlias = tuple[str, ...]
LayoutRule: TypeAlias = Callable[[Dims], Layout]
"""A function that chooses a layout from the names of the dimensions."""

CARTESIAN = ("I", "J", "K")


def checked_layout(layout: Sequence[int], ndim: int) -> Layout:
    """Return `layout` as a tuple; raise `ValueError` unless it permutes `0 .. ndim-1`."""
    found = tuple(layout)
    if sorted(found) != list(range(ndim)):
        raise ValueError(
            f"The layout {found} does not fit {ndim} dimension(s): it must hold each of the "
            f"numbers 0 to {ndim - 1} once."
        )
    return found


def last_fastest(dims: Dims) -> Layout:
    """Return the layout in which the last index varies fastest: C order."""
    return tuple(range(len(dims)))


def first_fastest(dims: Dims) -> Layout:
    """Return the layout in which the first index varies fastest: Fortran order."""
    return tuple(reversed(range(len(dims))))


def by_meaning(order: str) -> LayoutRule:
    """Return a rule that orders dimensions by their names (GDP-76).

    `order` lists I, J and K from the largest stride to the smallest. Data dimensions (numbers) have
    larger strides than these, `"0"` the largest.
    """

    def rule(dims: Dims) -> Layout:
        data = sorted((name for name in dims if name not in CARTESIAN), key=int)
        ranking = [*data, *(name for name in order if name in dims)]
        return tuple(ranking.index(name) for name in dims)

    return rule


def default_dims(ndim: int) -> Dims:
    """Return the default names of dimensions: I, J, K, then "0", "1" ..."""
    return (*CARTESIAN[:ndim], *(str(number) for number in range(ndim - len(CARTESIAN))))


def gt_rank(dim: str) -> int:
    """Return the sort key of a dimension in GT4Py's order: I, J, K, then numbers."""
    return CARTESIAN.index(dim) if dim in CARTESIAN else len(CARTESIAN) + int(dim)


def strides_of(shape: Sequence[int], layout: Layout, itemsize: int, multiple: int) -> Layout:
    """Return the strides in bytes of an array of `shape` with `layout`.

    The array is contiguous, except that the extent with the smallest stride is padded so that all
    other strides are multiples of `multiple` bytes. If the first line of the array is aligned, all
    are.
    """
    strides = [0] * len(layout)
    step = itemsize
    for rank, axis in enumerate(sorted(range(len(layout)), key=layout.__getitem__, reverse=True)):
        strides[axis] = step
        step *= max(shape[axis], 1)
        if rank == 0:
            step += -step % multiple
    return tuple(strides)


def layout_of(strides: Sequence[int]) -> Layout:
    """Return the layout of `strides`; of equal strides, the earlier one counts as larger."""
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    return tuple(order.index(axis) for axis in range(len(strides)))


def has_layout(shape: Sequence[int], strides: Sequence[int], layout: Layout) -> bool:
    """Return whether memory with `strides` has this layout; extents of 1 are ignored."""
    order = sorted(range(len(layout)), key=layout.__getitem__)
    steps = [abs(strides[axis]) for axis in order if shape[axis] > 1]
    return all(larger >= smaller for larger, smaller in pairwise(steps))


def is_packed(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Return whether the array has no gaps between its first and its last byte."""
    if not prod(shape):
        return True
    low, high = byte_extent(shape, strides, itemsize)
    return high - low == prod(shape) * itemsize


def byte_extent(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """Return the first and the end byte offset of the array relative to its first element."""
    if not prod(shape):
        return 0, 0
    spans = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    low = sum(span for span in spans if span < 0)
    return low, sum(span for span in spans if span > 0) + itemsize
