"""Interface of all memories (HM-24 to HM-39), independent of any particular one."""

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
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.pending_work import Span, give_up
from psyclone_storage.storage.memory.pools import ALIGNMENT, Pool, PoolUse
from psyclone_storage.storage.memory.races import MemoryUse
from psyclone_storage.storage.memory.stream import Stream


class Memory(ABC):  # pylint: disable=too-many-public-methods  # two vocabularies
    """One memory space: allocation, access to its data, copies to and from other memories.

    Spans of bytes are given as a pair (first byte, number of bytes), the same in source and target.
    The HMemo methods (`canCopyFrom`, `memcpyFrom` ...) take for `void*` an allocation
    or as an array over one.
    """

    context_finder: ClassVar[Callable[[MemorySpace], Any]]
    """What `getContextPtr` asks; contexts set it, as memories know nothing of them."""

    has_current: ClassVar[bool] = False
    """Whether code works for a device only where that is the current one: inside `bound`."""

    queues_work: ClassVar[bool] = False
    """Whether work for the device is done later, so that accesses `follow` it."""

    copies_plainly: ClassVar[bool] = False
    """Whether what is here is in pages of this process, which anybody may copy as they are."""

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space`."""
        self.space = space

    @property
    def stream(self) -> Stream | None:
        """Return the queue that orders the work of the device, None where there is no device."""
        return None

    @property
    def jobs(self) -> Set[Any] | None:
        """Return the pending work of the device, None without a device."""
        return None

    @property
    def stream_handle(self) -> int | None:
        """Return the stream of the device that exported arrays are in order with, if there is."""
        return None

    @property
    def plain_pool(self) -> Pool | None:
        """Return where pages are from, None where more has to be done than to take them."""
        return None

    @property
    @abstractmethod
    def use(self) -> PoolUse:
        """Return the bytes handed out, the bytes cached for reuse, and the high-water mark."""

    @abstractmethod
    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return `nbytes` bytes at an address that is a multiple of `alignment` (HM-25)."""

    def free(self, allocation: Allocation, nbytes: int) -> None:
        """Free `allocation`; `nbytes` must be the allocated size (HM-26)."""
        if allocation.space is not self.space or nbytes != allocation.capacity:
            raise MemoryException(
                f'"{allocation.label}" has {allocation.capacity} B at {allocation.space.tag}, '
                f"but {nbytes} B at {self.space.tag} were to be freed."
            )
        allocation.drop()

    @abstractmethod
    def adopt(self, array: Any) -> tuple[Allocation, int]:
        """Adopt the memory of `array`, which lies in this space, without a copy (GDP-4).

        Returns the allocation, from the lowest to the highest byte that the array uses, and the
        byte offset of the first element in it. `array` stays alive as long as the allocation.
        """

    def space_at(self, address: int) -> MemorySpace:
        """Return the space of a device address: this space if the memory cannot determine it."""
        return self.space

    @abstractmethod
    def window(self, allocation: Allocation, spec: WindowSpec) -> Any:
        """Return a typed array over `allocation`, of the type that this memory's code works on."""

    @abstractmethod
    def kernel_view(self, window: Any, writes: bool | None = None, span: Span | None = None) -> Any:
        """Return the argument of a kernel on this memory's device for an array of `window`.

        `writes` is true if it may write, None leaves that to the array; `span` is the part that it
        may use of the allocation, None for all of the window.
        """

    def later_view(self, window: Any) -> Any:
        """Return the array that `start` may use for an array of `window`, without a wait."""
        return self.kernel_view(window)

    def uses_of(
        self, window: Any, reads: bool, writes: bool, span: Span | None = None
    ) -> tuple[MemoryUse, ...]:
        """Return the uses that `start` needs for an array of `window`; none if it needs none."""
        return ()

    def start(self, work: Callable[[], Any], uses: tuple[MemoryUse, ...]) -> None:
        """Submit `work` to the device, which runs it later in the order of its kernels.

        If the work itself submits to the device, as on a GPU, it runs now.
        """
        with self.bound():
            work()

    def start_and_wait(self, work: Callable[[], Any], uses: tuple[MemoryUse, ...]) -> Any:
        """Do `start`, wait, and return the result of `work`, or raise its error."""
        with self.bound():
            return work()

    @abstractmethod
    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`."""

    @property
    def guards(self) -> bool:
        """Return whether `poison` changes anything."""
        return False

    def poison(self, allocation: Allocation, span: tuple[int, int]) -> None:  # noqa: B027
        """Make bytes that lost validity unmistakable; memories that do not guard leave them."""

    def finish(self) -> None:  # noqa: B027
        """Wait for all work submitted by `start`, and raise failures that were not reported.

        Devices that report failures by themselves do so elsewhere.
        """

    def give_up(self, allocation: Allocation, span: Span | None) -> None:
        """Let a span be usable again where work has failed, or will: all of it is written anew."""
        give_up(allocation, span)

    def settle(self, allocation: Allocation, writes: bool) -> None:  # noqa: B027
        """Let the host wait for pending device work on `allocation`, if there is any.

        The host that reads waits for writers, one that `writes` for readers as well.
        """

    def follow(  # noqa: B027
        self, allocation: Allocation, writes: bool, span: Span | None = None
    ) -> None:
        """Let this thread's work on the device wait for pending work on `allocation`.

        Work that reads waits for writers, work that `writes` for readers as well. Nothing else is
        waited for, and the host does not wait. `span` is the part used, None for everything.
        """

    def note_use(  # noqa: B027
        self, allocation: Allocation, wrote: bool, span: Span | None = None
    ) -> None:
        """Record that the work of this thread on the device so far uses `allocation`."""

    @property
    def queue(self) -> Hashable:
        """Return the queue of this thread's work for the device, as notes of uses name it.

        Work in one queue runs in order, so that no wait is needed between its pieces. None means
        that there is no such queue, or that a use needs a larger record than `record` returns.
        """
        return None

    def record(self) -> Any:
        """Return the event of all work that this thread has submitted to the device.

        None means that the host knows it to be complete.
        """
        return None

    @abstractmethod
    def can_copy_from(self, source: Memory) -> bool:
        """Return whether this memory can fetch from `source` by itself (HM-32)."""

    @abstractmethod
    def can_copy_to(self, target: Memory) -> bool:
        """Return whether this memory can send to `target` by itself (HM-33)."""

    def memcpy_from(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Fetch a span into `target`, which is of this memory (HM-36)."""
        raise _no_route(source.space, self.space)

    def fetch(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Do `memcpy_from`, perhaps without a wait: users of either end will `follow` it."""
        self.memcpy_from(target, source, span)

    def memcpy_to(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Send a span of `source`, which is of this memory (HM-37)."""
        raise _no_route(self.space, target.space)

    def memcpy_from_async(
        self, target: Allocation, source: Allocation, span: tuple[int, int]
    ) -> Future[None]:
        """Do `memcpy_from` on the stream; return the future of its end (HM-38)."""
        return self._enqueue(self.memcpy_from, target, source, span)

    def memcpy_to_async(
        self, target: Allocation, source: Allocation, span: tuple[int, int]
    ) -> Future[None]:
        """Do `memcpy_to` on the stream; return the future of its end (HM-38)."""
        return self._enqueue(self.memcpy_to, target, source, span)

    def bound(self) -> AbstractContextManager[Any]:
        """Return the block in which the calling thread works for the device of this memory."""
        return nullcontext()

    def run(self, work: Callable[..., Any], *args: Any) -> Any:
        """Run `work(*args)` on the device, after the work of its stream; return the result."""
        stream = self.stream
        with self.bound():
            return work(*args) if stream is None else stream.run(work, *args)

    def getContextPtr(self) -> Any:  # noqa: N802
        """Return a context at which this memory can be used (HM-28)."""
        return Memory.context_finder(self.space)

    def canCopyFrom(self, source: Memory) -> bool:  # noqa: N802
        """Do `can_copy_from` (HM-32)."""
        return self.can_copy_from(source)

    def canCopyTo(self, target: Memory) -> bool:  # noqa: N802
        """Do `can_copy_to` (HM-33)."""
        return self.can_copy_to(target)

    def memcpy(self, target: Any, source: Any, nbytes: int) -> None:
        """Copy the first `nbytes` bytes within this memory (HM-27)."""
        self.memcpyFrom(target, self, source, nbytes)

    def memcpyFrom(  # noqa: N802
        self, target: Any, source_memory: Memory, source: Any, nbytes: int
    ) -> None:
        """Fetch the first `nbytes` bytes of `source`; raise `MemoryException` if it cannot."""
        self._check_fetch(source_memory)
        self.memcpy_from(*_ends(self, target, source_memory, source), (0, nbytes))

    def memcpyTo(  # noqa: N802
        self, target_memory: Memory, target: Any, source: Any, nbytes: int
    ) -> None:
        """Send the first `nbytes` bytes of `source`; raise `MemoryException` if it cannot."""
        self._check_send(target_memory)
        self.memcpy_to(*_ends(target_memory, target, self, source), (0, nbytes))

    def memcpyFromAsync(  # noqa: N802
        self, target: Any, source_memory: Memory, source: Any, nbytes: int
    ) -> Future[None]:
        """Start `memcpyFrom`; return the SyncToken to wait on (HM-38)."""
        self._check_fetch(source_memory)
        ends = _ends(self, target, source_memory, source)
        return self.memcpy_from_async(*ends, (0, nbytes))

    def memcpyToAsync(  # noqa: N802
        self, target_memory: Memory, target: Any, source: Any, nbytes: int
    ) -> Future[None]:
        """Start `memcpyTo`; return the SyncToken to wait on (HM-38)."""
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
    """Return the bytes of an allocation that lives in pages of the host."""
    pages: np.ndarray[Any, np.dtype[np.uint8]] = allocation.block
    return pages


def foreign_pages(pointer: int, nbytes: int, owner: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return `nbytes` bytes of the host at an address, as an array that keeps `owner` alive."""
    return np.asarray(_Pages(pointer, nbytes, owner)) if nbytes else np.empty(0, np.uint8)


def array_over(allocation: Allocation, spec: WindowSpec) -> np.ndarray[Any, Any]:
    """Return the NumPy array that `spec` describes over an allocation in pages of the host."""
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
    # The work of its owner there is not tracked.
    place.lent = True
    return place


def _no_route(source: MemorySpace, target: MemorySpace) -> MemoryException:
    return MemoryException(
        f"Data cannot go from {source.tag} to {target.tag} in one step: let the router choose "
        f"the way."
    )


class _Pages:
    """Memory at an address as a NumPy array, whose owner is kept alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, pointer: int, nbytes: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (pointer, False),
        }
