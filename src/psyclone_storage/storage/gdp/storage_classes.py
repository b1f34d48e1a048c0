"""The four classes of storages (GDP-126 to GDP-129) and their older names.

They differ in their sides, in the protocols that those sides support, and in the side on which an
assignment executes.
"""

from __future__ import annotations

from ctypes import addressof, c_char
from math import lcm
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from psyclone_storage.base.records import replace
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import whole
from psyclone_storage.storage.core.device import DEFAULT_DEVICE_VARIABLE, DeviceKind
from psyclone_storage.storage.core.errors import MemoryExhaustedError
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.incarnation import ReplicaPlace
from psyclone_storage.storage.core.layout import byte_extent
from psyclone_storage.storage.core.native import setting
from psyclone_storage.storage.core.spaces import (
    MemorySpace,
    device_space,
    host_space,
    managed_space,
)
from psyclone_storage.storage.gdp.allocation_plan import Plan, cut_memory
from psyclone_storage.storage.gdp.base_storage import Sides, Storage
from psyclone_storage.storage.gdp.indexing import on_gpu
from psyclone_storage.storage.gdp.parameters import Managed, Parameters, named_storage
from psyclone_storage.storage.gdp.shared_buffer import Backing, on_host
from psyclone_storage.storage.gdp.sync_state import Sync, SyncState
from psyclone_storage.storage.interop import gt
from psyclone_storage.storage.memory.base import foreign_pages
from psyclone_storage.storage.memory.registry import memory_of, resolved_device


def _array_interface(self: Storage) -> dict[str, Any]:
    """Describe the updated host buffer; the host side then counts as modified (GDP-81)."""
    array = self.to_numpy()
    return {**array.__array_interface__, "strides": array.strides}


def _cuda_array_interface(self: Storage) -> dict[str, Any]:
    """Describe the updated device buffer; the device side then counts as modified (GDP-82)."""
    buffer = self.backing().buffer
    return gt.interface_on_device(self.to_cupy(), constant=buffer is not None and buffer.const)


def _data(self: Storage) -> memoryview:
    """Return the host buffer as a `memoryview` (GDP-86)."""
    return self.to_numpy().data


def _device_data(self: Storage) -> Any:
    """Return the pointer to the device buffer (GDP-88)."""
    return self.to_cupy().data


def _buffer_protocol(self: Storage, _flags: int) -> memoryview:
    """Return the host buffer for `memoryview(storage)` (Python 3.12 and later)."""
    return self.to_numpy().data


_Kind = TypeVar("_Kind", bound=Storage)


class CPUStorage(Storage):
    """A storage in main memory."""

    __slots__ = ()

    managed: ClassVar[Managed | None] = "gt4py"
    device_data: ClassVar[None] = None
    data = property(_data)
    # Current GT4Py versions first read the array of a field from this attribute.
    ndarray = Storage._shown  # noqa: SLF001  # pylint: disable=protected-access
    __array_interface__ = property(_array_interface)
    __buffer__ = _buffer_protocol

    @classmethod
    def from_plan(cls, plan: Plan, init: Any = None) -> Self:
        """Return a new storage; with `init` 0, the system zeroes each page on first use."""
        parameters = plan.parameters
        if parameters.delayed or parameters.cuts:
            return _with_buffer(cls, plan, init)
        try:
            array = _packed_array(plan, init) if plan.order is not None else _aligned_array(plan)
        except MemoryError as error:
            raise MemoryExhaustedError(
                f"{named_storage(parameters.labels.label)} of shape {parameters.shape} "
                f"({parameters.dtype}) needs {plan.nbytes} B on the host, which are not to be had "
                f"({error}): free some memory, or make it smaller."
            ) from error
        if init is not None and (plan.order is None or init != 0):
            array[...] = init
        backing = on_host(True, parameters.labels.label) if parameters.strict_exports else None
        return cls(array, parameters.labels, backing)

    @classmethod
    def sides(cls) -> Sides:
        """Return the memory spaces of the sides: only the host."""
        return host_space(), None

    def current_space(self) -> MemorySpace:
        """Return the host memory space."""
        return host_space()


class GPUStorage(Storage):
    """A storage in device memory, without a host buffer."""

    __slots__ = ()

    data: ClassVar[None] = None
    device_data = property(_device_data)
    __cuda_array_interface__ = property(_cuda_array_interface)

    @classmethod
    def from_plan(cls, plan: Plan, init: Any = None) -> Self:
        """Return a new storage with the memory layout `plan`."""
        return _with_buffer(cls, plan, init)

    @classmethod
    def sides(cls) -> Sides:
        """Return the memory spaces of the sides: only the device."""
        return None, device_space()

    def current_space(self) -> MemorySpace:
        """Return the memory space of the device."""
        return self._needed_side("device")


