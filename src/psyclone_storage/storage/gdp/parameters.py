"""The keywords of the creation functions: checks and default values.

A missing parameter comes from the preset that `defaults` names, else from the data that a storage
is created from, else from a fixed default (GDP-79). The result is a frozen, complete `Parameters`;
the module `plan` computes strides and offsets from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod
from operator import index
from typing import Any, Final, Literal, NamedTuple, TypedDict

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.chunks import row_blocks
from psyclone_storage.storage.core.errors import MemoryExhaustedError
from psyclone_storage.storage.core.layout import (
    Dims,
    Layout,
    checked_layout,
    default_dims,
    last_fastest,
)
from psyclone_storage.storage.gdp.defaults import Preset, preset_of
from psyclone_storage.storage.gdp.labels import (
    Halo,
    HaloLike,
    Labels,
    checked_dims,
    checked_halo,
    checked_point,
)

Managed = Literal["gt4py", "cuda"]


class Keywords(TypedDict, total=False):
    """The keywords that all creation functions share (GDP-62 to GDP-78), with extensions.

    - `aligned_index`: the point whose address is aligned; by default, the first one inside the
      halo.
    - `alignment_size`: the alignment of that address in bytes; 1 by default.
    - `defaults`: the name of a preset; see `defaults.py`.
    - `device`: `"gpu"` or None.
    - `dims`: the names of the dimensions, which determine the default layout.
    - `halo`: a width, or a pair of widths, for each dimension; no halo by default.
    - `layout`: the order of the strides.
    - `managed`: the library that synchronises host and device: `"gt4py"`, `"cuda"`, or None.
    - `label`: a name for messages and statistics.
    - `delayed`: allocate each side when it is first used, instead of immediately.
    - `chunks`: divide the field along its slowest dimension: an integer is the number of chunks, a
      tuple gives their sizes, as in dask. Each chunk has its own validity, so that an access to a
      view transfers only the chunks that contain it. By default, there is one chunk.
    - `strict_exports`: export host arrays as read-only, except inside an access for writing.
    """

    aligned_index: Sequence[int]
    alignment_size: int
    defaults: str | None
    device: str | None
    dims: Sequence[str] | None
    halo: HaloLike
    layout: Sequence[int]
    managed: str | bool | None
    label: str
    delayed: bool
    strict_exports: bool
    chunks: int | Sequence[int] | None


_LARGEST: Final = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}
"""The dtype kinds that NumPy and CuPy share, each with its largest size in bytes."""

_ADDRESSABLE: Final = 1 << 62

KEYWORDS: Final = frozenset(Keywords.__annotations__)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The complete parameters of an allocation.

    `device` is `"gpu"` or None; `managed` applies only with a device. `cuts` are the indices in the
    slowest dimension at which a new chunk begins.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    layout: Layout
    labels: Labels
    device: Literal["gpu"] | None = None
    managed: Managed | None = "gt4py"
    delayed: bool = False
    strict_exports: bool = False
    cuts: tuple[int, ...] = ()


class Source(NamedTuple):
    """The parameters that follow from data to be wrapped or copied; None leaves one unset.

    `layout` is derived from the strides. If `fixed` is true, the memory is used unchanged, so that
    a preset must agree with it and cannot override it.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    layout: Layout | None = None
    halo: Halo | None = None
    dims: Dims | None = None
    aligned_index: tuple[int, ...] | None = None
    alignment_size: int = 1
    device: Literal["gpu"] | None = None
    managed: Managed | None = "gt4py"
    label: str = ""
    fixed: bool = False


def resolve(
    keywords: Mapping[str, Any],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    source: Source | None = None,
) -> Parameters:
    """Return the parameters of a new storage, with the precedence of GDP-79.

    Raises `TypeError` for an unknown keyword or an element type that devices do not support,
    `ValueError` for an invalid value.
    """
    unknown = set(keywords) - KEYWORDS
    if unknown:
        raise TypeError(f'There is no keyword "{min(unknown)}" of storages.')
    label = keywords.get("label", source.label if source else "")
    _check_type(dtype, label)
    _check_size(shape, dtype, label)
    name = keywords.get("defaults")
    preset = None if name is None else preset_of(name)
    device = _device(keywords, preset, source)
    dims = _dims(keywords, len(shape), source)
    aligned = keywords.get("aligned_index", source.aligned_index if source else None)
    labels = Labels(
        _halo(keywords, shape, source),
        dims,
        None if aligned is None else checked_point(aligned, len(shape)),
        _alignment(keywords, preset, source, dtype),
        label,
    )
    layout = _layout(keywords, preset, source, dims or default_dims(len(shape)))
    return Parameters(
        shape,
        dtype,
        layout,
        labels,
        device,
        _managed(keywords, source),
        bool(keywords.get("delayed", False)),
        bool(keywords.get("strict_exports", False)),
        _cuts(keywords.get("chunks"), shape[layout.index(0)] if shape else 1),
    )


