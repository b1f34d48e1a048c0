"""Emulated devices: separate pages, separate queues, and arrays that reject host use.

A machine without a GPU runs every device path on them. They are useful because they fail
like a GPU does: host code that accesses a device array gets an error, submitted work runs
later (`queues`) and must be ordered (`races`), and in strict mode a replica that lost validity
holds a pattern that no computation survives, so that a missing transfer shows.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.device import current_emulation
from psyclone_storage.storage.core.forking import nothing
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.base import Memory, array_over, foreign_pages, host_pages
from psyclone_storage.storage.memory.device_driver import DEVICES, DeviceMemory
from psyclone_storage.storage.memory.emulated_array import EmulatedDeviceArray, on_device
from psyclone_storage.storage.memory.fp_errors import as_asked
from psyclone_storage.storage.memory.pending_work import (
    UNREPORTED,
    Span,
    failure_of,
    forget,
    forget_ended,
    give_up,
    wait_on_host,
)
from psyclone_storage.storage.memory.pools import ALIGNMENT, Pool, PoolUse
from psyclone_storage.storage.memory.queues import DeviceQueue, QueueEvent
from psyclone_storage.storage.memory.races import RACES, MemoryUse, on_tracing

_POISON_BYTE = 0xA5
_POISON_WORD = np.uint64(0x7FF4A5A57FB4A5A5)
"""A signalling NaN when read as float64, and another one in its lower half as float32."""
_CAREFUL = "no short ways"
"""What stands among the jobs of a device where no access may go past its queues."""


class EmulatedDeviceMemory(DeviceMemory):  # pylint: disable=too-many-public-methods
    """One emulated device: its pages, its queues, and the failures of their work."""

    copies_plainly = True

    queue: int = 0
    """The number of the queue of kernels, which all threads share."""

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space` with separate pages and queues."""
        super().__init__(space)
        self.pool = Pool()
        self._jobs: set[Any] = set()
        self._named = bool(current_emulation().order)
        self.kernels = DeviceQueue(f"{space.tag} kernels", self._jobs)
        self.queue = self.kernels.number
        self._last: QueueEvent | None = None
        self._into = DeviceQueue(f"{space.tag} copies in", self._jobs)
        self._out_of = DeviceQueue(f"{space.tag} copies out", self._jobs)
        self.note_care()

    def note_care(self) -> None:
        """Find out whether all accesses have to take their way through the queues."""
        if self._named or RACES.traces:
            self._jobs.add(_CAREFUL)
        else:
            self._jobs.discard(_CAREFUL)

    def kernel_queue(self) -> DeviceQueue:
        """Return the queue of kernels, which all threads share."""
        return self.kernels

    def copy_queue(self, *, into: bool) -> DeviceQueue:
        """Return the queue of one direction."""
        return self._into if into else self._out_of

    @property
    def jobs(self) -> Set[Any]:
        """Return the queues that the host does not know to be done."""
        return self._jobs

    @property
    def plain_pool(self) -> Pool | None:
        """Return the pool, where new memory may hold anything."""
        return None if current_emulation().strict else self.pool

    @property
    def use(self) -> PoolUse:
        """Return the state of the pool."""
        return self.pool.use

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return bytes of the device; in strict mode they hold the poison pattern."""
        allocation: Allocation = self.pool.piece(self.space, nbytes, alignment)
        if current_emulation().strict:
            _poison(host_pages(allocation), 0, nbytes)
        return allocation

    def adopt(self, array: EmulatedDeviceArray) -> tuple[Allocation, int]:
        """Adopt the memory of an array of this device, without a copy."""
        pages: np.ndarray[Any, Any] = on_device(array, self)
        low, high = np.lib.array_utils.byte_bounds(pages)
        nbytes = high - low if array.size else 0
        allocation = Allocation(self.space, low, nbytes, foreign_pages(low, nbytes, array))
        allocation.owner = array
        allocation.writable = pages.flags.writeable
        allocation.label = array.allocation.label
        return allocation, array.data.ptr - low

    def window(self, allocation: Allocation, spec: WindowSpec) -> EmulatedDeviceArray:
        """Return an array that refuses host use, also over memory of the host."""
        if allocation.space.host_accessible:
            allocation.lent = True
        return EmulatedDeviceArray(array_over(allocation, spec), self, allocation)

    def new_array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> EmulatedDeviceArray:
        """Return an array in new memory of the device."""
        spec = WindowSpec(dtype, shape)
        allocation = self.allocate(int(np.prod(shape)) * dtype.itemsize)
        return EmulatedDeviceArray(array_over(allocation, spec), self, allocation)

    def kernel_view(
        self, window: Any, writes: bool | None = None, span: Span | None = None
    ) -> np.ndarray[Any, Any]:
        """Return the NumPy array that an emulated kernel works on.

        That kernel runs at once, so that all work before it runs first.
        """
        pages: np.ndarray[Any, Any] = on_device(window, self)
        if isinstance(window, EmulatedDeviceArray):
            use = window.use(pages.flags.writeable if writes is None else writes)
            # The caller may write only a part there, so that the write mends nothing.
            use = (use if span is None else _clipped(use, span))._replace(packed=False)
            if self._jobs:
                self.launch("kernel", (use,), nothing)
                self.kernels.run_to(self.kernels.issued)
            _raise_failure((use,))
        return pages

    def later_view(self, window: Any) -> np.ndarray[Any, Any]:
        """Return the pages of a window, which only queued work may access."""
        pages: np.ndarray[Any, Any] = on_device(window, self)
        return pages

    def uses_of(
        self, window: Any, reads: bool, writes: bool, span: Span | None = None
    ) -> tuple[MemoryUse, ...]:
        """Return the uses of a window by a kernel, which need not write all of it."""
        use = window.use(writes)._replace(packed=False)
        use = use if span is None else _clipped(use, span)
        return (use._replace(wrote=False), use) if reads and writes else (use,)

    def start(self, work: Callable[[], Any], uses: tuple[MemoryUse, ...]) -> None:
        """Queue a kernel, which cannot be done again after an interrupt."""
        self.launch("kernel", uses, work, once=True)

    def start_and_wait(self, work: Callable[[], Any], uses: tuple[MemoryUse, ...]) -> Any:
        """Queue a kernel whose result is needed at once."""
        return self.launch_now(uses, work)

    def launch(
        self,
        what: str,
        uses: tuple[MemoryUse, ...],
        work: Callable[[], Any],
        nbytes: int = 0,
        *,
        once: bool = False,
    ) -> None:
        """Run `work` later, after all earlier submissions to the device.

        Work that runs `once` cannot be repeated after an interrupt.
        """
        work = as_asked(work)
        event = self._last = self.kernels.put(what, uses, work, _seconds_of(nbytes), once=once)
        if any(use.allocation.space.host_accessible for use in uses):
            # Memory that the host uses, too, and whose work is not tracked.
            event.synchronize()

    def launch_now(
        self, uses: tuple[MemoryUse, ...], work: Callable[[], Any], nbytes: int = 0
    ) -> Any:
        """Run `work` after all earlier submissions to the device, and return its result."""
        result: list[Any] = []
        failure: list[BaseException] = []
        work = as_asked(work)

        def attempt() -> None:
            try:
                result.append(work())
            except BaseException as error:
                failure.append(error)
                raise

        event = self.kernels.put("kernel", uses, attempt, _seconds_of(nbytes), once=True)
        event.synchronize()
        if failure:
            for use in uses:
                # The caller receives the error, and knows the intended writes.
                forget(use.allocation, failure[0])
            UNREPORTED.discard(failure[0])
            raise failure.pop()
        _raise_failure(uses)
        return result.pop()

    def finish(self) -> None:
        """Wait for all queues; raise their first failure, with the others as notes."""
        queues = (self.kernels, self._into, self._out_of)
        for queue in queues:
            queue.finish()
        first, *others = UNREPORTED.take({queue.number for queue in queues}) or (None,)
        for other in others:
            assert first is not None
            first.add_note(f"This failed, too: {other!r}")
        if first is not None:
            raise first

    def give_up(self, allocation: Allocation, span: Span | None) -> None:
        """Forget the failures in a span, after all earlier submissions."""
        if self._jobs:
            # Work of other threads outside of accesses is in the queue, too, without a note.
            self.follow(allocation, writes=True, span=span)
            self.kernels.put("end of values", (), lambda: give_up(allocation, span))
        else:
            give_up(allocation, span)

    def settle(self, allocation: Allocation, writes: bool, span: Span | None = None) -> None:
        """Let the host wait for pending work on memory of the device."""
        wait_on_host(allocation, writes, span)

    def follow(self, allocation: Allocation, writes: bool, span: Span | None = None) -> None:
        """Let kernels wait as on any device, and forget what is complete."""
        super().follow(allocation, writes, span)
        forget_ended(allocation)

    def record(self) -> QueueEvent | None:
        """Return the event of the kernels submitted so far, None if all are known complete."""
        if not self._jobs:
            return None
        last = self._last
        # If the clock is the same, no work was submitted after it, and no wait either.
        is_last = last is not None and last.clock is self.kernels.clock
        return last if is_last else self.kernels.record()

    @property
    def guards(self) -> bool:
        """Return whether `poison` overwrites stale values, as it does in strict mode."""
        return current_emulation().strict

    def poison(self, allocation: Allocation, span: tuple[int, int]) -> None:
        """Fill a span with signalling NaNs and the byte A5, in strict mode."""
        if not self.guards or allocation.external:
            return
        pages, (first, count) = host_pages(allocation), span
        forget_ended(allocation)
        if not (allocation.pending or self.kernels.done < self.kernels.issued):
            _poison(pages, first, count)
            return
        self.follow(allocation, writes=True, span=span)
        start = allocation.pointer + first
        uses = (MemoryUse(allocation, start, start + count, True),)
        try:
            self.launch("poison", uses, lambda: _poison(pages, first, count))
            self.note_use(allocation, wrote=True, span=span)
        except BaseException:
            self.kernels.finish()
            raise

    def submit_copy(
        self, queue: DeviceQueue, target: Allocation, source: Allocation, span: Span
    ) -> QueueEvent:
        """Queue a copy that takes the time of the emulated bus."""
        first, count = span
        here, there = (host_pages(end)[first : first + count] for end in (target, source))
        uses = (
            MemoryUse(source, source.pointer + first, source.pointer + first + count, False),
            MemoryUse(target, target.pointer + first, target.pointer + first + count, True),
        )
        return queue.put("copy", uses, lambda: np.copyto(here, there), _seconds_of(count))

    def is_peer(self, other: Memory) -> bool:
        """Return whether peer copies are enabled."""
        return isinstance(other, EmulatedDeviceMemory) and current_emulation().peers


def _note_care() -> None:
    for memory in tuple(DEVICES):
        if isinstance(memory, EmulatedDeviceMemory):
            memory.note_care()


on_tracing(_note_care)


def _seconds_of(nbytes: int) -> float:
    """Return the time that the emulated bus takes."""
    timing = current_emulation()
    if not nbytes:
        return 0.0
    return timing.latency + (nbytes / timing.bandwidth if timing.bandwidth else 0.0)


def _raise_failure(uses: tuple[MemoryUse, ...]) -> None:
    for use in uses:
        failure = failure_of(use)
        if failure is not None:
            UNREPORTED.discard(failure)
            raise failure


def _clipped(use: MemoryUse, span: Span) -> MemoryUse:
    """Return the part of a use that is in a span of its allocation."""
    first = use.allocation.pointer + span[0]
    return use._replace(start=max(use.start, first), stop=min(use.stop, first + span[1]))


def _poison(pages: np.ndarray[Any, np.dtype[np.uint8]], first: int, count: int) -> None:
    """Fill whole words of the allocation with the NaN pattern, and the rest with the byte."""
    start, end = first, first + count
    inner_start, inner_end = -(-start // 8) * 8, end // 8 * 8
    if inner_end <= inner_start:
        pages[start:end] = _POISON_BYTE
        return
    pages[start:inner_start] = _POISON_BYTE
    np.ndarray(((inner_end - inner_start) // 8,), np.uint64, pages, inner_start).fill(_POISON_WORD)
    pages[inner_end:end] = _POISON_BYTE