class CUDAManagedGPUStorage(Storage):
    """A storage in CUDA unified memory, which the driver moves between host and device."""

    __slots__ = ()

    managed: ClassVar[Managed | None] = "cuda"
    data = property(_data)
    device_data = property(_device_data)
    __array_interface__ = property(_array_interface)
    __cuda_array_interface__ = property(_cuda_array_interface)
    __buffer__ = _buffer_protocol

    @classmethod
    def from_plan(cls, plan: Plan, init: Any = None) -> Self:
        """Return a new storage with the memory layout `plan`."""
        return _with_buffer(cls, plan, init)

    @classmethod
    def sides(cls) -> Sides:
        """Return the memory spaces of the sides: unified memory for the host, and the device."""
        return managed_space(), device_space()

    def window(self, space: MemorySpace) -> Any:
        """Return the array in `space`; for the host, wait first for all device work."""
        backing = self.backing()
        if space is not backing.device:
            return backing.window(space, self._array)
        return super().window(space)

    def reading_window(self) -> np.ndarray[Any, Any]:
        """Return a read-only view of the host array, after waiting for all device work."""
        window: np.ndarray[Any, Any] = self.window(self._needed_side("host")).view()
        window.flags.writeable = False
        return window

    def current_space(self) -> MemorySpace:
        """Return the space of unified memory."""
        return managed_space()


class SoftwareManagedGPUStorage(Storage):
    """A storage with a buffer on each side, synchronised by the runtime."""

    __slots__ = ()

    managed: ClassVar[Managed | None] = "gt4py"
    data = property(_data)
    device_data = property(_device_data)
    __array_interface__ = property(_array_interface)
    __cuda_array_interface__ = property(_cuda_array_interface)
    __buffer__ = _buffer_protocol

    @classmethod
    def from_plan(cls, plan: Plan, init: Any = None) -> Self:
        """Return a new storage; `init` is applied on the side that is used first."""
        return _with_buffer(cls, plan, init)

    @classmethod
    def sides(cls) -> Sides:
        """Return the memory spaces of the sides: the host and the device."""
        return host_space(), device_space()

    @property
    def sync_state(self) -> SyncState:
        """Return the synchronisation state, the same object for all views (GDP-98, GDP-130)."""
        return self.backing().sync_state

    def writes_on_device(self, value: Any) -> bool:
        """Return whether the assignment executes on the device (GDP-122).

        It does for values on the device, and for storages of this class whose device side is
        current.
        """
        if isinstance(value, SoftwareManagedGPUStorage):
            return value.sync_state.state is not Sync.HOST_DIRTY
        return on_gpu(value)

    def current_space(self) -> MemorySpace:
        """Return the host space if it is current, else the device space."""
        stale = self.sync_state.state is Sync.DEVICE_DIRTY
        return self._needed_side("device" if stale else "host")


CudaManagedGPUStorage = CUDAManagedGPUStorage
CUDASyncedGPUStorage = CUDAManagedGPUStorage
GT4PySyncedGPUStorage = SoftwareManagedGPUStorage
ExplicitlySyncedGPUStorage = SoftwareManagedGPUStorage
ExplicitlyManagedGPUStorage = SoftwareManagedGPUStorage


def kind_of(device: str | None, managed: Managed | None) -> type[Storage]:
    """Return the storage class for `device` and `managed` (GDP-126 to GDP-129)."""
    if device is None:
        return CPUStorage
    match managed:
        case None:
            return GPUStorage
        case "cuda":
            return CUDAManagedGPUStorage
        case "gt4py":
            return SoftwareManagedGPUStorage


def new_buffer(kind: type[Storage], plan: Plan, nbytes: int) -> CoherentBuffer:
    """Return a buffer of at least `nbytes` bytes for storages of class `kind`, without memory."""
    options = _options(kind, plan, nbytes)
    return CoherentBuffer(_size(options), plan.parameters.dtype, options)


def _size(options: BufferOptions) -> int:
    return 0 if options.chunks is None else options.chunks.size


