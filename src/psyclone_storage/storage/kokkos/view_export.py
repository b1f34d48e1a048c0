"""The protocols by which other libraries use the data of a view, without a copy.

An exported array may be used after any access has ended. Therefore the export updates the data in
the space of the view and, unless the elements are const, marks them as written there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.storage.core.errors import HostUseError
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind
from psyclone_storage.storage.interop.gt import (
    described_device,
    described_host,
    interface_on_device,
)
from psyclone_storage.storage.kokkos.view_copy import Part, host_values
from psyclone_storage.storage.kokkos.view_handle import Record


def exported(part: Part) -> Any:
    """Return the updated array of the elements; mark them as written unless they are const."""
    record = part.record
    writes = not (part.type.value_type.const or record.read_only)
    record.buffer.make_valid(record.space)
    if writes:
        record.buffer.touch(record.space)
    return part.window(writable=writes)


def array_interface(part: Part) -> dict[str, Any]:
    """Return `__array_interface__` of a view on the host.

    Raises `AttributeError`, as the protocol requires, if the host cannot access the elements
    directly.
    """
    if not on_host(part) or part.handle.layout.strides is None:
        raise AttributeError(f"{part.type} has no __array_interface__.")
    interface: dict[str, Any] = exported(part).__array_interface__
    return interface


def cuda_array_interface(part: Part) -> dict[str, Any]:
    """Return `__cuda_array_interface__` of a view that a device can use.

    Raises `AttributeError`, as the protocol requires, for any other view.
    """
    if not on_device(part) or part.handle.layout.strides is None:
        raise AttributeError(f"{part.type} has no __cuda_array_interface__.")
    return interface_on_device(exported(part))


def gt_data_interface(part: Part) -> dict[str | None, dict[str, Any]]:
    """Return the data interface of the view for stencil calls, for the side of its memory."""
    window = part.window(writable=not part.type.value_type.const)
    halo = ((0, 0),) * part.type.rank
    verbs = _Verbs(part.record)
    found: dict[str | None, dict[str, Any]] = {}
    if on_host(part):
        found[None] = described_host(window, halo, verbs)
    if on_device(part):
        found["gpu"] = described_device(window, halo, verbs)
    return found


def as_numpy(part: Part, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Return the elements as `__array__` requires; raise `HostUseError` on a device."""
    if not on_host(part):
        raise HostUseError(
            f'Host code cannot use "{part.handle.label}" of extents {part.extents} at '
            f"{part.record.space.tag}: copy it with create_mirror_view_and_copy()."
        )
    if part.handle.layout.strides is None or copy or dtype not in (None, part.type.dtype):
        return host_values(part).astype(dtype or part.type.dtype, copy=False)
    array: np.ndarray[Any, Any] = exported(part)
    return array


def on_host(part: Part) -> bool:
    """Return whether host code can access the elements directly."""
    return part.type.is_hostspace and part.record.space.host_accessible


def on_device(part: Part) -> bool:
    """Return whether device code can access the elements directly; false for page-locked memory."""
    return part.record.space.kind in (SpaceKind.DEVICE, SpaceKind.MANAGED)


class Exported:
    """The interface of a view for the export through DLPack."""

    def __init__(self, part: Part) -> None:
        """Export `part`."""
        self._part = part

    def current_space(self) -> MemorySpace:
        """Return the memory space of the elements."""
        return self._part.record.space

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return the elements as a NumPy array; raise `BufferError` on a device."""
        if not on_host(self._part):
            raise BufferError(f"{self.describe()} is not on the host.")
        return as_numpy(self._part, None, None)

    def to_cupy(self) -> Any:
        """Return the elements as a device array."""
        return exported(self._part)

    def describe(self) -> str:
        """Return a description of the view, used as the subject of an error message."""
        return f'The view "{self._part.handle.label}" of extents {self._part.extents}'


class _Verbs:
    """The synchronisation functions in the data interface of a view."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def device_to_host(self) -> None:
        """Update the data in the space of the view."""
        self._record.buffer.make_valid(self._record.space)

    def set_host_modified(self) -> None:
        """Mark the data in the space of the view as written."""
        self._record.buffer.touch(self._record.space)

    host_to_device = device_to_host
    set_device_modified = set_host_modified
