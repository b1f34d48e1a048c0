"""Race detector: the happens-before order on emulated devices, whatever the execution order.

Each queue of a device has a clock, and so has the host. A piece of work happens after all earlier
work in its queue, after the events that the queue was made to wait for, and after all work that the
host knew to be complete at submission. The host knows the work that it has waited for. Two uses of
the same bytes, of which one writes, must be ordered. Unordered uses raise `DataRaceError` when the
second is submitted. The error names both, even if they would have run in the intended order.

    with traced() as trace:
        ...
    print(trace)
    assert trace.beside("copy", "kernel")

All threads of the host count as one: between them the tables of locks make order, not events.

A queue has a place in the clocks as long as it exists, or as long as the host does not know all of
its work to be complete and there is a note on it. After that the queue loses the place, which loses
no race: all later submissions have a clock that includes the host's, so that they come after all
work of that queue, and work of a queue without a place counts as earlier. (FastTrack also gives up
the clock of work that is ordered with everything: C. Flanagan and S. Freund, 2009.) During a trace
no queue loses its place, because the trace compares all its pieces with each other.
Reference: L. Lamport, "Time, clocks, and the ordering of events in a distributed system", 1978.
"""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import sep
from types import FrameType
from typing import NamedTuple

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.errors import DataRaceError
from psyclone_storage.storage.core.forking import FORKS, Rank

Clock = dict[int, int]
"""The last position that is known to be done, by agent."""

HOST = 0
"""The host among the agents; the others are queues, by their numbers."""
_NUMBERS = itertools.count(HOST + 1)

LOCK = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Held for a few steps with queues and clocks, never while work is done."""

_PACKAGE = __file__.rsplit(sep, 3)[0]
_THREADING = threading.__file__


class MemoryUse(NamedTuple):
    """A use of some bytes of an allocation: the first address, and the first address after it.

    `packed` is true if the use covers all bytes between the ends.
    """

    allocation: Allocation
    start: int
    stop: int
    wrote: bool
    packed: bool = True

    @property
    def whole(self) -> bool:
        """Return whether all of the allocation is used."""
        return self.stop - self.start >= self.allocation.capacity

    def mark(self) -> Mark:
        """Return the record of this use, which keeps no memory alive."""
        held = self.allocation
        return Mark(held.label, held.space.tag, self.start, self.stop, self.wrote, self.whole)


class Mark(NamedTuple):
    """Record of a use: the label of the data, their memory space, and the bytes."""

    label: str
    place: str
    start: int
    stop: int
    wrote: bool
    whole: bool

    def __str__(self) -> str:
        """Describe the use: its kind, its data and their memory space."""
        name = f'"{self.label}"' if self.label else "unlabelled memory"
        part = "" if self.whole else f" ({self.stop - self.start} B of it)"
        return f"{'writes' if self.wrote else 'reads'} {name}{part} at {self.place}"


class WorkItem(NamedTuple):
    """A piece of work: its name, its queue, the work before it, and its uses of memory.

    `site` is the line of the user's code that submitted it.
    """

    what: str
    queue: str
    agent: int
    position: int
    clock: Clock
    uses: tuple[Mark, ...]
    site: str
    presence: Presence | None = None

    def before(self, clock: Clock) -> bool:
        """Return whether this work is complete at `clock`."""
        return clock.get(self.agent, 0) >= self.position

    def is_beside(self, other: WorkItem) -> bool:
        """Return whether the two pieces are unordered, so that they may run at the same time."""
        return not self.before(other.clock) and not other.before(self.clock)

    def __str__(self) -> str:
        used = " and ".join(str(use) for use in self.uses)
        return f"a {self.what} that {used} (asked for at {self.site}, in {self.queue})"


class Trace:
    """Work on emulated devices during a block, in the order of submission."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.pieces: list[WorkItem] = []

    def beside(self, one: str, other: str) -> list[tuple[WorkItem, WorkItem]]:
        """Return the pairs of pieces, such as "copy" and "kernel", that may be done at once."""
        found = [piece for piece in self.pieces if piece.what == one]
        return [
            (first, second)
            for first in found
            for second in self.pieces
            if second.what == other and first is not second and first.is_beside(second)
        ]

    def __str__(self) -> str:
        """Return a line for each piece, with the earlier pieces that may run at the same time."""
        lines = []
        for number, piece in enumerate(self.pieces, 1):
            known = enumerate(self.pieces[: number - 1], 1)
            beside = [str(other) for other, old in known if old.is_beside(piece)]
            used = "; ".join(str(use) for use in piece.uses)
            note = f"  beside {', '.join(beside)}" if beside else ""
            line = f"{number:4}  {piece.queue:<28} {piece.what}: {used}"
            lines.append(f"{line}  [{piece.site}]{note}")
        return "\n".join(lines)


