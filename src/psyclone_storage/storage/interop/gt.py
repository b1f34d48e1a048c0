"""Readers of `__gt_data_interface__`, with the fallbacks of GDP-27 and GDP-28.

A description maps a device, None or `"gpu"`, to a dictionary with `shape`, `typestr`, `data` and
`strides`, and optionally `acquire`, `touch`, `release`, `dims` and `halo`. Other keys are ignored
(GDP-24). Therefore the dictionaries of `__array_interface__` and `__cuda_array_interface__` can be
used unchanged (GDP-25).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.spaces import MemorySpace, device_space
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.emulated_array import EmulatedDeviceArray
from psyclone_storage.storage.memory.registry import memory_of

Device: TypeAlias = Literal["gpu"] | None
Info: TypeAlias = Mapping[str, Any]
Description: TypeAlias = Mapping[Device, Info]

REQUIRED = ("shape", "typestr", "data", "strides")
_DEVICES: dict[Any, Device] = {None: None, "cpu": None, "host": None, "gpu": "gpu"}


def describe(thing: Any) -> dict[Device, Info]:
    """Return the data interface of `thing` by device; empty if `thing` has no array interface.

    Raises `ValueError` for an unknown device or a missing key (GDP-14).
    """
    found = getattr(thing, "__gt_data_interface__", None)
    if found is not None:
        return {_known_device(device): _complete(device, info) for device, info in found.items()}
    described: dict[Device, Info] = {}
    on_host = getattr(thing, "__array_interface__", None)
    if on_host is not None:
        described[None] = _complete(None, on_host)
    on_device = getattr(thing, "__cuda_array_interface__", None)
    if on_device is not None:
        described["gpu"] = _complete("gpu", on_device)
    return described


class Verbs(Protocol):
    """The synchronisation methods that a data interface calls."""

    def device_to_host(self) -> None:
        """Update the host side."""

    def host_to_device(self) -> None:
        """Update the device side."""

    def set_host_modified(self) -> None:
        """Record that the host side was written."""

    def set_device_modified(self) -> None:
        """Record that the device side was written."""


Halo: TypeAlias = Sequence[tuple[int, int]]


def described_host(window: Any, halo: Halo, verbs: Verbs) -> dict[str, Any]:
    """Return the description of the host side of a storage (GDP-83)."""
    return {
        **window.__array_interface__,
        "strides": tuple(window.strides),
        "halo": tuple(halo),
        "acquire": verbs.device_to_host,
        "touch": verbs.set_host_modified,
    }


def described_device(
    window: Any, halo: Halo, verbs: Verbs, *, constant: bool = False
) -> dict[str, Any]:
    """Return the description of the device side of a storage (GDP-84)."""
    return {
        **interface_on_device(window, constant=constant),
        "halo": tuple(halo),
        "acquire": verbs.host_to_device,
        "touch": verbs.set_device_modified,
    }


def interface_on_device(window: Any, *, constant: bool = False) -> dict[str, Any]:
    """Return the CUDA array interface of an array that is used on the device.

    `constant` marks the values as read-only, which CuPy arrays do not support. The stream is the
    calling thread's current stream on the device of the array.
    """
    found = getattr(window, "__cuda_array_interface__", None)
    if found is None:
        found = {**window.__array_interface__, "version": 3, "stream": None}
    else:
        stream = memory_of(space_of(window)).stream_handle
        found = {**found, "stream": stream or found.get("stream")}
    if constant:
        found["data"] = (found["data"][0], True)
    return {**found, "strides": tuple(window.strides)}


def strides_in(info: Info) -> tuple[int, ...]:
    """Return the strides in bytes; strides of None mean contiguous C order."""
    strides = info["strides"]
    if strides is not None:
        return tuple(strides)
    step = np.dtype(info["typestr"]).itemsize
    packed: list[int] = []
    for extent in reversed(info["shape"]):
        packed.insert(0, step)
        step *= max(extent, 1)
    return tuple(packed)


def call(info: Info, name: str) -> None:
    """Call the function `info[name]`, if there is one (GDP-16, GDP-21, GDP-23)."""
    function = info.get(name)
    if function is not None:
        function()


def host_array(info: Info, owner: Any) -> np.ndarray[Any, Any]:
    """Return the described host memory as an array that keeps `owner` alive."""
    if isinstance(owner, np.ndarray):
        return owner
    return np.asarray(_Described(info, owner))


def device_array(info: Info, owner: Any) -> Any:
    """Return the described device memory as an array: CuPy's, or that of the emulation."""
    space = owner.space if isinstance(owner, EmulatedDeviceArray) else None
    memory = memory_of(space or memory_of(device_space()).space_at(int(info["data"][0])))
    described = _Described(info, owner)
    if isinstance(memory, EmulatedDeviceMemory):
        if isinstance(owner, EmulatedDeviceArray):
            return owner
        pages = np.asarray(described)
        start = info["data"][0]
        return EmulatedDeviceArray(
            pages, memory, Allocation(memory.space, start, pages.nbytes, described)
        )
    allocation, offset = memory.adopt(described)
    spec = WindowSpec(np.dtype(info["typestr"]), tuple(info["shape"]), strides_in(info), offset)
    return memory.window(allocation, spec)


def space_of(array: Any) -> MemorySpace:
    """Return the memory space of an array that `device_array` returned."""
    if isinstance(array, EmulatedDeviceArray):
        return array.space
    return memory_of(device_space()).space_at(int(array.data.ptr))


class _Described:
    """An object with array interfaces for NumPy and CuPy that keeps the memory's owner alive."""

    __slots__ = ("__array_interface__", "__cuda_array_interface__", "owner")

    def __init__(self, info: Info, owner: Any) -> None:
        self.owner = owner
        described = {
            "shape": tuple(info["shape"]),
            "typestr": info["typestr"],
            "data": tuple(info["data"]),
            "strides": strides_in(info),
            "version": 3,
        }
        if "descr" in info:
            described["descr"] = info["descr"]
        self.__array_interface__ = described
        self.__cuda_array_interface__ = described | {"stream": info.get("stream")}


def _known_device(device: Any) -> Device:
    if device not in _DEVICES:
        raise ValueError(
            f'A __gt_data_interface__ describes the device {device!r}, but only None and "gpu" are '
            f"devices."
        )
    return _DEVICES[device]


def _complete(device: Any, info: Info) -> Info:
    if all(key in info for key in REQUIRED):
        return info
    if "strides" not in info and info.get("version", 0):
        # Both array interfaces allow a missing entry instead of strides of None.
        return _complete(device, {**info, "strides": None})
    missing = [key for key in REQUIRED if key not in info]
    raise ValueError(
        f'The description of a buffer on {device or "cpu"} lacks "{missing[0]}": it must have '
        f"{', '.join(REQUIRED)}."
    )
