"""Innermost part of the runtime: the work of each access, slice and stencil call.

That is: the holders of a buffer, its valid replicas, and the fast path through both for accesses
without contention. Subclasses in other files implement everything else (waits, transfers, failures,
hints, chunks), under names that these classes call.
"""

# pylint: disable=protected-access,unidiomatic-typecheck  # one class in several, compared exactly

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from psyclone_storage.storage.core.words import WORDS

_new = object.__new__
_get_ident = threading.get_ident
_SLICES = frozenset((slice, int))
_NUMBERS = frozenset((int,))

FRAMES = 1
"""How many frames of Python are between a caller and the long way that is called for it."""


class Replica:
    """The fields of one replica of a buffer.

    The jobs are the pending work of the memory's device, None for a memory without a device.
    """

    __slots__ = ("memory", "space", "bit", "allocation", "_jobs")

    def __init__(self, memory: Any, allocation: Any = None) -> None:
        """Create a replica in `memory`."""
        self.memory = memory
        self.space = memory.space
        self.bit: int = memory.space.bit
        self.allocation = allocation
        self._jobs = getattr(memory, "jobs", None)

    def beside(self, allocation: Any) -> Any:
        """Return a replica of another buffer in the same memory."""
        return type(self)(self.memory, allocation)

    def beside_in(self, pool: Any, nbytes: int, alignment: int, label: str) -> Any:
        """Return a replica of another buffer in the same memory, with an allocation from a pool."""
        allocation = pool.piece(self.space, nbytes, alignment)
        allocation.label = label
        return self.beside(allocation)


