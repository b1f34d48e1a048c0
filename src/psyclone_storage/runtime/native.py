"""Functions of generated C, which take three tables and scalars by value."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psyclone_storage.runtime.compiling import load_library

TABLES = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""What each function takes first: addresses of arrays, reals, and whole numbers."""
_TYPES: Mapping[str, Any] = {
    "d": ctypes.c_double,
    "f": ctypes.c_float,
    "i": ctypes.c_int32,
    "l": ctypes.c_int64,
}
WHOLE = (ctypes.c_int32, ctypes.c_int64)


class CompiledLibrary:
    """The functions of the C beside a generated module, loaded when one is first needed."""

    device: str | None = None
    suffix = ".c"

    def __init__(self, module: Mapping[str, Any]) -> None:
        """Take the names of the generated module: its `__file__`, or the C itself as `__c__`."""
        self._module = module
        self._loaded: ctypes.CDLL | None = None

    def function(self, name: str, types: str, *_launch: Any, result: str = "") -> Any:
        """Return a function, ready to be called.

        `types` are those of its scalars, by letter, `result` that of what it returns, if anything.
        """
        if self._loaded is None:
            self._loaded = load_library(self.text())
        returned = _TYPES[result] if result else None
        made = ctypes.CFUNCTYPE(returned, *TABLES, *(_TYPES[one] for one in types))
        return made((name, self._loaded))

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
