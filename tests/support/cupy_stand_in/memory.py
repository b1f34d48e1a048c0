"""Own the memory objects and the pools of the stand-in, as the reference of CuPy describes them.

Sources: "CuPy API reference", cupy.cuda.MemoryPointer, UnownedMemory, MemoryPool, PinnedMemoryPool,
alloc, alloc_pinned_memory, malloc_managed; user guide, "Memory management". A block that is freed
goes back to the part of the pool that belongs to the stream that it was allocated in, at once:
what other streams still do with it is their affair. Memory that is handed out holds garbage from
the moment when that stream gets there.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from cupy_stand_in import machine
from cupy_stand_in.machine import UNIT, OutOfMemoryError, on_end
from cupy_stand_in.streams import Device, get_current_stream


class BaseMemory:
    """Be some memory: an address, a size in bytes, a device."""

    def __init__(self, ptr: int, size: int, device_id: int) -> None:
        self.ptr = ptr
        self.size = size
        self.device_id = device_id

    @property
    def device(self) -> Device:
        return Device(self.device_id)

    def __int__(self) -> int:
        return self.ptr


class UnownedMemory(BaseMemory):
    """Be memory that belongs to somebody, who is kept alive."""

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        found = machine.device_of_pointer(ptr) if device_id < 0 and size else max(device_id, 0)
        super().__init__(ptr, size, found)
        self._owner = owner


class MemoryPointer:
    """Be an address in some memory, which it keeps alive."""

    def __init__(self, mem: BaseMemory, offset: int) -> None:
        self.mem = mem
        self.ptr = mem.ptr + offset

    @property
    def device_id(self) -> int:
        return self.mem.device_id

    @property
    def device(self) -> Device:
        return self.mem.device

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -offset

    def copy_from_async(self, mem: Any, size: int, stream: Any = None) -> None:
        queue = machine.queue_of((stream or get_current_stream()).ptr)
        machine.copy_async(self.ptr, int(getattr(mem, "ptr", mem)), size, queue)

    copy_from_device_async = copy_from_host_async = copy_from_async

    def copy_to_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        queue = machine.queue_of((stream or get_current_stream()).ptr)
        machine.copy_async(int(getattr(mem, "value", mem)), self.ptr, size, queue)

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        pages = machine.pages_at(self.ptr, size)
        queue = machine.queue_of((stream or get_current_stream()).ptr)
        queue.put(lambda: pages.fill(value), what="fill", uses=[(self.ptr, size, True)])


class MemoryPool:
    """Keep the memory of all devices, each in parts for the streams that used it."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, int, int], list[int]] = {}
        self._used: Counter[int] = Counter()
        self._held: Counter[int] = Counter()
        self._limit = 0

    def malloc(self, size: int) -> MemoryPointer:
        board = machine.board_of(machine.current_id())
        rounded = -(-size // UNIT) * UNIT
        handle = get_current_stream().ptr
        with machine.LOCK:
            kept = self._free.get((board.id, handle, rounded))
            address = kept.pop() if kept else self._fresh(board, rounded)
            self._used[board.id] += rounded
        memory = BaseMemory(address, rounded, board.id)
        on_end(memory, self._take_back, board, handle, rounded, address)
        garbage = machine.scribble(board.at(address, rounded))
        uses = [(address, rounded, True)]
        machine.queue_of(handle).put(garbage, what="allocation", uses=uses)
        return MemoryPointer(memory, 0)

    def used_bytes(self) -> int:
        return self._used[machine.current_id()]

    def total_bytes(self) -> int:
        return self._held[machine.current_id()]

    def free_bytes(self) -> int:
        return self.total_bytes() - self.used_bytes()

    def n_free_blocks(self) -> int:
        here = machine.current_id()
        return sum(len(blocks) for key, blocks in self._free.items() if key[0] == here)

    def get_limit(self) -> int:
        return self._limit

    def set_limit(self, size: int | None = None) -> None:
        self._limit = size or 0

    def free_all_blocks(self, stream: Any = None) -> None:
        board = machine.board_of(machine.current_id())
        with machine.LOCK:
            for key in [key for key in self._free if key[0] == board.id]:
                if stream is not None and key[1] != stream.ptr:
                    continue
                for address in self._free.pop(key):
                    board.synchronize()
                    board.give_back(address, key[2])
                    self._held[board.id] -= key[2]

    def forget_all(self) -> None:
        """Know of no memory at all, as in a fresh process."""
        for table in (self._free, self._used, self._held):
            table.clear()
        self._limit = 0

    def _fresh(self, board: machine.Board, size: int) -> int:
        if self._is_beyond(size, board):
            self.free_all_blocks()
        if self._is_beyond(size, board):
            raise OutOfMemoryError(f"{size} B are beyond the limit of the pool.")
        try:
            address = board.reserve(size)
        except OutOfMemoryError:
            self.free_all_blocks()
            address = board.reserve(size)
        self._held[board.id] += size
        return address

    def _is_beyond(self, size: int, board: machine.Board) -> bool:
        return bool(self._limit) and self._held[board.id] + size > self._limit

    def _take_back(self, board: machine.Board, handle: int, size: int, address: int) -> None:
        with machine.LOCK:
            if board in machine.MACHINE.boards:
                self._used[board.id] -= size
                self._free.setdefault((board.id, handle, size), []).append(address)


class PinnedMemoryPointer:
    """Be page-locked host memory; what is made has the buffer protocol, with the bytes in it."""

    ptr: int
    mem: object

    @staticmethod
    def over(found: machine.HostRange) -> Any:
        """Return the pointer to some memory.

        Classes of Python get the buffer protocol with 3.12; before, arrays of ctypes have it.
        """
        made = _pointer_class(found.pages.nbytes).from_address(found.start)
        made.ptr = found.start
        made.mem = found
        return made

    def size(self) -> int:
        return ctypes.sizeof(self)  # type: ignore[arg-type]

    def __int__(self) -> int:
        return self.ptr


@cache
def _pointer_class(size: int) -> Any:
    return type("PinnedMemoryPointer", (PinnedMemoryPointer, ctypes.c_ubyte * size), {})


class PinnedMemoryPool:
    """Keep page-locked memory."""

    def n_free_blocks(self) -> int:
        return 0

    def free_all_blocks(self) -> None:
        """Free what is kept, which is nothing."""

    def malloc(self, size: int) -> Any:
        found = machine.host_range(size, "pinned", machine.current_id())
        made = PinnedMemoryPointer.over(found)
        on_end(made, machine.forget, found)
        return made


POOL = MemoryPool()
PINNED_POOL = PinnedMemoryPool()
_ALLOCATOR: list[Callable[[int], MemoryPointer]] = [POOL.malloc]


def alloc(size: int) -> MemoryPointer:
    """Return memory of the current device."""
    return _ALLOCATOR[-1](size)


def set_allocator(allocator: Callable[[int], MemoryPointer] | None = None) -> None:
    """Make arrays get their memory from `allocator`, from the pool if it is None."""
    _ALLOCATOR[:] = [allocator or POOL.malloc]


def alloc_pinned_memory(size: int) -> Any:
    """Return page-locked host memory."""
    return PINNED_POOL.malloc(size)


def malloc_managed(size: int) -> MemoryPointer:
    """Return memory that the host and the devices use, at the same addresses."""
    found = machine.host_range(size, "managed", machine.current_id())
    memory = BaseMemory(found.start, size, machine.current_id())
    memory.is_managed = True  # type: ignore[attr-defined]
    on_end(memory, machine.forget, found)
    return MemoryPointer(memory, 0)