class AccessFields:
    """The fields of an access to one replica.

    `place` is the requested space and the range of chunks; the owner is the calling
    thread.
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
        self.owner: Any = _get_ident()
        self.request = WORDS.plain
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
        self.everywhere = 0
        self.anywhere = 0
        self.writers = 0
        self.attention = False
        self.barred = False
        self.valid: list[int] = [0] * chunks
        self.touched: list[int] = [0] * chunks
        self.nbytes = nbytes

    def clear_masks(self, chunks: int) -> None:
        """Record that none of `chunks` chunks has values."""
        self.valid = [0] * chunks
        self.touched = [0] * chunks
        self.everywhere = self.anywhere = 0

    def try_acquire(self, claim: Any) -> bool:
        """Grant `claim` if no other claim, held or in line, could conflict with it."""
        try:
            with self.lock:
                writes = claim.mode.writes
                if self.writers or (writes and self.holders) or self.queue:
                    return False
                self.holders.append(claim)
                if writes:
                    self.writers += 1
                claim.active = True
                return True
        except BaseException:
            self.retract(claim)
            raise

    def try_drop(self, claim: Any) -> bool:
        """End `claim` if that needs only an update of the ledger; safe at any point.

        Returns False if a thread waits, or if the ledger is in use, perhaps by this very thread.
        """
        lock, dropped = self.lock, False
        if lock._is_owned():  # noqa: SLF001
            return False
        try:
            # pylint: disable-next=consider-using-with
            if lock.acquire(blocking=False) and not self.queue:
                self.drop(claim)
                dropped = True
            self._let_go()
        except BaseException:
            self._let_go()
            raise
        return dropped

    def _let_go(self) -> None:
        """Let the lock go if this thread has it."""
        if self.lock._is_owned():  # noqa: SLF001
            self.lock.release()

    def drop(self, claim: Any) -> None:
        """Strike `claim` out, under the lock."""
        self.holders.remove(claim)
        self.writers -= claim.mode.writes
        claim.active = False
        claim.turn = None

    def retract(self, claim: Any) -> None:
        """Retract `claim` after an interrupt, which may have come inside any of these methods."""
        raise NotImplementedError

    def try_begin(self, token: Any) -> bool:
        """Do `try_acquire` for an access that lacks nothing, and changes nothing.

        Nor does it find its device at work, which it would have to follow.
        """
        try:
            with self.lock:
                if self.attention or token.replica._jobs:  # noqa: SLF001
                    return False
                return self._begin(token)
        except BaseException:
            self.retract(token)
            raise

    def try_begin_queued(self, token: Any, memory: Any, queue: Any) -> bool:
        """Do `try_begin` for work in a queue, which overtakes nothing at its replica."""
        try:
            with self.lock:
                replica = token.replica
                if self.barred or replica.memory is not memory:
                    return False
                held = replica.allocation
                if held is None or held.failures:
                    return False
                if not _comes_next(held.pending, token.mode.writes, queue):
                    return False
                return self._begin(token)
        except BaseException:
            self.retract(token)
            raise

    def _begin(self, token: Any) -> bool:
        bit = token.replica.bit
        if self.writers or self.queue:
            return False
        if not token.mode.writes:
            if not self.everywhere & bit:
                return False
        elif self.holders or not self.everywhere == self.anywhere == bit:
            return False
        else:
            self.writers = 1
        self.holders.append(token)
        token.active = True
        return True

    def try_end(self, token: Any) -> bool:
        """End a successful access if that affects no other thread; count the written bytes."""
        with self.lock:
            if self.attention or token.replica._jobs:  # noqa: SLF001
                return False
            return self._end(token)

    def try_end_queued(self, token: Any, notes: Any) -> bool:
        """Do `try_end` for work that is queued, and take `notes` of it, as `end_queued` does."""
        with self.lock:
            held = token.replica.allocation
            if self.barred or held is None or not self._may_end(token):
                return False
            if notes:
                swapped = False
                while not swapped:
                    before = held.pending
                    swapped = held.swap_pending(before, _with_note(before, token, notes))
                self.attention = True
            return self._end(token)

    def _may_end(self, token: Any) -> bool:
        ours = not token.mode.writes or token.replica is self.last_writer
        return token.active and not self.queue and ours

    def _end(self, token: Any) -> bool:
        if not self._may_end(token):
            return False
        if token.mode.writes:
            self.writers -= 1
            token.buffer.version += 1
        token.active = False
        token.turn = None
        self.holders.remove(token)
        return True


def _comes_next(pending: Any, writes: bool, queue: Any) -> bool:
    """Return whether work in `queue` overtakes none of the uses.

    Earlier writes need no wait if a later use in the same queue has followed them.
    """
    followed = False
    for use in reversed(pending):
        if use.stream == queue:
            followed = followed or use.follows
        elif not followed if use.wrote else writes:
            return False
    return True


def _with_note(pending: Any, token: Any, notes: Any) -> Any:
    """Return notes with a use after all others: a write replaces all, a read replaces reads.

    This is the rule of `uses.note`, applied to all the memory.
    """
    read, wrote = notes
    if token.mode.writes:
        return wrote
    stream = read[0].stream
    return (*(use for use in pending if use.wrote or use.stream != stream), *read)


class Acquirable:
    """The fields of a buffer that an access needs, and the fast path to one.

    `single` means that there is one chunk, `_resident` maps the requested spaces to their
    replicas, `_whole` is the range of all chunks, and `_has_wishes` means that the end of an access
    may start transfers.
    """

    __slots__ = ("table", "stats", "_resident", "_whole", "version", "single", "_has_wishes")

    table: Any
    stats: Any
    _resident: dict[Any, Any]
    _whole: tuple[int, int]
    version: int
    single: bool
    _has_wishes: bool

    def _take(self, table: Any, stats: Any, resident: Any, chunks: int, wishes: bool) -> None:
        """Begin with these, and with no write."""
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
        mode = mode or WORDS.read
        policy = policy or WORDS.auto
        replica = self._resident.get(space) if request is None else None
        if replica is not None:
            asked = replica.space if space is None else space
            token = WORDS.token(self, replica, (asked, self._whole), mode, policy)
            try:
                if self.table.try_begin(token):
                    return token
            except BaseException:
                self.table.retract(token)
                raise
        return self._acquire_carefully(space, mode, policy, request)

    def release(self, token: Any, error: BaseException | None = None) -> None:
        """End an access; `error` means that its write failed."""
        try:
            ended = error is None and not self._has_wishes and self.table.try_end(token)
        except BaseException:
            if token.active:
                self._release_carefully(token, error)
            self.table.retract(token)
            raise
        if not ended:
            self._release_carefully(token, error)

    def make_valid(self, space: Any = None, region: Any = None) -> None:
        """Make the replica at `space` valid, without keeping an access.

        The compiled core copies small data, between pages of this process, in one step.
        """
        self._make_valid_carefully(space, region)

    def is_at_rest(self, space: Any) -> bool:
        """Return whether `space` has all values and no access writes: one may be read directly."""
        table, replica = self.table, self._resident.get(space)
        if replica is None or table.attention or table.writers:
            return False
        return bool(table.everywhere & replica.bit)

    def _acquire_carefully(self, space: Any, mode: Any, policy: Any, request: Any) -> Any:
        raise NotImplementedError

    def _release_carefully(self, token: Any, error: BaseException | None) -> None:
        raise NotImplementedError

    def _make_valid_carefully(self, space: Any, region: Any) -> None:
        raise NotImplementedError


def begin(tokens: Any, begun: Any = None) -> bool:
    """Begin all the accesses if none conflicts and none lacks values; else do nothing.

    `begun` begins one.
    """
    try:
        for done, token in enumerate(tokens):
            if not (begun or _begun)(token):
                for other in tokens[:done]:
                    other.buffer.table.release(other)
                return False
    except BaseException:
        for token in tokens:
            token.buffer.table.retract(token)
        raise
    return True


def _begun(token: Any) -> bool:
    return bool(token.buffer.table.try_begin(token))


def end_queued(token: Any, notes: Any) -> bool:
    """End an access whose work is queued, if that affects no other thread, and record its uses.

    `notes` are the note on data that were read, and that on data that were written, each a tuple of
    one; without notes nothing is recorded.
    """
    buffer = token.buffer
    return not buffer._has_wishes and buffer.table.try_end_queued(token, notes)  # noqa: SLF001


class Sliceable:
    """The fields of a storage, and how it is cut: slicing is done in inner loops.

    `_array` describes the elements, and is them where `_backing` has no buffer. `_windows` keeps
    the arrays of the two sides. Whatever is not simple, `_picked` of the subclass does: keys other
    than integers and slices, values that have to be brought, errors.
    """

    __slots__ = ("_array", "_labels", "_backing", "_windows")

    _array: np.ndarray[Any, Any]
    _labels: Any
    _backing: Any
    _windows: Any

    def __init__(self, array: np.ndarray[Any, Any], labels: Any, backing: Any) -> None:
        """Create the storage that `array` describes; the creation functions call this.

        With a buffer, `array` only describes and is never read; without one it is the data.
        """
        self._array = array
        self._labels = labels
        self._backing = backing
        self._windows = None

    def __getitem__(self, key: Any) -> Any:
        """Return a number, a view for integers and slices, else an array of the values."""
        array, backing = self._array, self._backing
        if backing is not None and backing.buffer is not None:
            if type(key) is tuple and _NUMBERS.issuperset(map(type, key)):
                return self._element(key)
            if not _is_view(key):
                return self._picked(key)
        try:
            picked = array[key]
        except (IndexError, TypeError, ValueError):
            return self._picked(key)
        if type(picked) is not np.ndarray:
            return picked
        owner = picked.base
        if owner is not array and (owner is None or owner is not array.base):
            return picked
        view = _new(type(self))
        view._array = picked  # noqa: SLF001
        view._labels = (self._labels, key, array)  # noqa: SLF001
        view._backing = backing or self.backing()  # noqa: SLF001
        view._windows = None  # noqa: SLF001
        return view

    def _view(self, picked: np.ndarray[Any, Any], key: Any) -> Any:
        """Return the storage that `picked`, the array of `key`, describes.

        This has the effect of the constructor, without the call.
        """
        view = _new(type(self))
        view._array = picked  # noqa: SLF001
        view._labels = (self._labels, key, self._array)  # noqa: SLF001
        view._backing = self._backing or self.backing()  # noqa: SLF001
        view._windows = None  # noqa: SLF001
        return view

    @property
    def _shown(self) -> Any:
        """Return the array of a storage that is one of the host, without a buffer."""
        return self._array.view() if self._backing is None else self.to_numpy()

    @property
    def __gt_origin__(self) -> tuple[int, ...] | None:
        """Return the first point after the halo, for current GT4Py; None without a halo.

        The entries are in the order of GT4Py (I, J, K, then numbers), whatever the order here is.
        """
        origin: tuple[int, ...] | None = self.labels.origin
        return origin

    @property
    def __gt_dims__(self) -> tuple[str, ...] | None:
        """Return the names of the dimensions, None for those of the stencil's argument."""
        dims: tuple[str, ...] | None = self.labels.dims
        return dims

    def to_numpy(self) -> Any:
        """Return the host buffer as an array."""
        raise NotImplementedError

    @property
    def labels(self) -> Any:
        """Return halo, names of dimensions and aligned point."""
        raise NotImplementedError

    def _element(self, key: tuple[int, ...]) -> Any:
        """Return one element of the host side, if that is at rest and has been looked at before."""
        windows, backing = self._windows, self._backing
        host = None if windows is None else windows.host
        if host is not None and backing.buffer.is_at_rest(backing.host):
            try:
                found = host[key]
            except IndexError:
                return self._picked(key)
            if type(found) is not np.ndarray:
                return found
        return self._picked(key)

    def _picked(self, key: Any) -> Any:
        """Return `self[key]` whatever it takes."""
        raise NotImplementedError

    def backing(self) -> Any:
        """Return the state that this storage shares with all others on its data."""
        raise NotImplementedError


def _is_view(key: Any) -> bool:
    """Return whether NumPy gives a view for `key` and any array, as far as a quick check shows."""
    if type(key) is not tuple:
        return type(key) is slice
    return _SLICES.issuperset(map(type, key)) and slice in map(type, key)
