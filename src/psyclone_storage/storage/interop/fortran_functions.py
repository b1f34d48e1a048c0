"""Call signatures of the Fortran storage library: names, argument types and records."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.errors import ViewTypeError

_ELEMENTS = {
    np.dtype(np.float32): 1,
    np.dtype(np.float64): 2,
    np.dtype(np.int32): 3,
    np.dtype(np.int64): 4,
}

Box = Sequence[tuple[int, int]]
"""The first and last index of a box in each dimension, in Fortran order, starting at 1."""


class BoxRecord(ctypes.Structure):
    """The record `box_type` of `storage_parts_mod`."""

    _fields_ = (("first", ctypes.c_int64 * 3), ("last", ctypes.c_int64 * 3))


def boxes_of(parts: Iterable[Box]) -> ctypes.Array[BoxRecord]:
    """Return index boxes as an array of C records."""
    made = [
        BoxRecord(
            (ctypes.c_int64 * 3)(*(first for first, _ in part)),
            (ctypes.c_int64 * 3)(*(last for _, last in part)),
        )
        for part in parts
    ]
    return (BoxRecord * len(made))(*made)


MOST_DIMENSIONS = 5
"""The largest number of dimensions of a field."""


class Description(ctypes.Structure):
    """The record `storage_description_type` of `field_storage_c_mod`."""

    _fields_ = (
        ("element", ctypes.c_int),
        ("dimensions", ctypes.c_int),
        ("extents", ctypes.c_int64 * MOST_DIMENSIONS),
        ("halo_depth", ctypes.c_int),
        ("read_only", ctypes.c_int),
        ("has_values", ctypes.c_int),
        ("host", ctypes.c_void_p),
    )


@dataclass(frozen=True, slots=True)
class FortranOptions:
    """Options for the creation of a storage in Fortran.

    - `label` appears in messages and statistics.
    - `halo_depth` is the number of halo depths with a dirty flag.
    - `read_only` rejects write accesses.
    - `has_values` states whether wrapped memory contains values.
    """

    label: str = ""
    halo_depth: int = 0
    read_only: bool = False
    has_values: bool = True


def description_of(
    shape: tuple[int, ...], dtype: Any, options: FortranOptions, address: int | None
) -> Description:
    """Return the record of a new storage; raise `ViewTypeError` if Fortran cannot have it."""
    element = _ELEMENTS.get(np.dtype(dtype))
    if element is None or not 1 <= len(shape) <= MOST_DIMENSIONS:
        names = ", ".join(str(known) for known in _ELEMENTS)
        raise ViewTypeError(
            f"{len(shape)} dimensions of {np.dtype(dtype)} cannot go to Fortran: it takes one "
            f"to five of {names}."
        )
    extents = (ctypes.c_int64 * MOST_DIMENSIONS)(*shape)
    return Description(
        element,
        len(shape),
        extents,
        options.halo_depth,
        options.read_only,
        options.has_values and address is not None,
        address,
    )


_POINTER, _INT, _LONG = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
TEXTS = ("error", "device")
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "devices": (),
    "use_device": (_INT,),
    "make": (_POINTER, ctypes.c_char_p, _POINTER),
    "free": (_POINTER,),
    "attach_device": (_POINTER, _INT, _POINTER),
    "leave_device": (_POINTER,),
    "acquire": (_POINTER, _INT, _INT),
    "get": (_POINTER, _INT, _INT, _POINTER),
    "acquire_blocks": (_POINTER, _INT, _INT, _INT, _INT),
    "acquire_part": (_POINTER, _INT, _INT, _POINTER, _INT),
    "release": (_POINTER, _INT),
    "touch": (_POINTER, _INT),
    "assume_valid": (_POINTER, _POINTER, _INT),
    "begin_exchange": (_POINTER, _INT, _INT),
    "begin_exchange_of_parts": (_POINTER, _INT, _INT, _POINTER, _INT, _INT),
    "end_exchange": (_POINTER, _LONG, _LONG),
    "is_dirty": (_POINTER, _INT, _POINTER),
    "set_dirty": (_POINTER,),
    "set_clean": (_POINTER, _INT),
    "ask": (_POINTER, _INT, _POINTER, _POINTER),
    "version": (_POINTER, _POINTER),
    "statistics": (_POINTER, _POINTER),
    "reset_statistics": (_POINTER,),
    "error": (ctypes.c_char_p, _INT),
    "device": (ctypes.c_char_p, _INT),
}
