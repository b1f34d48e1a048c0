"""`DeviceAccessor`: access to a buffer by one device task between `open` and `close`."""

from __future__ import annotations

import sys
import warnings
from contextlib import AbstractContextManager
from typing import Any

from psyclone_storage.storage.accessors.accessor_buffer import Shape, buffer_of, shape_of
from psyclone_storage.storage.core.acquire import PendingAccesses
from psyclone_storage.storage.core.errors import AccessConflictError, AccessReleasedError
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.locks import AccessMode, mode_of
from psyclone_storage.storage.core.spaces import SpaceLike, memory_space
from psyclone_storage.storage.core.token import AccessRequest, AccessToken


class DeviceAccessor:
    """Access to a buffer in a memory space for the duration of a device task.

    Several const accessors may be open at a time; a non-const one excludes all others (ACC-39).
    Between `open` and `close`, `array` contains the data in the space. A closed accessor may be
    reopened. `mode`, if given, refines `const`: `"w"` or `AccessMode.WRITE_ONLY` avoids the
    transfer of current values. `request` limits the access to a region, or names its owner.
    """

    __slots__ = ("space", "mode", "request", "buffer", "_opening", "__weakref__")

    def __init__(
        self,
        buffer: Any,
        space: SpaceLike = "gpu",
        const: bool = False,
        *,
        mode: AccessMode | str | None = None,
        request: AccessRequest | None = None,
    ) -> None:
        """Prepare to use `buffer`, or the buffer of another facade, in `space`."""
        self.buffer, _ = buffer_of(buffer)
        self.space = memory_space(space)
        granted = AccessMode.READ if const else AccessMode.READ_WRITE
        self.mode = granted if mode is None else mode_of(mode)
        self.request = request
        self._opening: PendingAccesses | None = None

    @property
    def shape(self) -> Shape:
        """Return the extents of the buffer."""
        return shape_of(self.buffer)

    @property
    def const(self) -> bool:
        """Return whether this accessor only reads."""
        return not self.mode.writes

    def open(self) -> Future[DeviceAccessor]:
        """Request the buffer; the future resolves when its use is safe (ACC-18 to ACC-20).

        This method does not wait; only `result` of the future does, so that several buffers can be
        opened concurrently. Waiting raises `AccessDeadlockError` if it could never end, and
        `PoisonedDataError` if the last task that wrote the data failed. Raises
        `AccessConflictError` if the accessor is open.
        """
        if self._opening is not None:
            raise AccessConflictError(f"{self!r} is open already: close it first.")
        opening = self.buffer.ask(self.space, self.mode, self.request)
        self._opening = opening  # first, so that the access can be ended once it has begun
        try:
            opening.begin()
        except BaseException as interrupt:
            opening.abandon(interrupt)
            self._opening = None
            raise
        return opening.ready.map(lambda _: self)

    def close(self, error: BaseException | None = None) -> Future[None]:
        """Mark the task as complete, or as failed with `error` (ACC-21 to ACC-25).

        After a write, the current values are in this space, or being transferred to the preferred
        one: the future resolves when they have arrived. Threads that wait for the buffer continue.
        A request that was not granted yet is cancelled. Raises `AccessReleasedError` if the
        accessor is not open.
        """
        opening, self._opening = self._opening, None
        if opening is None:
            raise AccessReleasedError(f"{self!r} was closed, but it is not open.")
        try:
            too_soon = AccessReleasedError(f"{self!r} was closed before it was open.")
            return opening.close(lambda _: error, too_soon)
        except BaseException as interrupt:
            opening.close(lambda _: error, interrupt)
            raise

    def close_after(self, work: Future[Any]) -> None:
        """Close the accessor when `work` ends, as failed if `work` fails; do not wait."""
        self._live().in_flight = True

        def end(done: Future[Any]) -> None:
            if self._opening is not None:
                self.close(done.exception())

        work.then(end)

    @property
    def token(self) -> AccessToken:
        """Return the access token; raise `AccessReleasedError` unless the accessor is open."""
        return self._live()

    def on_device(self) -> AbstractContextManager[Any]:
        """Return a context manager that makes this accessor's device the thread's current device.

        CuPy computes only on the current device. `with accessor:` has the same effect.
        """
        return self._live().on_device()

    @property
    def array(self) -> Any:
        """Return the data in the accessor's space, in the shape of the buffer, until `close`."""
        return self._live().window(self.buffer.dtype, self.shape)

    @property
    def kernel_array(self) -> Any:
        """Return `array` in the form that kernels in the accessor's space take."""
        token = self._live()
        return token.kernel_view(token.window(self.buffer.dtype, self.shape))

    def _live(self) -> AccessToken:
        opening = self._opening
        if opening is None or not opening.ready.done():
            raise AccessReleasedError(f"{self!r} is not open: wait for the future of `open`.")
        opening.ready.result()
        return opening.tokens[0]

    def __enter__(self) -> DeviceAccessor:
        """Open and wait; on failure, close the accessor, so that no other thread waits for it."""
        if self._opening is not None:
            self.open()  # which raises
        try:
            self.open().result().token.__enter__()  # pylint: disable=unnecessary-dunder-call
        except BaseException:
            if self._opening is not None:
                # The block has not begun: values that a write-only access invalidated are lost.
                self.close(AccessConflictError(f"{self!r} was interrupted before its block."))
            raise
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Close the accessor, as failed if the block failed."""
        if self._opening is not None:
            self.token.leave_device()
            self.close(error)

    def __del__(self) -> None:
        """End the access of a garbage-collected accessor, with a `ResourceWarning`.

        At interpreter shutdown, no other thread can be waiting, and the warnings module may not
        work.
        """
        opening = getattr(self, "_opening", None)
        if opening is not None and opening.drop() and not sys.is_finalizing():
            text = f"{self!r} was dropped while it was open: close it."
            warnings.warn(text, ResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        return (
            f"<DeviceAccessor {self.mode.value} at {self.space.tag} to "
            f'"{self.buffer.label}" ({self.buffer.size} x {self.buffer.dtype})>'
        )
