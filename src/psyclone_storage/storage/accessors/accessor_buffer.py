"""The buffer of the accessor API: a buffer with a shape, hints and readable chunks.

Access to its data requires a host accessor, a device accessor or a task. Two processes that create
a buffer from the same arguments get the same chunks, whichever node they run on (ACC-27).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import BufferOptions
from psyclone_storage.storage.core.buffer import CoherentBuffer as CoreBuffer
from psyclone_storage.storage.core.chunks import ChunkLayout, row_blocks
from psyclone_storage.storage.core.faces import buffer_behind
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceLike, memory_space
from psyclone_storage.storage.memory.registry import memory_of

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MemoryChunk:
    """One part of a buffer (ACC-8, ACC-9).

    It consists of the elements from `start` to `stop` (exclusive), of type `dtype` and `nbytes`
    bytes in total. `tag` names the memory space with their current values.
    """

    start: int
    stop: int
    nbytes: int
    dtype: np.dtype[Any]
    tag: str


class BufferWords(TypedDict, total=False):
    """The keywords of a buffer.

    - `chunks`: the number of blocks of rows into which the buffer is divided, or a `ChunkLayout`.
    - `label`, `init`, `const`, `hints`: as in `BufferOptions`.
    """

    chunks: int | ChunkLayout
    label: str
    init: Any
    const: bool
    hints: Hints


class Buffer(CoreBuffer):
    """Data of any shape, in C order, coherent over memory spaces.

    `Buffer(1024)` and `Buffer((4, 6), "f4")` have no values yet; `Buffer(numpy_array)` contains a
    copy of the array. The metadata are `size`, `shape`, `dtype`, `itemsize` and `nbytes` (ACC-1).
    """

    __slots__ = ("_shape",)

    def __init__(
        self,
        shape: int | Sequence[Any] | np.ndarray[Any, Any],
        dtype: Any = None,
        options: BufferOptions = BufferOptions(),  # noqa: B008 - frozen
        **words: Unpack[BufferWords],
    ) -> None:
        """Create a buffer of a shape, or with the values of an array or a list.

        Raises `ValueError` for negative extents or chunks that do not fit.
        """
        values = None if _is_shape(shape) else np.asarray(shape, dtype)
        self._shape: Shape = _shape_of(shape) if values is None else values.shape
        if dtype is None:
            dtype = np.float64 if values is None else values.dtype
        wanted = _with(options, self._shape, words)
        fillable = wanted if values is None else replace(wanted, const=False)
        super().__init__(math.prod(self._shape), dtype, fillable)
        if values is not None:
            home = self.replicas.truth_of(0) if self.chunks.count == 1 else None
            self._write(values, home)
            if wanted.const:
                self.freeze()

    @property
    def shape(self) -> Shape:
        """Return the extents; a buffer that another facade resized has one dimension."""
        fits = math.prod(self._shape) == self.size
        return self._shape if fits else (self.size,)

    @property
    def window_spec(self) -> WindowSpec:
        """Return dtype, shape and offset of all elements, in C order."""
        return WindowSpec(self.dtype, self.shape)

    def set_read_mostly(self, on: bool = True) -> None:
        """Declare that data are rarely written: each write updates all copies (ACC-5)."""
        self.set_hints(replace(self.hints, read_mostly=on))

    def set_preferred(self, *spaces: SpaceLike) -> None:
        """Set the preferred space of the current values; several spaces share the chunks (ACC-6).

        The data move there immediately, or as soon as the active accesses allow it. A call without
        spaces resets the hint. Raises `DeviceUnavailableError` for a missing device.
        """
        self.set_hints(replace(self.hints, preferred=tuple(_existing(s) for s in spaces)))

    def set_access_via(self, space: SpaceLike) -> None:
        """Set a space that will read the data: it receives a copy after each write (ACC-7).

        Raises `DeviceUnavailableError` for a missing device.
        """
        self.set_hints(replace(self.hints, access_via=_existing(space)))

    def memory_chunks(self) -> tuple[MemoryChunk, ...]:
        """Return a description of each chunk, with the space of its current values (ACC-8)."""
        spans = [self.chunks.span(chunk) for chunk in range(self.chunks.count)]
        return tuple(
            MemoryChunk(start, stop, (stop - start) * self.itemsize, self.dtype, space.tag)
            for (start, stop), space in zip(spans, self.point_of_truth(), strict=True)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy or pickle by value, including the shape."""
        return *super().__reduce__(), (None, {"_shape": self._shape})

    def _write(self, values: np.ndarray[Any, Any], home: SpaceLike) -> None:
        with self.acquire(home, AccessMode.WRITE_ONLY, Policy.AUTO) as token:
            window = token.window(self.dtype, self.shape)
            if isinstance(window, np.ndarray):
                window[...] = values
            else:
                window.set(np.ascontiguousarray(values, self.dtype))


def buffer_of(face: Any) -> tuple[CoreBuffer, Shape]:
    """Return the buffer of `face`, a buffer or an object with one, and its shape.

    The layouts of other facades are ignored: their elements are viewed in memory order, as one
    dimension. Raises `TypeError` for an object without a buffer.
    """
    buffer = buffer_behind(face)
    return buffer, shape_of(buffer)


def shape_of(buffer: CoreBuffer) -> Shape:
    """Return the current shape of `buffer`, which another facade may have resized."""
    return buffer.shape if isinstance(buffer, Buffer) else (buffer.size,)


def _existing(name: SpaceLike) -> MemorySpace:
    """Return the space; raise an error if its memory does not exist."""
    space = memory_space(name)
    memory_of(space)
    return space


def _is_shape(given: Any) -> bool:
    whole = (int, np.integer)
    return isinstance(given, whole) or (
        isinstance(given, tuple) and all(isinstance(extent, whole) for extent in given)
    )


def _shape_of(given: Any) -> Shape:
    shape = given if isinstance(given, tuple) else (given,)
    if any(extent < 0 for extent in shape):
        raise ValueError(f"A buffer cannot have the shape {shape}.")
    return tuple(int(extent) for extent in shape)


def _with(options: BufferOptions, shape: Shape, words: BufferWords) -> BufferOptions:
    changes: dict[str, Any] = dict(words)
    chunks = changes.get("chunks")
    if isinstance(chunks, int):
        rows = shape[0] if shape else 1
        changes["chunks"] = row_blocks(rows, math.prod(shape[1:]), chunks)
    return replace(options, **changes)
