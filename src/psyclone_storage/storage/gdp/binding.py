"""Argument binding for stencil calls (GDP-26 to GDP-33): from arguments to arrays on one device.

    with bound({"a": a, "b": b}, device="gpu", writes=["b"]) as arrays:
        kernel(arrays["a"], arrays["b"])

All arguments are acquired on entry. After the block, the written ones are marked as modified, and
all are released. An argument whose only buffer is on the other side is copied to this device, with
a warning. If it was written and the block succeeded, it is copied back.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.errors import AccessConflictError, GTNoSuchBufferError
from psyclone_storage.storage.core.faces import found_buffer
from psyclone_storage.storage.core.layout import default_dims
from psyclone_storage.storage.core.native import (
    FRAMES,
    BindingBlock,
    end_queued,
    register,
    short,
)
from psyclone_storage.storage.core.spaces import device_space
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.gdp.base_storage import READ, WRITE, Storage
from psyclone_storage.storage.gdp.from_array import material_of, wrap
from psyclone_storage.storage.gdp.indexing import uploaded
from psyclone_storage.storage.gdp.parameters import checked_device
from psyclone_storage.storage.interop.gt import (
    Device,
    Info,
    call,
    describe,
    device_array,
    host_array,
    space_of,
)
from psyclone_storage.storage.memory.pending_work import LastUse
from psyclone_storage.storage.memory.races import MemoryUse
from psyclone_storage.storage.memory.registry import memory_of


class TransferWarning(UserWarning):
    """Warning: an argument was copied between host and device for a call (GDP-32)."""


class OpenArguments(dict[str, Any]):
    """A read-only mapping from names to the arrays of a call.

    It also gives the domain that follows from the halos (GDP-19). A block that is entered again
    returns the same mapping.
    """

    __slots__ = ("_things",)

    def __init__(self, things: Mapping[str, Any]) -> None:
        """Create an empty mapping; `things` are the arguments, whose arrays are added later."""
        super().__init__()
        self._things = things

    @property
    def origins(self) -> dict[str, tuple[int, ...]]:
        """Return the index of the first point inside the halo for each argument."""
        return {name: tuple(low for low, _ in self._halo(name)) for name in self}

    @property
    def domain(self) -> tuple[int, ...]:
        """Return the largest domain that lies within the halos of all arguments.

        It has one extent for each of I, J and K that occurs in an argument; unnamed dimensions are
        I, J, K in this order.
        """
        extents: dict[str, int] = {}
        for name, array in self.items():
            for dim, extent, (low, high) in zip(
                self._dims(name), array.shape, self._halo(name), strict=True
            ):
                inner = extent - low - high
                extents[dim] = min(extents.get(dim, inner), inner)
        return tuple(extents[dim] for dim in "IJK" if dim in extents)

    def _refuse(self, *args: Any, **keywords: Any) -> NoReturn:
        """Raise `TypeError`: this method replaces every mutating method of a dictionary."""
        raise TypeError("The arrays of a block can only be read: dict(arrays) is a copy of yours.")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the state for a copy or a pickle; both result in a plain dictionary."""
        return dict, (dict(self),)

    def _halo(self, name: str) -> tuple[tuple[int, int], ...]:
        found = self._info(name).get("halo")
        return tuple(found) if found is not None else ((0, 0),) * self[name].ndim

    def _dims(self, name: str) -> tuple[str, ...]:
        thing = self._things[name]
        named = thing.dims if isinstance(thing, Storage) else self._info(name).get("dims")
        return tuple(named) if named is not None else default_dims(self[name].ndim)

    def _info(self, name: str) -> Info:
        return next(iter(describe(self._things[name]).values()), {})


@short
def bound(
    arguments: Mapping[str, Any], *, device: str | None = None, writes: Collection[str] = ()
) -> Binding:
    """Return a context manager that yields the arrays of `arguments` on `device`, by name.

    `writes` names the arguments that the block writes. On the host, the arrays of storages that are
    only read are read-only; on a device, arrays have the form that kernels take. Raises
    `ValueError` if a name in `writes` is not an argument. On entry, raises `GTNoSuchBufferError`
    for an argument without any buffer (GDP-33).
    """
    unknown = [name for name in writes if name not in arguments]
    if unknown:
        raise ValueError(f'"{unknown[0]}" is to be written, but is not among the arguments.')
    return Binding(arguments, checked_device(device), writes)


@dataclass(slots=True)
class _Guest:
    """An argument that is not a storage with a buffer on the device of the call.

    `home` is its own array, `copy` the copy on the device of the call if one was necessary.
    """

    info: Info
    written: bool
    home: Any = None
    copy: Any = None

    def write_back(self, device: Device) -> None:
        """Copy the values of `copy` back to `home`."""
        if device is None:
            space = space_of(self.home)
            with memory_of(space).bound():
                self.home[...] = uploaded(self.copy, space)
        else:
            self.home[...] = self.copy.get()


