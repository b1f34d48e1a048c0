"""The accesses to an `HArray`, the only API for its values; the buffer performs the transfers.

An access begins with its construction. It ends with `release`, with the end of its `with` block, or
with the destruction of the object. A conflicting access raises `AccessConflictError` immediately;
with `on_conflict="wait"`, in the array or the access, it waits for other threads instead.

    with ReadAccess(b, cuda) as rb, WriteOnlyAccess(a, cuda, b.size()) as wa:
        scale[cuda](wa.get(), rb.get(), 2.0)
"""

# pylint: disable=invalid-name  # the names of HMemo

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.core.errors import AccessConflictError
from psyclone_storage.storage.core.futures import SyncToken
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.hmemo.harray import HArray, PlaceLike, _HArray
from psyclone_storage.storage.hmemo.harray_interface import Interface, interface_of_window


class ArrayAccess:
    """The common base of all accesses: permission to use the values at one context.

    Two accesses of which one writes raise `AccessConflictError` at different contexts (HM-61) or in
    different threads (HM-62). So does an access during a write access of the same thread (HM-67),
    because the latter may reallocate the memory.
    """

    __slots__ = ("_array", "_token", "_delayed", "_used", "__weakref__")
    mode: ClassVar[AccessMode]

    def __init__(
        self, array: Any, ctx: PlaceLike = None, *, on_conflict: Policy | str | None = None
    ) -> None:
        """Acquire `array` at `ctx`, by default the current context (HM-11, HM-48).

        `array` may also be another facade of a buffer, whose elements are then in memory order.
        Raises `TypeError` for an object without a buffer.
        """
        self._delayed = self._used = False
        used = array if isinstance(array, _HArray) else HArray.over(array)
        self._array: _HArray | None = used
        self._token: AccessToken = used.acquire(ctx, self.mode, on_conflict)

    @property
    def array(self) -> _HArray:
        """Return the array; raise `AccessReleasedError` after the release.

        After the release, the access holds no reference to the array. An `HArrayRef` is thus
        destroyed after its last use, and then copies its values back (HM-85).
        """
        if self._array is None:
            raise self._token.released()
        return self._array

    def get(self) -> Any:
        """Return the elements as a flat array in the memory of the context (HM-49).

        That is a NumPy array on the host (read-only for a read access), a CuPy array on a GPU, and
        an `EmulatedDeviceArray` on an emulated device. The array may only be used until the
        release. Raises `AccessReleasedError` after the release (HM-50).
        """
        return self._in_use().array

    @property
    def kernel_array(self) -> Any:
        """Return `get()` in the form that kernels take; on an emulated device, a NumPy array."""
        return self._in_use().kernel_array

    @property
    def __gt_data_interface__(self) -> Interface:
        """Return the data interface of the elements, valid until the access is released."""
        token = self._in_use()
        return interface_of_window(token.array, token.space)

    def size(self) -> int:
        """Return the number of elements."""
        return self._token.buffer.size

    def capacity(self) -> int:
        """Return the size in bytes of the allocation at the context."""
        return self._live().allocation.capacity

    def release(self) -> None:
        """End the access; a second call has no effect."""
        if not self._delayed:
            self._end()

    def releaseDelayed(  # noqa: N802
        self, until: SyncToken[Any] | None = None
    ) -> Callable[[], None]:
        """Delegate the end of the access to asynchronous work; `get` is no longer allowed.

        With `until`, the access ends with that work, and fails if the work fails. Otherwise the
        caller ends the access by calling the returned function, in any thread.
        """
        token = self._live()
        self._delayed = True
        if until is not None:
            token.release_after(until)

        return self._end

    def _end(self, error: BaseException | None = None) -> None:
        """End the access, unless it has ended, and drop the reference to the array."""
        if self._token.active:
            self._token.release(error)
        self._array = None

    def _live(self) -> AccessToken:
        """Return the token; raise `AccessReleasedError` after the release or its delegation."""
        token = self._token
        if self._delayed or not token.active:
            raise token.released()
        return token

    def _in_use(self) -> AccessToken:
        """Return the token, and record that the caller may write."""
        self._used = True
        return self._live()

    def __enter__(self) -> Self:
        """Return the access; its context's device becomes the current device of the thread."""
        self._token.__enter__()  # pylint: disable=unnecessary-dunder-call  # see __exit__
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """End the access; after an error in the block, data of a write access become unusable."""
        self._token.leave_device()
        if not self._delayed:
            self._end(error)

    def __del__(self) -> None:
        """End the access when the object is destroyed, as at the end of a C++ scope.

        If no caller obtained the array of a write-only access, its old values are lost and no new
        ones were written; they become unusable.
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
    """Read access at a context; the values are made valid there (HM-52)."""

    __slots__ = ()
    mode = AccessMode.READ


class _Writing(ArrayAccess):
    """The common base of the write accesses."""

    __slots__ = ()

    def __init__(
        self,
        array: Any,
        ctx: PlaceLike = None,
        n: int | None = None,
        *,
        on_conflict: Policy | str | None = None,
    ) -> None:
        """Acquire `array` for writing at `ctx`; resize it to `n` elements if `n` is given."""
        if n is not None and not self.mode.reads:
            # Raise the error of a resize to `n` elements before the old values are invalidated.
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
        """Set the size to `n` elements and preserve the values; call `get` again afterwards.

        Raises `AccessConflictError` if the memory must be reallocated while a read access is active
        (HM-64), `AllocationInUseError` if the memory is externally owned (HM-84).
        """
        self.array.resize_under(n, self._live())

    def clear(self) -> None:
        """Set the size to 0."""
        self.resize(0)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Execute `get()[key] = value`."""
        self.get()[key] = value


class WriteAccess(_Writing):
    """Read-write access at a context; other incarnations become invalid (HM-53).

    With `n`, the array is resized to `n` elements; existing values are preserved.
    """

    __slots__ = ()
    mode = AccessMode.READ_WRITE


class WriteOnlyAccess(_Writing):
    """Write-only access to all values at a context, resized to `n` if given (HM-54, HM-55).

    No values are transferred; elements that the access does not write are undefined.
    """

    __slots__ = ()
    mode = AccessMode.WRITE_ONLY


class HostReadAccess(ReadAccess):
    """Read access on the host."""

    __slots__ = ()

    def __init__(self, array: Any, *, on_conflict: Policy | str | None = None) -> None:
        """Acquire `array` for reading on the host."""
        super().__init__(array, Context.host(), on_conflict=on_conflict)


class HostWriteAccess(WriteAccess):
    """Read-write access on the host."""

    __slots__ = ()

    def __init__(
        self, array: Any, n: int | None = None, *, on_conflict: Policy | str | None = None
    ) -> None:
        """Acquire `array` for reading and writing on the host; resize it to `n` if given."""
        super().__init__(array, Context.host(), n, on_conflict=on_conflict)


class HostWriteOnlyAccess(WriteOnlyAccess):
    """Write-only access to all values on the host."""

    __slots__ = ()

    def __init__(
        self, array: Any, n: int | None = None, *, on_conflict: Policy | str | None = None
    ) -> None:
        """Acquire `array` for overwriting on the host; resize it to `n` if given."""
        super().__init__(array, Context.host(), n, on_conflict=on_conflict)
