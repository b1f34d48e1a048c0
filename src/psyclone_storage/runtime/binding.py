"""How generated layers take their data: bound in one step, and what is known kept by object."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from functools import partial
from typing import Any, Protocol

from psyclone_storage.runtime.native import TABLES, number_of
from psyclone_storage.storage import Storage, bound
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.memory.races import MemoryUse


class FieldOrOperator(Protocol):
    """Data of a runtime, which say in messages what they are."""

    def describe(self) -> str:
        """Return what messages call it."""


class BoundStorages:
    """What binds the storages of an invoke, by number, those at `written` to be changed.

    A binding is kept for the next call; one that is in use is no other thread's.
    """

    __slots__ = ("_free", "_named", "_uses", "_uses_of", "_writes", "device", "names")

    def __init__(
        self, storages: Sequence[Storage], written: Sequence[int], device: str | None
    ) -> None:
        """Number the storages; `device` is where functions run."""
        self.device = device
        self.names = tuple(str(at) for at in range(len(storages)))
        self._named: dict[str, Storage] = dict(zip(self.names, storages, strict=True))
        self._writes = tuple(self.names[at] for at in written)
        self._free: list[Any] = []
        self._uses: tuple[tuple[MemoryUse, ...], ...] = ()
        self._uses_of: dict[tuple[int, ...], tuple[MemoryUse, ...]] = {}

    def take(self) -> Any:
        """Return what binds the data, which nobody uses meanwhile."""
        try:
            return self._free.pop()
        except IndexError:
            if self.device is None:
                return bound(self._named, writes=self._writes)
            return LaunchBlock(self._named, self.device, self._writes)

    def note_uses(self, binding: Any) -> None:
        """Note what work on a device is told to use, of the arrays that were found."""
        self._uses, self._uses_of = binding.uses(), {}

    def uses(self, places: tuple[int, ...] | None) -> tuple[MemoryUse, ...]:
        """Return what work with the data at some places uses; by itself with all of them."""
        wanted = tuple(range(len(self._uses))) if places is None else places
        found = self._uses_of.get(wanted)
        if found is None:
            found = tuple(use for at in wanted for use in self._uses[at])
            self._uses_of[wanted] = found
        return found

    def put(self, binding: Any) -> None:
        """Keep what binds the data for the next call."""
        self._free.append(binding)


def call(  # noqa: PLR0913, PLR0917 - this stands between each call of a function and its data
    known: BoundStorages,
    binding: Any,
    function: Any,
    tables: tuple[Any, ...],
    scalars: Any,
    places: tuple[int, ...] | None = None,
) -> Any:
    """Call a function of C with tables and scalars, where its data are; return its result.

    A device does that later, in its order, when the data at `places`, or all of them, have come,
    and what is returned is waited for.

    Raises:
        TypeError: a scalar is no number, or no whole number where one is needed.
        OverflowError: a scalar is a whole number that is too large.
    """
    if known.device is None:
        try:
            return function(*tables, *scalars)
        except ctypes.ArgumentError:
            return function(*tables, *_numbers(function, scalars))
    numbers = _numbers(function, scalars) if hasattr(function, "argtypes") else tuple(scalars)
    work = partial(function, *tables, *numbers)
    if getattr(function, "restype", None) is not None:
        return binding.start_and_wait(work, known.uses(places))
    binding.start(work, known.uses(places))
    return None


def _numbers(function: Any, scalars: Sequence[Any]) -> tuple[int | float, ...]:
    """Return scalars as numbers of Python, which nobody changes."""
    return tuple(map(number_of, scalars, function.argtypes[len(TABLES) :]))


def kept_with(
    data: Sequence[Any], key: Hashable, known: MutableMapping[Any, Any]
) -> list[weakref.ref[Any]]:
    """Return what lets the entry of `key` go from `known` when one of `data` goes."""
    forget: Callable[[Any], Any] = lambda _: known.pop(key, None)  # noqa: E731 - for each of them
    return [weakref.ref(datum, forget) for datum in data]


def check_once(data: Sequence[Any], changed: Sequence[FieldOrOperator]) -> None:
    """Raise `ValueError` if one of the `changed` is there twice."""
    for datum in changed:
        if sum(other is datum for other in data) > 1:
            raise ValueError(
                f"{datum.describe()} is passed twice, under two names of the algorithm, and is "
                f"written: give it one name, so that what depends on it is known."
            )


def side_of(storages: Sequence[Storage]) -> str | None:
    """Return the device if it has the current values of all `storages`, None for the host.

    Messages look the same from either side, so that each rank may choose its own.
    """
    device = storages[0].device
    if device is None or not all(one.device and one.is_current(device) for one in storages):
        return None
    return device
