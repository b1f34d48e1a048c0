"""Packed messages, which are storages: their memory space, and their locks.

A GPU-aware MPI library is passed the memory of the device, once the device has done what it was
asked for; any other one is passed that of the host, so that a message goes there and back, and
nothing else does. Each rank may choose its own way: messages look the same from either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from psyclone_storage.runtime.native import address_of
from psyclone_storage.runtime.ranks import PersistentExchange, Ranks
from psyclone_storage.storage import RDONLY, WRONLY, Storage
from psyclone_storage.storage.interop.mpi import takes_devices, wait_for_device

Message = tuple[int, Storage]
"""What one rank is sent, or sends: its number, and the storage of one dimension that holds it."""


class PackedMessages:
    """Messages that are packed and unpacked on one `side`: a device, or None for the host."""

    def __init__(
        self, ranks: Ranks, received: Sequence[Message], sent: Sequence[Message], side: str | None
    ) -> None:
        """Take the storages, and find out which memory of theirs messages pass through."""
        self._ranks, self._received, self._sent = ranks, tuple(received), tuple(sent)
        self._place = side if side is not None and takes_devices() else None
        self._addresses: tuple[int, ...] | None = None
        self._messages: PersistentExchange | None = None
        self._held = ExitStack()

    def start(self) -> None:
        """Send what was packed, and receive; the storages are locked until `finish`."""
        with ExitStack() as held:
            sent = self._opened(held, self._sent, RDONLY)
            received = self._opened(held, self._received, WRONLY)
            arrays = [array for _, array in (*sent, *received)]
            if self._place is not None and arrays:
                wait_for_device(arrays[0])
            # Memory stays where it is but for what a user does, who may move a storage's.
            addresses = tuple(map(address_of, arrays))
            if self._messages is None or addresses != self._addresses:
                whole = ([(rank, (array,), ()) for rank, array in of] for of in (received, sent))
                self._messages = self._ranks.prepare(*whole)
                self._addresses = addresses
            self._messages.start()
            self._held = held.pop_all()

    def finish(self) -> None:
        """Wait until all messages have gone and come."""
        with self._held:
            if self._messages is not None:
                self._messages.finish()

    def _opened(self, held: ExitStack, messages: Sequence[Message], mode: Any) -> list[Any]:
        """Return ranks with arrays, which are held to be read or to be written."""
        return [
            (rank, held.enter_context(storage.access(self._place, mode)))
            for rank, storage in messages
        ]
