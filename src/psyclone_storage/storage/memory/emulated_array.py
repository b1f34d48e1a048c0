"""Arrays of emulated devices, protected from accidental host use; this module queues no work.

Each operation is submitted at once and runs later, in the order of the kernel queue of the
device. Errors in types and extents are raised at submission.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.errors import HostUseError
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.memory.arithmetic import DeviceArithmetic
from psyclone_storage.storage.memory.races import MemoryUse

Pages = np.ndarray[Any, Any]
_PLAIN = (int, np.integer, slice, type(None), type(Ellipsis))
_FIXED = (bool, int, float, complex, np.generic)
"""Scalars, which nobody changes; those of Python take the type of the array that they meet."""


class Launcher(Protocol):
    """The part of a memory that its arrays need."""

    space: MemorySpace

    def launch(
        self,
        what: str,
        uses: tuple[MemoryUse, ...],
        work: Callable[[], Any],
        nbytes: int = 0,
        *,
        once: bool = False,
    ) -> None:
        """Run `work` later, after all earlier submissions to the device.

        Work that runs `once` cannot be repeated after an interrupt.
        """

    def launch_now(
        self, uses: tuple[MemoryUse, ...], work: Callable[[], Any], nbytes: int = 0
    ) -> Any:
        """Run `work` after all earlier submissions to the device, and return its result.

        `nbytes` go over the bus.
        """

    def kernel_view(
        self, window: Any, writes: bool | None = None, span: tuple[int, int] | None = None
    ) -> Any:
        """Return the pages of an array, for a kernel."""

    def new_array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> EmulatedDeviceArray:
        """Return an array in new memory of the device."""


class EmulatedDeviceArray(DeviceArithmetic):
    """An array on an emulated device, with the words that CuPy users know.

    Host code cannot read it: `np.asarray` raises `HostUseError`. `get` copies to the host, `set`
    copies from it. Indexing, assignment of scalars and of arrays of the same device, arithmetic
    with them, `fill` and `copy` are work for the queue of its kernels. `pages` is for kernels,
    which get them through `AccessToken.kernel_array`, when the queue has run all earlier work;
    `held` is the same without a wait.
    """

    __slots__ = ("held", "allocation", "_memory")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, held: Pages, memory: Launcher, allocation: Allocation) -> None:
        """Wrap pages, which belong to `memory`; memories call this."""
        self.held = held
        self.allocation = allocation
        self._memory = memory

    @property
    def pages(self) -> Pages:
        """Return the array for a kernel, after all earlier submissions to the device."""
        pages: Pages = self._memory.kernel_view(self)
        return pages

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""
        return tuple(self.held.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Return the strides in bytes."""
        return self.held.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the element type."""
        dtype: np.dtype[Any] = self.held.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return self.held.ndim

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self.held.size

    @property
    def itemsize(self) -> int:
        """Return the bytes of one element."""
        return self.held.itemsize

    @property
    def nbytes(self) -> int:
        """Return the bytes of all elements."""
        return self.held.nbytes

    @property
    def T(self) -> EmulatedDeviceArray:  # noqa: N802  # pylint: disable=invalid-name
        """Return the view with reversed dimensions."""
        return self.transpose()

    @property
    def data(self) -> DevicePointer:
        """Return the address, as an object whose `ptr` is the number."""
        return DevicePointer(self.held.__array_interface__["data"][0], self._memory.space)

    @property
    def space(self) -> MemorySpace:
        """Return the memory space that the array lives in."""
        return self._memory.space

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Describe the array in the terms of the protocol; `emulated` warns that it is no GPU.

        A consumer of the address accesses the memory at once.
        """
        pages = self.pages
        described = dict(pages.__array_interface__)
        strides = None if pages.flags.c_contiguous else pages.strides
        described.update(version=3, strides=strides, stream=1, mask=None, emulated=True)
        return described

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refuse: host code cannot read the memory of a device."""
        raise HostUseError(
            f"Host code cannot use the array of shape {self.shape} at {self.space.tag}: call its "
            f"get(), or ask the buffer for access on the host."
        )

    def use(self, wrote: bool) -> MemoryUse:
        """Return the record of a use of this array for the race detector."""
        held = self.held
        if held.flags.c_contiguous:
            start = held.__array_interface__["data"][0]
            return MemoryUse(self.allocation, start, start + held.nbytes, wrote)
        start, stop = np.lib.array_utils.byte_bounds(held)
        stop = stop if held.size else start
        return MemoryUse(self.allocation, start, stop, wrote, stop - start == held.nbytes)

    def get(self, out: Pages | None = None) -> Pages:
        """Copy to the host, into `out` if given, after all earlier submissions to the device."""
        target = np.empty_like(self.held) if out is None else out
        self._memory.launch_now(
            (self.use(False),), lambda: np.copyto(target, self.held), self.nbytes
        )
        return target

    def set(self, values: Any) -> None:
        """Copy `values` from the host; the shapes must agree."""
        source = np.array(values, dtype=self.dtype)
        if source.shape != self.shape:
            raise ValueError(f"Values of shape {source.shape} do not fit shape {self.shape}.")
        self._check_writable()
        held = self.held
        self._memory.launch("copy", (self.use(True),), lambda: np.copyto(held, source), self.nbytes)

    def item(self, *index: int) -> Any:
        """Copy one element to the host."""
        return self._memory.launch_now((self.use(False),), lambda: self.held.item(*index))

    def fill(self, value: Any) -> None:
        """Set all elements to `value`."""
        self[...] = value

    def copy(self) -> EmulatedDeviceArray:
        """Return a copy in C order on the same device."""
        return self.astype(self.dtype)

    def astype(self, dtype: Any) -> EmulatedDeviceArray:
        """Return a copy with another element type on the same device."""
        made = self._memory.new_array(np.dtype(dtype), self.shape)
        source, target = self.held, made.held
        self._memory.launch(
            "kernel",
            (self.use(False), made.use(True)),
            lambda: np.copyto(target, source, casting="unsafe"),
        )
        return made

    def transpose(self, *axes: Any) -> EmulatedDeviceArray:
        """Return a view with permuted dimensions."""
        return self._view(self.held.transpose(*axes))

    def reshape(self, *shape: Any) -> EmulatedDeviceArray:
        """Return a view with other extents, a copy where no strides can express it."""
        return self._picked(lambda: self.held.reshape(*shape), ())

    def view(self, dtype: Any) -> EmulatedDeviceArray:
        """Return a view of the same bytes with another element type."""
        return self._view(self.held.view(dtype))

    def __getitem__(self, key: Any) -> EmulatedDeviceArray:
        """Return a view for integers and slices (of dimension 0 for one element), else a copy."""
        if _is_plain(key):
            return self._view(self._pick(key))
        pages = on_device(key, self._memory)
        return self._picked(lambda: self._pick(pages), _uses_of(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign a scalar or an array of the same device; arrays of the host need `set`."""
        if isinstance(value, np.ndarray) and value.ndim:
            raise HostUseError(
                f"An array of the host cannot be assigned to one at {self.space.tag}: select the "
                f"elements first and call set() with the values."
            )
        held = on_device(value, self._memory)
        self._check_writable()
        if not _is_plain(key) or (isinstance(value, tuple) and _uses_of(value)):
            pages = on_device(key, self._memory)
            written = self.use(True)._replace(packed=False)
            uses = (*_uses_of(key), *_uses_of(value), written)
            self._memory.launch_now(uses, lambda: self.held.__setitem__(pages, held))
            return
        target = self._view(self._pick(key))
        onto = target.held
        if not isinstance(value, EmulatedDeviceArray):
            held = np.array(held, dtype=self.dtype)
        _check_fit(held.shape, onto.shape)
        uses = (*_uses_of(value), target.use(True))
        self._memory.launch("kernel", uses, lambda: np.copyto(onto, held, casting="unsafe"))

    def _compute(self, work: Any, *operands: Any) -> EmulatedDeviceArray:
        held = [self._operand(operand) for operand in operands]
        sample = np.asarray(_tried(work, *held))
        shape = np.broadcast_shapes(*map(np.shape, held)) if sample.ndim else ()
        made = self._memory.new_array(sample.dtype, shape)
        target = made.held
        uses = (*_uses_of(operands), made.use(True))
        self._memory.launch("kernel", uses, lambda: np.copyto(target, work(*held)))
        return made

    def _update(self, work: Any, operand: Any) -> Self:
        held, onto = self._operand(operand), self.held
        self._check_writable()
        _check_fit(np.shape(held), self.shape)
        _tried(work, onto, held)
        uses = (*_uses_of(operand), self.use(False), self.use(True))
        self._memory.launch("kernel", uses, lambda: work(onto, held), once=True)
        return self

    def _operand(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim:
            raise HostUseError(
                f"An array of the host cannot be combined with one at {self.space.tag}: copy one "
                f"of them to the other side."
            )
        if isinstance(value, tuple):
            return tuple(self._operand(part) for part in value)
        held = on_device(value, self._memory)
        if isinstance(value, (EmulatedDeviceArray, *_FIXED)):
            return held
        # The work runs later, when the caller may have changed the values.
        return np.array(held)

    def _check_writable(self) -> None:
        if not self.held.flags.writeable:
            raise ValueError("assignment destination is read-only")

    def __len__(self) -> int:
        return len(self.held)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<EmulatedDeviceArray {self.shape} {self.dtype} at {self.space.tag}>"

    def _pick(self, key: Any) -> Pages:
        extended = (*key, ...) if isinstance(key, tuple) and Ellipsis not in _plain(key) else key
        if not isinstance(key, tuple) and isinstance(key, (int, np.integer)):
            extended = (key, ...)
        picked: Pages = np.asarray(self.held[extended])
        return picked

    def _picked(
        self, work: Callable[[], Pages], uses: tuple[MemoryUse, ...]
    ) -> EmulatedDeviceArray:
        """Return the result of `work`: a view, or a copy, which is made now."""
        picked = self._memory.launch_now((*uses, self.use(False)), work)
        if np.may_share_memory(picked, self.held):
            return self._view(picked)
        made = self._memory.new_array(picked.dtype, picked.shape)
        made.held[...] = picked
        return made

    def _view(self, pages: Pages) -> EmulatedDeviceArray:
        return EmulatedDeviceArray(pages, self._memory, self.allocation)


class DevicePointer:
    """An address on a device, like the memory pointer of CuPy."""

    __slots__ = ("ptr", "space")

    def __init__(self, ptr: int, space: MemorySpace) -> None:
        """Point at address `ptr` in `space`."""
        self.ptr = ptr
        self.space = space

    def __repr__(self) -> str:
        return f"<DevicePointer {self.ptr:#x} at {self.space.tag}>"


def _is_plain(key: Any) -> bool:
    """Return whether a key selects a view, independent of the values."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(part, _PLAIN) and not isinstance(part, bool) for part in parts)


def _plain(key: tuple[Any, ...]) -> list[Any]:
    return [part for part in key if not isinstance(part, np.ndarray)]


def _uses_of(value: Any) -> tuple[MemoryUse, ...]:
    """Return the reading of device arrays, also inside a tuple."""
    if isinstance(value, tuple):
        return tuple(use for part in value for use in _uses_of(part))
    return (value.use(False),) if isinstance(value, EmulatedDeviceArray) else ()


def _tried(work: Callable[..., Any], *values: Any) -> Any:
    """Return the result of an operation on samples; its values have no meaning.

    Raises the errors in types and extents.
    """
    with np.errstate(all="ignore"):
        return work(*map(_sample_of, values))


def _sample_of(value: Any) -> Any:
    """Return an array of ones like the given values, with at most one element per dimension."""
    if not isinstance(value, np.ndarray):
        return value
    return np.ones(tuple(min(extent, 1) for extent in value.shape), value.dtype)


def _check_fit(shape: tuple[int, ...], onto: tuple[int, ...]) -> None:
    """Raise `ValueError` if values of `shape` cannot be assigned to an array of `onto`."""
    kept = shape[max(len(shape) - len(onto), 0) :]
    fits = all(mine in (1, other) for mine, other in zip(kept[::-1], onto[::-1], strict=False))
    if not fits or any(extent != 1 for extent in shape[: len(shape) - len(kept)]):
        raise ValueError(f"Values of shape {shape} do not fit shape {onto}.")


def on_device(value: Any, memory: Launcher) -> Any:
    """Return the pages of device arrays, also inside a tuple of indices; check the device."""
    if isinstance(value, tuple):
        return tuple(on_device(part, memory) for part in value)
    if not isinstance(value, EmulatedDeviceArray):
        return value
    if value.space is not memory.space:
        raise HostUseError(
            f"An array at {value.space.tag} cannot be used in work at {memory.space.tag}: copy it."
        )
    return value.held
