"""`HArray`, HMemo's facade of a buffer: one-dimensional, resizable, used through accesses.

An array stores the context of its first touch and its policy on conflicts. The buffer stores size,
values, validity and locks, so an `HArray` may share its buffer with the other facades. It supports
neither arithmetic nor element access (`LArray` does), and exposes memory only during an access.
"""

# pylint: disable=invalid-name  # the names of HMemo

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar, Self, TypeAlias, TypedDict, Unpack

import numpy as np

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.casting import as_stored
from psyclone_storage.storage.core.context import Context, context_at
from psyclone_storage.storage.core.errors import (
    AccessReleasedError,
    AllocationInUseError,
    HostUseError,
)
from psyclone_storage.storage.core.faces import buffer_behind, found_buffer
from psyclone_storage.storage.core.futures import SyncToken
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import (
    MemorySpace,
    SpaceKind,
    host_space,
    memory_space,
    pinned_space,
)
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.core.write_back import write_back
from psyclone_storage.storage.hmemo.harray_interface import Interface, interface_of_buffer
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.registry import host_memory, memory_of

PlaceLike: TypeAlias = "Context | Memory | MemorySpace | str | None"
"""The place of an access: a context, memory, space or tag; None means `Context.current()`."""


@dataclass(frozen=True, slots=True)
class HData:
    """The state of one incarnation (HM-40): the copy of an array in one memory.

    `capacity` is in bytes; `pointer` is an address, 0 without an allocation.
    """

    memory: Memory
    context: Context
    pointer: int
    capacity: int
    valid: bool


class ArrayWords(TypedDict, total=False):
    """The keywords of the constructors.

    - `size`, `value`, `ctx`: also accepted by position. `context` and `first_touch` are aliases of
      `ctx`.
    - `dtype`: the element type; float64 if neither `dtype` nor values are given.
    - `label`: the name in messages. `const`: if true, write accesses are rejected.
    - `on_conflict`: `"raise"` or `"wait"`, the reaction to conflicting accesses of other threads.
    """

    size: int
    value: Any
    ctx: Context | None
    context: Context | None
    first_touch: Context | None
    dtype: Any
    label: str
    const: bool
    on_conflict: Policy | str


