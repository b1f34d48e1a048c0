"""Exchange of halo dofs between ranks, packed into one message for each neighbour.

Fields of several spaces, and exchanges to several depths, share messages. Messages of device data
are storages, which device kernels pack, so that only the messages leave the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.binding import arrays_on_host, side_of
from psyclone_storage.runtime.lfric.library import Array
from psyclone_storage.runtime.lfric.routing import DofMessage, Routing
from psyclone_storage.runtime.messages import PackedMessages
from psyclone_storage.runtime.packing import PACK, UNPACK, StripKernels, Strips
from psyclone_storage.runtime.ranks import PersistentExchange, Ranks
from psyclone_storage.storage import Storage, empty


@dataclass(frozen=True)
class _Part:
    """Part of one field in one message: the places of its dofs in array and message."""

    message: int
    field: int
    places: Array | slice
    begin: int
    end: int


class JointMessages:
    """Messages for the exchange of a number of fields of one data type, by their routings.

    They are reused by the next exchange of this kind.
    """

    def __init__(
        self, ranks: Ranks, routings: Sequence[Routing], dtype: np.dtype[Any], side: str | None
    ) -> None:
        """Create the messages and prepare their exchange."""
        self._routings = tuple(routings)  # keeps their `id` unique, which is part of the pool's key
        self._sent = _Way([one.sent for one in routings], dtype, side)
        self._received = _Way([one.received for one in routings], dtype, side)
        self._kernels = None if side is None else StripKernels(side, dtype, len(routings))
        self._messages: PersistentExchange = (
            ranks.prepare(self._received.on_host(), self._sent.on_host())
            if side is None
            else PackedMessages(ranks, self._received.by_rank(), self._sent.by_rank(), side)
        )

    def start(self, fields: Sequence[Any]) -> None:
        """Send the values that other ranks need; the halos may not be used until `finish`."""
        if self._kernels is not None:
            self._kernels.move(PACK, fields, self._sent.strips)
        else:
            with arrays_on_host(fields, writes=False) as arrays:
                for part in self._sent.parts:
                    buffer = self._sent.arrays[part.message]
                    buffer[part.begin : part.end] = arrays[part.field][part.places]
        self._messages.start()

    def finish(self, fields: Sequence[Any]) -> None:
        """Write the values received from other ranks to the halos."""
        self._messages.finish()
        if self._kernels is not None:
            self._kernels.move(UNPACK, fields, self._received.strips)
        elif self._received.parts:
            with arrays_on_host(fields, writes=True) as arrays:
                for part in self._received.parts:
                    buffer = self._received.arrays[part.message]
                    arrays[part.field][part.places] = buffer[part.begin : part.end]


class _Way:
    """The messages to send, or those to receive.

    Messages of host data are `arrays`, those of device data are storages in `strips`.
    """

    def __init__(
        self, messages: Sequence[Sequence[DofMessage]], dtype: np.dtype[Any], side: str | None
    ) -> None:
        self.ranks = sorted({message.rank for of in messages for message in of})
        self.parts = list(self._laid_out(messages))
        sizes = [0] * len(self.ranks)
        for part in self.parts:
            sizes[part.message] = max(sizes[part.message], part.end)
        self.arrays = [np.empty(size, dtype) for size in sizes] if side is None else []
        self.strips: list[Strips] = []
        if side is not None:
            for rank, size in zip(self.ranks, sizes, strict=True):
                label = f"message with rank {rank}"
                message = empty((size,), dtype, device=side, label=label)
                self.strips.append(Strips(message, _dofs_of(rank, messages)))

    def on_host(self) -> list[Any]:
        """Return the messages of host data in the form that `Ranks` takes."""
        return [(rank, (array,), ()) for rank, array in zip(self.ranks, self.arrays, strict=True)]

    def by_rank(self) -> list[tuple[int, Storage]]:
        """Return the messages of device data, each with the rank that sends or receives it."""
        found = ((rank, one.message) for rank, one in zip(self.ranks, self.strips, strict=True))
        return [(rank, message) for rank, message in found if message is not None]

    def _laid_out(self, messages: Sequence[Sequence[DofMessage]]) -> Iterator[_Part]:
        """Yield the parts of all messages; those of the first field come first in each message."""
        filled = [0] * len(self.ranks)
        for field, of_field in enumerate(messages):
            for message in of_field:
                at = self.ranks.index(message.rank)
                begin, filled[at] = filled[at], filled[at] + message.size
                yield _Part(at, field, message.places, begin, filled[at])


def _dofs_of(rank: int, messages: Sequence[Sequence[DofMessage]]) -> tuple[Array, ...]:
    """Return the dofs of each field in the message of a rank, as arrays of shape (1, dofs)."""
    of_rank = ([one.indices for one in of if one.rank == rank] for of in messages)
    return tuple(found[0] if found else np.empty((1, 0), np.int64) for found in of_rank)


class JointPool:
    """A pool of messages, which finished exchanges return and new ones reuse."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._idle: dict[tuple[Any, ...], list[JointMessages]] = {}
        self._under_way: dict[JointMessages, list[JointMessages]] = {}

    def take(self, fields: Sequence[Any], routings: Sequence[Routing]) -> JointMessages:
        """Return messages for an exchange of fields, whose values are all on one side."""
        dtype, side = fields[0].storage.dtype, side_of(fields)
        idle = self._idle.setdefault((*map(id, routings), dtype, side), [])
        # Messages keep their routings alive, so that no other routing can have the same `id`.
        made = idle.pop() if idle else JointMessages(self._ranks, routings, dtype, side)
        self._under_way[made] = idle
        return made

    def put(self, packed: JointMessages) -> None:
        """Return messages to the pool after an exchange."""
        self._under_way.pop(packed).append(packed)
