"""Own who may use a buffer at a time; refuse to know where its values are.

There is one lock table per buffer, whatever face the user came through; faces differ only in what
happens on a conflict (spec 2B.1): `RAISE` (HMemo) raises, `WAIT` (the accessors) waits its turn,
`AUTO` (GDP-3 storages) waits for others and raises only for what the same thread holds. A wait that
could never end is found before it begins, through the chain of who waits for whom, and raises
`AccessDeadlockError`.

What is asked for together gets in line together, at all tables at one moment: no two calls with
several arguments can lock each other up, in whatever order their arguments come.

Two accesses conflict if they overlap, one of them writes, and they belong to different owners or
different replicas. In the same thread at the same replica, reading first and writing then is no
conflict (HM-70), writing first and reading then is one (HM-67), except under `AUTO`, where it is
just an alias.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import TypeAlias

from psyclone_storage.storage.core.dropped import DROPPED
from psyclone_storage.storage.core.errors import AccessConflictError, AccessDeadlockError
from psyclone_storage.storage.core.native import Access, Ledger, register
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


def mode_of(word: AccessMode | str) -> AccessMode:
    """Return the mode that `word` names, a mode or one of `MODE_WORDS`.

    Raises `ValueError` for any other word, `TypeError` for what is no word.
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
    """Name what happens on a conflict."""

    AUTO = "auto"
    WAIT = "wait"
    RAISE = "raise"


register(read=AccessMode.READ, read_write=AccessMode.READ_WRITE, auto=Policy.AUTO)

Pairs: TypeAlias = "Sequence[tuple[LockTable, Claim]]"
"""Claims, each with the table that it is made at."""


class Claim(Access):
    """State what the lock table knows of an access.

    `replica` is any object that stands for the memory used, `chunks` the range of chunks. An access
    that is `in_flight` ends by itself, with the device task that it belongs to. `active` says
    whether it is granted and not yet released; `turn` is its place in line, if it ever had one.
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


class Group:
    """Join the claims that were asked for together, and that are of use together only.

    All of them get in line at one moment (`hold_all`, `queue_all`), so that two groups are in the
    same order at every table that both need, and none waits for one that waits for it.
    """

    __slots__ = ("pairs", "_granted", "_left", "_lock")

    def __init__(self, pairs: Pairs, granted: Callable[[], None]) -> None:
        """Join the claims of `pairs`; `granted` is called once, when the last of them is."""
        self.pairs = pairs
        self._granted = granted
        self._left = 0
        self._lock = threading.Lock()

    def expect(self, waiting: int) -> None:
        """Note how many of the claims have to wait; their tables are locked."""
        self._left = waiting

    def note_grant(self) -> None:
        """Note that one more claim is granted."""
        with self._lock:
            self._left -= 1
            last = self._left == 0
        if last:
            self.finish()

    def finish(self) -> None:
        """Say that all claims are granted; this lets go of who asked."""
        granted, self._granted = self._granted, _nothing
        granted()

    def give_up(self) -> bool:
        """Leave the lines, and let go what is granted; say no if all of it is granted already."""
        with self._lock:
            if self._left <= 0:
                return False
            self._left = -1
        self._granted = _nothing
        _leave(self.pairs)
        return True


class Turn:
    """Hold a claim's place in the line of a table."""

    __slots__ = ("table", "claim", "group")

    def __init__(self, table: LockTable, claim: Claim, group: Group) -> None:
        """Stand for `claim` of `group` at `table`."""
        self.table = table
        self.claim = claim
        self.group = group


class WaitGraph:
    """Keep which thread waits for which claims, to find the wait that could never end.

    A claim that is waited for needs its blockers to end: each of them the end of its thread's own
    waits, and one that is in flight only that all of its group are granted. While the graph is
    looked at, nobody whose wait is in it can go on, so that what leads back at any moment does so
    at all of them.
    """

    __slots__ = ("_lock", "_waits")

    def __init__(self) -> None:
        """Start with nobody waiting."""
        self._lock = threading.Lock()
        self._waits: dict[Hashable, list[Pairs]] = {}

    def begin(self, pairs: Pairs, waiter: Hashable) -> Callable[[], None]:
        """Note that `waiter` is about to wait for the claims; return what ends the note.

        Raises `AccessDeadlockError` if the wait could never end.
        """
        with self._lock:
            waits = self._waits.setdefault(waiter, [])
            waits.append(pairs)
            for table, claim in pairs:
                if not claim.active and self._leads_back(table, claim, waiter, set()):
                    self._end(pairs, waiter)
                    holders, others = table.seen_in_line(claim)
                    raise AccessDeadlockError(_deadlock_text(claim, holders + others))

        def end_wait() -> None:
            with self._lock:
                self._end(pairs, waiter)

        return end_wait

    def _end(self, pairs: Pairs, waiter: Hashable) -> None:
        waits = self._waits[waiter]
        waits.remove(pairs)
        if not waits:
            del self._waits[waiter]

    def _leads_back(self, table: LockTable, claim: Claim, origin: Hashable, seen: set[int]) -> bool:
        """Say whether what `claim` waits for can only go on after `origin` does."""
        seen.add(id(claim))
        holders, others = table.seen_in_line(claim)
        needed: list[tuple[LockTable, Claim]] = [(table, other) for other in others]
        for blocker in holders + others:
            turn = blocker.turn
            if blocker.in_flight:
                needed += turn.group.pairs if turn is not None else ()
            elif blocker.owner == origin:
                return True
            else:
                needed += [pair for pairs in self._waits.get(blocker.owner, ()) for pair in pairs]
        return any(
            self._leads_back(place, other, origin, seen)
            for place, other in needed
            if id(other) not in seen
        )


