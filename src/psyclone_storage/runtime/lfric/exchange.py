"""The way of halo dofs between ranks, packed into one message for each neighbour.

Fields of several spaces, and to several depths, share messages. Messages of a device are storages,
which kernels of ours pack there: of its fields nothing but what goes into messages leaves it.
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
    """Messages of an exchange of as many fields, of one kind of value, by their routings.

    They are kept for the next exchange of this kind.
    """

    def __init__(
        self, ranks: Ranks, routings: Sequence[Routing], dtype: np.dtype[Any], side: str | None
    ) -> None:
        """Make messages, and prepare to pass them."""
        self._routings = tuple(routings)  # the pool knows them by what no other object may become
        self._sent = _Way([one.sent for one in routings], dtype, side)
        self._received = _Way([one.received for one in routings], dtype, side)
        self._kernels = None if side is None else StripKernels(side, dtype, len(routings))
        self._messages: PersistentExchange = (
            ranks.prepare(self._received.on_host(), self._sent.on_host())
            if side is None
            else PackedMessages(ranks, self._received.by_rank(), self._sent.by_rank(), side)
        )

    def start(self, fields: Sequence[Any]) -> None:
        """Send what others need; until `finish` the halos may not be used."""
        if self._kernels is not None:
            self._kernels.move(PACK, [field.storage for field in fields], self._sent.strips)
        else:
            with arrays_on_host(fields, writes=False) as arrays:
                for part in self._sent.parts:
                    buffer = self._sent.arrays[part.message]
                    buffer[part.begin : part.end] = arrays[part.field][part.places]
        self._messages.start()

    def finish(self, fields: Sequence[Any]) -> None:
        """Put what others have sent into the halos."""
        self._messages.finish()
        if self._kernels is not None:
            self._kernels.move(UNPACK, [field.storage for field in fields], self._received.strips)
        elif self._received.parts:
            with arrays_on_host(fields, writes=True) as arrays:
                for part in self._received.parts:
                    buffer = self._received.arrays[part.message]
                    arrays[part.field][part.places] = buffer[part.begin : part.end]


class _Way:
    """The messages that are sent, or those that are received.

    Messages of host data are `arrays`, those of a device are storages in `strips`.
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
        """Return the messages as `Ranks` takes them: those of host data."""
        return [(rank, (array,), ()) for rank, array in zip(self.ranks, self.arrays, strict=True)]

    def by_rank(self) -> list[tuple[int, Storage]]:
        """Return the messages of a device, each with the rank that sends or gets it."""
        found = ((rank, one.message) for rank, one in zip(self.ranks, self.strips, strict=True))
        return [(rank, message) for rank, message in found if message is not None]

    def _laid_out(self, messages: Sequence[Sequence[DofMessage]]) -> Iterator[_Part]:
        """Yield the parts, those of the first field at the beginning of each message."""
        filled = [0] * len(self.ranks)
        for field, of_field in enumerate(messages):
            for message in of_field:
                at = self.ranks.index(message.rank)
                begin, filled[at] = filled[at], filled[at] + message.size
                yield _Part(at, field, message.places, begin, filled[at])


def _dofs_of(rank: int, messages: Sequence[Sequence[DofMessage]]) -> tuple[Array, ...]:
    """Return for each field which of its dofs are in the message of a rank, (1, dofs) of them."""
    of_rank = ([one.indices for one in of if one.rank == rank] for of in messages)
    return tuple(found[0] if found else np.empty((1, 0), np.int64) for found in of_rank)


class JointPool:
    """Messages of exchanges that have ended, for those that begin."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._idle: dict[tuple[Any, ...], list[JointMessages]] = {}
        self._under_way: dict[JointMessages, list[JointMessages]] = {}

    def take(self, fields: Sequence[Any], routings: Sequence[Routing]) -> JointMessages:
        """Return messages for an exchange of fields, which have their values on one side."""
        dtype, side = fields[0].storage.dtype, side_of(fields)
        idle = self._idle.setdefault((*map(id, routings), dtype, side), [])
        # Messages keep their routings, so that no other one gets the place that its key names.
        made = idle.pop() if idle else JointMessages(self._ranks, routings, dtype, side)
        self._under_way[made] = idle
        return made

    def put(self, packed: JointMessages) -> None:
        """Keep messages that are no longer under way."""
        self._under_way.pop(packed).append(packed)
