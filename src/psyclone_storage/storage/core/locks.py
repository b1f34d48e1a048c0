"""Own who may use a buffer at a time; refuse to know where its values are.

There is one lock table per buffer, whatever face the user came through; faces differ only in what
happens on a conflict (spec 2B.1): `RAISE` (HMemo) raises, `WAIT` (the accessors) waits its turn,
`AUTO` (GDP-3 storages) waits for others and raises only for what the same thread holds. A wait that
could never end is found before it begins, through the chain of who waits for whom, and raises
`AccessDeadlockError`.

Two accesses conflict if they overlap, one of them writes, and they belong to different owners or
different replicas. In the same thread at the same replica, reading first and writing then is no
conflict (HM-70), writing first and reading then is one (HM-67), except under `AUTO`, where it is
just an alias.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from enum import Enum

from psyclone_storage.storage.core.errors import AccessConflictError, AccessDeadlockError
from psyclone_storage.storage.core.spaces import MemorySpace


class AccessMode(Enum):
    """Name what an access does; `RDONLY`, `WRONLY` and `RDWR` are the same in other words.

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
        """Derive what the lock table asks for."""
        self.reads = text != "write-only"
        self.writes = text != "read"


class Policy(Enum):
    """Name what happens on a conflict."""

    AUTO = "auto"
    WAIT = "wait"
    RAISE = "raise"


class Claim:
    """Be what the lock table knows of an access.

    `replica` is any object that stands for the memory used, `chunks` the range of chunks. An access
    that is `in_flight` ends by itself, with the device task that it belongs to. `active` says
    whether it is granted and not yet released.
    """

    __slots__ = ("space", "mode", "policy", "owner", "replica", "chunks", "in_flight", "active")

    space: MemorySpace
    mode: AccessMode
    policy: Policy
    owner: Hashable
    replica: object
    chunks: tuple[int, int]
    in_flight: bool
    active: bool

    def describe(self) -> str:
        """Return the subject of an error message."""
        return f"A {self.mode.value} access at {self.space.tag}"


class _Waiter:
    """Be one place in the queue: a token, and what to call when it is granted."""

    __slots__ = ("token", "granted")

    def __init__(self, token: Claim, granted: Callable[[], None]) -> None:
        self.token = token
        self.granted = granted


_WAITS: dict[Hashable, tuple[LockTable, Claim]] = {}
"""Who waits for what; guarded by `_WAITS_LOCK`, which is taken before the lock of any table."""
_WAITS_LOCK = threading.Lock()


