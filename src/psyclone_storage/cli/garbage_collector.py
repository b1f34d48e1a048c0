"""Python's search for cycles that nothing refers to, kept away from objects that live long."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS_BETWEEN_COLLECTIONS = 100_000  # Python's 700 cost a short run a twentieth of its time


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search for cycles seldom inside the block: nearly all that a command makes lives as long."""
    thresholds = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


@contextmanager
def last_collection() -> Iterator[None]:
    """Search seldom in the last block of a process, and have nothing to search when it ends."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    try:
        yield
    finally:
        gc.freeze()
