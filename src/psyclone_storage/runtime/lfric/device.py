"""CUDA kernels for columns and dofs, and their launch by CuPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.runtime.device import KernelLibrary, OfTables
from psyclone_storage.runtime.lfric.summing import LENGTH
from psyclone_storage.runtime.native import parameters_of
from psyclone_storage.storage.memory.cuda import room_for_numbers

_BLOCK = 128
_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "d": np.float64,
    "f": np.float32,
    "i": np.int32,
    "a": lambda one: np.uint64(one.on_device()),
}
_BYTES: Mapping[str, int] = {"d": 8, "f": 4, "i": 4}
_PLACES: Mapping[str, int] = {"d": 1, "f": 1, "i": 1, "x": LENGTH}
"""The number of 8-byte words of a reduced value, by its type letter."""


class LaunchWords(NamedTuple):
    """Launch parameters of a generated kernel.

    - `arrays`, `counts`: positions in the tables.

    - `threads`: the position of the number of threads; -1 for one thread.

    - `colours`: the position of the number of colours, for each of which the kernel is launched; -1
      without colours.

    - `results`: a letter for each reduced value. The scalars are followed by the host addresses of
      these values. For `x`, they are the digits of an exact sum.
    """

    arrays: tuple[int, ...]
    counts: tuple[int, ...]
    threads: int
    colours: int
    results: str


class ColumnLaunch:
    """CUDA kernel that is called like a C function, with tables and scalars."""

    def __init__(self, kernel: Any, types: str, words: LaunchWords) -> None:
        self._kernel, self._words = kernel, words
        self._types = [_SCALARS[one] for one in types.rstrip("l")]
        self._places = tuple(accumulate((_PLACES[one] for one in words.results), initial=0))
        self._of_tables = OfTables(self._described)
        self.argtypes = parameters_of(types)
        self.restype = ctypes.c_int32 if words.results else None

    def __call__(self, data: Any, reals: Any, counts: Any, *scalars: Any) -> None:
        """Launch the threads, once for each colour if there are colours."""
        blocks, size, launches = self._of_tables(data, reals, counts)
        numbers: tuple[Any, ...] = ()
        if scalars:
            numbers = tuple(made(one) for made, one in zip(self._types, scalars, strict=False))
        *before_each, count = self._places
        room: Any = room_for_numbers(count) if count else None
        found = tuple(np.uint64(room.data.ptr + 8 * at) for at in before_each)
        for passed in launches:
            self._kernel(blocks, size, passed + numbers + found)
        if found:
            self._bring(room.get(), scalars[len(self._types) :])

    def _described(
        self, data: Any, _reals: Any, counts: Any
    ) -> tuple[tuple[int], tuple[int], list[tuple[Any, ...]]]:
        """Return the number and size of blocks, and the arguments of each launch from tables."""
        words = self._words
        before = (
            *(np.uint64(data[at]) for at in words.arrays),
            *(np.int64(counts[at]) for at in words.counts),
        )
        threads, size = 1, 1
        if words.threads >= 0:
            threads, size = counts[words.threads], _BLOCK
            before = (*before, np.int64(threads))
        launches = [(*before, *colour) for colour in self._each_colour(counts)] if threads else []
        return (-(-threads // size),), (size,), launches

    def _each_colour(self, counts: Any) -> list[tuple[Any, ...]]:
        """Return the colour arguments of all launches."""
        if self._words.colours < 0:
            return [()]
        return [(np.int32(colour),) for colour in range(1, counts[self._words.colours] + 1)]

    def _bring(self, on_host: Any, addresses: Any) -> None:
        """Copy reduced values to their host addresses; digits of exact sums are added."""
        at = 0
        for letter, address in zip(self._words.results, addresses, strict=True):
            if letter in _BYTES:
                ctypes.memmove(address, on_host.ctypes.data + 8 * at, _BYTES[letter])
            else:
                digits = np.ctypeslib.as_array((ctypes.c_int64 * LENGTH).from_address(address))
                digits += on_host[at : at + LENGTH].view(np.int64)
            at += _PLACES[letter]


class ColumnLibrary(KernelLibrary):
    """CUDA kernels of a module for columns."""

    def launches(self, kernel: Any, types: str, *launch: Any) -> ColumnLaunch:
        """Return a function that launches a kernel with a thread for each cell or dof."""
        return ColumnLaunch(kernel, types, LaunchWords(*launch))