class Trodden(NamedTuple):
    """A span of addresses, and the last piece of an agent that uses it in one way."""

    start: int
    stop: int
    piece: WorkItem


class Trail:
    """Uses of the bytes of an allocation that may be unordered with a later use.

    It holds the spans that each agent reads and those that it writes, without overlaps and
    by their addresses. A later piece of the same agent, or a later write of any agent, replaces
    the parts of earlier pieces that it covers, because it is ordered with them.
    """

    __slots__ = ("_spans", "_most", "_most_agents")

    def __init__(self) -> None:
        """Start with nothing."""
        self._spans: dict[tuple[int, bool], list[Trodden]] = {}
        self._most = 64
        self._most_agents = 16

    def __len__(self) -> int:
        return sum(map(len, self._spans.values()))

    def clashing(self, agent: int, use: Mark) -> Iterator[WorkItem]:
        """Return pieces of other agents that use some of the same bytes, where one of both writes.

        Those of one agent are in order.
        """
        for (other, wrote), spans in tuple(self._spans.items()):
            if other != agent and (wrote or use.wrote) and use.start < use.stop:
                first, end = _place(spans, use)
                yield from (spans[number].piece for number in range(first, end))

    def add(self, piece: WorkItem, use: Mark, is_known: Callable[[WorkItem], bool]) -> None:
        """Record an ordered use; forget the work that the host knows to be complete."""
        if use.start >= use.stop:
            return
        mine = (piece.agent, use.wrote)
        _lay(self._spans.setdefault(mine, []), use, (Trodden(use.start, use.stop, piece),))
        for key, spans in tuple(self._spans.items()) if use.wrote else ():
            if key != mine:
                _lay(spans, use, ())
        if len(self._spans[mine]) > self._most or len(self._spans) > self._most_agents:
            # Twice the remaining number each time: amortised, a few steps for each use.
            self.keep(lambda old: not is_known(old))
            self._most = max(64, 2 * len(self))
            self._most_agents = max(16, 2 * len(self._spans))

    def keep(self, wanted: Callable[[WorkItem], bool]) -> None:
        """Forget all pieces that are not wanted."""
        found = (
            (key, [one for one in old if wanted(one.piece)]) for key, old in self._spans.items()
        )
        self._spans = {key: spans for key, spans in found if spans}


def _place(spans: list[Trodden], use: Mark) -> tuple[int, int]:
    """Return the range of the spans that share bytes with a use: first index, and end index."""
    first = bisect_right(spans, use.start, key=lambda span: span.stop)
    return first, max(first, bisect_left(spans, use.stop, key=lambda span: span.start))


def _lay(spans: list[Trodden], use: Mark, new: tuple[Trodden, ...]) -> None:
    """Replace the bytes of a use in the spans by `new`, in one step."""
    first, end = _place(spans, use)
    if first == end and not new:
        return
    left = [one._replace(stop=use.start) for one in spans[first:end] if one.start < use.start]
    right = [one._replace(start=use.stop) for one in spans[first:end] if one.stop > use.stop]
    spans[first:end] = [*left, *new, *right]


class Presence:
    """An object that a queue and all notes on its work refer to."""

    __slots__ = ("__weakref__",)


class Agent:
    """A queue in the clocks: its number, and the position of the last piece that it was given.

    `trace` says whether the queue or any note on its work is still there.
    """

    __slots__ = ("number", "issued", "trace")

    def __init__(self, presence: Presence) -> None:
        """Create an agent without any work."""
        self.number = next(_NUMBERS)
        self.issued = 0
        self.trace = weakref.ref(presence)


