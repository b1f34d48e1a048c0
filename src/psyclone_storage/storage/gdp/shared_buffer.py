"""The state that all storages over the same data share: the buffer and its two sides.

A host-only storage that no other facade has requested has no buffer: it is a NumPy array with
labels, without locks or states. It gets its buffer, over the same memory, on the first request for
one. All other storages have a buffer from the start.
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
"""The number of elements where no storage has all."""

FIRST_USE = FORKS.guard(threading.Lock(), Rank.FIRST_USE)
"""Held while a storage gets what it makes when it is first needed, once for all threads."""


class Backing(Sides):
    """The storages that share the same data.

    `host` and `device` are the spaces of the two sides, None where there is no such side. `origin`
    is the address that byte 0 of the buffer has in the arrays that describe the storages, `points`
    the number of elements that a storage of all the data has. `strict` says that host arrays leave
    read-only.
    """

    __slots__ = ("__weakref__",)

    buffer: CoherentBuffer | None
    host: MemorySpace | None
    device: MemorySpace | None
    _sync_state: SyncState | None

    def buffer_over(self, array: np.ndarray[Any, Any]) -> CoherentBuffer:
        """Return the buffer; if necessary, create it over the memory of `array`."""
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
        """Return an access to the elements of the buffer that `used` describes, not begun yet.

        In a buffer of several chunks, the access covers the chunks that it touches. Elements to be
        overwritten are transferred nevertheless if other elements are interleaved with them.
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
        """Return the first element of the buffer that `used` has, and the one after its last."""
        assert self.buffer is not None
        itemsize = max(self.buffer.itemsize, 1)
        low, high = byte_extent(used.shape, used.strides, used.dtype.itemsize)
        start = address_of(used) - self.origin if used.size else 0
        return (start + low) // itemsize, -(-(start + high) // itemsize)

    @property
    def sync_state(self) -> SyncState:
        """Return the one state object of all these storages (GDP-130)."""
        if self._sync_state is None:
            with FIRST_USE:
                if self._sync_state is None:
                    self.share(SyncState())
        assert self._sync_state is not None
        return self._sync_state

    def share(self, state: SyncState) -> None:
        """Use `state`, which becomes a window on the buffer."""
        assert self.buffer is not None
        state.bind(self.buffer, self.device)
        self._sync_state = state

    def window(self, space: MemorySpace, like: np.ndarray[Any, Any]) -> Any:
        """Return the array at `space` that is in the buffer where `like` is; allocate if needed."""
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
        """Return `window` to a caller that may use it outside of any access."""
        replicas = () if self.buffer is None else self.buffer.replicas.all()
        for replica in replicas:
            if replica.allocation is not None:
                replica.allocation.lent = True
        return window

    def spec_of(self, like: np.ndarray[Any, Any]) -> WindowSpec:
        """Return the elements of the buffer at the memory of `like`."""
        self.buffer_over(like)
        offset = address_of(like) - self.origin if like.size else 0
        return WindowSpec(like.dtype, like.shape, like.strides if like.size else None, offset)

    # The six verbs of GDP-3. A single side needs no synchronisation (GDP-118), but it may lack its
    # initial values, or values that another facade has elsewhere.

    def device_to_host(self, *, force: bool = False) -> None:
        """Update the host side, or overwrite it with `force` (GDP-112)."""
        self._bring(self.device, self.host, force)

    def host_to_device(self, *, force: bool = False) -> None:
        """Update the device side, or overwrite it with `force` (GDP-113)."""
        self._bring(self.host, self.device, force)

    def ready_on_device(self) -> None:
        """Update the device side for a caller that uses its address immediately."""
        finish_all()
        self.host_to_device()
        finish_all()

    def set_host_modified(self) -> None:
        """Mark the host side alone as current, as the caller declares (GDP-115)."""
        if self.buffer is not None and self.host is not None:
            self.buffer.touch(self.host)

    def set_device_modified(self) -> None:
        """Mark the device side alone as current, as the caller declares (GDP-114)."""
        if self.buffer is not None and self.device is not None:
            self.buffer.touch(self.device)

    def set_synchronized(self) -> None:
        """Mark both sides as current, as the caller declares (GDP-116)."""
        if self.buffer is not None and self._is_twofold():
            self.buffer.assume_valid([self.host, self.device])

    def synchronize(self) -> None:
        """Update the stale side, or both sides where each is partly stale (GDP-117)."""
        if self.buffer is not None and self._is_twofold():
            side = self.buffer.dirty_side()
            if side in (DirtySide.DEVICE, DirtySide.MIXED):
                self.device_to_host()
            if side in (DirtySide.HOST, DirtySide.MIXED):
                self.host_to_device()

    def written_back(self) -> None:
        """Update externally owned memory at the end.

        That is when the last storage is destroyed, or the program ends. A process that was forked
        in the meantime leaves the update to its parent, because the state in the child is older.
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
            # Who forces a copy has worked there without an access.
            self.lend(None)
            buffer.trust(source)
        buffer.make_valid(target)


def on_host(strict: bool, label: str) -> Backing:
    """Return a backing for host memory alone, without a buffer."""
    return Backing(host_space(), None, strict, label)


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Return the address of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


def _write_back(buffer: CoherentBuffer, process: int) -> None:
    if os.getpid() == process and not buffer.replicas.is_whole(host_space()):
        write_back(buffer)