class _HArray:
    """The common base of all heterogeneous arrays, independent of the element type.

    `buffer` contains the values; other facades may share it. `context` is the context of the first
    touch, None if the constructor was called without one.
    """

    __slots__ = ("buffer", "context", "on_conflict", "__weakref__")

    def __init__(self, buffer: CoherentBuffer, context: Context | None = None) -> None:
        """Create an array that shares `buffer`."""
        self._look_at(buffer, context)

    def _look_at(self, buffer: CoherentBuffer, context: Context | None) -> None:
        self.buffer = buffer
        self.context = context
        self.on_conflict = Policy.RAISE

    # -- what it is ------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the element type (HM-2)."""
        return self.buffer.dtype

    @property
    def label(self) -> str:
        """Return the name in messages."""
        return self.buffer.label

    @property
    def constFlag(self) -> bool:  # noqa: N802
        """Return whether the array is read-only (HM-41)."""
        return self.buffer.const

    def size(self) -> int:
        """Return the number of elements."""
        return self.buffer.size

    def valueSize(self) -> int:  # noqa: N802
        """Return the number of bytes of one element."""
        return self.buffer.itemsize

    def capacity(self, ctx: PlaceLike = None) -> int:
        """Return the size in bytes of the allocation at `ctx` (HM-40), 0 without an allocation."""
        return self.buffer.capacity(self.space_at(ctx))

    def isValid(self, ctx: PlaceLike = None) -> bool:  # noqa: N802
        """Return whether the incarnation at `ctx` has the current values."""
        return self.buffer.is_valid(self.space_at(ctx))

    def incarnations(self) -> tuple[HData, ...]:
        """Return the state of each incarnation, in the order of first use."""
        return tuple(
            HData(
                memory_of(state.space),
                context_at(state.space),
                state.pointer,
                state.capacity,
                state.valid,
            )
            for state in self.buffer.incarnations()
        )

    def getValidContext(self, preferred: Context | None = None) -> Context:  # noqa: N802
        """Return a context at which the values are current.

        The candidates are `preferred`, the context of the first touch, and then all other
        incarnations. If the values are current nowhere, return the first of `preferred`, the
        context of the first touch and the host that exists.
        """
        candidates = [ctx for ctx in (preferred, self.context) if ctx is not None]
        for ctx in candidates:
            if self.isValid(ctx):
                return ctx
        valid = [data.context for data in self.incarnations() if data.valid]
        return [*valid, *candidates, Context.host()][0]

    # -- its memory ------------------------------------------------------------------------------

    def resize(self, n: int) -> None:
        """Set the size to `n` elements and preserve the values (HM-56, HM-57).

        Only valid incarnations that are too small are reallocated. Raises `AccessConflictError`
        while an access is active.
        """
        self.resize_under(n, None)

    def clear(self) -> None:
        """Set the size to 0; allocations and validity do not change (HM-58)."""
        self.resize(0)

    def purge(self) -> None:
        """Set the size to 0 and free all memory (HM-60); raise an error during an access."""
        self.buffer.purge()

    def reserve(self, n: int, ctx: PlaceLike = None) -> None:
        """Allocate memory for `n` elements at `ctx`; the size does not change."""
        self.buffer.reserve(n, self.space_at(ctx))

    def prefetch(self, ctx: PlaceLike = None) -> SyncToken[None]:
        """Start a transfer of the values to `ctx`; the next access waits for it (HM-75, HM-76)."""
        return self.buffer.prefetch(self.space_at(ctx))

    def wait(self) -> None:
        """Wait for all pending transfers."""
        self.buffer.wait()

    # -- for accesses ----------------------------------------------------------------------------

    def space_at(self, ctx: PlaceLike) -> MemorySpace:
        """Return the memory space that an access at `ctx` uses.

        With zero copy, a device uses page-locked host memory, unless the host incarnation is
        already in pageable memory, which is never page-locked later (HM-82, HM-86).
        """
        if ctx is None:
            ctx = Context.current()
        if not isinstance(ctx, Context):
            return ctx.space if isinstance(ctx, Memory) else memory_space(ctx)
        if ctx.zero_copy and ctx.working_memory().space is pinned_space():
            on_host = self.buffer.replicas.find(host_space())
            if on_host is None or on_host.space.kind is SpaceKind.PINNED:
                return pinned_space()
        return ctx.space

    def acquire(
        self, ctx: PlaceLike, mode: AccessMode, on_conflict: Policy | str | None = None
    ) -> AccessToken:
        """Acquire the array at `ctx` and return the access token; the access classes call this."""
        token = self.token(ctx, mode, on_conflict)
        acquire_all((token,))
        return token

    def token(
        self, ctx: PlaceLike, mode: AccessMode, on_conflict: Policy | str | None = None
    ) -> AccessToken:
        """Return an access token, not yet acquired; `acquire_all` acquires several at once."""
        space = self.space_at(ctx)
        wanted = self.on_conflict if on_conflict is None else conflict_policy(on_conflict)
        token = self.buffer.token(space, mode, self._policy(wanted))
        if isinstance(ctx, Context) and ctx.space is not space:
            token.space = ctx.space
        return token

    def resize_under(self, n: int, token: AccessToken | None) -> None:
        """Set the size to `n` on behalf of the write access with `token`, if not None."""
        self.buffer.resize(n, token)

    def check_room(self, n: int, ctx: PlaceLike) -> None:
        """Raise the error of a resize to `n` by an access at `ctx`, before anything is changed."""
        self.buffer.check_room(n, self.space_at(ctx))

    # -- private ---------------------------------------------------------------------------------

    def _policy(self, wanted: Policy) -> Policy:
        """Return the policy for the lock table: only wait for other threads (HM-62)."""
        if wanted is Policy.RAISE:
            return wanted
        mine = threading.get_ident()
        held = tuple(self.buffer.table.holders)
        own_write = any(claim.owner == mine and claim.mode.writes for claim in held)
        return Policy.RAISE if own_write else Policy.AUTO

    def __len__(self) -> int:
        return self.buffer.size

    def __copy__(self) -> Any:
        """Return a copy of the array with its own values."""
        return deepcopy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy or pickle by value; a copy of an `HArrayRef` is an `HArray` with its own memory."""
        kind = HArray if isinstance(self, HArrayRef) else type(self)
        where = None if self.context is None else (self.context.kind, self.context.device_id)
        return _restored, (kind, self.buffer, where, self.on_conflict)

    @property
    def __gt_data_interface__(self) -> Interface:
        """Describe the array for stencil calls; the description is valid until a resize (GDP-7)."""
        return interface_of_buffer(self.buffer)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Raise `HostUseError`: the values can only be used through an access (HM-48)."""
        raise HostUseError(
            f'The values of "{self.label}" are used through an access: take the `get()` of a '
            f"HostReadAccess."
        )

    def __repr__(self) -> str:
        """Describe the array and its incarnations, without reading any value."""
        rows = ", ".join(
            f"{data.memory.space.tag}: {data.capacity} B {'valid' if data.valid else 'invalid'}"
            for data in self.incarnations()
        )
        return f'<{type(self).__name__} "{self.label}" {self.size()} x {self.dtype} [{rows}]>'