class RaceDetector:
    """Work known to the host to be complete, agents with a place in clocks, and active traces.

    `gone` are agents whose queues are gone, and that keep their places for a while; `edition` is
    the number of those that have given theirs up.
    """

    __slots__ = ("agents", "edition", "gone", "host", "traces")

    def __init__(self) -> None:
        """Start with a host that knows nothing."""
        self.host: Clock = {HOST: 0}
        self.agents: dict[int, Agent | None] = {HOST: None}
        self.gone: list[Agent] = []
        self.edition = 0
        self.traces: list[Trace] = []

    def enter(self, queue: object, presence: Presence) -> Agent:
        """Return the agent of a new queue, which has a place in the clocks from now on."""
        agent = Agent(presence)
        with LOCK:
            self.agents[agent.number] = agent
        # A finalizer may run at any point; it only appends to a list.
        weakref.finalize(queue, self.gone.append, agent).atexit = False
        return agent

    def learn(self, clock: Clock) -> None:
        """Record that the host has waited for all work in `clock`."""
        with LOCK:
            self.join(self.host, clock)
            if self.gone and not self.traces:
                self._retire()

    def join(self, clock: Clock, other: Clock) -> None:
        """Advance `clock` to `other`, for all agents that have a place."""
        for number, position in other.items():
            if clock.get(number, 0) < position and number in self.agents:
                clock[number] = position

    def without_retired(self, clock: Clock) -> Clock:
        """Return a clock of the agents that have a place."""
        return {number: clock[number] for number in clock if number in self.agents}

    def is_before(self, piece: WorkItem, clock: Clock) -> bool:
        """Return whether a piece is complete at `clock`, which includes the host's clock."""
        return piece.before(clock) or piece.agent not in self.agents

    def _retire(self) -> None:
        """Give up the places of agents that are gone and whose work the host knows to be done.

        The host may never learn of work that remained when its queue was deleted. Such work is
        unordered with later uses of the same memory, as long as there is a note on it.
        """
        # While this is done others may be gone.
        for agent in self.gone[:]:
            if self.host.get(agent.number, 0) >= agent.issued or agent.trace() is None:
                self.gone.remove(agent)
                self.agents.pop(agent.number, None)
                self.host.pop(agent.number, None)
                self.edition += 1

    def note(self, piece: WorkItem, memory: Sequence[Allocation]) -> None:
        """Take a note of a piece of work and of the memory that each of its uses is of.

        Raises `DataRaceError` if it is not in order.
        """
        with LOCK:
            for held, use in zip(memory, piece.uses, strict=True):
                _check(held, piece, use)
            for held, use in zip(memory, piece.uses, strict=True):
                if held.trail is None:
                    held.trail = Trail()
                held.trail.add(piece, use, lambda old: self.is_before(old, self.host))
            for trace in self.traces:
                trace.pieces.append(piece)

    def forget(self, piece: WorkItem, memory: Sequence[Allocation]) -> None:
        """Take back a note."""
        for held in memory:
            if held.trail is not None:
                held.trail.keep(lambda old: old is not piece)
        for trace in self.traces:
            trace.pieces[:] = [kept for kept in trace.pieces if kept is not piece]

    def host_uses(
        self, allocation: Allocation, *, writes: bool, span: tuple[int, int] | None = None
    ) -> None:
        """Record that the host uses a span of memory from now on, None for all of it.

        Raises `DataRaceError`.
        """
        if allocation.trail is None and not self.traces:
            return
        with LOCK:
            if not (allocation.trail or self.traces):
                return
            self.host[HOST] += 1
            first, count = (0, allocation.capacity) if span is None else span
            start = allocation.pointer + first
            use = MemoryUse(allocation, start, start + count, writes).mark()
            piece = WorkItem(
                "host access", "the host", HOST, self.host[HOST], {**self.host}, (use,), user_site()
            )
            _check(allocation, piece, use)
            if allocation.trail is not None:
                allocation.trail.keep(lambda old: not self.is_before(old, self.host))
            for trace in self.traces:
                trace.pieces.append(piece)


RACES = RaceDetector()
"""The detector of this process."""


def _check(held: Allocation, piece: WorkItem, use: Mark) -> None:
    for other in () if held.trail is None else held.trail.clashing(piece.agent, use):
        if not RACES.is_before(other, piece.clock):
            raise DataRaceError(
                f"{_sentence(piece)} is in no order with {other}: nothing makes the one wait for "
                f"the other. Use the data within an access (acquire and release, or a block), in "
                f"the thread that asked for it."
            )


@contextmanager
def traced() -> Iterator[Trace]:
    """Return a block that records all work submitted to emulated devices.

    No access takes the fast path there, which leaves no trace.
    """
    trace = Trace()
    RACES.traces.append(trace)
    _tell()
    try:
        yield trace
    finally:
        RACES.traces.remove(trace)
        _tell()


_LISTENERS: list[Callable[[], None]] = []


def on_tracing(listener: Callable[[], None]) -> None:
    """Call `listener` each time that a trace begins or ends."""
    _LISTENERS.append(listener)


def _tell() -> None:
    for listener in _LISTENERS:
        listener()


def user_site() -> str:
    """Return the line of code outside of this package that is being run."""
    frame = user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "a helper thread"


def user_frame() -> FrameType | None:
    """Return the frame of that line, None in a thread that only the runtime has."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return None if frame is None or frame.f_code.co_filename == _THREADING else frame


def _sentence(piece: WorkItem) -> str:
    text = str(piece)
    return text[0].upper() + text[1:]
