"""Own the way from our futures to those of the standard library; be asked for by name.

`concurrent.futures` costs more to import than all of the runtime, so that nothing else imports this
module. To `await` a future needs no conversion.
"""

from __future__ import annotations

from concurrent import futures
from typing import TypeVar

from psyclone_storage.storage.core.futures import Future

T = TypeVar("T")


def as_concurrent(future: Future[T]) -> futures.Future[T]:
    """Return a future of `concurrent.futures` that ends with `future`, for `wait` and the like.

    Who waits for it may wait for ever where `result` of `future` itself raises
    `AccessDeadlockError`. It cannot be cancelled, as what it stands for cannot.
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
