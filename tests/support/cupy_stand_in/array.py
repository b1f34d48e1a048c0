"""Own the array of the stand-in: as much of `cupy.ndarray` as the runtime and its tests use.

Sources: "CuPy API reference", cupy.ndarray; user guide, "Basics of CuPy", "Differences between
CuPy and NumPy", "Interoperability". What counts:

- views are made at once; all that reads or writes elements is a kernel or a copy in the current
  stream of the current device, done when something waits for it;
- a kernel refuses arrays of another device than the current one (CuPy tries peer access first,
  which the stand-in has not); `get` and `set` make the device of their array current;
- arrays of the host are refused as operands, and never made by conversion;
- reductions and elements are arrays of dimension 0, which stay on the device;
- `set` wants the element type and the shape of the array, whose elements must lie without gaps.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cupy_stand_in import exchange, machine
from cupy_stand_in.memory import MemoryPointer, UnownedMemory, alloc
from cupy_stand_in.streams import Device, current_queue, get_current_stream


class ndarray:  # noqa: N801 - the name that CuPy gives it
    """Be an array in the memory of a device, or in host memory that the device knows."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Any,
        dtype: Any = float,
        memptr: MemoryPointer | None = None,
        strides: tuple[int, ...] | None = None,
        order: str = "C",
    ) -> None:
        extents = tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)
        plan = np.ndarray(extents, dtype, np.empty(1, dtype), strides=(0,) * len(extents))
        if strides is None:
            strides = _packed(extents, plan.itemsize, order)
        self.data = alloc(plan.nbytes) if memptr is None else memptr
        self.base: ndarray | None = None
        self.pages = _window(self.data.ptr, extents, plan.dtype, strides)

    # -- what it is --------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.pages.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.pages.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.pages.dtype

    @property
    def ndim(self) -> int:
        return self.pages.ndim

    @property
    def size(self) -> int:
        return self.pages.size

    @property
    def itemsize(self) -> int:
        return self.pages.itemsize

    @property
    def nbytes(self) -> int:
        return self.pages.nbytes

    @property
    def flags(self) -> Any:
        return self.pages.flags

    @property
    def device(self) -> Device:
        return self.data.device

    @property
    def T(self) -> ndarray:  # noqa: N802
        return self.transpose()

    def __len__(self) -> int:
        return len(self.pages)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.get()).replace("array", "cupy.array", 1)

    # -- other libraries ---------------------------------------------------------------------------

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        described = dict(self.pages.__array_interface__)
        return {
            "shape": self.shape,
            "typestr": described["typestr"],
            "descr": described["descr"],
            "data": (self.data.ptr, False),
            "strides": None if self.pages.flags.c_contiguous else self.strides,
            "stream": get_current_stream().ptr or 1,
            "version": 3,
        }

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("A CuPy array becomes no NumPy array by itself: call get().")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **words: Any) -> Any:
        out = words.pop("out", (None,))[0]
        if method != "__call__" or words:
            return NotImplemented
        return launch(ufunc, *inputs, into=out)

    def __dlpack_device__(self) -> tuple[int, int]:
        managed = getattr(self.data.mem, "is_managed", False)
        return (exchange.MANAGED if managed else exchange.CUDA), self.device.id

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError("The stand-in exports arrays where they are.")
        if stream == 0:
            raise ValueError("The stream 0 says too little: 1 is the null stream.")
        with self.device:
            if stream not in (None, -1) and (stream != 1 or get_current_stream().ptr):
                machine.queue_of(stream).put(lambda: None, _all_of(get_current_stream().ptr))
        return exchange.capsule_of(self)

    # -- to and from the host ----------------------------------------------------------------------

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        with self.device:
            packed = self if _fits(self, order) else self.copy(order if order != "A" else "C")
            made = (
                np.empty(self.shape, self.dtype, _order_of(packed, order)) if out is None else out
            )
            _check_out(made, packed)
            target = stream or get_current_stream()
            address = made.__array_interface__["data"][0]
            queue = machine.queue_of(target.ptr)
            machine.copy_async(address, packed.data.ptr, self.nbytes, queue)
            if blocking:
                queue.synchronize()
        return made

    def set(self, arr: Any, stream: Any = None) -> None:
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only an array of NumPy can be set.")
        if arr.dtype != self.dtype:
            raise TypeError(f"An array of {arr.dtype} cannot be set in one of {self.dtype}.")
        if arr.shape != self.shape:
            raise ValueError(f"The shape {arr.shape} does not match {self.shape}.")
        if not (self.flags.c_contiguous or self.flags.f_contiguous):
            raise RuntimeError("An array with gaps cannot be set.")
        order: Any = "C" if self.flags.c_contiguous else "F"
        packed = np.asarray(arr, order=order)
        with self.device:
            queue = machine.queue_of((stream or get_current_stream()).ptr)
            source = packed.__array_interface__["data"][0]
            machine.copy_async(self.data.ptr, source, self.nbytes, queue)

    def item(self, *args: Any) -> Any:
        return self.get().item(*args)

    def tolist(self) -> Any:
        return self.get().tolist()

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __index__(self) -> int:
        return operator.index(self.get().item())

    # -- views -------------------------------------------------------------------------------------

    def transpose(self, *axes: Any) -> ndarray:
        return self._view(self.pages.transpose(*axes))

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        try:
            view = self.pages.view()
            flat = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
            made = view.reshape(flat, order=order, copy=False)
        except ValueError:
            return self.copy(order).reshape(*shape, order=order)
        return self._view(made)

    def ravel(self, order: str = "C") -> ndarray:
        return self.reshape(-1, order=order)

    def view(self, dtype: Any = None) -> ndarray:
        return self._view(self.pages.view(dtype) if dtype is not None else self.pages.view())

    def _view(self, pages: np.ndarray[Any, Any]) -> ndarray:
        made = ndarray.__new__(ndarray)
        here, there = _address(self.pages), _address(pages)
        made.data = self.data + ((there - here) if pages.size else 0)
        made.base = self
        made.pages = pages
        return made

    # -- kernels -----------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> ndarray:
        if _is_plain(key):
            parts = key if isinstance(key, tuple) else (key,)
            whole = parts if any(part is Ellipsis for part in parts) else (*parts, ...)
            return self._view(self.pages[whole])
        return launch(lambda pages, *rest: pages[_filled(key, rest)], self, *_arrays_in(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError("An array of NumPy cannot be assigned: call set().")
        if _is_plain(key):
            launch(np.positive if _is_number(self) else _same, value, into=self[key])
            return
        goal, found = self.pages, _arrays_in(key)

        def assign(values: Any, *rest: Any) -> Any:
            goal[_filled(key, rest)] = values
            return np.zeros(())

        launch(assign, value, *found, infer=False)

    def fill(self, value: Any) -> None:
        launch(_same, value, into=self)

    def copy(self, order: str = "C") -> ndarray:
        with self.device:
            made = ndarray(self.shape, self.dtype, order="C" if order in "AK" else order)
            return launch(_same, self, into=made)

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", copy: bool = True
    ) -> Any:
        if not copy and self.dtype == np.dtype(dtype):
            return self
        return launch(lambda pages: pages.astype(dtype), self)

    def sum(self, axis: Any = None, dtype: Any = None) -> ndarray:
        return launch(lambda pages: pages.sum(axis, dtype), self)

    def mean(self, axis: Any = None) -> ndarray:
        return launch(lambda pages: pages.mean(axis), self)

    def min(self, axis: Any = None) -> ndarray:
        return launch(lambda pages: pages.min(axis), self)

    def max(self, axis: Any = None) -> ndarray:
        return launch(lambda pages: pages.max(axis), self)

    def all(self, axis: Any = None) -> ndarray:
        return launch(lambda pages: pages.all(axis), self)

    def any(self, axis: Any = None) -> ndarray:
        return launch(lambda pages: pages.any(axis), self)


def launch(work: Callable[..., Any], *operands: Any, into: Any = None, infer: bool = True) -> Any:
    """Put a kernel in the current stream; return where its result will be."""
    arrays = [part for part in (*operands, into) if isinstance(part, ndarray)]
    for array in arrays:
        if array.device.id != machine.current_id():
            raise ValueError(
                f"An array of device {array.device.id} cannot be used while device "
                f"{machine.current_id()} is the current one."
            )
    if any(isinstance(part, np.ndarray) and part.ndim for part in operands):
        raise TypeError("An array of NumPy cannot be an operand.")
    inputs = [part.pages if isinstance(part, ndarray) else part for part in operands]
    if infer:
        like = _infer(work, inputs)
        into = ndarray(like.shape, like.dtype) if into is None else into
        np.broadcast_shapes(like.shape, into.shape)
        if np.broadcast_shapes(like.shape, into.shape) != into.shape:
            raise ValueError(f"The shape {like.shape} does not fit {into.shape}.")
    queue = current_queue()
    uses = [_use(part, wrote=False) for part in operands if isinstance(part, ndarray)]
    if into is None:
        queue.put(lambda: work(*inputs), what="kernel", uses=uses)
        return None
    uses.append(_use(into, wrote=True))
    goal = into.pages

    def kernel() -> None:
        with np.errstate(all="ignore"):
            np.copyto(goal, work(*inputs), casting="unsafe")

    queue.put(kernel, what="kernel", uses=uses)
    return into


def _use(array: ndarray, *, wrote: bool) -> tuple[int, int, bool]:
    """Return the bytes from the first to the last that an array has."""
    low, high = np.lib.array_utils.byte_bounds(array.pages)
    shift = low - array.pages.__array_interface__["data"][0]
    return array.data.ptr + shift, high - low if array.size else 0, wrote


def _infer(work: Callable[..., Any], inputs: list[Any]) -> np.ndarray[Any, Any]:
    """Return an array like the result; masks have to be read for it, as CuPy has to."""
    if any(isinstance(part, np.ndarray) and part.dtype == bool and part.ndim for part in inputs):
        current_queue().synchronize()
        stand_ins = inputs
    else:
        stand_ins = [
            np.broadcast_to(np.zeros((), part.dtype), part.shape)
            if isinstance(part, np.ndarray)
            else part
            for part in inputs
        ]
    with np.errstate(all="ignore"):
        return np.asarray(work(*stand_ins))


def _same(values: Any) -> Any:
    return values


def _is_number(array: ndarray) -> bool:
    return array.dtype.kind in "iufc"


def _is_plain(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice))
        for part in parts
        if not isinstance(part, (bool, np.bool_))
    ) and not any(isinstance(part, (bool, np.bool_)) for part in parts)


