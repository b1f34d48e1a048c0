"""State of the core in pure Python, used without the compiled core.

The classes have the same fields as those in `_compiled.c`, which add fast paths. Subclasses make
all decisions; the compiled core also calls them where no fast path applies. Thus each rule of the
runtime has one implementation, in Python.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from psyclone_storage.storage.core.forking import FORKS, Rank

Callback = TypeVar("Callback", bound=Callable[..., Any])

FRAMES = 1
"""Number of Python frames between the entry of a block and its general path."""

_REGISTERED = SimpleNamespace()
_LEAF = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Protects short updates, which a finalizer in the same thread may re-enter."""


def register(**objects: Any) -> None:
    """Register the objects of other modules that the core needs.

    - `read`, `read_write`, `auto`: the most common access modes and policy.
    - `plain`: the access request without uncommon options.
    - `token`, `block`, `arguments`: the classes of objects that the core creates.
    - `opening`, `modes`: the class of blocks that use one storage, and the names of access modes.
    - `array`: the array class of NumPy.
    - `pages`, `page`: the class of host pages, and the size of a page in bytes.
    - `piece`, `pin`: the classes of allocations and of pins, which prevent memory from being moved.
    - `host`: the memory space that None selects.
    - `total`: the counters of all transfers.
    - `timed`: whether emulated devices simulate the configured transfer times.
    """
    _REGISTERED.__dict__.update(objects)


class Replica:
    """The fields of one replica of a buffer."""

    __slots__ = ("memory", "space", "bit", "allocation")

    def __init__(self, memory: Any, allocation: Any = None) -> None:
        """Create a replica in `memory`."""
        self.memory = memory
        self.space = memory.space
        self.bit: int = memory.space.bit
        self.allocation = allocation

    def beside(self, allocation: Any) -> Any:
        """Return a replica of another buffer in the same memory."""
        return type(self)(self.memory, allocation)

    def beside_in(self, pool: Any, nbytes: int, alignment: int, label: str) -> Any:
        """Return a replica of another buffer in the same memory, with memory from `pool`."""
        allocation = pool.piece(self.space, nbytes, alignment)
        allocation.label = label
        return self.beside(allocation)


class Lane:
    """The default stream of a GPU, and the notes on its work whose event is not recorded yet.

    `current` returns the current stream of the calling thread and `place` its current device (None
    if there is only device `number`). `notes` are those on reading and on writing, each a tuple of
    one use, None if the last event is recorded. `renew` records the event and makes new notes.
    """

    __slots__ = ("stream", "queue", "notes", "__weakref__")

    def __init__(self, *, stream: Any, queue: Any, **_: Any) -> None:
        """Start without notes; only the compiled core needs the functions."""
        self.stream = stream
        self.queue = queue
        self.notes: Any = None


class AccessFields:
    """The fields of an access to one replica.

    `place` is the requested space and the range of chunks; the owner is the calling thread.
    """

    __slots__ = (
        "buffer", "replica", "space", "chunks", "mode", "policy", "owner", "request", "turn",
        "_block", "active", "in_flight",
    )  # fmt: skip

    def __init__(self, buffer: Any, replica: Any, place: Any, mode: Any, policy: Any) -> None:
        """Create an access of the calling thread, not yet acquired; buffers call this."""
        self.buffer = buffer
        self.replica = replica
        self.space, self.chunks = place
        self.mode = mode
        self.policy = policy
        self.owner: Any = threading.get_ident()
        self.request = _REGISTERED.plain
        self.turn: Any = None
        self._block: Any = None
        self.active = False
        self.in_flight = False

    def release(self, error: BaseException | None = None) -> None:
        """End the access; `error` means that its write failed.

        Raises an error if the access has already ended.
        """
        self.buffer.release(self, error)


