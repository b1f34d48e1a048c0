"""Lock table of a buffer: the accesses in progress and in line; it does not track valid values.

There is one lock table per buffer, shared by all faces; faces differ only in their
policy for conflicts (spec 2B.1): `RAISE` (HMemo) raises, `WAIT` (the accessors) waits in line,
`AUTO` (GDP-3 storages) waits for other threads and raises only for accesses of the same thread. The
table detects a wait that could never end before it begins, by following the wait-for graph, and
raises `AccessDeadlockError`.

Accesses that are requested together enter all queues together, at one moment: no two calls with
several arguments can deadlock each other, whatever the order of their arguments.

Two accesses conflict if they overlap, one of them writes, and they belong to different owners or
different replicas. In the same thread at the same replica, a write after a read is no
conflict (HM-70), a read after a write is one (HM-67), except under `AUTO`, where it is
just an alias.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import Any, TypeAlias

from psyclone_storage.storage.core.errors import AccessConflictError, AccessDeadlockError
from psyclone_storage.storage.core.lifetime import DROPPED
from psyclone_storage.storage.core.native import AccessFields, register
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.validity import Validity
from psyclone_storage.storage.core.waiting import WAITS, check_others_go_on, conflict_text


class AccessMode(Enum):
    """Kind of an access; `RDONLY`, `WRONLY` and `RDWR` are aliases.

    `WRITE_ONLY` promises to write all elements of its region: nothing is copied in.
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
        """Derive the flags that the lock table needs."""
        self.reads = text != "write-only"
        self.writes = text != "read"


def mode_of(word: AccessMode | str) -> AccessMode:
    """Return the mode that `word` names, a mode or one of `MODE_WORDS`.

    Raises `ValueError` for any other word, `TypeError` for other types.
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
"""The names of the modes, in the words of all origins; every door takes all of them."""


class Policy(Enum):
    """Reaction to a conflict."""

    AUTO = "auto"
    WAIT = "wait"
    RAISE = "raise"


register(read=AccessMode.READ, read_write=AccessMode.READ_WRITE, auto=Policy.AUTO)

Pairs: TypeAlias = "Sequence[tuple[LockTable, Claim]]"
"""Claims, each with the table that it is made at."""


class Claim(AccessFields):
    """State of an access in the lock table.

    `replica` is any object that identifies the memory used, `chunks` the range of chunks. An access
    that is `in_flight` ends by itself, with the device task that it belongs to. `active` is true
    while it is granted and not yet released; `turn` is its place in line, if it ever had one.
    """

    __slots__ = ()

    space: MemorySpace
    mode: AccessMode
    policy: Policy
    owner: Hashable
    chunks: tuple[int, int]
    turn: Turn | None

    def describe(self) -> str:
        """Return the subject of an error message."""
        return f"A {self.mode.value} access at {self.space.tag}"

    def drop(self) -> None:
        """End the access: its owner is gone."""
        raise NotImplementedError


class Group:
    """The claims that were requested together, and that are useful only together.

    All of them enter the queues at one moment (`hold_all`, `queue_all`), so that two groups are in
    the same order at every table that both need, and all of them are granted at one moment: a group
    that waits holds nothing, so that only the groups after it in line wait for it.
    """

    __slots__ = ("pairs", "_granted", "_waiting", "_given_up", "_granter", "_is_complete")

    def __init__(self, pairs: Pairs, granted: Callable[[], None]) -> None:
        """Join the claims of `pairs`; `granted` is called once, when all of them are."""
        self.pairs = pairs
        self._granted = granted
        self._waiting = True
        self._given_up = False
        self._granter: object = None
        self._is_complete = False

    def line_up(self, *, checked: bool) -> None:
        """Grant all claims, or put all of them in line.

        With `checked`, a conflict that a policy does not wait for raises `AccessConflictError`, and
        leaves everything as it was.
        """
        if _all_locked(self.pairs, lambda: self._take_all(checked)):
            self._finish()

    def try_grant(self) -> None:
        """Grant all claims, which are in line, if nothing blocks any of them.

        The thread that grants need not be the one that waits: its interrupt does not affect others.
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
        """Overtake the claims in line, because they wait for the owner of these claims."""
        _all_locked(self.pairs, self._put_first)
        self.try_grant()

    def give_up(self) -> bool:
        """Leave the queues; return False if the claims are granted already.

        After an interrupt this can be done once more.
        """
        if not _all_locked(self.pairs, self._stop_and_give_up):
            return False
        self._granted = _nothing
        for table, claim in self.pairs:
            table.leave(claim)
        return True

    def abandon(self) -> None:
        """Take all claims back after an interrupt, granted or not."""
        self._waiting = False
        self._granted = _nothing
        for table, claim in self.pairs:
            table.retract(claim)

    def _take_all(self, checked: bool) -> bool:
        """Grant all claims and return True, else queue them; the tables are locked."""
        passes = {id(table): table.holds(claim.owner) for table, claim in self.pairs}
        for table, claim in self.pairs:
            if not table.grant_if_free(Turn(table, claim, self), passes[id(table)]):
                self._queue(checked)
                return False
        return self._stop_waiting()

    def _take_all_in_line(self, granter: object) -> bool:
        """Grant all claims, which are in line, if possible; the tables are locked."""
        if not self._waiting or any(table.blockers(claim) for table, claim in self.pairs):
            return False
        self._granter, self._waiting = granter, False
        return self._grant_all()

    def _grant_all(self) -> bool:
        """Grant the remaining claims, irrevocably; the tables are locked."""
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
        """Record that no thread waits any more; return whether one waited before."""
        waiting, self._waiting = self._waiting, False
        return waiting

    def _stop_and_give_up(self) -> bool:
        """Record that the claims are not needed any more, unless they are granted."""
        self._given_up = self._given_up or self._waiting
        self._waiting = False
        return self._given_up

    def _queue(self, checked: bool) -> None:
        """Put all claims in line; undo that, and raise, if one is not to wait."""
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
        """Report that all claims are granted, perhaps twice; this wakes the waiting thread."""
        self._granted()
        self._granted = _nothing


