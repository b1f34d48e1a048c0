"""Replicas of one buffer and transfers between them; the lock table is separate.

`Replicas` finds or creates the replica for a space, copies values to it, marks replicas as stale
after writes, and follows the hints. Its callers have an access that the lock table granted.
Asynchronous functions (`start`, `start_prefetch`) never wait: they submit work to the stream of the
target.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.chunks import ChunkLayout, whole
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    ConstBufferError,
    PoisonedDataError,
    StorageError,
)
from psyclone_storage.storage.core.futures import Future, all_of, forward
from psyclone_storage.storage.core.hints import ReplicaOptions
from psyclone_storage.storage.core.incarnation import (
    Incarnation,
    IncarnationState,
    ReplicaPlace,
    allocated,
    move_values,
    state_of,
    wait_for_streams,
)
from psyclone_storage.storage.core.locks import LockTable
from psyclone_storage.storage.core.spaces import (
    MemorySpace,
    SpaceKind,
    host_space,
    managed_space,
    pinned_space,
)
from psyclone_storage.storage.core.stats import GLOBAL_STATS, TransferEvent, TransferStats
from psyclone_storage.storage.core.token import AccessToken, Spoiling
from psyclone_storage.storage.core.validity import Validity
from psyclone_storage.storage.memory.pending_work import UNREPORTED
from psyclone_storage.storage.memory.registry import memory_of, router


class _Transfer(NamedTuple):
    """A transfer in progress: the bit of its target, a mask of its chunks, and its future."""

    bit: int
    chunks: int
    end: Future[None]


class Replicas:  # pylint: disable=too-many-public-methods  # used by buffers
    """The replicas of a buffer, in the order of their creation.

    `resident` maps a requested space to the replica that serves it: pageable and page-locked host
    memory share one replica, and unified memory serves all spaces.
    """

    __slots__ = (
        "dtype", "layout", "options", "table", "stats", "poisoned", "validity", "resident",
        "_guarded", "_list", "_pending", "_truth",
    )  # fmt: skip

    def __init__(self, dtype: np.dtype[Any], layout: ChunkLayout, options: ReplicaOptions) -> None:
        """Start without replicas."""
        self.dtype = dtype
        self.layout = layout
        self.options = options
        bounds = layout.bounds
        chunks = len(bounds) - 1
        table = self.table = LockTable(chunks, bounds[-1] * dtype.itemsize)
        self.stats = TransferStats()
        self.poisoned: BaseException | None = None
        self.validity: Validity = table
        self.resident: dict[MemorySpace | None, Incarnation] = {}
        self._guarded = table.attention = table.barred = options.const
        self._list: list[Incarnation] = []
        self._pending: list[_Transfer] = []
        self._truth: list[MemorySpace | None] = [None] * chunks

    # -- finding ---------------------------------------------------------------------------------

    def find(self, space: MemorySpace) -> Incarnation | None:
        """Return the replica that serves `space`, None if it does not exist yet."""
        found = self.resident.get(space)
        if found is not None:
            return found
        home = self._home(space)
        return next((replica for replica in self._list if replica.space is home), None)

    def at(self, space: MemorySpace) -> Incarnation:
        """Return the replica that serves `space`; if necessary, create it without memory."""
        found = self.find(space)
        if found is None:
            found = Incarnation(memory_of(self._home(space)))
            self._take_in(found)
        if space is not found.space:
            memory_of(space)
        self.resident[space] = found
        if space is host_space():
            self.resident[None] = found
        return found

    def all(self) -> list[Incarnation]:
        """Return the replicas."""
        return list(self._list)

    def is_valid(self, space: MemorySpace, chunks: tuple[int, int]) -> bool:
        """Return whether the replica that serves `space` is valid in all of `chunks`."""
        replica = self.find(space)
        return replica is not None and self.validity.is_valid(replica.bit, chunks)

    def is_arriving(self, space: MemorySpace, chunk: int) -> bool:
        """Return whether a pending transfer copies `chunk` to the replica that serves `space`."""
        replica = self.find(space)
        if replica is None:
            return False
        with self.table.lock:
            return any(t.bit == replica.bit and t.chunks >> chunk & 1 for t in self._pending)

    def states(self) -> tuple[IncarnationState, ...]:
        """Return the state of each replica."""
        pending = {transfer.bit for transfer in self._pending}
        return tuple(
            state_of(replica, self.validity, replica.bit in pending) for replica in self._list
        )

    def is_whole(self, space: MemorySpace) -> bool:
        """Return whether the replica in `space` has all existing values."""
        replica = self.find(space)
        return self.validity.is_whole(0 if replica is None else replica.bit)

    def valid_sides(self) -> tuple[bool, bool]:
        """Return whether the host side, and whether some device, has all existing values."""
        held = [replica for replica in self._list if replica.bit & self.validity.anywhere]
        valid = [replica.space.kind for replica in held if self.validity.is_whole(replica.bit)]
        host = any(kind.host_accessible for kind in valid)
        device = any(kind in (SpaceKind.DEVICE, SpaceKind.MANAGED) for kind in valid)
        return host, device

    def point_of_truth(self) -> tuple[MemorySpace, ...]:
        """Return for each chunk the space of its current values, or where its first write goes."""
        return tuple(self.truth_of(chunk) for chunk in range(self.layout.count))

    def truth_of(self, chunk: int) -> MemorySpace:
        """Return the space of one chunk's current values, or where its first write goes."""
        mask = self.validity.mask(chunk)
        recorded = self._truth[chunk]
        if recorded is not None and recorded.bit & mask:
            return recorded
        held = next((replica.space for replica in self._list if replica.bit & mask), None)
        return held or self.preferred(chunk) or self.options.hints.first_touch or host_space()

    # -- preparing an access ---------------------------------------------------------------------

    def check_usable(self, token: AccessToken) -> None:
        """Raise an error if the data are read-only or failed, as far as `token` is affected."""
        if token.mode.writes and (self.options.const or not token.replica.writable):
            locked = [replica.space.tag for replica in self._list if not replica.writable]
            why = f"the memory is read-only at {locked[0]}" if locked else "the buffer is const"
            raise ConstBufferError(f"{token.describe()} is not possible: {why}.")
        if token.mode.reads and self.poisoned is not None and not token.request.ignore_failed:
            UNREPORTED.discard(self.poisoned)
            raise PoisonedDataError(
                f"{token.describe()} is not possible: the task that wrote the data last failed "
                f"({self.poisoned!r}). Write all of it anew, or ask with ignore_failed."
            ) from self.poisoned

    def bring(self, token: AccessToken) -> None:
        """Make the replica of `token` valid."""
        replica = token.replica
        held, table = replica.allocation, self.table
        is_valid = table.everywhere & replica.bit and not self._pending
        if is_valid and held is not None and held.capacity >= table.nbytes:
            return
        entries: list[_Transfer] = []
        done: list[int] = []
        try:
            if self._enter(token, entries):
                needed = self.needed(token)
                for chunk in self._fillable(needed):
                    replica.memory.fill(replica.allocation_there(), *self._init_of(chunk))
                    done.append(chunk)
                for chunk in self.validity.stale(replica.bit, needed):
                    self._fetch(replica, chunk)
                    done.append(chunk)
                self._end(entries, done)
        except BaseException:
            # Again, because an interrupt may have come in `_end`.
            self._end(entries, done)
            raise

    def start(self, token: AccessToken) -> Future[None]:
        """Do the work of `bring` without waiting; a write follows all pending transfers."""
        return self._start(token, -1 if token.mode.writes else token.replica.bit)

    def mark_written(self, token: AccessToken) -> int:
        """Mark all other replicas of the data that `token` writes as stale; return their bits."""
        with self.table.lock:
            return self.validity.written(token.replica.bit, token.chunks)

    def spoil_stale(self, invalidation: Spoiling) -> None:
        """Overwrite stale replicas with a poison pattern, in memories that support it."""
        lost, chunks = invalidation.lost, invalidation.token.chunks
        for replica in self._list:
            if replica.bit & lost and replica.allocation is not None and replica.memory.guards:
                invalidation.is_spoilt = True
                for chunk in range(*chunks):
                    replica.memory.poison(replica.allocation, self._span(chunk))

    def start_prefetch(self, token: AccessToken, future: Future[None]) -> None:
        """Start the transfers that `token` needs, and release it; the next access waits."""
        if not token.active:
            return
        try:
            self.check_usable(token)
            moved = self._start(token, token.replica.bit)
            self.table.release(token)
        except BaseException as error:
            self.table.retract(token)
            future.set_exception(error)
            if isinstance(error, Exception):
                return
            raise
        moved.then(lambda done: forward(done, future))

    @property
    def busy(self) -> bool:
        """Return whether a transfer is in progress."""
        return bool(self._pending)

    def settled(self) -> Future[None]:
        """Return a future that resolves when all pending transfers have ended."""
        return all_of([transfer.end for transfer in tuple(self._pending)])

    def abandon_transfers(self, error: BaseException) -> None:
        """Fail pending transfers that no thread executes any more."""
        for entry in tuple(self._pending):
            self._leave(entry)
            if not entry.end.done():
                entry.end.set_exception(error)

    # -- ending an access ------------------------------------------------------------------------

    def close_write(self, token: AccessToken, error: BaseException | None) -> None:
        """Record the space of the current values after a write, and whether they are usable.

        After an `AccessConflictError`, old values are usable unless the access was write-only.
        """
        if isinstance(error, AccessConflictError) and token.mode.reads:
            error = None
        if error is None and self.poisoned is None and token.replica is self.table.last_writer:
            return
        for chunk in range(*token.chunks):
            self._truth[chunk] = token.replica.space
        self.table.last_writer = token.replica if token.chunks == (0, self.layout.count) else None
        if error is not None:
            self.poison(error)
        elif self.poisoned is not None and not token.mode.reads and token.request.region is None:
            self.poison(None)

    def wishes_after(self, token: AccessToken) -> list[MemorySpace]:
        """Return the spaces that should get a copy of the data just written (ACC-5, ACC-7)."""
        hints = self.options.hints
        wanted = [] if hints.access_via is None else [hints.access_via]
        if hints.read_mostly:
            wanted += [r.space for r in self._list if r.capacity and r is not token.replica]
        return list(dict.fromkeys(wanted))

    def preferred(self, chunk: int) -> MemorySpace | None:
        """Return the preferred space for the values of a chunk, None without one (ACC-6)."""
        preferred = self.options.hints.preferred
        return preferred[chunk * len(preferred) // self.layout.count] if preferred else None

    def move_truth(self, chunk: int, space: MemorySpace) -> None:
        """Record `space`, whose replica is valid, as the place of a chunk's current values."""
        self._truth[chunk], self.table.last_writer = space, None

    def follow(self, options: ReplicaOptions) -> None:
        """Use other options from now on; existing memory is unchanged."""
        self.options = options
        self._guarded = self._guarded or options.const
        self.note_attention()

    def assume_valid(self, spaces: list[MemorySpace]) -> None:
        """Mark exactly the replicas in `spaces` as valid; the caller holds the lock."""
        replicas = [self.at(space) for space in spaces]
        for replica in replicas:
            self.allocate(replica)
        self.validity.assign(sum({replica.bit for replica in replicas}))

    # -- memory ----------------------------------------------------------------------------------

    def valid_below(self, nbytes: int) -> list[Incarnation]:
        """Return the valid replicas with fewer than `nbytes` bytes."""
        return [r for r in self._list if r.bit & self.validity.anywhere and r.capacity < nbytes]

    def resize(self, size: int, growing: list[Incarnation]) -> None:
        """Set the size, after reallocating the replicas in `growing`."""
        for replica in growing:
            self.grow(replica, size * self.dtype.itemsize)
        self.layout, self.table.nbytes = whole(size), size * self.dtype.itemsize

    def allocate(self, replica: Incarnation) -> None:
        """Allocate memory for all elements unless a replica has it; the caller holds the lock."""
        nbytes = self.layout.size * self.dtype.itemsize
        if replica.allocation is None or replica.capacity < nbytes:
            self.grow(replica, nbytes)

    def begin_at(self, places: Iterable[ReplicaPlace], nbytes: int) -> None:
        """Create replicas with memory at `places` for a new buffer of no other thread.

        This has the effect of `at` and `allocate`, without their checks.
        """
        for place in places:
            replica = place.begin(nbytes, self.options)
            self._list.append(replica)
            for space in place.spaces:
                self.resident[space] = replica

    def grow(self, replica: Incarnation, nbytes: int) -> None:
        """Reallocate a replica and preserve its values.

        Raises `PoisonedDataError` if the work that computes them has failed.
        """
        old = replica.allocation
        new = allocated(replica.memory, nbytes, self.options)
        if old is not None:
            kept = min(old.capacity, nbytes)
            if kept and self.validity.anywhere & replica.bit:
                move_values(replica.memory, new, old, kept)
        replica.allocation = new
        if old is not None:
            old.drop()

    def purge(self) -> None:
        """Free all memory and set the size to 0."""
        self.layout, self.table.nbytes = whole(0), 0
        self._truth, self.table.last_writer = [None], None
        self.table.clear_masks(1)
        for replica in self._list:
            replica.free()

    def drop(self, replica: Incarnation) -> None:
        """Free one replica; raise `StorageError` if only that replica has valid values."""
        if self.validity.sole_holder(replica.bit):
            raise StorageError(
                f'The only valid values of "{self.options.label}" are at {replica.space.tag}: make '
                f"them valid elsewhere before this replica is freed."
            )
        self.validity.forget(replica.bit)
        replica.free()

    def adopt(self, replica: Incarnation, valid: bool) -> None:
        """Add a replica with existing memory."""
        known = self.find(replica.space)
        if known is not None and known.allocation is not None:
            raise StorageError(f'"{self.options.label}" has memory at {replica.space.tag} already.')
        if known is not None:
            known.allocation = replica.allocation
        else:
            self._take_in(replica)
        if not replica.allocation_there().writable:
            self._guarded = self.table.attention = self.table.barred = True
        if valid:
            self.validity.add(self.at(replica.space).bit, range(self.layout.count))

    # -- private: where --------------------------------------------------------------------------

    def _take_in(self, replica: Incarnation) -> None:
        """Add a replica."""
        self._list.append(replica)

    def _home(self, space: MemorySpace) -> MemorySpace:
        """Return the space of the replica that serves `space`."""
        if self.options.hints.managed and space.node == host_space().node:
            return managed_space()
        if space.kind not in (SpaceKind.HOST, SpaceKind.PINNED) or space.node != host_space().node:
            return space
        for replica in self._list:
            if replica.space.kind in (SpaceKind.HOST, SpaceKind.PINNED):
                return replica.space
        hints = self.options.hints
        first = self._list[0].space if self._list else hints.first_touch
        follows = hints.first_touch is not None or hints.host_follows_device
        at_device = follows and first is not None and first.kind is SpaceKind.DEVICE
        return pinned_space() if hints.pinned or at_device else space

    # -- private: values -------------------------------------------------------------------------

    def needed(self, token: AccessToken) -> Iterable[int]:
        """Return the chunks whose values must be valid before the access begins."""
        chunks = range(*token.chunks)
        if token.mode.reads:
            return chunks
        region = token.request.region
        if region is None or not chunks:
            return ()
        # Only the chunks at the two ends of a write-only region can have other elements.
        ends = {chunks[0], chunks[-1]}
        return sorted(chunk for chunk in ends if not self.layout.covers(region, chunk))

    def _fillable(self, chunks: Iterable[int]) -> list[int]:
        return self.validity.uninitialised(chunks) if self.options.init is not None else []

    def _init_of(self, chunk: int) -> tuple[WindowSpec, Any]:
        start, stop = self.layout.span(chunk)
        offset = start * self.dtype.itemsize
        return WindowSpec(self.dtype, (stop - start,), None, offset), self.options.init

    def _span(self, chunk: int) -> tuple[int, int]:
        start, stop = self.layout.span(chunk)
        return start * self.dtype.itemsize, (stop - start) * self.dtype.itemsize

    def _source(self, replica: Incarnation, chunk: int) -> Incarnation:
        """Return the replica to copy from: one in host memory if possible."""
        mask = self.validity.mask(chunk) & ~replica.bit
        valid = [other for other in self._list if other.bit & mask]
        return next((other for other in valid if other.space.host_accessible), valid[0])

    def _target(self, replica: Incarnation) -> Allocation:
        """Return the memory of a replica that will receive values."""
        allocation = replica.allocation_there()
        if not allocation.writable:
            raise ConstBufferError(
                f'"{self.options.label}" has newer values than its memory at {replica.space.tag}, '
                f"which is read-only and cannot take them."
            )
        return allocation

    def _fetch(self, replica: Incarnation, chunk: int) -> None:
        source, span = self._source(replica, chunk), self._span(chunk)
        if span[1]:
            begin = time.perf_counter()
            ends = (replica.memory, source.memory)
            router().fetch(ends, self._target(replica), source.allocation_there(), span)
            self._record(source.space, replica.space, chunk, begin)

    def _record(self, source: MemorySpace, target: MemorySpace, chunk: int, begin: float) -> None:
        seconds, nbytes = time.perf_counter() - begin, self._span(chunk)[1]
        event = TransferEvent(self.options.label, source, target, nbytes, chunk, seconds)
        self.stats.record(event)
        GLOBAL_STATS.record(event)

    # -- private: asynchronous -------------------------------------------------------------------

    def _enter(self, token: AccessToken, entries: list[_Transfer]) -> bool:
        """Announce the transfers that `token` needs in `entries`; return False if it needs none.

        The method first waits for the same transfers by other threads, so that no data are
        transferred twice; the caller repeats transfers that failed there.
        """
        bit = token.replica.bit
        concerned = -1 if token.mode.writes else bit
        while True:
            with self.table.lock:
                others = [t.end for t in self._pending if t.bit & concerned]
                if not others:
                    self.allocate(token.replica)
                    needed = self.needed(token)
                    if not (self._fillable(needed) or self.validity.stale(bit, needed)):
                        return False
                    self._announce(bit, needed, entries)
                    return True
            for future in others:
                future.exception()

    def _announce(self, bit: int, chunks: Iterable[int], entries: list[_Transfer]) -> None:
        entry = _Transfer(bit, sum(1 << chunk for chunk in chunks), Future())
        entries.append(entry)
        self._pending.append(entry)
        self.table.attention = self.table.barred = True

    def _leave(self, entry: _Transfer, done: Iterable[int] = ()) -> None:
        """Remove announced transfers; the chunks in `done` become valid."""
        with self.table.lock:
            if done:
                self.validity.add(entry.bit, done)
            self._pending[:] = [other for other in self._pending if other is not entry]
            self.note_attention()

    def _end(self, entries: Iterable[_Transfer], done: Iterable[int]) -> None:
        for entry in entries:
            self._leave(entry, done)
            if not entry.end.done():
                entry.end.set_result(None)

    def _start(self, token: AccessToken, after: int) -> Future[None]:
        """Start transfers to the replica of `token`, after pending ones to the mask `after`."""
        entries: list[_Transfer] = []
        moves: list[Future[None]] = []

        def end(moved: Future[None]) -> None:
            for entry in entries:
                self._leave(entry)
                if not entry.end.done():
                    forward(moved, entry.end)

        def begin(_: Future[None]) -> None:
            try:
                self._submit(token, moves)
                all_of(moves).then(end)
            except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                failed: Future[None] = Future.failed(error)
                all_of(moves).then(lambda _: end(failed))

        try:
            with self.table.lock:
                self.allocate(token.replica)
                before = all_of([t.end for t in self._pending if t.bit & after])
                self._announce(token.replica.bit, self.needed(token), entries)
            before.then(begin)
            return entries[0].end
        except BaseException as error:
            # A reference to the interrupt itself would keep its whole call stack alive.
            interrupted = not isinstance(error, Exception)
            text = "The thread that was bringing the values was interrupted."
            failed: Future[None] = Future.failed(StorageError(text) if interrupted else error)
            try:
                if interrupted:
                    wait_for_streams(self._list, moves)
            finally:
                # If a second interrupt ends the wait, the transfers call `end` later.
                all_of(moves).then(lambda _: end(failed))
            raise

    def _submit(self, token: AccessToken, moves: list[Future[None]]) -> None:
        """Submit the transfers of one access to the streams; append their futures to `moves`."""
        replica, needed = token.replica, self.needed(token)
        moves.extend(
            self._then_valid(self._submit_fill(replica, chunk), replica, chunk)
            for chunk in self._fillable(needed)
        )
        for chunk in self.validity.stale(replica.bit, needed):
            source = self._source(replica, chunk)
            begin = time.perf_counter()
            copied = router().copy_async(
                (replica.memory, source.memory),
                self._target(replica),
                source.allocation_there(),
                self._span(chunk),
            )
            note = partial(self._record, source.space, replica.space, chunk, begin)
            moves.append(self._then_valid(copied, replica, chunk, note))

    def _submit_fill(self, replica: Incarnation, chunk: int) -> Future[None]:
        memory, allocation = replica.memory, replica.allocation_there()
        if memory.stream is not None:
            return memory.stream.submit(memory.fill, allocation, *self._init_of(chunk))
        memory.fill(allocation, *self._init_of(chunk))
        return Future.completed(None)

    def _then_valid(
        self,
        moved: Future[None],
        replica: Incarnation,
        chunk: int,
        note: Callable[[], None] | None = None,
    ) -> Future[None]:
        finished: Future[None] = Future()

        def mark(done: Future[None]) -> None:
            if done.exception() is None:
                with self.table.lock:
                    self.validity.add(replica.bit, [chunk])
                if note is not None:
                    note()
            forward(done, finished)

        moved.then(mark)
        return finished

    def poison(self, error: BaseException | None) -> None:
        """Mark the values as unusable because of `error`, or as usable if there is no error."""
        self.poisoned = error
        self.note_attention()

    def note_attention(self) -> None:
        """Update the flags that disable the fast paths; repeat this after concurrent changes."""
        noted: tuple[bool, bool] | None = None
        while noted != (found := self._attention()):
            noted = self.table.attention, self.table.barred = found

    def _attention(self) -> tuple[bool, bool]:
        at_work, failed = False, self.poisoned is not None
        for replica in self._list:
            at_work = at_work or replica.unsettled
            failed = failed or replica.failed
        barred = self._guarded or failed or bool(self._pending)
        return at_work or barred, barred