def _options(kind: type[Storage], plan: Plan, nbytes: int) -> BufferOptions:
    parameters = plan.parameters
    size = -(-nbytes // max(parameters.dtype.itemsize, 1))
    host, device = kind.sides()
    # Copies overlap with the work of a GPU only if the host memory is page-locked.
    pinned = device is not None and resolved_device() is DeviceKind.CUDA
    hints = Hints(managed=host is managed_space(), pinned=pinned)
    alignment = lcm(parameters.labels.alignment_size, _LINE)
    chunks = cut_memory(parameters, plan.strides, plan.offset, size) or whole(size)
    label = parameters.labels.label
    return BufferOptions(label, None, chunks, hints, alignment=alignment)


def backed_by(
    buffer: CoherentBuffer,
    kind: type[Storage],
    origin: int,
    parameters: Parameters,
    device: MemorySpace | None = None,
) -> Backing:
    """Return the backing of storages of class `kind` on `buffer`.

    `origin` is the address of byte 0 in the arrays that describe the storages. `device` is the
    device that already has a replica; None selects the default device. Raises
    `DeviceUnavailableError` for a class with a device side on a machine without a device.
    """
    host, default = kind.sides()
    if default is not None:
        device = device or default
        memory_of(device)
    backing = Backing(host, device, parameters.strict_exports, parameters.labels.label)
    backing.attach(buffer, origin)
    return backing


def ghost(parameters: Parameters, strides: tuple[int, ...], offset: int) -> np.ndarray[Any, Any]:
    """Return an array without accessible memory that describes shape, strides and offset.

    Its address is `offset` bytes after `NOWHERE`. The array of a storage with a buffer only
    describes the layout of the elements.
    """
    low, high = byte_extent(parameters.shape, strides, parameters.dtype.itemsize)
    pages = foreign_pages(NOWHERE + offset + low, high - low, None)
    return np.ndarray(parameters.shape, parameters.dtype, pages, -low, strides)


class _Shared:
    """State shared by all storages of one class that one plan creates.

    `sides` are the sides of the latest storage, and `asked` the default device at that time.
    `places` are the replica places of that storage; the next storage on the same device reuses
    them.
    """

    __slots__ = ("options", "size", "nbytes", "array", "points", "sides", "asked", "places")

    def __init__(self, options: BufferOptions, array: np.ndarray[Any, Any]) -> None:
        """Start without replica places."""
        self.options = options
        self.size = _size(options)
        self.array = array
        self.points = array.size
        self.nbytes = self.size * array.dtype.itemsize
        self.sides: Sides = (None, None)
        self.asked: str | None = None
        self.places: tuple[ReplicaPlace, ...] = ()

    def allocate(self, buffer: CoherentBuffer, sides: Sides, asked: str) -> None:
        """Allocate memory for a new buffer in the spaces `sides`; record the replica places."""
        spaces = [space for space in sides if space is not None]
        buffer.allocate(spaces)
        memories = [buffer.replicas.at(space).memory for space in spaces]
        if len(set(memories)) == len(spaces):
            self.sides, self.places = sides, tuple(map(ReplicaPlace, spaces, memories))
            self.asked = asked


def _with_buffer(kind: type[_Kind], plan: Plan, init: Any) -> _Kind:
    parameters = plan.parameters
    known: _Shared | None = plan.shared.get(kind)
    if known is None:
        array = ghost(parameters, plan.strides, plan.offset)
        known = plan.shared[kind] = _Shared(_options(kind, plan, plan.nbytes), array)
    options, array = known.options, known.array
    if init is not None:
        options = replace(options, init=init)
    buffer = CoherentBuffer(known.size, parameters.dtype, options)
    asked = setting(DEFAULT_DEVICE_VARIABLE, "0")
    is_known = asked == known.asked
    sides = known.sides if is_known else kind.sides()
    if not is_known:
        # Otherwise an earlier storage has already used that device.
        memory_of(sides[1] or host_space())
    backing = Backing(*sides, parameters.strict_exports, options.label)
    backing.attach(buffer, NOWHERE, known.points)
    if not parameters.delayed:
        if is_known:
            buffer.replicas.begin_at(known.places, known.nbytes)
        else:
            known.allocate(buffer, sides, asked)
    return kind(array, plan.labels, backing)


def _packed_array(plan: Plan, init: Any) -> np.ndarray[Any, Any]:
    make: Any = np.empty if init is None else np.zeros
    array: np.ndarray[Any, Any] = make(plan.parameters.shape, plan.parameters.dtype, plan.order)
    return array


def _aligned_array(plan: Plan) -> np.ndarray[Any, Any]:
    parameters = plan.parameters
    alignment = parameters.labels.alignment_size
    pages = np.empty(plan.nbytes + alignment, np.uint8)
    start = -addressof(c_char.from_buffer(pages.data)) % alignment + plan.offset
    return np.ndarray(parameters.shape, parameters.dtype, pages, start, plan.strides)


NOWHERE = 1 << 12
"""The address of arrays without memory: a page that no process can access."""
_LINE = 64