class Ledger:
    """The active accesses, waiting accesses and validity of a buffer, under one lock.

    - `writers` is the number of active accesses that write; `queue` contains the waiting ones.
    - `everywhere` is the intersection and `anywhere` the union of the valid masks of all chunks.
    - `attention` disables the fast paths: the data are `barred`, or a device may still use a
      replica, which does not affect work in the same queue.
    - `barred` means that the data are const or poisoned, or that a transfer is pending or has
      failed.
    - `last_writer` is the replica that was written last, None if only parts of it were.
    - `valid` and `touched` are the masks of each chunk; `nbytes` is the size of all elements in
      bytes.
    """

    __slots__ = (
        "lock", "holders", "queue", "last_writer", "everywhere", "anywhere", "writers", "attention",
        "barred", "valid", "touched", "nbytes",
    )  # fmt: skip

    def __init__(self, chunks: int = 0, nbytes: int = 0) -> None:
        """Start without accesses, and without valid replicas of the chunks."""
        # An RLock reports whether this thread holds it, even after an interrupt.
        self.lock: Any = threading.RLock()
        self.holders: list[Any] = []
        self.queue: Any = None
        self.last_writer: Any = None
        self.writers = 0
        self.attention = False
        self.barred = False
        self.nbytes = nbytes
        self.everywhere = self.anywhere = 0
        self.clear_masks(chunks)

    def clear_masks(self, chunks: int) -> None:
        """Record that none of the `chunks` chunks has values."""
        self.valid: list[int] = [0] * chunks
        self.touched: list[int] = [0] * chunks
        self.everywhere = self.anywhere = 0

    def drop(self, claim: Any) -> None:
        """Remove `claim` from the active accesses; the caller holds the lock."""
        self.holders.remove(claim)
        self.writers -= claim.mode.writes
        claim.active = False
        claim.turn = None

    def try_drop(self, claim: Any) -> bool:
        """End `claim` if that requires only an update of this object; may be called at any point.

        Return False if a thread waits, or if the lock is held, possibly by this thread.
        """
        lock, dropped = self.lock, False
        if lock._is_owned():  # noqa: SLF001  # pylint: disable=protected-access
            return False
        try:
            # pylint: disable-next=consider-using-with
            if lock.acquire(blocking=False) and not self.queue:
                self.drop(claim)
                dropped = True
            self._unlock()
        except BaseException:
            self._unlock()  # again, because the interrupt may have come in `_unlock`
            raise
        return dropped

    def _unlock(self) -> None:
        if self.lock._is_owned():  # noqa: SLF001  # pylint: disable=protected-access
            self.lock.release()


class Acquirable:
    """The fields of a buffer that an access needs.

    `single` is true if there is one chunk, `_resident` maps requested spaces to their replicas, and
    `_whole` is the range of all chunks. `_has_wishes` is true if the end of an access may start
    transfers.
    """

    __slots__ = ("table", "stats", "_resident", "_whole", "version", "single", "_has_wishes")

    def _take(self, table: Any, stats: Any, resident: Any, chunks: int, wishes: bool) -> None:
        """Initialise the fields; there are no writes yet."""
        # pylint: disable=attribute-defined-outside-init  # as in the compiled core
        self.table = table
        self.stats = stats
        self._resident = resident
        self._whole = (0, chunks)
        self.version = 0
        self.single = chunks == 1
        self._has_wishes = wishes

    def acquire(
        self, space: Any = None, mode: Any = None, policy: Any = None, request: Any = None
    ) -> Any:
        """Acquire the data in `space`, by default for reading, and return the access token."""
        mode, policy = mode or _REGISTERED.read, policy or _REGISTERED.auto
        return self._acquire_carefully(space, mode, policy, request)

    def release(self, token: Any, error: BaseException | None = None) -> None:
        """End an access; `error` means that its write failed."""
        try:
            self._release_carefully(token, error)
        except BaseException:
            # An interrupt may come before the first step.
            if token.active:
                self._release_carefully(token, error)
            raise

    def make_valid(self, space: Any = None, region: Any = None) -> None:
        """Make the replica in `space` valid, without an access that remains active.

        The compiled core copies small data in host memory in one step.
        """
        self._make_valid_carefully(space, region)

    def is_at_rest(self, _: Any) -> bool:
        """Return whether `space` has all values and no access writes; False if unknown.

        Only the compiled core can read this state in one step.
        """
        return False

    def _acquire_carefully(self, space: Any, mode: Any, policy: Any, request: Any) -> Any:
        raise NotImplementedError

    def _release_carefully(self, token: Any, error: BaseException | None) -> None:
        raise NotImplementedError

    def _make_valid_carefully(self, space: Any, region: Any) -> None:
        raise NotImplementedError


def begin(_: Any) -> bool:
    """Acquire all accesses if the fast path applies; else return False."""
    return False


def end_queued(*_: Any) -> bool:
    """End an access whose work is queued if the fast path applies; else return False."""
    return False


