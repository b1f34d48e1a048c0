"""The accesses to an `HArray`, the only API for its values; the buffer performs the transfers.

An access begins with its construction and ends with `release`, with the end of its `with` block,
or with the object itself. A conflicting access raises `AccessConflictError` at once; an array or
an access with `on_conflict="wait"` waits for other threads instead.

    with ReadAccess(b, cuda) as rb, WriteOnlyAccess(a, cuda, b.size()) as wa:
        scale[cuda](wa.get(), rb.get(), 2.0)
"""

# pylint: disable=invalid-name  # the names of HMemo

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Self

from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.core.errors import AccessConflictError
from psyclone_storage.storage.core.futures import SyncToken
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.hmemo.harray import HArray, PlaceLike, _HArray
from psyclone_storage.storage.hmemo.harray_interface import Interface, interface_of_window


class ArrayAccess:
    """The common base of all accesses: the right to use the values at one context.

    Raises `AccessConflictError` for two accesses of which one writes, at different contexts
    (HM-61) or in different threads (HM-62), and for an access after a write access of the same
    thread (HM-67), as that one may move the memory.
    """

    __slots__ = ("_array", "_token", "_delayed", "_used", "__weakref__")
    mode: ClassVar[AccessMode]

    def __init__(
        self, array: Any, ctx: PlaceLike = None, *, on_conflict: Policy | str | None = None
    ) -> None:
        """Begin to use `array` at `ctx`, the current context if none is named (HM-11, HM-48).

        `array` may also be another facade of a buffer, whose elements are then used in the order of
        memory. Raises `TypeError` for an object without one.
        """
        self._delayed = self._used = False
        used = array if isinstance(array, _HArray) else HArray.over(array)
        self._array: _HArray | None = used
        self._token: AccessToken = used.acquire(ctx, self.mode, on_conflict)

    @property
    def array(self) -> _HArray:
        """Return the array; raise `AccessReleasedError` after the release.

        What is released keeps no array alive, so that an `HArrayRef` ends with its last user, and
        brings the values home (HM-85).
        """
        if self._array is None:
            raise self._token.released()
        return self._array

    def get(self) -> Any:
        """Return the elements as a flat array of the memory's own kind (HM-49).

        That is a NumPy array on the host, read-only if the access reads, a CuPy array on a GPU, and
        an `EmulatedDeviceArray` on an emulated device. Use it until the release, not after it.
        Raises `AccessReleasedError` after the release (HM-50).
        """
        return self._in_use().array

    @property
    def kernel_array(self) -> Any:
        """Return `get()` as a kernel at the context gets it: on an emulated device, its pages."""
        return self._in_use().kernel_array

    @property
    def __gt_data_interface__(self) -> Interface:
        """Return the array interface of the elements, valid until the access is released."""
        token = self._in_use()
        return interface_of_window(token.array, token.space)

    def size(self) -> int:
        """Return the number of elements."""
        return self._token.buffer.size

    def capacity(self) -> int:
        """Return the bytes that are allocated at the context."""
        return self._live().allocation.capacity

    def release(self) -> None:
        """End the access; does nothing the second time."""
        if not self._delayed:
            self._end()

    def releaseDelayed(  # noqa: N802
        self, until: SyncToken[Any] | None = None
    ) -> Callable[[], None]:
        """Delegate the end of the access to asynchronous work; `get` is invalid at once.

        With `until`, the access ends with it, as failed if it fails. Without, the caller ends it
        with the function returned, from whatever thread.
        """
        token = self._live()
        self._delayed = True
        if until is not None:
            token.release_after(until)

        return self._end

    def _end(self, error: BaseException | None = None) -> None:
        """End the access, unless it has ended, and drop the array."""
        if self._token.active:
            self._token.release(error)
        self._array = None

    def _live(self) -> AccessToken:
        """Return the token; raise `AccessReleasedError` if it is not the user's any more."""
        token = self._token
        if self._delayed or not token.active:
            raise token.released()
        return token

    def _in_use(self) -> AccessToken:
        """Return the token to a caller that may write from now on."""
        self._used = True
        return self._live()

    def __enter__(self) -> Self:
        """Return the access, with the device of its context as the current one of the thread."""
        self._token.__enter__()  # pylint: disable=unnecessary-dunder-call  # see __exit__
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the access; an error in the block makes what it wrote unusable."""
        self._token.leave_device()
        if not self._delayed:
            self._end(error)

    def __del__(self) -> None:
        """End the access of an object that is gone, as a scope does in C++.

        If no caller got the pointer, nothing was written: values that it gave up are unusable.
        """
        token = getattr(self, "_token", None)
        if token is not None and not self._delayed:
            token.buffer.drop(token, None if self._used else _UNUSED)

    def __len__(self) -> int:
        return self._token.buffer.size

    def __getitem__(self, key: Any) -> Any:
        """Return `get()[key]`."""
        return self.get()[key]

    def __repr__(self) -> str:
        state = "alive" if self._token.active else "released"
        return f"<{type(self).__name__} {state}: {self._token.describe()}>"


_UNUSED = AccessConflictError("The access was dropped, and nobody had written.")


class ReadAccess(ArrayAccess):
    """Reading of the values at a context, which are made valid there (HM-52)."""

    __slots__ = ()
    mode = AccessMode.READ


class _Writing(ArrayAccess):
    """The common base of the accesses that write."""

    __slots__ = ()

    def __init__(
        self,
        array: Any,
        ctx: PlaceLike = None,
        n: int | None = None,
        *,
        on_conflict: Policy | str | None = None,
    ) -> None:
        """Begin to write `array` at `ctx`, with `n` elements if a number is given."""
        if n is not None and not self.mode.reads:
            # Raise what a resize to `n` elements would, while the old values are still there.
            used = array if isinstance(array, _HArray) else HArray.over(array)
            used.check_room(n, ctx)
        super().__init__(array, ctx, on_conflict=on_conflict)
        if n is not None and n != self.array.size():
            try:
                self.resize(n)
            except BaseException as error:
                self._token.give_back(error)
                raise

    def resize(self, n: int) -> None:
        """Set the size to `n` elements and keep the values; what `get` returned is over.

        Raises `AccessConflictError` if the memory has to move while a read access is alive
        (HM-64), `AllocationInUseError` if it is not the array's own (HM-84).
        """
        self.array.resize_under(n, self._live())

    def clear(self) -> None:
        """Set the size to 0."""
        self.resize(0)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Do `get()[key] = value`."""
        self.get()[key] = value


