"""Pins, destroyed access objects, orphaned accesses after a fork, and failures at exit.

- `ExportPin` prevents memory with exported arrays from being moved.
- `DROPPED` ends accesses whose objects were destroyed where no release is possible: the garbage
  collector may destroy an object at any point, even while its thread holds the lock that the
  release needs. Such releases are recorded without a lock. The next thread that is about to wait
  for an access executes them; a background thread does so for threads that are already waiting.
- `BUFFERS` ends, in a forked child, the accesses and transfers of threads that do not exist there.
- `fail_at_end` sets the exit status to 120 if deferred work failed at exit; Python uses this status
  for output that it cannot flush. It replaces any other status, because Python does not pass the
  status to exit handlers. A program terminated by an interrupt (Ctrl-C) still ends by that signal.
  Processes that end with `os._exit` run none of this.
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
    """A pin on the memory of a buffer, until `release` or until the pin is destroyed."""

    __slots__ = ("__weakref__",)

    def __enter__(self) -> ExportPin:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


register(pin=ExportPin)


class _StreamOfFailure:
    """A wrapper of `sys.stderr` whose final flush fails, so that Python exits with status 120."""

    def __init__(self, stream: TextIO | None) -> None:
        """Wrap `stream`; without a stream, discard all output."""
        self._stream = io.StringIO() if stream is None or _is_closed(stream) else stream

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the stream."""
        return getattr(self._stream, name)

    @property
    def closed(self) -> bool:
        """Return whether the stream is closed; always False during interpreter shutdown.

        The interpreter does not flush closed streams.
        """
        return _is_closed(self._stream) and not sys.is_finalizing()

    def flush(self) -> None:
        """Flush the stream; raise an error if the interpreter calls this during shutdown."""
        if not _is_closed(self._stream):
            self._stream.flush()
        if sys.is_finalizing():
            raise OSError("Work that was put off has failed.")


def fail_at_end() -> None:
    """Set the exit status to 120 if the program is exiting; otherwise do nothing."""
    stream = getattr(sys, "stderr", None)
    if threading.main_thread().is_alive() or isinstance(stream, _StreamOfFailure):
        return
    sys.stderr = cast(TextIO, _StreamOfFailure(stream))


def _is_closed(stream: TextIO) -> bool:
    return bool(getattr(stream, "closed", False))


class DroppedAccesses:
    """A queue of calls that end accesses of destroyed objects."""

    __slots__ = ("_calls", "_wake", "_thread", "_lock", "_busy")

    def __init__(self) -> None:
        """Start without calls."""
        self._calls: deque[Callable[[], object]] = deque()
        self._lock = FORKS.guard(threading.RLock(), Rank.FIRST_USE)
        self.restart()

    def restart(self) -> None:
        """Continue without a background thread after a fork; recorded calls remain."""
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._busy = False

    def note(self, call: Callable[[], object]) -> None:
        """Record `call` for execution; may be called at any point."""
        self._calls.append(call)
        self._wake.put(None)

    def end_all(self) -> None:
        """Execute the recorded calls, and start the background thread that executes later ones."""
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
"""The recorded calls of this process."""

FORKS.add(ForkHandlers(nothing, nothing, DROPPED.restart))


@runtime_checkable
class ThreadOfWork(Protocol):
    """An owner of accesses that is not a thread, but has a thread that works for it."""

    @property
    def thread(self) -> int | None:
        """Return the identifier of the thread, None before it exists."""


class KnownBuffers:
    """All existing buffers."""

    def __init__(self) -> None:
        """Start without buffers."""
        self._known: list[ref[Any]] = []
        self._enough = 1024

    def note(self, buffer: Any) -> None:
        """Add a buffer."""
        self._known.append(ref(buffer))
        if len(self._known) > self._enough:
            self.forget()

    def forget(self) -> None:
        """Remove destroyed buffers; buffers that other threads add meanwhile are preserved."""
        seen = len(self._known)
        alive = [known for known in self._known[:seen] if known() is not None]
        self._enough = max(1024, 2 * len(alive))
        self._known[:seen] = alive

    def alive(self) -> list[Any]:
        """Return the live buffers."""
        return [buffer for known in tuple(self._known) if (buffer := known()) is not None]

    def locks(self) -> Sequence[Any]:
        """Return the locks of all lock tables, in the order of acquisition."""
        self.forget()
        tables = {id(buffer.table): buffer.table for buffer in self.alive()}
        return [tables[key].lock for key in sorted(tables)]

    def end_orphans(self) -> None:
        """End all accesses and transfers of threads that do not exist in this process."""
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
        # A prefetch ends without its thread, and remains useful.
        claim = turn.claim
        if _is_orphan(claim) and not (claim.in_flight and isinstance(claim.owner, int)):
            turn.group.give_up()
    for claim in tuple(table.holders):
        # Work on streams has already ended.
        if _is_orphan(claim):
            if claim.mode.writes:
                gone = StorageError("The process was forked while another thread was writing.")
                buffer.replicas.close_write(claim, gone)
            table.leave(claim)


def _is_orphan(claim: Any) -> bool:
    """Return whether the owner's thread does not exist in this process.

    For an owner that is not a thread, `ThreadOfWork.thread` identifies its thread.
    """
    owner: Hashable | ThreadOfWork = claim.owner
    thread = owner.thread if isinstance(owner, ThreadOfWork) else owner
    return thread is None or (isinstance(thread, int) and thread != threading.get_ident())
