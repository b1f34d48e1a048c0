"""Interface of all memories (HM-24 to HM-39)."""

# pylint: disable=invalid-name  # the names of HMemo

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Set
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.native import Lane
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.pending_work import Span, give_up
from psyclone_storage.storage.memory.pools import ALIGNMENT, Pool, PoolUse
from psyclone_storage.storage.memory.races import MemoryUse
from psyclone_storage.storage.memory.stream import Stream


class Memory(ABC):  # pylint: disable=too-many-public-methods  # two vocabularies
    """One memory space: allocation, access to its data, copies to and from other memories.

    A span of bytes is a pair (first byte, number of bytes), the same in source and target. The
    HMemo methods (`canCopyFrom`, `memcpyFrom` ...) accept an allocation or an array over one
    instead of a `void*`.
    """

    context_finder: ClassVar[Callable[[MemorySpace], Any]]
    """Implementation of `getContextPtr`, set by the module `context` to avoid an import cycle."""

    has_current: ClassVar[bool] = False
    """Whether device code must run inside `bound`, which sets the current device."""

    queues_work: ClassVar[bool] = False
    """Whether device work runs asynchronously, so that accesses must call `follow`."""

    copies_plainly: ClassVar[bool] = False
    """Whether the data are in host pages of this process, which host code may copy."""

    def __init__(self, space: MemorySpace) -> None:
        """Create the memory of `space`."""
        self.space = space

    @property
    def lane(self) -> Lane | None:
        """Return the default stream of a GPU, None for memories that need no stream."""
        return None

    @property
    def stream(self) -> Stream | None:
        """Return the queue that orders the work of the device, None without a device."""
        return None

    @property
    def jobs(self) -> Set[Any] | None:
        """Return the pending work of the device, None without a device."""
        return None

    @property
    def stream_handle(self) -> int | None:
        """Return the handle of the calling thread's device stream for exported arrays, or None."""
        return None

    @property
    def plain_pool(self) -> Pool | None:
        """Return the pool that provides the memory, None if an allocation requires more steps."""
        return None

    @property
    @abstractmethod
    def use(self) -> PoolUse:
        """Return the bytes in use, the bytes cached for reuse, and the high-water mark."""

    @abstractmethod
    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return `nbytes` bytes at an address that is a multiple of `alignment` (HM-25)."""

    def free(self, allocation: Allocation, nbytes: int) -> None:
        """Free `allocation`; raise `MemoryException` unless `nbytes` is its size (HM-26)."""
        if allocation.space is not self.space or nbytes != allocation.capacity:
            raise MemoryException(
                f'"{allocation.label}" has {allocation.capacity} B at {allocation.space.tag}, '
                f"but {nbytes} B at {self.space.tag} were to be freed."
            )
        allocation.drop()

    @abstractmethod
    def adopt(self, array: Any) -> tuple[Allocation, int]:
        """Adopt the memory of `array`, which is in this space, without a copy (GDP-4).

        Returns the allocation, from the lowest to the highest byte that the array uses, and the
        byte offset of the first element in it. The allocation keeps `array` alive.
        """

    def space_at(self, address: int) -> MemorySpace:
        """Return the space of a device address; by default, this space."""
        return self.space

    @abstractmethod
    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a typed array over `allocation`, of the array type of this memory."""

    @abstractmethod
    def kernel_view(self, window: Any, writes: bool | None = None, span: Span | None = None) -> Any:
        """Return the argument of a kernel on this memory's device for an array of `window`.

        `writes` states whether the kernel may write; None means as the array allows. `span` is the
        part of the allocation that the kernel uses, None for the whole window.
        """

    def later_view(self, window: Any) -> Any:
        """Return the array that queued work (`start`) may use for an array of `window`."""
        return self.kernel_view(window)

    def uses_of(
        self, window: Any, reads: bool, writes: bool, span: Span | None = None
    ) -> tuple[MemoryUse, ...]:
        """Return the memory ranges to pass to `start` for an array of `window`."""
        return ()

    def start(self, work: Callable[[], Any], uses: tuple[MemoryUse, ...]) -> None:
        """Submit `work` to the device, which runs it later in the order of its kernels.

        If the work itself submits to the device, as on a GPU, it runs now.
        """
        with self.bound():
            work()

    def start_and_wait(self, work: Callable[[], Any], uses: tuple[MemoryUse, ...]) -> Any:
        """Submit `work` as in `start`, wait, and return its result, or raise its error."""
        with self.bound():
            return work()

    @abstractmethod
    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`."""

    @property
    def guards(self) -> bool:
        """Return whether `poison` overwrites data."""
        return False

    def poison(self, allocation: Allocation, span: tuple[int, int]) -> None:  # noqa: B027
        """Overwrite bytes that lost validity with a pattern; by default, do nothing."""

    def finish(self) -> None:  # noqa: B027
        """Wait for all work submitted by `start`, and raise failures that were not reported.

        By default, do nothing.
        """

    def give_up(self, allocation: Allocation, span: Span | None) -> None:
        """Discard failures, present and queued, in a span whose bytes will all be rewritten."""
        give_up(allocation, span)

    def settle(  # noqa: B027
        self, allocation: Allocation, writes: bool, span: Span | None = None
    ) -> None:
        """Wait on the host for pending device work on `span` (None: all) of `allocation`.

        A host that reads waits for writers, one that `writes` also for readers.
        """

    def follow(  # noqa: B027
        self, allocation: Allocation, writes: bool, span: Span | None = None
    ) -> None:
        """Let this thread's next device work wait for pending work on `allocation`.

        Work that reads waits for writers, work that `writes` also for readers. The host does not
        wait. `span` is the part used, None for the whole allocation.
        """

    def note_use(  # noqa: B027
        self, allocation: Allocation, wrote: bool, span: Span | None = None
    ) -> None:
        """Record that this thread's device work submitted so far uses `allocation`."""

    @property
    def queue(self) -> Hashable:
        """Return the queue of this thread's device work, as it appears in use records.

        Work in one queue runs in order, so that no wait is needed between its pieces. None means
        that there is no such queue, or that a use requires more than the event of `record`.
        """
        return None

    def record(self) -> Any:
        """Return the event after all work that this thread has submitted to the device.

        None means that this work is known to be complete.
        """
        return None

    @abstractmethod
    def can_copy_from(self, source: Memory) -> bool:
        """Return whether this memory can copy from `source` (HM-32)."""

    @abstractmethod
    def can_copy_to(self, target: Memory) -> bool:
        """Return whether this memory can copy to `target` (HM-33)."""

    def memcpy_from(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Copy a span from `source` to `target`, an allocation of this memory (HM-36)."""
        raise _no_route(source.space, self.space)

    def fetch(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Copy as in `memcpy_from`, possibly without waiting: users of either end call `follow`."""
        self.memcpy_from(target, source, span)

    def memcpy_to(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Copy a span from `source`, an allocation of this memory, to `target` (HM-37)."""
        raise _no_route(self.space, target.space)

    def memcpy_from_async(
        self, target: Allocation, source: Allocation, span: tuple[int, int]
    ) -> Future[None]:
        """Submit `memcpy_from` to the stream; return its future (HM-38)."""
        return self._enqueue(self.memcpy_from, target, source, span)

    def memcpy_to_async(
        self, target: Allocation, source: Allocation, span: tuple[int, int]
    ) -> Future[None]:
        """Submit `memcpy_to` to the stream; return its future (HM-38)."""
        return self._enqueue(self.memcpy_to, target, source, span)

    def bound(self) -> AbstractContextManager[Any]:
        """Return a context manager that makes this memory's device the thread's current device."""
        return nullcontext()

    def run(self, work: Callable[..., Any], *args: Any) -> Any:
        """Run `work(*args)` on the device, in the order of its stream; return the result."""
        stream = self.stream
        with self.bound():
            return work(*args) if stream is None else stream.run(work, *args)

    def getContextPtr(self) -> Any:  # noqa: N802
        """Return a context that can access this memory (HM-28)."""
        return Memory.context_finder(self.space)

    def canCopyFrom(self, source: Memory) -> bool:  # noqa: N802
        """Return `can_copy_from(source)` (HM-32)."""
        return self.can_copy_from(source)

    def canCopyTo(self, target: Memory) -> bool:  # noqa: N802
        """Return `can_copy_to(target)` (HM-33)."""
        return self.can_copy_to(target)

    def memcpy(self, target: Any, source: Any, nbytes: int) -> None:
        """Copy the first `nbytes` bytes within this memory (HM-27)."""
        self.memcpyFrom(target, self, source, nbytes)

    def memcpyFrom(  # noqa: N802
        self, target: Any, source_memory: Memory, source: Any, nbytes: int
    ) -> None:
        """Copy the first `nbytes` bytes from `source`; raise `MemoryException` if unsupported."""
        self._check_fetch(source_memory)
        self.memcpy_from(*_ends(self, target, source_memory, source), (0, nbytes))

    def memcpyTo(  # noqa: N802
        self, target_memory: Memory, target: Any, source: Any, nbytes: int
    ) -> None:
        """Copy the first `nbytes` bytes to `target`; raise `MemoryException` if unsupported."""
        self._check_send(target_memory)
        self.memcpy_to(*_ends(target_memory, target, self, source), (0, nbytes))

    def memcpyFromAsync(  # noqa: N802
        self, target: Any, source_memory: Memory, source: Any, nbytes: int
    ) -> Future[None]:
        """Start `memcpyFrom`; return its SyncToken (HM-38)."""
        self._check_fetch(source_memory)
        ends = _ends(self, target, source_memory, source)
        return self.memcpy_from_async(*ends, (0, nbytes))

    def memcpyToAsync(  # noqa: N802
        self, target_memory: Memory, target: Any, source: Any, nbytes: int
    ) -> Future[None]:
        """Start `memcpyTo`; return its SyncToken (HM-38)."""
        self._check_send(target_memory)
        ends = _ends(target_memory, target, self, source)
        return self.memcpy_to_async(*ends, (0, nbytes))

    def _check_fetch(self, source: Memory) -> None:
        if not self.can_copy_from(source):
            raise _no_route(source.space, self.space)

    def _check_send(self, target: Memory) -> None:
        if not self.can_copy_to(target):
            raise _no_route(self.space, target.space)

    def _enqueue(self, work: Any, *args: Any) -> Future[None]:
        stream = self.stream
        if stream is not None:
            return stream.submit(work, *args)
        work(*args)
        return Future.completed(None)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.space.tag}>"


def host_pages(allocation: Allocation) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the bytes of an allocation in host memory, as a NumPy array."""
    pages: np.ndarray[Any, np.dtype[np.uint8]] = allocation.block
    return pages


def foreign_pages(pointer: int, nbytes: int, owner: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return `nbytes` host bytes at an address, as an array that keeps `owner` alive."""
    return np.asarray(_Pages(pointer, nbytes, owner)) if nbytes else np.empty(0, np.uint8)


def array_over(allocation: Allocation, spec: WindowSpec) -> np.ndarray[Any, Any]:
    """Return the NumPy array that `spec` describes over an allocation in host memory."""
    array: np.ndarray[Any, Any] = np.ndarray(
        spec.shape, spec.dtype, allocation.held, spec.offset, spec.strides
    )
    if not (spec.writable and allocation.writable):
        array.flags.writeable = False
    return array


def _ends(
    target_memory: Memory, target: Any, source_memory: Memory, source: Any
) -> tuple[Allocation, Allocation]:
    return _as_allocation(target_memory, target), _as_allocation(source_memory, source)


def _as_allocation(memory: Memory, place: Any) -> Allocation:
    if not isinstance(place, Allocation):
        return memory.adopt(place)[0]
    # The work of the owner of this memory is not tracked.
    place.lent = True
    return place


def _no_route(source: MemorySpace, target: MemorySpace) -> MemoryException:
    return MemoryException(
        f"Data cannot go from {source.tag} to {target.tag} in one step: let the router choose "
        f"the way."
    )


class _Pages:
    """Memory at an address, for NumPy; it keeps the owner of the memory alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, pointer: int, nbytes: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (pointer, False),
        }
