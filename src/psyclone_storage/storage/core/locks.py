"""Lock table of a buffer: the active and the waiting accesses.

There is one lock table per buffer, shared by all facades; facades differ only in their policy for
conflicts: `RAISE` (HMemo) raises an error, `WAIT` (the accessors) waits in a queue, `AUTO` (GDP-3
storages) waits for other threads and raises an error only for accesses of the same thread. Before a
wait begins, the table follows the wait-for graph, and raises `AccessDeadlockError` if the wait
could never end.

Accesses that are requested together enter all queues in one atomic step. Therefore two calls with
several arguments cannot deadlock each other, whatever the order of their arguments.

Two accesses conflict if they overlap, one of them writes, and they belong to different owners or
different replicas. In the same thread at the same replica, a write after a read is no conflict
(HM-70), but a read after a write is one (HM-67), except under `AUTO`, where it is treated as an
alias.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import Any, TypeAlias

from psyclone_storage.base.extension import FREE_THREADED
from psyclone_storage.storage.core.errors import AccessConflictError, AccessDeadlockError
from psyclone_storage.storage.core.lifetime import DROPPED
from psyclone_storage.storage.core.native import AccessFields, register
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.validity import Validity
from psyclone_storage.storage.core.waiting import WAITS, check_others_go_on, conflict_text


class AccessMode(Enum):
    """The mode of an access; `RDONLY`, `WRONLY` and `RDWR` are aliases.

    With `WRITE_ONLY`, the caller must write all elements of the region; no values are transferred.
    """

    READ = "read"
    WRITE_ONLY = "write-only"
    READ_WRITE = "read-write"
    RDONLY = READ
    WRONLY = WRITE_ONLY
    RDWR = READ_WRITE

    reads: bool
    writes: bool

    def __init__(self, text: str) -> None:
        """Set the flags that the lock table needs."""
        self.reads = text != "write-only"
        self.writes = text != "read"


def mode_of(word: AccessMode | str) -> AccessMode:
    """Return the mode with the name `word`, one of `MODE_WORDS`; return a mode unchanged.

    Raises `ValueError` for any other name, `TypeError` for other types.
    """
    if isinstance(word, AccessMode):
        return word
    if not isinstance(word, str):
        raise TypeError(f"{word!r} is neither an AccessMode nor the name of one.")
    found = MODE_WORDS.get(word)
    if found is None:
        raise ValueError(f'The mode "{word}" is none of {", ".join(map(repr, MODE_WORDS))}.')
    return found


MODE_WORDS = {
    "r": AccessMode.READ,
    "read": AccessMode.READ,
    "RDONLY": AccessMode.READ,
    "w": AccessMode.WRITE_ONLY,
    "write-only": AccessMode.WRITE_ONLY,
    "WRONLY": AccessMode.WRITE_ONLY,
    "rw": AccessMode.READ_WRITE,
    "read-write": AccessMode.READ_WRITE,
    "write": AccessMode.READ_WRITE,
    "RDWR": AccessMode.READ_WRITE,
}
"""The names of the modes in all APIs; every facade accepts all of them."""


class Policy(Enum):
    """The reaction to a conflict."""

    AUTO = "auto"
    WAIT = "wait"
    RAISE = "raise"


register(read=AccessMode.READ, read_write=AccessMode.READ_WRITE, auto=Policy.AUTO)

Pairs: TypeAlias = "Sequence[tuple[LockTable, Claim]]"
"""Claims, each with its lock table."""


class Claim(AccessFields):
    """State of an access in the lock table.

    `replica` identifies the memory used, `chunks` the range of chunks. An `in_flight` access ends
    with the device task to which it belongs. `active` is true while the access is granted and not
    yet released; `turn` is its queue entry, if it is waiting.
    """

    __slots__ = ()

    space: MemorySpace
    mode: AccessMode
    policy: Policy
    owner: Hashable
    chunks: tuple[int, int]
    turn: Turn | None

    def describe(self) -> str:
        """Return a description of the access, used as the subject of an error message."""
        return f"A {self.mode.value} access at {self.space.tag}"

    def drop(self) -> None:
        """End the access, whose owner was destroyed."""
        raise NotImplementedError


class Group:
    """A group of accesses that are requested and granted together.

    All of them enter the queues in one atomic step (`hold_all`, `queue_all`), so that two groups
    have the same order in every table that both need. All of them are also granted in one step: a
    waiting group holds nothing, so that only later groups in a queue wait for it.
    """

    __slots__ = ("pairs", "_granted", "_waiting", "_given_up", "_granter", "_is_complete")

    def __init__(self, pairs: Pairs, granted: Callable[[], None]) -> None:
        """Create a group of the claims in `pairs`; call `granted` once, when all are granted."""
        self.pairs = pairs
        self._granted = granted
        self._waiting = True
        self._given_up = False
        self._granter: object = None
        self._is_complete = False

    def line_up(self, *, checked: bool) -> None:
        """Grant all claims, or put all of them in their queues.

        With `checked`, a conflict for which a policy does not allow waiting raises
        `AccessConflictError`, and changes nothing.
        """
        if _all_locked(self.pairs, lambda: self._take_all(checked)):
            self._finish()

    def try_grant(self) -> None:
        """Grant all queued claims if nothing blocks any of them.

        The granting thread may differ from the waiting one: an interrupt of the former must not
        affect the latter.
        """
        granter = object()
        try:
            if _all_locked(self.pairs, lambda: self._take_all_in_line(granter)):
                self._finish()
        except BaseException:
            if self._granter is granter:
                _all_locked(self.pairs, self._grant_all)
                self._finish()
            raise

    def go_ahead(self) -> None:
        """Move these claims to the front, because the queued claims wait for their owner."""
        _all_locked(self.pairs, self._put_first)
        self.try_grant()

    def give_up(self) -> bool:
        """Leave the queues; return False if the claims are already granted.

        This may be repeated after an interrupt.
        """
        if not _all_locked(self.pairs, self._stop_and_give_up):
            return False
        self._granted = _nothing
        for table, claim in self.pairs:
            table.leave(claim)
        return True

    def abandon(self) -> None:
        """Remove all claims after an interrupt, granted or not."""
        self._waiting = False
        self._granted = _nothing
        for table, claim in self.pairs:
            table.retract(claim)

    def _take_all(self, checked: bool) -> bool:
        """Grant all claims and return True, or queue all of them; the tables are locked."""
        passes = {id(table): table.holds(claim.owner) for table, claim in self.pairs}
        for table, claim in self.pairs:
            if not table.grant_if_free(Turn(table, claim, self), passes[id(table)]):
                self._queue(checked)
                return False
        return self._stop_waiting()

    def _take_all_in_line(self, granter: object) -> bool:
        """Grant all queued claims if possible; the tables are locked."""
        if not self._waiting or any(table.blockers(claim) for table, claim in self.pairs):
            return False
        self._granter, self._waiting = granter, False
        return self._grant_all()

    def _grant_all(self) -> bool:
        """Grant the remaining claims irrevocably; the tables are locked."""
        if not self._is_complete:
            for table, claim in self.pairs:
                table.grant_in_line(claim)
            self._is_complete = True
        return True

    def _put_first(self) -> bool:
        for table, claim in reversed(self.pairs) if self._waiting else ():
            table.put_first(claim)
        return self._waiting

    def _stop_waiting(self) -> bool:
        """Record that no thread waits for the group; return whether one did."""
        waiting, self._waiting = self._waiting, False
        return waiting

    def _stop_and_give_up(self) -> bool:
        """Record that the claims are no longer needed; return False if they are granted."""
        self._given_up = self._given_up or self._waiting
        self._waiting = False
        return self._given_up

    def _queue(self, checked: bool) -> None:
        """Queue all claims; if a policy does not allow one to wait, undo that and raise."""
        for table, claim in self.pairs:
            table.take_back(claim)
        for done, (table, claim) in enumerate(self.pairs):
            table.put_last(Turn(table, claim, self))
            refused = _refused_because_of(table, claim) if checked else []
            if refused:
                for place, other in self.pairs[: done + 1]:
                    place.take_back(other)
                raise AccessConflictError(conflict_text(claim, refused))

    def _finish(self) -> None:
        """Call the callback for granted claims, which wakes the waiting thread; may be repeated."""
        self._granted()
        self._granted = _nothing


class Turn:
    """The entry of a claim in the queue of a table."""

    __slots__ = ("table", "claim", "group")

    def __init__(self, table: LockTable, claim: Claim, group: Group) -> None:
        """Create the queue entry for `claim` of `group` at `table`."""
        self.table = table
        self.claim = claim
        self.group = group


class LockTable(Validity):
    """The active and waiting accesses of a buffer, in first-come-first-served order.

    `lock` guards the table and the validity masks of the buffer. `writers` is the number of active
    accesses that write.
    """

    __slots__ = ()

    holders: list[Claim]
    queue: deque[Turn] | None

    def try_acquire(self, claim: Claim) -> bool:
        """Grant `claim` if no active or waiting claim could conflict with it; else return False."""
        try:
            with self.lock:
                writes = claim.mode.writes
                if self.writers or self.queue or (writes and self.holders):
                    return False
                self.holders.append(claim)
                self.writers += writes
                claim.active = True
                return True
        except BaseException:
            self.retract(claim)
            raise

    def acquire(self, claim: Claim) -> None:
        """Grant `claim`, after a wait if its policy allows one.

        Raises `AccessConflictError` or `AccessDeadlockError`.
        """
        if not self.try_acquire(claim):
            hold_all(((self, claim),))

    def release(self, claim: Claim) -> None:
        """End `claim` and grant the claims that it blocked."""
        if self.try_drop(claim):
            return
        with self.lock:
            self.drop(claim)
            if not self.queue:
                return
            free = self._free_groups()
        for group in free:
            group.try_grant()

    def retract(self, claim: Claim) -> None:
        """Remove `claim` after an interrupt, which may have come inside any of these methods."""
        with self.lock:
            self.holders[:] = [held for held in self.holders if held is not claim]
            self.writers = sum(held.mode.writes for held in self.holders)
            self._remove(claim)
            claim.active = False
            claim.turn = None
            free = self._free_groups()
        for group in free:
            group.try_grant()

    def end_lost(self) -> None:
        """End accesses without references, as if their objects had been destroyed.

        An interrupt between two bytecode instructions may lose an access before its caller receives
        it.
        """
        for position in reversed(range(len(self.holders))):
            if _is_lost(self.holders, position):
                self.holders[position].drop()

    def leave(self, claim: Claim) -> None:
        """End `claim` or remove it from the queue, and grant the claims that it blocked."""
        with self.lock:
            self.take_back(claim)
            free = self._free_groups()
        for group in free:
            group.try_grant()

    def seen_in_line(self, claim: Claim) -> tuple[list[Claim], list[Claim]]:
        """Return the active and the earlier waiting claims that currently block `claim`.

        Both lists are empty if `claim` is not waiting.
        """
        with self.lock:
            if claim.active or claim.turn is None:
                return [], []
            blocking = self.blockers(claim)
            return [b for b in blocking if b.active], [b for b in blocking if not b.active]

    def blockers(self, claim: Claim) -> list[Claim]:
        """Return the active and earlier waiting claims that block `claim`; the table is locked."""
        blocking = [held for held in self.holders if _conflict(claim, held)]
        for turn in self.queue or ():
            if turn.claim is claim:
                break
            if _conflict(claim, turn.claim):
                blocking.append(turn.claim)
        return blocking

    def holds(self, owner: Hashable) -> bool:
        """Return whether `owner` has an active claim; it may then pass the queue."""
        return any(held.owner == owner for held in self.holders)

    def grant_if_free(self, turn: Turn, passes: bool) -> bool:
        """Grant the claim of `turn` and return True if nothing blocks it; the table is locked.

        `passes` means that its owner already had an active claim here; such an owner may pass the
        queue.
        """
        claim = turn.claim
        claim.turn = turn
        if passes or claim.policy is Policy.RAISE:
            free = not any(_conflict(claim, held) for held in self.holders)
        else:
            free = not self.blockers(claim)
        if free:
            self._grant(claim)
        return free

    def grant_in_line(self, claim: Claim) -> None:
        """Grant a queued claim; the table is locked."""
        self._remove(claim)
        self._grant(claim)

    def put_last(self, turn: Turn) -> None:
        """Append a claim to the queue; the table is locked."""
        turn.claim.turn = turn
        if self.queue is None:
            self.queue = deque()
        self.queue.append(turn)

    def put_first(self, claim: Claim) -> None:
        """Move a queued claim to the front of the queue; the table is locked."""
        turn = claim.turn
        if turn is not None and self.queue is not None:
            self._remove(claim)
            self.queue.appendleft(turn)

    def take_back(self, claim: Claim) -> None:
        """Remove a claim that no code has used yet, granted or queued; the table is locked."""
        if claim.active:
            self.drop(claim)
        else:
            self._remove(claim)
            claim.turn = None

    def _remove(self, claim: Claim) -> None:
        if self.queue:
            self.queue = deque(turn for turn in self.queue if turn.claim is not claim)

    def _grant(self, claim: Claim) -> None:
        if not any(held is claim for held in self.holders):
            self.holders.append(claim)
        self.writers = sum(held.mode.writes for held in self.holders)
        claim.active = True
        claim.turn = None  # breaks a reference cycle, so that `end_lost` finds unused claims

    def _free_groups(self) -> list[Group]:
        """Return the groups that have a queued claim without blockers, in queue order."""
        free = [turn.group for turn in self.queue or () if not self.blockers(turn.claim)]
        return list(dict.fromkeys(free))


def hold_all(pairs: Pairs) -> None:
    """Grant all claims, each at its table; wait if their policies allow it.

    They are queued in one atomic step. If this raises `AccessConflictError` or
    `AccessDeadlockError`, no claim is granted.
    """
    for table, _ in pairs:
        table.end_lost()
    DROPPED.end_all()
    granted = threading.Lock()
    granted.acquire()  # pylint: disable=consider-using-with  # released by the granting thread

    def let_go() -> None:
        if granted.locked():
            granted.release()

    group = Group(pairs, let_go)
    waiter = pairs[0][1].owner
    try:
        group.line_up(checked=True)
        if granted.locked():
            _wait(group, waiter, granted)
    except BaseException:
        WAITS.forget(group.pairs, waiter)
        group.abandon()
        raise


def _wait(group: Group, waiter: Hashable, granted: threading.Lock) -> None:
    """Wait until `granted` is released, that is, until the claims of `group` are granted."""
    try:
        end_wait = begin_wait(group, waiter)
    except AccessDeadlockError:
        if group.give_up():
            raise
        return
    if granted.locked():
        check_others_go_on()
    granted.acquire()  # pylint: disable=consider-using-with  # the lock is not used again
    end_wait()


def queue_all(pairs: Pairs, granted: Callable[[], None]) -> Group:
    """Queue all claims in one atomic step; call `granted` when all are granted.

    The call may come immediately, in this thread. Until then, the returned group can be cancelled.
    """
    group = Group(pairs, granted)
    try:
        queue_group(group)
        return group  # noqa: TRY300 - where an interrupt may come, too
    except BaseException:
        group.abandon()
        raise


def queue_group(group: Group) -> None:
    """Queue the claims of a group; if this fails, the caller must call `Group.abandon`."""
    for table, _ in group.pairs:
        table.end_lost()
    DROPPED.end_all()
    group.line_up(checked=False)


def begin_wait(group: Group, waiter: Hashable) -> Callable[[], None]:
    """Record that `waiter` waits for the claims of `group`; return the undo function.

    If claims ahead in the queue cannot proceed before the waiter does, it overtakes them. Raises
    `AccessDeadlockError` if the wait still could not end.
    """
    try:
        return WAITS.begin(group.pairs, waiter)
    except AccessDeadlockError:
        group.go_ahead()
        return WAITS.begin(group.pairs, waiter)


def _all_locked(pairs: Pairs, work: Callable[[], bool]) -> bool:
    """Return `work()`, called with the locks of all tables held, acquired in a global order."""
    tables = {id(table): table for table, _ in pairs}
    return _under([tables[key].lock for key in sorted(tables)], work)


def _under(locks: Sequence[Any], work: Callable[[], bool]) -> bool:
    """Call `work` with all locks held; each is held by a `with` block if an interrupt comes."""
    if not locks:
        return work()
    with locks[0]:
        return _under(locks[1:], work)


def _is_lost(holders: list[Claim], position: int) -> bool:
    """Return whether only the list refers to a claim; False in free-threaded interpreters.

    Reference counts are unreliable there.
    """
    if FREE_THREADED:
        return False
    try:
        return sys.getrefcount(holders[position]) == _ONLY_THE_LIST
    except IndexError:  # another thread has ended some
        return False


_ONLY_THE_LIST = 2


def _refused_because_of(table: LockTable, claim: Claim) -> list[Claim]:
    """Return the claims for which `claim` may not wait, because of its policy."""
    blocking = table.blockers(claim)
    if claim.policy is Policy.RAISE:
        return [held for held in blocking if held.active]
    own = [held for held in blocking if held.owner == claim.owner]
    waits = claim.policy is Policy.WAIT or all(held.in_flight for held in own)
    return [] if waits else own


def _conflict(new: Claim, held: Claim) -> bool:
    if not (new.mode.writes or held.mode.writes):
        return False
    if new.chunks[0] >= held.chunks[1] or held.chunks[0] >= new.chunks[1]:
        return False
    if new.owner != held.owner or new.replica is not held.replica:
        return True
    match new.policy:
        case Policy.AUTO:
            return False
        case Policy.RAISE:
            return held.mode.writes
        case Policy.WAIT:
            return True


def _nothing() -> None:
    """Do nothing, as a callback."""
