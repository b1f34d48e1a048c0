"""Own `Device`, `Stream` and `Event` of the stand-in, as the reference of CuPy describes them.

Sources: "CuPy API reference", cupy.cuda.Device, Stream, ExternalStream, Event, get_current_stream;
user guide, "Basics of CuPy" (current device and current stream are of a thread).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from cupy_stand_in import machine
from cupy_stand_in.machine import MACHINE, CUDARuntimeError, Mark


class Device:
    """Be a device, and the block in which it is the current one of this thread."""

    def __init__(self, device: int | Device | None = None) -> None:
        given = device.id if isinstance(device, Device) else device
        self.id = machine.current_id() if given is None else int(given)
        self._before: list[int] = []

    def __enter__(self) -> Device:
        self._before.append(machine.current_id())
        machine.make_current(self.id)
        return self

    def __exit__(self, *_: object) -> None:
        machine.make_current(self._before.pop())

    def use(self) -> None:
        machine.make_current(self.id)

    def synchronize(self) -> None:
        machine.board_of(self.id).synchronize()

    @property
    def mem_info(self) -> tuple[int, int]:
        board = machine.board_of(self.id)
        return board.capacity - board.reserved, board.capacity

    @property
    def attributes(self) -> dict[str, int]:
        return {"ConcurrentManagedAccess": 1}

    @property
    def compute_capability(self) -> str:
        return "00"

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


class _Stream:
    """Be what all kinds of streams can do."""

    ptr: int
    device_id: int

    def _queue(self) -> machine.Queue:
        return machine.queue_of(self.ptr)

    @property
    def done(self) -> bool:
        queue = self._queue()
        queue.run_one()
        return queue.done == queue.issued

    def synchronize(self) -> None:
        self._queue().synchronize()

    def record(self, event: Event | None = None) -> Event:
        recorded = Event() if event is None else event
        recorded.record(self)
        return recorded

    def wait_event(self, event: Event) -> None:
        waited = event.mark.wait
        if waited is not None:
            self._queue().put(_nothing, waited)

    def launch_host_func(self, callback: Callable[[Any], Any], arg: Any) -> None:
        self._queue().put(lambda: callback(arg))

    def use(self) -> _Stream:
        MACHINE.thread.use(machine.current_id(), self)
        return self

    def __enter__(self) -> _Stream:
        device_id = machine.current_id()
        if self.device_id not in (-1, device_id):
            raise CUDARuntimeError(
                "cudaErrorInvalidResourceHandle",
                f"a stream of device {self.device_id} was entered on device {device_id}",
            )
        _entered().append((device_id, MACHINE.thread.streams.get(device_id)))
        MACHINE.thread.use(device_id, self)
        return self

    def __exit__(self, *_: object) -> None:
        device_id, before = _entered().pop()
        MACHINE.thread.use(device_id, before)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"


class Stream(_Stream):
    """Be a stream of the current device, or the null stream of whichever device is current."""

    null: ClassVar[Stream]

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        if ptds:
            raise NotImplementedError("The stand-in has no per-thread default streams.")
        if null:
            self.ptr, self.device_id = 0, -1
            return
        queue = machine.new_queue(blocking=not non_blocking)
        self.ptr, self.device_id = queue.handle, queue.board.id
        machine.on_end(self, machine.retire_queue, queue)


class ExternalStream(_Stream):
    """Be a stream that somebody else made, known by its handle."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self.ptr = ptr
        self.device_id = device_id


_NULL = Stream.null = Stream(null=True)


class Event:
    """Be an event of the current device."""

    def __init__(
        self,
        block: bool = False,
        disable_timing: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.mark = Mark()
        self.device_id = machine.current_id()
        self.timed = not disable_timing

    def record(self, stream: _Stream | None = None) -> None:
        target = get_current_stream() if stream is None else stream
        queue = target._queue()
        if queue.board.id != self.device_id:
            raise CUDARuntimeError(
                "cudaErrorInvalidResourceHandle",
                f"an event of device {self.device_id} in a stream of device {queue.board.id}",
            )
        self.mark.record(queue)

    @property
    def done(self) -> bool:
        waited = self.mark.wait
        if waited is not None and not self.mark.done:
            waited.queue.run_one()
        return self.mark.done

    def synchronize(self) -> None:
        self.mark.synchronize()


def get_elapsed_time(start: Event, end: Event) -> float:
    """Return the milliseconds between two events."""
    if not (start.timed and end.timed) or start.mark.wait is None or end.mark.wait is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle", "an event without a time")
    if start.mark.time is None or end.mark.time is None:
        raise CUDARuntimeError("cudaErrorNotReady", "an event that has not happened")
    return (end.mark.time - start.mark.time) * 1e3


def get_current_stream(device_id: int = -1) -> _Stream:
    """Return the stream that takes work in this thread on a device, the current one by default."""
    thread = MACHINE.thread
    return (thread.stream if device_id == -1 else thread.streams.get(device_id)) or _NULL


def current_queue() -> machine.Queue:
    """Return the queue that takes kernels now."""
    return machine.launch_queue(get_current_stream().ptr)


def _entered() -> list[tuple[int, _Stream | None]]:
    entered: list[tuple[int, _Stream | None]] = MACHINE.thread.__dict__.setdefault("entered", [])
    return entered


def _nothing() -> None:
    """Do the work of a wait."""