def checked_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return `shape` as a tuple of extents, which may be 0; reject negative ones.

    Raises `ValueError` for a negative extent.
    """
    extents = tuple(index(e) for e in shape) if isinstance(shape, Sequence) else _extents(shape)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"The shape {extents} has a negative extent.")
    return extents


def checked_device(device: str | None) -> Literal["gpu"] | None:
    """Return `"gpu"`, or None for host memory (None, `"host"` or `"cpu"`; GDP-69).

    Raises `ValueError` for any other name.
    """
    if device is None or device in {"cpu", "host"}:
        return None
    if device == "gpu":
        return "gpu"
    raise ValueError(f'The device must be "gpu", or None, "host" or "cpu", not {device!r}.')


def _check_size(shape: tuple[int, ...], dtype: np.dtype[Any], label: str) -> None:
    """Reject a size in bytes that no machine can address."""
    nbytes = prod(shape) * dtype.itemsize
    if nbytes > _ADDRESSABLE:
        raise MemoryExhaustedError(
            f"{named_storage(label)} of shape {shape} ({dtype}) would need {nbytes} B, which no "
            f"machine can address: give it smaller extents."
        )


def named_storage(label: str) -> str:
    """Return the subject of an error message about a storage that does not exist yet."""
    return f'The storage "{label}"' if label else "A storage"


def _check_type(dtype: np.dtype[Any], label: str) -> None:
    """Reject element types that NumPy and CuPy do not both support (GDP-3)."""
    if dtype.itemsize <= _LARGEST.get(dtype.kind, 0) and not dtype.isnative:
        raise TypeError(
            f"{named_storage(label)} cannot have elements in the byte order of {dtype.str}, which "
            f'devices do not know: convert the values with astype(dtype.newbyteorder("=")).'
        )
    if dtype.itemsize > _LARGEST.get(dtype.kind, 0):
        raise TypeError(
            f"{named_storage(label)} cannot have elements of type {dtype}: they must be booleans, "
            f"integers, or real or complex numbers of at most 64 bits a part, as both host and "
            f"device have them."
        )


def _extents(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, np.ndarray):
        return tuple(index(extent) for extent in shape)
    return (index(shape),)


def _device(
    keywords: Mapping[str, Any], preset: Preset | None, source: Source | None
) -> Literal["gpu"] | None:
    if "device" in keywords:
        return checked_device(keywords["device"])
    preferred = preset.device if preset is not None else None
    if source is not None and (preferred is None or source.fixed):
        if preferred is not None and checked_device(preferred) != source.device:
            raise ValueError(
                f'The defaults "{keywords["defaults"]}" are for the device "{preferred}", but the '
                f'buffer is on "{source.device or "cpu"}": give device= to say what is meant, or '
                f"copy."
            )
        return source.device
    return checked_device(preferred)


def _managed(keywords: Mapping[str, Any], source: Source | None) -> Managed | None:
    if "managed" not in keywords:
        return source.managed if source is not None else "gt4py"
    match keywords["managed"]:
        case None | False:
            return None
        case "gt4py":
            return "gt4py"
        case "cuda":
            return "cuda"
        case other:
            raise ValueError(f'managed must be "gt4py", "cuda" or None, not {other!r}.')


def _dims(keywords: Mapping[str, Any], ndim: int, source: Source | None) -> Dims | None:
    dims = keywords.get("dims", source.dims if source is not None else None)
    return None if dims is None else checked_dims(dims, ndim)


def _halo(keywords: Mapping[str, Any], shape: tuple[int, ...], source: Source | None) -> Halo:
    if "halo" in keywords and keywords["halo"] is not None:
        return checked_halo(keywords["halo"], shape)
    if source is not None and source.halo is not None:
        return checked_halo(source.halo, shape)
    return ((0, 0),) * len(shape)


def _layout(
    keywords: Mapping[str, Any], preset: Preset | None, source: Source | None, dims: Dims
) -> Layout:
    if keywords.get("layout") is not None:
        return checked_layout(keywords["layout"], len(dims))
    if preset is not None:
        return checked_layout(preset.layout(dims), len(dims))
    if source is not None and source.layout is not None:
        return source.layout
    return last_fastest(dims)


def _cuts(chunks: int | Sequence[int] | None, rows: int) -> tuple[int, ...]:
    """Return the indices in the slowest dimension, of extent `rows`, at which new chunks begin."""
    if chunks is None:
        return ()
    if isinstance(chunks, Sequence):
        sizes = tuple(index(size) for size in chunks)
        if sum(sizes) != rows or any(size < 1 for size in sizes):
            raise ValueError(
                f"The sizes of the chunks {sizes} must be positive and add up to {rows}, the "
                f"extent of the slowest dimension."
            )
        return tuple(accumulate(sizes))[:-1]
    return row_blocks(rows, 1, index(chunks)).bounds[1:-1]


def _alignment(
    keywords: Mapping[str, Any],
    preset: Preset | None,
    source: Source | None,
    dtype: np.dtype[Any],
) -> int:
    """Return the alignment in bytes.

    An alignment that only a preset or the source requests is ignored if it does not fit the element
    size.
    """
    given = keywords.get("alignment_size")
    if given is not None:
        size = index(given)
        if size < 1:
            raise ValueError(f"The alignment_size must be at least 1 byte, not {size}.")
        if not _fits(size, dtype):
            raise ValueError(
                f"Elements of {dtype.itemsize} B cannot be aligned to {size} B: one of the two "
                f"must divide the other."
            )
        return size
    if preset is not None and preset.alignment_size is not None:
        return preset.alignment_size if _fits(preset.alignment_size, dtype) else 1
    return source.alignment_size if source is not None and _fits_source(source, dtype) else 1


def _fits_source(source: Source, dtype: np.dtype[Any]) -> bool:
    return _fits(source.alignment_size, dtype)


def _fits(alignment: int, dtype: np.dtype[Any]) -> bool:
    size = max(dtype.itemsize, 1)
    return alignment % size == 0 or size % alignment == 0
