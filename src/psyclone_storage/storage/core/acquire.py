"""Transactions that acquire one or several accesses.

Acquiring an access takes three steps: the lock table of its buffer grants it, its values are copied
to its replica, and if it writes, the other replicas become stale. An `Acquisition` takes these
steps for all accesses of a call together. After an error, it rolls them back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessDeadlockError,
    AccessReleasedError,
    PoisonedDataError,
    StorageError,
)
from psyclone_storage.storage.core.futures import Future, all_of, forward
from psyclone_storage.storage.core.lifetime import DROPPED
from psyclone_storage.storage.core.locks import (
    Group,
    Pairs,
    begin_wait,
    hold_all,
    queue_group,
)
from psyclone_storage.storage.core.native import begin
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.memory.pending_work import UNREPORTED, failure_in, give_up, waited_for
from psyclone_storage.storage.memory.races import RACES


def acquire_all(tokens: Sequence[AccessToken], *, later: bool = False) -> None:
    """Acquire all accesses or none; wait for conflicting ones if the policies allow it.

    If the work runs `later` on a device, this function does not wait for pending device work; the
    queued work itself waits for it.

    Raises `AccessConflictError`, `AccessDeadlockError`, `PoisonedDataError`, `ConstBufferError`.
    """
    acquisition: Acquisition | None = None
    try:
        if not begin(tokens):
            acquisition = Acquisition(tokens)
            acquisition.begin(later=later)
    except BaseException as error:
        (acquisition or Acquisition(tokens)).roll_back(error)
        raise


class Acquisition:
    """The acquisition of accesses as one transaction over locks, values and validity.

    After any exception, the caller must call `roll_back`, which may be called repeatedly. This
    includes an interrupt (Ctrl-C) just after a method has returned.
    """

    __slots__ = ("tokens", "_invalidations")

    def __init__(self, tokens: Sequence[AccessToken]) -> None:
        """Prepare to acquire `tokens`."""
        self.tokens = tokens
        self._invalidations: list[_Invalidation] = []

    def begin(self, *, later: bool = False) -> None:
        """Take all three steps, or the fast path that replaces them."""
        if not begin(self.tokens):
            self._lock()
            _prepare(self.tokens, later=later)
            self.invalidate()

    def _lock(self) -> None:
        tokens = self.tokens
        for done, token in enumerate(tokens):
            if not token.buffer.table.try_acquire(token):
                # Threads that wait for one access while they hold others can deadlock.
                _let_go(tokens[:done])
                hold_all(_pairs(tokens))
                return

    def invalidate(self) -> None:
        """Mark the replicas as stale that the granted write accesses do not write."""
        self._invalidations = [_Invalidation(token) for token in self.tokens if token.mode.writes]
        for one in self._invalidations:
            one.lost = one.token.buffer.replicas.mark_written(one.token)
        for one in self._invalidations:
            one.spoil_stale()

    def roll_back(self, error: BaseException) -> None:
        """Restore validity, then end the accesses.

        Values that can no longer be restored are marked as failed, with the reason `error`.
        """
        for one in self._invalidations:
            if one.token.active:
                one.restore(error)
        for token in self.tokens:
            token.buffer.table.retract(token)


class _Invalidation:
    """The validity of the chunks that an access writes, recorded before the access changes it.

    `lost` contains the bits of the replicas that become stale. `is_spoilt` is true if their values,
    or failures of the written replica, may have been overwritten; validity can then not be
    restored.
    """

    __slots__ = ("token", "lost", "is_spoilt", "_masks")

    def __init__(self, token: AccessToken) -> None:
        self.token = token
        self.lost = 0
        self.is_spoilt = False
        validity = token.buffer.replicas.validity
        self._masks = validity.valid, validity.touched

    def restore(self, error: BaseException) -> None:
        """Restore validity; mark values that are already destroyed as failed because of `error`."""
        token, replicas = self.token, self.token.buffer.replicas
        if not self.is_spoilt:
            with token.buffer.table.lock:
                replicas.validity.restore(token.chunks, self._masks)
            return
        replicas.mark_written(token)
        if not token.mode.reads:
            replicas.close_write(token, interrupted(error))

    def spoil_stale(self) -> None:
        """Overwrite stale values with a poison pattern; discard failures of overwritten work.

        Only some memories use a poison pattern.
        """
        token = self.token
        if not token.mode.reads:
            memory, allocation = token.replica.memory, token.replica.allocation_there()
            if allocation.failures or allocation.pending:
                self.is_spoilt = True
            if allocation.failures or memory.queues_work:
                _discard_failures(token)
        if self.lost:
            token.buffer.replicas.spoil_stale(self)


def interrupted(error: BaseException) -> BaseException:
    """Return the error to store as the reason for failed data.

    A reference to an interrupt itself would keep its whole call stack alive.
    """
    if isinstance(error, Exception):
        return error
    return StorageError("An interrupt came after the access had invalidated the values.")


def _prepare(tokens: Sequence[AccessToken], *, later: bool = False) -> None:
    """Make the replicas of granted accesses ready; with `later`, do not wait for device work."""
    for token in tokens:
        token.buffer.replicas.check_usable(token)
    for token in tokens:
        try:
            token.buffer.replicas.bring(token)
        except Exception as error:
            _check_spoiled(token, error)
            raise
        # Order the user of a replica after pending device work on it.
        memory, allocation = token.replica.memory, token.replica.allocation_there()
        if memory.queues_work:
            if not later:
                memory.follow(allocation, token.mode.writes, token.span)
        else:
            memory.settle(allocation, token.mode.writes, token.span)
            RACES.host_uses(allocation, writes=token.mode.writes, span=token.span)
        _check_arrived(token)


def _check_spoiled(token: AccessToken, error: BaseException) -> None:
    """Raise `PoisonedDataError` if values are unavailable because their computation failed.

    Such a failure is detected late, because the work runs later than its submission.
    """
    replicas = token.buffer.replicas
    there = (replica.allocation for replica in replicas.all() if replica.allocation is not None)
    if any(failure.error is error for allocation in there for failure in allocation.failures):
        replicas.poison(error)
        replicas.check_usable(token)


def _check_arrived(token: AccessToken) -> None:
    """Raise an error if work that computes or transfers the values of an access has failed.

    The next access repeats a failed transfer. Values whose computation failed are lost.
    """
    replicas, allocation = token.buffer.replicas, token.replica.allocation_there()
    # Work that still writes there replaces the values, or fails itself.
    if allocation.failures and all(
        use.event.done for use in waited_for(allocation, writes=False, span=token.span)
    ):
        spoiled = _take_failures(token)
        if spoiled:
            failure = next(iter(spoiled.values()))
            # Another thread may change the masks of other chunks at the same time.
            with token.buffer.table.lock:
                elsewhere = replicas.validity.distrust(token.replica.bit, spoiled)
            if elsewhere:
                UNREPORTED.discard(failure)
                raise StorageError(
                    f"{token.describe()} has no values because a transfer failed. The next access "
                    f"repeats the transfer: {failure!r}"
                ) from failure
            replicas.poison(failure)
            replicas.check_usable(token)
    if token.buffer.table.attention:
        replicas.note_attention()


def _take_failures(token: AccessToken) -> dict[int, BaseException]:
    """Return the error of each chunk that an access needs and whose computation failed.

    The failures are consumed: later calls do not report them again.
    """
    allocation = token.replica.allocation_there()
    found: dict[int, BaseException] = {}
    for chunk in token.buffer.replicas.needed(token):
        span = token.buffer.chunks.bytes_of((chunk, chunk + 1), token.buffer.dtype.itemsize)
        failure = failure_in(allocation, span)
        if failure is not None:
            give_up(allocation, span)
            found[chunk] = failure
    return found


def _discard_failures(token: AccessToken) -> None:
    """Discard failures of completed or queued work whose results an access will overwrite."""
    first, last = token.chunks
    needed = token.buffer.replicas.needed(token)
    if needed:
        # Only the chunks at the two ends can be needed.
        first, last = first + (first in needed), last - (last - 1 in needed)
    if first < last:
        span = token.buffer.chunks.bytes_of((first, last), token.buffer.dtype.itemsize)
        token.replica.memory.give_up(token.replica.allocation_there(), span)


FailureOf: TypeAlias = Callable[[AccessToken], BaseException | None]


class PendingAccesses:
    """Asynchronously requested accesses, from the request until they are granted.

    The caller stores this object first and then calls `begin`. If an interrupt (Ctrl-C) comes
    between the two, or later, the caller can thus still end the accesses. For the same reason,
    `give_up` and `close` may be called repeatedly.

    `ready` resolves when all accesses are granted and their values are valid. Waiting for it raises
    `AccessDeadlockError` if it could never resolve; the accesses are then cancelled.
    """

    __slots__ = ("tokens", "ready", "_group", "_is_brought")

    def __init__(self, tokens: Sequence[AccessToken]) -> None:
        """Prepare a request for all accesses or none."""
        self.tokens = tokens
        self.ready: Future[None] = Future(self._begin_wait)
        self._group = Group(_pairs(tokens), self._prepare)
        self._is_brought = False

    def begin(self) -> None:
        """Request the accesses; if that fails, the caller must call `abandon`."""
        queue_group(self._group)

    def begun(self) -> Future[AccessToken]:
        """Request the accesses and return the future of the first one."""
        try:
            self.begin()
            return self.ready.map(lambda _: self.tokens[0])
        except BaseException as error:
            self.abandon(error)
            raise

    def give_up(self, error: BaseException) -> bool:
        """Cancel the request and fail the future with `error`; return False if already granted."""
        given_up = self._group.give_up()
        if given_up and not self.ready.done():
            self.ready.set_exception(error)
        return given_up

    def close(self, failure_of: FailureOf, unopened: BaseException) -> Future[None]:
        """End the accesses; the future resolves when the preferred spaces have the values.

        `failure_of` returns for each access the error of its write, None for a success. Requests
        that are not granted yet are cancelled: waiting threads receive the error `unopened`.
        Accesses that failed to open need not be ended.
        """
        if self.give_up(unopened):
            return Future.completed(None)
        self._mark_in_flight()
        closed: Future[None] = Future()

        def end(opened: Future[None]) -> None:
            if opened.exception() is not None:
                closed.set_result(None)
                return
            try:
                _release_all(self.tokens, failure_of)
            except Exception as error:
                closed.set_exception(error)
                raise
            settled = [token.buffer.replicas.settled() for token in self.tokens]
            all_of(settled).then(lambda done: forward(done, closed))

        self.ready.then(end)
        return closed

    def abandon(self, error: BaseException) -> None:
        """Cancel the accesses after `error`, an interrupt, before any code has used them.

        Values that these accesses have already invalidated are lost.
        """
        for token in self.tokens:
            if token.active and self.ready.done() and not token.mode.reads:
                token.buffer.replicas.close_write(token, interrupted(error))
        self._group.abandon()

    def drop(self) -> bool:
        """End accesses whose owner was destroyed; return whether there were any.

        It may be called at any point, for example by the garbage collector. The owner did not
        confirm its writes, so the values that these accesses invalidated are lost.
        """
        if not self.ready.done():
            self._mark_in_flight()
            gone = AccessReleasedError("The accessor was dropped before it was open.")
            DROPPED.note(lambda: self.close(_nothing, gone))
            return True
        held = [token for token in self.tokens if token.active]
        for token in held:
            token.buffer.drop(token, AccessConflictError("The accessor was dropped while open."))
        return bool(held)

    def _mark_in_flight(self) -> None:
        """Record that the accesses end without their owner, so that waiting is no deadlock."""
        for token in self.tokens:
            token.in_flight = True

    def _begin_wait(self) -> Callable[[], None]:
        try:
            return begin_wait(self._group, threading.get_ident())
        except AccessDeadlockError as error:
            if self.give_up(error):
                raise
            return _nothing

    def _prepare(self) -> None:
        """Transfer the values of all granted accesses, and resolve the future.

        The transfer also completes if the thread that executes it is interrupted.
        """
        try:
            self._bring()
        except BaseException:
            self._bring()
            raise

    def _bring(self) -> None:
        """Start the transfers of the values, if they have not been started."""
        tokens = self.tokens
        if self._is_brought or self.ready.done():
            return
        try:
            for token in tokens:
                token.buffer.replicas.check_usable(token)
            moves = [token.buffer.replicas.start(token) for token in tokens]
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            self._fail(error)
            return
        all_of(moves).then(self._finish)
        self._is_brought = True

    def _finish(self, moved: Future[None]) -> None:
        if self.ready.done():
            return
        if not all(token.active for token in self.tokens):
            # Taken back during the transfer: their spaces must not become the only valid ones.
            self._fail(AccessReleasedError("The accesses were taken back before they were open."))
            return
        error = moved.exception()
        if error is not None:
            self._fail(_first_reason(self.tokens, error))
            return
        Acquisition(self.tokens).invalidate()
        self.ready.set_result(None)

    def _fail(self, error: BaseException) -> None:
        _let_go(self.tokens)
        self.ready.set_exception(error)


def _first_reason(tokens: Sequence[AccessToken], error: BaseException) -> BaseException:
    """Return the reason for a failed transfer: `PoisonedDataError`, or `error` itself."""
    try:
        for token in tokens:
            _check_spoiled(token, error)
    except PoisonedDataError as poisoned:
        return poisoned
    return error


def _pairs(tokens: Sequence[AccessToken]) -> Pairs:
    return tuple((token.buffer.table, token) for token in tokens)


def _let_go(tokens: Sequence[AccessToken]) -> None:
    """End granted accesses that no code has used yet."""
    for token in tokens:
        if token.active:
            token.buffer.table.release(token)


def _release_all(tokens: Sequence[AccessToken], failure_of: FailureOf) -> None:
    """End all accesses, even if the end of one raises an error or is interrupted."""
    failures: list[Exception] = []
    try:
        _release_each(tokens, failure_of, failures)
    except BaseException:
        _release_each(tokens, failure_of, failures)
        raise
    if failures:
        raise failures.pop()


def _release_each(
    tokens: Sequence[AccessToken], failure_of: FailureOf, failures: list[Exception]
) -> None:
    """End the active accesses; append the first error to `failures`."""
    for token in tokens:
        try:
            if token.active:
                token.buffer.release(token, failure_of(token))
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            if not failures:
                failures.append(error)


def _nothing(*_: object) -> None:
    """Do nothing, as a callback; return None (no failure)."""
