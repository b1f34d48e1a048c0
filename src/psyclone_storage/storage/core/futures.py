"""Own `Future`, the promise of an asynchronous access or transfer; refuse to run anything.

One class serves the futures of `open` and `close` (ACC-20, ACC-22) and the tokens of asynchronous
copies (HM-38). It is lighter than the one of the standard library: a future that is born done
allocates no lock, and one that stands for a place in a lock queue can be told to look for a
deadlock before it blocks.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.waiters import Waiters

_LOCK = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Held for a few steps, in which objects may end that have futures of their own."""

T = TypeVar("T")
U = TypeVar("U")


class Future(Generic[T]):
    """A value that another thread will provide.

    `before_wait`, if given, is called each time before a wait that would block; it may raise to
    refuse the wait.
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
        """Make an open promise; `before_wait` returns what to call when the wait is over."""
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
        """Return a future that already has failed."""
        future: Future[T] = cls.__new__(cls)
        future._value = None
        future._error = error
        future._done = True
        return future

    def done(self) -> bool:
        """Say whether the value or the failure is there."""
        return self._done

    def result(self, timeout: float | None = None) -> T:
        """Wait for the value and return it; raise what made it fail, or `TimeoutError`."""
        if not self._done:
            self._block(timeout)
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    wait = result

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait for the end and return what made it fail, None after a success."""
        if not self._done:
            self._block(timeout)
        return self._error

    def then(self, callback: Callable[[Future[T]], None]) -> None:
        """Call `callback` with this future when it is done, at once if it is.

        It is called once, but for an interrupt (Ctrl-C) of the thread that calls it, after which it
        is called again. If it fails, those behind it are called, and then the first failure is
        raised where the promise was kept or broken.
        """
        if not self._done:
            with _LOCK:
                if not self._done:
                    self._callbacks.append(callback)
                    return
        callback(self)

    def __await__(self) -> Generator[Any, None, T]:
        """Wait in a coroutine of `asyncio`, while its loop goes on with others.

        Others of the loop may end what this waits for: no search for deadlocks is made.
        """
        # Who awaits runs a loop, so that the module is there; others need not import it.
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
        """Look whether waiting could ever end; return what to call when the wait is over.

        Raises what the maker of the future raises to refuse the wait.
        """
        if self._done or self._before_wait is None:
            return _nothing
        return self._before_wait()

    def map(self, function: Callable[[T], U]) -> Future[U]:
        """Return the future of `function` of the value; `function` runs where this one is kept."""
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
        """Keep the promise, unless it is kept or broken already. Callbacks run in this thread."""
        self._end(value, None)

    def set_exception(self, error: BaseException) -> None:
        """Break the promise, unless it is kept or broken already: those who wait get `error`."""
        self._end(None, error)

    def _end(self, value: T | None, error: BaseException | None) -> None:
        """Tell all who want to know, if this thread is the first that ends the promise.

        Nobody else calls the callbacks then, so that an interrupt of this thread, which is no
        matter of theirs, is put right here.
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
            # Taken out, so that the failure does not keep itself alive through these frames.
            raise failures.pop()

    def _tell(self, failures: list[Exception]) -> None:
        """Call all callbacks, and let go on who waits; put the first failure into `failures`."""
        callbacks = self._callbacks
        try:
            while callbacks:
                try:
                    callbacks[0](self)
                except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
                    # No signal is looked for before this: what failed is not called again.
                    del callbacks[0]
                    if not failures:
                        failures.append(error)
                else:
                    del callbacks[0]
        finally:
            if self._waiters is not None:
                self._waiters.wake()

    def _tell_the_rest(self) -> None:
        """Call those whom an interrupt has left, whatever becomes of each."""
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
    """Wait for all the futures and return their values; raise the first failure (ACC-20)."""
    waited = list(futures)
    for future in waited:
        future.exception()
    return [future.result() for future in waited]


def forward(done: Future[T], future: Future[T]) -> None:
    """Give `future` the value or the failure of `done`, which is done."""
    error = done.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(done.result())


def all_of(futures: list[Future[None]]) -> Future[None]:
    """Return a future that resolves after all of `futures`, with the first failure among them.

    Unlike `wait_all` this does not wait, so that a stream worker may call it.
    """
    if not futures:
        return Future.completed(None)
    if len(futures) == 1:
        return futures[0]
    finished: Future[None] = Future()
    left = futures.copy()

    def one_less(_: Future[None]) -> None:
        # Several threads may find nothing left: the first that forwards ends the promise.
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
    """End a wait that nobody noted."""
