"""Routines of generated C: their fields bound in one step, and what does not change found once.

For the same fields a routine knows from its second call on where their arrays are and what its
loops count. A call acquires all data together, computes, and notes what was written. Nothing is
kept alive by that: what is known goes when one of the fields goes.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from psyclone_storage.runtime.binding import BoundStorages, kept_with
from psyclone_storage.runtime.gocean.field import Field
from psyclone_storage.runtime.gocean.held import check_fields
from psyclone_storage.runtime.native import CompiledLibrary, address_of
from psyclone_storage.storage import Storage

_ARRAYS = 2
"""Where the description of a function has the positions of its arrays, for a device."""
SetUp = Callable[..., tuple[tuple[Storage, ...], tuple[float, ...], tuple[int, ...]]]
"""What finds, from fields, properties of the grid that are arrays and numbers, and bounds."""


def check_within(field: Field, columns: tuple[int, int], rows: tuple[int, int]) -> None:
    """See that the arrays of a rank have points, counted from 1: the first and the last of each.

    Raises:
        IndexError: they have not. Where nothing is counted, nothing is looked at.
    """
    shape = field.grid.shape
    empty = columns[1] < columns[0] or rows[1] < rows[0]
    inside = min(columns[0], rows[0]) >= 1 and columns[1] <= shape[0] and rows[1] <= shape[1]
    if not empty and not inside:
        raise IndexError(
            f"A kernel looks at the columns {columns} and the rows {rows} of arrays of {shape} "
            f"points: the halo of the grid is too narrow for it."
        )


class CompiledRoutine:
    """One invoke: functions of C, and what they are called with.

    `accesses` are a word for each field: `read`, `written`, or `covered` for one of which all
    points of the whole region are written before any is read.
    """

    def __init__(
        self,
        library: CompiledLibrary,
        setup: SetUp,
        functions: Sequence[tuple[Any, ...]],
        accesses: str,
    ) -> None:
        self._library, self._setup, self._wanted = library, setup, functions
        words = accesses.split()
        self.written = tuple(at for at, word in enumerate(words) if word != "read")
        self.covered = tuple(at for at, word in enumerate(words) if word == "covered")
        self._functions: tuple[Any, ...] = ()
        self._known: dict[tuple[int, ...], _Prepared] = {}

    def __call__(self, *fields: Field) -> _Run:
        """Return a block in which the data of `fields` are bound."""
        known = self._known.get(tuple(map(id, fields)))
        return _Run(known if known is not None else self._prepared(fields), fields)

    def _prepared(self, fields: tuple[Field, ...]) -> _Prepared:
        """Find what the routine needs of `fields`.

        Raises:
            TypeError: something is no field, or has values of another type than kernels compute
                with.
            ValueError: one field is there twice, and is written; fields are on different grids.
        """
        check_fields(fields, [fields[at] for at in self.written])
        if not self._functions:
            self._functions = tuple(self._library.function(*one) for one in self._wanted)
        properties, reals, counts = self._setup(*fields)
        made = _Prepared(self, fields, properties, (reals, counts))
        key = tuple(map(id, fields))
        made.watched = kept_with(fields, key, self._known)
        self._known[key] = made
        return made

    @property
    def places(self) -> tuple[tuple[int, ...] | None, ...]:
        """The positions of the arrays that each function uses on a device; None on the host."""
        return tuple(tuple(one[_ARRAYS]) if len(one) > _ARRAYS else None for one in self._wanted)

    @property
    def device(self) -> str | None:
        """Where the functions run."""
        return self._library.device

    @property
    def functions(self) -> tuple[Any, ...]:
        """The functions, in order."""
        return self._functions


class _Prepared(BoundStorages):
    """What a routine knows of some fields: tables for its functions, and what binds the data."""

    __slots__ = ("arrays", "brought", "data", "watched", "written")

    def __init__(
        self,
        routine: CompiledRoutine,
        fields: tuple[Field, ...],
        properties: tuple[Storage, ...],
        numbers: tuple[tuple[float, ...], tuple[int, ...]],
    ) -> None:
        reals, counts = numbers
        storages = [*(field.storage for field in fields), *properties]
        super().__init__(storages, routine)
        shape = fields[0].grid.shape
        self.written = routine.written
        self.brought = () if routine.device else tuple(
            fields[at].storage for at in routine.covered
            if fields[at].region_is_all and fields[at].storage.device is not None
        )  # fmt: skip
        self.data = (ctypes.c_void_p * len(storages))()
        whole = (*shape, *counts)
        self.tables = (
            self.data,
            (ctypes.c_double * max(len(reals), 1))(*reals),
            (ctypes.c_int64 * len(whole))(*whole),
        )
        self.arrays: list[Any] = [None] * len(storages)
        self.watched: list[weakref.ref[Any]] = []
        for storage, field in zip(storages, fields, strict=False):
            if storage.dtype != "f8":
                raise TypeError(
                    f"{field.describe()} has values of the type {storage.dtype}, but generated C "
                    f"computes with float64: generate NumPy for other types."
                )
            if routine.device is not None and storage.device is None:
                raise ValueError(
                    f"{field.describe()} is on the host alone, but what was generated runs on a "
                    f"device: make its grid with device='gpu'."
                )

    def find(self, arrays: Any) -> None:
        """Note where arrays are that are not where they were.

        Work that is queued keeps the tables that it was given.

        Raises:
            ValueError: one is not laid out as the arrays of its grid are.
        """
        self.data = type(self.data)(*self.data)
        self.tables = (self.data, *self.tables[1:])
        for at, name in enumerate(self.names):
            array = arrays[name]
            if array is not self.arrays[at]:
                if not array.flags.f_contiguous or array.shape != tuple(self.tables[2][:2]):
                    raise ValueError("An array of a grid has gaps, or other extents than its grid.")
                self.data[at] = address_of(array)
                self.arrays[at] = array


class _Run:
    """A call of a routine: its data are bound in the block, where its functions are called."""

    __slots__ = ("_binding", "_fields", "_prepared")

    def __init__(self, prepared: _Prepared, fields: tuple[Field, ...]) -> None:
        self._prepared, self._fields = prepared, fields
        self._binding: Any = None

    def __enter__(self) -> _Run:
        prepared = self._prepared
        for field in self._fields:
            if field.under_way is not None:
                field.check_idle()
        for storage in prepared.brought:
            if not storage.is_current(None):
                _ = storage.data_wo
        self._binding = prepared.take()
        arrays = self._binding.__enter__()
        if not all(map(is_, arrays.values(), prepared.arrays)):
            self._find(prepared, arrays)
        return self

    def _find(self, prepared: _Prepared, arrays: Any) -> None:
        try:
            prepared.find(arrays)
            if prepared.device is not None:
                prepared.note_uses(self._binding)
        except BaseException:
            prepared.arrays = [None] * len(prepared.arrays)
            self._binding.__exit__(None, None, None)
            raise

    def __call__(self, number: int, *scalars: float) -> None:
        """Call one of the functions.

        Raises:
            TypeError: a scalar is no number, or no whole number where one is needed.
            OverflowError: a scalar is a whole number that is too large.
        """
        self._prepared.call(self._binding, number, scalars)

    def __exit__(self, *error: Any) -> None:
        self._binding.__exit__(*error)
        prepared = self._prepared
        prepared.put(self._binding)
        for at in prepared.written:
            self._fields[at].set_dirty()
