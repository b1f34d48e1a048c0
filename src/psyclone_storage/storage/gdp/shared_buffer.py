"""The state that all storages of the same data share: the buffer and its two sides.

A host-only storage starts without a buffer: it is a labelled NumPy array, without locks or validity
states. When a caller first requests its buffer, the storage creates one over the same memory. All
other storages have a buffer from the start.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

import numpy as np

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer, DirtySide
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.layout import byte_extent, is_packed
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.native import Sides
from psyclone_storage.storage.core.spaces import MemorySpace, host_space
from psyclone_storage.storage.core.token import AccessRequest, AccessToken
from psyclone_storage.storage.core.write_back import write_back
from psyclone_storage.storage.gdp.sync_state import SyncState
from psyclone_storage.storage.memory.queues import finish_all
from psyclone_storage.storage.memory.registry import host_memory, memory_of

_UNKNOWN = -1
"""The number of elements if no storage covers all data."""

FIRST_USE = FORKS.guard(threading.Lock(), Rank.FIRST_USE)
"""Protects the lazy creation of the shared state of storages."""


class Backing(Sides):
    """The buffer of a group of storages and the memory spaces of its two sides.

    `host` and `device` are the memory spaces of the two sides, None for a missing side. `origin` is
    the address of byte 0 of the buffer as seen by the arrays that describe the storages. `points`
    is the number of elements of a storage that covers all data. If `strict` is true, exported host
    arrays are read-only.
    """

    __slots__ = ("__weakref__",)

    buffer: CoherentBuffer | None
    host: MemorySpace | None
    device: MemorySpace | None
    _sync_state: SyncState | None

    def buffer_over(self, array: np.ndarray[Any, Any]) -> CoherentBuffer:
        """Return the buffer; if it does not exist yet, create it over the memory of `array`."""
        if self.buffer is None:
            with FIRST_USE:
                if self.buffer is None:
                    self._adopt(array)
        assert self.buffer is not None
        return self.buffer

    def _adopt(self, array: np.ndarray[Any, Any]) -> None:
        """Create the buffer over the memory of `array`."""
        owner: object = array.base
        whole = owner if isinstance(owner, np.ndarray) else array
        allocation, offset = host_memory().adopt(whole)
        size = allocation.capacity // array.dtype.itemsize if array.dtype.itemsize else 0
        buffer = CoherentBuffer(size, array.dtype, BufferOptions(label=self.label))
        buffer.adopt(allocation)
        points = whole.size if whole.dtype == array.dtype else _UNKNOWN
        self.attach(buffer, whole.__array_interface__["data"][0] - offset, points)

    def token(
        self, space: MemorySpace, mode: AccessMode, used: np.ndarray[Any, Any]
    ) -> AccessToken:
        """Return an access token, not yet acquired, for the elements that `used` describes.

        In a buffer of several chunks, the access covers the chunks that contain these elements. A
        write-only access becomes read-write if the chunks also contain other elements.
        """
        buffer = self.buffer
        assert buffer is not None
        if buffer.single and mode is not AccessMode.WRITE_ONLY:
            return buffer.token(space, mode)
        whole = self.points == used.size
        request = None if whole or buffer.single else AccessRequest(self.region_of(used))
        if mode is AccessMode.WRITE_ONLY and not whole:
            filled = is_packed(used.shape, used.strides, used.dtype.itemsize)
            if request is None or not filled:
                mode = AccessMode.READ_WRITE
        return buffer.token(space, mode, request=request)

    def region_of(self, used: np.ndarray[Any, Any]) -> tuple[int, int]:
        """Return the index of the first buffer element that `used` covers, and the end index."""
        assert self.buffer is not None
        itemsize = max(self.buffer.itemsize, 1)
        low, high = byte_extent(used.shape, used.strides, used.dtype.itemsize)
        start = address_of(used) - self.origin if used.size else 0
        return (start + low) // itemsize, -(-(start + high) // itemsize)

    @property
    def sync_state(self) -> SyncState:
        """Return the synchronisation state that all these storages share (GDP-130)."""
        if self._sync_state is None:
            with FIRST_USE:
                if self._sync_state is None:
                    self.share(SyncState())
        assert self._sync_state is not None
        return self._sync_state

    def share(self, state: SyncState) -> None:
        """Use `state` as the synchronisation state; it then reports the validity of the buffer."""
        assert self.buffer is not None
        state.bind(self.buffer, self.device)
        self._sync_state = state

    def window(self, space: MemorySpace, like: np.ndarray[Any, Any]) -> Any:
        """Return an array in `space` for the buffer elements that `like` describes.

        Allocates memory in `space` if necessary.
        """
        buffer = self.buffer
        assert buffer is not None
        with buffer.table.lock:
            replica = buffer.replicas.at(space)
            buffer.replicas.allocate(replica)
        allocation = replica.allocation_there()
        spec = self.spec_of(like)
        if buffer.const:
            spec = spec._replace(writable=False)
        memory = replica.memory if replica.space is space else memory_of(space)
        return memory.window(allocation, spec)

    def lend(self, window: Any) -> Any:
        """Return `window` after marking all allocations as exported.

        The caller may use an exported array outside of any access.
        """
        replicas = () if self.buffer is None else self.buffer.replicas.all()
        for replica in replicas:
            if replica.allocation is not None:
                replica.allocation.lent = True
        return window

    def spec_of(self, like: np.ndarray[Any, Any]) -> WindowSpec:
        """Return dtype, shape, strides and buffer offset of the elements that `like` describes."""
        self.buffer_over(like)
        offset = address_of(like) - self.origin if like.size else 0
        return WindowSpec(like.dtype, like.shape, like.strides if like.size else None, offset)

    # The six synchronisation methods of GDP-3. A single side needs no synchronisation (GDP-118),
    # except for its initial values or for values that another facade has in another space.

    def device_to_host(self, *, force: bool = False) -> None:
        """Update the host side if it is stale; `force` overwrites it in any case (GDP-112)."""
        self._bring(self.device, self.host, force)

    def host_to_device(self, *, force: bool = False) -> None:
        """Update the device side if it is stale; `force` overwrites it in any case (GDP-113)."""
        self._bring(self.host, self.device, force)

    def ready_on_device(self) -> None:
        """Update the device side and wait until the transfer is complete.

        The receiver of the device address may use it immediately, without further synchronisation.
        """
        finish_all()
        self.host_to_device()
        finish_all()

    def set_host_modified(self) -> None:
        """Mark only the host side as current (GDP-115); no data are copied."""
        if self.buffer is not None and self.host is not None:
            self.buffer.touch(self.host)

    def set_device_modified(self) -> None:
        """Mark only the device side as current (GDP-114); no data are copied."""
        if self.buffer is not None and self.device is not None:
            self.buffer.touch(self.device)

    def set_synchronized(self) -> None:
        """Mark both sides as current (GDP-116); no data are copied."""
        if self.buffer is not None and self._is_twofold():
            self.buffer.assume_valid([self.host, self.device])

    def synchronize(self) -> None:
        """Update the stale side, or both sides if each is stale in some chunks (GDP-117)."""
        if self.buffer is not None and self._is_twofold():
            side = self.buffer.dirty_side()
            if side in (DirtySide.DEVICE, DirtySide.MIXED):
                self.device_to_host()
            if side in (DirtySide.HOST, DirtySide.MIXED):
                self.host_to_device()

    def written_back(self) -> None:
        """Register a finalizer that updates externally owned host memory.

        The finalizer runs when the last storage is destroyed, or at program exit. A forked child
        process skips the update, because its state is older than that of its parent.
        """
        assert self.buffer is not None
        weakref.finalize(self, _write_back, self.buffer, os.getpid())

    def _is_twofold(self) -> bool:
        return self.host is host_space() and self.device is not None

    def _bring(self, source: MemorySpace | None, target: MemorySpace | None, force: bool) -> None:
        buffer = self.buffer
        if buffer is None or target is None:
            return
        if force and self._is_twofold() and source is not None:
            # A caller that forces a copy has written the source without an access.
            self.lend(None)
            buffer.trust(source)
        buffer.make_valid(target)


def on_host(strict: bool, label: str) -> Backing:
    """Return a backing for a storage in host memory only, without a buffer."""
    return Backing(host_space(), None, strict, label)


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Return the address in bytes of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


def _write_back(buffer: CoherentBuffer, process: int) -> None:
    if os.getpid() == process and not buffer.replicas.is_whole(host_space()):
        write_back(buffer)
