"""The way of halo dofs between ranks, packed into one message for each neighbour.

Fields of several spaces, and to several depths, share messages. Messages of a device are storages:
of its fields nothing but what goes into messages leaves it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.binding import side_of
from psyclone_storage.runtime.lfric.library import Array
from psyclone_storage.runtime.lfric.routing import DofMessage, Routing
from psyclone_storage.runtime.messages import PackedMessages
from psyclone_storage.runtime.ranks import PersistentExchange, Ranks
from psyclone_storage.storage import Storage, as_storage, bound, empty


@dataclass(frozen=True)
class _Part:
    """What one field has in one message: where its dofs are, in its array and in the message."""

    message: int
    field: str
    places: Array | slice
    named: str
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
        self._routings = tuple(routings)  # the pool knows them by what no other object may become
        self._names = tuple(f"field {number}" for number in range(len(routings)))
        named = dict(zip(self._names, routings, strict=True))
        self._sent = _Way({name: one.sent for name, one in named.items()}, dtype, side)
        self._received = _Way({name: one.received for name, one in named.items()}, dtype, side)
        self._messages: PersistentExchange = (
            ranks.prepare(self._received.on_host(), self._sent.on_host())
            if side is None
            else PackedMessages(ranks, self._received.by_rank(), self._sent.by_rank(), side)
        )

    def start(self, fields: Sequence[Storage]) -> None:
        """Send what others need; until `finish` the halos may not be used."""
        way = self._sent
        with self._bound(fields, way, way.messages) as arrays:
            for part in way.parts:
                buffer = way.buffer(part.message, arrays)
                places = arrays[part.named] if part.named else part.places
                buffer[part.begin : part.end] = arrays[part.field][places]
        self._messages.start()

    def finish(self, fields: Sequence[Storage]) -> None:
        """Put what others have sent into the halos."""
        self._messages.finish()
        way = self._received
        with self._bound(fields, way, self._names) as arrays:
            for part in way.parts:
                buffer = way.buffer(part.message, arrays)
                places = arrays[part.named] if part.named else part.places
                arrays[part.field][places] = buffer[part.begin : part.end]

    def _bound(
        self, fields: Sequence[Storage], way: _Way, writes: Collection[str]
    ) -> AbstractContextManager[Any]:
        named = dict(zip(self._names, fields, strict=True))
        return bound({**named, **way.messages, **way.places}, device=self._side, writes=writes)


class _Way:
    """What is sent, or what is received.

    Messages of host data are arrays, those of a device are storages, by name; so are the places of
    dofs there, but where these are one after the other.
    """

    def __init__(
        self, messages: Mapping[str, Sequence[DofMessage]], dtype: np.dtype[Any], side: str | None
    ) -> None:
        self.ranks = sorted({message.rank for of in messages.values() for message in of})
        self.messages: dict[str, Storage] = {}
        self.places: dict[str, Storage] = {}
        self.parts = list(self._laid_out(messages, side))
        sizes = [0] * len(self.ranks)
        for part in self.parts:
            sizes[part.message] = max(sizes[part.message], part.end)
        self._arrays = [np.empty(size, dtype) for size in sizes] if side is None else []
        if side is not None:
            for number, size in enumerate(sizes):
                label = f"message with rank {self.ranks[number]}"
                self.messages[f"message {number}"] = empty((size,), dtype, device=side, label=label)

    def buffer(self, number: int, arrays: Any) -> Any:
        """Return a message, of those that are bound to `arrays`."""
        return self._arrays[number] if self._arrays else arrays[f"message {number}"]

    def on_host(self) -> list[Any]:
        """Return the messages as `Ranks` takes them: those of host data."""
        return [(rank, array, ()) for rank, array in zip(self.ranks, self._arrays, strict=True)]

    def by_rank(self) -> list[tuple[int, Storage]]:
        """Return the messages of a device, each with the rank that sends or gets it."""
        return list(zip(self.ranks, self.messages.values(), strict=True))

    def _laid_out(
        self, messages: Mapping[str, Sequence[DofMessage]], side: str | None
    ) -> Iterator[_Part]:
        """Yield the parts, those of the first field at the beginning of each message."""
        filled = [0] * len(self.ranks)
        for name, of_field in messages.items():
            for message in of_field:
                at = self.ranks.index(message.rank)
                begin, filled[at] = filled[at], filled[at] + message.size
                places, named = message.places, ""
                if not isinstance(places, slice) and side is not None:
                    named = f"places {len(self.places)}"
                    self.places[named] = as_storage(places, device=side)
                yield _Part(at, name, places, named, begin, filled[at])


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
        # Messages keep their routings, so that no other one gets the place that its key names.
        made = idle.pop() if idle else JointMessages(self._ranks, routings, dtype, side)
        self._under_way[made] = idle
        return made

    def put(self, packed: JointMessages) -> None:
        """Keep messages that are no longer under way."""
        self._under_way.pop(packed).append(packed)
