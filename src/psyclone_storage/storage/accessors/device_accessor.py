"""`DeviceAccessor`, the use of a buffer by one device task between `open` and `close`."""

from __future__ import annotations

import sys
import warnings
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from psyclone_storage.storage.accessors.accessor_buffer import Shape, buffer_of, shape_of
from psyclone_storage.storage.core.acquire import PendingAccesses
from psyclone_storage.storage.core.errors import AccessConflictError, AccessReleasedError
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.locks import AccessMode, mode_of
from psyclone_storage.storage.core.spaces import SpaceLike, memory_space
from psyclone_storage.storage.core.token import AccessRequest, AccessToken


class DeviceAccessor:
    """The use of a buffer at a memory space for the time of a device task.

    Many const accessors may be open at a time, one that is not const is alone (ACC-39). Between
    `open` and `close`, `array` is the data at the space. After a `close` it may be opened again.

    `mode`, if given, refines `const`: `"w"` or `AccessMode.WRITE_ONLY` copies nothing in.
    `request` limits the use to a region, or names the holder of the access.
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
        """Prepare to use `buffer`, or the buffer of another facade, at `space`."""
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

        Nothing waits before `result` of the future, so that buffers are opened concurrently.
        Waiting raises `AccessDeadlockError` where it could never end, and `PoisonedDataError` if
        the last task that wrote failed. Raises `AccessConflictError` if this is open already.
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

        After a write, the point of truth is at this space, or in transfer to the preferred one: the
        future resolves when it has arrived. Waiters for the buffer continue. An access that was not
        granted yet is cancelled. Raises `AccessReleasedError` if this is not open.
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
        """Close when `work` ends, as failed if it fails; meanwhile others may wait for that."""
        self._live().in_flight = True

        def end(done: Future[Any]) -> None:
            if self._opening is not None:
                self.close(done.exception())

        work.then(end)

    @property
    def token(self) -> AccessToken:
        """Return the right to use the data; raise `AccessReleasedError` unless this is open."""
        return self._live()

    def on_device(self) -> AbstractContextManager[Any]:
        """Return a block in which the device of this accessor is the current one of the thread.

        CuPy computes on the current device only. `with accessor:` is such a block, too.
        """
        return self._live().on_device()

    @property
    def array(self) -> Any:
        """Return the data at the space, in the shape of the buffer, until `close`."""
        return self._live().window(self.buffer.dtype, self.shape)

    @property
    def kernel_array(self) -> Any:
        """Return `array` as a kernel at the space gets it."""
        token = self._live()
        return token.kernel_view(token.window(self.buffer.dtype, self.shape))

    def _live(self) -> AccessToken:
        opening = self._opening
        if opening is None or not opening.ready.done():
            raise AccessReleasedError(f"{self!r} is not open: wait for the future of `open`.")
        opening.ready.result()
        return opening.tokens[0]

    def __enter__(self) -> DeviceAccessor:
        """Open and wait; on failure, leave nothing open that other threads would wait for."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close, as failed if the block failed."""
        if self._opening is not None:
            self.token.leave_device()
            self.close(error)

    def __del__(self) -> None:
        """End the access of a collected accessor, with a `ResourceWarning`.

        At interpreter shutdown no thread can wait any more, and the warning machinery may be gone.
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
