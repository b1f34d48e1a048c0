"""`Future`: the result of an asynchronous access or transfer; it executes nothing itself.

One class serves the futures of `open` and `close` (ACC-20, ACC-22) and the tokens of asynchronous
copies (HM-38). It is lighter than that of the standard library: a future created as complete
allocates no lock. A future for a queued lock request can check for a deadlock before it blocks.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.waiting import Waiters

_LOCK = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Protects short updates, which finalizers of other futures' owners may re-enter."""

T = TypeVar("T")
U = TypeVar("U")


class Future(Generic[T]):
    """A value that another thread will provide.

    `before_wait`, if given, is called before each wait that would block; it may raise an error
    instead.
    """

    __slots__ = (
        "_value",
        "_error",
        "_done",
        "_waiters",
        "_callbacks",
        "_before_wait",
        "_after_wait",
    )

    def __init__(self, before_wait: Callable[[], Callable[[], None]] | None = None) -> None:
        """Create a pending future; `before_wait` returns a function to call after the wait."""
        self._value: T | None = None
        self._error: BaseException | None = None
        self._done = False
        self._waiters: Waiters | None = None
        self._callbacks: deque[Callable[[Future[T]], None]] = deque()
        self._before_wait = before_wait

    @classmethod
    def completed(cls, value: T) -> Future[T]:
        """Return a future that already has its value."""
        future: Future[T] = cls.__new__(cls)
        future._value = value
        future._error = None
        future._done = True
        return future

    @classmethod
    def failed(cls, error: BaseException) -> Future[T]:
        """Return a future that has already failed."""
        future: Future[T] = cls.__new__(cls)
        future._value = None
        future._error = error
        future._done = True
        return future

    def done(self) -> bool:
        """Return whether the value or the failure is available."""
        return self._done

    def result(self, timeout: float | None = None) -> T:
        """Wait for the value and return it; raise the error of a failure, or `TimeoutError`."""
        if not self._done:
            self._block(timeout)
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    wait = result

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait for completion; return the error of a failure, None after a success."""
        if not self._done:
            self._block(timeout)
        return self._error

    def then(self, callback: Callable[[Future[T]], None]) -> None:
        """Call `callback` with this future when it is complete; immediately if it already is.

        The callback is called once, except after an interrupt (Ctrl-C) of the calling thread, when
        it is repeated. If it fails, the remaining callbacks still run. The first failure is then
        raised in the thread that completed the future.
        """
        if not self._done:
            with _LOCK:
                if not self._done:
                    self._callbacks.append(callback)
                    return
        callback(self)

    def __await__(self) -> Generator[Any, None, T]:
        """Wait in a coroutine of `asyncio`; other coroutines of the loop continue.

        Other coroutines of the loop may resolve this future, so there is no deadlock check.
        """
        # A caller that awaits runs an event loop, so asyncio is already loaded.
        loop = sys.modules["asyncio"].get_running_loop()
        ended = loop.create_future()

        def wake() -> None:
            if not ended.done():
                ended.set_result(None)

        def end(_: Future[T]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(wake)

        self.then(end)
        yield from ended
        return self.result()

    def begin_wait(self) -> Callable[[], None]:
        """Check that waiting can end; return a function to call after the wait.

        Raises the error with which the creator of the future rejects the wait.
        """
        if self._done or self._before_wait is None:
            return _nothing
        return self._before_wait()

    def map(self, function: Callable[[T], U]) -> Future[U]:
        """Return the future of `function(value)`; `function` runs in the resolving thread."""
        mapped: Future[U] = Future(self.begin_wait)

        def pass_on(done: Future[T]) -> None:
            error = done.exception()
            if error is not None:
                mapped.set_exception(error)
                return
            try:
                value = function(done.result())
            except Exception as failure:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                mapped.set_exception(failure)
            else:
                mapped.set_result(value)

        self.then(pass_on)
        return mapped

    def set_result(self, value: T) -> None:
        """Resolve the future, unless it is already complete; callbacks run in this thread."""
        self._end(value, None)

    def set_exception(self, error: BaseException) -> None:
        """Fail the future, unless it is already complete; waiting threads raise `error`."""
        self._end(None, error)

    def _end(self, value: T | None, error: BaseException | None) -> None:
        """Complete the future; if this thread is the first to do so, call all callbacks.

        No other thread will call the callbacks. Therefore an interrupt of this thread does not
        prevent the remaining ones from being called.
        """
        failures: list[Exception] = []
        is_first = False
        try:
            with _LOCK:
                if not self._done:
                    self._value, self._error = value, error
                    self._done = is_first = True
            if is_first:
                self._tell(failures)
        except BaseException:
            if is_first:
                self._tell_the_rest()
            raise
        if failures:
            # `pop` avoids a reference cycle between the error and the frames in its traceback.
            raise failures.pop()

    def _tell(self, failures: list[Exception]) -> None:
        """Call all callbacks and wake waiting threads; append the first error to `failures`."""
        callbacks = self._callbacks
        try:
            while callbacks:
                try:
                    callbacks[0](self)
                except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                    # No signal is handled before this: a failed callback is not called again.
                    del callbacks[0]
                    if not failures:
                        failures.append(error)
                else:
                    del callbacks[0]
        finally:
            if self._waiters is not None:
                self._waiters.wake()

    def _tell_the_rest(self) -> None:
        """Call the remaining callbacks after an interrupt, ignoring their errors."""
        while self._callbacks:
            callback = self._callbacks.popleft()
            with suppress(BaseException):
                callback(self)
        if self._waiters is not None:
            self._waiters.wake()

    def _block(self, timeout: float | None) -> None:
        after_wait = self._before_wait() if self._before_wait is not None else None
        try:
            with _LOCK:
                if self._done:
                    return
                if self._waiters is None:
                    self._waiters = Waiters()
            if not self._waiters.wait(self.done, timeout):
                raise TimeoutError(f"The future was not done after {timeout} s.")
        finally:
            if after_wait is not None:
                after_wait()


SyncToken = Future


def wait_all(futures: Iterable[Future[T]]) -> list[T]:
    """Wait for all futures and return their values; raise the first failure (ACC-20)."""
    waited = list(futures)
    for future in waited:
        future.exception()
    return [future.result() for future in waited]


def forward(done: Future[T], future: Future[T]) -> None:
    """Complete `future` with the value or the failure of `done`, a complete future."""
    error = done.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(done.result())


def all_of(futures: list[Future[None]]) -> Future[None]:
    """Return a future that resolves after all of `futures`, with the first failure among them.

    Unlike `wait_all`, this function does not wait, so that a stream's worker thread may call it.
    """
    if not futures:
        return Future.completed(None)
    if len(futures) == 1:
        return futures[0]
    finished: Future[None] = Future()
    left = futures.copy()

    def one_less(_: Future[None]) -> None:
        # Several threads may find no future left: the first one completes `finished`.
        with _LOCK:
            while left and left[-1].done():
                left.pop()
            if left:
                return
        failed = next((f for f in futures if f.exception() is not None), None)
        forward(failed or futures[0], finished)

    for future in futures:
        future.then(one_less)
    return finished


def _nothing() -> None:
    """Do nothing, after a wait that needed no check."""
