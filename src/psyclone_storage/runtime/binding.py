"""Binding of the data of generated code: cached storage accesses and tables of addresses."""

from __future__ import annotations

import ctypes
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager
from itertools import chain
from operator import is_
from typing import Any, NamedTuple, Protocol

from psyclone_storage.base.uncaught import blamed
from psyclone_storage.runtime.native import CONVERSION_ERRORS, TABLES, address_of, number_of
from psyclone_storage.storage import WRONLY, Storage, bound
from psyclone_storage.storage.core.errors import PoisonedDataError
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.memory.fp_errors import NativeCall
from psyclone_storage.storage.memory.races import MemoryUse


class FieldOrOperator(Protocol):
    """The methods of a field or operator that messages need."""

    def describe(self) -> str:
        """Return a description, used as the subject of error messages."""


class Functions(Protocol):
    """The functions of a generated module, and properties of their arrays.

    `device` is the memory space in which they run, `written` are the positions of the data that
    they write. `places` are, for each function, the positions of the arrays that it uses on a
    device; None means all.
    """

    @property
    def device(self) -> str | None:
        """Return the device on which the functions run, None for the host."""

    @property
    def written(self) -> tuple[int, ...]:
        """Return the positions of the data that the functions write."""

    @property
    def functions(self) -> tuple[Any, ...]:
        """Return the functions; generated code selects one by its position."""

    @property
    def places(self) -> tuple[tuple[int, ...] | None, ...]:
        """Return the positions of the arrays that each function uses on a device."""


class _Launch(NamedTuple):
    """A function that a device executes asynchronously.

    `wanted` contains the types of its scalars, if they are known. `plain` contains the Python type
    of each scalar that needs no conversion. If the function has a result, the caller waits for it.
    """

    function: Any
    wanted: tuple[Any, ...] | None
    plain: list[Any]
    uses: tuple[MemoryUse, ...]
    has_result: bool


class DeviceArray(NamedTuple):
    """The location of an array on a device: its address, and the memory that work on it uses."""

    address: int
    uses: tuple[MemoryUse, ...]


class HeldExchange(Protocol):
    """A halo exchange of data in fixed arrays on the host."""

    def run(self, arrays: Sequence[Any], /) -> None:
        """Update the halos in `arrays`."""


Exchanges = dict[tuple[int, ...], Sequence[tuple[HeldExchange, Sequence[Any]]]]
"""Exchanges with their arrays, by depth and identities of data."""


class ArrayHolder(Protocol):
    """A `with` block of this thread that has acquired data for writing.

    `exchanges` contains prepared exchanges of its data; it is cleared if an array is replaced.
    """

    exchanges: Exchanges

    def held_on_host(self, data: Sequence[Any], /) -> Sequence[Any] | None:
        """Return the host arrays of `data`, or None if the block has not acquired all of them."""

    def held_on_device(self, data: Sequence[Any], /) -> Sequence[DeviceArray] | None:
        """Return the arrays of `data` on the device, or None if the block has not all of them."""


def enter(binding: Any, data: Sequence[Any], covered: Sequence[Any], device: str | None) -> Any:
    """Enter a binding of data and return their arrays.

    Work that should have produced values may have failed (poisoned values). Poisoned values of
    `covered` data are discarded, unless values of other data are poisoned. If the binding cannot be
    entered, the state does not change.

    Raises:
        PoisonedDataError: earlier work that produces values of other data has failed.
    """
    try:
        return binding.__enter__()  # pylint: disable=unnecessary-dunder-call  # left by the caller
    except PoisonedDataError:
        spoiled = {one: one.storage.buffer.poisoned for one in data}
        causes = {one: cause for one, cause in spoiled.items() if cause is not None}
        if not causes or any(one not in covered for one in causes):
            raise
    for datum in causes:
        with datum.storage.access(device, WRONLY):
            pass
    try:
        return binding.__enter__()  # pylint: disable=unnecessary-dunder-call
    except BaseException:
        for datum, cause in causes.items():
            datum.storage.buffer.replicas.poison(cause)
        raise


