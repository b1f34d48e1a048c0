"""All ways to use one buffer, with three operations that a test can apply to any of them.

Each class is one kind of use of one facade. `places` are the memory spaces where it can be used,
`policy` is its conflict policy, and `overwrites` tells whether it can replace all values without
transferring the old ones; where it `notices`, it does so for each update that covers all values.
For a buffer in chunks, a use that goes `by_chunk` only needs the chunks that it covers partly.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from psyclone_storage.storage import RDONLY, RDWR, WRONLY, Storage, as_storage, bound
from psyclone_storage.storage.accessors import (
    AccessMode,
    Buffer,
    DeviceAccessor,
    GpuTask,
    HostAccessor,
    memory_space,
)
from psyclone_storage.storage.core.locks import Policy
from psyclone_storage.storage.hmemo import HArray, ReadAccess, WriteAccess, WriteOnlyAccess
from psyclone_storage.storage.kokkos import LayoutRight, View, create_mirror, deep_copy, subview
from storage_threads import PATIENCE

Array = np.ndarray[Any, Any]
PLACES = ("host", "gpu", "gpu:1", "uvm")


class Face(Protocol):
    """Be one manner of using a buffer."""

    places: ClassVar[tuple[str, ...]]
    policy: ClassVar[Policy]
    overwrites: ClassVar[bool]
    notices: ClassVar[bool]
    by_chunk: ClassVar[bool]

    def read(self, place: str) -> Array:
        """Return a copy of all values, read at `place`."""

    def update(self, place: str, region: slice, values: Array) -> None:
        """Set the elements of `region` at `place`; the others keep their values."""

    def overwrite(self, place: str, values: Array) -> None:
        """Set all elements at `place`, without a look at the old values."""


class _Whole:
    """Overwrite by an update of everything, which brings the old values first."""

    overwrites: ClassVar[bool] = False
    notices: ClassVar[bool] = False
    by_chunk: ClassVar[bool] = False

    def overwrite(self: Any, place: str, values: Array) -> None:
        """Set all elements."""
        self.update(place, slice(0, len(values)), values)


class _OverStorage:
    policy: ClassVar[Policy] = Policy.AUTO

    def __init__(self, buffer: Buffer) -> None:
        """Lay a storage with both sides over the buffer."""
        self.storage: Storage = as_storage(buffer, device="gpu", managed="gt4py")

    @staticmethod
    def device(place: str) -> str | None:
        """Return the name of a place among the words of GDP-3."""
        return None if place == "host" else "gpu"


class StorageElements(_OverStorage):
    """GDP-3: indexing with numbers and slices."""

    places = ("host",)
    overwrites = True
    notices = True
    by_chunk = True

    def read(self, place: str) -> Array:
        """Read half of the elements through a slice, the others one by one."""
        half = self.storage.size // 2
        rest = [self.storage[at] for at in range(half, self.storage.size)]
        return np.concatenate([self.storage[:half].data_ro, np.array(rest, "i8")])

    def update(self, place: str, region: slice, values: Array) -> None:
        """Assign to a slice."""
        self.storage[region] = values

    def overwrite(self, place: str, values: Array) -> None:
        """Assign to everything."""
        self.storage[...] = values


class StorageBlocks(_OverStorage):
    """GDP-3: `access` blocks on either side, also of slices."""

    places = ("host", "gpu")
    overwrites = True
    notices = True
    by_chunk = True

    def read(self, place: str) -> Array:
        """Read in a block."""
        with self.storage.access(self.device(place), RDONLY) as array:
            return np.array(array)

    def update(self, place: str, region: slice, values: Array) -> None:
        """Overwrite a slice: what is beside it has to stay."""
        with self.storage[region].access(self.device(place), WRONLY) as array:
            array[...] = values

    def overwrite(self, place: str, values: Array) -> None:
        """Overwrite in a block."""
        with self.storage.access(self.device(place), WRONLY) as array:
            array[...] = values


class StorageCalls(_Whole, _OverStorage):
    """GDP-3: arguments of a stencil call."""

    places = ("host", "gpu")

    def read(self, place: str) -> Array:
        """Read in a call."""
        with bound({"field": self.storage}, device=self.device(place)) as arrays:
            return np.array(arrays["field"])

    def update(self, place: str, region: slice, values: Array) -> None:
        """Write in a call."""
        call = bound({"field": self.storage}, device=self.device(place), writes=["field"])
        with call as arrays:
            arrays["field"][region] = values


class StorageExports(_Whole, _OverStorage):
    """GDP-3: arrays that leave the runtime, after a `synchronize` that must not change anything."""

    places = ("host",)

    def read(self, place: str) -> Array:
        """Read the exported read-only array."""
        return np.array(self.storage.data_ro)

    def update(self, place: str, region: slice, values: Array) -> None:
        """Write to the exported array at once."""
        self.storage.to_numpy()[region] = values


class HMemoAccesses:
    """HMemo: read, write and write-only accesses."""

    places = PLACES
    policy = Policy.RAISE
    overwrites = True
    notices = False
    by_chunk = False

    def __init__(self, buffer: Buffer) -> None:
        """Lay a heterogeneous array over the buffer."""
        self.array = HArray.over(buffer)

    def read(self, place: str) -> Array:
        """Read through a read access."""
        with ReadAccess(self.array, place) as access:
            return np.array(access.kernel_array)

    def update(self, place: str, region: slice, values: Array) -> None:
        """Write through a write access."""
        with WriteAccess(self.array, place) as access:
            access.kernel_array[region] = values

    def overwrite(self, place: str, values: Array) -> None:
        """Write through a write-only access."""
        with WriteOnlyAccess(self.array, place) as access:
            access.kernel_array[...] = values


class _OverViews:
    policy: ClassVar[Policy] = Policy.AUTO

    def __init__(self, buffer: Buffer) -> None:
        """Lay views over the buffer, one for each space once it is used."""
        self._buffer = buffer
        self._views: dict[str, View] = {}

    def view(self, place: str) -> View:
        """Return the view at `place`."""
        if place not in self._views:
            of_place = View["int64_t*", LayoutRight, memory_space(place)]
            self._views[place] = of_place(self._buffer)
        return self._views[place]


class KokkosElements(_Whole, _OverViews):
    """Kokkos: single elements of a view."""

    places = ("host", "uvm")

    def read(self, place: str) -> Array:
        """Read one by one."""
        view = self.view(place)
        return np.array([view(at) for at in range(view.extent(0))], "i8")

    def update(self, place: str, region: slice, values: Array) -> None:
        """Write one by one, through a subview."""
        part = subview(self.view(place), (region.start, region.stop))
        for at, value in enumerate(values):
            part[at] = value


class KokkosBlocks(_Whole, _OverViews):
    """Kokkos: views and subviews opened for a computation."""

    places = PLACES

    def read(self, place: str) -> Array:
        """Read an opened view."""
        with self.view(place).opened(write=False) as array:
            return np.array(array)

    def update(self, place: str, region: slice, values: Array) -> None:
        """Write to an opened subview."""
        with subview(self.view(place), (region.start, region.stop)).opened() as array:
            array[...] = values


class KokkosCopies(_OverViews):
    """Kokkos: deep copies to and from mirrors and arrays."""

    places = PLACES
    overwrites = True
    notices = True
    by_chunk = False

    def read(self, place: str) -> Array:
        """Copy to a mirror."""
        view = self.view(place)
        mirror = create_mirror(view)
        deep_copy(mirror, view)
        return np.array(mirror)

    def update(self, place: str, region: slice, values: Array) -> None:
        """Copy an array to a subview."""
        deep_copy(subview(self.view(place), (region.start, region.stop)), values)

    def overwrite(self, place: str, values: Array) -> None:
        """Copy an array to the view."""
        deep_copy(self.view(place), values)


class HostAccessors(_Whole):
    """Accessors: host code that indexes."""

    places = ("host",)
    policy = Policy.WAIT

    def __init__(self, buffer: Buffer) -> None:
        """Make one accessor of each kind."""
        self._reader = HostAccessor(buffer, const=True)
        self._writer = HostAccessor(buffer)

    def read(self, place: str) -> Array:
        """Read through the const accessor."""
        return np.array(self._reader)

    def update(self, place: str, region: slice, values: Array) -> None:
        """Write through the other one."""
        self._writer[region] = values


class DeviceAccessors:
    """Accessors: device accessors between `open` and `close`."""

    places = PLACES
    policy = Policy.WAIT
    overwrites = True
    notices = False
    by_chunk = False

    def __init__(self, buffer: Buffer) -> None:
        """Use the buffer itself."""
        self._buffer = buffer

    def read(self, place: str) -> Array:
        """Open, read, close."""
        accessor = DeviceAccessor(self._buffer, place, const=True)
        opening = accessor.open()
        try:
            opening.result(PATIENCE)
            return np.array(accessor.kernel_array)
        finally:
            accessor.close().result(PATIENCE)

    def update(self, place: str, region: slice, values: Array) -> None:
        """Write in a block."""
        with DeviceAccessor(self._buffer, place) as accessor:
            accessor.kernel_array[region] = values

    def overwrite(self, place: str, values: Array) -> None:
        """Write in a block that brings nothing in."""
        with DeviceAccessor(self._buffer, place, mode=AccessMode.WRITE_ONLY) as accessor:
            accessor.kernel_array[...] = values


class Tasks:
    """Accessors: device tasks that are run in one go."""

    places = ("gpu", "gpu:1")
    policy = Policy.WAIT
    overwrites = True
    notices = False
    by_chunk = False

    def __init__(self, buffer: Buffer) -> None:
        """Use the buffer itself."""
        self._buffer = buffer

    def read(self, place: str) -> Array:
        """Return what a kernel sees."""
        found: Array = self._task(place, None, "r").run(np.array)
        return found

    def update(self, place: str, region: slice, values: Array) -> None:
        """Let a kernel write a part."""
        self._task(place, None, "rw").run(lambda array: array.__setitem__(region, values))

    def overwrite(self, place: str, values: Array) -> None:
        """Let a kernel write everything."""
        self._task(place, (), None).run(lambda array: array.__setitem__(slice(None), values))

    def _task(self, place: str, stencil: Any, mode: str | None) -> GpuTask:
        return GpuTask("kernel").register(self._buffer, stencil, mode).setup(place)


FACES: dict[str, type[Any]] = {
    face.__name__: face
    for face in (
        StorageElements,
        StorageBlocks,
        StorageCalls,
        StorageExports,
        HMemoAccesses,
        KokkosElements,
        KokkosBlocks,
        KokkosCopies,
        HostAccessors,
        DeviceAccessors,
        Tasks,
    )
}


def fail_in_storage(buffer: Buffer, place: str) -> None:
    """Fail in a writing block of a storage."""
    device = _OverStorage.device(place)
    with as_storage(buffer, device="gpu", managed="gt4py").access(device, RDWR) as array:
        _write_and_fail(array)


def fail_in_hmemo(buffer: Buffer, place: str) -> None:
    """Fail in a write access."""
    with WriteAccess(HArray.over(buffer), place) as access:
        _write_and_fail(access.kernel_array)


def fail_in_view(buffer: Buffer, place: str) -> None:
    """Fail in an opened view."""
    with KokkosBlocks(buffer).view(place).opened() as array:
        _write_and_fail(array)


def fail_in_task(buffer: Buffer, place: str) -> None:
    """Fail in the kernel of a task."""
    GpuTask("fails").register(buffer, None, "rw").setup(place).run(_write_and_fail)


class KernelError(Exception):
    """Be what a failing kernel raises."""


LEFT_BEHIND = -1
"""What a failing kernel leaves in all elements."""

FAILURES = {
    fail_in_storage: ("host", "gpu"),
    fail_in_hmemo: PLACES,
    fail_in_view: PLACES,
    fail_in_task: ("gpu", "gpu:1"),
}
"""The ways to fail, and where each can happen."""


def _write_and_fail(array: Array) -> None:
    array[...] = LEFT_BEHIND
    raise KernelError
