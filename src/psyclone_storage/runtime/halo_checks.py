"""Run-time checks of the halos of Python fields (setting RUN_TIME_CHECKS = halos).

Generated code calls an object of `HaloChecks` before and after each loop, as the module
`halo_check_mod` is called by layers in Fortran. A `CheckedHalo` describes the halo of a field.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from psyclone_storage.base.uncaught import UserError
from psyclone_storage.runtime.binding import arrays_on_host, held_arrays
from psyclone_storage.runtime.ranks import Ranks
from psyclone_storage.storage import RDWR

Array = np.ndarray[Any, Any]


class HaloCheckError(UserError, RuntimeError):
    """Error: a halo was read that is dirty or differs from its owners."""


class CheckedHalo(Protocol):
    """The halo of a field, in levels from 1; level 0 are values that several ranks compute."""

    @property
    def ranks(self) -> Ranks:
        """The ranks among which the field is distributed."""

    @property
    def depth(self) -> int:
        """The number of levels."""

    @property
    def has_annexed(self) -> bool:
        """True if this rank has values of level 0 that belong to another rank."""

    def new_field(self) -> Any:
        """Return a field with an equal halo."""

    def first_level(self, differs: Array, depth: int) -> int | None:
        """Return the first level, up to `depth`, with a true value; None without any."""

    def dirty_parts(self, clean: int, annexed: bool) -> Iterator[Any]:
        """Yield array indices of the values after level `clean`, and of level 0 if `annexed`."""


class _LastWrite:
    """The last write of a field by a loop with checks.

    Levels 1 to `computed` have the values that the loop computed there, which need not have the
    bits of their owners. `annexed` is 1 if it left level 0 clean, -1 if stale, 0 if that is
    unknown. `copy` is a field for comparisons.
    """

    def __init__(self) -> None:
        self.computed = self.annexed = self.call = 0
        self.writer = "no loop with checks"
        self.copy: Any = None


class HaloChecks:
    """Checks of the invokes of a program.

    - `stops`: an invoke with errors raises `HaloCheckError`.
    - `errors`: the errors of this rank so far.
    """

    def __init__(self, halo_of: Callable[[Any], CheckedHalo]) -> None:
        """Store the function that returns the halo of a field."""
        self.stops = True
        self.errors: list[str] = []
        self._halo_of = halo_of
        self._records: weakref.WeakKeyDictionary[Any, _LastWrite] = weakref.WeakKeyDictionary()
        self._calls: dict[str, int] = {}
        self._call = self._found = 0
        self._invoke = ""
        self._compares = self._keeps_annexed = False
        self._ranks: Ranks | None = None

    def begin(self, invoke: str, every: int, keeps_annexed: bool) -> None:
        """Begin a call of an invoke; values are compared in the first of `every` calls.

        With `keeps_annexed`, level 0 is clean between invokes.
        """
        calls = self._calls.get(invoke, 0)
        self._calls[invoke] = calls + 1
        self._call, self._found, self._ranks = self._call + 1, len(self.errors), None
        self._invoke, self._compares = invoke, calls % every == 0
        self._keeps_annexed = keeps_annexed

    def needs(self, field: Any, name: str, reader: str, depth: int, annexed: bool) -> None:
        """Check the halo of `field` before `reader` reads it to a depth, and level 0 if `annexed`.

        Collective in calls that compare values.
        """
        halo, record = self._halo_of(field), self._record(field)
        self._ranks = halo.ranks
        if not halo.depth:
            return
        clean = field.clean_halo_depth
        if clean:
            record.annexed = 0
        if min(depth, halo.depth) > clean:
            self._report(name, clean + 1, f"is dirty and {reader}", record)
        elif annexed and halo.has_annexed and self._has_stale_annexed(record, clean):
            self._report(name, 0, f"is stale and {reader}", record)
        if self._compares:
            self._compare(field, name, reader, clean)

    def _has_stale_annexed(self, record: _LastWrite, clean: int) -> bool:
        if self._keeps_annexed:
            return record.annexed < 0
        if record.call != self._call:
            return clean == 0
        return clean == 0 and record.annexed < 1

    def _compare(self, field: Any, name: str, reader: str, clean: int) -> None:
        """Compare the clean levels with their owners, unless the last loop computed them."""
        halo, record = self._halo_of(field), self._record(field)
        found = halo.ranks.gathered((clean, record.computed))
        depths = [depth for depth, _ in found]
        if min(depths) != max(depths):
            problem = f"is clean on some ranks only when {reader}"
            self._report(name, min(depths) + 1, problem, record)
            return
        if clean <= max(computed for _, computed in found):
            return
        if record.copy is None:
            record.copy = halo.new_field()
        copy = record.copy
        with _values(field) as values, copy.storage.access(None, RDWR) as array:
            array[...] = values
        copy.exchange(clean)
        with _values(field) as values:
            differs = _bits(values) != _bits(copy.storage.data_ro)
        level = halo.first_level(differs, clean)
        if level is not None:
            problem = f"is marked clean, differs from its owners, and {reader}"
            self._report(name, level, problem, record)

    def wrote(self, field: Any, writer: str, clean: int, annexed: int, trusted: bool) -> None:
        """Record that `writer` wrote a field and computed its halo to level `clean`.

        Dirty levels are spoilt. It left level 0 clean (`annexed` is 1), stale (-1), or as clean as
        before (0). Values of `trusted` loops are never compared.
        """
        halo, record = self._halo_of(field), self._record(field)
        self._ranks = halo.ranks
        record.writer = f"{writer} in {self._invoke}"
        record.computed = halo.depth if trusted else min(clean, halo.depth)
        record.call, record.annexed = self._call, annexed
        if trusted or not halo.depth:
            return
        with arrays_on_host([field], writes=True) as (array,):
            for part in halo.dirty_parts(min(clean, halo.depth), annexed < 0):
                array[part] = _spoilt(array.dtype)

    def finish(self) -> None:
        """End a call of an invoke. Collective: all ranks must call it.

        Raises:
            HaloCheckError: there was an error, on any rank if the call compared values.
        """
        errors = self.errors[self._found :]
        count = len(errors)
        if self._compares and self._ranks is not None:
            count = self._ranks.greatest(count)
        if count and self.stops:
            text = "\n".join(errors) or f"{self._invoke} has errors on other ranks."
            raise HaloCheckError(f"Run-time check of halos: {text}")

    def _record(self, field: Any) -> _LastWrite:
        return self._records.setdefault(field, _LastWrite())

    def _report(self, name: str, level: int, problem: str, record: _LastWrite) -> None:
        rank = 0 if self._ranks is None else self._ranks.rank
        what = f"level {level} of the halo" if level else "level 0 (annexed dofs)"
        self.errors.append(
            f"{self._invoke}, rank {rank}: field '{name}': {what} {problem}; last written by "
            f"{record.writer}."
        )


@contextmanager
def _values(field: Any) -> Iterator[Array]:
    """Yield the host array of a field for reading, also if this thread has acquired the field."""
    held = held_arrays([field])
    if held is not None:
        yield held[0]
        return
    yield field.storage.data_ro


def _bits(values: Any) -> Array:
    """Return values as integers, so that NaN equals NaN."""
    found = np.asarray(values)
    return found.view(f"u{found.dtype.itemsize}")


def _spoilt(dtype: np.dtype[Any]) -> Any:
    """Return the value that dirty values get: quiet NaN, or the largest integer."""
    if dtype.kind == "f":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max
