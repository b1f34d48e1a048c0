"""Own emulated devices: separate pages, an in-order stream, and arrays that refuse host use.

A machine without a GPU runs every device path on them. What makes them useful is that they fail
like a GPU does: host code that touches a device array gets an error, and in strict mode a replica
that lost validity holds a pattern that no computation survives, so that a missing transfer shows.
"""

from __future__ import annotations

import time
from collections.abc import Set
from typing import Any, Self

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.device import current_emulation
from psyclone_storage.storage.core.errors import HostUseError
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.arithmetic import DeviceArithmetic
from psyclone_storage.storage.memory.base import Memory, array_over, foreign_pages, host_pages
from psyclone_storage.storage.memory.pools import ALIGNMENT, Pool, PoolUse
from psyclone_storage.storage.memory.stream import Stream

_POISON_BYTE = 0xA5
_POISON_WORD = np.uint64(0x7FF4A5A57FB4A5A5)
"""A signalling NaN when read as float64, and another one in its lower half as float32."""


class EmulatedDeviceArray(DeviceArithmetic):
    """An array on an emulated device, with the words that CuPy users know.

    Host code cannot read it: `np.asarray` raises `HostUseError`. `get` copies to the host, `set`
    copies from it. Indexing, assignment of scalars and of arrays of the same device, arithmetic
    with them, `fill`, `copy` and `transpose` run on the device, in the order of its stream. `pages`
    is for kernels: get them through `AccessToken.kernel_array`.
    """

    __slots__ = ("pages", "_memory", "_allocation")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, pages: np.ndarray[Any, Any], memory: EmulatedDeviceMemory, allocation: Allocation
    ) -> None:
        """Wrap `pages`, which belong to `memory`; memories call this."""
        self.pages = pages
        self._memory = memory
        self._allocation = allocation

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""
        return tuple(self.pages.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Return the strides in bytes."""
        return self.pages.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the element type."""
        dtype: np.dtype[Any] = self.pages.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return self.pages.ndim

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self.pages.size

    @property
    def itemsize(self) -> int:
        """Return the bytes of one element."""
        return self.pages.itemsize

    @property
    def nbytes(self) -> int:
        """Return the bytes of all elements."""
        return self.pages.nbytes

    @property
    def T(self) -> EmulatedDeviceArray:  # noqa: N802  # pylint: disable=invalid-name
        """Return the view with reversed dimensions."""
        return self.transpose()

    @property
    def data(self) -> DevicePointer:
        """Return the address, as an object whose `ptr` is the number."""
        return DevicePointer(self.pages.__array_interface__["data"][0], self._memory.space)

    @property
    def space(self) -> MemorySpace:
        """Return the memory space that the array lives in."""
        return self._memory.space

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Describe the array in the words of the protocol; `emulated` warns that it is no GPU."""
        described = dict(self.pages.__array_interface__)
        strides = None if self.pages.flags.c_contiguous else self.pages.strides
        described.update(version=3, strides=strides, stream=1, mask=None, emulated=True)
        return described

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refuse: host code cannot read the memory of a device."""
        raise HostUseError(
            f"Host code cannot use the array of shape {self.shape} at {self.space.tag}: call its "
            f"get(), or ask the buffer for access on the host."
        )

    def get(self, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Copy to the host, into `out` if given, after all that the stream has queued."""
        target = np.empty_like(self.pages) if out is None else out
        self._memory.transfer(np.copyto, target, self.pages)
        return target

    def set(self, values: Any) -> None:
        """Copy `values` from the host; the shapes must agree."""
        source = np.asarray(values, dtype=self.dtype)
        if source.shape != self.shape:
            raise ValueError(f"Values of shape {source.shape} do not fit shape {self.shape}.")
        self._memory.transfer(np.copyto, self.pages, source)

    def item(self, *index: int) -> Any:
        """Copy one element to the host."""
        return self._memory.stream.run(self.pages.item, *index)

    def fill(self, value: Any) -> None:
        """Set all elements to `value`."""
        self._memory.stream.run(self.pages.fill, value)

    def copy(self) -> EmulatedDeviceArray:
        """Return a copy in C order on the same device."""
        return self._memory.store(self._memory.stream.run(np.ascontiguousarray, self.pages))

    def astype(self, dtype: Any) -> EmulatedDeviceArray:
        """Return a copy with another element type on the same device."""
        return self._memory.store(self._memory.stream.run(self.pages.astype, dtype))

    def transpose(self, *axes: Any) -> EmulatedDeviceArray:
        """Return a view with permuted dimensions."""
        return self._view(self.pages.transpose(*axes))

    def reshape(self, *shape: Any) -> EmulatedDeviceArray:
        """Return a view with other extents, a copy where no strides can express it."""
        pages = self._memory.stream.run(self.pages.reshape, *shape)
        return (
            self._view(pages)
            if np.may_share_memory(pages, self.pages)
            else self._memory.store(pages)
        )

    def view(self, dtype: Any) -> EmulatedDeviceArray:
        """Return a view of the same bytes with another element type."""
        return self._view(self.pages.view(dtype))

    def __getitem__(self, key: Any) -> EmulatedDeviceArray:
        """Return a view for integers and slices (of dimension 0 for one element), else a copy."""
        picked = self._memory.stream.run(self._pick, _on_device(key, self._memory))
        if np.may_share_memory(picked, self.pages):
            return self._view(picked)
        return self._memory.store(picked)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign a scalar or an array of the same device; arrays of the host need `set`."""
        if isinstance(value, np.ndarray) and value.ndim:
            raise HostUseError(
                f"An array of the host cannot be assigned to one at {self.space.tag}: select the "
                f"elements first and call set() with the values."
            )
        pages = _on_device(value, self._memory)
        self._memory.stream.run(self.pages.__setitem__, _on_device(key, self._memory), pages)

    def _compute(self, work: Any, *operands: Any) -> EmulatedDeviceArray:
        pages = [self._operand(operand) for operand in operands]
        return self._memory.store(np.asarray(self._memory.stream.run(work, *pages)))

    def _update(self, work: Any, operand: Any) -> Self:
        self._memory.stream.run(work, self.pages, self._operand(operand))
        return self

    def _operand(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim:
            raise HostUseError(
                f"An array of the host cannot be combined with one at {self.space.tag}: copy one "
                f"of them to the other side."
            )
        return _on_device(value, self._memory)

    def __len__(self) -> int:
        """Return the first extent."""
        return len(self.pages)

    def __eq__(self, other: object) -> bool:
        """Compare by identity: element by element comparison is work for a kernel."""
        return self is other

    def __repr__(self) -> str:
        """Describe the array without reading it."""
        return f"<EmulatedDeviceArray {self.shape} {self.dtype} at {self.space.tag}>"

    def _pick(self, key: Any) -> np.ndarray[Any, Any]:
        extended = (*key, ...) if isinstance(key, tuple) and Ellipsis not in _plain(key) else key
        if not isinstance(key, tuple) and isinstance(key, (int, np.integer)):
            extended = (key, ...)
        picked: np.ndarray[Any, Any] = np.asarray(self.pages[extended])
        return picked

    def _view(self, pages: np.ndarray[Any, Any]) -> EmulatedDeviceArray:
        return EmulatedDeviceArray(pages, self._memory, self._allocation)


class DevicePointer:
    """An address on a device, like the memory pointer of CuPy."""

    __slots__ = ("ptr", "space")

    def __init__(self, ptr: int, space: MemorySpace) -> None:
        """Point at address `ptr` in `space`."""
        self.ptr = ptr
        self.space = space

    def __repr__(self) -> str:
        """Show the address and the space."""
        return f"<DevicePointer {self.ptr:#x} at {self.space.tag}>"


class EmulatedDeviceMemory(Memory):
    """One emulated device, which exchanges with host memory and, if set, with peers."""

    copies_plainly = True

    def __init__(self, space: MemorySpace) -> None:
        """Serve `space` with pages and a stream of its own."""
        super().__init__(space)
        self.pool = Pool()
        self._stream = Stream(space.tag)

    @property
    def stream(self) -> Stream:
        """Return the queue of the device."""
        return self._stream

    @property
    def jobs(self) -> Set[Any]:
        """Return what is queued or running."""
        return self._stream.jobs

    @property
    def use(self) -> PoolUse:
        """Return the state of the pool."""
        return self.pool.use

    def allocate(self, nbytes: int, alignment: int = ALIGNMENT) -> Allocation:
        """Return bytes of the device; in strict mode they hold the poison pattern."""
        lease = self.pool.lease(nbytes, alignment)
        allocation = Allocation(self.space, lease.address, nbytes, lease)
        if current_emulation().strict:
            self.poison(allocation, (0, nbytes))
        return allocation

    def adopt(self, array: EmulatedDeviceArray) -> tuple[Allocation, int]:
        """Take the memory of an array of this device as it is."""
        pages: np.ndarray[Any, Any] = _on_device(array, self)
        low, high = np.lib.array_utils.byte_bounds(pages)
        nbytes = high - low if array.size else 0
        allocation = Allocation(self.space, low, nbytes, foreign_pages(low, nbytes, array))
        allocation.owner = array
        allocation.writable = pages.flags.writeable
        return allocation, array.data.ptr - low

    def window(self, allocation: Allocation, spec: WindowSpec) -> EmulatedDeviceArray:
        """Return an array that refuses host use."""
        return EmulatedDeviceArray(array_over(allocation, spec), self, allocation)

    def kernel_view(self, window: Any) -> np.ndarray[Any, Any]:
        """Return the NumPy array that an emulated kernel works on."""
        pages: np.ndarray[Any, Any] = _on_device(window, self)
        return pages

    def fill(self, allocation: Allocation, spec: WindowSpec, value: Any) -> None:
        """Set all the elements of a window to `value`, on the device."""
        self._stream.run(array_over(allocation, spec).fill, value)

    def poison(self, allocation: Allocation, span: tuple[int, int]) -> None:
        """Fill a span with signalling NaNs and the byte A5, in strict mode."""
        if current_emulation().strict and not allocation.external:
            self._stream.post(_poison, host_pages(allocation), *span)

    def can_copy_from(self, source: Memory) -> bool:
        """Say yes for memories that the host can use, and for peers where they are enabled."""
        return source is self or source.space.host_accessible or self._is_peer(source)

    def can_copy_to(self, target: Memory) -> bool:
        """Say yes for memories that the host can use."""
        return target.space.host_accessible

    def memcpy_from(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Fetch a span, in the order of the stream."""
        self.transfer(_copy_span, target, source, span)

    def memcpy_to(self, target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
        """Send a span, in the order of the stream."""
        self.transfer(_copy_span, target, source, span)

    def transfer(self, work: Any, *args: Any) -> None:
        """Do `work`, a copy over the bus, and take the time that the emulated bus would take."""
        self._stream.run(self._timed, work, *args)

    def store(self, pages: np.ndarray[Any, Any]) -> EmulatedDeviceArray:
        """Return a device array with the values of `pages`, in new memory of the device."""
        allocation = self.allocate(pages.nbytes)
        held = array_over(allocation, WindowSpec(pages.dtype, pages.shape))
        held[...] = pages
        return EmulatedDeviceArray(held, self, allocation)

    def _is_peer(self, other: Memory) -> bool:
        return isinstance(other, EmulatedDeviceMemory) and current_emulation().peers

    def _timed(self, work: Any, *args: Any) -> None:
        timing = current_emulation()
        if timing.latency or timing.bandwidth:
            nbytes = args[-1][1] if isinstance(args[-1], tuple) else int(args[0].nbytes)
            time.sleep(timing.latency + (nbytes / timing.bandwidth if timing.bandwidth else 0.0))
        work(*args)


def _copy_span(target: Allocation, source: Allocation, span: tuple[int, int]) -> None:
    first, count = span
    np.copyto(host_pages(target)[first : first + count], host_pages(source)[first : first + count])


def _poison(pages: np.ndarray[Any, np.dtype[np.uint8]], first: int, count: int) -> None:
    """Fill whole words of the allocation with the NaN pattern, and what is left with the byte."""
    start, end = first, first + count
    inner_start, inner_end = -(-start // 8) * 8, end // 8 * 8
    if inner_end <= inner_start:
        pages[start:end] = _POISON_BYTE
        return
    pages[start:inner_start] = _POISON_BYTE
    np.ndarray(((inner_end - inner_start) // 8,), np.uint64, pages, inner_start).fill(_POISON_WORD)
    pages[inner_end:end] = _POISON_BYTE


def _plain(key: tuple[Any, ...]) -> list[Any]:
    return [part for part in key if not isinstance(part, np.ndarray)]


def _on_device(value: Any, memory: EmulatedDeviceMemory) -> Any:
    """Return the pages of device arrays, also inside a tuple of indices; check the device."""
    if isinstance(value, tuple):
        return tuple(_on_device(part, memory) for part in value)
    if not isinstance(value, EmulatedDeviceArray):
        return value
    if value.space is not memory.space:
        raise HostUseError(
            f"An array at {value.space.tag} cannot be used in work at {memory.space.tag}: copy it."
        )
    return value.pages
