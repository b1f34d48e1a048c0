"""A local copy of the elements that a read stencil selects, without coherence tracking.

The task of a `Patch` has read access to these elements during the patch's lifetime, so the copy
cannot become stale. Only the elements of the stencil are transferred, and only if they are not
already in the space of the task.
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
    """The elements of a read stencil, as a kernel receives them.

    `array` contains them in local order; `mapping` is the stencil. `patch[i]` takes a global index
    and raises `IndexError` outside of the stencil.
    """

    __slots__ = ("array", "mapping")

    def __init__(self, array: Any, mapping: Stencil) -> None:
        """Wrap `array`, whose global indices `mapping` defines."""
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
    """Return for each chunk with elements of `stencil` the space from which they are copied.

    That is `space` itself if the chunk is valid there, if a pending transfer makes it valid, or if
    the chunk is uninitialised. Otherwise it is the host if it is valid, else the space of the
    current values. The access to the source waits for a pending transfer.
    """
    return {part.chunk: _source(buffer, part.chunk, space) for part in _parts(buffer, stencil)}


def bytes_to_move(buffer: CoherentBuffer, stencil: Stencil, space: MemorySpace) -> int:
    """Return the number of bytes that must be transferred for a patch in `space`."""
    return sum(
        part.numbers.size * buffer.itemsize
        for part in _parts(buffer, stencil)
        if _source(buffer, part.chunk, space) is not space
    )


def gather(
    buffer: CoherentBuffer, stencil: Stencil, tokens: dict[int, AccessToken], space: MemorySpace
) -> Patch:
    """Return a patch in `space`; `tokens` contains a read access for each chunk."""
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
    """The elements of one chunk that a stencil reads: global numbers and local positions."""

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
    # The order matters: a transfer that ends between two of these checks is still noticed.
    if buffer.replicas.is_arriving(space, chunk):
        return space
    if buffer.is_valid(space, region) or not buffer.is_initialised(region):
        return space
    return host_space() if buffer.is_valid(None, region) else buffer.replicas.truth_of(chunk)


def _pick(token: AccessToken, stencil: Stencil) -> Any:
    """Return a contiguous copy of the elements of a stencil, in the space of `token`."""
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
    """Return `array`, which belongs to `token`, in `memory`; record a transfer if necessary."""
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
    """Return an array in `memory` with the values of a contiguous host array."""
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
