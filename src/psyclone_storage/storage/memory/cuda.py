"""Memories of a GPU: the only module of this subpackage that uses CuPy.

CuPy is imported on the first query for a device, never on import of this module. The test for a
device is `cupy.cuda.is_available()`, because CuPy can be imported on machines without a driver.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.layout import byte_extent
from psyclone_storage.storage.core.native import Lane
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, device_space
from psyclone_storage.storage.memory.base import Memory, array_over, host_pages
from psyclone_storage.storage.memory.host import HostMemory
from psyclone_storage.storage.memory.pending_work import LastUse, Span, note, waited_for
from psyclone_storage.storage.memory.pools import ALIGNMENT, PoolUse
from psyclone_storage.storage.memory.stream import Stream


def is_available() -> bool:
    """Return whether there is a GPU that CuPy can use."""
    try:
        return bool(_cupy().cuda.is_available())
    except ImportError:
        return False


def device_count() -> int:
    """Return the number of GPUs."""
    return int(_cupy().cuda.runtime.getDeviceCount())


def raw_module(text: str) -> Any:
    """Return CUDA kernels, compiled from `text` with the rounding modes that it requires."""
    return _cupy().RawModule(code=text, options=("--fmad=false",))


def room_for_numbers(count: int) -> Any:
    """Allocate an array on the device for `count` numbers of 8 bytes."""
    return _cupy().zeros((count,), "u8")


def copied_to_device(values: Any) -> Any:
    """Return a copy of an array on the device."""
    return _cupy().asarray(values, order="F")


class GpuAllocator(Memory):
    """Allocation on one GPU through the pool of CuPy."""

    has_current = True
    queues_work = True

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`; a helper thread waits for the ends of asynchronous copies."""
        super().__init__(space)
        self._queue = Stream(space.tag)
        self._ledger = _Ledger()
        self._own = _OwnStreams()
        self._lane = _default_lane(space.device_id or 0)

    @property
    def lane(self) -> Lane:
        """Return the default stream of the device."""
        return self._lane

    @property
    def stream(self) -> Stream:
        """Return the queue that orders asynchronous work."""
        return self._queue

    @property
    def use(self) -> PoolUse:
        """Return the bytes handed out, and those that the pool of CuPy caches on this device."""
        pool = _cupy().get_default_memory_pool()
        self._own.let_go()
        with self._device():
            return self._ledger.use._replace(cached=pool.free_bytes())

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return bytes of the device; CuPy aligns to 512, more is had by allocating more."""
        extra = alignment if 512 % alignment else 0
        self._own.let_go()
        with self._device():
            pointer = _cupy().cuda.alloc(max(nbytes + extra, 1))
        pointer = pointer + (-pointer.ptr % alignment)
        self._ledger.charge(pointer.mem, nbytes)
        allocation = Allocation(self.space, pointer.ptr, nbytes, pointer)
        # Work on the old contents may still run, in the stream whose pool provides the memory.
        self._note_now(allocation, True, None)
        return allocation

    def adopt(self, array: Any) -> tuple[Allocation, int]:
        """Adopt the memory of a CuPy array, or of one that CuPy can wrap, without a copy."""
        with self._device():
            wrapped = _cupy().asarray(array)
        if wrapped.device.id != (self.space.device_id or 0):
            raise MemoryException(
                f"An array of GPU {wrapped.device.id} cannot be taken as memory at "
                f"{self.space.tag}: name its own device, or copy it first."
            )
        start = int(wrapped.data.ptr)
        low, high = byte_extent(wrapped.shape, wrapped.strides, wrapped.itemsize)
        memory = _cupy().cuda.UnownedMemory(
            start + low, high - low, wrapped, self.space.device_id or 0
        )
        pointer = _cupy().cuda.MemoryPointer(memory, 0)
        allocation = Allocation(self.space, start + low, high - low, pointer)
        allocation.owner = array
        return allocation, -low

    def space_at(self, address: int) -> MemorySpace:
        """Return the space of the GPU that an address is of, this one for none."""
        if not address:
            return self.space
        number = _cupy().cuda.runtime.pointerGetAttributes(address).device
        return device_space(number) if number >= 0 else self.space

    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a CuPy array, also over page-locked and managed memory."""
        if allocation.space.host_accessible:
            allocation.lent = True
        pointer = _device_pointer(allocation, self.space.device_id or 0)
        with self._device():
            return _cupy().ndarray(spec.shape, spec.dtype, pointer + spec.offset, spec.strides)

    def kernel_view(self, window: Any, writes: bool | None = None, span: Span | None = None) -> Any:
        """Return the CuPy array itself."""
        return window

    def follow(self, allocation: Allocation, writes: bool, span: Span | None = None) -> None:
        """Let the current stream wait for the events of other streams.

        The event of earlier work in the default stream is recorded now if that work used other
        memory: its users need not wait for what comes next.
        """
        notes = self._lane.notes
        if notes is not None:
            event = notes[0][0].event
            if all(use.event is not event for use in allocation.pending):
                event.record()
        self._follow(allocation, writes, span)

    def _follow(self, allocation: Allocation, writes: bool, span: Span | None) -> None:
        queue = self._lane.queue if self._is_default() else None
        if any(use.stream != queue for use in allocation.pending):
            with self._device():
                stream = _cupy().cuda.get_current_stream()
                _wait_in(stream, self._number, allocation, writes, span)

    def note_use(self, allocation: Allocation, wrote: bool, span: Span | None = None) -> None:
        """Record that the current stream uses memory.

        A writer has waited for all earlier work, so that its event replaces the earlier events. The
        event of the default stream is recorded when some work has to wait for it.
        """
        if self._is_default():
            self._follow(allocation, wrote, span)
            notes = self._lane.notes or _new_notes(self._lane, self._number)
            (use,) = notes[wrote]
            note(allocation, use if span is None else use._replace(span=span, follows=False))
        else:
            self._note_now(allocation, wrote, span)

    def _note_now(self, allocation: Allocation, wrote: bool, span: Span | None) -> None:
        with self._device():
            stream = _cupy().cuda.get_current_stream()
            event = stream.record(_cupy().cuda.Event(disable_timing=True))
        note(allocation, LastUse((self._number, stream.ptr), event, wrote, span))
        if stream.ptr:
            self._own.keep(event, (allocation.held,))

    @property
    def queue(self) -> tuple[int, int] | None:
        """Return the current stream, if it is the default one.

        Memory that other streams use is protected from reuse for each allocation separately.
        """
        if not self._is_default():
            return None
        if self._lane.notes is not None:
            # Users of the data of earlier blocks need not wait for the work of the next one.
            self._lane.notes[0][0].event.record()
        found: tuple[int, int] = self._lane.queue
        return found

    def _is_default(self) -> bool:
        return not _cupy().cuda.get_current_stream(self._number).ptr

    def record(self) -> Any:
        """Return an event in the current stream."""
        with self._device():
            stream = _cupy().cuda.get_current_stream()
            return stream.record(_cupy().cuda.Event(disable_timing=True))

    @property
    def _number(self) -> int:
        return self.space.device_id or 0

    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`, on the device."""
        with self._device():
            self.follow(allocation, writes=True, span=spec.span)
            self.window(allocation, spec).fill(value)
            _cupy().cuda.get_current_stream().synchronize()

    def can_copy_from(self, source: Memory) -> bool:
        """Return True for memories that the host can use, and for other GPUs of this machine."""
        return source.space.host_accessible or isinstance(source, GpuAllocator)

    def can_copy_to(self, target: Memory) -> bool:
        """Return True for memories that the host can use."""
        return target.space.host_accessible

    def memcpy_from(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Fetch a span and wait for it."""
        _finish(self._copy(target, source, span))

    def memcpy_to(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Send a span and wait for it."""
        _finish(self._copy(target, source, span))

    def fetch(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Fetch a span: users of either end follow the copy, and the host proceeds."""
        event = self._copy(target, source, span)
        if not source.watched:
            _finish(event)

    def bound(self) -> Any:
        """Return the block in which this GPU is the current one of CuPy."""
        return self._device()

    @property
    def stream_handle(self) -> int | None:
        """Return the stream that this thread's work for this GPU goes to; 1 is the null stream."""
        return _cupy().cuda.get_current_stream(self.space.device_id or 0).ptr or 1

    def run(self, work: Any, *args: Any) -> Any:
        """Do `work(*args)` in the calling thread: CuPy orders it with the copies."""
        with self._device():
            return work(*args)

    def _copy(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> Any:
        """Put a copy in the stream of its direction; return the event of its end.

        It overtakes no use of either end, but all other work: kernels continue meanwhile.
        """
        runtime = _cupy().cuda.runtime
        first, count = span
        with self._device():
            current = _cupy().cuda.get_current_stream()
            stream = self._own.of(into=target.space is self.space)
            if not (target.watched and source.watched):
                _wait_for_guests(stream, current)
                _wait_for_work_at(source.space, stream)
            _wait_in(stream, self._number, source, writes=False, span=span)
            _wait_in(stream, self._number, target, writes=True, span=span)
            try:
                runtime.memcpyAsync(
                    target.pointer + first,
                    source.pointer + first,
                    count,
                    runtime.memcpyDefault,
                    stream.ptr,
                )
                return self._noted(stream, target, source, span)
            except BaseException:
                # After an interrupt no event is known that keeps the memory until the copy ends.
                stream.synchronize()
                raise

    def _noted(self, stream: Any, target: Allocation, source: Allocation, span: Span) -> Any:
        """Return the event of a copy that is queued in `stream`, noted at both ends."""
        event = stream.record(_cupy().cuda.Event(disable_timing=True))
        here = (self._number, stream.ptr)
        note(source, LastUse(here, event, wrote=False, span=span))
        note(target, LastUse(here, event, wrote=True, span=span))
        # Pageable memory is done with when the call returns.
        ends = [end for end in (target, source) if end.space.kind is not SpaceKind.HOST]
        self._own.keep(event, tuple(end.held for end in ends))
        return event

    def _device(self) -> Any:
        return _cupy().cuda.Device(self.space.device_id or 0)


class _LateEvent:
    """The end of work in the default stream, whose event is recorded when some work waits for it.

    It may include later work on the same memory. Later work on other memory records it first.
    """

    __slots__ = ("_lane", "_number", "_event")

    def __init__(self, lane: Lane, number: int) -> None:
        """Start without an event in the stream of GPU `number`."""
        self._lane = lane
        self._number = number
        self._event: Any = None

    def record(self) -> Any:
        """Return the event; work that ends from now on needs another one."""
        if self._event is None:
            notes = self._lane.notes
            if notes is not None and notes[0][0].event is self:
                self._lane.notes = None
            with _cupy().cuda.Device(self._number):
                self._event = self._lane.stream.record(_cupy().cuda.Event(disable_timing=True))
        return self._event

    @property
    def done(self) -> bool:
        """Return whether the stream got there."""
        return bool(self.record().done)

    def synchronize(self) -> None:
        """Let the host wait until the stream gets there."""
        self.record().synchronize()


def _default_lane(number: int) -> Lane:
    cuda = _cupy().cuda

    def renew() -> None:
        if lane.notes is not None:
            lane.notes[0][0].event.record()
        _new_notes(lane, number)

    place = cuda.runtime.getDevice if device_count() > 1 else None
    lane = Lane(
        current=cuda.get_current_stream,
        place=place,
        number=number,
        stream=cuda.Stream.null,
        queue=(number, 0),
        renew=renew,
    )
    return lane


def _new_notes(lane: Lane, number: int) -> tuple[tuple[LastUse], tuple[LastUse]]:
    """Return notes on uses that end from now on, until their event is recorded."""
    read = LastUse(lane.queue, _LateEvent(lane, number), wrote=False, follows=True)
    notes = lane.notes = (read,), (read._replace(wrote=True),)
    return notes


def _event_of(use: LastUse) -> Any:
    event = use.event
    return event.record() if isinstance(event, _LateEvent) else event


class _OwnStreams:
    """The streams that copies have of their own, and memory that streams are still at."""

    def __init__(self) -> None:
        self._streams: dict[bool, Any] = {}
        self._under_way: deque[tuple[Any, tuple[Any, ...]]] = deque()
        # Only one thread at a time tests an event and removes its entry.
        self._lock = FORKS.guard(threading.RLock(), Rank.LEAF)

    def of(self, *, into: bool) -> Any:
        """Return the stream of copies into the current device, or out of it."""
        found = self._streams.get(into)
        if found is None:
            made = _cupy().cuda.Stream(non_blocking=True)
            found = self._streams.setdefault(into, made)
        return found

    def keep(self, event: Any, blocks: tuple[Any, ...]) -> None:
        """Keep memory from being used for other things before `event`."""
        self._under_way.append((event, blocks))
        self.let_go()

    def let_go(self) -> None:
        """Free the memory that streams no longer use, after the lock is released."""
        ended = []
        with self._lock:
            while self._under_way and self._under_way[0][0].done:
                ended.append(self._under_way.popleft())


def _finish(event: Any) -> None:
    """Let the host wait for the end of a copy."""
    event.synchronize()


def _wait_for_guests(stream: Any, current: Any) -> None:
    """Let a copy wait for the untracked work that this thread has submitted to the device."""
    stream.wait_event(current.record(_cupy().cuda.Event(disable_timing=True)))


def _wait_in(
    stream: Any, number: int, allocation: Allocation, writes: bool, span: Span | None = None
) -> None:
    """Let a stream of GPU `number` wait for uses of memory that it may not overtake."""
    for use in waited_for(allocation, writes=writes, span=span):
        if use.stream != (number, stream.ptr):
            stream.wait_event(_event_of(use))


class _Ledger:
    """A count of bytes from the creation to the end of the object that owns them."""

    def __init__(self) -> None:
        self.in_use = 0
        self.high_water = 0
        self._lock = FORKS.guard(threading.RLock(), Rank.LEAF)

    @property
    def use(self) -> PoolUse:
        """Return the sums as a report."""
        return PoolUse(self.in_use, 0, self.high_water)

    def charge(self, holder: object, nbytes: int) -> None:
        """Count `nbytes` until `holder` is gone."""
        with self._lock:
            self.in_use += nbytes
            self.high_water = max(self.high_water, self.in_use)
        weakref.finalize(holder, self._credit, nbytes).atexit = False

    def _credit(self, nbytes: int) -> None:
        with self._lock:
            self.in_use -= nbytes


class PinnedAllocator(HostMemory):
    """Page-locked host memory, which a GPU may use directly and copies fast from."""

    page_locked = True
    copies_plainly = False

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`, with CuPy allocating."""
        super().__init__(space)
        self._ledger = _Ledger()

    @property
    def use(self) -> PoolUse:
        """Return the bytes handed out; those that CuPy caches for reuse are unknown."""
        return self._ledger.use

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return page-locked bytes from the pool of CuPy."""
        pointer = _cupy().cuda.alloc_pinned_memory(max(nbytes + alignment, 1))
        shift = -pointer.ptr % alignment
        pages = np.frombuffer(pointer, np.uint8, nbytes, shift)
        self._ledger.charge(pages, nbytes)
        return Allocation(self.space, pointer.ptr + shift, nbytes, pages)

    def settle(self, allocation: Allocation, writes: bool, span: Span | None = None) -> None:
        """Wait for copies, and for all GPUs where one may use this memory without a copy."""
        super().settle(allocation, writes, span)
        if allocation.lent:
            _wait_for_all()