def _arrays_in(key: Any) -> list[ndarray]:
    parts = key if isinstance(key, tuple) else (key,)
    return [part for part in parts if isinstance(part, ndarray)]


def _filled(key: Any, pages: tuple[Any, ...]) -> Any:
    """Return a key with the pages of arrays in the place of the arrays."""
    rest = iter(pages)
    if not isinstance(key, tuple):
        return next(rest) if isinstance(key, ndarray) else key
    return tuple(next(rest) if isinstance(part, ndarray) else part for part in key)


def _fits(array: ndarray, order: str) -> bool:
    flags = array.flags
    if order == "A":
        return bool(flags.c_contiguous or flags.f_contiguous)
    return bool(flags.c_contiguous if order == "C" else flags.f_contiguous)


def _order_of(array: ndarray, order: str) -> Any:
    if order == "A":
        return "C" if array.flags.c_contiguous else "F"
    return order


def _check_out(out: Any, packed: ndarray) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError("Only an array of NumPy can be got.")
    if out.dtype != packed.dtype or out.shape != packed.shape:
        raise (TypeError if out.dtype != packed.dtype else ValueError)(
            f"{out.dtype} of shape {out.shape} cannot take {packed.dtype} of shape {packed.shape}."
        )
    if (
        out.size
        and out.strides != packed.strides
        and not (
            (out.flags.c_contiguous and packed.flags.c_contiguous)
            or (out.flags.f_contiguous and packed.flags.f_contiguous)
        )
    ):
        raise RuntimeError("What is got must lie as it lies on the device, without gaps.")


