"""Threads for tests of the storage runtime: each call has a time-out, no sleep is a proof."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.core.futures import Future

PATIENCE = 10.0
"""Seconds after which a wait counts as endless."""


class Worker:
    """Run calls in a thread of its own, so that a test can be two threads in turn."""

    def __init__(self) -> None:
        self._context = Context("test", 0, Context.host().space)

    def __call__(self, work: Callable[..., Any], *args: Any) -> Any:
        """Do the call in the thread and return what it returns, or raise what it raises."""
        return self.start(work, *args).result(PATIENCE)

    def start(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin the call and return at once."""
        return self._context.submit(work, *args)


def wait_until(condition: Callable[[], Any]) -> None:
    """Return as soon as `condition` holds; fail if it does not in time."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the condition never came true"
        threading.Event().wait(0.001)


def wait_for_queue(buffer: Any, length: int = 1) -> None:
    """Return as soon as `length` accesses are in line for `buffer`: they block for certain."""
    wait_until(lambda: len(buffer.table.queue or ()) == length)
