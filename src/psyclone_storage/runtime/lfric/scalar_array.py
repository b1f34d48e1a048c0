"""Array arguments of kernels: copies of the values at the time of the call."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.runtime.lfric.library import Array
from psyclone_storage.runtime.native import ScalarArray

_RANGE = np.iinfo(np.int32)
_CONDITIONS = "b"


def scalar_array(value: Any, type_: str, rank: int, name: str) -> ScalarArray:
    """Return an array argument for generated code: a copy in Fortran order.

    `type_` is the NumPy type that the code expects, or `bool`; the array may be empty. Integers may
    have any NumPy type. Integers and shorter reals are converted.

    Raises:
        TypeError: it is not an array of such values, or has longer reals.
        ValueError: it has another number of dimensions.
        OverflowError: an integer is too large.
    """
    found = value.values if isinstance(value, ScalarArray) else np.asarray(value)
    wanted = np.dtype(type_)
    if not _fits(found.dtype, wanted):
        words = "True and False" if wanted.kind == _CONDITIONS else f"values of the type {wanted}"
        raise TypeError(
            f"'{name}' is an array of {words} where it is passed, and is given {_words(found)}."
        )
    if found.ndim != rank:
        raise ValueError(
            f"'{name}' is an array of {rank} dimension{'s' if rank > 1 else ''} where it is "
            f"passed, and is given one of the shape {found.shape}."
        )
    if wanted.kind == "i" and found.size and not _has_room(found):
        raise OverflowError(
            f"'{name}' is an array of 32-bit integers where it is passed, and has some "
            f"beyond {_RANGE.min} to {_RANGE.max}."
        )
    return ScalarArray(
        found.astype(np.int32 if wanted.kind == _CONDITIONS else wanted, order="F", copy=True)
    )


def _fits(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    if _CONDITIONS in (wanted.kind, given.kind):
        return given.kind == wanted.kind
    if wanted.kind == "i":
        return given.kind in "iu"
    return given.kind in "iu" or (given.kind == "f" and given.itemsize <= wanted.itemsize)


def _has_room(found: Array) -> bool:
    return bool(_RANGE.min <= int(found.min()) and int(found.max()) <= _RANGE.max)


def _words(found: Any) -> str:
    return f"one of the type {found.dtype}" if found.ndim else f"{found.item()!r}"
