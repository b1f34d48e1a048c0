"""Python's search for cycles that nothing refers to, kept away from objects that live long."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS_BETWEEN_COLLECTIONS = 100_000  # Python's 700 cost a short run a twentieth of its time


@contextmanager
def rare_collections(*, ending: bool) -> Iterator[None]:
    """Search for cycles seldom inside the block: nearly all that a command makes lives as long.

    With `ending` the process does nothing else, and its last search finds nothing to look at.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *thresholds[1:])
    try:
        yield
    finally:
        if ending:
            gc.freeze()
        else:
            gc.set_threshold(*thresholds)