class HArray(_HArray):
    """One array with incarnations in several memories, which become valid on access.

    The types of positional arguments determine their meaning, in any order: an integer is the size,
    a `Context` the context of the first touch, a type the element type, any other object the value
    of all elements. An array, a list or another `HArray` as the first argument contains the values.
    If the first argument is another facade of a buffer, the array shares its elements, as with
    `over`.

        HArray(1024)                            no memory yet
        HArray(host)                            first touch on the host, no elements
        HArray(1024, cuda)                      memory on the device, no values
        HArray(1024, host, 1.0, dtype="f4")     all elements 1.0 on the host
        HArray([1.0, 2.0, 3.0])                 values of a list

    Elements without a value are undefined: there is no implicit initialisation (HM-3). Raises
    `TypeError` for invalid arguments, `ValueError` for a negative size.
    """

    __slots__ = ()
    converts: ClassVar[bool] = False
    """Whether the constructor converts values of an `HArray` with another element type."""

    def __init__(self, *what: Any, **words: Unpack[ArrayWords]) -> None:
        """Create an array; see the class for the arguments, `ArrayWords` for the keywords."""
        shared = None if not what or isinstance(what[0], _HArray) else found_buffer(what[0])
        if shared is not None:
            self._share(shared, _read_arguments(what[1:], words, self.converts), words)
            return
        wanted = _read_arguments(what, words, self.converts)
        hints = Hints(
            first_touch=None if wanted.ctx is None else wanted.ctx.working_memory().space,
            host_follows_device=True,
            delayed=wanted.ctx is None or wanted.size == 0,
        )
        buffer = CoherentBuffer(
            wanted.size, wanted.dtype, BufferOptions(label=words.get("label", ""), hints=hints)
        )
        super().__init__(buffer, wanted.ctx)
        if wanted.has_value:
            self._fill(wanted.value)
        elif wanted.source is not None:
            self._copy_in(wanted.source)
        if words.get("const", False):
            buffer.freeze()
        self.on_conflict = conflict_policy(words.get("on_conflict", Policy.RAISE))

    @classmethod
    def over(cls, face: Any, context: Context | None = None) -> Self:
        """Return an array over a buffer, or over the buffer of another facade.

        It has all elements of the buffer, in memory order. Raises `TypeError` for an object without
        a buffer.
        """
        array = cls.__new__(cls)
        array._look_at(buffer_behind(face), context)  # noqa: SLF001
        return array

    def _share(self, buffer: CoherentBuffer, wanted: _Wanted, words: ArrayWords) -> None:
        """Share the buffer of another facade; reject arguments that would change its properties."""
        fixed = {*wanted.seen, *words} - {"ctx", "context", "first_touch", "on_conflict"}
        if fixed:
            raise TypeError(
                f'"{buffer.label}" ({buffer.size} x {buffer.dtype}) is looked at, not copied: the '
                f"{min(fixed)} of an HArray on it cannot be chosen."
            )
        self._look_at(buffer, wanted.ctx)
        self.on_conflict = conflict_policy(words.get("on_conflict", Policy.RAISE))

    def _fill(self, value: Any) -> None:
        stored = as_stored(value, self.dtype)
        with self.acquire(self.context, AccessMode.WRITE_ONLY) as token:
            spec = WindowSpec(self.dtype, (self.size(),))
            token.replica.memory.fill(token.allocation, spec, stored)

    def _copy_in(self, source: Any) -> None:
        if isinstance(source, _HArray):
            self._copy_array(source)
            return
        values = np.ascontiguousarray(source, self.dtype)
        with self.acquire(self.context, AccessMode.WRITE_ONLY) as token:
            if isinstance(token.array, np.ndarray):
                token.array[...] = values
            else:
                token.array.set(values)

    def _copy_array(self, source: _HArray) -> None:
        """Copy the values of `source` at the context of the first touch, or at a valid one."""
        if not any(data.valid for data in source.incarnations()):
            return
        place = self.context or source.getValidContext()
        read = source.token(place, AccessMode.READ)
        write = self.token(place, AccessMode.WRITE_ONLY)
        acquire_all((read, write))
        with read, write:
            self._transfer(write, read)

    def _transfer(self, write: AccessToken, read: AccessToken) -> None:
        """Copy bytes between two incarnations in one memory space (HM-4)."""
        nbytes = self.buffer.nbytes
        onto, origin = write.replica.memory, read.replica.memory
        onto.memcpyFrom(write.allocation, origin, read.allocation, nbytes)


