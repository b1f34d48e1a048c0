"""Own the capsules of DLPack for the arrays of the stand-in.

Source: "DLPack: Open In Memory Tensor Structure", C API (DLManagedTensor, DLTensor, DLDataType),
and "Python Specification for DLPack".
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

CUDA, MANAGED = 2, 13
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_NAME, _USED = b"dltensor", b"used_dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """Be a tensor with its owner and the function that lets it go."""


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("owner", ctypes.c_void_p), ("deleter", _DELETER)]

_api = ctypes.pythonapi
_new = _api.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = _api.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_rename = _api.PyCapsule_SetName
_rename.restype, _rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]

_EXPORTED: dict[int, tuple[Any, ...]] = {}


class Imported(NamedTuple):
    """Be what a capsule describes, and what must stay alive for it."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    owner: Any

    @property
    def nbytes(self) -> int:
        """Return from the first to the last byte."""
        steps = zip(self.strides, self.shape, strict=True)
        return 0 if 0 in self.shape else sum(s * (n - 1) for s, n in steps) + self.dtype.itemsize


@_DELETER
def _let_go(pointer: Any) -> None:
    _EXPORTED.pop(ctypes.addressof(pointer.contents), None)


def capsule_of(array: Any) -> Any:
    """Return the capsule of a device array."""
    ndim, itemsize = array.ndim, array.itemsize
    shape = (ctypes.c_int64 * max(ndim, 1))(*array.shape)
    strides = (ctypes.c_int64 * max(ndim, 1))(*(stride // itemsize for stride in array.strides))
    kind, device_id = array.__dlpack_device__()
    managed = _Managed()
    managed.tensor = _Tensor(
        array.data.ptr, kind, device_id, ndim, _CODES[array.dtype.kind], itemsize * 8, 1,
        shape, strides, 0,
    )  # fmt: skip
    managed.deleter = _let_go
    _EXPORTED[ctypes.addressof(managed)] = (managed, array, shape, strides)
    return _new(ctypes.addressof(managed), _NAME, None)


def read_capsule(capsule: Any) -> Imported:
    """Return what a capsule describes, and mark it as used."""
    managed = _Managed.from_address(_pointer(capsule, _NAME))
    tensor = managed.tensor
    letters = {code: letter for letter, code in _CODES.items()}
    dtype = np.dtype(f"{letters[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(step * dtype.itemsize for step in tensor.strides[: tensor.ndim])
    _rename(capsule, _USED)
    address = tensor.data + tensor.byte_offset
    owner = _EXPORTED.pop(ctypes.addressof(managed))
    return Imported(address, shape, dtype, strides, owner)
