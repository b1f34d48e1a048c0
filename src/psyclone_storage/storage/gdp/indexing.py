"""Conversion of the keys and values in `storage[key]` and `storage[key] = value`.

Keys are those of NumPy. An index array may be replaced by an object with a data interface
(GDP-105). Values are numbers, host or device arrays, and objects with a data interface (GDP-106).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.index_keys import BASIC, INTEGERS
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.interop.gt import (
    call,
    describe,
    device_array,
    host_array,
    space_of,
)
from psyclone_storage.storage.memory.registry import host_memory


def on_gpu(value: Any) -> bool:
    """Return whether `value` is GPU-enabled (GDP-120, GDP-121).

    It is if its data interface has a GPU buffer. Without a data interface, it must have a
    `__cuda_array_interface__` or offer a GPU buffer through DLPack. Host arrays do not count,
    although CuPy could convert them.
    """
    interface = getattr(value, "__gt_data_interface__", None)
    if interface is not None:
        return "gpu" in interface
    if hasattr(value, "__cuda_array_interface__"):
        return True
    where = getattr(value, "__dlpack_device__", None)
    return where is not None and where()[0] in _GPU_KINDS


_GPU_KINDS = (2, 13)
"""kDLCUDA and kDLCUDAManaged."""


def host_key(key: Any) -> Any:
    """Return `key` with objects that have a data interface replaced by host arrays."""
    if isinstance(key, tuple):
        return tuple(host_key(part) for part in key)
    if isinstance(key, (*BASIC, bool, list, np.ndarray)):
        return key
    return host_values(key)


def host_values(value: Any) -> Any:
    """Return `value` as a scalar or a host array; copy it from the device if necessary."""
    if isinstance(value, (*INTEGERS, float, complex, np.ndarray, np.generic)):
        return value
    found = describe(value)
    if None in found:
        call(found[None], "acquire")
        return host_array(found[None], value)
    if "gpu" in found:
        call(found["gpu"], "acquire")
        return device_array(found["gpu"], value).get()
    return np.asarray(value)


def device_values(value: Any, space: MemorySpace) -> Any:
    """Return `value` as a scalar or an array in device `space`; copy it if necessary."""
    if isinstance(value, (*INTEGERS, float, complex, np.generic)):
        return value
    found = describe(value)
    if "gpu" in found:
        call(found["gpu"], "acquire")
        array = device_array(found["gpu"], value)
        return array if space_of(array) is space else uploaded(array.get(), space)
    return uploaded(np.asarray(host_values(value)), space)


def device_key(key: Any, space: MemorySpace) -> Any:
    """Return `key` with device data replaced by arrays in `space`, other objects by host arrays."""
    if isinstance(key, tuple):
        return tuple(device_key(part, space) for part in key)
    if isinstance(key, (*BASIC, bool, list, np.ndarray)):
        return key
    return device_values(key, space) if on_gpu(key) else host_values(key)


def uploaded(values: np.ndarray[Any, Any], space: MemorySpace) -> Any:
    """Return a new array in device `space` with a copy of `values`."""
    packed = np.ascontiguousarray(values)
    buffer = CoherentBuffer(packed.size, packed.dtype)
    buffer.adopt(host_memory().adopt(packed)[0])
    with buffer.acquire(space, AccessMode.READ_WRITE) as access:
        return access.window(packed.dtype, values.shape)