def _packed(shape: tuple[int, ...], itemsize: int, order: str) -> tuple[int, ...]:
    strides = []
    step = itemsize
    for extent in reversed(shape) if order == "C" else shape:
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides) if order == "C" else strides)


def _window(
    address: int, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """Return the pages of an array whose first element is at `address`."""
    spans = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    if 0 in shape:
        return np.ndarray(shape, dtype)
    low = sum(span for span in spans if span < 0)
    high = sum(span for span in spans if span > 0) + dtype.itemsize
    pages = machine.pages_at(address + low, high - low)
    return np.ndarray(shape, dtype, pages, -low, strides)


def _address(pages: np.ndarray[Any, Any]) -> int:
    return int(pages.__array_interface__["data"][0])


def _all_of(handle: int) -> machine.Wait:
    queue = machine.queue_of(handle)
    return machine.Wait(queue, queue.issued)


def _add_operators() -> None:
    """Give the array the operators of Python, each a kernel."""
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
        work = getattr(operator, name + ("_" if name in ("and", "or") else ""))
        setattr(ndarray, f"__{name}__", lambda self, other, work=work: launch(work, self, other))
        setattr(ndarray, f"__r{name}__", lambda self, other, work=work: launch(work, other, self))
        setattr(ndarray, f"__i{name}__", _in_place(work))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        work = getattr(operator, name)
        setattr(ndarray, f"__{name}__", lambda self, other, work=work: launch(work, self, other))
    for name in ("neg", "pos", "abs", "invert"):
        work = getattr(operator, name)
        setattr(ndarray, f"__{name}__", lambda self, work=work: launch(work, self))


def _in_place(work: Callable[..., Any]) -> Callable[[ndarray, Any], ndarray]:
    def update(self: ndarray, other: Any) -> ndarray:
        pages = other.pages if isinstance(other, ndarray) else other
        found = np.result_type(self.dtype, pages)
        if not np.can_cast(found, self.dtype, "same_kind"):
            raise TypeError(f"{found} cannot be cast to {self.dtype} in place.")
        launch(work, self, other, into=self)
        return self

    return update


_add_operators()


# -- making ----------------------------------------------------------------------------------------


def asarray(a: Any, dtype: Any = None, order: str | None = None) -> ndarray:
    """Return `a` itself, or the device array that it describes, or a copy of host values."""
    if isinstance(a, ndarray):
        return a if dtype is None or a.dtype == dtype else a.astype(dtype)
    described = getattr(a, "__cuda_array_interface__", None)
    if described is not None:
        return _described(described, a)
    values = np.asarray(a, dtype, order=order or "K")  # type: ignore[call-overload]
    made = ndarray(values.shape, values.dtype, order="F" if values.flags.fnc else "C")
    made.set(values)
    return made


def array(obj: Any, dtype: Any = None, copy: bool = True, order: str = "K") -> ndarray:
    """Return a new array of the current device with the values of `obj`."""
    made = asarray(obj, dtype, None if order == "K" else order)
    return made.copy() if copy and made is obj else made


def full(shape: Any, fill_value: Any, dtype: Any = None) -> ndarray:
    """Return a new array of the current device with one value everywhere."""
    made = ndarray(shape, np.asarray(fill_value).dtype if dtype is None else dtype)
    made.fill(fill_value)
    return made


def arange(*args: Any, dtype: Any = None) -> ndarray:
    """Return a new array of the current device with numbers in steps."""
    return asarray(np.arange(*args, dtype=dtype))


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None) -> Any:
    """Return a copy on the host."""
    return a.get(stream, order, out) if isinstance(a, ndarray) else np.asarray(a)


