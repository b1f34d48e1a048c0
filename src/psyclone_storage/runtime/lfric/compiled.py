"""Calls of generated C routines for data on meshes, with cached bindings of the data.

From the second call with the same data, the routine uses cached addresses of arrays and maps, and
cached loop bounds. A call acquires all data together and executes the functions. The cache does not
keep data alive: an entry is dropped when one of its data is collected.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from psyclone_storage.base.uncaught import blamed
from psyclone_storage.runtime.binding import BoundRoutine, BoundStorages, enter
from psyclone_storage.runtime.lfric.held import (
    Data,
    check_data,
    check_types,
    is_whole,
)
from psyclone_storage.runtime.lfric.library import Array
from psyclone_storage.runtime.lfric.meant import check_meant
from psyclone_storage.runtime.native import CompiledLibrary, address_of

SetUp = Callable[..., tuple[Sequence[Array], Sequence[float], Sequence[int]]]
"""A function that returns arrays such as dofmaps, reals and counts for some data."""


_ARRAYS = 3
"""The index of the positions of device arrays in the description of a function."""


class MeshRoutine(BoundRoutine):
    """One invoke: its C functions and their arguments.

    - A function is given by its name, the type letters of its scalars and of its result, and its
      launch on a device.

    - `accesses`: one word for each datum: `read`, `written`, or `covered` if all owned dofs are
      written before any is read.

    - `types`: the C types of the data.

    - `meant`: words for `check_meant`, for each datum.
    """

    def __init__(  # noqa: PLR0913 - what a compiler knows of an invoke
        self,
        library: CompiledLibrary,
        setup: SetUp,
        functions: Sequence[tuple[Any, ...]],
        accesses: str,
        types: str,
        *,
        meant: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._meant = meant
        self._library, self._setup, self._wanted = library, setup, functions
        words = accesses.split()
        self.written = tuple(at for at, word in enumerate(words) if word != "read")
        self.covered = tuple(at for at, word in enumerate(words) if word == "covered")
        self.types = tuple(np.dtype(word) for word in types.split())
        self._functions: tuple[Any, ...] = ()

    def _prepared(self, data: tuple[Data, ...], given: tuple[Hashable, ...], /) -> BoundStorages:
        """Return the cached state of the routine for `data`.

        Raises:
            TypeError: an argument is not a field or operator, or has another type than the C code.
            ValueError: a written argument is passed twice, or data are on other ranks, meshes or
                spaces than the C code expects.
        """
        check_data(data, [data[at] for at in self.written])
        if len(data) != len(self.types):
            raise TypeError(f"The invoke takes {len(self.types)} data, not {len(data)}.")
        check_types(data, self.types, tuple(inspect.signature(self._setup).parameters))
        for datum in data:
            if self.device is not None and datum.storage.device is None:
                text = (
                    f"{datum.describe()} is on the host alone, but what was generated runs on a "
                    f"device: make its mesh with device='gpu'."
                )
                raise blamed(ValueError(text), datum)
        if self._meant:
            check_meant(data, self._meant)
        if not self._functions:
            self._functions = tuple(
                self._library.function(name, types, *rest[1:], result="".join(rest[:1]))
                for name, types, *rest in self._wanted
            )
        return self._keep(_KnownData(self, data, self._setup(*data, *given)), data, given)

    @property
    def places(self) -> tuple[tuple[int, ...] | None, ...]:
        """Positions of the arrays that each function uses on a device; None on the host."""
        return tuple(tuple(one[_ARRAYS]) if len(one) > _ARRAYS else None for one in self._wanted)

    @property
    def device(self) -> str | None:
        """The memory space in which the functions run."""
        return self._library.device

    @property
    def functions(self) -> tuple[Any, ...]:
        """The functions; generated code selects one by its position."""
        return self._functions


class _KnownData(BoundStorages):
    """Cached state: tables for functions, and the binding of the data."""

    __slots__ = ("_covered", "kept")

    def __init__(
        self,
        routine: MeshRoutine,
        data: tuple[Data, ...],
        found: tuple[Sequence[Array], Sequence[float], Sequence[int]],
    ) -> None:
        maps, reals, counts = found
        storages = [datum.storage for datum in data]
        if routine.device is not None:
            storages += [data[0].mesh.on_device(one) for one in maps]
        self._covered = tuple(at for at in routine.covered if is_whole(data[at]))
        super().__init__(storages, routine, [data[at].storage for at in self._covered])
        self.kept = tuple(maps)
        self.addresses = (ctypes.c_void_p * max(len(data) + len(maps), 1))()
        if self.device is None:
            for at, one in enumerate(maps, len(data)):
                self.check_layout(one)
                self.addresses[at] = address_of(one)
        self.numbers = (
            (ctypes.c_double * max(len(reals), 1))(*reals),
            (ctypes.c_int64 * max(len(counts), 1))(*counts),
        )

    def check_layout(self, array: Any) -> None:
        """Raise `ValueError` if an array is not contiguous in Fortran order."""
        if not array.flags.f_contiguous:
            raise ValueError("An array has gaps, or is not laid out as Fortran's arrays are.")

    def begun_again(self, binding: Any, data: tuple[Any, ...]) -> Any:
        """Enter a binding again; poisoned values of data that each call overwrites are dropped."""
        return enter(binding, data, [data[at] for at in self._covered], self.device)
