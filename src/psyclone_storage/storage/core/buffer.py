"""`CoherentBuffer`: one logical array with replicas in several memory spaces.

Every facade (Storage, View, HArray, accessors) is a view of a buffer, so that all of them share the
same validity, locks and statistics. A buffer is one-dimensional and consists of elements in chunks;
shapes, layouts and halos belong to the facades. It allocates lazily, never transfers uninitialised
data, and transfers stale data once, on the first access that needs them.

    buffer = Buffer(1024, "float64", BufferOptions(label="pressure", init=0.0))
    with buffer.acquire("gpu", AccessMode.READ_WRITE) as access:
        kernel(access.kernel_array)
    with buffer.acquire("host") as access:
        print(access.array.sum())
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.storage.core.acquire import Acquisition, PendingAccesses
from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.chunks import ChunkLayout, whole
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessReleasedError,
    AllocationInUseError,
    StorageError,
)
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.incarnation import Incarnation, IncarnationState
from psyclone_storage.storage.core.lifetime import BUFFERS, DROPPED, ExportPin
from psyclone_storage.storage.core.locks import (
    AccessMode,
    LockTable,
    Policy,
    begin_wait,
    queue_all,
)
from psyclone_storage.storage.core.native import Acquirable, register
from psyclone_storage.storage.core.replicas import Replicas
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceLike, host_space, memory_space
from psyclone_storage.storage.core.token import AccessRequest, AccessToken
from psyclone_storage.storage.memory.pools import ALIGNMENT
from psyclone_storage.storage.memory.registry import memory_of

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class BufferOptions:
    """Options for the construction of a buffer.

    - `label` appears in error messages and statistics.
    - `init` is the initial value of all elements, set on the side that is used first; None leaves
      them undefined.
    - `chunks` divides the buffer into parts with separate validity; None is one chunk.
    - `const`: if true, write accesses are rejected (HM-41).
    - `alignment` of the first byte of each replica, in bytes.
    """

    label: str = ""
    init: Any = None
    chunks: ChunkLayout | None = None
    hints: Hints = field(default_factory=Hints)
    const: bool = False
    alignment: int = ALIGNMENT


class DirtySide(Enum):
    """The side with the only current values; `NONE` if both sides are current or neither is.

    `MIXED` means that neither side is complete: each is current in some chunks only.
    """

    NONE = "clean"
    HOST = "host"
    DEVICE = "device"
    MIXED = "mixed"


_DEFAULTS = BufferOptions()
_READ = AccessMode.READ
_AUTO = Policy.AUTO


def _when_idle(
    method: Callable[Concatenate[CoherentBuffer, _P], _R],
) -> Callable[Concatenate[CoherentBuffer, _P], _R]:
    """Decorate a method to wait for all transfers and then hold the lock of the table.

    A context manager written in Python is not sufficient: an interrupt at the start of its
    `__exit__` would leave the lock held.
    """

    @wraps(method)
    def locked(self: CoherentBuffer, /, *args: _P.args, **keywords: _P.kwargs) -> _R:
        while True:
            self.wait()
            with self.table.lock:
                if not self.replicas.busy:
                    return method(self, *args, **keywords)

    return locked


class CoherentBuffer(Acquirable):  # pylint: disable=too-many-public-methods  # used by all faces
    """An array that is coherent over memory spaces (HMemo: HDataManager).

    `single` is true if there is one chunk. Memory spaces may be given by tag or alias; None is the
    host. Regions are pairs (first element, end element), where the end is exclusive.
    """

    __slots__ = (
        "dtype", "itemsize", "label", "hints", "const", "replicas", "pins", "__weakref__",
    )  # fmt: skip

    table: LockTable

    def __init__(
        self, size: int, dtype: Any = np.float64, options: BufferOptions = _DEFAULTS
    ) -> None:
        """Create a buffer of `size` elements; allocate memory only if the hints disable `delayed`.

        Raises `ValueError` for a negative size, or if the chunks do not add up to `size`.
        """
        layout = options.chunks or whole(_checked_size(size))
        count, held = len(layout.bounds) - 1, layout.bounds[-1]
        if held != size:
            raise ValueError(f"The chunks hold {held} elements, but the buffer has {size}.")
        kind: np.dtype[Any] = dtype if isinstance(dtype, np.dtype) else np.dtype(dtype)
        self.dtype = kind
        self.itemsize: int = kind.itemsize
        self.label = options.label
        hints = self.hints = options.hints
        self.const = options.const
        replicas = self.replicas = Replicas(kind, layout, options)
        self._take(replicas.table, replicas.stats, replicas.resident, count, hints.follows_writes)
        self.pins: list[None] = []
        if hints.begins_somewhere:
            replica = replicas.at(hints.first_touch or host_space())
            if not hints.delayed:
                replicas.allocate(replica)
        BUFFERS.note(self)

    # -- description -----------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self.replicas.layout.size

    @property
    def nbytes(self) -> int:
        """Return the number of bytes of all elements."""
        return self.replicas.layout.size * self.itemsize

    @property
    def chunks(self) -> ChunkLayout:
        """Return the division into chunks."""
        return self.replicas.layout

    @property
    def poisoned(self) -> BaseException | None:
        """Return the error of the last write if it failed, else None."""
        return self.replicas.poisoned

    @property
    def exports(self) -> int:
        """Return the number of exported arrays that refer to the memory outside of any access."""
        return len(self.pins)

    # -- using it --------------------------------------------------------------------------------

    if TYPE_CHECKING:

        def acquire(
            self,
            space: SpaceLike = None,
            mode: AccessMode = _READ,
            policy: Policy = _AUTO,
            request: AccessRequest | None = None,
        ) -> AccessToken:
            """Acquire the data in `space`, make them valid there, and return the access token.

            Waits or raises an error on conflicts, as `policy` specifies. A mode that writes
            immediately invalidates all other replicas (HM-53); `WRITE_ONLY` transfers no values
            (HM-54, ACC-31). Raises `AccessConflictError`, `AccessDeadlockError`,
            `PoisonedDataError`, `ConstBufferError`, `DeviceUnavailableError`.
            """

        def release(self, token: AccessToken, error: BaseException | None = None) -> None:
            """End an access; `error` marks the values that it could write as unusable.

            For an `AccessConflictError`, the access wrote nothing: only values that it had
            invalidated (`WRITE_ONLY`) are unusable. Raises `AccessReleasedError` if the access has
            already ended.
            """

    def drop(self, token: AccessToken, error: BaseException | None = None) -> None:
        """End an access whose object was destroyed; may be called at any point."""
        if not token.active:
            return
        if token.mode.writes:
            self.version += 1
            self.replicas.close_write(token, error)
        self._note_use(token)
        if self._has_wishes or not self.table.try_drop(token):
            DROPPED.note(lambda: self._end(token, error))

    def open(
        self,
        space: SpaceLike = None,
        mode: AccessMode = _READ,
        request: AccessRequest | None = None,
    ) -> Future[AccessToken]:
        """Request an access without waiting; the future resolves when it is safe (ACC-18 to 20).

        Waiting for the future raises `AccessDeadlockError` if it could never resolve.
        """
        return self.ask(space, mode, request).begun()

    def ask(
        self,
        space: SpaceLike = None,
        mode: AccessMode = _READ,
        request: AccessRequest | None = None,
    ) -> PendingAccesses:
        """Return the request of `open`, for a caller that starts it and may cancel it."""
        return PendingAccesses((self.token(space, mode, Policy.WAIT, request),))

    def token(
        self,
        space: SpaceLike = None,
        mode: AccessMode = _READ,
        policy: Policy = _AUTO,
        request: AccessRequest | None = None,
    ) -> AccessToken:
        """Return an access token, not yet acquired, for `acquire_all` and `PendingAccesses`."""
        replica = self._resident.get(space) if request is None else None
        if replica is None or space is None:
            return self._token(memory_space(space), mode, policy, request)
        return AccessToken(self, replica, (space, self._whole), mode, policy)

    def close(self, token: AccessToken, error: BaseException | None = None) -> Future[None]:
        """End an access; the future resolves when the preferred space has the values (ACC-22)."""
        self.release(token, error)
        return self.replicas.settled()

    def _make_valid_carefully(self, space: SpaceLike, region: tuple[int, int] | None) -> None:
        request = None if region is None else AccessRequest(region=region)
        self.acquire(space, _READ, _AUTO, request).release()

    def touch(self, space: SpaceLike = None) -> None:
        """Mark all values in `space` as new, and all other replicas as stale (GDP-114, GDP-115)."""
        self.acquire(space, AccessMode.WRITE_ONLY, _AUTO).release()

    def prefetch(
        self, space: SpaceLike = None, region: tuple[int, int] | None = None
    ) -> Future[None]:
        """Start a transfer of the values to `space`; the next access waits (HM-75, HM-76)."""
        request = AccessRequest(region=region, in_flight=True)
        token = self._token(memory_space(space), _READ, Policy.WAIT, request)
        pairs = ((self.table, token),)
        future: Future[None] = Future(lambda: begin_wait(group, threading.get_ident()))
        group = queue_all(pairs, lambda: self.replicas.start_prefetch(token, future))
        return future

    def set_hints(self, hints: Hints) -> None:
        """Change the placement hints (ACC-5 to ACC-7); transfers to preferred spaces start now.

        `first_touch`, `managed`, `pinned` and `delayed` affect only memory that is not allocated
        yet.
        """
        self.hints = hints
        self._has_wishes = hints.follows_writes
        self._follow(hints, self.const)
        self._pull_truths(self._whole)

    def freeze(self) -> None:
        """Reject write accesses from now on (HM-41)."""
        self.const = True
        self._follow(self.hints, True)

    def wait(self) -> None:
        """Wait for all pending transfers; one that fails is repeated when its values are needed."""
        if self.replicas.busy:
            self.replicas.settled().exception()

    # -- state -----------------------------------------------------------------------------------

    def is_valid(self, space: SpaceLike = None, region: tuple[int, int] | None = None) -> bool:
        """Return whether the replica in `space` has the current values of `region`."""
        return self.replicas.is_valid(memory_space(space), self._chunks(region))

    def is_initialised(self, region: tuple[int, int] | None = None) -> bool:
        """Return whether `region` has values in some space; a pending `init` does not count."""
        return self.replicas.validity.is_initialised(self._chunks(region))

    def incarnations(self) -> tuple[IncarnationState, ...]:
        """Return the state of all replicas, in the order of their creation."""
        return self.replicas.states()

    def capacity(self, space: SpaceLike = None) -> int:
        """Return the allocated bytes in `space`, 0 without an allocation (HM-40)."""
        replica = self.replicas.find(memory_space(space))
        return replica.capacity if replica is not None else 0

    def point_of_truth(self) -> tuple[MemorySpace, ...]:
        """Return for each chunk the space of its current values (ACC-4).

        For a chunk without values, that is the space of its first use (ACC-28).
        """
        self.wait()
        return self.replicas.point_of_truth()

    def dirty_side(self) -> DirtySide:
        """Return the side with the only current values, as in GDP-3's `SyncState`."""
        host, device = self.replicas.valid_sides()
        if host == device:
            mixed = not host and self.replicas.validity.anywhere
            return DirtySide.MIXED if mixed else DirtySide.NONE
        return DirtySide.HOST if host else DirtySide.DEVICE

    @_when_idle
    def assume_valid(self, spaces: Iterable[SpaceLike]) -> None:
        """Mark exactly the replicas in `spaces` as valid (GDP-116); no data are copied."""
        self.replicas.assume_valid([memory_space(space) for space in spaces])

    @_when_idle
    def trust(self, space: SpaceLike) -> None:
        """Mark the replica in `space` as the only valid one, where it has values."""
        replica = self.replicas.find(memory_space(space))
        if replica is not None:
            self.replicas.validity.trust(replica.bit)

    # -- its memory ------------------------------------------------------------------------------

    @_when_idle
    def resize(self, size: int, token: AccessToken | None = None) -> None:
        """Change the size and preserve the values; `token` is the write access that requests it.

        Only valid replicas that are too small are reallocated (HM-56). Raises `AccessConflictError`
        while other accesses use the memory (HM-64), `AllocationInUseError` for exported or
        externally owned memory.
        """
        if self.chunks.count > 1:
            raise StorageError(f'"{self.label}" has several chunks: its size is fixed.')
        others = [held for held in self.table.holders if held is not token]
        growing = self.replicas.valid_below(_checked_size(size) * self.itemsize)
        if others and (growing or token is None):
            raise AccessConflictError(
                f'"{self.label}" cannot be resized to {size} elements: {others[0].describe()} '
                f"is alive."
            )
        if growing:
            self._check_movable(growing)
        self.replicas.resize(size, growing)

    def check_room(self, size: int, space: SpaceLike) -> None:
        """Raise the error of a `resize` by an access of this thread that overwrites all elements.

        Accesses of other threads are ignored, because they may end before the resize.
        """
        replica = self.replicas.find(memory_space(space))
        room = max(self.capacity(space), self.nbytes)
        if room < _checked_size(size) * self.itemsize:
            self._check_idle(f"be resized to {size} elements", threading.get_ident())
            self._check_movable([] if replica is None else [replica])

    def clear(self) -> None:
        """Set the size to 0; allocations and validity do not change (HM-58)."""
        self.resize(0)

    @_when_idle
    def reserve(self, size: int, space: SpaceLike = None) -> None:
        """Reserve capacity for `size` elements in `space`; the size does not change."""
        replica = self.replicas.at(memory_space(space))
        nbytes = _checked_size(size) * self.itemsize
        if replica.capacity < nbytes:
            self._check_idle("get more memory")
            if replica.allocation is not None:
                self._check_movable([replica])
            self.replicas.grow(replica, nbytes)

    @_when_idle
    def purge(self) -> None:
        """Set the size to 0 and free all memory (HM-60); the replicas become invalid."""
        if self.chunks.count > 1:
            raise StorageError(f'"{self.label}" has several chunks: its size is fixed.')
        self._check_idle("be purged")
        self._check_movable(self.replicas.all())
        self.replicas.purge()

    @_when_idle
    def drop_replica(self, space: SpaceLike) -> None:
        """Free the memory in `space`; raise `StorageError` if no other replica has its values."""
        self._check_idle("lose a replica")
        replica = self.replicas.find(memory_space(space))
        if replica is not None:
            self._check_movable([replica])
            self.replicas.drop(replica)

    def allocate(self, spaces: Iterable[SpaceLike]) -> None:
        """Allocate memory in `spaces`, before any access requires values there."""
        with self.table.lock:
            for space in spaces:
                self.replicas.allocate(self.replicas.at(memory_space(space)))

    @_when_idle
    def adopt(self, allocation: Allocation, valid: bool = True) -> None:
        """Use existing memory as the replica in its space, without a copy (GDP-4)."""
        if allocation.capacity < self.nbytes:
            raise ValueError(f'"{self.label}" needs {self.nbytes} B, but {allocation!r} has fewer.')
        self._check_idle("adopt memory")
        self.replicas.adopt(Incarnation(memory_of(allocation.space), allocation), valid)

    def pin(self) -> ExportPin:
        """Return a pin: the memory is not moved until the pin is released."""
        return ExportPin(self.pins)

    # -- private ---------------------------------------------------------------------------------

    def _end(self, token: AccessToken, error: BaseException | None) -> None:
        """Release the access, and start the transfers that the hints request."""
        self._note_use(token)
        self.table.release(token)
        wrote = token.mode.writes
        if self._has_wishes and not (wrote and error is not None):
            self._pull_truths(token.chunks)
            if wrote:
                for space in self.replicas.wishes_after(token):
                    self.prefetch(space)

    def _note_use(self, token: AccessToken) -> None:
        """Record the pending device work of the calling thread when an access ends."""
        memory, allocation = token.replica.memory, token.replica.allocation
        if memory.queues_work and allocation is not None:
            memory.note_use(allocation, token.mode.writes, token.span)
            self.replicas.note_attention()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy or pickle by value: the options and the current values.

        Spaces, locks and statistics are not copied. Raises `PoisonedDataError` for unusable values.
        """
        parts: list[tuple[tuple[int, int], np.ndarray[Any, Any]]] = []
        for span in map(self.chunks.span, range(self.chunks.count)):
            if self.is_initialised(span):
                with self.acquire(host_space(), request=AccessRequest(region=span)) as token:
                    parts.append((span, np.array(token.array[slice(*span)])))
        return _restored, (type(self), self.size, self.dtype, self.replicas.options, parts)

    def _follow(self, hints: Hints, const: bool) -> None:
        old = self.replicas.options
        self.replicas.follow(
            BufferOptions(self.label, old.init, self.chunks, hints, const, old.alignment)
        )

    def _acquire_carefully(
        self, space: SpaceLike, mode: AccessMode, policy: Policy, request: AccessRequest | None
    ) -> AccessToken:
        token = self._token(memory_space(space), mode, policy, request)
        acquisition = Acquisition((token,))
        try:
            acquisition.begin()
            return token  # noqa: TRY300 - where an interrupt may come, too
        except BaseException as error:
            acquisition.roll_back(error)
            raise

    def _release_carefully(self, token: AccessToken, error: BaseException | None) -> None:
        if not token.active:
            raise AccessReleasedError(f"{token.describe()} was released twice.")
        try:
            if token.mode.writes:
                self.version += 1
                self.replicas.close_write(token, error)
            self._end(token, error)
        except BaseException:
            # The caller cannot release the token a second time, whatever the error was.
            if token.mode.writes:
                self.replicas.close_write(token, error)
            self._note_use(token)
            self.table.retract(token)
            raise

    def _token(
        self, space: MemorySpace, mode: AccessMode, policy: Policy, request: AccessRequest | None
    ) -> AccessToken:
        replica = self._resident.get(space)
        if replica is None:
            with self.table.lock:
                replica = self.replicas.at(space)
        if request is None:
            return AccessToken(self, replica, (space, self._whole), mode, policy)
        token = AccessToken(self, replica, (space, self._chunks(request.region)), mode, policy)
        token.request = request
        token.in_flight = request.in_flight
        if request.owner is not None:
            token.owner = request.owner
        return token

    def _pull_truths(self, chunks: tuple[int, int]) -> None:
        """Start transfers of the current values of `chunks` to the preferred spaces (ACC-6).

        Chunks without values are skipped; the first write places them.
        """
        preferred = self.hints.preferred
        if not preferred:
            return
        for chunk in range(*chunks):
            strays = self.replicas.truth_of(chunk) not in preferred
            if strays and self.replicas.validity.is_initialised((chunk, chunk + 1)):
                self._pull_truth(chunk, self.replicas.preferred(chunk) or preferred[0])

    def _pull_truth(self, chunk: int, home: MemorySpace) -> None:
        def moved(done: Future[None]) -> None:
            if done.exception() is None:
                self.replicas.move_truth(chunk, home)

        self.prefetch(home, self.chunks.span(chunk)).then(moved)

    def _chunks(self, region: tuple[int, int] | None) -> tuple[int, int]:
        return self._whole if region is None else self.chunks.touched_by(region)

    def _check_idle(self, what: str, owner: int | None = None) -> None:
        """Raise `AccessConflictError` if an access is active, or one of `owner` if given."""
        held = [claim for claim in self.table.holders if owner in (None, claim.owner)]
        if held:
            raise AccessConflictError(
                f'"{self.label}" cannot {what}: {held[0].describe()} is alive.'
            )

    def _check_movable(self, replicas: Iterable[Incarnation]) -> None:
        foreign = [replica for replica in replicas if replica.external]
        if foreign or self.pins:
            why = (
                f"its memory at {foreign[0].space.tag} belongs to somebody else"
                if foreign
                else f"{self.exports} exported view(s) look at it"
            )
            raise AllocationInUseError(
                f'The memory of "{self.label}" ({self.size} x {self.dtype}) cannot move: {why}.'
            )

    def __repr__(self) -> str:
        places = ", ".join(state.space.tag for state in self.incarnations())
        return f'<CoherentBuffer "{self.label}" {self.size} x {self.dtype} [{places}]>'


def _restored(
    kind: type[CoherentBuffer],
    size: int,
    dtype: np.dtype[Any],
    options: BufferOptions,
    parts: list[tuple[tuple[int, int], np.ndarray[Any, Any]]],
) -> CoherentBuffer:
    """Recreate a buffer from the data that `__reduce__` returned."""
    buffer = kind.__new__(kind)
    CoherentBuffer.__init__(buffer, size, dtype, replace(options, const=False))
    for span, values in parts:
        request = AccessRequest(region=span)
        with buffer.acquire(host_space(), AccessMode.WRITE_ONLY, request=request) as token:
            token.array[slice(*span)] = values
    if options.const:
        buffer.freeze()
    return buffer


def _checked_size(size: int) -> int:
    if size < 0:
        raise ValueError(f"A buffer cannot have {size} elements.")
    return size


register(host=host_space())