class Sliceable:
    """The fields of a storage.

    `_array` describes the elements; without a buffer in `_backing`, it contains them. `_windows`
    caches the arrays of the two sides.
    """

    __slots__ = ("_array", "_labels", "_backing", "_windows")

    def __init__(self, array: np.ndarray[Any, Any], labels: Any, backing: Any) -> None:
        """Create the storage that `array` describes; the creation functions call this.

        With a buffer, `array` only describes the layout and is never read; without one, it contains
        the data.
        """
        self._array = array
        self._labels = labels
        self._backing = backing
        self._windows: Any = None

    def __getitem__(self, key: Any) -> Any:
        return self._picked(key)

    def access(self, device: Any = None, mode: Any = "r", region: Any = ...) -> Any:
        """Return a context manager that yields the array of one side and locks the data."""
        return self._access_carefully(device, mode, region)

    def _access_carefully(self, device: Any, mode: Any, region: Any) -> Any:
        raise NotImplementedError

    def _view(self, picked: np.ndarray[Any, Any], key: Any) -> Any:
        """Return the storage that `picked`, the array view for `key`, describes."""
        labels = (self._labels, key, self._array)
        return type(self)(picked, labels, self._backing or self.backing())

    @property
    def _shown(self) -> Any:
        """Return the host array of a host-only storage."""
        return self._array.view() if self._backing is None else self.to_numpy()

    @property
    def __gt_origin__(self) -> Any:
        return self.labels.origin

    @property
    def __gt_dims__(self) -> Any:
        return self.labels.dims

    def to_numpy(self) -> Any:
        """Return the host buffer as an array."""
        raise NotImplementedError

    @property
    def labels(self) -> Any:
        """Return halo, names of dimensions and aligned point."""
        raise NotImplementedError

    def _picked(self, key: Any) -> Any:
        raise NotImplementedError

    def backing(self) -> Any:
        """Return the state shared by all storages of the same data."""
        raise NotImplementedError


class Windows:
    """The cached arrays of a storage on its two sides, and its data interface.

    `kernel` is the array for a kernel that runs immediately, `later` the one for a queued kernel.
    """

    __slots__ = ("host", "reading", "device", "kernel", "later", "interface")

    def __init__(self) -> None:
        """Start with an empty cache."""
        self.host: np.ndarray[Any, Any] | None = None
        self.reading: np.ndarray[Any, Any] | None = None
        self.device: Any = None
        self.kernel: Any = None
        self.later: Any = None
        self.interface: dict[str | None, dict[str, Any]] | None = None


class Sides:
    """State shared by all storages of the same data: the buffer and the spaces of both sides."""

    __slots__ = (
        "buffer", "host", "device", "label", "origin", "points", "_sync_state", "_pin", "strict",
    )  # fmt: skip

    def __init__(self, host: Any, device: Any, strict: bool = False, label: str = "") -> None:
        """Start without a buffer."""
        self.buffer: Any = None
        self.host = host
        self.device = device
        self.label = label
        self.origin = 0
        self.points = -1
        self._sync_state: Any = None
        self._pin: object = None
        self.strict = strict

    def attach(self, buffer: Any, origin: int, points: int = -1) -> None:
        """Use `buffer`, and pin its memory for the lifetime of this object."""
        self.origin = origin
        self.points = points
        self._pin = _REGISTERED.pin(buffer.pins)
        # Last, because a thread that sees a buffer assumes that all other fields are set.
        self.buffer = buffer


class Tallies:
    """Transfer counters for each of four directions: number, bytes and seconds."""

    __slots__ = ("_callbacks", "_totals")

    def __init__(self) -> None:
        """Start at zero, without callbacks."""
        self._callbacks: list[Any] = []
        self._clear()

    def _add(self, way: int, nbytes: int, seconds: float) -> None:
        count, total, spent = self._totals[way]
        self._totals[way] = (count + 1, total + nbytes, spent + seconds)

    def _sums(self, way: int) -> tuple[int, int, float]:
        return self._totals[way]

    def _clear(self) -> None:
        self._totals: list[tuple[int, int, float]] = [(0, 0, 0.0)] * 4


class Lease(np.ndarray[Any, np.dtype[np.uint8]]):
    """The bytes of one allocation; arrays over them keep the underlying pages alive."""

    pool: Blocks | None = None
    address: int
    nbytes_of_block: int

    def __del__(self) -> None:
        if self.pool is not None:
            self.pool.give_back(self.nbytes_of_block)


