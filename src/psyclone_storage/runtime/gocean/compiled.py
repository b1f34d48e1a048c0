"""Calls of generated C routines for fields on grids, with cached bindings of the fields.

From the second call with the same fields, the routine uses cached array addresses and loop bounds.
A call acquires all fields together, executes the functions, and records which fields were written.
The cache does not keep fields alive: an entry is dropped when one of its fields is collected.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from psyclone_storage.base.uncaught import HaloWidthError, blamed
from psyclone_storage.runtime.binding import BoundRoutine, BoundStorages
from psyclone_storage.runtime.gocean.field import Field
from psyclone_storage.runtime.gocean.held import begin, check_fields, check_meant
from psyclone_storage.runtime.native import CompiledLibrary
from psyclone_storage.storage import Storage

_WRITTEN = ("written", "covered")
_ARRAYS = 2
"""The index of the positions of device arrays in the description of a function."""
SetUp = Callable[..., tuple[tuple[Storage, ...], tuple[float, ...], tuple[int, ...]]]
"""A function that returns array properties, real numbers and loop bounds for some fields."""


def check_within(field: Field, columns: tuple[int, int], rows: tuple[int, int]) -> None:
    """Check that the arrays of a rank contain the given points.

    `columns` and `rows` are pairs of the first and the last index, counted from 1. An empty range
    is always valid.

    Raises:
        HaloWidthError: a point is outside the arrays.
    """
    shape = field.grid.shape
    empty = columns[1] < columns[0] or rows[1] < rows[0]
    inside = min(columns[0], rows[0]) >= 1 and columns[1] <= shape[0] and rows[1] <= shape[1]
    if not empty and not inside:
        raise HaloWidthError(
            f"A kernel reads the columns {columns} and the rows {rows} of arrays of {shape} "
            f"points: the halo of the grid is too narrow for it. Write Grid(..., halo=N) with a "
            f"larger N than {field.grid.halo}."
        )


class CompiledRoutine(BoundRoutine):
    """One invoke: its C functions and their arguments.

    - `accesses`: one word for each field: `read`, `moved=1` if a dirty halo is exchanged to
      depth 1, `written`, or `covered` if all points of the whole region are written before any is
      read.

    - `meant`: words for `check_meant`.

    - `sets_flags`: the routine records dirty halos itself.
    """

    def __init__(  # noqa: PLR0913 - what a compiler knows of an invoke
        self,
        library: CompiledLibrary,
        setup: SetUp,
        functions: Sequence[tuple[Any, ...]],
        accesses: str,
        *,
        meant: Sequence[str] = (),
        sets_flags: bool = False,
    ) -> None:
        super().__init__()
        self._library, self._setup, self._wanted = library, setup, functions
        self._meant, self.sets_flags = meant, sets_flags
        words = accesses.split()
        halos = ((at, word.partition("=")[2]) for at, word in enumerate(words))
        self.moved = tuple((at, int(depth)) for at, depth in halos if depth)
        self.written = tuple(at for at, word in enumerate(words) if word in _WRITTEN)
        self.covered = tuple(at for at, word in enumerate(words) if word == "covered")
        self._functions: tuple[Any, ...] = ()

    def _prepared(self, fields: tuple[Field, ...], given: tuple[Hashable, ...], /) -> BoundStorages:
        """Return the cached state of the routine for `fields`.

        Raises:
            TypeError: an argument is not a field, or its values have another type than the kernels
                require.
            ValueError: a written field is passed twice, or fields are on different grids, or on
                points or with an offset that the kernels do not support.
        """
        changed = (*self.written, *(at for at, _ in self.moved))
        check_fields(fields, [fields[at] for at in changed])
        check_meant(fields, self._meant)
        if not self._functions:
            self._functions = tuple(self._library.function(*one) for one in self._wanted)
        properties, reals, counts = self._setup(*fields)
        made = _Prepared(self, fields, properties, (reals, counts))
        return self._keep(made, fields, given)

    @property
    def places(self) -> tuple[tuple[int, ...] | None, ...]:
        """Positions of the arrays that each function uses on a device; None on the host."""
        return tuple(tuple(one[_ARRAYS]) if len(one) > _ARRAYS else None for one in self._wanted)

    @property
    def meant(self) -> Sequence[str]:
        """The words for `check_meant`."""
        return self._meant

    @property
    def device(self) -> str | None:
        """The memory space in which the functions run."""
        return self._library.device

    @property
    def functions(self) -> tuple[Any, ...]:
        """The functions; generated code selects one by its position."""
        return self._functions


class _Prepared(BoundStorages):
    """Cached state for some fields: tables for functions, and the binding of the fields."""

    __slots__ = ("_covered", "_shape")

    def __init__(
        self,
        routine: CompiledRoutine,
        fields: tuple[Field, ...],
        properties: tuple[Storage, ...],
        numbers: tuple[tuple[float, ...], tuple[int, ...]],
    ) -> None:
        reals, counts = numbers
        storages = [*(field.storage for field in fields), *properties]
        covered = () if routine.device else (fields[at] for at in routine.covered)
        super().__init__(storages, routine, [one.storage for one in covered if one.region_is_all])
        self.dirty, self.sets_flags = routine.written, routine.sets_flags
        self._covered = routine.covered
        self._shape = fields[0].grid.shape
        self.addresses = (ctypes.c_void_p * len(storages))()
        whole = (*self._shape, *counts)
        self.numbers = (
            (ctypes.c_double * max(len(reals), 1))(*reals),
            (ctypes.c_int64 * len(whole))(*whole),
        )
        for storage, field in zip(storages, fields, strict=False):
            if routine.device is not None and storage.device is None:
                text = (
                    f"{field.describe()} is on the host alone, but what was generated runs on a "
                    f"device: make its grid with device='gpu'."
                )
                raise blamed(ValueError(text), field)

    def begun_again(self, binding: Any, data: tuple[Any, ...]) -> Any:
        """Enter a binding again; poisoned values of overwritten fields are dropped."""
        covered = [data[at] for at in self._covered]
        return begin(binding, data, covered, self.device)

    def check_layout(self, array: Any) -> None:
        """Raise `ValueError` if an array does not have the layout of its grid's arrays."""
        if array.ndim > len(self._shape):
            array = array.transpose(-1, *range(len(self._shape)))
        if not array.flags.f_contiguous or array.shape[-len(self._shape) :] != self._shape:
            raise ValueError("An array of a grid has gaps, or other extents than its grid.")
