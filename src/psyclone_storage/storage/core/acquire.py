"""Transactions that begin accesses, one or several at once.

An access has three steps: the lock table of its buffer grants it, its values are copied to its
replica, and if it writes, the other replicas become stale. An `Acquisition` is the one place that
takes these steps, for all accesses of a call together, and that takes them back.
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
from psyclone_storage.storage.memory.pending_work import UNREPORTED, failure_in, give_up
from psyclone_storage.storage.memory.races import RACES


def acquire_all(tokens: Sequence[AccessToken], *, later: bool = False) -> None:
    """Begin the accesses, all or none, after a wait if their policies allow one.

    If the work runs `later` on a device, the accesses do not wait for pending device work here; the
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
    """The begin of accesses as one transaction over locks, values and validity.

    After any exception, an interrupt (Ctrl-C) after the return of a method included, the caller
    calls `roll_back`, which it may call again.
    """

    __slots__ = ("tokens", "_invalidations")

    def __init__(self, tokens: Sequence[AccessToken]) -> None:
        """Prepare to begin `tokens`."""
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
        """Mark the replicas stale that the accesses do not write; the accesses are granted."""
        self._invalidations = [_Invalidation(token) for token in self.tokens if token.mode.writes]
        for one in self._invalidations:
            one.lost = one.token.buffer.replicas.mark_written(one.token)
        for one in self._invalidations:
            one.spoil_stale()

    def roll_back(self, error: BaseException) -> None:
        """Restore validity, then end the accesses.

        Values that cannot be restored any more are poisoned by `error`.
        """
        for one in self._invalidations:
            if one.token.active:
                one.restore(error)
        for token in self.tokens:
            token.buffer.table.retract(token)


class _Invalidation:
    """The validity of the chunks that an access writes, as recorded before the access changes it.

    `lost` has the bits of the replicas that become stale. `is_spoilt` is true if their values, or
    failures of the written replica, may be overwritten: validity cannot be restored then.
    """

    __slots__ = ("token", "lost", "is_spoilt", "_masks")

    def __init__(self, token: AccessToken) -> None:
        self.token = token
        self.lost = 0
        self.is_spoilt = False
        validity = token.buffer.replicas.validity
        self._masks = validity.valid, validity.touched

    def restore(self, error: BaseException) -> None:
        """Restore validity; values that are destroyed already are poisoned by `error`."""
        token, replicas = self.token, self.token.buffer.replicas
        if not self.is_spoilt:
            with token.buffer.table.lock:
                replicas.validity.restore(token.chunks, self._masks)
            return
        replicas.mark_written(token)
        if not token.mode.reads:
            replicas.close_write(token, interrupted(error))

    def spoil_stale(self) -> None:
        """Overwrite stale values if their memories guard; discard failures of overwritten work."""
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
    """Return the error that poisons values after `error`.

    A reference to an interrupt itself would keep its whole call stack alive.
    """
    if isinstance(error, Exception):
        return error
    return StorageError("An interrupt came after the access had invalidated the values.")


def _prepare(tokens: Sequence[AccessToken], *, later: bool = False) -> None:
    """Make the replicas of granted accesses ready, or let them become so `later` on a device."""
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
            memory.settle(allocation, token.mode.writes)
            RACES.host_uses(allocation, writes=token.mode.writes)
        _check_arrived(token)


def _check_spoiled(token: AccessToken, error: BaseException) -> None:
    """Raise `PoisonedDataError` if values are unavailable because the work that makes them failed.

    Such a failure is detected late, because the work runs later than its submission.
    """
    replicas = token.buffer.replicas
    there = (replica.allocation for replica in replicas.all() if replica.allocation is not None)
    if any(failure.error is error for allocation in there for failure in allocation.failures):
        replicas.poison(error)
        replicas.check_usable(token)


def _check_arrived(token: AccessToken) -> None:
    """Raise if work that computes or transfers the values of an access has failed meanwhile.

    The next access repeats a failed transfer. Values whose computation failed are lost.
    """
    replicas, allocation = token.buffer.replicas, token.replica.allocation_there()
    # Work that still writes there replaces the values, or fails itself.
    writers = (use for use in allocation.pending if use.wrote)
    if allocation.failures and all(use.event.done for use in writers):
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
    """Return the chunks whose values an access needs, but whose computation failed.

    The failures are consumed: no later call reports them again.
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
    """Discard failures of work, queued work included, that a write-only access overwrites."""
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
    """Accesses that are requested without waiting, from the request to the answer.

    The caller stores this object first and then calls `begin`: if an interrupt (Ctrl-C) comes
    between the two, or at any later point, an owner remains that can end the accesses. For the same
    reason `give_up` and `close` can be repeated.

    `ready` resolves when all are granted and have their values. Waiting for it raises
    `AccessDeadlockError` if it could never resolve; the accesses are given up then.
    """

    __slots__ = ("tokens", "ready", "_group", "_is_brought")

    def __init__(self, tokens: Sequence[AccessToken]) -> None:
        """Prepare a request for the accesses, all or none."""
        self.tokens = tokens
        self.ready: Future[None] = Future(self._begin_wait)
        self._group = Group(_pairs(tokens), self._prepare)
        self._is_brought = False

    def begin(self) -> None:
        """Request the accesses; if that fails the caller has to `abandon` them."""
        queue_group(self._group)

    def begun(self) -> Future[AccessToken]:
        """Request the accesses and return the future of the first."""
        try:
            self.begin()
            return self.ready.map(lambda _: self.tokens[0])
        except BaseException as error:
            self.abandon(error)
            raise

    def give_up(self, error: BaseException) -> bool:
        """Fail the future with `error`; return False if the accesses are granted already."""
        given_up = self._group.give_up()
        if given_up and not self.ready.done():
            self.ready.set_exception(error)
        return given_up

    def close(self, failure_of: FailureOf, unopened: BaseException) -> Future[None]:
        """End the accesses; the future resolves when the preferred spaces have the values.

        `failure_of` returns for each access the error of its write, None for a success. Accesses
        that are not granted yet are given up: waiting threads get the error `unopened`. Accesses
        that failed to open need no end.
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
        """Take back the accesses that `error`, an interrupt, has left without any use.

        Values that these accesses have already invalidated stay lost.
        """
        for token in self.tokens:
            if token.active and self.ready.done() and not token.mode.reads:
                token.buffer.replicas.close_write(token, interrupted(error))
        self._group.abandon()

    def drop(self) -> bool:
        """End accesses whose user is gone; return whether there were any. Safe at any point.

        No user confirmed a write, so the values that these accesses invalidated are lost.
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
        """Record that the accesses end by themselves, so that waiting for them is no deadlock."""
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
        """Bring the values of all accesses, which are granted, and resolve the future.

        An interrupt of the thread that resumes them does not affect them.
        """
        try:
            self._bring()
        except BaseException:
            self._bring()
            raise

    def _bring(self) -> None:
        """Start the transfers of the values, unless they are started."""
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
    """Return why values could not be brought."""
    try:
        for token in tokens:
            _check_spoiled(token, error)
    except PoisonedDataError as poisoned:
        return poisoned
    return error


def _pairs(tokens: Sequence[AccessToken]) -> Pairs:
    return tuple((token.buffer.table, token) for token in tokens)


def _let_go(tokens: Sequence[AccessToken]) -> None:
    """End accesses that no code has used yet."""
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
    """End those that have not ended; put the first error into `failures`."""
    for token in tokens:
        try:
            if token.active:
                token.buffer.release(token, failure_of(token))
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            if not failures:
                failures.append(error)


def _nothing(*_: object) -> None:
    """End a wait that is over; name no failure."""
