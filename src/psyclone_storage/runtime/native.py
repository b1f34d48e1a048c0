"""Functions of generated C code, which take three tables and scalars by value."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from psyclone_storage.base.results import UnsetResultError
from psyclone_storage.base.uncaught import blamed
from psyclone_storage.runtime.compiling import load_library
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.memory.cuda import copied_to_device

TABLES = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""The types of the first parameters: tables of array addresses, reals, and integers."""
CONVERSION_ERRORS = (TypeError, OverflowError, UnsetResultError)
"""The errors of scalars that cannot be passed."""
_SMALLEST, _LARGEST, _BYTES = -(2**31), 2**31 - 1, 4


class WholeNumber(ctypes.c_int32):
    """A 32-bit integer argument that rejects larger values, which `ctypes` would truncate."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        """Return the argument for a C function.

        Raises:
            TypeError: `value` is not a Python integer that fits into 32 bits.
        """
        if isinstance(value, int) and _SMALLEST <= value <= _LARGEST:
            return value
        raise TypeError(f"{value!r} is not an integer of 32 bits.")


_PASSED = ctypes.c_double.from_param


class RealNumber(ctypes.c_double):
    """A 64-bit real argument; 32-bit reals are rejected, because Python would compute with them."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        """Return the argument for a C function.

        Raises:
            TypeError: `value` is not a Python float.
        """
        if isinstance(value, float):
            return _PASSED(value)
        raise TypeError(f"{value!r} is no real number of Python.")


class ScalarArray:
    """An array argument of a function: its values in Fortran order."""

    __slots__ = ("_there", "address", "values")

    def __init__(self, values: Any) -> None:
        """Wrap an array whose values do not change."""
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
        """Copy the array to the device, and return the address of the copy."""
        self._there = copied_to_device(self.values)
        return address_of(self._there)


class ArrayAddress(ctypes.c_int64):
    """The address of an array argument."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        """Return the argument for a C function.

        Raises:
            TypeError: `value` is not a `ScalarArray`.
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
    """Return the parameter types of a function: the tables, and scalars by their letters."""
    return (*TABLES, *(_TYPES[one] for one in types))


def number_of(value: Any, wanted: Any) -> Any:
    """Return a scalar as a Python number, for a function with a parameter of type `wanted`.

    An array is returned unchanged.

    Raises:
        TypeError: it is not a number, or not an integer where one is required; or a real does not
            have 8 bytes where these are required.
        OverflowError: the number is too large.
        UnsetResultError: it is a `Result` without a value.
    """
    if wanted is ArrayAddress:
        return value
    try:
        return _number_of(value, wanted)
    except CONVERSION_ERRORS as error:
        raise blamed(error, value) from None


def _number_of(value: Any, wanted: Any) -> Any:
    if isinstance(value, np.integer) and (value.dtype.kind == "u" or value.dtype.itemsize < _BYTES):
        raise TypeError(
            f"{value!r} is of type '{value.dtype.name}', with which Python would go on to compute: "
            "give the kernel 'int(...)' of that."
        )
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
        # Python refuses to convert very long integers to text.
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
    except UnsetResultError:
        raise
    except (TypeError, ValueError):
        raise TypeError(f"{value!r} is no number.") from None


def _real_size(value: Any) -> int | None:
    """Return the size of a NumPy real in bytes, None for other values."""
    type_ = getattr(value, "dtype", None)
    return type_.itemsize if isinstance(type_, np.dtype) and type_.kind == "f" else None


_OUTSIDE = "psy_outside"


def checked(
    function: Callable[..., Any], library: ctypes.CDLL, lock: AbstractContextManager[Any]
) -> Callable[..., Any]:
    """Return a function of a library with bounds checks that raises the errors found.

    The library stores one message for all its threads: `lock`, which is reentrant, admits one
    thread at a time. A signal handler or finalizer may call the library during a call.
    """
    outside = getattr(library, _OUTSIDE)
    outside.restype = ctypes.c_char_p
    running: list[bytes | None] = library.__dict__.setdefault("interrupted", [])

    def call(*args: Any) -> Any:
        """Call the function.

        Raises:
            IndexError: a kernel used an index that is out of bounds.
        """
        with lock:
            # The message of a call that this call interrupts, or that ended by an exception.
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

    # Scalars that are no Python numbers are converted by these types.
    vars(call)["argtypes"] = getattr(function, "argtypes", ())
    return call


class CompiledLibrary:
    """The C functions of a generated module, loaded on first use."""

    device: str | None = None
    suffix = ".c"

    def __init__(self, module: Mapping[str, Any]) -> None:
        """Store the globals of the generated module: its `__file__`, or C code as `__c__`."""
        self._module = module
        self._loaded: ctypes.CDLL | None = None
        self._lock = FORKS.guard(threading.RLock(), Rank.STREAM)

    def function(self, name: str, types: str, *_launch: Any, result: str = "") -> Any:
        """Return a callable function of the library.

        `types` contains the type letters of its scalars, `result` that of its result, if any.
        """
        library = self._loaded
        if library is None:
            library = self._loaded = load_library(self.text())
        returned = _TYPES[result] if result else None
        made = ctypes.CFUNCTYPE(returned, *parameters_of(types))
        found = made((name, library))
        return checked(found, library, self._lock) if hasattr(library, _OUTSIDE) else found

    def text(self) -> str:
        """Return the C code, or the code from which C code is made."""
        if text := str(self._module.get("__c__", "")):
            return text
        beside = Path(str(self._module["__file__"])).with_suffix(self.suffix)
        return beside.read_text(encoding="utf-8")


def address_of(array: Any) -> int:
    """Return the address of an array on the host or on a device."""
    described = getattr(array, "__array_interface__", None) or array.__cuda_array_interface__
    found: int = described["data"][0]
    return found
