"""Import and export of arrays through DLPack."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, host_space
from psyclone_storage.storage.interop import mpi
from psyclone_storage.storage.memory.emulated_array import EmulatedDeviceArray

HOST = (1, 0)
_HOST_KINDS = (SpaceKind.HOST.value, SpaceKind.PINNED.value, SpaceKind.MANAGED.value)


class ExportRequest(NamedTuple):
    """The arguments of `__dlpack__`, as the consumer passed them."""

    stream: Any = None
    max_version: tuple[int, int] | None = None
    dl_device: tuple[int, int] | None = None
    copy: bool | None = None


class Exportable(Protocol):
    """The methods of a storage that an export needs."""

    def current_space(self) -> MemorySpace:
        """Return a memory space with current data."""

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return the host buffer with current values."""

    def to_cupy(self) -> Any:
        """Return the device buffer with current values."""

    def describe(self) -> str:
        """Return a description of the storage, used as the subject of an error message."""


def device_of(storage: Exportable) -> tuple[int, int]:
    """Return the DLPack device of the current data; page-locked memory counts as host."""
    return storage.current_space().dlpack_device


def export(storage: Exportable, request: ExportRequest) -> Any:
    """Return a DLPack capsule of the data in their current space, or of the host on request.

    Raises `BufferError` if the data cannot be exported to the requested device (for example, if
    theirs is emulated), and for an MPI library that does not accept device memory.
    """
    place = storage.current_space()
    wanted = request.dl_device or place.dlpack_device
    # A consumer that passes a stream works on the device, and accepts unified memory.
    for_device = place.kind is SpaceKind.MANAGED and request.stream is not None
    if wanted[0] in _HOST_KINDS and not for_device:
        return _export_host(storage, place, request)
    if wanted != place.dlpack_device:
        raise BufferError(
            f"{storage.describe()} is at {place.tag}: it can be exported there or to the host, "
            f"but not to the DLPack device {wanted}."
        )
    array = storage.to_cupy()
    if isinstance(array, EmulatedDeviceArray):
        raise BufferError(  # noqa: TRY004 - the error that the protocol prescribes
            f"{storage.describe()} is on an emulated device, which no other library can use, MPI "
            f"neither: pass its data_ro where it is read and its data where it is written, or ask "
            f"for the host with dl_device=(1, 0)."
        )
    if request.stream == mpi.UNORDERED and mpi.is_here():
        _check_mpi(storage)
        array.device.synchronize()
    words = {key: value for key, value in request._asdict().items() if value is not None}
    return array.__dlpack__(**words)


def _check_mpi(storage: Exportable) -> None:
    if not mpi.takes_devices():
        raise BufferError(
            f"{storage.describe()} has its values on a device, and the MPI library of this process "
            f"is not GPU-aware, as far as it says: pass its data_ro where it is read and its data "
            f"where it is written, or set {mpi.VARIABLE}=1 if the library takes memory of devices, "
            f"or if it is not MPI that asks for stream -1."
        )


def imported(thing: Any) -> np.ndarray[Any, Any] | None:
    """Return the host data that `thing` exports through DLPack, None if there are none."""
    where = getattr(thing, "__dlpack_device__", None)
    if where is None or where()[0] not in _HOST_KINDS:
        return None
    return np.from_dlpack(thing)


def _export_host(storage: Exportable, place: MemorySpace, request: ExportRequest) -> Any:
    if request.stream is not None:
        raise BufferError(f"{storage.describe()} is exported on the host, which has no streams.")
    array = _on_host(storage, place, request)
    words: dict[str, Any] = {}
    if request.max_version is not None:
        words["max_version"] = request.max_version
    if request.copy is not None:
        words["copy"] = request.copy
    return array.__dlpack__(**words)


def _on_host(
    storage: Exportable, place: MemorySpace, request: ExportRequest
) -> np.ndarray[Any, Any]:
    if place.host_accessible or place is host_space():
        return storage.to_numpy()
    try:
        return storage.to_numpy()
    except BufferError:
        if request.copy is False:
            raise
    array: np.ndarray[Any, Any] = storage.to_cupy().get()
    return array
