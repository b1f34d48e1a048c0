"""State of the core for Python without the compiled core, which adds fast paths to these classes.

The classes have the fields of those in `_compiled.c` and leave every decision to their subclasses,
whose general path also serves the compiled core where an access is not simple. So each rule of
the runtime has one implementation in Python.
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
"""Held for a few steps that an object's end, in the middle of anything, may repeat."""


def register(**objects: Any) -> None:
    """Register the objects of other modules that the core needs.

    `read`, `read_write` and `auto` are the modes and the policy of most accesses, `plain` is the
    request without uncommon options, `token`, `block` and `arguments` are the classes of objects
    that the core creates, `array` is that of NumPy. `pages` is the class of host pages and `page`
    the size of one. `piece` is the class of allocations, `pin` that of pins that keep them in
    place. `host` is the memory space that None selects. `total` counts all copies, and `timed`
    is true if emulated devices simulate the configured transfer times. `opening` is the class of
    blocks that use one storage, and `modes` has the names of access modes.
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
        """Return a replica of another buffer in the same memory, with an allocation from a pool."""
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
        """Describe an access that the calling thread requests; buffers call this."""
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
        """End the access; `error` means that its write failed. Raise if it ended before."""
        self.buffer.release(self, error)


class Ledger:
    """The holders of a buffer, the waiting threads, and the valid replicas, under one lock.

    `writers` is the number of holders that write, `queue` holds those that wait. `everywhere` is
    the intersection and `anywhere` the union of the masks of valid replicas of all chunks.
    `attention` is true while the fast paths must not be taken: the data are `barred`, that is,
    const or poisoned, or a transfer is in progress or failed; or a device may still use one of
    the replicas, which does not affect work in the same queue. `last_writer` is the
    replica that was written last, None if only parts were. `valid` and `touched` are the masks of
    each chunk, `nbytes` the bytes of all elements.
    """

    __slots__ = (
        "lock", "holders", "queue", "last_writer", "everywhere", "anywhere", "writers", "attention",
        "barred", "valid", "touched", "nbytes",
    )  # fmt: skip

    def __init__(self, chunks: int = 0, nbytes: int = 0) -> None:
        """Start with no access, and nothing valid in so many chunks."""
        # An RLock reports whether this thread holds it, wherever an interrupt came.
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
        """Record that none of `chunks` chunks has values."""
        self.valid: list[int] = [0] * chunks
        self.touched: list[int] = [0] * chunks
        self.everywhere = self.anywhere = 0

    def drop(self, claim: Any) -> None:
        """Remove `claim` from the holders, under the lock."""
        self.holders.remove(claim)
        self.writers -= claim.mode.writes
        claim.active = False
        claim.turn = None

    def try_drop(self, claim: Any) -> bool:
        """End `claim` if that needs only an update of the ledger; safe at any point.

        Returns False if a thread waits, or if the ledger is in use, perhaps by this very thread.
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
            self._unlock()  # once more, if it was there that an interrupt came
            raise
        return dropped

    def _unlock(self) -> None:
        if self.lock._is_owned():  # noqa: SLF001  # pylint: disable=protected-access
            self.lock.release()


class Acquirable:
    """The fields of a buffer that an access needs.

    `single` means that there is one chunk, `_resident` maps the requested spaces to their
    replicas, `_whole` is the range of all chunks, and `_has_wishes` means that the end of an access
    may start transfers.
    """

    __slots__ = ("table", "stats", "_resident", "_whole", "version", "single", "_has_wishes")

    def _take(self, table: Any, stats: Any, resident: Any, chunks: int, wishes: bool) -> None:
        """Begin with these, and with no write."""
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
        """Return the right to use the data at `space`, by default to read all of them."""
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
        """Make the replica at `space` valid, without keeping an access.

        The compiled core copies small data, between pages of this process, in one step.
        """
        self._make_valid_carefully(space, region)

    def is_at_rest(self, _: Any) -> bool:
        """Return whether a space has all values and no access writes; False where that is unknown.

        Only the compiled core can read the ledger in one step.
        """
        return False

    def _acquire_carefully(self, space: Any, mode: Any, policy: Any, request: Any) -> Any:
        raise NotImplementedError

    def _release_carefully(self, token: Any, error: BaseException | None) -> None:
        raise NotImplementedError

    def _make_valid_carefully(self, space: Any, region: Any) -> None:
        raise NotImplementedError


def begin(_: Any) -> bool:
    """Begin all the accesses if no rule but the ledgers matters; else do nothing."""
    return False


def end_queued(*_: Any) -> bool:
    """End an access whose work is queued, if no rule but the ledger matters."""
    return False


