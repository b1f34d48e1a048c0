"""How generated layers take their data: bound in one step, and what is known kept by object."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

from psyclone_storage.runtime.native import TABLES, number_of
from psyclone_storage.storage import Storage, bound
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.memory.conditions import NativeCall
from psyclone_storage.storage.memory.races import MemoryUse


class FieldOrOperator(Protocol):
    """Data of a runtime, which say in messages what they are."""

    def describe(self) -> str:
        """Return what messages call it."""


class Functions(Protocol):
    """The functions of a layer, and what is known of their arrays.

    `device` is where they run, `written` are the numbers of the data that they write, and `places`
    those of the arrays that each function uses on a device: None stands for all.
    """

    @property
    def device(self) -> str | None:
        """Return where the functions run."""

    @property
    def written(self) -> tuple[int, ...]:
        """Return which data they write."""

    @property
    def functions(self) -> tuple[Any, ...]:
        """Return the functions, in order."""

    @property
    def places(self) -> tuple[tuple[int, ...] | None, ...]:
        """Return the positions of the arrays that each function uses on a device."""


class _Launch(NamedTuple):
    """A function that a device calls later.

    `wanted` are the types of its scalars, where they are known; what has a result is waited for.
    """

    function: Any
    wanted: tuple[Any, ...] | None
    uses: tuple[MemoryUse, ...]
    has_result: bool


class BoundStorages:
    """What binds the storages of an invoke, by number, and calls its functions with `tables`.

    A binding is kept for the next call; one that is in use is no other thread's.
    """

    __slots__ = (
        "_free", "_launches", "_named", "_places", "_writes", "device", "functions", "names",
        "tables",
    )  # fmt: skip

    def __init__(self, storages: Sequence[Storage], layer: Functions) -> None:
        """Number the storages."""
        self.device, self.functions = layer.device, layer.functions
        self.names = tuple(str(at) for at in range(len(storages)))
        self.tables: tuple[Any, ...] = ()
        self._places = layer.places
        self._named: dict[str, Storage] = dict(zip(self.names, storages, strict=True))
        self._writes = tuple(self.names[at] for at in layer.written)
        self._free: list[Any] = []
        self._launches: tuple[_Launch, ...] = ()

    def take(self) -> Any:
        """Return what binds the data, which nobody uses meanwhile."""
        try:
            return self._free.pop()
        except IndexError:
            if self.device is None:
                return bound(self._named, writes=self._writes)
            return LaunchBlock(self._named, self.device, self._writes)

    def put(self, binding: Any) -> None:
        """Keep what binds the data for the next call."""
        self._free.append(binding)

    def note_uses(self, binding: Any) -> None:
        """Note what each function that a device calls is to use, of the arrays that were found."""
        found = binding.uses()
        self._launches = tuple(
            _Launch(
                function,
                function.argtypes[len(TABLES) :] if hasattr(function, "argtypes") else None,
                tuple(chain.from_iterable(found if at is None else (found[one] for one in at))),
                getattr(function, "restype", None) is not None,
            )
            for function, at in zip(self.functions, self._places, strict=True)
        )

    def call(self, binding: Any, number: int, scalars: tuple[Any, ...]) -> Any:
        """Call a function with tables and scalars, where its data are; return its result.

        A device does that later, in its order, when the data that it uses have come, and what is
        returned is waited for.

        Raises:
            TypeError: a scalar is no number, or no whole number where one is needed.
            OverflowError: a scalar is a whole number that is too large.
        """
        if self.device is None:
            function = self.functions[number]
            try:
                return function(*self.tables, *scalars)
            except ctypes.ArgumentError:
                # One that is no number of Python yet.
                return function(*self.tables, *_numbers(scalars, function.argtypes[len(TABLES) :]))
        function, wanted, uses, has_result = self._launches[number]
        if wanted is not None and scalars:
            scalars = _numbers(scalars, wanted)
        work = NativeCall(function, *self.tables, *scalars)
        return (binding.start_and_wait if has_result else binding.start)(work, uses)


def _numbers(scalars: tuple[Any, ...], wanted: tuple[Any, ...]) -> tuple[int | float, ...]:
    """Return scalars as numbers of Python, which nobody changes."""
    return tuple(map(number_of, scalars, wanted))


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
