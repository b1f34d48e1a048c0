"""Registry of memories: one object per memory space, for the selected device."""

from __future__ import annotations

import threading
from functools import cache

from psyclone_storage.storage.core.device import (
    VARIABLE,
    DeviceKind,
    current_emulation,
    on_device_change,
    selected_device,
)
from psyclone_storage.storage.core.errors import DeviceUnavailableError, MemoryException
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, host_space
from psyclone_storage.storage.memory import cuda
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.copy_routes import Router
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.host import HostMemory, ManagedMemory, PinnedMemory

_LOCK = FORKS.guard(threading.Lock(), Rank.MEMORY)
_MEMORIES: dict[MemorySpace, Memory] = {}


def memory_of(space: MemorySpace) -> Memory:
    """Return the memory of `space`; create it if necessary.

    Raises `DeviceUnavailableError` if the space needs a device that does not exist.
    """
    found = _MEMORIES.get(space)
    if found is not None:
        return found
    with _LOCK:
        return _MEMORIES.setdefault(space, _make(space))


def device_count() -> int:
    """Return the number of devices under the current selection."""
    match resolved_device():
        case DeviceKind.CUDA:
            return cuda.device_count()
        case DeviceKind.EMULATED:
            return current_emulation().count
        case _:
            return 0


def resolved_device() -> DeviceKind | None:
    """Return `CUDA` or `EMULATED`, None if the selection is `auto` and there is no GPU.

    Raises `DeviceUnavailableError` if the selection is `cuda` and CuPy finds no GPU.
    """
    chosen = selected_device()
    if chosen is DeviceKind.EMULATED:
        return chosen
    if cuda.is_available():
        return DeviceKind.CUDA
    if chosen is DeviceKind.CUDA:
        raise DeviceUnavailableError(
            f'The device "cuda" was asked for, but CuPy finds no usable GPU: install CuPy and a '
            f"driver, or set {VARIABLE}=emulated."
        )
    return None


def host_memory() -> HostMemory:
    """Return the memory of the host."""
    memory = memory_of(host_space())
    assert isinstance(memory, HostMemory)
    return memory


@cache
def router() -> Router:
    """Return the router that stages copies in host memory."""
    return Router(host_memory())


def _make(space: MemorySpace) -> Memory:
    match space.kind:
        case SpaceKind.HOST:
            return HostMemory(space)
        case SpaceKind.DEVICE:
            return _make_device(space)
        case SpaceKind.PINNED:
            on_gpu = resolved_device() is DeviceKind.CUDA
            return cuda.PinnedAllocator(space) if on_gpu else PinnedMemory(space)
        case SpaceKind.MANAGED:
            on_gpu = _needed_device(space) is DeviceKind.CUDA
            return cuda.ManagedAllocator(space) if on_gpu else ManagedMemory(space)
        case SpaceKind.ANONYMOUS:
            raise MemoryException("The anonymous space is a placeholder: nothing lives there.")


def _make_device(space: MemorySpace) -> Memory:
    kind = _needed_device(space)
    if space.device_id not in range(device_count()):
        raise DeviceUnavailableError(
            f"There is no {space.tag}: the machine has {device_count()} device(s), from 0."
        )
    return cuda.GpuAllocator(space) if kind is DeviceKind.CUDA else EmulatedDeviceMemory(space)


def _needed_device(space: MemorySpace) -> DeviceKind:
    kind = resolved_device()
    if kind is None:
        raise DeviceUnavailableError(
            f"{space.tag} was asked for, but this machine has no GPU that CuPy can use: set "
            f'{VARIABLE}=emulated, or call use_device("emulated"), to work with emulated devices.'
        )
    return kind


def _forget_devices() -> None:
    with _LOCK:
        for space in tuple(_MEMORIES):
            if space.kind is not SpaceKind.HOST:
                del _MEMORIES[space]


on_device_change(_forget_devices)