class Binding(BindingBlock):
    """The arguments of one call, acquired for the duration of a block."""

    __slots__ = ()

    _later: ClassVar[bool] = False
    """Whether work submitted in the block itself waits for the data that it uses."""
    _arguments: Mapping[str, Any]
    _device: Device
    _writes: Collection[str]
    _tokens: Sequence[AccessToken]
    _guests: Sequence[_Guest]
    _block: AbstractContextManager[Any] | None

    if TYPE_CHECKING:

        def __enter__(self) -> OpenArguments:
            """Acquire all arguments and return their arrays."""

    def _enter(self) -> OpenArguments:
        """Execute `__enter__` if it needs an allocation, a transfer or a wait.

        Arguments that are not storages are prepared first: their own update functions may wait,
        which could cause a deadlock while storages are locked. Then all storages are acquired in
        one operation.
        """
        arrays = OpenArguments(self._arguments)
        device, writes = self._device, self._writes
        lent: list[tuple[str, Storage]] = []
        tokens: list[AccessToken] = []
        try:
            for name, thing in self._arguments.items():
                mode = WRITE if name in writes else READ
                storage = thing if isinstance(thing, Storage) else self._as_storage(thing)
                token = None if storage is None else storage.token(device, mode)
                if storage is None or token is None:
                    _put(arrays, name, self._receive(name, thing))
                else:
                    _put(arrays, name, None)
                    lent.append((name, storage))
                    tokens.append(token)
            self._tokens = tokens
            acquire_all(tokens, later=self._later)
            for (name, storage), token in zip(lent, tokens, strict=True):
                _put(arrays, name, self._array_of(storage, token))
            if device is not None:
                _refuse_two_devices(tokens)
                block = tokens[0].on_device() if tokens else memory_of(device_space()).bound()
                block.__enter__()  # pylint: disable=unnecessary-dunder-call  # left in __exit__
                self._block = block
        except BaseException as error:
            self._give_up(error)
            raise
        return arrays

    def _array_of(self, storage: Storage, token: AccessToken) -> Any:
        return storage.window_for(token)

    def _refuse(self) -> None:
        raise AccessConflictError("The arguments of a block are bound until the block ends.")

    def _give_all_back(self, error: BaseException | None) -> None:
        """End the accesses that are still active after an interrupt, with the block's error."""
        tokens, self._tokens = self._tokens, ()
        for token in tokens:
            if token.active:
                token.buffer.release(token, error)

    def _leave(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Execute `__exit__` if the fast path cannot, because other threads may be affected."""
        if self._block is not None:
            block, self._block = self._block, None
            block.__exit__(kind, error, trace)
        self._end(error)

    def _as_storage(self, thing: Any) -> Storage | None:
        """Return `thing` as a storage if it is another facade of a buffer and not an array.

        Return None for everything else.
        """
        if isinstance(thing, np.ndarray) or found_buffer(thing) is None or describe(thing):
            return None
        material = material_of(thing, None)
        return None if material is None else wrap(material, None, {"device": self._device})

    def _receive(self, name: str, thing: Any) -> Any:
        device, written = self._device, name in self._writes
        if device is None and isinstance(thing, np.ndarray):
            return thing
        found = describe(thing)
        other: Device = "gpu" if device is None else None
        place = device if device in found else other
        if place not in found:
            raise GTNoSuchBufferError(
                f'The argument "{name}" is a {type(thing).__name__} without a buffer on cpu or gpu.'
            )
        guest = _Guest(found[place], written)
        call(guest.info, "acquire")
        self._guests = (*self._guests, guest)
        on_host = place is None
        receive: Any = host_array if on_host else device_array
        array = receive(guest.info, thing)
        if place is device:
            return array if on_host else _for_kernel(array)
        warnings.warn(
            f'The argument "{name}" is on {place or "cpu"} only, so that it is copied to '
            f"{device or 'cpu'} for this call{' and back' if written else ''}, which is slow.",
            TransferWarning,
            stacklevel=3 + FRAMES,
        )
        guest.home = array
        guest.copy = uploaded(array, device_space()) if on_host else np.asarray(array.get())
        return guest.copy if device is None else _for_kernel(guest.copy)

    def _give_up(self, error: BaseException) -> None:
        """End the accesses of a block that failed on entry; no data were written."""
        tokens, self._tokens = self._tokens, ()
        try:
            for token in tokens:
                if token.active:
                    token.give_back(error)
        finally:
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        tokens, guests = self._tokens, self._guests
        try:
            for token in tokens:
                token.buffer.release(token, error)
            self._tokens, self._guests = (), ()
            if error is None:
                _touch(guests, self._device)
        except BaseException:
            for token in tokens:
                if token.active:
                    token.buffer.release(token, error)
            self._tokens, self._guests = (), ()
            raise
        finally:
            for guest in guests:
                call(guest.info, "release")


class LaunchBlock(Binding):
    """A block that binds storages and submits asynchronous work to their device.

    Its arrays are only for the submitted work: the block itself does not wait for preceding
    operations. Transfers overlap with work on other data.
    """

    __slots__ = ()

    _later = True
    _memory: Any
    """The device memory of the last block, None before the first one."""
    _queue: Hashable
    """The queue that contains all pending work on the data; None if there is no such queue."""

    def __init__(self, arguments: Mapping[str, Any], device: Any, writes: Collection[str]) -> None:
        """Prepare the block; it acquires the storages on entry."""
        super().__init__(arguments, device, writes)
        self._memory = self._queue = None

    def _enter(self) -> OpenArguments:
        self._queue = None
        arrays = super()._enter()
        self._memory = self._tokens[0].memory if self._tokens else None
        return arrays

    def _array_of(self, storage: Storage, token: AccessToken) -> Any:
        return storage.window_for(token, later=True)

    def _end(self, error: BaseException | None) -> None:
        if error is None and self._queue is None:
            self._end_queued()
        super()._end(error)

    def _end_queued(self) -> None:
        """End the accesses to data that only the current queue of this thread will use next."""
        memory, tokens = self._memory, self._tokens
        self._queue = None if memory is None else memory.queue
        if self._queue is None:
            return
        for token in tokens:
            memory.follow(token.allocation, token.mode.writes)
        notes = self._notes()
        if notes is not None:
            plain = (t for t in tokens if t.replica.memory is memory and t.span is None)
            ended = [token for token in plain if end_queued(token, notes)]
            self._tokens = [token for token in tokens if token not in ended]

    def uses(self) -> tuple[tuple[MemoryUse, ...], ...]:
        """Return the memory ranges that work on each storage uses, in the order of the arguments.

        Raises `ValueError` if the storages are not all on one device.
        """
        places = {token.memory: token for token in self._tokens}
        if len(places) > 1:
            one, other, *_ = (token.describe() for token in places.values())
            raise ValueError(f"Work is done on one device, but: {one}; {other}. Copy one of them.")
        named = zip(self._arguments.values(), self._tokens, strict=True)
        windows = ((storage.window(token.space), token) for storage, token in named)
        return tuple(token.uses_of(window) or (_whole_use(token),) for window, token in windows)

    def start(
        self,
        work: Callable[[], Any],
        uses: tuple[MemoryUse, ...],
        others: tuple[MemoryUse, ...] = (),
    ) -> None:
        """Submit work to the device; if it fails, the data that it writes are marked as failed.

        `uses` are those of data of this block, `others` those of data that other blocks bind.
        """
        if not self._is_in_queue():
            self._follow(uses)
        self._follow(others)
        self._memory.start(work, (*uses, *others) if others else uses)

    def start_and_wait(self, work: Callable[[], Any], uses: tuple[MemoryUse, ...]) -> Any:
        """Submit work to the device, wait for it, and return its result."""
        self._follow(uses)
        return self._memory.start_and_wait(work, uses)

    def _notes(self) -> tuple[tuple[LastUse, ...], ...] | None:
        """Return two tuples of use records, for data that were read and for data that were written.

        Both are empty if all work is known to be complete. Return None if this thread now submits
        its work to another queue.
        """
        if not self._is_in_queue():
            return None
        event = self._memory.record()
        if event is None:
            return ()
        read = LastUse(self._queue, event, wrote=False, follows=True)
        return (read,), (read._replace(wrote=True),)

    def _is_in_queue(self) -> bool:
        """Return whether the queue that was current at the start of the block still is."""
        if self._memory is None:
            raise TypeError("This block has no storage, and so no device for work.")
        return self._queue is not None and bool(self._memory.queue == self._queue)

    def _follow(self, uses: tuple[MemoryUse, ...]) -> None:
        """Make the next work on the device wait for pending operations on the memory in `uses`."""
        for use in uses:
            self._memory.follow(use.allocation, use.wrote)


def _whole_use(token: AccessToken) -> MemoryUse:
    """Return a memory use of the whole allocation, for an access whose used parts are unknown."""
    held = token.allocation
    return MemoryUse(held, held.pointer, held.pointer + held.capacity, token.mode.writes)


def _refuse_two_devices(tokens: Iterable[AccessToken]) -> None:
    places = {token.space.device_id: token for token in tokens}
    places.pop(None, None)  # memory that all devices can access
    if len(places) > 1:
        one, other, *_ = (token.describe() for token in places.values())
        raise ValueError(
            f"A call works on one device, but: {one}; {other}. Make a copy of one of them there."
        )


def _put(arrays: OpenArguments, name: str, array: Any) -> None:
    """Set an entry of `arrays`, which is read-only for its users."""
    dict.__setitem__(arrays, name, array)


def _touch(guests: Iterable[_Guest], device: Device) -> None:
    for guest in guests:
        if guest.written:
            if guest.copy is not None:
                guest.write_back(device)
            call(guest.info, "touch")


def _for_kernel(array: Any) -> Any:
    return memory_of(space_of(array)).kernel_view(array)


register(arguments=OpenArguments, block=Binding)
