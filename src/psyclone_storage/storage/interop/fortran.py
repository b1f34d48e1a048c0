"""API of the Fortran side of the storage runtime; it neither builds nor searches for libraries.

`external/storage` implements coherent fields in Fortran, with the rules of `CoherentBuffer`.
`FortranLibrary` loads it, as a separate library or as part of a model. It creates Fortran storages
for use from Python: `create`, or `wrap` for an array. `FortranField` lends a Python storage to
Fortran, without a copy:

    library = FortranLibrary("build/libfield_storage.so")
    field = FortranField(temperature, library)
    with field.lent() as handle:
        model.step(handle)

Inside the block, Fortran owns the field; outside, Python does. At each transfer of ownership, the
new owner learns which copies the other side has written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, NamedTuple, NoReturn

import numpy as np

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessReleasedError,
    AllocationInUseError,
    ConstBufferError,
    MemoryException,
    StorageError,
    UnknownSpaceError,
    ViewTypeError,
)
from psyclone_storage.storage.core.faces import buffer_behind, spec_of, strides_of_spec
from psyclone_storage.storage.core.incarnation import settle
from psyclone_storage.storage.core.layout import byte_extent, is_packed
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceLike, host_space, memory_space
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.interop.fortran_functions import (
    SIGNATURES,
    TEXTS,
    Box,
    Description,
    FortranOptions,
    boxes_of,
    description_of,
)
from psyclone_storage.storage.memory.emulated import EmulatedDeviceMemory
from psyclone_storage.storage.memory.registry import memory_of

_HOST, _FIRST_DEVICE, _MOST_DEVICES = 1, 3, 8
_ACCESSES = {AccessMode.READ: 1, AccessMode.WRITE_ONLY: 2, AccessMode.READ_WRITE: 3}
_LENGTH_OF_TEXT = 512


class HaloDepthError(StorageError, IndexError):
    """Error: a Fortran field has no halo of the requested depth."""

    code = "R230"


_ERRORS: dict[int, type[StorageError]] = {
    int(error.code[1:]): error
    for error in (
        StorageError,
        AccessConflictError,
        ConstBufferError,
        AllocationInUseError,
        AccessReleasedError,
        MemoryException,
        UnknownSpaceError,
        ViewTypeError,
        HaloDepthError,
    )
}


class FortranStatistics(NamedTuple):
    """Counters of transfers and of the halo data that this rank sent."""

    to_device: int
    to_device_bytes: int
    to_host: int
    to_host_bytes: int
    avoided: int
    exchanges: int
    messages: int
    message_bytes: int


_DEFAULTS = FortranOptions()


class FortranLibrary:
    """A loaded library that contains the Fortran storage runtime."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Load the shared library at `path`.

        Raises `OSError` if it does not exist, `AttributeError` if it does not contain the storage
        runtime.
        """
        self.functions = ctypes.CDLL(fspath(path))
        self._ours: dict[str, Callable[..., int]] = {}
        for name, arguments in SIGNATURES.items():
            function = getattr(self.functions, f"field_storage_{name}")
            function.argtypes = arguments
            function.restype = None if name in TEXTS else ctypes.c_int
            self._ours[name] = function

    @property
    def device(self) -> str:
        """Return the kind of device of the library: `none`, `emulated` or `openacc`."""
        return self._text("device")

    @property
    def devices(self) -> int:
        """Return the number of devices; a storage can have copies on at most eight of them."""
        return self.status_of("devices")

    def use_device(self, number: int) -> None:
        """Select the device for this thread's Fortran code; the first device is 0.

        Raises `StorageError` if no device has that number.
        """
        self.call("use_device", number)

    def call(self, name: str, *arguments: Any) -> None:
        """Call the function `field_storage_<name>`; raise the error for its status code."""
        status = self.status_of(name, *arguments)
        if status:
            self.fail(status)

    def fail(self, status: int) -> NoReturn:
        """Raise the error for the status code that the last function has returned."""
        raise _ERRORS.get(status, StorageError)(self._text("error"))

    def function(self, name: str) -> Callable[..., int]:
        """Return the function `field_storage_<name>`, which returns a status code."""
        return self._ours[name]

    def status_of(self, name: str, *arguments: Any) -> int:
        """Call the function `field_storage_<name>`; return its status code."""
        return self._ours[name](*arguments)

    def create(
        self, shape: tuple[int, ...], dtype: Any = np.float64, options: FortranOptions = _DEFAULTS
    ) -> FortranStorage:
        """Return a storage with its own memory; `shape` is in Fortran order.

        Raises `ViewTypeError` for an element type or rank that Fortran does not support.
        """
        return FortranStorage(self, description_of(shape, dtype, options, None), options.label)

    def wrap(
        self, array: np.ndarray[Any, Any], options: FortranOptions = _DEFAULTS
    ) -> FortranStorage:
        """Return a storage over the memory of `array`, and keep the array alive.

        In Fortran, an array in C order has its dimensions reversed. Raises `ViewTypeError` for an
        array that is not contiguous.
        """
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise ViewTypeError(
                f"An array of shape {array.shape} with strides {array.strides} has gaps, which "
                f"Fortran cannot skip: copy it."
            )
        shape = array.shape if array.flags.f_contiguous else array.shape[::-1]
        address = array.__array_interface__["data"][0]
        description = description_of(shape, array.dtype, options, address)
        made = FortranStorage(self, description, options.label)
        made.owner = array
        return made

    def statistics(self, handle: int | None = None) -> FortranStatistics:
        """Return the counters of one storage, or of all storages including closed ones."""
        sums = (ctypes.c_int64 * len(FortranStatistics._fields))()
        self.call("statistics", handle, sums)
        return FortranStatistics(*sums)

    def reset_statistics(self) -> None:
        """Reset the counters of all storages."""
        self.call("reset_statistics", None)

    def _text(self, name: str) -> str:
        text = ctypes.create_string_buffer(_LENGTH_OF_TEXT)
        self.status_of(name, text, _LENGTH_OF_TEXT)
        return text.value.decode("utf-8", "replace")


class FortranStorage:  # pylint: disable=too-many-public-methods
    """A storage in Fortran, used from Python with the names of its Fortran interface.

    Memory spaces are specified as elsewhere in this package: the host or a device. Every method
    converts a Fortran error to the corresponding Python exception.
    """

    def __init__(self, library: FortranLibrary, description: Description, label: str) -> None:
        """Create the storage; `FortranLibrary` calls this."""
        self.library = library
        self.owner: object = None
        self.label = label
        self._handle = ctypes.c_void_p()
        self._get = library.function("get")
        name = (label or "unnamed").encode()
        library.call("make", ctypes.byref(description), name, ctypes.byref(self._handle))

    @property
    def handle(self) -> int:
        """Return the handle that identifies the storage in Fortran and C.

        Raises `AccessReleasedError` after `close`.
        """
        if not self._handle.value:
            raise AccessReleasedError(f'The storage "{self.label}" in Fortran is closed.')
        return self._handle.value

    def close(self) -> None:
        """Free the storage and its memory; raise `AccessConflictError` during an access."""
        if self._handle.value:
            self.library.call("free", self.handle)
            self._handle.value = None
            self.owner = None

    def acquire(self, space: SpaceLike = None, mode: AccessMode = AccessMode.READ) -> None:
        """Acquire the values in `space`, and update them there if necessary."""
        self._call("acquire", _place(space), _ACCESSES[mode])

    def get(self, space: SpaceLike = None, mode: AccessMode = AccessMode.READ) -> int:
        """Make the values current in `space` and return their address there.

        The address is valid until values are used in another space; no release follows.
        """
        address = ctypes.c_void_p()
        place, access = _place(space), _ACCESSES[mode]
        status = self._get(self._handle.value or self.handle, place, access, ctypes.byref(address))
        if status:
            self.library.fail(status)
        return address.value or 0

    def acquire_blocks(
        self, blocks: range, space: SpaceLike = None, mode: AccessMode = AccessMode.READ
    ) -> None:
        """Acquire only `blocks`, indices of the last dimension that start at 1, in `space`.

        At the release, written blocks are copied to the other side if that side is current.
        """
        first, last = blocks.start, blocks.stop - 1
        self._call("acquire_blocks", _place(space), _ACCESSES[mode], first, last)

    def acquire_part(
        self, boxes: Iterable[Box], space: SpaceLike = None, mode: AccessMode = AccessMode.READ
    ) -> None:
        """Acquire only the index boxes `boxes` in `space`; other elements are not transferred.

        At the release, written elements are copied to the other side if that side is current.
        """
        parts = boxes_of(boxes)
        self._call("acquire_part", _place(space), _ACCESSES[mode], parts, len(parts))

    def release(self, space: SpaceLike = None) -> None:
        """End the latest access in `space`."""
        self._call("release", _place(space))

    def touch(self, space: SpaceLike = None) -> None:
        """Mark all values in `space` as new: all other copies and the halo become stale."""
        self._call("touch", _place(space))

    def assume_valid(self, *spaces: SpaceLike) -> None:
        """Mark exactly these spaces as current; no data are copied."""
        self.assume_valid_at([_place(space) for space in spaces])

    def assume_valid_at(self, places: Sequence[int]) -> None:
        """Mark exactly the spaces with these Fortran numbers as current; no data are copied."""
        self._call("assume_valid", (ctypes.c_int * len(places))(*places), len(places))

    def valid_places(self) -> list[int]:
        """Return the Fortran numbers of the spaces with current values."""
        devices = min(self.library.devices, _MOST_DEVICES)
        places = (_HOST, *range(_FIRST_DEVICE, _FIRST_DEVICE + devices))
        return [place for place in places if self._ask_at(place)[1]]

    def attach_device(self, address: int, space: SpaceLike = "gpu") -> None:
        """Use existing device memory at `address` for the copy in `space`.

        The caller remains the owner of the memory.
        """
        self._call("attach_device", _place(space), address)

    def leave_device(self) -> None:
        """Free the device memory."""
        self._call("leave_device")

    def begin_exchange(self, depth: int, space: SpaceLike = None) -> None:
        """Start a halo exchange of the values in `space`; until its end, only reads are allowed."""
        self._call("begin_exchange", _place(space), depth)

    def begin_exchange_of_parts(
        self, depth: int, sent: Sequence[Box], received: Sequence[Box], space: SpaceLike = None
    ) -> None:
        """Start a halo exchange of index boxes: send the boxes `sent`, receive those `received`."""
        counts = len(sent), len(received)
        parts = boxes_of((*sent, *received))
        self._call("begin_exchange_of_parts", _place(space), depth, parts, *counts)

    def end_exchange(self, messages: int = 0, nbytes: int = 0) -> None:
        """End the exchange: the halo becomes clean, copies in other spaces become stale."""
        self._call("end_exchange", messages, nbytes)

    def is_dirty(self, depth: int) -> bool:
        """Return whether the halo is stale at `depth`."""
        dirty = ctypes.c_int()
        self._call("is_dirty", depth, ctypes.byref(dirty))
        return bool(dirty.value)

    def set_dirty(self) -> None:
        """Mark the halo as stale at every depth."""
        self._call("set_dirty")

    def set_clean(self, depth: int) -> None:
        """Mark the halo as current up to `depth`."""
        self._call("set_clean", depth)

    def is_valid(self, space: SpaceLike = None) -> bool:
        """Return whether the copy in `space` has the current values."""
        return self._ask(space)[1]

    def address(self, space: SpaceLike = None) -> int:
        """Return the address of the copy in `space`, 0 without a copy."""
        return self._ask(space)[0]

    @property
    def version(self) -> int:
        """Return the number of completed writes."""
        version = ctypes.c_int64()
        self._call("version", ctypes.byref(version))
        return version.value

    @property
    def statistics(self) -> FortranStatistics:
        """Return the counters of this storage."""
        return self.library.statistics(self.handle)

    def reset_statistics(self) -> None:
        """Reset the counters."""
        self._call("reset_statistics")

    def abandon(self) -> None:
        """End every access and exchange after a failure of their owner."""
        for space in (_HOST, *range(_FIRST_DEVICE, _FIRST_DEVICE + _MOST_DEVICES)):
            while not self.library.status_of("release", self.handle, space):
                pass
        self.library.status_of("end_exchange", self.handle, 0, 0)

    def _call(self, name: str, *arguments: Any) -> None:
        self.library.call(name, self.handle, *arguments)

    def _ask(self, space: SpaceLike) -> tuple[int, bool]:
        return self._ask_at(_place(space))

    def _ask_at(self, place: int) -> tuple[int, bool]:
        address, valid = ctypes.c_void_p(), ctypes.c_int()
        self._call("ask", place, ctypes.byref(address), ctypes.byref(valid))
        return address.value or 0, bool(valid.value)

    def __enter__(self) -> FortranStorage:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Close the storage; after a failed block, first end its open accesses."""
        if error is not None and self._handle.value:
            self.abandon()
        self.close()

    def __repr__(self) -> str:
        return f'<FortranStorage "{self.label}">'


