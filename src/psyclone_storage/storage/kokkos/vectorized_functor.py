"""The environment of a running functor: execution space, indices and elements of views.

A functor runs once for each index or, with `KOKKOS_LAMBDA`, once for many. In the second case, an
index or an element is an object that represents many numbers (`Together`). If the functor uses an
operation that such an object does not support, such as a truth test or the subscript of a list, its
writes are undone and it runs once for each index instead.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import index as to_index
from typing import Any, Protocol

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.casting import as_stored
from psyclone_storage.storage.core.errors import HostUseError, ViewIndexError, ViewTypeError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind


class NotTogetherError(TypeError):
    """Error: an operation supports only one index at a time; the caller falls back to that."""


class Together(NDArrayOperatorsMixin):
    """One number for each of many indices: an index, or a value computed from indices.

    In-place operations create new objects, as they do with numbers.
    """

    __slots__ = ("array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Any) -> None:
        """Wrap an array of numbers in the memory space of the functor."""
        self.array = array

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **words: Any) -> Any:
        """Apply a ufunc for each index; raise `NotTogetherError` if an operand is an array."""
        if method != "__call__" or words:
            raise NotTogetherError(f"{function.__name__}.{method} is for one index at a time.")
        return _wrapped(function(*map(_plain, inputs)))

    def __array_function__(self, function: Any, _: Any, inputs: Any, words: Any) -> Any:
        """Apply `np.where` for each index; raise `NotTogetherError` for all other functions."""
        if function is not np.where or words:
            raise NotTogetherError(f"{function.__name__} is for one index at a time.")
        plain = list(map(_plain, inputs))
        array = next(one.array for one in inputs if isinstance(one, Together))
        return _wrapped(library_of(array).where(*plain))

    __iadd__ = NDArrayOperatorsMixin.__add__
    __isub__ = NDArrayOperatorsMixin.__sub__
    __imul__ = NDArrayOperatorsMixin.__mul__
    __itruediv__ = NDArrayOperatorsMixin.__truediv__
    __ifloordiv__ = NDArrayOperatorsMixin.__floordiv__
    __imod__ = NDArrayOperatorsMixin.__mod__
    __ipow__ = NDArrayOperatorsMixin.__pow__
    __ilshift__ = NDArrayOperatorsMixin.__lshift__
    __irshift__ = NDArrayOperatorsMixin.__rshift__
    __iand__ = NDArrayOperatorsMixin.__and__
    __ixor__ = NDArrayOperatorsMixin.__xor__
    __ior__ = NDArrayOperatorsMixin.__or__

    def _refuse(self, *_: Any) -> Any:
        raise NotTogetherError("This stands for many numbers, and is none.")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = _refuse
    __array__ = __len__ = __iter__ = __getitem__ = __round__ = _refuse


class FunctorMemory(Protocol):
    """The attributes of a memory record that a functor needs."""

    buffer: CoherentBuffer
    space: MemorySpace

    @property
    def elements(self) -> Any:
        """Return all elements as a flat array."""


class ElementPlaces(Protocol):
    """The attributes and methods of a layout that a functor needs."""

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the extents."""

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Return the strides in elements; None for a layout without strides."""

    def offset(self, indices: Sequence[Any]) -> Any:
        """Return the offset of the element at `indices`, in elements."""


class RunningFunctor:
    """The state of a running functor: its space, and whether it runs for many indices.

    `shape` is the shape of the array of indices, None for one index at a time.
    """

    __slots__ = ("space", "shape", "_undo")

    def __init__(self, space: MemorySpace) -> None:
        """Start in `space`, with calls for one index at a time."""
        self.space = space
        self.shape: tuple[int, ...] | None = None
        self._undo: list[tuple[FunctorMemory, Any, Any]] = []

    @contextmanager
    def together(self, shape: tuple[int, ...]) -> Iterator[None]:
        """Run for an array of indices of this shape in a block; undo its writes if it raises."""
        self.shape = shape
        try:
            yield
        except BaseException:
            self._take_back()
            raise
        finally:
            self.shape = None
            self._undo.clear()

    def check(self, space: MemorySpace, subject: Callable[[], str]) -> None:
        """Raise `HostUseError` for memory that cannot be accessed from the functor's space."""
        if self.space.host_accessible:
            usable = space.host_accessible
        else:
            usable = space is self.space or space.kind in (SpaceKind.MANAGED, SpaceKind.PINNED)
        if not usable:
            raise HostUseError(
                f"{subject()} is at {space.tag}, and cannot be used by a functor that runs at "
                f"{self.space.tag}: copy it there first, or run the functor where it is."
            )

    def position(self, layout: ElementPlaces, start: int, indices: tuple[Any, ...]) -> Together:
        """Return the positions of many elements; some of `indices` represent many numbers."""
        if layout.strides is None:
            raise NotTogetherError("A layout without strides places one element at a time.")
        numbers = list(map(as_index, indices))
        for number, extent in zip(numbers, layout.extents, strict=True):
            if bool(np.logical_or(number < 0, number >= extent).any()):
                raise ViewIndexError("Some index is outside.")  # the fallback finds the index
        return Together(start + layout.offset(numbers))

    def load(self, memory: FunctorMemory, position: Any) -> Any:
        """Return one element, or one for each index."""
        with memory.buffer.acquire(memory.space) as token:
            array = token.kernel_view(memory.elements)
            if isinstance(position, Together):
                return Together(array[position.array])
            value = array[position]
            if isinstance(value, np.void):
                return value.copy()
            # An element of a CuPy array is a view, which an in-place increment would change.
            return value if isinstance(value, np.generic) else value.get()[()]

    def store(self, memory: FunctorMemory, position: Any, value: Any) -> None:
        """Set one element, or one for each index."""
        place, given = bare(position), bare(value)
        stored = as_stored(given, memory.buffer.dtype)
        if given is value:
            check_number(stored)
        # An error inside the write access would mark the data as failed.
        check_fit(getattr(stored, "shape", ()), getattr(place, "shape", ()))
        with memory.buffer.acquire(memory.space, AccessMode.READ_WRITE) as token:
            array = token.kernel_view(memory.elements)
            self._keep(memory, place, array)
            array[place] = stored

    def combine(self, memory: FunctorMemory, function: Any, position: Any, operand: Any) -> None:
        """Apply `function` to an element and `operand`, sequentially for each index."""
        check_number(operand)
        with memory.buffer.acquire(memory.space, AccessMode.READ_WRITE) as token:
            array = token.kernel_view(memory.elements)
            place, given = bare(position), bare(operand)
            if self.shape is None:
                array[place] = as_stored(function(array[place], given), memory.buffer.dtype)
                return
            self._keep(memory, place, array)
            library = library_of(array)
            places = library.broadcast_to(place, self.shape)
            values = library.broadcast_to(given, self.shape)
            getattr(library, function.__name__).at(array, places, values)

    def _keep(self, memory: FunctorMemory, place: Any, array: Any) -> None:
        if self.shape is not None:
            self._undo.append((memory, place, array[place].copy()))

    def _take_back(self) -> None:
        for memory, place, values in reversed(self._undo):
            with memory.buffer.acquire(memory.space, AccessMode.READ_WRITE) as token:
                token.kernel_view(memory.elements)[place] = values