class LockTable:
    """Keep the accesses that hold a buffer and those that wait for it, first come first served.

    `lock` guards the table and the validity masks of its buffer. `writers` is the number of holders
    that write.
    """

    __slots__ = ("lock", "holders", "writers", "queue")

    def __init__(self) -> None:
        """Start with no access."""
        self.lock = threading.Lock()
        self.holders: list[Claim] = []
        self.writers = 0
        self.queue: deque[_Waiter] | None = None

    def acquire(self, token: Claim) -> None:
        """Grant `token`, after a wait if its policy allows one.

        Raises `AccessConflictError` or `AccessDeadlockError`.
        """
        with self.lock:
            writes = token.mode.writes
            if not (self.writers or (writes and self.holders) or self.queue):
                self.holders.append(token)
                if writes:
                    self.writers += 1
                token.active = True
                return
            if self._free_for(token):
                self._grant(token)
                return
            if token.policy is Policy.RAISE:
                raise AccessConflictError(_conflict_text(token, self.blockers(token)))
            own = [held for held in self.blockers(token) if held.owner == token.owner]
            if token.policy is Policy.AUTO and any(not held.in_flight for held in own):
                raise AccessConflictError(_conflict_text(token, own))
        event = threading.Event()
        if not self.enqueue(token, event.set):
            self._wait(token, event)

    def enqueue(self, token: Claim, granted: Callable[[], None]) -> bool:
        """Grant `token` at once and return True, or queue it and call `granted` later."""
        with self.lock:
            if self._free_for(token):
                self._grant(token)
                return True
            if self.queue is None:
                self.queue = deque()
            self.queue.append(_Waiter(token, granted))
            return False

    def begin_wait(self, token: Claim, waiter: Hashable) -> Callable[[], None]:
        """Note that `waiter` is about to wait for `token`; return what ends the note.

        Raises `AccessDeadlockError` if the wait could never end.
        """
        with _WAITS_LOCK:
            _WAITS[waiter] = (self, token)
            if not token.active and _leads_back(self, token, waiter, set()):
                del _WAITS[waiter]
                raise AccessDeadlockError(_deadlock_text(token, self.blockers(token)))

        def end_wait() -> None:
            with _WAITS_LOCK:
                _WAITS.pop(waiter, None)

        return end_wait

    def withdraw(self, token: Claim) -> None:
        """Take `token` out of the queue; does nothing if it is not there."""
        with self.lock:
            if self.queue:
                self.queue = deque(w for w in self.queue if w.token is not token)
            granted = self._serve_queue()
        for waiter in granted:
            waiter.granted()

    def release(self, token: Claim) -> None:
        """End `token` and grant those that waited for it."""
        with self.lock:
            self.holders.remove(token)
            if token.mode.writes:
                self.writers -= 1
            token.active = False
            if not self.queue:
                return
            granted = self._serve_queue()
        for waiter in granted:
            waiter.granted()

    def blockers(self, token: Claim) -> list[Claim]:
        """Return what `token` has to wait for: holders, and those before it in line."""
        blocking = [held for held in tuple(self.holders) if _conflict(token, held)]
        for waiter in tuple(self.queue or ()):
            if waiter.token is token:
                break
            if _conflict(token, waiter.token):
                blocking.append(waiter.token)
        return blocking

    def _free_for(self, token: Claim) -> bool:
        if token.policy is Policy.RAISE or self._holds(token.owner):
            return not any(_conflict(token, held) for held in self.holders)
        return not self.blockers(token)

    def _holds(self, owner: Hashable) -> bool:
        """Say whether `owner` holds something: it may pass the queue, whose head waits for it."""
        return any(held.owner == owner for held in self.holders)

    def _grant(self, token: Claim) -> None:
        self.holders.append(token)
        self.writers += token.mode.writes
        token.active = True

    def _serve_queue(self) -> list[_Waiter]:
        """Grant, in their order, those that no longer wait for a holder or for one before them."""
        granted: list[_Waiter] = []
        for waiter in tuple(self.queue or ()):
            if not self.blockers(waiter.token):
                self.queue = deque(w for w in self.queue or () if w is not waiter)
                self._grant(waiter.token)
                granted.append(waiter)
        return granted

    def _wait(self, token: Claim, event: threading.Event) -> None:
        try:
            end_wait = self.begin_wait(token, token.owner)
        except AccessDeadlockError:
            self.withdraw(token)
            raise
        try:
            event.wait()
        finally:
            end_wait()


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


def _leads_back(table: LockTable, token: Claim, origin: Hashable, seen: set[Hashable]) -> bool:
    """Say whether what `token` waits for can only go on after `origin` does."""
    for blocker in table.blockers(token):
        if blocker.in_flight:
            continue
        if blocker.owner == origin:
            return True
        if blocker.owner in seen or blocker.owner not in _WAITS:
            continue
        seen.add(blocker.owner)
        next_table, next_token = _WAITS[blocker.owner]
        if not next_token.active and _leads_back(next_table, next_token, origin, seen):
            return True
    return False


def _conflict_text(token: Claim, blocking: list[Claim]) -> str:
    held = ", ".join(
        f"a {b.mode.value} access at {b.space.tag}{_whose(token, b)}" for b in blocking
    )
    return (
        f"{token.describe()} is not possible: there is {held}. Release it first, or ask at the "
        f"same place in the same thread."
    )


def _deadlock_text(token: Claim, blocking: list[Claim]) -> str:
    held = ", ".join(
        f"a {b.mode.value} access at {b.space.tag}{_whose(token, b)}" for b in blocking
    )
    return (
        f"{token.describe()} would wait forever: it needs the end of {held}, which in turn cannot "
        f"go on before this access. Release what is held first."
    )


def _whose(token: Claim, other: Claim) -> str:
    return " of this thread" if other.owner == token.owner else " of another thread or task"
