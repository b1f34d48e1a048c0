"""Conversion of futures to `concurrent.futures.Future`; a separate module for fast start-up.

`concurrent.futures` costs more to import than the whole runtime, so no other module imports this
one. A future needs no conversion for `await`.
"""

from __future__ import annotations

from concurrent import futures
from typing import TypeVar

from psyclone_storage.storage.core.futures import Future

T = TypeVar("T")


def as_concurrent(future: Future[T]) -> futures.Future[T]:
    """Return a future of `concurrent.futures` that completes with `future`, for `wait` and others.

    Waiting for it may never end where `result` of `future` itself raises `AccessDeadlockError`. It
    cannot be cancelled, because the work of `future` cannot.
    """
    found: futures.Future[T] = futures.Future()
    found.set_running_or_notify_cancel()

    def end(done: Future[T]) -> None:
        error = done.exception()
        if error is not None:
            found.set_exception(error)
        else:
            found.set_result(done.result())

    future.then(end)
    return found
