"""`Storage`, an n-dimensional field with labels over coherent memory (GDP-3).

A storage consists of an array that describes shape and strides, labels, and a `Backing` that all
storages of the same data share. It supports no arithmetic (GDP-2). Two rules keep it coherent. Each
operation first updates the side that it uses. Each export (`to_numpy`, `__array_interface__` and
others) counts as a write on that side, because the runtime cannot track the use of an exported
array. `data_ro` and `access` read the values without that effect.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import GTNoSuchBufferError
from psyclone_storage.storage.core.index_keys import is_basic, is_element, view_key, with_ellipsis
from psyclone_storage.storage.core.layout import layout_of
from psyclone_storage.storage.core.locks import AccessMode, mode_of
from psyclone_storage.storage.core.native import Sliceable, Windows, register
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.token import AccessToken, spelled_type
from psyclone_storage.storage.gdp import assignment, item_access, operators
from psyclone_storage.storage.gdp.access_context import StorageAccess
from psyclone_storage.storage.gdp.allocation_plan import Plan, plan_memory
from psyclone_storage.storage.gdp.data_interface import described, wait_for_queued
from psyclone_storage.storage.gdp.indexing import host_key, on_gpu
from psyclone_storage.storage.gdp.labels import Cut, Halo, HaloLike, Labels, checked_halo, resolved
from psyclone_storage.storage.gdp.parameters import Managed, Parameters, checked_device
from psyclone_storage.storage.gdp.shared_buffer import FIRST_USE, Backing, on_host
from psyclone_storage.storage.gdp.sync_state import SyncState
from psyclone_storage.storage.interop import dlpack
from psyclone_storage.storage.memory.registry import memory_of

Array: TypeAlias = "np.ndarray[Any, Any]"

Sides: TypeAlias = tuple[MemorySpace | None, MemorySpace | None]

READ = AccessMode.READ
WRITE = AccessMode.READ_WRITE
OVERWRITE = AccessMode.WRITE_ONLY


class Storage(Sliceable, operators.NoArithmetic, ABC):  # pylint: disable=too-many-public-methods
    """A field in host memory, in device memory, or in both.

    Use the creation functions to create storages; this class is public for `isinstance` (GDP-5).
    The subclasses differ in their sides and in the agent that synchronises them.
    """

    __slots__ = ("__weakref__",)
    _labels: Labels | Cut
    _backing: Backing | None
    _windows: Windows | None

    SyncState: ClassVar[type[SyncState]] = SyncState
    managed: ClassVar[Managed | None] = None

    # -- making ----------------------------------------------------------------------------------

    def parameters(self) -> Parameters:
        """Return the creation parameters with which `allocate` makes a storage like this one."""
        return Parameters(
            self.shape,
            self.dtype,
            layout_of(self.strides),
            self.labels,
            "gpu" if self.device is not None else None,
            self.managed,
        )

    @classmethod
    def allocate(cls, parameters: Parameters, init: Any = None) -> Self:
        """Return a new storage with all elements set to `init`; None leaves them undefined."""
        return cls.from_plan(plan_memory(parameters), init)

    @classmethod
    @abstractmethod
    def from_plan(cls, plan: Plan, init: Any = None) -> Self:
        """Return a new storage with the memory layout `plan`; `init` as in `allocate`."""

    @classmethod
    @abstractmethod
    def sides(cls) -> Sides:
        """Return the memory spaces of the host and of the device buffer, None for a missing one.

        Raises `DeviceUnavailableError` only when memory is requested there.
        """

    @abstractmethod
    def current_space(self) -> MemorySpace:
        """Return a memory space with current data; prefer the host if several are current."""

    # -- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents, including the halo."""
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the element type."""
        dtype: np.dtype[Any] = self._array.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self._array.size

    @property
    def nbytes(self) -> int:
        """Return the total size of the elements in bytes, without padding (GDP-94)."""
        return self._array.nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Return the strides in bytes (GDP-97)."""
        return self._array.strides

    @property
    def device(self) -> str | None:
        """Return `"gpu"` if the storage has a device buffer, else None (GDP-87)."""
        backing = self._backing
        return None if backing is None or backing.device is None else "gpu"

    @property
    def labels(self) -> Labels:
        """Return the labels: halo, names of the dimensions and aligned point."""
        labels = self._labels
        if isinstance(labels, tuple):
            labels = self._labels = resolved(labels)
        return labels

    @property
    def label(self) -> str:
        """Return the name that appears in messages and statistics."""
        return self.labels.label

    @property
    def dims(self) -> tuple[str, ...] | None:
        """Return the names of the dimensions, None if they are unnamed."""
        return self.labels.dims

    @property
    def aligned_index(self) -> tuple[int, ...]:
        """Return the index of the point whose address is aligned."""
        return self.labels.aligned_point

    @property
    def halo(self) -> Halo:
        """Return for each dimension the widths of the halo at its start and end (GDP-91)."""
        return self.labels.halo

    @halo.setter
    def halo(self, halo: HaloLike) -> None:
        """Set the halo, in the notation of the creation functions (GDP-92); data do not move."""
        self._labels = self.labels.with_halo(checked_halo(halo, self.shape))
        if self._windows is not None:
            self._windows.interface = None

    @property
    def buffer(self) -> CoherentBuffer:
        """Return the coherent buffer that this storage shares with all other facades."""
        return self.backing().buffer_over(self._array)

    @property
    def domain_view(self) -> Self:
        """Return a view of the domain, that is, of all points outside the halo (GDP-89)."""
        return self[  # type: ignore[no-any-return]
            tuple(
                slice(low, extent - high)
                for (low, high), extent in zip(self.halo, self.shape, strict=True)
            )
            or Ellipsis
        ]

    @property
    def __gt_data_interface__(self) -> dict[str | None, dict[str, Any]]:
        """Describe the buffers of both sides and how to synchronise them (GDP-83, GDP-84)."""
        windows = self._windows
        if windows is None or windows.interface is None:
            return self._described()
        wait_for_queued(self.backing())
        return windows.interface

    # -- elements and views ----------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first dimension, as NumPy does."""
        if not self.ndim:
            raise TypeError(f"{self.describe()} has no dimension to go through.")
        return (self[index] for index in range(len(self)))

    def __setitem__(self, key: Any, value: Any) -> None:
        """Copy `value` to the elements that `key` selects, on host or device (GDP-119 to 124)."""
        assignment.assign(self, key, value)

    def writes_on_device(self, value: Any) -> bool:
        """Return whether `self[...] = value` executes on the device, for two-sided storages."""
        return on_gpu(value)

    def __eq__(self, other: object) -> Any:
        """Return a host array of booleans: the elementwise comparison, as in NumPy."""
        return operators.compared(np.equal, self, other)

    def __ne__(self, other: object) -> Any:
        """Return a host array of booleans: the elementwise comparison, as in NumPy."""
        return operators.compared(np.not_equal, self, other)

    # By identity, as for tensors of other libraries: sets compare identities before values.
    __hash__ = object.__hash__

    def transpose(self, *axes: Any) -> Self:
        """Return a view with permuted dimensions, reversed if no axes are given (GDP-111)."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        chosen = tuple(order) if order else tuple(reversed(range(self.ndim)))
        array = self._array.transpose(chosen)
        labels = self.labels.permuted([axis % max(self.ndim, 1) for axis in chosen])
        return type(self)(array, labels, self.backing())

    @property
    def T(self) -> Self:  # noqa: N802  # pylint: disable=invalid-name
        """Return the view with reversed dimensions."""
        return self.transpose()

    def copy(self) -> Self:
        """Return a storage with the same parameters, a copy of the data and its own state."""
        twin = self.allocate(self.parameters())
        twin[...] = self
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return `copy()` (GDP-101)."""
        return self.copy()

    def item(self, *index: int) -> Any:
        """Return the element at `index` as a Python number; without an index, the only element."""
        return item_access.item(self, index)

    # -- the two sides ---------------------------------------------------------------------------

    def to_numpy(self) -> Array:
        """Return the host buffer as an updated NumPy array; the host side then counts as modified.

        Raises `GTNoSuchBufferError` if there is no host buffer (GDP-110).
        """
        backing = self._backing
        if backing is None or (backing.buffer is None and not backing.strict):
            return self._array.view()
        return self._exported_host()

    def to_cupy(self) -> Any:
        """Return the device buffer as an updated array; the device side then counts as modified.

        Raises `GTNoSuchBufferError` if there is no device buffer (GDP-108).
        """
        device = self._needed_side("device")
        self.acquire("gpu", WRITE if self._is_writable(device) else READ).release()
        return self.backing().lend(self.window(device))

    def to_ndarray(self) -> Any:
        """Return the device buffer as an array if there is one, else the host buffer (GDP-109)."""
        return self.to_numpy() if self.device is None else self.to_cupy()

    to_xp = to_ndarray

    @property
    def data_ro(self) -> Array:
        """Return the host buffer as an updated, read-only array; the device side stays current."""
        backing = self._backing
        if backing is not None and backing.buffer is not None:
            self._use_host(READ)
        return self.reading_window()

    @property
    def data_wo(self) -> Array:
        """Return the host buffer as an array to overwrite; current values are not transferred."""
        backing = self._backing
        if backing is None or backing.buffer is None:
            return self._array.view()
        self.acquire(None, OVERWRITE).release()
        window: Array = backing.lend(self.window(self._needed_side("host")))
        return window.view()

    if TYPE_CHECKING:

        def access(
            self, device: str | None = None, mode: AccessMode | str = READ, region: Any = ...
        ) -> StorageAccess:
            """Return a context manager that locks the data and yields the array of one side.

            `mode` is a mode name of `mode_of`; with a write-only mode, the caller must write all
            elements. On the host, the array of a read access is read-only; on a device, it is a
            kernel argument. If a block that writes raises an exception, the data remain unusable
            until all of them are rewritten. `region` limits the access to the selected elements,
            like `self[region].access(...)`.
            """

    def _access_carefully(self, device: Any, mode: Any, region: Any) -> StorageAccess:
        return StorageAccess(self._part(region), checked_device(device), mode_of(mode))

    def is_current(self, device: str | None = None) -> bool:
        """Return whether the buffer of one side has the current values; no data are copied."""
        backing = self._backing
        space = self._needed_side("host" if checked_device(device) is None else "device")
        if backing is None or backing.buffer is None:
            return True
        return backing.buffer.is_valid(space, backing.region_of(self._array))

    def make_valid(self, device: str | None = None, region: Any = ...) -> None:
        """Update the elements in `region` (a key of integers and slices) on one side."""
        self._part(region).acquire(checked_device(device), READ).release()

    def device_to_host(self, *, force: bool = False) -> None:
        """Update the host buffer if the device was modified, or with `force` (GDP-112).

        If the host is the modified side, this method has no effect without `force`: a copy would
        lose the newer values.
        """
        self.backing().device_to_host(force=force)

    def host_to_device(self, *, force: bool = False) -> None:
        """Update the device buffer if the host was modified, or with `force` (GDP-113)."""
        self.backing().host_to_device(force=force)

    def set_device_modified(self) -> None:
        """Declare that the device buffer was modified from outside (GDP-114)."""
        self.backing().set_device_modified()

    def set_host_modified(self) -> None:
        """Declare that the host buffer was modified from outside (GDP-115)."""
        self.backing().set_host_modified()

    def set_synchronized(self) -> None:
        """Declare that both buffers are equal (GDP-116)."""
        self.backing().set_synchronized()

    def synchronize(self) -> None:
        """Update the stale side, if there is one (GDP-117)."""
        self.backing().synchronize()

    def close(self) -> None:
        """Update the host buffer, so that wrapped memory contains the current values."""
        self.device_to_host()

    def __enter__(self) -> Self:
        """Return the storage; the end of the block closes it."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> None:
        """Close the storage, unless the block raised an exception."""
        if kind is None:
            self.close()

    # -- protocols -------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the host buffer or a copy; raise `GTNoSuchBufferError` without a host buffer."""
        if copy:
            return np.array(self.data_ro, dtype)
        array = self.to_numpy()
        if dtype is None or np.dtype(dtype) == array.dtype:
            return array
        if copy is False:
            raise ValueError(f"{self.describe()} cannot be seen as {np.dtype(dtype)} uncopied.")
        return array.astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Execute comparisons and tests such as `isnan`; reject arithmetic (GDP-2)."""
        found = operators.applied(ufunc, method, inputs, keywords)
        return self.answer(found, ufunc.__name__, map(type, inputs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Execute `np.transpose` (GDP-99) and functions of comparisons; reject others (GDP-2)."""
        found = operators.answered(function, args, kwargs)
        return self.answer(found, function.__name__, types)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the location of the current data as (DLPack device type, device id)."""
        return dlpack.device_of(self)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule of the current data; `dl_device=(1, 0)` exports the host side."""
        return dlpack.export(self, dlpack.ExportRequest(stream, max_version, dl_device, copy))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parameters and the values of the host buffer."""
        return item_access.restored, (type(self), self.parameters(), np.array(self.data_ro))

    def describe(self) -> str:
        """Return label, class, shape, type and location, used as the subject of error messages."""
        name = f'"{self.label}" ' if self.label else ""
        place = "on cpu and gpu" if self._has_both() else f"on {self.device or 'cpu'}"
        dtype = spelled_type(self.dtype)
        return f"The {type(self).__name__} {name}of shape {self.shape} ({dtype}) {place}"

    def __repr__(self) -> str:
        name = f' "{self.label}"' if self.label else ""
        return f"<{type(self).__name__}{name} {self.shape} {self.dtype} halo={self.halo}>"

    # -- for the other files of the runtime ------------------------------------------------------

    @property
    def pattern(self) -> Array:
        """Return an array that describes the elements; without a buffer, it contains the data."""
        return self._array

    def window(self, space: MemorySpace) -> Any:
        """Return the array in `space`, whether current or not; the caller must have an access."""
        backing = self.backing()
        if backing.buffer is None:
            return self._array
        windows = self._kept()
        if space is backing.device:
            if windows.device is None:
                windows.device = backing.window(space, self._array)
            return windows.device
        if windows.host is None:
            windows.host = backing.window(space, self._array)
        return windows.host

    def reading_window(self) -> Array:
        """Return a read-only view of the host array, whether its values are current or not."""
        windows = self._windows
        if windows is None or windows.reading is None:
            reading: Array = self.window(self._needed_side("host")).view()
            reading.flags.writeable = False
            self._kept().reading = reading
            return reading
        return windows.reading

    def token(
        self, device: str | None, mode: AccessMode, part: Array | None = None
    ) -> AccessToken | None:
        """Return an access token, not yet acquired, for one side; None if that side does not exist.

        `part` describes the accessed elements if they are not the whole storage.
        """
        backing = self._backing or self.backing()
        space = backing.host if device is None else backing.device
        if space is None:
            return None
        if backing.buffer is None:
            backing.buffer_over(self._array)
        return backing.token(space, mode, self._array if part is None else part)

    def acquire(self, device: str | None, mode: AccessMode) -> AccessToken:
        """Acquire the data on one side, and return the access token.

        Raises `GTNoSuchBufferError` if that side does not exist.
        """
        token = self.token(device, mode)
        if token is None:
            self._needed_side("host" if device is None else "device")
        assert token is not None
        acquire_all((token,))
        return token

    def window_for(self, token: AccessToken, *, later: bool = False) -> Any:
        """Return the array for the owner of `token`; on a device, in the form that kernels take.

        With `later`, the array is for asynchronous work, which itself waits for preceding
        operations.
        """
        backing = self.backing()
        if token.space is backing.device:
            windows = self._kept()
            if later:
                if windows.later is None:
                    windows.later = token.later_view(self.window(token.space))
                return windows.later
            kernel = windows.kernel
            if kernel is None or memory_of(token.space).jobs:
                made = token.kernel_view(self.window(token.space))
                windows.kernel = kernel = made if kernel is None else kernel
            return kernel
        if not token.mode.writes:
            return self.reading_window()
        return self.window(token.space)

    def seen_as(self, kind: type[Storage], backing: Backing, labels: Labels) -> Storage:
        """Return a storage of class `kind` over the same elements, with the state `backing`."""
        backing.points = self.backing().points
        return kind(self._array, labels, backing)

    def backing(self) -> Backing:
        """Return the state shared by all storages of the same data."""
        backing = self._backing
        if backing is None:
            with FIRST_USE:
                backing = self._backing = self._backing or on_host(False, self.label)
        return backing

    def _kept(self) -> Windows:
        windows = self._windows
        if windows is None:
            windows = self._windows = Windows()
        return windows

    def _has_both(self) -> bool:
        backing = self._backing
        return backing is not None and None not in (backing.host, backing.device)

    def shown(self) -> WindowSpec:
        """Return dtype, shape, strides and offset of the elements of this storage in its buffer."""
        return self.backing().spec_of(self._array)

    def _needed_side(self, side: str) -> MemorySpace:
        backing = self.backing()
        space = backing.host if side == "host" else backing.device
        if space is None:
            where = "in main memory" if side == "host" else "on a device"
            raise GTNoSuchBufferError(
                f"{self.describe()} has no buffer {where}: create it with another device= or "
                f"managed=, or copy it with storage()."
            )
        return space

    def _is_writable(self, space: MemorySpace) -> bool:
        buffer = self.backing().buffer
        if buffer is not None and buffer.const:
            return False
        flags = getattr(self.window(space), "flags", None)
        return bool(getattr(flags, "writeable", True))

    def _exported_host(self) -> Array:
        host = self._needed_side("host")
        backing = self.backing()
        if backing.strict or not self._is_writable(host):
            return self.data_ro
        if backing.buffer is not None:
            self._use_host(WRITE)
        window: Array = backing.lend(self.window(host))
        return window.view()

    def _use_host(self, mode: AccessMode) -> None:
        """Update the host side, and mark it as written if `mode` writes."""
        backing = self.backing()
        buffer, host = backing.buffer, backing.host
        if buffer is not None and host is not None and buffer.single:
            buffer.acquire(host, mode).release()
        else:
            self.acquire(None, mode).release()

    def _described(self) -> dict[str | None, dict[str, Any]]:
        found, lasting = described(self, self.backing())
        self._kept().interface = found if lasting else None
        return found

    def _part(self, region: Any) -> Storage:
        """Return the view that `region` selects, or the storage itself for `...`."""
        part: Storage = self if region is ... else self[view_key(region)]
        return part

    def _picked(self, key: Any) -> Any:
        """Return `self[key]` for any NumPy key, read on the host or on the device."""
        backing, array = self._backing, self._array
        try:
            if is_basic(key) and not is_element(key, self.ndim):
                return self._view(array[with_ellipsis(key)], key)
            if backing is None or backing.buffer is None:
                found = array[host_key(key)]
                return self._view(found, key) if item_access.is_part(found, array) else found
            return item_access.read(self, backing, key)
        except IndexError as error:
            raise item_access.missing(self, key, error) from error


register(array=np.ndarray)