class WriteAccess(_Writing):
    """Reading and writing of the values at a context; other incarnations become invalid (HM-53).

    With `n`, the array has `n` elements from then on, the old values first.
    """

    __slots__ = ()
    mode = AccessMode.READ_WRITE


class WriteOnlyAccess(_Writing):
    """Writing of all values at a context, of `n` elements if a number is given (HM-54, HM-55).

    Nothing is copied in, and what is not written has no value.
    """

    __slots__ = ()
    mode = AccessMode.WRITE_ONLY


class HostReadAccess(ReadAccess):
    """Reading of the values on the host."""

    __slots__ = ()

    def __init__(self, array: Any, *, on_conflict: Policy | str | None = None) -> None:
        """Begin to read `array` on the host."""
        super().__init__(array, Context.host(), on_conflict=on_conflict)


class HostWriteAccess(WriteAccess):
    """Reading and writing of the values on the host."""

    __slots__ = ()

    def __init__(
        self, array: Any, n: int | None = None, *, on_conflict: Policy | str | None = None
    ) -> None:
        """Begin to write `array` on the host."""
        super().__init__(array, Context.host(), n, on_conflict=on_conflict)


class HostWriteOnlyAccess(WriteOnlyAccess):
    """Writing of all values on the host."""

    __slots__ = ()

    def __init__(
        self, array: Any, n: int | None = None, *, on_conflict: Policy | str | None = None
    ) -> None:
        """Begin to write all of `array` on the host."""
        super().__init__(array, Context.host(), n, on_conflict=on_conflict)
