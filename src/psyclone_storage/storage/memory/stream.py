"""Own the in-order queue of an emulated device; refuse to know what the work does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from psyclone_storage.storage.core.futures import Future

T = TypeVar("T")
_Job = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class Stream:
    """Run work one after the other on a worker thread, which starts with the first submission."""

    __slots__ = ("name", "_jobs", "_pending", "_worker", "_idle", "_running")

    def __init__(self, name: str) -> None:
        """Make an idle stream."""
        self.name = name
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._pending = 0
        self._worker: threading.Thread | None = None
        self._idle = threading.Condition()
        self._running = threading.RLock()

    def submit(self, work: Callable[..., T], *args: Any) -> Future[T]:
        """Queue `work(*args)`; return the future of its result."""
        future: Future[T] = Future()
        with self._idle:
            self._pending += 1
            if self._worker is None:
                self._worker = threading.Thread(target=self._serve, name=self.name, daemon=True)
                self._worker.start()
            self._jobs.put((future, work, args))
        return future

    def run(self, work: Callable[..., T], *args: Any) -> T:
        """Do `work(*args)` after all that is queued, and return its result.

        On an idle stream, and on the worker itself, the work is done in the calling thread, which
        saves two thread switches.
        """
        if threading.current_thread() is self._worker:
            return work(*args)
        with self._running:
            if self._pending == 0:
                return work(*args)
        return self.submit(work, *args).result()

    def post(self, work: Callable[..., Any], *args: Any) -> None:
        """Do `work(*args)` after all that is queued, without waiting for it.

        For callers that must not block, as they may be the worker of another device; `work` must
        not raise.
        """
        # The worker holds the lock while it works: whoever gets it at once finds an idle stream.
        if self._running.acquire(blocking=False):  # pylint: disable=consider-using-with
            try:
                if self._pending == 0:
                    work(*args)
                    return
            finally:
                self._running.release()
        self.submit(work, *args)

    def synchronize(self) -> None:
        """Wait until all that was submitted is done; does nothing on the worker itself."""
        if self._pending and threading.current_thread() is not self._worker:
            with self._idle:
                self._idle.wait_for(lambda: self._pending == 0)

    @property
    def idle(self) -> bool:
        """Say whether nothing is queued or running."""
        return self._pending == 0

    def _serve(self) -> None:
        while True:
            # A call of its own, so that an idle worker keeps nothing of its last job alive.
            self._do(*self._jobs.get())

    def _do(self, future: Future[Any], work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            with self._running:
                result = work(*args)
        except BaseException as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            self._finish_one()
            future.set_exception(error)
        else:
            self._finish_one()
            future.set_result(result)

    def _finish_one(self) -> None:
        with self._idle:
            self._pending -= 1
            self._idle.notify_all()
