"""Functions of generated C, which take three tables and scalars by value."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from psyclone_storage.runtime.compiling import load_library
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.memory.cuda import copied_to_device

TABLES = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""What each function takes first: addresses of arrays, reals, and integers."""
_SMALLEST, _LARGEST = -(2**31), 2**31 - 1


class WholeNumber(ctypes.c_int32):
    """A 32-bit integer that refuses larger values, which `ctypes` would truncate."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        """Return what a function is passed.

        Raises:
            TypeError: it is no number of Python that is whole and has a place in 32 bits.
        """
        if isinstance(value, int) and _SMALLEST <= value <= _LARGEST:
            return value
        raise TypeError(f"{value!r} is not an integer of 32 bits.")


_PASSED = ctypes.c_double.from_param


class RealNumber(ctypes.c_double):
    """A real number of 8 bytes: one of 4 is refused, as Python would go on to compute with 4."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        """Return what a function is passed.

        Raises:
            TypeError: it is no number of Python.
        """
        if isinstance(value, float):
            return _PASSED(value)
        raise TypeError(f"{value!r} is no real number of Python.")


class ScalarArray:
    """An array that a function is passed with a call: its values, the first index fastest."""

    __slots__ = ("_there", "address", "values")

    def __init__(self, values: Any) -> None:
        """Take constant values."""
        self.values = values
        self.address = address_of(values)
        self._there: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array."""
        found: tuple[int, ...] = self.values.shape
        return found

    @property
    def extents(self) -> ScalarArray:
        """The extents as an array of 32-bit integers."""
        return ScalarArray(np.array(self.shape, np.int32))

    def on_device(self) -> int:
        """Return where a copy begins that the device has."""
        self._there = copied_to_device(self.values)
        return address_of(self._there)


class ArrayAddress(ctypes.c_int64):
    """The address of an array that is passed with a call."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        """Return what a function is passed.

        Raises:
            TypeError: it is no array that was made ready.
        """
        if isinstance(value, ScalarArray):
            return cls(value.address)
        raise TypeError(f"{value!r} is no array that a function can be passed.")


_TYPES: Mapping[str, Any] = {
    "a": ArrayAddress,
    "d": RealNumber,
    "f": ctypes.c_float,
    "i": WholeNumber,
    "l": ctypes.c_int64,
}


def parameters_of(types: str) -> tuple[Any, ...]:
    """Return the types of what a function takes: tables, and scalars by their letters."""
    return (*TABLES, *(_TYPES[one] for one in types))


def number_of(value: Any, wanted: Any) -> Any:
    """Return a scalar, of whatever type, as a number of Python for a function that takes `wanted`.

    An array stays what it is.

    Raises:
        TypeError: it is not a number, or not an integer where one is needed; or it has other than 8
            bytes, where that is what a function takes.
        OverflowError: it is a number that is too large.
    """
    if wanted is ArrayAddress:
        return value
    if wanted not in (WholeNumber, ctypes.c_int64):
        if type(value) is float:  # pylint: disable=unidiomatic-typecheck  # those of NumPy are, too
            return value
        if isinstance(value, str | bytes | bytearray):
            raise TypeError(f"{value!r} is no number.")
        size = _real_size(value)
        if issubclass(wanted, ctypes.c_double) and size not in (None, ctypes.sizeof(wanted)):
            raise TypeError(
                f"{value!r} has {size} bytes, with which Python would go on to compute, and the "
                "kernel computes with 8: give it 'float(...)' of that."
            )
        return _as_float(value)
    found = bool(value) if isinstance(value, np.bool) else index(value)
    if wanted is WholeNumber and not _SMALLEST <= found <= _LARGEST:
        # Python writes down no number that is very long.
        bits = found.bit_length()
        raise OverflowError(
            f"A kernel takes 32-bit integers, from {_SMALLEST} to {_LARGEST}, and is "
            f"given {found if bits < _MOST_BITS else f'one of {bits} bits'}: pass a number in that "
            "range."
        )
    return found


_MOST_BITS = 200


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise OverflowError(
            "A kernel takes real numbers of 8 bytes, up to 1.8e308, and is given one that is "
            "larger: pass a number in that range."
        ) from None
    except (TypeError, ValueError):
        raise TypeError(f"{value!r} is no number.") from None


def _real_size(value: Any) -> int | None:
    """Return the bytes of a real number of NumPy, None for others."""
    type_ = getattr(value, "dtype", None)
    return type_.itemsize if isinstance(type_, np.dtype) and type_.kind == "f" else None


_OUTSIDE = "psy_outside"


def checked(
    function: Callable[..., Any], library: ctypes.CDLL, lock: AbstractContextManager[Any]
) -> Callable[..., Any]:
    """Return a function of a library with bounds checks, which raises what they have found.

    The library records one index for all its threads: `lock`, which is reentrant, admits one
    thread at a time. A signal handler or finalizer may call the library during a call.
    """
    outside = getattr(library, _OUTSIDE)
    outside.restype = ctypes.c_char_p
    running: list[bytes | None] = library.__dict__.setdefault("interrupted", [])

    def call(*args: Any) -> Any:
        """Call the function.

        Raises:
            IndexError: a kernel has an index that is out of bounds.
        """
        with lock:
            # The message of a call that this one interrupts, or that an exception ended.
            earlier = outside()
            if running:
                running[-1] = running[-1] or earlier
            running.append(None)
            try:
                result = function(*args)
                message = outside()
            finally:
                earlier = running.pop()
            message = earlier or message
        if message:
            raise IndexError(message.decode())
        return result

    return call


class CompiledLibrary:
    """The C functions of a generated module, loaded at the first use."""

    device: str | None = None
    suffix = ".c"

    def __init__(self, module: Mapping[str, Any]) -> None:
        """Take the names of the generated module: its `__file__`, or the C itself as `__c__`."""
        self._module = module
        self._loaded: ctypes.CDLL | None = None
        self._lock = FORKS.guard(threading.RLock(), Rank.STREAM)

    def function(self, name: str, types: str, *_launch: Any, result: str = "") -> Any:
        """Return a function, ready to be called.

        `types` are those of its scalars, by letter, `result` that of what it returns, if anything.
        """
        library = self._loaded
        if library is None:
            library = self._loaded = load_library(self.text())
        returned = _TYPES[result] if result else None
        made = ctypes.CFUNCTYPE(returned, *parameters_of(types))
        found = made((name, library))
        return checked(found, library, self._lock) if hasattr(library, _OUTSIDE) else found

    def text(self) -> str:
        """Return the text in C, or in what becomes C."""
        if text := str(self._module.get("__c__", "")):
            return text
        beside = Path(str(self._module["__file__"])).with_suffix(self.suffix)
        return beside.read_text(encoding="utf-8")


def address_of(array: Any) -> int:
    """Return where an array begins, on the host or on a device."""
    described = getattr(array, "__array_interface__", None) or array.__cuda_array_interface__
    found: int = described["data"][0]
    return found
