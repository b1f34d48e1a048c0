"""Notes on pending device work with memory; this module never waits.

An allocation stores the end of its last writer and those of the readers since, each with the bytes
that were used: work that must come after them waits for their events, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from psyclone_storage.storage.core.allocation import Allocation

Span = tuple[int, int]
"""The first byte and the number of bytes."""


class LastUse(NamedTuple):
    """The end of some work with memory: its stream, its event, whether it wrote, and where.

    `span` is `None` for all of the allocation. `follows` is true if the stream waited for all
    earlier writes there.
    """

    stream: Hashable
    event: Any
    wrote: bool
    span: Span | None = None
    follows: bool = False


Uses = tuple[LastUse, ...]


def note(allocation: Allocation, use: LastUse) -> None:
    """Record that some work uses memory; a write replaces all earlier notes on the same bytes."""
    _change(
        allocation,
        lambda pending: (*(other for other in pending if not _stands_for(use, other)), use),
    )


def waited_for(allocation: Allocation, *, writes: bool, span: Span | None = None) -> list[LastUse]:
    """Return the uses of memory that may not be overtaken by one of `span`."""
    return [use for use in allocation.pending if (writes or use.wrote) and _overlap(use.span, span)]


def forget_ended(allocation: Allocation) -> None:
    """Drop the uses of which is known that they are over."""
    if allocation.pending:
        _change(allocation, lambda pending: tuple(use for use in pending if not use.event.done))


def forget_known(allocation: Allocation) -> None:
    """Drop the uses that the host has waited for, without a query to any device."""
    if allocation.pending:
        _change(
            allocation,
            lambda pending: tuple(use for use in pending if not getattr(use.event, "known", False)),
        )


def _change(allocation: Allocation, changed: Callable[[Uses], Uses]) -> None:
    """Change the uses atomically: other threads may add uses at any point."""
    while not allocation.swap_pending(before := allocation.pending, changed(before)):
        pass


def _stands_for(new: LastUse, old: LastUse) -> bool:
    """Return whether work that waits for `new` also waits for `old`."""
    if new.span is not None and new.span != old.span:
        return False
    return new.wrote or (not old.wrote and old.stream == new.stream)


def _overlap(one: Span | None, other: Span | None) -> bool:
    if one is None or other is None:
        return True
    return one[0] < other[0] + other[1] and other[0] < one[0] + one[1]
