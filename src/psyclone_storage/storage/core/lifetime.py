"""Ends of objects, accesses, processes and programs.

- `ExportPin` keeps memory in place for exported objects.
- `DROPPED` ends accesses whose objects were dropped where no release is possible: the garbage
  collector may delete an object at any point, even while its thread holds the very lock that the
  release needs. Such releases are recorded without any lock. The next thread that is about to wait
  for an access performs them, or a separate thread does for threads that wait already.
- `BUFFERS` ends, in a forked child, the accesses and transfers of threads that do not exist there.
- `fail_at_end` sets the exit status of a program whose deferred work failed at exit to 120, which
  Python uses for output that it cannot flush. It replaces any other status, because Python does not
  pass the status to exit handlers. A program that an interrupt (Ctrl-C) ends still ends by that
  signal. Processes that end by `os._exit` run none of this.
"""

from __future__ import annotations

import io
import queue
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TextIO, cast, runtime_checkable
from weakref import ref

from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.core.forking import FORKS, ForkHandlers, Rank, nothing
from psyclone_storage.storage.core.native import Hold, register


class ExportPin(Hold):
    """A hold on the memory of a buffer, until `release` or until the pin is not referenced."""

    __slots__ = ("__weakref__",)

    def __enter__(self) -> ExportPin:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


register(pin=ExportPin)


class _StreamOfFailure:
    """The error output of a program that has failed at its end, which Python cannot empty."""

    def __init__(self, stream: TextIO | None) -> None:
        """Wrap a stream; without one, discard all output."""
        self._stream = io.StringIO() if stream is None or _is_closed(stream) else stream

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the stream."""
        return getattr(self._stream, name)

    @property
    def closed(self) -> bool:
        """Return whether the stream is closed; False for the interpreter at exit.

        The interpreter does not flush closed streams.
        """
        return _is_closed(self._stream) and not sys.is_finalizing()

    def flush(self) -> None:
        """Flush the stream; fail when the interpreter itself calls this, after all other code."""
        if not _is_closed(self._stream):
            self._stream.flush()
        if sys.is_finalizing():
            raise OSError("Work that was put off has failed.")


def fail_at_end() -> None:
    """Let a program that ends have the exit status 120; do nothing while it goes on."""
    stream = getattr(sys, "stderr", None)
    if threading.main_thread().is_alive() or isinstance(stream, _StreamOfFailure):
        return
    sys.stderr = cast(TextIO, _StreamOfFailure(stream))


def _is_closed(stream: TextIO) -> bool:
    return bool(getattr(stream, "closed", False))


class DroppedAccesses:
    """The pending calls that end accesses, until a thread makes them."""

    __slots__ = ("_calls", "_wake", "_thread", "_lock", "_busy")

    def __init__(self) -> None:
        """Start without noted calls."""
        self._calls: deque[Callable[[], object]] = deque()
        self._lock = FORKS.guard(threading.RLock(), Rank.FIRST_USE)
        self.restart()

    def restart(self) -> None:
        """Continue without a thread, as in the child of a fork; pending calls stay recorded."""
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._busy = False

    def note(self, call: Callable[[], object]) -> None:
        """Have `call` made soon; may be called in the middle of anything."""
        self._calls.append(call)
        self._wake.put(None)

    def end_all(self) -> None:
        """Make the calls that are noted, and see to it that later ones are made."""
        if self._thread is None and not sys.is_finalizing():
            self._watch()
        if self._calls or self._busy:
            self._make_calls()

    def _make_calls(self) -> None:
        with self._lock:
            self._busy = True
            try:
                while self._calls:
                    self._calls.popleft()()
            finally:
                self._busy = False

    def _watch(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="ends of dropped accesses", daemon=True
                )
                self._thread.start()

    def _serve(self) -> None:
        while True:
            self._wake.get()
            try:
                self._make_calls()
            except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                text = f"A dropped access ended badly: {error}"
                warnings.warn(text, RuntimeWarning, stacklevel=1)


DROPPED = DroppedAccesses()
"""The dropped accesses of this process."""

FORKS.add(ForkHandlers(nothing, nothing, DROPPED.restart))


@runtime_checkable
class ThreadOfWork(Protocol):
    """An owner of accesses that a thread works for."""

    @property
    def thread(self) -> int | None:
        """Return the number of the thread, None before it exists."""


class KnownBuffers:
    """All buffers, as long as they live."""

    def __init__(self) -> None:
        """Start with none."""
        self._known: list[ref[Any]] = []
        self._enough = 1024

    def note(self, buffer: Any) -> None:
        """Know one more buffer."""
        self._known.append(ref(buffer))
        if len(self._known) > self._enough:
            self.forget()

    def forget(self) -> None:
        """Remove the buffers that are gone; buffers that are added meanwhile come after them."""
        seen = len(self._known)
        alive = [known for known in self._known[:seen] if known() is not None]
        self._enough = max(1024, 2 * len(alive))
        self._known[:seen] = alive

    def alive(self) -> list[Any]:
        """Return the live buffers."""
        return [buffer for known in tuple(self._known) if (buffer := known()) is not None]

    def locks(self) -> Sequence[Any]:
        """Return the locks of all tables, in the order in which several are taken."""
        self.forget()
        tables = {id(buffer.table): buffer.table for buffer in self.alive()}
        return [tables[key].lock for key in sorted(tables)]

    def end_orphans(self) -> None:
        """End all work that threads began that do not exist in this process."""
        for buffer in self.alive():
            _end_accesses(buffer)
            gone = StorageError(f'Who was bringing "{buffer.label}" is not in this process.')
            buffer.replicas.abandon_transfers(gone)


BUFFERS = KnownBuffers()
"""The buffers of this process."""

FORKS.guard_tables(BUFFERS.locks)
FORKS.add(ForkHandlers(nothing, nothing, BUFFERS.end_orphans, last=True))


def _end_accesses(buffer: Any) -> None:
    table = buffer.table
    for turn in tuple(table.queue or ()):
        # A request in advance that ends by itself is useful whichever thread made it.
        claim = turn.claim
        if _is_orphan(claim) and not (claim.in_flight and isinstance(claim.owner, int)):
            turn.group.give_up()
    for claim in tuple(table.holders):
        # Work on streams has ended by now.
        if _is_orphan(claim):
            if claim.mode.writes:
                gone = StorageError("The process was forked while another thread was writing.")
                buffer.replicas.close_write(claim, gone)
            table.leave(claim)


def _is_orphan(claim: Any) -> bool:
    """Return whether the claim is of a thread that is not there; threads go by their numbers.

    An owner that is no thread says which one works for it (`ThreadOfWork`).
    """
    owner: Hashable | ThreadOfWork = claim.owner
    thread = owner.thread if isinstance(owner, ThreadOfWork) else owner
    return thread is None or (isinstance(thread, int) and thread != threading.get_ident())
