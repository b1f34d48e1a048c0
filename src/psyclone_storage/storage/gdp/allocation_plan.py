"""Memory plans: the positions of the elements of a new storage relative to an aligned address."""

from __future__ import annotations

from typing import Any, Literal

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.layout import (
    byte_extent,
    first_fastest,
    last_fastest,
    strides_of,
)
from psyclone_storage.storage.gdp.labels import Labels
from psyclone_storage.storage.gdp.parameters import Parameters


@dataclass(frozen=True, slots=True)
class Plan:
    """Strides, the byte offset of the first element, and the size in bytes.

    The offset is relative to an address that is a multiple of the alignment. `order` is `"C"` or
    `"F"` if NumPy can allocate this layout. `plain` is true if `np.empty(*packed)` is then all that
    is needed. `shared` caches, for each storage class, the state of the storages that this plan
    created.
    """

    parameters: Parameters
    strides: tuple[int, ...]
    offset: int
    nbytes: int
    order: Literal["C", "F"] | None
    plain: bool
    packed: tuple[Any, ...]
    labels: Labels
    shared: dict[type, Any] = field(default_factory=dict, compare=False, repr=False)


def plan_memory(parameters: Parameters) -> Plan:
    """Return the memory plan in which the address of the aligned point is aligned (GDP-65).

    Where elements are smaller than the alignment, each line is padded to a multiple of it. The
    points with the same index in the fastest dimension are then aligned, too.
    """
    shape, itemsize = parameters.shape, parameters.dtype.itemsize
    labels = parameters.labels
    size = labels.alignment_size
    strides = strides_of(shape, parameters.layout, itemsize, size if size > itemsize else 1)
    point = labels.aligned_point
    distance = sum(i * stride for i, stride in zip(point, strides, strict=True))
    offset = -distance % size
    nbytes = offset + byte_extent(shape, strides, itemsize)[1]
    nbytes += -nbytes % max(itemsize, 1)
    order = _numpy_order(parameters)
    special = parameters.delayed or parameters.cuts or parameters.strict_exports
    plain = order is not None and parameters.device is None and not special
    packed = (shape, parameters.dtype, order)
    return Plan(parameters, strides, offset, nbytes, order, plain, packed, labels)


def cut_memory(
    parameters: Parameters, strides: tuple[int, ...], offset: int, size: int
) -> ChunkLayout | None:
    """Return the division of a buffer of `size` elements into chunks, None for one chunk.

    The field starts `offset` bytes after the start of the buffer. The elements before and after the
    field belong to the first and last chunk. Raises `ValueError` if the slowest dimension has a
    negative stride.
    """
    if not parameters.cuts:
        return None
    itemsize = max(parameters.dtype.itemsize, 1)
    step = strides[parameters.layout.index(0)] // itemsize
    if step < 0:
        raise ValueError("Memory whose slowest dimension runs backwards cannot be cut in chunks.")
    return ChunkLayout((0, *(offset // itemsize + cut * step for cut in parameters.cuts), size))


def _numpy_order(parameters: Parameters) -> Literal["C", "F"] | None:
    if parameters.labels.alignment_size != 1:
        return None
    dims = ("",) * len(parameters.shape)
    if parameters.layout == last_fastest(dims):
        return "C"
    return "F" if parameters.layout == first_fastest(dims) else None