class _Innermost(threading.local):
    """The innermost `with` block of each thread that has acquired data."""

    holder: ArrayHolder | None = None

    def replace(self, holder: ArrayHolder | None) -> ArrayHolder | None:
        """Set the innermost block, and return the previous one."""
        outer, self.holder = self.holder, holder
        return outer


INNERMOST = _Innermost()


def held_arrays(data: Sequence[Any]) -> Sequence[Any] | None:
    """Return the host arrays of `data` if this thread has acquired all for writing, else None."""
    holder = INNERMOST.holder
    return None if holder is None else holder.held_on_host(data)


@contextmanager
def arrays_on_host(data: Sequence[Any], *, writes: bool) -> Iterator[Sequence[Any]]:
    """Yield the arrays of `data` on the host; acquire them unless this thread has done so."""
    arrays = held_arrays(data)
    if arrays is not None:
        yield arrays
        return
    named = {str(at): datum.storage for at, datum in enumerate(data)}
    with bound(named, writes=tuple(named) if writes else ()) as found:
        yield tuple(found.values())


@contextmanager
def arrays_on_device(
    data: Sequence[Any], device: str, *, writes: bool
) -> Iterator[Sequence[DeviceArray]]:
    """Yield the arrays of `data` on `device`; acquire them unless this thread has done so."""
    holder = INNERMOST.holder
    arrays = None if holder is None else holder.held_on_device(data)
    if arrays is not None:
        yield arrays
        return
    named = {str(at): datum.storage for at, datum in enumerate(data)}
    block = LaunchBlock(named, device, tuple(named) if writes else ())
    with block as found:
        yield located(block, found)


def located(block: LaunchBlock, arrays: Mapping[str, Any]) -> list[DeviceArray]:
    """Return the locations of the arrays that an entered block has on its device."""
    return list(map(DeviceArray, map(address_of, arrays.values()), block.uses()))


@contextmanager
def holding(holder: ArrayHolder) -> Iterator[None]:
    """Let exchanges in a `with` block use the arrays that `holder` has acquired."""
    outer = INNERMOST.replace(holder)
    try:
        yield
    finally:
        INNERMOST.replace(outer)