class HArrayRef(HArray):
    """An array whose host incarnation is existing memory, without a copy (HM-83).

    `HArrayRef(data, N)` has the first `N` elements of `data`, a NumPy array or another object with
    the buffer protocol, which must be contiguous. The array cannot be resized (HM-84). `close`, the
    end of a `with` block, or the destruction of the array copies the current values back to `data`
    (HM-85). Read-only memory results in a const array.
    """

    __slots__ = ("_finalizer",)

    def __init__(  # pylint: disable=super-init-not-called
        self, data: Any, n: int | None = None, **words: Unpack[ArrayWords]
    ) -> None:
        """Wrap `data`; raise `TypeError` or `ValueError` if its memory cannot be wrapped."""
        pages = _pages_of(data, n)
        size: int = pages.size
        buffer = CoherentBuffer(size, pages.dtype, BufferOptions(label=words.get("label", "")))
        self._look_at(buffer, None)
        self.on_conflict = conflict_policy(words.get("on_conflict", Policy.RAISE))
        buffer.adopt(host_memory().adopt(pages)[0])
        if words.get("const", False) or not pages.flags.writeable:
            buffer.freeze()
        self._finalizer = weakref.finalize(self, write_back, buffer)

    def resize_under(self, n: int, token: AccessToken | None) -> None:
        """Reject a change of the size: the memory is externally owned (HM-84)."""
        if n != self.size():
            raise AllocationInUseError(
                f'"{self.label}" looks at memory of {self.size()} x {self.dtype} that belongs to '
                f"somebody else: it cannot be resized to {n} elements."
            )

    def check_room(self, n: int, ctx: PlaceLike) -> None:
        """Reject a change of the size (HM-84)."""
        self.resize_under(n, None)

    def token(
        self, ctx: PlaceLike, mode: AccessMode, on_conflict: Policy | str | None = None
    ) -> AccessToken:
        """Return an access token, not yet acquired.

        Raises `AccessReleasedError` after `close`.
        """
        if not self._finalizer.alive:
            raise AccessReleasedError(
                f'"{self.label}" was closed: its values are in the memory that it looked at.'
            )
        return super().token(ctx, mode, on_conflict)

    def close(self) -> None:
        """Copy the current values to the memory and end the use of the array.

        Raises `AccessConflictError` during a write access, `PoisonedDataError` if the last one
        failed. A second call has no effect.
        """
        if self._finalizer.alive:
            self.buffer.make_valid(host_space())
            self._finalizer.detach()

    def __enter__(self) -> HArrayRef:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _restored(
    kind: type[HArray], buffer: CoherentBuffer, where: tuple[Any, int] | None, on_conflict: Policy
) -> HArray:
    """Recreate an array from the data that `__reduce__` returned."""
    array = kind.over(buffer, None if where is None else Context.get(*where))
    array.on_conflict = on_conflict
    return array


