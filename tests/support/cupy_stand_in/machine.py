"""The devices of the stand-in for CuPy: addresses, pages, streams and events.

The memory of a device has addresses that nothing can read or write: a range that is reserved and
protected, so that host code that dereferences a device pointer crashes reliably. The contents are
in other pages, which only this package uses.

A stream is a queue whose operations execute as late as possible: when a caller waits for them, and
never further than that wait requires. Code that reads without the wait that CUDA requires reads old
values, every time. The rules are those of NVIDIA's "CUDA Runtime API" (stream synchronization
behaviour, API synchronization behaviour):

- the null stream of a device waits for all its blocking streams, and they wait for it; non-blocking
  streams do not take part;
- work goes to a stream of the current device, copies may go to any;
- copies from pageable host memory end before the call returns as far as that memory is concerned,
  copies to it end completely; those from and to page-locked memory end when their stream reaches
  them.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import threading
import time
import weakref
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from cupy_stand_in import races

LOCK = threading.RLock()
UNIT = 512
"""CUDA's addresses are multiples of it, and so are the sizes of CuPy's pool."""

CAPACITY = 1 << 30
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_GARBAGE = 0x5B

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class CUDARuntimeError(RuntimeError):
    """Be an error of the CUDA runtime, with its name."""

    def __init__(self, status: str, what: str = "") -> None:
        self.status = status
        super().__init__(f"{status}: {what}")


class OutOfMemoryError(MemoryError):
    """Be the error of a pool whose device has no more memory."""


class Wait(NamedTuple):
    """Be what a piece of work waits for: all that a queue holds up to a position."""

    queue: Queue
    position: int

    def fulfil(self) -> None:
        """Do the work that is waited for."""
        self.queue.run_to(self.position)

    def wait(self) -> None:
        """Let the host wait for the work."""
        self.fulfil()
        self.learn()

    def learn(self) -> None:
        """Let the host know that the work is done."""
        races.learn(self.queue.clock_at(self.position))


class Queue:
    """Be the work of one stream, in order; position n is reached when n pieces are done."""

    def __init__(self, board: Board, handle: int, blocking: bool = True) -> None:
        self.board = board
        self.handle = handle
        self.blocking = blocking
        self.retired = False
        self.issued = 0
        self.done = 0
        self._jobs: deque[tuple[Callable[[], None], tuple[Wait, ...]]] = deque()
        self._clocks: dict[int, races.Clock] = {}

    def put(
        self, work: Callable[[], None], *waits: Wait, what: str = "", uses: Sequence[Any] = ()
    ) -> Wait:
        """Add work that is done after `waits`; return how to wait for it.

        `uses` are the bytes that it uses: where, how many, and whether they are written.
        """
        with LOCK:
            before = (*self._implied(), *waits)
            if races.WATCH.trace is not None:
                clocks = [wait.queue.clock_at(wait.position) for wait in before]
                clocks.append(self.clock_at(self.issued))
                agent, place = id(self), self.issued + 1
                self._clocks[place] = races.put(what, agent, place, clocks, uses)
            self._jobs.append((work, before))
            self.issued += 1
            return Wait(self, self.issued)

    def clock_at(self, position: int) -> races.Clock:
        """Return what comes before a position, that itself included."""
        return self._clocks.get(position) or {id(self): position}

    def run_to(self, position: int) -> None:
        """Do the work up to `position`, and what it waits for, and nothing else."""
        with LOCK:
            while self.done < position:
                work, waits = self._jobs.popleft()
                try:
                    for wait in waits:
                        wait.fulfil()
                    work()
                finally:
                    self.done += 1

    def run_one(self) -> None:
        """Do one piece of work, as whoever asks again and again sees some progress.

        Where races are looked for, nobody is lucky.
        """
        if self.done < self.issued and races.WATCH.trace is None:
            self.run_to(self.done + 1)

    def synchronize(self) -> None:
        """Do all the work, and for the null stream that of all it waits for."""
        with LOCK:
            for wait in (*self._implied(), Wait(self, self.issued)):
                wait.wait()

    def _implied(self) -> list[Wait]:
        null = self.board.null
        if self is null:
            others = [queue for queue in self.board.queues if queue.blocking and queue is not null]
            return [Wait(queue, queue.issued) for queue in others]
        return [Wait(null, null.issued)] if self.blocking else []


class Board:
    """Be one device: its addresses, its pages, its streams."""

    def __init__(self, device_id: int, capacity: int) -> None:
        self.id = device_id
        self.capacity = capacity
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
        self._reserved = mmap.mmap(-1, capacity, flags=private, prot=mmap.PROT_READ)
        self.base = _address_of(self._reserved)
        _protect(self.base, capacity)
        self.pages: Bytes = np.frombuffer(mmap.mmap(-1, capacity, flags=private), np.uint8)
        self.queues: list[Queue] = []
        self.null = Queue(self, 0)
        self.queues.append(self.null)
        self._next = 0
        self._free: dict[int, list[int]] = {}

    def reserve(self, size: int) -> int:
        """Return the address of `size` bytes, as cudaMalloc; raise `OutOfMemoryError`."""
        with LOCK:
            kept = self._free.get(size)
            if kept:
                return kept.pop()
            if self._next + size > self.capacity:
                raise OutOfMemoryError(f"{size} B are not to be had on device {self.id}.")
            address = self.base + self._next
            self._next += -(-size // UNIT) * UNIT
            return address

    @property
    def reserved(self) -> int:
        """Return how many bytes are taken."""
        return self._next - sum(size * len(kept) for size, kept in self._free.items())

    def give_back(self, address: int, size: int) -> None:
        """Free what `reserve` returned."""
        with LOCK:
            self._free.setdefault(size, []).append(address)

    def at(self, address: int, size: int) -> Bytes:
        """Return the pages behind a range of addresses."""
        first = address - self.base
        return self.pages[first : first + size]

    def owns(self, address: int) -> bool:
        """Say whether an address is of this device."""
        return self.base <= address < self.base + self.capacity

    def synchronize(self) -> None:
        """Do the work of all streams."""
        with LOCK:
            for queue in tuple(self.queues):
                queue.synchronize()
            self.queues = [queue for queue in self.queues if not queue.retired]


class HostRange(NamedTuple):
    """Be host memory that the devices know: page-locked or managed, and where it is."""

    start: int
    kind: str
    pages: Bytes
    device_id: int


class _Thread(threading.local):
    """The current device of each thread, and its current streams by device, None for the null one.

    `stream` is that of the current device.
    """

    def __init__(self) -> None:
        self.device = 0
        self.stream: Any = None
        self.streams: dict[int, Any] = {}

    def select(self, device: int) -> None:
        """Make a device current."""
        self.device = device
        self.stream = self.streams.get(device)

    def use(self, device: int, stream: Any) -> None:
        """Make a stream the current one of a device."""
        self.streams[device] = stream
        self.select(self.device)


class _Machine:
    """Keep the devices and the host memory that they know."""

    def __init__(self) -> None:
        self.boards: list[Board] = []
        self.queues: dict[int, Queue] = {}
        self.handles = itertools.count(0x5EED00, 0x10)
        self.hosts: dict[int, HostRange] = {}
        self.starts: list[int] = []
        self.thread = _Thread()


MACHINE = _Machine()


def reset(count: int, capacity: int = CAPACITY) -> None:
    """Start with `count` fresh devices, device 0 current, and nothing queued."""
    with LOCK:
        MACHINE.boards = [Board(number, capacity) for number in range(count)]
        MACHINE.queues.clear()
        MACHINE.thread = _Thread()


def board_of(device_id: int) -> Board:
    """Return a device; raise for one that is not there."""
    if not 0 <= device_id < len(MACHINE.boards):
        raise CUDARuntimeError("cudaErrorInvalidDevice", "invalid device ordinal")
    return MACHINE.boards[device_id]


def current_id() -> int:
    """Return the number of the device that is current in this thread."""
    return MACHINE.thread.device


def make_current(device_id: int) -> None:
    """Make a device current in this thread."""
    board_of(device_id)
    MACHINE.thread.select(device_id)


@contextmanager
def device_block(device_id: int) -> Iterator[None]:
    """Make a device current for a block."""
    before = current_id()
    make_current(device_id)
    try:
        yield
    finally:
        MACHINE.thread.select(before)


def new_queue(blocking: bool) -> Queue:
    """Make a stream of the current device."""
    with LOCK:
        board = board_of(current_id())
        queue = Queue(board, next(MACHINE.handles), blocking)
        board.queues.append(queue)
        MACHINE.queues[queue.handle] = queue
        return queue


def retire_queue(queue: Queue) -> None:
    """Destroy a stream: what is queued is done all the same, some time."""
    with LOCK:
        queue.retired = True
        MACHINE.queues.pop(queue.handle, None)
        if queue.done == queue.issued and queue in queue.board.queues:
            queue.board.queues.remove(queue)


def queue_of(handle: int) -> Queue:
    """Return the stream behind a handle; 0 and 1 are the null stream of the current device."""
    if handle in (0, 1):
        return board_of(current_id()).null
    with LOCK:
        found = MACHINE.queues.get(handle)
    if found is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", f"no stream {handle:#x}")
    return found


def launch_queue(handle: int) -> Queue:
    """Return the stream that takes kernels: it must be of the current device."""
    queue = queue_of(handle)
    if queue.board.id != current_id():
        raise CUDARuntimeError(
            "cudaErrorInvalidResourceHandle",
            f"a kernel for device {current_id()} went to a stream of device {queue.board.id}",
        )
    return queue


class Mark:
    """Be an event: a place in a stream, and the time when the stream got there."""

    def __init__(self) -> None:
        self.wait: Wait | None = None
        self.time: float | None = None

    def record(self, queue: Queue) -> None:
        """Mark the place that the stream has got to with all that was given to it."""
        self.time = None
        self.wait = queue.put(self._stamp)

    @property
    def done(self) -> bool:
        """Say whether the stream got there."""
        done = self.wait is None or self.wait.queue.done >= self.wait.position
        if done and self.wait is not None:
            self.wait.learn()
        return done

    def synchronize(self) -> None:
        """Wait until the stream gets there; an event that was never recorded is done."""
        if self.wait is not None:
            self.wait.wait()

    def _stamp(self) -> None:
        self.time = time.perf_counter()


# -- memory ----------------------------------------------------------------------------------------


def scribble(pages: Bytes) -> Callable[[], None]:
    """Return work that leaves in pages what nobody can take for values."""
    return lambda: pages.fill(_GARBAGE)


def host_range(size: int, kind: str, device_id: int) -> HostRange:
    """Return new host memory that the devices know; it is forgotten with `forget`."""
    pages: Bytes = np.frombuffer(mmap.mmap(-1, max(size, 1)), np.uint8)
    start = pages.__array_interface__["data"][0]
    found = HostRange(start, kind, pages, device_id)
    with LOCK:
        MACHINE.hosts[start] = found
        MACHINE.starts = sorted(MACHINE.hosts)
    return found


def forget(found: HostRange) -> None:
    """Free host memory that the devices know."""
    with LOCK:
        MACHINE.hosts.pop(found.start, None)
        MACHINE.starts = sorted(MACHINE.hosts)


def find_host(address: int) -> HostRange | None:
    """Return the known host memory that an address is in."""
    with LOCK:
        place = bisect_right(MACHINE.starts, address) - 1
        found = MACHINE.hosts[MACHINE.starts[place]] if place >= 0 else None
    inside = found is not None and address < found.start + max(found.pages.nbytes, 1)
    return found if inside else None


def find_board(address: int) -> Board | None:
    """Return the device that an address is of."""
    return next((board for board in MACHINE.boards if board.owns(address)), None)


def device_of_pointer(address: int) -> int:
    """Return the device that a pointer is of, as cudaPointerGetAttributes says it."""
    board = find_board(address)
    if board is not None:
        return board.id
    host = find_host(address)
    if host is None:
        raise CUDARuntimeError("cudaErrorInvalidValue", f"{address:#x} is of no device")
    return host.device_id


def pages_at(address: int, size: int) -> Bytes:
    """Return what a kernel finds at an address: a device's memory or host memory that it knows."""
    board = find_board(address)
    if board is not None:
        return board.at(address, size)
    host = find_host(address)
    if host is None:
        if size == 0:
            return np.empty(0, np.uint8)
        raise CUDARuntimeError("cudaErrorIllegalAddress", f"{address:#x} is of no device")
    return host.pages[address - host.start : address - host.start + size]