class Sliceable:
    """The fields of a storage.

    `_array` describes the elements, and is them where `_backing` has no buffer. `_windows` keeps
    the arrays of the two sides.
    """

    __slots__ = ("_array", "_labels", "_backing", "_windows")

    def __init__(self, array: np.ndarray[Any, Any], labels: Any, backing: Any) -> None:
        """Create the storage that `array` describes; the creation functions call this.

        With a buffer, `array` only describes and is never read; without one it is the data.
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
        """Return the storage that `picked`, the array of `key`, describes."""
        labels = (self._labels, key, self._array)
        return type(self)(picked, labels, self._backing or self.backing())

    @property
    def _shown(self) -> Any:
        """Return the array of a storage that is one of the host, without a buffer."""
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
    """The arrays of a storage on its two sides, and its data interface, once made.

    `kernel` is the array for a kernel that runs at once, `later` the one for a queued kernel.
    """

    __slots__ = ("host", "reading", "device", "kernel", "later", "interface")

    def __init__(self) -> None:
        """Start with nothing made."""
        self.host: np.ndarray[Any, Any] | None = None
        self.reading: np.ndarray[Any, Any] | None = None
        self.device: Any = None
        self.kernel: Any = None
        self.later: Any = None
        self.interface: dict[str | None, dict[str, Any]] | None = None


class Sides:
    """The state shared by all storages over the same data: the buffer, the spaces of both sides."""

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
        """Use `buffer`, whose memory stays in place as long as this object lives."""
        self.origin = origin
        self.points = points
        self._pin = _REGISTERED.pin(buffer.pins)
        # Last, because a thread that sees a buffer assumes that all other fields are set.
        self.buffer = buffer


class Tallies:
    """Totals of transfers in each of four directions: their number, bytes and seconds."""

    __slots__ = ("_callbacks", "_totals")

    def __init__(self) -> None:
        """Start at zero, without any callbacks."""
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
    """The bytes of one allocation; NumPy arrays built over it keep its pages alive."""

    pool: Blocks | None = None
    address: int
    nbytes_of_block: int

    def __del__(self) -> None:
        if self.pool is not None:
            self.pool.give_back(self.nbytes_of_block)


class Blocks:
    """Host pages. The compiled core caches those that are given back, up to `limit` bytes."""

    __slots__ = ("_in_use", "_high_water")

    def __init__(self, limit: int = 1 << 30) -> None:
        """Start empty."""
        self._in_use = 0
        self._high_water = 0

    def lease(self, nbytes: int, alignment: int = 64) -> Any:
        """Return `nbytes` bytes whose address is a multiple of `alignment`."""
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
        """Return an allocation in `space` that a lease holds."""
        lease = self.lease(nbytes, alignment)
        return _REGISTERED.piece(space, lease.address, nbytes, lease)

    def give_back(self, size: int) -> None:
        """Count the end of a lease."""
        with _LEAF:
            self._in_use -= size

    def trim(self) -> None:
        """Return all the blocks that are cached for reuse to the system: none are."""

    def _sums(self) -> tuple[int, int, int]:
        """Return the bytes handed out, the bytes cached, and the high-water mark."""
        return self._in_use, 0, self._high_water


class Piece:
    """The fields of an allocation, as they are when it is new."""

    __slots__ = (
        "space", "pointer", "capacity", "held", "owner", "label", "pending", "failures", "writable",
        "lent", "alive",
    )  # fmt: skip

    def __init__(self, space: Any, pointer: int, capacity: int, held: Any) -> None:
        """Record a piece of `capacity` bytes at address `pointer`; memories call this."""
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
        """Set `pending` in one step if it still is `before` itself; return whether it was."""
        with _LEAF:
            is_same = self.pending is before
            if is_same:
                self.pending = after
            return is_same


class Hold:
    """One entry in a list of holds that pin memory in place, until `release` or its end.

    Appending to a list and popping from it are atomic. A lock is out of the question, as `__del__`
    may run in the middle of anything.
    """

    __slots__ = ("_pins",)

    def __init__(self, pins: list[None]) -> None:
        """Count as one more in `pins`."""
        self._pins: list[None] | None = pins
        pins.append(None)

    def release(self) -> None:
        """Let the memory move again; does nothing the second time."""
        pins, self._pins = self._pins, None
        if pins is not None:
            pins.pop()

    def __del__(self) -> None:
        self.release()


def setting(name: str, otherwise: str) -> str:
    """Return the current value of the environment variable."""
    return os.environ.get(name, otherwise)


class BindingBlock:
    """The fields of a block that binds the arguments of one call, and its entry and exit."""

    __slots__ = (
        "_arguments", "_device", "_writes", "_tokens", "_guests", "_block", "_entry", "_memory",
        "_queue", "_lone",
    )  # fmt: skip

    def __init__(self, arguments: Any, device: str | None, writes: Any) -> None:
        """Get ready; nothing is acquired before the block begins."""
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

        If threads enter concurrently, one succeeds: the first that sets `_entry`, an atomic step.
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
        """Touch the written storages and release everything; a failed block touches nothing."""
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
    """Return the fast path to make a block; `careful` is the general one."""
    return careful