class Turn:
    """A claim's place in the line of a table."""

    __slots__ = ("table", "claim", "group")

    def __init__(self, table: LockTable, claim: Claim, group: Group) -> None:
        """Create the queue entry for `claim` of `group` at `table`."""
        self.table = table
        self.claim = claim
        self.group = group


class LockTable(Validity):
    """The accesses that hold a buffer and those that wait for it, first come first served.

    `lock` guards the table and the validity masks of its buffer. `writers` is the number of holders
    that write.
    """

    __slots__ = ()

    holders: list[Claim]
    queue: deque[Turn] | None

    def try_acquire(self, claim: Claim) -> bool:
        """Grant `claim` if no other claim, held or in line, could conflict with it."""
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
        """End `claim` and grant those that waited for it."""
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
        """Retract `claim` after an interrupt, which may have come inside any of these methods."""
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
        """End the accesses that are no longer referenced, as if their objects had been dropped.

        An interrupt between two steps of Python may lose an access before its caller receives it.
        """
        for position in reversed(range(len(self.holders))):
            if _is_lost(self.holders, position):
                self.holders[position].drop()

    def leave(self, claim: Claim) -> None:
        """End `claim`, or take it out of the line, and grant those that waited for it."""
        with self.lock:
            self.take_back(claim)
            free = self._free_groups()
        for group in free:
            group.try_grant()

    def seen_in_line(self, claim: Claim) -> tuple[list[Claim], list[Claim]]:
        """Return the holders, and those before it in line, that `claim` waits for at this moment.

        There are none of either if it is not in line itself.
        """
        with self.lock:
            if claim.active or claim.turn is None:
                return [], []
            blocking = self.blockers(claim)
            return [b for b in blocking if b.active], [b for b in blocking if not b.active]

    def blockers(self, claim: Claim) -> list[Claim]:
        """Return the claims that `claim` waits for: holders, and earlier ones; under the lock."""
        blocking = [held for held in self.holders if _conflict(claim, held)]
        for turn in self.queue or ():
            if turn.claim is claim:
                break
            if _conflict(claim, turn.claim):
                blocking.append(turn.claim)
        return blocking

    def holds(self, owner: Hashable) -> bool:
        """Return whether `owner` holds a claim: it may pass the line, whose head waits for it."""
        return any(held.owner == owner for held in self.holders)

    def grant_if_free(self, turn: Turn, passes: bool) -> bool:
        """Grant the claim of `turn` and return True if nothing blocks it; the table is locked.

        `passes` means that its owner held a claim here before the request.
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
        """Grant a claim that is in line; the table is locked."""
        self._remove(claim)
        self._grant(claim)

    def put_last(self, turn: Turn) -> None:
        """Put a claim at the end of the line; the table is locked."""
        turn.claim.turn = turn
        if self.queue is None:
            self.queue = deque()
        self.queue.append(turn)

    def put_first(self, claim: Claim) -> None:
        """Move a claim that is in line to its front; the table is locked."""
        turn = claim.turn
        if turn is not None and self.queue is not None:
            self._remove(claim)
            self.queue.appendleft(turn)

    def take_back(self, claim: Claim) -> None:
        """End a claim that no code has used yet, granted or in line; the table is locked."""
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
        claim.turn = None  # which refers back to the claim: one without a user must be found

    def _free_groups(self) -> list[Group]:
        """Return, in their order, the groups in line of which a claim has nothing in its way."""
        free = [turn.group for turn in self.queue or () if not self.blockers(turn.claim)]
        return list(dict.fromkeys(free))


def hold_all(pairs: Pairs) -> None:
    """Grant all the claims, each at its table, after a wait if their policies allow one.

    They get in line at one moment, and nothing is held when this raises `AccessConflictError` or
    `AccessDeadlockError`.
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
    """Wait until `granted` is released, which means that the claims of `group` are granted."""
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
    """Get in line with all the claims at one moment; call `granted` when all are granted.

    That may be at once, in this thread. The group that is returned can be given up until then.
    """
    group = Group(pairs, granted)
    try:
        queue_group(group)
        return group  # noqa: TRY300 - where an interrupt may come, too
    except BaseException:
        group.abandon()
        raise