def conflict_policy(word: Policy | str) -> Policy:
    """Return the policy called `"raise"` or `"wait"`; raise `ValueError` for other names."""
    policy = Policy(word)
    if policy is Policy.AUTO:
        raise ValueError('on_conflict must be "raise" or "wait", not "auto".')
    return policy


_WORDS = {
    "size": "size",
    "dtype": "dtype",
    "value": "value",
    "ctx": "ctx",
    "context": "ctx",
    "first_touch": "ctx",
}
"""The keywords that are also accepted by position, and the name of that argument."""


@dataclass(slots=True)
class _Wanted:
    """The parsed arguments of a constructor."""

    size: int = 0
    dtype: Any = None
    ctx: Context | None = None
    value: Any = None
    has_value: bool = False
    source: Any = None
    seen: set[str] = field(default_factory=set)

    def note(self, name: str, given: Any) -> None:
        """Record one argument; raise `TypeError` if it was already given."""
        if name in self.seen:
            raise TypeError(f"The {name} of an HArray was given twice, now as {given!r}.")
        self.seen.add(name)
        setattr(self, name, given)


def _read_arguments(what: tuple[Any, ...], words: ArrayWords, converts: bool) -> _Wanted:
    unknown = sorted(set(words) - set(ArrayWords.__annotations__))
    if unknown:
        raise TypeError(f"HArray knows no keyword {', '.join(map(repr, unknown))}.")
    wanted = _Wanted()
    for position, given in enumerate(what):
        wanted.note(_kind_of(given, position, wanted), given)
    for word, name in _WORDS.items():
        if word in words:
            wanted.note(name, words[word])  # type: ignore[literal-required]
    wanted.has_value = "value" in wanted.seen
    wanted.size = int(wanted.size)
    if "source" in wanted.seen:
        _read_source(wanted, converts)
    if wanted.dtype is None:
        wanted.dtype = np.float64
    return wanted


def _kind_of(given: Any, position: int, wanted: _Wanted) -> str:
    if isinstance(given, Context):
        return "ctx"
    if isinstance(given, (np.dtype, type)):
        return "dtype"
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if whole and "size" not in wanted.seen:
        return "size"
    if position == 0 and isinstance(given, (_HArray, np.ndarray, Sequence)):
        return "source"
    if "size" in wanted.seen or position > 0:
        return "value"
    raise TypeError(f"An HArray begins with a size, a context or values, not with {given!r}.")


def _read_source(wanted: _Wanted, converts: bool) -> None:
    """Determine the size and the element type from the given values."""
    if wanted.seen & {"size", "value"}:
        raise TypeError("An HArray takes either values, or a size and one value for all elements.")
    source = wanted.source
    if not isinstance(source, _HArray):
        source = wanted.source = np.asarray(source, wanted.dtype)
        if source.ndim != 1:
            raise TypeError(f"An HArray has one dimension, unlike values of shape {source.shape}.")
    elif wanted.dtype is None:
        wanted.dtype = source.dtype
    elif np.dtype(wanted.dtype) != source.dtype and not converts:
        raise TypeError(
            f"An HArray copies bytes: it cannot turn {source.dtype} into {np.dtype(wanted.dtype)}. "
            f"LArray converts."
        )
    wanted.size = len(source)
    if wanted.dtype is None:
        wanted.dtype = source.dtype


def _pages_of(data: Any, n: int | None) -> np.ndarray[Any, Any]:
    """Return the first `n` elements of the memory of `data`, as a flat array."""
    try:
        pages = data if isinstance(data, np.ndarray) else np.asarray(memoryview(data))
    except TypeError:
        raise TypeError(
            f"An HArrayRef looks at memory, but {type(data).__name__} is neither a NumPy array nor "
            f"has it the buffer protocol."
        ) from None
    if not pages.flags.c_contiguous:
        raise ValueError("An HArrayRef looks at contiguous memory; copy the array first.")
    size = pages.size if n is None else n
    if not 0 <= size <= pages.size:
        raise ValueError(f"{size} elements were to be used of memory that holds {pages.size}.")
    return pages.reshape(-1)[:size]
