"""In-order queue of an emulated device, independent of the kind of work."""

from __future__ import annotations

import queue
import sys
import threading
import weakref
from collections.abc import Callable, Set
from typing import Any, TypeVar

from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.core.forking import FORKS, ForkHandlers
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.waiting import Waiters, check_others_go_on

T = TypeVar("T")
_Job = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class Stream:
    """A worker thread that does one piece of work after the other, from the first on."""

    __slots__ = (
        "name", "_jobs", "_open", "_worker", "_lock", "_idle", "_running", "_settling", "_held",
        "__weakref__",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        """Make an idle stream."""
        self.name = name
        self._open: set[Future[Any]] = set()
        self._reset()
        _STREAMS.add(self)

    def _reset(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._lock = threading.Lock()
        self._idle = Waiters()
        self._running = threading.RLock()
        self._settling = threading.RLock()
        self._held = False

    def submit(self, work: Callable[..., T], *args: Any) -> Future[T]:
        """Queue `work(*args)`; return the future of its result.

        When the program ends, and the worker is not there any more, it is done at once.
        """
        future: Future[T] = Future()
        if sys.is_finalizing():
            self._jobs.put((future, work, args))
            self._do_alone()
            return future
        try:
            with self._lock:
                self._open.add(future)
                if self._worker is None:
                    self._start_worker()
                self._jobs.put((future, work, args))
        except BaseException:
            # An interrupt: the work may be queued, and the stream is not idle before its end.
            if self._worker is None:
                self._finish(future)
            else:
                self._jobs.put((Future(), self._finish, (future,)))
            raise
        return future

    def _start_worker(self) -> None:
        self._worker = threading.Thread(target=self._serve, name=self.name, daemon=True)
        try:
            self._worker.start()
        except BaseException:
            if not self._worker.is_alive():
                self._worker = None
            raise

    def run(self, work: Callable[..., T], *args: Any) -> T:
        """Do `work(*args)` after all that is queued, and return its result.

        On an idle stream, and on the worker itself, the work is done in the calling thread, which
        saves two thread switches.
        """
        if threading.current_thread() is self._worker:
            return work(*args)
        if sys.is_finalizing():
            self._do_alone()
        with self._running:
            if not self._open:
                return work(*args)
        return self.submit(work, *args).result()

    def _do_alone(self) -> None:
        """Run the queued work in this thread, because the worker is gone when the program ends.

        Raises `AccessDeadlockError` if the worker has left some work in the middle.
        """
        running: Any = self._running
        # pylint: disable-next=consider-using-with
        if not running.acquire(blocking=False):
            check_others_go_on()
        try:
            while not self._jobs.empty():
                self._do(*self._jobs.get())
        finally:
            running.release()

    def synchronize(self) -> None:
        """Wait until all submitted work is complete; return at once on the worker itself."""
        if sys.is_finalizing():
            self._do_alone()
        if threading.current_thread() is not self._worker:
            while self._open:
                self._idle.wait(lambda: not self._open)

    @property
    def jobs(self) -> Set[Any]:
        """Return the futures of queued or running work: one set, which changes."""
        return self._open

    @property
    def idle(self) -> bool:
        """Return whether no work is queued or running."""
        return not self._open

    def hold(self) -> None:
        """Let no job be settled until `let_go`, or wait a second for one that is being settled."""
        self._held = self._settling.acquire(timeout=1.0)  # pylint: disable=consider-using-with

    def let_go(self) -> None:
        """Undo `hold`."""
        if self._held:
            self._held = False
            self._settling.release()

    def restart(self) -> None:
        """Continue in a child process, which has no worker: work in progress fails there."""
        lost = tuple(self._open)
        self._open.clear()
        self._reset()
        for future in lost:
            text = f"The process was forked while {self.name} was at work: ask for it again."
            future.set_exception(StorageError(text))

    def _serve(self) -> None:
        while True:
            try:
                # A separate call, so that an idle worker keeps nothing of its last job alive.
                self._do(*self._jobs.get())
            except BaseException as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                # The failure of a callback: the worker continues for other callers.
                told = (type(error), error, error.__traceback__, self._worker)
                threading.excepthook(threading.ExceptHookArgs(told))

    def _do(self, future: Future[Any], work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            with self._running:
                result = work(*args)
        except BaseException as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            with self._settling:
                self._finish(future)
                future.set_exception(error)
        else:
            with self._settling:
                self._finish(future)
                future.set_result(result)

    def _finish(self, future: Future[Any]) -> None:
        with self._lock:
            self._open.discard(future)
        if not self._open:
            self._idle.wake()


_STREAMS: weakref.WeakSet[Stream] = weakref.WeakSet()


def _hold_all() -> None:
    for stream in sorted(_STREAMS, key=id):
        stream.hold()


def _let_all_go() -> None:
    for stream in tuple(_STREAMS):
        stream.let_go()


def _restart_all() -> None:
    for stream in tuple(_STREAMS):
        stream.restart()


FORKS.add(ForkHandlers(_hold_all, _let_all_go, _restart_all))