class FortranField:
    """A Python storage, view or array that is lent to Fortran without a copy.

    Fortran accesses its elements in memory order. Without `device`, Fortran makes a copy on its own
    device when it needs one, and reuses it in later loans until Python writes. The host has the
    current values at the end of each loan. With `device`, Fortran uses the Python replica in that
    space as its device copy, and the values stay on the side of the last write.
    """

    def __init__(
        self,
        face: Any,
        library: FortranLibrary,
        device: SpaceLike = None,
        extents: tuple[int, ...] | None = None,
        halo_depth: int = 0,
    ) -> None:
        """Prepare to lend the elements of `face`; allocate host memory now.

        `extents` is the shape in Fortran, in Fortran order; by default, there is one dimension.

        Raises `TypeError` for an object without a buffer, `StorageError` for a buffer with several
        chunks, and `ValueError` for extents that do not fit. Raises `ViewTypeError` for elements
        with gaps, and for a part of a buffer if `device` is given. Raises `MemoryException` if the
        library cannot use the memory in `device`.
        """
        self.buffer: CoherentBuffer = buffer_behind(face)
        self.device: MemorySpace | None = None if device is None else memory_space(device)
        self._part = _part_of(face)
        # The buffer of a storage may end with padding for alignment.
        covers = getattr(face, "covers_buffer", None)
        everything = covers is not None and covers()
        self._is_whole = everything or self._part.size == self.buffer.size
        shape = (self._part.size,) if extents is None else extents
        self._check(shape)
        self._pin = self.buffer.pin()
        options = FortranOptions(self.buffer.label, halo_depth, has_values=False)
        host = self._memory_at(host_space())
        description = description_of(shape, self.buffer.dtype, options, host)
        self.fortran = FortranStorage(library, description, self.buffer.label)
        if self.device is not None:
            _check_device(library, self.device)
            self.fortran.attach_device(self._memory_at(self.device), self.device)
        self._seen = -1

    @contextmanager
    def lent(self, mode: AccessMode = AccessMode.READ_WRITE) -> Iterator[int]:
        """Lend the values to Fortran for a block; yield the handle that its procedures take.

        With `READ`, Fortran may only read; with `WRITE_ONLY`, it must write all values. After an
        exception in the block, data that Fortran could write are unusable until all are rewritten.

        Raises `AccessConflictError` if an access is active in Python, or if Fortran does not end an
        access within the block; `ConstBufferError` if Fortran wrote values that were lent for
        reading.
        """
        if mode is AccessMode.WRITE_ONLY and not self._is_whole:
            mode = AccessMode.READ_WRITE
        with self.buffer.acquire(self._home(), mode, Policy.RAISE) as token:
            try:
                self._begin(token)
                written = self.fortran.version
                yield self.fortran.handle
                self._end(token, written)
            except BaseException as error:
                self.fortran.abandon()
                self._seen = -1
                if token.mode.writes and isinstance(error, AccessConflictError):
                    # A rejected access does not fail the data, but Fortran may have written before.
                    token.release(StorageError(str(error)))
                raise

    def close(self) -> None:
        """Free the Fortran storage; the values remain in Python."""
        self.fortran.close()
        self._pin.release()

    def _home(self) -> MemorySpace:
        """Return the space of the lent values: the host, unless only the device is valid."""
        buffer, host = self.buffer, host_space()
        if self.device is None or buffer.is_valid(host) or not buffer.is_valid(self.device):
            return host
        return self.device

    def _begin(self, token: AccessToken) -> None:
        """Pass the validity of the copies to Fortran, after pending device work has ended."""
        settle(self.buffer.replicas.all())
        if not token.mode.reads:
            self.fortran.assume_valid()
        elif self.device is not None:
            sides = (host_space(), self.device)
            self.fortran.assume_valid(*(side for side in sides if self.buffer.is_valid(side)))
        elif self._seen != self.buffer.version:
            self.fortran.assume_valid(host_space())

    def _end(self, token: AccessToken, written: int) -> None:
        """Adopt the validity of the copies from Fortran."""
        fortran = self.fortran
        sides = [host_space()] if self.device is None else [host_space(), self.device]
        if fortran.valid_places() and not any(map(fortran.is_valid, sides)):
            fortran.acquire()
            fortran.release()
        # This call changes nothing; it raises an error if an access is still active.
        fortran.assume_valid_at(fortran.valid_places())
        valid = [side for side in sides if fortran.is_valid(side)]
        if self.device is not None and valid:
            self.buffer.assume_valid(valid)
        if fortran.version != written and not token.mode.writes:
            raise ConstBufferError(f"{token.describe()} was lent, but Fortran wrote to it.")
        self._seen = self.buffer.version + token.mode.writes

    def _memory_at(self, space: MemorySpace) -> int:
        """Return the address of the Python replica in `space`; allocate it if necessary."""
        self.buffer.reserve(self.buffer.size, space)
        replica = self.buffer.replicas.at(space)
        return replica.allocation_there().pointer + self._part.start * self.buffer.itemsize

    def _check(self, shape: tuple[int, ...]) -> None:
        if self.buffer.chunks.count > 1:
            raise StorageError(
                f'"{self.buffer.label}" has several chunks, but Fortran keeps a field as a whole.'
            )
        if self.device is not None and not self._is_whole:
            raise ViewTypeError(
                f'{self._part.size} of the {self.buffer.size} elements of "{self.buffer.label}" '
                f"cannot share a copy at {self.device.tag} with Fortran: lend the whole, or leave "
                f"the device to Fortran."
            )
        if int(np.prod(shape)) != self._part.size:
            raise ValueError(
                f'"{self.buffer.label}" lends {self._part.size} elements, which do not fit into '
                f"extents {shape}."
            )

    def __repr__(self) -> str:
        return f"<FortranField {self.buffer!r}>"