class ManagedAllocator(HostMemory):
    """Unified memory: one allocation that the driver moves between host and GPU."""

    copies_plainly = False

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`, with CuPy allocating."""
        super().__init__(space)
        self._ledger = _Ledger()

    @property
    def use(self) -> PoolUse:
        """Return the bytes handed out; those that CuPy caches for reuse are unknown."""
        return self._ledger.use

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return unified bytes; NumPy arrays over them keep the CuPy pointer alive."""
        pointer = _cupy().cuda.malloc_managed(max(nbytes + alignment, 1))
        shift = -pointer.ptr % alignment
        adopted = self.adopt_pointer(pointer.ptr + shift, nbytes, pointer)
        self._ledger.charge(adopted.held, nbytes)
        return Allocation(self.space, adopted.pointer, nbytes, adopted.held)

    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a NumPy array after the GPU has finished, as both may not touch it at once."""
        self.settle(allocation, spec.writable)
        return array_over(allocation, spec)

    def settle(self, allocation: Allocation, writes: bool, span: Span | None = None) -> None:
        """Wait until all GPUs have finished, as they and the host may not touch it at once."""
        _wait_for_all()


def _wait_for_work_at(space: MemorySpace, stream: Any) -> None:
    """Let a copy wait for the work of this thread on the device of its source, if it is one."""
    if space.device_id is not None:
        with _cupy().cuda.Device(space.device_id):
            event = _cupy().cuda.get_current_stream().record()
        stream.wait_event(event)


def _wait_for_all() -> None:
    for number in range(device_count()):
        _cupy().cuda.Device(number).synchronize()


def _device_pointer(allocation: Allocation, device_id: int) -> Any:
    if not allocation.space.host_accessible:
        return allocation.held
    memory = _cupy().cuda.UnownedMemory(
        allocation.pointer, allocation.capacity, host_pages(allocation), device_id
    )
    return _cupy().cuda.MemoryPointer(memory, 0)


def _cupy() -> Any:
    import cupy  # noqa: PLC0415 - the deferral that the house allows

    return cupy