WAITS = WaitGraph()
"""The waits of this process: a wait that could never end may lead through any buffers."""


class LockTable(Ledger):
    """Keep the accesses that hold a buffer and those that wait for it, first come first served.

    `lock` guards the table and the validity masks of its buffer. `writers` is the number of holders
    that write.
    """

    __slots__ = ()

    holders: list[Claim]
    queue: deque[Turn] | None

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
            granted = self._serve_queue()
        for turn in granted:
            turn.group.note_grant()

    def leave(self, claim: Claim) -> None:
        """End `claim`, or take it out of the line, and grant those that waited for it."""
        with self.lock:
            self.take_back(claim)
            granted = self._serve_queue()
        for turn in granted:
            turn.group.note_grant()

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
        """Return what `claim` has to wait for: holders, and those before it; under the lock."""
        blocking = [held for held in self.holders if _conflict(claim, held)]
        for turn in self.queue or ():
            if turn.claim is claim:
                break
            if _conflict(claim, turn.claim):
                blocking.append(turn.claim)
        return blocking

    def holds(self, owner: Hashable) -> bool:
        """Say whether `owner` holds something: it may pass the line, whose head waits for it."""
        return any(held.owner == owner for held in self.holders)

    def grant_or_queue(self, turn: Turn, passes: bool) -> bool:
        """Grant the claim of `turn` at once and say yes, or put it in line; the table is locked.

        `passes` says that its owner held something here before it asked.
        """
        claim = turn.claim
        claim.turn = turn
        if passes or claim.policy is Policy.RAISE:
            free = not any(_conflict(claim, held) for held in self.holders)
        else:
            free = not self.blockers(claim)
        if free:
            self._grant(claim)
        else:
            if self.queue is None:
                self.queue = deque()
            self.queue.append(turn)
        return free

    def take_back(self, claim: Claim) -> None:
        """Undo `grant_or_queue`, under the same lock: nobody has seen anything."""
        if claim.active:
            self.drop(claim)
        elif self.queue:
            self.queue = deque(turn for turn in self.queue if turn.claim is not claim)
            claim.turn = None

    def _grant(self, claim: Claim) -> None:
        self.holders.append(claim)
        self.writers += claim.mode.writes
        claim.active = True

    def _serve_queue(self) -> list[Turn]:
        """Grant, in their order, those that no longer wait for a holder or for one before them."""
        granted: list[Turn] = []
        for turn in tuple(self.queue or ()):
            if not self.blockers(turn.claim):
                self.queue = deque(other for other in self.queue or () if other is not turn)
                self._grant(turn.claim)
                granted.append(turn)
        return granted


def hold_all(pairs: Pairs) -> None:
    """Grant all the claims, each at its table, after a wait if their policies allow one.

    They get in line at one moment, and nothing is held when this raises `AccessConflictError` or
    `AccessDeadlockError`.
    """
    DROPPED.end_all()
    event = threading.Event()
    group = Group(pairs, event.set)
    if _line_up(group, checked=True):
        return
    try:
        end_wait = WAITS.begin(pairs, pairs[0][1].owner)
    except AccessDeadlockError:
        if group.give_up():
            raise
        return
    try:
        event.wait()
    except BaseException:
        if not group.give_up():
            _leave(pairs)
        raise
    finally:
        end_wait()


def queue_all(pairs: Pairs, granted: Callable[[], None]) -> Group:
    """Get in line with all the claims at one moment; call `granted` when all are granted.

    That may be at once, in this thread. The group that is returned can be given up until then.
    """
    DROPPED.end_all()
    group = Group(pairs, granted)
    if _line_up(group, checked=False):
        group.finish()
    return group


def _line_up(group: Group, *, checked: bool) -> bool:
    """Grant or queue all claims under the locks of all tables; say whether all are granted.

    The locks are taken in one order everywhere. With `checked`, a conflict that a policy does not
    wait for raises `AccessConflictError`, and leaves everything as it was.
    """
    tables = {id(table): table for table, _ in group.pairs}
    locked = [tables[key] for key in sorted(tables)]
    for table in locked:
        table.lock.acquire()  # pylint: disable=consider-using-with
    try:
        passes = {id(table): table.holds(claim.owner) for table, claim in group.pairs}
        waiting = 0
        for done, (table, claim) in enumerate(group.pairs):
            if not table.grant_or_queue(Turn(table, claim, group), passes[id(table)]):
                waiting += 1
                refused = _refused_because_of(table, claim) if checked else []
                if refused:
                    for place, other in group.pairs[: done + 1]:
                        place.take_back(other)
                    raise AccessConflictError(_conflict_text(claim, refused))
        group.expect(waiting)
        return waiting == 0
    finally:
        for table in locked:
            table.lock.release()


def _refused_because_of(table: LockTable, claim: Claim) -> list[Claim]:
    """Return what makes a claim that is in line an error, by its policy."""
    blocking = table.blockers(claim)
    if claim.policy is Policy.RAISE:
        return blocking
    own = [held for held in blocking if held.owner == claim.owner]
    waits = claim.policy is Policy.WAIT or all(held.in_flight for held in own)
    return [] if waits else own


def _leave(pairs: Pairs) -> None:
    for table, claim in pairs:
        table.leave(claim)


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


def _nothing() -> None:
    """Call nobody."""