class _LentRange(NamedTuple):
    """The range of lent elements of a buffer: the index of the first one, and their number."""

    start: int
    size: int


def _part_of(face: Any) -> _LentRange:
    """Return the element range of a facade; raise `ViewTypeError` if it has gaps."""
    buffer = buffer_behind(face)
    shown = getattr(face, "shown", None)
    spec: WindowSpec = spec_of(face) if shown is None else shown()
    strides, size = strides_of_spec(spec), int(np.prod(spec.shape))
    low, _ = byte_extent(spec.shape, strides, buffer.itemsize)
    start = (spec.offset + low) // max(buffer.itemsize, 1)
    if not is_packed(spec.shape, strides, buffer.itemsize):
        raise ViewTypeError(
            f'"{buffer.label}" shows {size} elements of shape {spec.shape} with strides {strides}, '
            f"which have gaps that Fortran cannot skip: lend the whole, or copy."
        )
    return _LentRange(start, size)


def _check_device(library: FortranLibrary, space: MemorySpace) -> None:
    """Raise `MemoryException` if one side has an emulated device and the other a real one."""
    kind = "emulated" if isinstance(memory_of(space), EmulatedDeviceMemory) else "openacc"
    if library.device not in (kind, "none"):
        raise MemoryException(
            f'The library is built for the device "{library.device}", which cannot use the memory '
            f"at {space.tag}: build it with DEVICE={kind}, or leave the device to Fortran."
        )


def _place(space: SpaceLike) -> int:
    found = memory_space(space)
    return _HOST if found.host_accessible else _FIRST_DEVICE + (found.device_id or 0)