def copy_async(target: int, source: int, size: int, queue: Queue) -> None:
    """Copy bytes in a stream, as cudaMemcpyAsync between any two places."""
    if size == 0:
        return
    from_pageable, to_pageable = _is_pageable(source), _is_pageable(target)
    if from_pageable:
        queue.synchronize()
        values = _raw(source, size).copy()
    else:
        values = pages_at(source, size)
    goal = _raw(target, size) if to_pageable else pages_at(target, size)
    done = queue.put(
        lambda: np.copyto(goal, values),
        what="copy",
        uses=((source, 0 if from_pageable else size, False), (target, size, True)),
    )
    if to_pageable or _is_managed(source) or _is_managed(target):
        done.wait()


def _is_pageable(address: int) -> bool:
    return find_board(address) is None and find_host(address) is None


def _is_managed(address: int) -> bool:
    found = find_host(address)
    return found is not None and found.kind == "managed"


def _raw(address: int, size: int) -> Bytes:
    block = (ctypes.c_ubyte * size).from_address(address)
    return np.frombuffer(block, np.uint8)


def _address_of(block: mmap.mmap) -> int:
    return int(np.frombuffer(block, np.uint8).__array_interface__["data"][0])


def _protect(address: int, size: int) -> None:
    """Let nobody read or write a range of addresses."""
    system = ctypes.CDLL(None, use_errno=True)
    nobody = 0
    arguments = ctypes.c_void_p(address), ctypes.c_size_t(size), nobody
    if system.mprotect(*arguments):
        raise OSError(ctypes.get_errno(), "the addresses of a device cannot be protected")


def on_end(owner: object, work: Callable[..., None], *args: Any) -> None:
    """Do `work(*args)` when `owner` is gone."""
    weakref.finalize(owner, work, *args).atexit = False
