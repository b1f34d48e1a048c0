"""`SyncState`, the three-valued validity state of GDP-3; it never copies data.

The validity bits of the buffer are authoritative. If both sides are current, or neither is, the
state is `SYNC_CLEAN`; if one is current, it is `SYNC_HOST_DIRTY` or `SYNC_DEVICE_DIRTY`. If each
side is current in some chunks only, the state is `SYNC_DEVICE_DIRTY`: a reader on the host then
calls `device_to_host` first, which completes the host. All storages over one buffer share one
`SyncState` object (GDP-130).
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from psyclone_storage.storage.core.buffer import CoherentBuffer, DirtySide
from psyclone_storage.storage.core.spaces import MemorySpace, device_space, host_space


class Sync(IntEnum):
    """The values of `SyncState.state`."""

    CLEAN = 0
    HOST_DIRTY = 1
    DEVICE_DIRTY = 2


_OF_SIDE = {
    DirtySide.NONE: Sync.CLEAN,
    DirtySide.HOST: Sync.HOST_DIRTY,
    DirtySide.DEVICE: Sync.DEVICE_DIRTY,
    DirtySide.MIXED: Sync.DEVICE_DIRTY,
}


class SyncState:
    """The synchronisation state of a storage: which of its two buffers was modified.

    An object that the caller creates stores a value until it is passed to `as_storage`; from then
    on, it reports the validity of the buffer.
    """

    __slots__ = ("_value", "_buffer", "_device", "__weakref__")

    SYNC_CLEAN: ClassVar[Sync] = Sync.CLEAN
    SYNC_HOST_DIRTY: ClassVar[Sync] = Sync.HOST_DIRTY
    SYNC_DEVICE_DIRTY: ClassVar[Sync] = Sync.DEVICE_DIRTY

    def __init__(self, state: int = Sync.CLEAN) -> None:
        """Start with `state` and without a buffer; raise `ValueError` for an unknown state."""
        self._value = Sync(state)
        self._buffer: CoherentBuffer | None = None
        self._device: MemorySpace | None = None

    @property
    def state(self) -> Sync:
        """Return one of the three constants (GDP-132)."""
        if self._buffer is None:
            return self._value
        return _OF_SIDE[self._buffer.dirty_side()]

    @state.setter
    def state(self, state: int) -> None:
        """Mark the buffers that `state` implies as current; no data are copied."""
        self._value = Sync(state)
        if self._buffer is not None:
            self._buffer.assume_valid(self._current_spaces())

    @property
    def buffer(self) -> CoherentBuffer | None:
        """Return the buffer whose state this is, or None."""
        return self._buffer

    def bind(self, buffer: CoherentBuffer, device: MemorySpace | None = None) -> None:
        """Report the state of `buffer`, whose other side is in the space `device`, from now on."""
        self._buffer = buffer
        self._device = device

    def _current_spaces(self) -> list[MemorySpace]:
        device = self._device or device_space()
        match self._value:
            case Sync.CLEAN:
                return [host_space(), device]
            case Sync.HOST_DIRTY:
                return [host_space()]
            case Sync.DEVICE_DIRTY:
                return [device]

    def __repr__(self) -> str:
        return f"<SyncState {self.state.name}>"
