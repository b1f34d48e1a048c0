"""Memories of a GPU: the only module of this subpackage that uses CuPy.

CuPy is imported on the first query for a device, never on import of this module. The test for a
device is `cupy.cuda.is_available()`, because CuPy can be imported on machines without a driver.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.layout import byte_extent
from psyclone_storage.storage.core.native import Lane
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, device_space
from psyclone_storage.storage.memory.base import Memory, array_over, host_pages
from psyclone_storage.storage.memory.device_driver import DeviceMemory
from psyclone_storage.storage.memory.host import HostMemory
from psyclone_storage.storage.memory.pending_work import LastUse, Span, note
from psyclone_storage.storage.memory.pools import ALIGNMENT, PoolUse


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


class StreamQueue(NamedTuple):
    """A stream of a GPU as a queue of the driver."""

    number: int
    stream: Any

    @property
    def key(self) -> tuple[int, int]:
        """Return the device and the handle of the stream."""
        return self.number, self.stream.ptr

    def record(self) -> Any:
        """Return the event of all work in the stream; its device is the current one."""
        return self.stream.record(_cupy().cuda.Event(disable_timing=True))

    def wait_event(self, event: Any) -> None:
        """Let later work wait for an event, which is recorded now if it was not yet."""
        self.stream.wait_event(event.record() if isinstance(event, _LateEvent) else event)

    def finish(self) -> None:
        """Let the host wait for the stream."""
        self.stream.synchronize()


class GpuAllocator(DeviceMemory):  # pylint: disable=too-many-public-methods
    """One GPU: its memory from the pool of CuPy, its streams, and its events."""

    has_current = True

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`, with two streams for copies."""
        super().__init__(space)
        self._ledger = _Ledger()
        self._own = _OwnStreams()
        self._lane = _default_lane(space.device_id or 0)

    @property
    def lane(self) -> Lane:
        """Return the default stream of the device."""
        return self._lane

    def kernel_queue(self) -> StreamQueue:
        """Return the current stream of this thread."""
        return StreamQueue(self._number, _cupy().cuda.get_current_stream(self._number))

    def copy_queue(self, *, into: bool) -> StreamQueue:
        """Return the stream of one direction."""
        return StreamQueue(self._number, self._own.of(into=into))

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
        super().note_use(allocation, True)
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
                super().follow(allocation, writes, span)

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
            super().note_use(allocation, wrote, span)

    def keep(self, queue: StreamQueue, event: Any, ends: tuple[Allocation, ...]) -> None:
        """Keep memory from reuse, except work of the default stream, from whose pool it comes."""
        # Pageable memory is done with when the call returns.
        kept = tuple(end.held for end in ends if end.space.kind is not SpaceKind.HOST)
        if queue.stream.ptr and kept:
            self._own.keep(event, kept)

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
            return self.kernel_queue().record()

    @property
    def _number(self) -> int:
        return self.space.device_id or 0

    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window, and wait: exported arrays are used in any stream."""
        super().fill(allocation, spec, value)
        self.kernel_queue().finish()

    def is_peer(self, other: Memory) -> bool:
        """Return whether the other device is a GPU of this machine."""
        return isinstance(other, GpuAllocator)

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

    def submit_copy(
        self, queue: StreamQueue, target: Allocation, source: Allocation, span: Span
    ) -> Any:
        """Submit an asynchronous copy."""
        runtime = _cupy().cuda.runtime
        first, count = span
        runtime.memcpyAsync(
            target.pointer + first,
            source.pointer + first,
            count,
            runtime.memcpyDefault,
            queue.stream.ptr,
        )
        return queue.record()

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


class _CupyHostMemory(HostMemory):
    """Host memory that CuPy allocates and that GPUs may use."""

    copies_plainly = False

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`."""
        super().__init__(space)
        self._ledger = _Ledger()

    @property
    def use(self) -> PoolUse:
        """Return the bytes handed out; those that CuPy caches for reuse are unknown."""
        return self._ledger.use


class PinnedAllocator(_CupyHostMemory):
    """Page-locked host memory, which a GPU may use directly and copies fast from."""

    page_locked = True

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


class ManagedAllocator(_CupyHostMemory):
    """Unified memory: one allocation that the driver moves between host and GPU."""

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