def library_of(array: Any) -> Any:
    """Return the module of an array's functions: NumPy or CuPy."""
    return sys.modules[type(array).__module__.partition(".")[0]]


class _FunctorThread(threading.local):
    """The functor that runs in the calling thread; None outside of a functor."""

    running: RunningFunctor | None = None

    @contextmanager
    def runs_at(self, space: MemorySpace) -> Iterator[RunningFunctor]:
        """Set the running functor of the calling thread, in `space`, for a block."""
        if self.running is not None:
            raise ViewTypeError("A functor cannot start another parallel operation.")
        self.running = running = RunningFunctor(space)
        try:
            yield running
        finally:
            self.running = None


THREAD = _FunctorThread()
"""The functor of the calling thread."""


def check_fit(shape: tuple[int, ...], places: tuple[int, ...]) -> None:
    """Raise `NotTogetherError` if there are more values than positions."""
    if np.broadcast_shapes(shape, places) != places:
        raise NotTogetherError("There are more numbers than places for them.")


def check_number(value: Any) -> None:
    """Raise `NotTogetherError` for an array that does not represent one number for each index.

    Such an array does not fit into one element, and its values may change before they are used.
    """
    if not isinstance(value, Together) and np.ndim(value):
        raise NotTogetherError("There are more numbers than places for them.")


def as_index(one: Any) -> Any:
    """Return an index, or an array of indices as 64-bit integers."""
    if not isinstance(one, Together):
        return to_index(one)
    if one.array.dtype.kind not in "iu":
        raise NotTogetherError("An index is an integer.")
    return one.array.astype(np.int64, copy=False)


def bare(value: Any) -> Any:
    """Return the array in a `Together`; return other values unchanged."""
    return value.array if isinstance(value, Together) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Together):
        return value.array
    if np.ndim(value):
        raise NotTogetherError("An array takes part in what is done for one index at a time.")
    return value


def _wrapped(result: Any) -> Any:
    return tuple(map(Together, result)) if isinstance(result, tuple) else Together(result)
