"""Device driver: the order of kernels and copies that the records of memory uses require.

GPUs and emulated devices share this driver. A subclass provides the queues of its device, the
allocations, and the copies of bytes. A queue executes its work in order; only events order the work
of different queues.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Protocol

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.pending_work import (
    UNREPORTED,
    LastUse,
    Span,
    failure_in,
    give_up,
    note,
    waited_for,
)
from psyclone_storage.storage.memory.stream import Stream


class WorkQueue(Protocol):
    """A queue of a device: a stream of a GPU, or a queue of an emulated device."""

    @property
    def key(self) -> Hashable:
        """Return the identifier of the queue in use records."""

    def record(self) -> Any:
        """Return the event of all work in the queue."""

    def wait_event(self, event: Any) -> None:
        """Let later work wait for an event."""

    def finish(self) -> None:
        """Let the host wait for all work in the queue."""


class DeviceMemory(Memory):
    """The memory of one device, which exchanges data with host memory and with peers."""

    queues_work = True

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`; a helper thread waits for the ends of asynchronous copies."""
        super().__init__(space)
        self._stream = Stream(space.tag)
        DEVICES.add(self)

    @property
    def stream(self) -> Stream:
        """Return the worker that runs the work that a thread has to wait for."""
        return self._stream

    @abstractmethod
    def kernel_queue(self) -> WorkQueue:
        """Return the queue of this thread's kernels."""

    @abstractmethod
    def copy_queue(self, *, into: bool) -> WorkQueue:
        """Return the queue of copies into the device, or out of it."""

    @abstractmethod
    def submit_copy(self, queue: Any, target: Allocation, source: Allocation, span: Span) -> Any:
        """Submit the copy of a span to `queue`, and return the event of its end."""

    @abstractmethod
    def is_peer(self, other: Memory) -> bool:
        """Return whether this device can copy from another one directly."""

    @abstractmethod
    def record(self) -> Any:
        """Return the event of all kernels of this thread, None if they are known to be complete."""

    def keep(self, queue: Any, event: Any, ends: tuple[Allocation, ...]) -> None:
        """Keep memory that `queue` uses until `event`; by default, submitted work keeps it."""

    def follow(self, allocation: Allocation, writes: bool, span: Span | None = None) -> None:
        """Let kernels wait for copies, for other queues and for other devices."""
        if allocation.pending:
            wait_in(self.kernel_queue(), allocation, writes, span)

    def note_use(self, allocation: Allocation, wrote: bool, span: Span | None = None) -> None:
        """Record an event after the kernels that were submitted so far."""
        event = self.record()
        if event is not None:
            queue = self.kernel_queue()
            note(allocation, LastUse(queue.key, event, wrote, span))
            self.keep(queue, event, (allocation,))

    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`, on the device."""
        with self.bound():
            self.follow(allocation, writes=True, span=spec.span)
            try:
                self.window(allocation, spec).fill(value)
                self.note_use(allocation, wrote=True, span=spec.span)
            except BaseException:
                # After an interrupt no event is known that later work could wait for.
                self.kernel_queue().finish()
                raise

    def can_copy_from(self, source: Memory) -> bool:
        """Return True for memories that the host can use, for this device, and for peers."""
        return source is self or source.space.host_accessible or self.is_peer(source)

    def can_copy_to(self, target: Memory) -> bool:
        """Return True for memories that the host can use."""
        return target.space.host_accessible

    def memcpy_from(self, target: Allocation, source: Allocation, span: Span) -> None:
        """Fetch a span and wait for it."""
        finish_copy(self._copy(target, source, span), target, span)

    def memcpy_to(self, target: Allocation, source: Allocation, span: Span) -> None:
        """Send a span and wait for it."""
        finish_copy(self._copy(target, source, span), target, span)

    def fetch(self, target: Allocation, source: Allocation, span: Span) -> None:
        """Fetch a span: users of either end follow the copy, and the host proceeds."""
        event = self._copy(target, source, span)
        if not source.watched:
            finish_copy(event, target, span)

    def _copy(self, target: Allocation, source: Allocation, span: Span) -> Any:
        """Put a copy in the queue of its direction; return the event of its end.

        It overtakes no use of either end, but all other work: kernels continue meanwhile.
        """
        with self.bound():
            queue, ends = self.copy_queue(into=target.space is self.space), (target, source)
            if not (target.watched and source.watched):
                wait_for_untracked(queue, ends, type(self))
            wait_in(queue, source, False, span)
            wait_in(queue, target, True, span)
            try:
                event = self.submit_copy(queue, target, source, span)
                note(source, LastUse(queue.key, event, wrote=False, span=span))
                note(target, LastUse(queue.key, event, wrote=True, span=span))
                self.keep(queue, event, ends)
                return event  # noqa: TRY300 - an interrupt may arrive here, too
            except BaseException:
                # After an interrupt no caller has the event, and nothing keeps the memory.
                queue.finish()
                raise


DEVICES: weakref.WeakSet[DeviceMemory] = weakref.WeakSet()
"""The memories of all devices, those of an earlier selection included."""


def wait_in(queue: WorkQueue, allocation: Allocation, writes: bool, span: Span | None) -> None:
    """Let a queue wait for uses of memory that it may not overtake."""
    for use in waited_for(allocation, writes=writes, span=span):
        if use.stream != queue.key:
            queue.wait_event(use.event)


def wait_for_untracked(
    queue: WorkQueue, ends: tuple[Allocation, ...], kind: type[DeviceMemory]
) -> None:
    """Let a copy wait for this thread's kernels without a record, on all devices of both ends.

    Any device of this `kind` may use memory of the host.
    """
    for memory in tuple(DEVICES):
        is_used = any(end.space is memory.space or end.space.host_accessible for end in ends)
        event = memory.record() if is_used and isinstance(memory, kind) else None
        if event is not None:
            queue.wait_event(event)


def finish_copy(event: Any, target: Allocation, span: Span) -> None:
    """Let the host wait for the end of a copy; raise its error if it failed."""
    event.synchronize()
    failure = failure_in(target, span)
    if failure is not None:
        give_up(target, span)
        UNREPORTED.discard(failure)
        raise failure
