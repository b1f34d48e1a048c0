"""Settings of a process that runs a command: the garbage collector and SIGINT."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS_BETWEEN_COLLECTIONS = 500_000  # Python's 700 cost a short run a twentieth of its time


@contextmanager
def rare_collections() -> Iterator[None]:
    """Run the garbage collector rarely inside the context.

    Nearly all objects of a command live until its end.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


@contextmanager
def last_command() -> Iterator[None]:
    """Prepare the process for a command in the context, after which the process ends.

    The garbage collector runs rarely in the context, and not at all when the process ends. SIGINT
    ends the process without a stack trace, also while modules are imported.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    try:
        yield
    finally:
        gc.freeze()
