"""The local copy of the elements that a read stencil selects, without coherence tracking.

A `Patch` lives as long as its task holds the stencil's elements for reading, so it cannot become
stale. Only the elements of the stencil are moved, and only if they are not already at the space of
the task.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.accessors.stencil import Box, Index, Indices, Stencil
from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.spaces import MemorySpace, host_space
from psyclone_storage.storage.core.stats import GLOBAL_STATS, TransferEvent
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.registry import host_memory, memory_of, router


class Patch:
    """The elements of a read stencil, as a kernel gets them.

    `array` holds them in local order, `mapping` is the stencil. `patch[i]` takes the global index
    and raises `IndexError` outside of the stencil.
    """

    __slots__ = ("array", "mapping")

    def __init__(self, array: Any, mapping: Stencil) -> None:
        """Show `array` through `mapping`."""
        self.array = array
        self.mapping = mapping

    def local(self, index: Index) -> Index:
        """Return the position in `array` of the element at a global index (ACC-35)."""
        return self.mapping.local(index)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the local copy."""
        return self.mapping.local_shape

    def __len__(self) -> int:
        return self.mapping.size

    def __getitem__(self, index: Index) -> Any:
        """Return the element at a global index."""
        return self.array[self.mapping.local(index)]


def sources_of(
    buffer: CoherentBuffer, stencil: Stencil, space: MemorySpace
) -> dict[int, MemorySpace]:
    """Return for each chunk that `stencil` touches where its elements are copied from.

    That is `space` itself where it is valid, where a transfer under way makes it so, or where
    nothing is; else the host, else the truth. The access to the source waits for that transfer.
    """
    return {part.chunk: _source(buffer, part.chunk, space) for part in _parts(buffer, stencil)}


def bytes_to_move(buffer: CoherentBuffer, stencil: Stencil, space: MemorySpace) -> int:
    """Return how many bytes a patch at `space` would have to fetch."""
    return sum(
        part.numbers.size * buffer.itemsize
        for part in _parts(buffer, stencil)
        if _source(buffer, part.chunk, space) is not space
    )


def gather(
    buffer: CoherentBuffer, stencil: Stencil, tokens: dict[int, AccessToken], space: MemorySpace
) -> Patch:
    """Return a patch at `space` of what `tokens`, one for each chunk, may read."""
    memory = memory_of(space)
    if len(tokens) == 1:
        ((chunk, token),) = tokens.items()
        array = _brought(_pick(token, stencil), memory, token, buffer, chunk)
    else:
        array = _new(memory, buffer.dtype, (stencil.size,))[0]
        for part in _parts(buffer, stencil):
            token = tokens[part.chunk]
            values = _pick_numbers(token, part.numbers)
            values = _brought(values, memory, token, buffer, part.chunk)
            with memory.bound():
                array[_send(memory, part.places)] = values
        array = array.reshape(stencil.local_shape)
    view = memory.kernel_view(array)
    if isinstance(view, np.ndarray):
        view.flags.writeable = False
    return Patch(view, stencil)


class _ChunkRead(NamedTuple):
    """The elements that a stencil reads of one chunk: global numbers and local positions."""

    chunk: int
    numbers: Indices
    places: Indices


def _parts(buffer: CoherentBuffer, stencil: Stencil) -> list[_ChunkRead]:
    flat = stencil.flat()
    chunk_of = np.searchsorted(buffer.chunks.bounds, flat, "right") - 1
    return [
        _ChunkRead(int(chunk), flat[chunk_of == chunk], np.flatnonzero(chunk_of == chunk))
        for chunk in np.unique(chunk_of)
    ]


def _source(buffer: CoherentBuffer, chunk: int, space: MemorySpace) -> MemorySpace:
    region = buffer.chunks.span(chunk)
    # In this order: a transfer that ends between two of the questions is not overlooked.
    if buffer.replicas.is_arriving(space, chunk):
        return space
    if buffer.is_valid(space, region) or not buffer.is_initialised(region):
        return space
    return host_space() if buffer.is_valid(None, region) else buffer.replicas.truth_of(chunk)


def _pick(token: AccessToken, stencil: Stencil) -> Any:
    """Return a contiguous copy of the elements of a stencil, where `token` reads them."""
    if not isinstance(stencil, Box):
        return _pick_numbers(token, stencil.flat())
    slices = tuple(map(slice, stencil.starts, stencil.stops))
    with token.on_device():
        return token.window(token.buffer.dtype, stencil.shape)[slices].copy()


def _pick_numbers(token: AccessToken, numbers: Indices) -> Any:
    with token.on_device():
        return token.array[_send(memory_of(token.space), numbers)]


def _brought(
    array: Any, memory: Memory, token: AccessToken, buffer: CoherentBuffer, chunk: int
) -> Any:
    """Return an array of `token` in `memory`, and note the transfer if any."""
    if token.space is memory.space:
        return array
    begin = time.perf_counter()
    brought = _send(memory, array if isinstance(array, np.ndarray) else array.get())
    event = TransferEvent(
        buffer.label, token.space, memory.space, array.nbytes, chunk, time.perf_counter() - begin
    )
    buffer.stats.record(event)
    GLOBAL_STATS.record(event)
    return brought


def _send(memory: Memory, values: np.ndarray[Any, Any]) -> Any:
    """Return an array in `memory` with the values of a contiguous one of the host."""
    if memory.space.host_accessible:
        return values
    array, allocation = _new(memory, values.dtype, values.shape)
    if values.nbytes:
        staged = host_memory().adopt(values)[0]
        router().copy((memory, host_memory()), allocation, staged, (0, values.nbytes))
    return array


def _new(memory: Memory, dtype: np.dtype[Any], shape: tuple[int, ...]) -> tuple[Any, Allocation]:
    allocation = memory.allocate(math.prod(shape) * dtype.itemsize)
    return memory.window(allocation, WindowSpec(dtype, shape)), allocation
