"""Own the notes on what devices still do to memory; refuse to wait for anything.

An allocation keeps the end of its last writer and those of the readers since, each with the bytes
that were used: who may not overtake them waits for their events, and for nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, NamedTuple

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.forking import FORKS, Rank

Span = tuple[int, int]
"""The first byte and the number of bytes."""


class LastUse(NamedTuple):
    """The end of some work with memory: its stream, its event, whether it wrote, and where.

    `span` is None for all of the allocation.
    """

    stream: Hashable
    event: Any
    wrote: bool
    span: Span | None = None


_LOCK = FORKS.guard(threading.RLock(), Rank.LEAF)
"""Held to note a use, in the middle of which an access may end whose object is gone."""


def note(allocation: Allocation, use: LastUse) -> None:
    """Note that some work uses memory; one that wrote stands for all before it there."""
    with _LOCK:
        older = tuple(other for other in allocation.pending if not _stands_for(use, other))
        allocation.pending = (*older, use)


def waited_for(allocation: Allocation, *, writes: bool, span: Span | None = None) -> list[LastUse]:
    """Return the uses of memory that may not be overtaken by one of `span`."""
    return [use for use in allocation.pending if (writes or use.wrote) and _overlap(use.span, span)]


def forget_ended(allocation: Allocation) -> None:
    """Drop the uses of which is known that they are over."""
    with _LOCK:
        allocation.pending = tuple(use for use in allocation.pending if not use.event.done)


def forget_known(allocation: Allocation) -> None:
    """Drop the uses that the host has waited for, without a look at any device."""
    with _LOCK:
        allocation.pending = tuple(
            use for use in allocation.pending if not getattr(use.event, "known", False)
        )


def _stands_for(new: LastUse, old: LastUse) -> bool:
    """Say whether who waits for `new` waits for `old`, too."""
    if new.span is not None and new.span != old.span:
        return False
    return new.wrote or (not old.wrote and old.stream == new.stream)


def _overlap(one: Span | None, other: Span | None) -> bool:
    if one is None or other is None:
        return True
    return one[0] < other[0] + other[1] and other[0] < one[0] + one[1]
