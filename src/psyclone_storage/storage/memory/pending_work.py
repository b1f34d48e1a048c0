"""Records of pending and failed device work on memory.

An allocation stores the event of its last writer and those of later readers, each with the bytes
that were used. Work that must run after them waits for exactly these events. Failures of deferred
work are detected late: the bytes that it was to write count as failed until other work writes them,
or until an access discards the failure. An error stays recorded until it is reported, either to a
caller that requests such values or to one that waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from typing import Any, NamedTuple

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.memory.races import LOCK, MemoryUse

Span = tuple[int, int]
"""A range of bytes: the first byte and the number of bytes."""


class LastUse(NamedTuple):
    """A use of memory by submitted work: its stream, its event, whether it wrote, and where.

    A `span` of None is the whole allocation. `follows` is true if the stream waited for all earlier
    writes there.
    """

    stream: Hashable
    event: Any
    wrote: bool
    span: Span | None = None
    follows: bool = False


Uses = tuple[LastUse, ...]


def note(allocation: Allocation, use: LastUse) -> None:
    """Record a use of memory; a write replaces all earlier records of the same bytes."""
    _change(
        allocation,
        lambda pending: (*(other for other in pending if not _stands_for(use, other)), use),
    )


def waited_for(allocation: Allocation, *, writes: bool, span: Span | None = None) -> list[LastUse]:
    """Return the pending uses for which a new use of `span` must wait."""
    return [use for use in allocation.pending if (writes or use.wrote) and _overlap(use.span, span)]


def wait_on_host(allocation: Allocation, writes: bool, span: Span | None) -> None:
    """Let the host wait for the pending uses that a new use of `span` may not overtake."""
    for use in waited_for(allocation, writes=writes, span=span):
        use.event.synchronize()
    forget_ended(allocation)


def forget_ended(allocation: Allocation) -> None:
    """Remove the records of uses whose events have completed."""
    if allocation.pending:
        _change(allocation, lambda pending: tuple(use for use in pending if not use.event.done))


def forget_known(allocation: Allocation) -> None:
    """Remove the records of uses for which the host has waited, without a device query."""
    if allocation.pending:
        _change(
            allocation,
            lambda pending: tuple(use for use in pending if not getattr(use.event, "known", False)),
        )


def _change(allocation: Allocation, changed: Callable[[Uses], Uses]) -> None:
    """Change the records atomically: other threads may add records at any point."""
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


_MOST = 16
"""The largest number of unreported failures that are stored."""


class UnreportedFailures:
    """The unreported errors of queued work, with the numbers of their queues."""

    def __init__(self) -> None:
        """Start without errors."""
        self._kept: list[tuple[int, BaseException]] = []

    def add(self, queue: int, error: BaseException, site: str) -> None:
        """Record that work of a queue, submitted at `site`, has failed."""
        error.add_note(f"This was asked for at {site}, and done later.")
        with LOCK:
            # The first failures cause the later ones.
            if len(self._kept) < _MOST:
                self._kept.append((queue, error))

    def discard(self, error: BaseException) -> None:
        """Remove an error that a caller receives."""
        with LOCK:
            self._kept = [one for one in self._kept if one[1] is not error]

    def take(self, queues: Set[int] | None = None) -> list[BaseException]:
        """Return the failures in some queues, or in all, and remove them."""
        with LOCK:
            found = [one for one in self._kept if queues is None or one[0] in queues]
            self._kept = [one for one in self._kept if one not in found]
        return [error for _, error in found]

    def clear(self) -> None:
        """Remove all errors, as in a child process, whose parent reports them."""
        self.take()


UNREPORTED = UnreportedFailures()
"""The failures of this process that no call has reported."""


class Failure(NamedTuple):
    """The first failed address, the end address, and the error."""

    start: int
    stop: int
    error: BaseException


def spoil(use: MemoryUse, error: BaseException) -> None:
    """Mark the bytes of `use` as failed because of `error`."""
    allocation, (start, stop) = use.allocation, _ends(use)
    if start < stop:
        with LOCK:
            kept = _without(allocation, start, stop)
            allocation.failures = (*kept, Failure(start, stop, error))


def mend(use: MemoryUse) -> None:
    """Mark all bytes of `use` as written: they are no longer failed."""
    with LOCK:
        use.allocation.failures = _without(use.allocation, *_ends(use))


def give_up(allocation: Allocation, span: Span | None) -> None:
    """Discard failures in a span whose values are no longer needed."""
    if allocation.failures:
        mend(_use_of(allocation, span))


def forget(allocation: Allocation, error: BaseException) -> None:
    """Discard a failure that a caller has received."""
    with LOCK:
        allocation.failures = tuple(one for one in allocation.failures if one.error is not error)


def failure_of(use: MemoryUse) -> BaseException | None:
    """Return the error of the first failed bytes in `use`, None if there are no failed bytes."""
    start, stop = _ends(use)
    found = (one for one in use.allocation.failures if one.start < stop and start < one.stop)
    return next((one.error for one in found), None)


def failure_in(allocation: Allocation, span: Span | None) -> BaseException | None:
    """Return the error of the first failed bytes in `span`, None if there are no failed bytes."""
    return failure_of(_use_of(allocation, span)) if allocation.failures else None


def _use_of(allocation: Allocation, span: Span | None) -> MemoryUse:
    first, count = (0, allocation.capacity) if span is None else span
    start = allocation.pointer + first
    return MemoryUse(allocation, start, start + count, True)


def _ends(use: MemoryUse) -> tuple[int, int]:
    """Return start and end address; an empty allocation counts as one byte."""
    return use.start, use.stop if use.allocation.capacity else use.start + 1


def _without(allocation: Allocation, start: int, stop: int) -> tuple[Failure, ...]:
    """Return the failures outside of the addresses from `start` to `stop`."""
    return tuple(
        Failure(low, high, one.error)
        for one in allocation.failures
        for low, high in ((one.start, min(one.stop, start)), (max(one.start, stop), one.stop))
        if low < high
    )
