"""Execution contexts: the processor that runs a kernel, and its memories.

There is one `Context` object per kind and device (HM-7). `with context:` makes it the current
context of the calling thread; such blocks may be nested (HM-12). The HMemo names (`getContextPtr`,
`getMemoryPtr` ...) are aliases.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from psyclone_storage.storage.core.device import DeviceKind, default_device_id, on_device_change
from psyclone_storage.storage.core.errors import DeviceUnavailableError
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.spaces import (
    MemorySpace,
    SpaceKind,
    device_space,
    host_space,
    pinned_space,
)
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.registry import memory_of, resolved_device
from psyclone_storage.storage.memory.stream import Stream

T = TypeVar("T")


class ContextKind(Enum):
    """The built-in kinds of contexts; more can be registered by name."""

    HOST = "Host"
    CUDA = "CUDA"
    MIC = "MIC"


class Context:
    """A processor that executes kernels: the host or one device.

    With `zero_copy`, a device works on page-locked host memory instead of its own (HM-17). Create
    contexts with `Context.get`; a context lives while references to it exist (HM-9).
    """

    Host = ContextKind.HOST
    CUDA = ContextKind.CUDA
    MIC = ContextKind.MIC

    def __init__(self, kind: ContextKind | str, device_id: int, space: MemorySpace) -> None:
        """Create the context of the device with the memory space `space` (HM-8).

        Raises `DeviceUnavailableError` if the memory does not exist.
        """
        self.kind = kind
        self.device_id = device_id
        self.space = space
        self.zero_copy = False
        self._memory = memory_of(space)
        self._stream = self._memory.stream or Stream(f"host of {space.tag}")

    @staticmethod
    def get(kind: ContextKind | str = ContextKind.HOST, device_id: int | None = None) -> Context:
        """Return the context of a kind and device, by default the default device (HM-21).

        Raises `DeviceUnavailableError` for a missing device or an unknown kind.
        """
        number = device_id
        if number is None:
            number = 0 if kind is ContextKind.HOST else default_device_id()
        with _LOCK:
            found = _CONTEXTS.get((kind, number))
            if found is None:
                found = _CONTEXTS[kind, number] = _factory(kind)(number)
            return found

    @staticmethod
    def host() -> Context:
        """Return the context of the host (HM-20)."""
        return Context.get(ContextKind.HOST)

    @staticmethod
    def current() -> Context:
        """Return the current context of the calling thread, by default the host."""
        return Context.scope() or Context.host()

    @staticmethod
    def scope() -> Context | None:
        """Return the context of the innermost `with` block of the calling thread, or None."""
        stack = _stack()
        return stack[-1] if stack else None

    def local_memory(self) -> Memory:
        """Return the memory of the device itself (HM-13)."""
        return self._memory

    def host_memory(self) -> Memory:
        """Return the host memory with the fastest transfers to this device (HM-14)."""
        return self._memory if self.space is host_space() else memory_of(pinned_space())

    def working_memory(self) -> Memory:
        """Return the memory that kernels work on: local, or host memory with zero copy (HM-15)."""
        return self.host_memory() if self.zero_copy else self.local_memory()

    def enable_zero_copy(self, on: bool = True) -> None:
        """Switch zero copy on or off (HM-16, HM-17)."""
        self.zero_copy = on

    def submit(self, work: Callable[..., T], *args: Any) -> Future[T]:
        """Submit `work(*args)` for execution after all earlier submissions; do not wait."""
        return self._stream.submit(self._run, work, args)

    def synchronize(self) -> None:
        """Wait until all submitted work is complete, including functors and kernels.

        Raises the failures of functors and kernels since the last call that were not yet reported.
        """
        self._stream.synchronize()
        self._memory.finish()

    def _run(self, work: Callable[..., T], args: tuple[Any, ...]) -> T:
        with self:
            return work(*args)

    def __enter__(self) -> Context:
        _stack().append(self)
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        _stack().pop()

    def __repr__(self) -> str:
        name = self.kind.value if isinstance(self.kind, ContextKind) else self.kind
        return f"<Context {name} {self.device_id}>"

    create = get
    getContextPtr = get  # noqa: N815
    getHostPtr = host  # noqa: N815
    getContextMemoryPtr = local_memory  # noqa: N815
    getLocalMemoryPtr = local_memory  # noqa: N815
    getHostMemoryPtr = host_memory  # noqa: N815
    getMemoryPtr = working_memory  # noqa: N815
    enableZeroCopy = enable_zero_copy  # noqa: N815


class HostContext(Context):
    """The context of the host (HM-6)."""

    def __init__(self, device_id: int = 0) -> None:
        """Create the host context; raise `DeviceUnavailableError` unless `device_id` is 0."""
        if device_id != 0:
            raise DeviceUnavailableError(f"There is one host, number 0, and no number {device_id}.")
        super().__init__(ContextKind.HOST, 0, host_space())


class CUDAContext(Context):
    """The context of one GPU or of one emulated device (HM-6)."""

    def __init__(self, device_id: int) -> None:
        """Create the context of device `device_id` of this node."""
        super().__init__(ContextKind.CUDA, device_id, device_space(device_id))


class MICContext(Context):
    """The context of one coprocessor (MIC); its host memory is pageable (HM-31).

    Coprocessors exist only in emulation: number n is the emulated device n.
    """

    def __init__(self, device_id: int) -> None:
        """Create the context of coprocessor `device_id`.

        Raises `DeviceUnavailableError` outside of emulation.
        """
        if resolved_device() is not DeviceKind.EMULATED:
            raise DeviceUnavailableError(
                "This machine has no coprocessor of the kind MIC: only emulated devices can play "
                'one, call use_device("emulated").'
            )
        super().__init__(ContextKind.MIC, device_id, device_space(device_id))

    def host_memory(self) -> Memory:
        """Return pageable host memory: a coprocessor uses no page-locked memory."""
        return memory_of(host_space())

    getHostMemoryPtr = host_memory  # noqa: N815


ContextFactory = Callable[[int], Context]


def register_context(kind: str, factory: ContextFactory) -> None:
    """Register a kind of context: `Context.get(kind, n)` returns `factory(n)` (HM-23).

    The factory is called once for each n.
    """
    _FACTORIES[kind] = factory


def context_at(space: MemorySpace) -> Context:
    """Return a context that can access memory in `space`: the host if possible (HM-28)."""
    if space.kind is SpaceKind.DEVICE:
        return Context.get(ContextKind.CUDA, space.device_id)
    return Context.host()


def _factory(kind: ContextKind | str) -> ContextFactory:
    factory = _FACTORIES.get(kind)
    if factory is None:
        raise DeviceUnavailableError(
            f'There is no kind of context called "{kind}": make it known with register_context().'
        )
    return factory


def _stack() -> list[Context]:
    stack: list[Context] = _THREAD.__dict__.setdefault("stack", [])
    return stack


def _forget_devices() -> None:
    with _LOCK:
        for key in [key for key in _CONTEXTS if key[0] is not ContextKind.HOST]:
            del _CONTEXTS[key]


_LOCK = FORKS.guard(threading.RLock(), Rank.CONTEXT)
_THREAD = threading.local()
_CONTEXTS: dict[tuple[ContextKind | str, int], Context] = {}
_FACTORIES: dict[ContextKind | str, ContextFactory] = {
    ContextKind.HOST: HostContext,
    ContextKind.CUDA: CUDAContext,
    ContextKind.MIC: MICContext,
}

Memory.context_finder = staticmethod(context_at)
on_device_change(_forget_devices)
