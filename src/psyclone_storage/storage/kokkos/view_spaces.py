"""The Kokkos names of memory spaces, execution spaces and memory traits.

`HostSpace`, `CudaSpace` and others are memory spaces of the storage core. An execution space
belongs to a context. Memory traits are flags. Scratch memory is ordinary memory from which views
are allocated one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from typing import Any, NamedTuple

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.context import Context, ContextKind
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, host_space, memory_space

HostSpace = memory_space("HostSpace")
CudaSpace = memory_space("CudaSpace")
CudaUVMSpace = memory_space("CudaUVMSpace")
CudaHostPinnedSpace = memory_space("CudaHostPinnedSpace")
AnonymousSpace = memory_space("AnonymousSpace")
SharedSpace = CudaUVMSpace
SharedHostPinnedSpace = CudaHostPinnedSpace

_NAMES = {
    HostSpace: "HostSpace",
    CudaSpace: "CudaSpace",
    CudaUVMSpace: "CudaUVMSpace",
    CudaHostPinnedSpace: "CudaHostPinnedSpace",
    AnonymousSpace: "AnonymousSpace",
}


# The members, and some constants below, have the names of Kokkos.
# pylint: disable=invalid-name


class MemoryTraits(IntFlag):
    """The access properties of a view, combined with `|` (VIEW-15).

    - `Unmanaged` (VIEW-11): the view does not count as a user of its memory.
    - `Atomic` (VIEW-12): each access to an element is atomic.
    - `RandomAccess` (VIEW-13), `Restrict` (VIEW-14): optimisation hints for kernels.
    """

    Managed = 0
    Unmanaged = 1
    RandomAccess = 2
    Atomic = 4
    Restrict = 8
    Aligned = 16


Unmanaged = MemoryTraits.Unmanaged
RandomAccess = MemoryTraits.RandomAccess
Atomic = MemoryTraits.Atomic
Restrict = MemoryTraits.Restrict


@dataclass(frozen=True, slots=True)
class ExecutionSpace:
    """The host or a device, on which work is executed; a call returns the object itself."""

    name: str
    memory_space: MemorySpace

    def __call__(self) -> ExecutionSpace:
        """Return the default instance of the execution space: the object itself."""
        return self

    @property
    def context(self) -> Context:
        """Return the context of this space; raise `DeviceUnavailableError` without a device."""
        if self.memory_space.kind is SpaceKind.DEVICE:
            return Context.get(ContextKind.CUDA, self.memory_space.device_id)
        return Context.host()

    def submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        """Submit `work(*args)` for execution after all earlier submissions; do not wait."""
        return self.context.submit(work, *args)

    def fence(self) -> None:
        """Wait for all submitted work."""
        self.context.synchronize()

    def __repr__(self) -> str:
        """Return the name, with the device number unless it is the default device."""
        others = self.memory_space not in (HostSpace, CudaSpace)
        return f"{self.name}({self.memory_space.device_id})" if others else self.name


Serial = ExecutionSpace("Serial", HostSpace)
Cuda = ExecutionSpace("Cuda", CudaSpace)


class Device(NamedTuple):
    """The pair of execution space and memory space (VIEW-29)."""

    execution_space: ExecutionSpace
    memory_space: MemorySpace

    def __repr__(self) -> str:
        return f"Device({self.execution_space!r}, {space_name(self.memory_space)})"


def DefaultExecutionSpace() -> ExecutionSpace:  # noqa: N802
    """Return the execution space of the calling thread's current context (VIEW-10).

    That is the host, except inside a block `with context:`.
    """
    return execution_space_of(Context.current().space)


def DefaultHostExecutionSpace() -> ExecutionSpace:  # noqa: N802
    """Return the execution space of the host."""
    return Serial


def execution_space_of(space: MemorySpace) -> ExecutionSpace:
    """Return the execution space that initialises memory in `space` (VIEW-27)."""
    match space.kind:
        case SpaceKind.DEVICE:
            return ExecutionSpace("Cuda", space)
        case SpaceKind.MANAGED:
            return Cuda
        case _:
            return Serial


def mirror_space_of(space: MemorySpace) -> MemorySpace:
    """Return the space of a host mirror: `space` itself if the host can access it (VIEW-31)."""
    usable = space.host_accessible and space is not AnonymousSpace
    return space if usable else host_space()


def space_name(space: MemorySpace) -> str:
    """Return the Kokkos name of a space, or its tag if it has no Kokkos name."""
    return _NAMES.get(space, space.tag)


class ScratchSpace:
    """A block of scratch memory, from which views are allocated one after the other.

    `capacity` is in bytes; `space` is the memory space. As an argument of a view type, the class
    denotes unmanaged memory of the default execution space.
    """

    ALIGNMENT = 8

    def __init__(self, capacity: int, space: MemorySpace = HostSpace) -> None:
        """Start with all `capacity` bytes free."""
        self.capacity = capacity
        self.space = space
        self.used = 0
        self.backing: Any = None

    def take(self, nbytes: int) -> int:
        """Return the offset of the next `nbytes` free bytes.

        Raises `MemoryException` if too few bytes are left.
        """
        begin = -(-self.used // self.ALIGNMENT) * self.ALIGNMENT
        if begin + nbytes > self.capacity:
            raise MemoryException(
                f"{nbytes} B of scratch memory were asked for, but {self.capacity - begin} of "
                f"{self.capacity} B are left."
            )
        self.used = begin + nbytes
        return begin