def from_dlpack(x: Any) -> ndarray:
    """Return an array over what another library offers on a device."""
    kind, device_id = x.__dlpack_device__()
    if kind not in (exchange.CUDA, exchange.MANAGED):
        raise BufferError(f"Memory of kind {kind} is of no device.")
    with Device(device_id):
        capsule = x.__dlpack__(stream=get_current_stream().ptr or 1)
        found = exchange.read_capsule(capsule)
        memory = UnownedMemory(found.address, found.nbytes, found, device_id)
        return ndarray(found.shape, found.dtype, MemoryPointer(memory, 0), found.strides)


def _described(described: dict[str, Any], owner: Any) -> ndarray:
    shape, dtype = tuple(described["shape"]), np.dtype(described["typestr"])
    strides = described.get("strides") or _packed(shape, dtype.itemsize, "C")
    address = described["data"][0]
    nbytes = sum(abs(s) * (n - 1) for s, n in zip(strides, shape, strict=True)) + dtype.itemsize
    memory = UnownedMemory(address, 0 if 0 in shape else nbytes, owner)
    stream = described.get("stream")
    if stream is not None:
        with Device(memory.device_id):
            machine.queue_of(stream).synchronize()
    return ndarray(shape, dtype, MemoryPointer(memory, 0), strides)
