"""Labels for the grid points of a storage: halo, names of dimensions, aligned point.

Labels are independent of memory. Slicing or transposing a storage does the same to its labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import index
from typing import Any, Protocol, TypeAlias

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.storage.core.layout import CARTESIAN, Dims, gt_rank

Halo: TypeAlias = tuple[tuple[int, int], ...]
HaloLike: TypeAlias = "Sequence[int | tuple[int, int]]"


class Shaped(Protocol):
    """Protocol of objects with a `shape` attribute."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a storage.

    If `aligned_index` is absent (None), the aligned point is the first point inside the halo
    (GDP-63). Without `dims`, the dimensions are unnamed. `origin` is the first point inside the
    halo in the dimension order of GT4Py, None without a halo.
    """

    halo: Halo
    dims: Dims | None = None
    aligned_index: tuple[int, ...] | None = None
    alignment_size: int = 1
    label: str = ""
    origin: tuple[int, ...] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute `origin`, which GT4Py reads in each call."""
        object.__setattr__(self, "origin", origin_behind(self.halo, self.dims))

    @property
    def aligned_point(self) -> tuple[int, ...]:
        """Return the index of the point whose address is aligned."""
        if self.aligned_index is not None:
            return self.aligned_index
        return tuple(low for low, _ in self.halo)

    def with_halo(self, halo: Halo) -> Labels:
        """Return the labels with another halo; the aligned point does not change (GDP-93)."""
        return Labels(halo, self.dims, self.aligned_point, self.alignment_size, self.label)

    def permuted(self, axes: Sequence[int]) -> Labels:
        """Return the labels of the transposed storage (GDP-111)."""
        halo = tuple(self.halo[axis] for axis in axes)
        dims = None if self.dims is None else tuple(self.dims[axis] for axis in axes)
        point = self.aligned_index
        aligned = None if point is None else tuple(point[axis] for axis in axes)
        return Labels(halo, dims, aligned, self.alignment_size, self.label)

    def cut(self, key: Any, shape: Sequence[int]) -> Labels:
        """Return the labels of `storage[key]`, for a basic key of a storage of `shape` (GDP-103).

        An integer removes its dimension. A slice keeps the part of the halo that it selects on each
        side. A new axis has neither a halo nor a name; all dimensions of the result are then
        unnamed.
        """
        parts = iter(_per_axis(key, len(shape)))
        halo: list[tuple[int, int]] = []
        kept: list[int] = []
        axis = 0
        for part in parts:
            if part is None:
                halo.append((0, 0))
                kept.append(-1)
                continue
            if isinstance(part, slice):
                halo.append(_cut_halo(self.halo[axis], part, shape[axis]))
                kept.append(axis)
            axis += 1
        dims = None
        if self.dims is not None and -1 not in kept:
            dims = tuple(self.dims[axis] for axis in kept)
        return Labels(tuple(halo), dims, None, self.alignment_size, self.label)


Cut: TypeAlias = "tuple[Labels | Cut, Any, Shaped]"
"""A pending slice: the labels of the sliced storage, the key, and the sliced array."""


def resolved(cut: Labels | Cut) -> Labels:
    """Return the labels of a view; `cut` records the labels and keys from which they follow."""
    cuts: list[Cut] = []
    while isinstance(cut, tuple):
        cuts.append(cut)
        cut = cut[0]
    for _, key, array in reversed(cuts):
        cut = cut.cut(key, array.shape)
    return cut


def checked_halo(halo: HaloLike, shape: Sequence[int]) -> Halo:
    """Return `halo` as one pair for each dimension (GDP-72).

    An integer entry is a halo of that width at both ends. Raises `TypeError` if `halo` is a single
    number, `ValueError` for a wrong length, a negative width, or a halo wider than the storage.
    """
    if not isinstance(halo, Iterable):
        raise TypeError(
            f"The halo {halo!r} must have an entry for each dimension of the shape {tuple(shape)}: "
            f"write halo={(halo,) * len(shape)!r}."
        )
    parts = tuple(halo)
    if len(parts) != len(shape):
        raise ValueError(
            f"The halo {parts} has {len(parts)} entries, but the shape {tuple(shape)} has "
            f"{len(shape)} dimension(s)."
        )
    return tuple(_checked_width(part, extent) for part, extent in zip(parts, shape, strict=True))


def checked_dims(dims: Sequence[str], ndim: int) -> Dims:
    """Return the names of dimensions as a tuple (GDP-70).

    Raises `ValueError` unless there are `ndim` distinct names, each of them I, J, K or a number.
    """
    found = tuple(str(name) for name in dims)
    unknown = [name for name in found if not is_dim(name)]
    if unknown:
        raise ValueError(
            f'"{unknown[0]}" is not the name of a dimension: write "I", "J", "K", or "0", "1" ... '
            f"for data dimensions."
        )
    if len(set(found)) != len(found):
        raise ValueError(f"The dims {found} name a dimension twice.")
    if len(found) != ndim:
        raise ValueError(f"The dims {found} do not fit {ndim} dimension(s).")
    return found


def is_dim(name: str) -> bool:
    """Return whether `name` is a valid name of a dimension: I, J, K or a number."""
    return name in CARTESIAN or name.isdecimal()


def checked_point(point: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return the aligned index as a tuple.

    Raises `ValueError` for a wrong length or a negative entry.
    """
    found = tuple(index(entry) for entry in point)
    if len(found) != ndim or any(entry < 0 for entry in found):
        raise ValueError(
            f"The aligned_index {found} must have {ndim} entry(ies), none of them negative."
        )
    return found


def _checked_width(part: int | tuple[int, int], extent: int) -> tuple[int, int]:
    if isinstance(part, Sequence):
        if len(part) != 2:
            raise ValueError(f"{part!r} in the halo must be a width or a pair of widths.")
        low, high = index(part[0]), index(part[1])
    else:
        low = high = index(part)
    if low < 0 or high < 0 or low + high > extent:
        raise ValueError(f"A halo of {low} and {high} points does not fit an extent of {extent}.")
    return low, high


@lru_cache(maxsize=1024)
def origin_behind(halo: Halo, dims: Dims | None) -> tuple[int, ...] | None:
    """Return the first point inside the halo, in GT4Py's dimension order; None without a halo."""
    starts = [low for low, _ in halo]
    if not any(starts):
        return None
    if dims is not None:
        order = sorted(range(len(starts)), key=lambda axis: gt_rank(dims[axis]))
        starts = [starts[axis] for axis in order]
    return tuple(starts)


def _per_axis(key: Any, ndim: int) -> list[Any]:
    """Return one integer or slice for each of `ndim` dimensions, and None for each new axis."""
    parts = list(key) if isinstance(key, tuple) else [key]
    missing = ndim - sum(part is not None and part is not Ellipsis for part in parts)
    rest = [slice(None)] * missing
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        return [*parts[:at], *rest, *parts[at + 1 :]]
    return [*parts, *rest]


def _cut_halo(halo: tuple[int, int], part: slice, extent: int) -> tuple[int, int]:
    points = range(*part.indices(extent))
    low = sum(1 for point in _ends(points, halo[0]) if point < halo[0])
    high = sum(1 for point in _ends(points, halo[1]) if point >= extent - halo[1])
    return (low, high) if points.step > 0 else (high, low)


def _ends(points: range, count: int) -> list[int]:
    """Return the first and last `count` points, each once; only these can lie in a halo."""
    if len(points) <= 2 * count:
        return list(points)
    return [*points[:count], *points[len(points) - count :]]
