"""The way of halo dofs between ranks, packed into one message for each neighbour.

Fields of several spaces, and to several depths, share messages. Messages are storages: of fields
whose values are on a device only what goes into messages comes to the host, and their way is that
of all data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from psyclone_storage.runtime.lfric.library import Array
from psyclone_storage.runtime.lfric.routing import DofMessage, Routing
from psyclone_storage.runtime.ranks import PersistentExchange, Ranks
from psyclone_storage.storage import Storage, as_storage, bound, empty


def side_of(storages: Sequence[Storage]) -> str | None:
    """Return the device if it has the current values of all `storages`, None for the host.

    Messages look the same from either side, so that each rank may choose its own.
    """
    device = storages[0].device
    if device is None or not all(one.device and one.is_current(device) for one in storages):
        return None
    return device


@dataclass(frozen=True)
class _Part:
    """What one field has in one message: its dofs, and where they are in the message."""

    message: int
    field: int
    places: Array
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
        self._side = side
        self._sent = _Way([one.sent for one in routings], dtype, side)
        self._received = _Way([one.received for one in routings], dtype, side)
        self._messages: PersistentExchange = ranks.prepare(
            self._received.whole(), self._sent.whole()
        )

    def start(self, fields: Sequence[Storage]) -> None:
        """Send what others need; until `finish` the halos may not be used."""
        with self._bound(fields, self._sent, writes_fields=False) as arrays:
            for part in self._sent.parts:
                values = arrays[f"field {part.field}"][self._places(part, self._sent, arrays)]
                arrays[f"message {part.message}"][part.begin : part.end] = values
        for storage in self._sent.buffers:
            _ = storage.data_ro  # brings what a device has packed to the host
        for storage in self._received.buffers:
            _ = storage.data_wo
        self._messages.start()

    def finish(self, fields: Sequence[Storage]) -> None:
        """Put what others have sent into the halos."""
        self._messages.finish()
        with self._bound(fields, self._received, writes_fields=True) as arrays:
            for part in self._received.parts:
                values = arrays[f"message {part.message}"][part.begin : part.end]
                places = self._places(part, self._received, arrays)
                arrays[f"field {part.field}"][places] = values

    def _places(self, part: _Part, way: _Way, arrays: Any) -> Any:
        return part.places if self._side is None else arrays[f"places {way.parts.index(part)}"]

    def _bound(
        self, fields: Sequence[Storage], way: _Way, *, writes_fields: bool
    ) -> AbstractContextManager[Any]:
        named = {f"field {number}": field for number, field in enumerate(fields)}
        messages = {f"message {number}": buffer for number, buffer in enumerate(way.buffers)}
        writes = [*named] if writes_fields else [*messages]
        return bound({**named, **messages, **way.places}, device=self._side, writes=writes)


class _Way:
    """What is sent, or what is received."""

    def __init__(
        self, messages: Sequence[Sequence[DofMessage]], dtype: np.dtype[Any], side: str | None
    ) -> None:
        self.ranks = sorted({message.rank for of_field in messages for message in of_field})
        self.parts = list(self._laid_out(messages))
        sizes = [0] * len(self.ranks)
        for part in self.parts:
            sizes[part.message] = max(sizes[part.message], part.end)
        self.buffers = [
            empty((size,), dtype, device=side, label=f"message with rank {rank}")
            for size, rank in zip(sizes, self.ranks, strict=True)
        ]
        self.places: dict[str, Storage] = {}
        if side is not None:
            for number, part in enumerate(self.parts):
                self.places[f"places {number}"] = as_storage(part.places, device=side)

    def whole(self) -> list[Any]:
        """Return the messages as `Ranks` takes them."""
        return [
            (rank, buffer.data_wo, ())
            for rank, buffer in zip(self.ranks, self.buffers, strict=True)
        ]

    def _laid_out(self, messages: Sequence[Sequence[DofMessage]]) -> Iterator[_Part]:
        """Yield the parts, those of the first field at the beginning of each message."""
        filled = [0] * len(self.ranks)
        for field, of_field in enumerate(messages):
            for message in of_field:
                at = self.ranks.index(message.rank)
                begin, filled[at] = filled[at], filled[at] + message.size
                yield _Part(at, field, message.places, begin, filled[at])


class JointPool:
    """Messages of exchanges that have ended, for those that begin."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._idle: dict[tuple[Any, ...], list[JointMessages]] = {}
        self._under_way: dict[JointMessages, list[JointMessages]] = {}

    def take(self, storages: Sequence[Storage], routings: Sequence[Routing]) -> JointMessages:
        """Return messages for an exchange of fields, which have their values on one side."""
        dtype, side = storages[0].dtype, side_of(storages)
        idle = self._idle.setdefault((*map(id, routings), dtype, side), [])
        # What is kept, and so the routings that its key names, stays as long as the pool.
        made = idle.pop() if idle else JointMessages(self._ranks, routings, dtype, side)
        self._under_way[made] = idle
        return made

    def put(self, packed: JointMessages) -> None:
        """Keep messages that are no longer under way."""
        self._under_way.pop(packed).append(packed)
