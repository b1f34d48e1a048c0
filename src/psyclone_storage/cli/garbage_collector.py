"""Settings of Python's garbage collector for commands with many long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS_BETWEEN_COLLECTIONS = 100_000  # Python's 700 cost a short run a twentieth of its time


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
def last_collection() -> Iterator[None]:
    """Run the garbage collector rarely in the context, and not at all when the process ends."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    try:
        yield
    finally:
        gc.freeze()