class HeldData:
    """Data that generated NumPy code has acquired for writing on the host."""

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Store pairs of data and their arrays."""
        self.exchanges: Exchanges = {}
        self._arrays = {id(datum): array for datum, array in pairs}

    def held_on_host(self, data: Sequence[Any], /) -> Sequence[Any] | None:
        """Return the arrays of `data`; None if they are not all stored here."""
        found = tuple(self._arrays.get(id(datum)) for datum in data)
        return None if any(one is None for one in found) else found

    def held_on_device(self, _: Sequence[Any], /) -> None:
        """Return None: all data are on the host."""


class BoundStorages:
    """Cached state of an invoke's data: the binding of their storages, and tables.

    `addresses` contains the address of each storage, followed by those of constant arrays;
    `numbers` contains the other tables. Old values of `overwritten` data are not transferred.
    `dirty` data are marked dirty, unless the functions succeed and the generated code `sets_flags`
    itself. A call of a routine uses one of the `free` runs exclusively, or a new one. `moving`
    contains runs that also exchange the halos of read data, by the positions of these. `ids` are
    the identities of the data.
    """

    __slots__ = (
        "addresses", "device", "dirty", "free", "functions", "ids", "moving", "numbers",
        "overwritten", "sets_flags", "watched", "_places", "_storages", "_writes",
    )  # fmt: skip

    def __init__(
        self, storages: Sequence[Storage], layer: Functions, overwritten: Iterable[Storage] = ()
    ) -> None:
        """Store the storages; host-only storages need no transfers."""
        self.device, self.functions = layer.device, layer.functions
        self.overwritten = tuple(one for one in overwritten if one.device is not None)
        self.addresses: Any = ()
        self.numbers: tuple[Any, ...] = ()
        self.dirty: tuple[int, ...] = ()
        self.free: list[BoundRun] = []
        self.ids: tuple[int, ...] = ()
        self.moving: dict[tuple[int, ...], list[BoundRun]] = {}
        self.sets_flags = False
        self.watched: list[weakref.ref[Any]] = []
        self._places = layer.places
        self._storages = tuple(storages)
        self._writes = layer.written

    def new_run(self, moving: tuple[int, ...] = ()) -> BoundRun:
        """Return a new run that may exchange the halos of the data at the positions `moving`."""
        names = tuple(map(str, range(len(self._storages))))
        named = dict(zip(names, self._storages, strict=True))
        changed = (*self._writes, *moving)
        writes = tuple(names[at] for at in changed)
        at_id = {self.ids[at]: at for at in changed if at < len(self.ids)}
        binding = (
            bound(named, writes=writes)
            if self.device is None
            else LaunchBlock(named, self.device, writes)
        )
        return BoundRun(binding, self.functions, at_id)

    def check_layout(self, array: Any) -> None:
        """Check that an array has the layout that the functions expect.

        Raises:
            ValueError: it has another layout.
        """
        raise NotImplementedError

    def begun_again(self, binding: Any, data: tuple[Any, ...]) -> Any:
        """Enter a binding again after a failed call that was to write its data.

        Raises:
            PoisonedDataError: the binding still cannot be entered.
        """
        return binding.__enter__()  # pylint: disable=unnecessary-dunder-call

    def launches(self, found: Sequence[tuple[MemoryUse, ...]]) -> tuple[_Launch, ...]:
        """Return the launch parameters of each function; arrays use the memory in `found`."""
        made = []
        for function, at in zip(self.functions, self._places, strict=True):
            wanted = getattr(function, "argtypes", None)
            wanted = None if wanted is None else wanted[len(TABLES) :]
            uses = chain.from_iterable(found if at is None else (found[one] for one in at))
            has_result = getattr(function, "restype", None) is not None
            plain = [float if issubclass(one, ctypes.c_double) else None for one in wanted or ()]
            made.append(_Launch(function, wanted, plain, tuple(uses), has_result))
        return tuple(made)


class BoundRoutine(ABC):
    """A routine with cached state of its data, which later calls with the same data reuse.

    `moved` contains positions of read data, each with the depth to which a dirty halo is exchanged.
    """

    moved: tuple[tuple[int, int], ...] = ()

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known: dict[tuple[Any, ...], BoundStorages] = {}

    def __call__(self, *data: Any, given: tuple[Hashable, ...] = ()) -> BoundRun:
        """Return a context manager that binds `data`; `given` are extra set-up arguments."""
        known = self._known.get((*map(id, data), given))
        if known is None:
            known = self._prepared(data, given)
        free, moving = known.free, self._moving(data) if self.moved else ()
        if moving:
            free = known.moving.setdefault(moving, [])
        try:
            run = free.pop()
        except IndexError:
            run = known.new_run(moving)
        run.known, run.data, run.home = known, data, free
        return run

    def _moving(self, data: tuple[Any, ...]) -> tuple[int, ...]:
        """Return the positions of read data whose halo must be exchanged."""
        return tuple(at for at, depth in self.moved if data[at].is_moved(depth))

    @abstractmethod
    def _prepared(self, data: tuple[Any, ...], given: tuple[Hashable, ...], /) -> BoundStorages:
        """Create the cached state of the routine for `data`.

        The state is dropped when one of the data is garbage-collected.
        """

    def _keep(
        self, known: BoundStorages, data: tuple[Any, ...], given: tuple[Hashable, ...]
    ) -> BoundStorages:
        key = (*map(id, data), given)
        known.watched = kept_with(data, key, self._known)
        known.ids = tuple(map(id, data))
        self._known[key] = known
        return known


class BoundRun:
    """A call of a routine: a block that binds its data, and in which its functions are called.

    It is reused by later calls with the same data, and caches the locations of their arrays.
    Functions receive its `tables`. On the host, these are addresses, because passing a number takes
    half the time of passing an array.
    """

    __slots__ = (
        "data", "exchanges", "home", "known", "tables", "_arrays", "_binding", "_changed",
        "_functions", "_launches", "_outer", "_seen", "_tables", "_untouched", "_uses",
    )  # fmt: skip

    def __init__(
        self, binding: Any, functions: Sequence[Any], changed: Mapping[int, int] | None = None
    ) -> None:
        """Store the binding of the data; the data and cached state are set for each call.

        `changed` maps identities of changed data to their positions.
        """
        self._changed = changed or {}
        self.exchanges: Exchanges = {}
        self.home: list[BoundRun] = []
        self.known: Any = None
        self.data: tuple[Any, ...] = ()
        self.tables: tuple[Any, ...] = ()
        self._tables: tuple[Any, ...] = ()
        self._binding, self._functions = binding, functions
        self._launches: tuple[_Launch, ...] | None = None
        self._arrays: tuple[Any, ...] | None = None
        self._outer: ArrayHolder | None = None
        self._seen: Any = None
        self._untouched = False
        self._uses: tuple[tuple[MemoryUse, ...], ...] = ()

    def __enter__(self) -> BoundRun:
        for datum in self.data:
            if datum.under_way is not None:
                datum.check_idle()
        known = self.known
        for storage in known.overwritten:
            if not storage.is_current(known.device):
                with storage.access(known.device, WRONLY):
                    pass
        try:
            arrays = self._binding.__enter__()  # pylint: disable=unnecessary-dunder-call
        except PoisonedDataError:
            arrays = known.begun_again(self._binding, self.data)
        # The binding returns the same dictionary as long as all its arrays are the same.
        if arrays is not self._seen:
            self._find(arrays)
        self._outer = INNERMOST.replace(self)
        return self

    def held_on_host(self, data: Sequence[Any], /) -> Sequence[Any] | None:
        """Return the host arrays of `data`; None if the routine does not change all of them."""
        at = self._changed
        if self._launches is not None:
            return None
        try:
            arrays: Any = self._arrays
            return tuple([arrays[at[id(datum)]] for datum in data])
        except KeyError:
            return None

    def held_on_device(self, data: Sequence[Any], /) -> Sequence[DeviceArray] | None:
        """Return the arrays of `data`; None if the routine does not change all on the device."""
        if self._launches is None:
            return None
        try:
            positions = [self._changed[id(datum)] for datum in data]
        except KeyError:
            return None
        addresses = self._tables[0]
        return [DeviceArray(addresses[at], self._uses[at]) for at in positions]

    def _find(self, arrays: Any) -> None:
        """Update the tables for arrays that have moved; queued work keeps its own tables.

        Raises:
            ValueError: an array does not have the layout that the functions expect.
        """
        found = tuple(arrays.values())
        if self._arrays is None or not all(map(is_, found, self._arrays)):
            try:
                self._note(found)
            except BaseException:
                self._arrays = self._seen = None
                self._binding.__exit__(None, None, None)
                raise
        self._seen = arrays

    def _note(self, found: tuple[Any, ...]) -> None:
        known = self.known
        first = self._arrays is None
        before = (None,) * len(found) if self._arrays is None else self._arrays
        last = known.addresses if first else self._tables[0]
        addresses = type(last)(*last)
        for at, array in enumerate(found):
            if array is not before[at]:
                known.check_layout(array)
                addresses[at] = address_of(array)
        if known.device is not None:
            self._uses = self._binding.uses()
            self._launches = known.launches(self._uses)
        made = self._tables = (addresses, *known.numbers)
        self.tables = made if known.device is not None else tuple(map(ctypes.addressof, made))
        self._arrays = found
        self.exchanges.clear()

    def __call__(self, number: int, *scalars: Any) -> Any:
        """Call a function with tables and scalars, where its data are; return its result.

        A device executes the call asynchronously, in order, once its data are available. If the
        function has a result, this method waits for it.

        Raises:
            TypeError: a scalar is not a number, or not an integer where one is required.
            OverflowError: an integer scalar is too large.
        """
        if self._launches is None:
            function = self._functions[number]
            try:
                return function(*self.tables, *scalars)
            except ctypes.ArgumentError:
                # A scalar is not yet a Python number.
                wanted = function.argtypes[len(TABLES) :]
                scalars = self._converted(number, scalars, wanted)
            return function(*self.tables, *scalars)
        function, wanted, plain, uses, has_result = self._launches[number]
        if wanted is not None and plain != [*map(type, scalars)]:
            scalars = self._converted(number, scalars, wanted)
        work = NativeCall(function, *self.tables, *scalars)
        return (self._binding.start_and_wait if has_result else self._binding.start)(work, uses)

    def _converted(
        self, number: int, scalars: tuple[Any, ...], wanted: tuple[Any, ...]
    ) -> tuple[int | float, ...]:
        """Return scalars converted for a function; on error, record if no function has run."""
        try:
            return _numbers(scalars, wanted)
        except CONVERSION_ERRORS:
            self._untouched = number == 0 and not self.known.overwritten
            raise

    def __exit__(self, *error: Any) -> None:
        """End the block, and prepare the run for the next call; drop references to the data.

        Data that no function has accessed are unchanged, whatever exception was raised.
        """
        # If an interrupt prevents this step, the block remains the innermost one.
        INNERMOST.replace(self._outer)
        self._outer = None
        if error[0] is not None and self._untouched:
            self._untouched, error = False, (None, None, None)
        self._binding.__exit__(*error)
        known, data = self.known, self.data
        self.known, self.data = None, ()
        if error[0] is not None or not known.sets_flags:
            for at in known.dirty:
                data[at].set_dirty()
        self.home.append(self)


def _numbers(scalars: tuple[Any, ...], wanted: tuple[Any, ...]) -> tuple[int | float, ...]:
    """Return scalars as immutable Python numbers."""
    return tuple(map(number_of, scalars, wanted))


def kept_with(
    data: Sequence[Any], key: Hashable, known: MutableMapping[Any, Any]
) -> list[weakref.ref[Any]]:
    """Return weak references that remove `key` from `known` when one of `data` is collected."""
    forget: Callable[[Any], Any] = lambda _: known.pop(key, None)  # noqa: E731 - for each of them
    return [weakref.ref(datum, forget) for datum in data]


def check_once(data: Sequence[Any], changed: Sequence[FieldOrOperator]) -> None:
    """Raise `ValueError` if one of the `changed` data occurs twice in `data`."""
    for datum in changed:
        if sum(other is datum for other in data) > 1:
            text = (
                f"{datum.describe()} is passed twice, under two names of the algorithm, and is "
                f"written: give it one name, so that what depends on it is known."
            )
            raise blamed(ValueError(text), datum)


def array_of(values: Any, dtype: Any, copy: bool | None) -> Any:
    """Return values as `__array__` does: a copy if one is requested or `dtype` requires it.

    Raises:
        ValueError: `copy` is False, and `dtype` requires a copy.
    """
    made = values.astype(values.dtype if dtype is None else dtype, copy=bool(copy))
    if copy is False and made is not values:
        raise ValueError(f"Values of the type {values.dtype} as {made.dtype} are a copy.")
    return made


def side_of(data: Sequence[Any]) -> str | None:
    """Return the device if it has the current values of all `data`, None for the host.

    Messages are the same for host and device data, so each rank may choose its own side.
    """
    device: str | None = data[0].storage.device
    if device is None:
        return None
    storages = (datum.storage for datum in data)
    return device if all(one.device and one.is_current(device) for one in storages) else None
