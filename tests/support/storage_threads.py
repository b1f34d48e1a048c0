"""Threads for tests of the storage runtime: each call has a time-out, no sleep is a proof."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.core.futures import Future

RUNS = int(os.environ.get("PSYCLONE_STORAGE_RUNS", "10"))
"""How often a race is run; 1000 for a long look."""

PATIENCE = 60.0
"""Seconds after which a wait counts as endless. Other programs may take most of the machine."""

THREADS = 8
SWITCH = 1e-5
"""Seconds between two switches of threads in a race, 500 times as often as usual."""


def race(works: Sequence[Callable[[], Any]]) -> list[BaseException]:
    """Run the works at once, one thread each, and return what they raised.

    A watchdog fails the test with the stacks of all threads if one of them does not end.
    """
    start = threading.Barrier(len(works))
    errors: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        start.wait(PATIENCE)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        for thread in threads:
            thread.start()
        end = time.monotonic() + PATIENCE
        for thread in threads:
            thread.join(max(end - time.monotonic(), 0.0))
        if any(thread.is_alive() for thread in threads):
            faulthandler.dump_traceback(all_threads=True)
            raise AssertionError("some threads hang: their stacks are in the output")
    finally:
        sys.setswitchinterval(interval)
    return errors


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
