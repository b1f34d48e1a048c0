"""Order of dimensions in memory, in the notation of GDP-3; this module allocates nothing.

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
"""Choose a layout from the names of the dimensions."""

CARTESIAN = ("I", "J", "K")


def checked_layout(layout: Sequence[int], ndim: int) -> Layout:
    """Return `layout` as a tuple. Raises `ValueError` unless it permutes `0 .. ndim-1`."""
    found = tuple(layout)
    if sorted(found) != list(range(ndim)):
        raise ValueError(
            f"The layout {found} does not fit {ndim} dimension(s): it must hold each of the "
            f"numbers 0 to {ndim - 1} once."
        )
    return found


def last_fastest(dims: Dims) -> Layout:
    """Give the last index the smallest stride, whatever it means: the order of C."""
    return tuple(range(len(dims)))


def first_fastest(dims: Dims) -> Layout:
    """Give the first index the smallest stride, whatever it means: the order of Fortran."""
    return tuple(reversed(range(len(dims))))


def by_meaning(order: str) -> LayoutRule:
    """Return the rule that sorts dimensions by meaning (GDP-76).

    `order` lists I, J and K from the largest stride to the smallest. Data dimensions have larger
    strides than these, `"0"` the largest.
    """

    def rule(dims: Dims) -> Layout:
        data = sorted((name for name in dims if name not in CARTESIAN), key=int)
        ranking = [*data, *(name for name in order if name in dims)]
        return tuple(ranking.index(name) for name in dims)

    return rule


def default_dims(ndim: int) -> Dims:
    """Return the names that dimensions have where none are given: I, J, K, then "0", "1" ..."""
    return (*CARTESIAN[:ndim], *(str(number) for number in range(ndim - len(CARTESIAN))))


def gt_rank(dim: str) -> int:
    """Return where GT4Py sorts a dimension: I, J, K, then numbers."""
    return CARTESIAN.index(dim) if dim in CARTESIAN else len(CARTESIAN) + int(dim)


def strides_of(shape: Sequence[int], layout: Layout, itemsize: int, multiple: int) -> Layout:
    """Return the strides in bytes of an array of `shape`, packed in the order of `layout`.

    The extent with the smallest stride is padded so that all other strides are multiples of
    `multiple` bytes: with that, each line of the array is aligned as its first one is.
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
    """Return the layout that `strides` have; of equal ones, the earlier counts as the larger."""
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    return tuple(order.index(axis) for axis in range(len(strides)))


def has_layout(shape: Sequence[int], strides: Sequence[int], layout: Layout) -> bool:
    """Return whether memory with `strides` has the order of `layout`; extents of 1 are ignored."""
    order = sorted(range(len(layout)), key=layout.__getitem__)
    steps = [abs(strides[axis]) for axis in order if shape[axis] > 1]
    return all(larger >= smaller for larger, smaller in pairwise(steps))


def is_packed(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Return whether the array uses each byte between its first and its last one."""
    if not prod(shape):
        return True
    low, high = byte_extent(shape, strides, itemsize)
    return high - low == prod(shape) * itemsize


def byte_extent(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """Return the first byte, and the one after the last, relative to the first element."""
    if not prod(shape):
        return 0, 0
    spans = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    low = sum(span for span in spans if span < 0)
    return low, sum(span for span in spans if span > 0) + itemsize