def queue_group(group: Group) -> None:
    """Get in line with the claims of a group, whose caller takes them back if this fails."""
    for table, _ in group.pairs:
        table.end_lost()
    DROPPED.end_all()
    group.line_up(checked=False)


def begin_wait(group: Group, waiter: Hashable) -> Callable[[], None]:
    """Record that `waiter` is about to wait for the claims of `group`; return the undo function.

    If the claims in line could not proceed before the waiter does, it overtakes them. Raises
    `AccessDeadlockError` if the wait could not end then either.
    """
    try:
        return WAITS.begin(group.pairs, waiter)
    except AccessDeadlockError:
        group.go_ahead()
        return WAITS.begin(group.pairs, waiter)


def _all_locked(pairs: Pairs, work: Callable[[], bool]) -> bool:
    """Return `work()`, done under the locks of all tables, which have one order everywhere."""
    tables = {id(table): table for table, _ in pairs}
    return _under([tables[key].lock for key in sorted(tables)], work)


def _under(locks: Sequence[Any], work: Callable[[], bool]) -> bool:
    """Do `work` under all the locks: an interrupt finds each in the hands of a `with`."""
    if not locks:
        return work()
    with locks[0]:
        return _under(locks[1:], work)


def _is_lost(holders: list[Claim], position: int) -> bool:
    """Return whether only the list refers to a claim; False where reference counts are unreliable.

    Reference counts are unreliable in free-threaded interpreters.
    """
    if _MANY_COUNT:
        return False
    try:
        return sys.getrefcount(holders[position]) == _ONLY_THE_LIST
    except IndexError:  # another thread has ended some
        return False


_ONLY_THE_LIST = 2
_MANY_COUNT = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def _refused_because_of(table: LockTable, claim: Claim) -> list[Claim]:
    """Return the claims that make waiting of `claim` an error, by its policy."""
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
    """Do nothing when called."""