class Blocks:
    """A pool of host pages; the compiled core caches returned pages, up to `limit` bytes."""

    __slots__ = ("_in_use", "_high_water")

    def __init__(self, limit: int = 1 << 30) -> None:
        """Start without pages."""
        self._in_use = 0
        self._high_water = 0

    def lease(self, nbytes: int, alignment: int = 64) -> Any:
        """Return `nbytes` bytes whose address is a multiple of `alignment` (in bytes)."""
        size = nbytes + alignment
        block = _REGISTERED.pages(size)
        shift = -block.address % alignment
        lease: Lease = Lease((nbytes,), np.uint8, block.pages, shift)
        lease.address = block.address + shift
        with _LEAF:
            lease.pool, lease.nbytes_of_block = self, size
            self._in_use += size
            self._high_water = max(self._high_water, self._in_use)
        return lease

    def piece(self, space: Any, nbytes: int, alignment: int = 64) -> Any:
        """Return an allocation in `space` with memory from this pool."""
        lease = self.lease(nbytes, alignment)
        return _REGISTERED.piece(space, lease.address, nbytes, lease)

    def give_back(self, size: int) -> None:
        """Record that a block of `size` bytes was returned."""
        with _LEAF:
            self._in_use -= size

    def trim(self) -> None:
        """Return all cached blocks to the system; the fallback caches none."""

    def _sums(self) -> tuple[int, int, int]:
        """Return the bytes in use, the bytes cached, and the high-water mark."""
        return self._in_use, 0, self._high_water


class Piece:
    """The fields of an allocation."""

    __slots__ = (
        "space", "pointer", "capacity", "held", "owner", "label", "pending", "failures", "writable",
        "lent", "alive",
    )  # fmt: skip

    def __init__(self, space: Any, pointer: int, capacity: int, held: Any) -> None:
        """Describe a block of `capacity` bytes at address `pointer`; memories call this."""
        self.space = space
        self.pointer = pointer
        self.capacity = capacity
        self.held = held
        self.owner: object | None = None
        self.label = ""
        self.pending: tuple[Any, ...] = ()
        self.failures: tuple[Any, ...] = ()
        self.writable = True
        self.lent = False
        self.alive = True

    def swap_pending(self, before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
        """Atomically replace `pending` if it still is `before`; return whether it was."""
        with _LEAF:
            is_same = self.pending is before
            if is_same:
                self.pending = after
            return is_same


class Hold:
    """One pin in a list of pins that prevent memory from being moved, until `release`.

    Appending to a list and popping from it are atomic. A lock is not possible, because `__del__`
    may run at any point.
    """

    __slots__ = ("_pins",)

    def __init__(self, pins: list[None]) -> None:
        """Add one pin to the list `pins`."""
        self._pins: list[None] | None = pins
        pins.append(None)

    def release(self) -> None:
        """Remove the pin; a second call has no effect."""
        pins, self._pins = self._pins, None
        if pins is not None:
            pins.pop()

    def __del__(self) -> None:
        self.release()


def setting(name: str, otherwise: str) -> str:
    """Return the current value of the environment variable `name`, by default `otherwise`."""
    return os.environ.get(name, otherwise)


class BindingBlock:
    """The fields of a block that binds the arguments of one call, and its entry and exit."""

    __slots__ = (
        "_arguments", "_device", "_writes", "_tokens", "_guests", "_block", "_entry", "_memory",
        "_queue", "_lone",
    )  # fmt: skip

    def __init__(self, arguments: Any, device: str | None, writes: Any) -> None:
        """Prepare the block; it acquires the arguments on entry."""
        self._arguments = arguments
        self._device = device
        self._writes = writes
        self._tokens: Any = ()
        self._guests: Any = ()
        self._block: Any = None
        self._entry: dict[None, Any] = {}
        self._memory: Any = None
        self._queue: Any = None
        self._lone = False

    def __enter__(self) -> Any:
        """Acquire all arguments and return their arrays, by name.

        If several threads enter concurrently, the one that first sets `_entry`, an atomic step,
        succeeds.
        """
        entry = object()
        try:
            if self._entry.setdefault(None, entry) is not entry:
                self._refuse()
            return self._enter()
        except BaseException:
            if self._entry.get(None) is entry:
                self._entry.clear()
            raise

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Mark written storages as modified, unless the block failed, and release all arguments."""
        try:
            self._leave(kind, error, trace)
        except BaseException:
            self._give_all_back(error)
            raise
        finally:
            self._entry.clear()

    def _enter(self) -> Any:
        raise NotImplementedError

    def _leave(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        raise NotImplementedError

    def _refuse(self) -> None:
        raise NotImplementedError

    def _give_all_back(self, error: BaseException | None) -> None:
        raise NotImplementedError


def short(careful: Callback) -> Callback:
    """Return the fast constructor of a block; `careful` is the general one."""
    return careful
