"""`AccessToken`: permission to use one replica of a buffer until its release."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.errors import AccessConflictError, AccessReleasedError
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.incarnation import Incarnation
from psyclone_storage.storage.core.locks import Claim, LockTable
from psyclone_storage.storage.core.native import register
from psyclone_storage.storage.core.validity import Validity
from psyclone_storage.storage.memory.base import Memory
from psyclone_storage.storage.memory.races import MemoryUse
from psyclone_storage.storage.memory.registry import memory_of


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """Uncommon options of an access.

    - `region`: the elements (first, end) that are used; None is the whole buffer.
    - `owner`: the owner of the access; None is the calling thread.
    - `in_flight`: the access belongs to a task, and ends with it.
    - `ignore_failed`: read the values even if the task that wrote them failed.
    """

    region: tuple[int, int] | None = None
    owner: Hashable | None = None
    in_flight: bool = False
    ignore_failed: bool = False


def spelled_type(dtype: np.dtype[Any]) -> str:
    """Return the name of a type, such as `float64`, or `<f8` during interpreter shutdown."""
    try:
        return str(dtype)
    except ImportError:
        # NumPy imports its type printer lazily, which fails during interpreter shutdown.
        return dtype.str


class Accessible(Protocol):
    """The attributes and methods of a buffer that a token needs."""

    label: str
    dtype: np.dtype[Any]
    table: LockTable

    @property
    def size(self) -> int:
        """Return the number of elements."""

    @property
    def chunks(self) -> ChunkLayout:
        """Return the division into chunks."""

    @property
    def replicas(self) -> Preparing:
        """Return the replicas."""

    def release(self, token: AccessToken, error: BaseException | None = None) -> None:
        """End the access."""

    def drop(self, token: AccessToken, error: BaseException | None = None) -> None:
        """End the access, whose object was destroyed."""


class Spoiling(Protocol):
    """The record of an access that invalidated replicas, for `Preparing.spoil_stale`."""

    token: AccessToken
    lost: int
    is_spoilt: bool


class Preparing(Protocol):
    """The methods of `Replicas` that accesses need."""

    validity: Validity

    def check_usable(self, token: AccessToken) -> None:
        """Raise an error if the data are read-only or failed, as far as `token` is affected."""

    def needed(self, token: AccessToken) -> Iterable[int]:
        """Return the chunks whose values must be valid before the access begins."""

    def bring(self, token: AccessToken) -> None:
        """Make the replica of `token` valid."""

    def start(self, token: AccessToken) -> Future[None]:
        """Do the work of `bring` without waiting."""

    def mark_written(self, token: AccessToken) -> int:
        """Mark all other replicas as stale, and return their bits."""

    def spoil_stale(self, invalidation: Spoiling) -> None:
        """Overwrite replicas that lost validity with a poison pattern."""

    def note_attention(self) -> None:
        """Update the flags that disable the fast paths."""

    def poison(self, error: BaseException | None) -> None:
        """Mark the values as unusable."""

    def all(self) -> list[Incarnation]:
        """Return the replicas."""

    def close_write(self, token: AccessToken, error: BaseException | None) -> None:
        """Record the space of the values that `token` wrote, or that they are unusable."""

    def settled(self) -> Future[None]:
        """Return a future that resolves when all pending transfers have ended."""


PLAIN = AccessRequest()
"""The request for the whole buffer by the calling thread, with default options."""


class AccessToken(Claim):
    """Permission to use one replica, from `Buffer.acquire` to `release`.

    As a context manager, it releases the access at the end of the block. If a block that writes
    raises an exception, the data are marked as failed.
    """

    __slots__ = ()

    buffer: Accessible
    replica: Incarnation
    request: AccessRequest
    _block: AbstractContextManager[Any] | None

    @property
    def allocation(self) -> Allocation:
        """Return the memory; raise `AccessReleasedError` after the release (HM-50)."""
        if not self.active:
            raise self.released()
        return self.replica.allocation_there()

    @property
    def span(self) -> tuple[int, int] | None:
        """Return the first byte and the number of bytes; None for the whole buffer."""
        layout = self.buffer.chunks
        first, last = self.chunks
        if last - first == layout.count:
            return None
        return layout.bytes_of(self.chunks, self.buffer.dtype.itemsize)

    @property
    def pointer(self) -> int:
        """Return the address of the first byte."""
        return self.allocation.pointer

    @property
    def array(self) -> Any:
        """Return the elements as a flat array: NumPy on the host, a device array on a device."""
        return self.window(self.buffer.dtype, (self.buffer.size,))

    @property
    def kernel_array(self) -> Any:
        """Return `array` in the form that kernels in the access's space take."""
        return self.kernel_view(self.array)

    def kernel_view(self, window: Any) -> Any:
        """Return `window`, created by this access, in the form that kernels in its space take."""
        return self._memory().kernel_view(window, self.mode.writes, self.span)

    def later_view(self, window: Any) -> Any:
        """Return `window` in the form for kernels queued with `Memory.start`."""
        return self._memory().later_view(window)

    def uses_of(self, window: Any) -> tuple[MemoryUse, ...]:
        """Return the memory ranges that a queued kernel uses in `window`."""
        return self._memory().uses_of(window, self.mode.reads, self.mode.writes, self.span)

    @property
    def memory(self) -> Memory:
        """Return the memory of the requested space."""
        return self._memory()

    def window(
        self,
        dtype: Any,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> Any:
        """Return a typed array over the memory, read-only for a read access on the host.

        `strides` and `offset` are in bytes; without strides, the array is in C order.
        """
        spec = WindowSpec(np.dtype(dtype), shape, strides, offset, self.mode.writes)
        memory = self._memory()
        if memory.space.host_accessible:
            self.replica.memory.settle(self.allocation, self.mode.writes, self.span)
        elif memory.queues_work:
            # If another thread acquired the access, the stream of this thread must wait here.
            memory.follow(self.allocation, self.mode.writes, self.span)
        return memory.window(self.allocation, spec)

    def give_back(self, error: BaseException) -> None:
        """End an access that was not used because of `error`; invalidated values are lost."""
        self.leave_device()
        self.release(None if self.mode.reads else error)

    def drop(self) -> None:
        """End the access, whose owner was destroyed without confirming a write."""
        self.buffer.drop(self, AccessConflictError("The access was dropped, not released."))

    def release_after(self, work: Future[Any]) -> None:
        """End the access when `work` ends, as failed if `work` fails; other accesses may wait."""
        self.in_flight = True
        work.then(lambda done: self.release(done.exception()))

    def released(self) -> AccessReleasedError:
        """Return the error for a use after the release."""
        return AccessReleasedError(f"{self.describe()} was released: its memory is not yours.")

    def describe(self) -> str:
        """Return mode, label, type, size and space, used as the subject of error messages."""
        buffer = self.buffer
        name = f'"{buffer.label}"' if buffer.label else "an unlabelled buffer"
        return (
            f"A {self.mode.value} access to {name} ({buffer.size} x "
            f"{spelled_type(buffer.dtype)}) at {self.space.tag}"
        )

    def _memory(self) -> Memory:
        """Return the memory of the requested space, which determines the type of arrays."""
        replica = self.replica
        return replica.memory if self.space is replica.space else memory_of(self.space)

    def on_device(self) -> AbstractContextManager[Any]:
        """Return a context manager that makes this access's device the thread's current device.

        CuPy computes only on the current device. `with token:` has the same effect.
        """
        return self._memory().bound()

    def __enter__(self) -> AccessToken:
        """Return the token; the device of its space becomes the thread's current device."""
        memory = self._memory()
        if memory.has_current:
            block = memory.bound()
            block.__enter__()  # pylint: disable=unnecessary-dunder-call  # left in __exit__
            self._block = block
        return self

    def leave_device(self) -> None:
        """Restore the device that was current before the block; outside a block, do nothing."""
        block, self._block = self._block, None
        if block is not None:
            block.__exit__(None, None, None)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Release the access, unless it has already ended."""
        self.leave_device()
        if self.active:
            self.release(error)


register(plain=PLAIN, token=AccessToken)
