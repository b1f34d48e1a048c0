"""Queues of emulated devices, which run their work later, independent of the kind of work.

A queue runs its work in order. Only events order work of different queues: a caller that records
one in a queue can make another queue, or the host, wait for all work in the first until then.
`QueueOrder` determines when work runs: on submission, as late as possible, or at random times.
A correct program is correct in all orders.

Work that fails spoils the bytes that it was to write, and all work that reads those (`failures`). A
caller that waits for all work of a device receives the error. Otherwise the end of the program
reports it, also by the exit status.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from psyclone_storage.storage.core.device import current_emulation
from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.core.forking import FORKS, ForkHandlers, Rank, nothing
from psyclone_storage.storage.core.lifetime import fail_at_end
from psyclone_storage.storage.memory.pending_work import UNREPORTED, failure_of, mend, spoil
from psyclone_storage.storage.memory.races import (
    LOCK,
    RACES,
    Clock,
    MemoryUse,
    Presence,
    WorkItem,
    user_site,
)

_MOST = 256
"""How many pieces wait in one queue before the oldest half is done."""
_MOST_BYTES = 1 << 26
"""How many bytes work that waits in one queue may keep from others before all of it is done."""


class Job:
    """Some work, the work before it, and the time that it needs on the bus, in seconds.

    The queue repeats work that an interrupt (Ctrl-C) has cut short, except work that runs `once`.
    """

    __slots__ = ("position", "work", "waits", "uses", "seconds", "once", "asked", "site")

    def __init__(
        self,
        position: int,
        work: Callable[[], Any],
        uses: tuple[MemoryUse, ...] = (),
        seconds: float = 0.0,
        *,
        once: bool = False,
    ) -> None:
        """Describe the work, which is submitted now and waits for nothing yet."""
        self.position = position
        self.work = work
        self.waits: tuple[QueueEvent, ...] = ()
        self.uses = uses
        self.seconds = seconds
        self.once = once
        self.site = ""
        self.asked = time.perf_counter()

    @property
    def nbytes(self) -> int:
        """Return how many bytes the work uses."""
        return sum(use.stop - use.start for use in self.uses)


class QueueEvent:
    """A place in a queue: all that was there when it was recorded."""

    __slots__ = ("queue", "position", "clock")

    def __init__(self, queue: DeviceQueue, position: int, clock: Clock) -> None:
        """Mark a place; queues call this."""
        self.queue = queue
        self.position = position
        self.clock = clock

    @property
    def done(self) -> bool:
        """Return whether the queue got there; a caller that sees it knows the work as complete."""
        done = self.queue.done >= self.position
        if done:
            self.queue.learn(self)
        return done

    @property
    def known(self) -> bool:
        """Return whether the host knows that the queue got there, because it waited for that."""
        return RACES.host.get(self.queue.number, 0) >= self.position

    def synchronize(self) -> None:
        """Let the host wait until the queue gets there."""
        self.queue.run_to(self.position)
        self.queue.learn(self)


class DeviceQueue:
    """The work of one queue, in order; position n is reached when n pieces are done.

    While the host does not know that all work is complete, the queue is in `jobs`. Its `clock` is
    the clock after which the next work comes: another dictionary after each submission or wait.
    """

    def __init__(self, name: str, jobs: set[Any]) -> None:
        """Make an idle queue."""
        self.name = name
        self._presence = Presence()
        self._agent = RACES.enter(self, self._presence)
        self.number = self._agent.number
        self._jobs = jobs
        self._work: deque[Job] = deque()
        self._waits: list[QueueEvent] = []
        self.clock: Clock = {}
        self._edition = 0
        self._bytes = 0
        self._free_at = 0.0
        self._running = FORKS.guard(threading.RLock(), Rank.STREAM)
        with LOCK:
            _QUEUES[self.number] = self

    @property
    def key(self) -> int:
        """Return the identifier of the queue in use records."""
        return self.number

    @property
    def issued(self) -> int:
        """Return the position of the last piece."""
        return self._agent.issued

    @property
    def done(self) -> int:
        """Return the position that the queue has reached."""
        try:
            return self._work[0].position - 1
        except IndexError:
            return self.issued

    def put(
        self,
        what: str,
        uses: tuple[MemoryUse, ...],
        work: Callable[[], Any],
        seconds: float = 0.0,
        *,
        once: bool = False,
    ) -> QueueEvent:
        """Submit some work, which runs later; return the event of its end.

        Raises `DataRaceError` if it is unordered with other work on the same bytes.
        """
        memory = [use.allocation for use in uses]
        with LOCK:
            event = QueueEvent(self, self.issued + 1, self._next_clock(self.issued + 1))
            place, marks = (self.number, event.position), tuple(use.mark() for use in uses)
            site, here = user_site(), self._presence
            piece = WorkItem(what, self.name, *place, event.clock, marks, site, here)
            job = Job(event.position, work, uses, seconds, once=once)
            job.site = site
            try:
                RACES.note(piece, memory)
                self._append(event, job)
            except BaseException:
                # After an interrupt, for example: work that was not queued leaves no record.
                if job not in self._work:
                    RACES.forget(piece, memory)
                raise
        self._go_on()
        return event

    def record(self) -> QueueEvent:
        """Return the event of all work in the queue, and of the events that it waits for."""
        with LOCK:
            if not self._waits and self._edition == RACES.edition:
                # Clocks are never changed, but replaced, so that all events may have this one.
                return QueueEvent(self, self.issued, self.clock)
            position = self.issued + bool(self._waits)
            event = QueueEvent(self, position, self._next_clock(position))
            if self._waits:
                self._append(event, Job(position, nothing))
            return event

    def wait_event(self, event: QueueEvent) -> None:
        """Let later work wait for an event."""
        with LOCK:
            if event.queue.done < event.position:
                self._waits.append(event)
            clock = {**self.clock}
            RACES.join(clock, event.clock)
            self.clock = clock

    def run_to(self, position: int) -> None:
        """Run the work up to `position`, and the work that it waits for, and nothing else."""
        while self.done < position:
            with LOCK:
                job = self._work[0] if self._work else None
            if job is not None:
                for event in job.waits:
                    event.queue.run_to(event.position)
            # Another thread may be at the last one.
            with self._running:
                if job is not None and self._work and self._work[0] is job:
                    self._do(job)

    def finish(self) -> None:
        """Let the host wait for all that is in the queue."""
        self.record().synchronize()

    def learn(self, event: QueueEvent) -> None:
        """Record that the host knows of an event."""
        with LOCK:
            RACES.learn(event.clock)
            for agent, position in event.clock.items():
                queue = _QUEUES.get(agent)
                if queue is not None:
                    queue.note_known(position)

    def note_known(self, position: int) -> None:
        """Leave the jobs of the device, if the host knows that all is done."""
        if position >= self.issued:
            self._jobs.discard(self)

    def _append(self, event: QueueEvent, job: Job) -> None:
        """Queue a job; the last step is the one that counts, after whatever interrupt."""
        job.waits = tuple(self._waits)
        self._agent.issued = event.position
        self.clock = event.clock
        self._jobs.add(self)
        self._bytes += job.nbytes
        self._work.append(job)
        self._waits = []

    def _next_clock(self, position: int) -> Clock:
        if self._edition != RACES.edition:
            self._edition = RACES.edition
            self.clock = RACES.without_retired(self.clock)
        clock = {**self.clock}
        RACES.join(clock, RACES.host)
        clock[self.number] = position
        return clock

    def _do(self, job: Job) -> None:
        """Run the next work in the queue, in the thread that has taken it."""
        again = False
        try:
            self._take_time(job)
            failure = next(_failures_of_inputs(job.uses), None)
            if failure is None:
                job.work()
                _note_success(job.uses)
            else:
                _spoil(job.uses, failure)
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            UNREPORTED.add(self.number, error, job.site)
            _spoil(job.uses, error)
        except BaseException as error:
            again = not job.once
            if job.once:
                # A later access to the values was not interrupted itself.
                failure = StorageError("The work was interrupted.")
                failure.__cause__ = error
                _spoil(job.uses, failure)
            raise
        finally:
            with LOCK:
                if not again and self._work and self._work[0] is job:
                    self._bytes -= job.nbytes
                    self._work.popleft()

    def _take_time(self, job: Job) -> None:
        """Wait until the emulated bus, which went on meanwhile, would be ready."""
        if job.seconds:
            self._free_at = max(job.asked, self._free_at) + job.seconds
            time.sleep(max(self._free_at - time.perf_counter(), 0.0))

    def _go_on(self) -> None:
        """Run the work that the order requires to run at once."""
        order = current_emulation().queue_order
        if order == "eager":
            self.run_to(self.issued)
        elif order == "late":
            if self._bytes > _MOST_BYTES:
                self.run_to(self.issued)
            elif self.issued - self.done > _MOST:
                self.run_to(self.issued - _MOST // 2)
        else:
            _do_some(order)


class Chance:
    """A pseudo-random number generator that a text seeds."""

    __slots__ = ("_state",)

    def __init__(self, text: str) -> None:
        """Derive the first state from `text`."""
        self._state = int.from_bytes(text.encode(), "little")

    def below(self, count: int) -> int:
        """Return an integer from 0 to `count - 1`."""
        # A linear congruential generator, of which the higher bits are good (D. Knuth, MMIX).
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._state >> 33) % count


_QUEUES: weakref.WeakValueDictionary[int, DeviceQueue] = weakref.WeakValueDictionary()
_CHANCE: dict[str, Chance] = {}


def finish_all() -> None:
    """Let the host wait for all queues."""
    for queue in _all_queues():
        if queue.issued:
            queue.finish()


def _tell_at_exit() -> None:
    """Run the remaining work when the program ends, and report the failures not yet reported.

    The exit status reports them, too.
    """
    import traceback  # noqa: PLC0415 (only for errors)

    finish_all()
    for error in UNREPORTED.take():
        fail_at_end()
        sys.stderr.write("Work on a device failed, and no call has reported it:\n")
        traceback.print_exception(error)


FORKS.add(ForkHandlers(finish_all, nothing, UNREPORTED.clear))
atexit.register(_tell_at_exit)


def _all_queues() -> list[DeviceQueue]:
    with LOCK:
        found = (_QUEUES.get(number) for number in sorted(_QUEUES))
        return [queue for queue in found if queue is not None]


def _do_some(order: str) -> None:
    """Do some of the work in any queues, by a chance that the order begins."""
    with LOCK:
        chance = _CHANCE.setdefault(order, Chance(order))
        busy = [queue for queue in _all_queues() if queue.done < queue.issued]
        chosen = [busy.pop(chance.below(len(busy))) for _ in range(chance.below(len(busy) + 1))]
        left = ((queue, queue.issued - queue.done) for queue in chosen)
        ends = [(queue, queue.issued - chance.below(most + 1)) for queue, most in left]
    for queue, position in ends:
        queue.run_to(position)


def _failures_of_inputs(uses: Iterable[MemoryUse]) -> Iterator[BaseException]:
    for use in uses:
        failure = None if use.wrote else failure_of(use)
        if failure is not None:
            yield failure


def _note_success(uses: Iterable[MemoryUse]) -> None:
    for use in uses:
        if use.wrote and use.packed and use.allocation.failures:
            mend(use)


def _spoil(uses: Iterable[MemoryUse], error: BaseException) -> None:
    for use in uses:
        if use.wrote:
            spoil(use, error)
