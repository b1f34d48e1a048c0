"""Packed messages in storages: choice of the memory space, and locking.

A GPU-aware MPI library receives device addresses, after the device has finished its work. Any other
library receives host addresses, so that only the messages are transferred between device and host.
Each rank may choose independently, because the contents of messages are the same.
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
"""A message: the other rank, and the one-dimensional storage with the values."""


class PackedMessages:
    """Messages that are packed and unpacked on one `side`: a device, or None for the host."""

    def __init__(
        self, ranks: Ranks, received: Sequence[Message], sent: Sequence[Message], side: str | None
    ) -> None:
        """Store the messages, and choose the memory space in which MPI accesses them."""
        self._ranks, self._received, self._sent = ranks, tuple(received), tuple(sent)
        self._place = side if side is not None and takes_devices() else None
        self._addresses: tuple[int, ...] | None = None
        self._messages: PersistentExchange | None = None
        self._held = ExitStack()

    def start(self) -> None:
        """Start sending packed messages and receiving; the storages are locked until `finish`."""
        with ExitStack() as held:
            sent = self._opened(held, self._sent, RDONLY)
            received = self._opened(held, self._received, WRONLY)
            arrays = [array for _, array in (*sent, *received)]
            if self._place is not None and arrays:
                wait_for_device(arrays[0])
            # The memory of a storage moves only if a user resizes or moves it.
            addresses = tuple(map(address_of, arrays))
            if self._messages is None or addresses != self._addresses:
                whole = ([(rank, (array,), ()) for rank, array in of] for of in (received, sent))
                self._messages = self._ranks.prepare(*whole)
                self._addresses = addresses
            self._messages.start()
            self._held = held.pop_all()

    def finish(self) -> None:
        """Wait until all messages have been sent and received."""
        with self._held:
            if self._messages is not None:
                self._messages.finish()

    def _opened(self, held: ExitStack, messages: Sequence[Message], mode: Any) -> list[Any]:
        """Return ranks with the arrays of their messages, acquired until `held` is closed."""
        return [
            (rank, held.enter_context(storage.access(self._place, mode)))
            for rank, storage in messages
        ]
