"""The way of halo points between ranks: in place, or packed into messages.

One field that the host holds is exchanged in place: the library of MPI finds the points. All else
is packed: several fields share one message for each neighbour, and of a field whose values are on a
device, where kernels of ours pack, nothing but what goes into messages leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from psyclone_storage.runtime.binding import side_of
from psyclone_storage.runtime.gocean.halo_plan import ExchangePattern, Message
from psyclone_storage.runtime.gocean.region import Region
from psyclone_storage.runtime.messages import PackedMessages
from psyclone_storage.runtime.packing import COPY, PACK, UNPACK, Array, StripKernels, Strips
from psyclone_storage.runtime.ranks import Ranks
from psyclone_storage.storage import RDWR, Storage, bound, empty


class InPlace:
    """The exchange of one field in the memory that the host has it in."""

    def __init__(self, ranks: Ranks, plan: ExchangePattern, storage: Storage) -> None:
        """Prepare the messages; the memory of a storage stays where it is."""
        self._plan = plan
        self._storage = storage
        with storage.access(None, RDWR) as array:
            self._messages = ranks.prepare(
                *(
                    [(one.rank, array, [region.box for region in one.regions]) for one in messages]
                    for messages in (plan.received, plan.sent)
                )
            )

    def run(self) -> None:
        """Bring the halo up to date."""
        with self._storage.access(None, RDWR) as array:
            self._messages.start()
            _copy_own(array, self._plan.copied)
            self._messages.finish()


class Packed:
    """Messages that hold the points of several fields of one kind of value, all on one side.

    They are kept for the next exchange of as many fields.
    """

    def __init__(self, ranks: Ranks, plan: ExchangePattern, like: Sequence[Storage]) -> None:
        """Make messages for fields such as `like`."""
        self._plan = plan
        self._side = side_of(like)
        self._received = [self._buffer(message, like) for message in plan.received]
        self._sent = [self._buffer(message, like) for message in plan.sent]
        self._messages = PackedMessages(
            ranks, _by_rank(plan.received, self._received), _by_rank(plan.sent, self._sent),
            self._side,
        )  # fmt: skip
        self._kernels = (
            None if self._side is None else _OnDevice(self._side, plan, like, self._sent,
                                                      self._received)
        )  # fmt: skip

    def start(self, fields: Sequence[Storage]) -> None:
        """Send what others need; until `finish` the halos may not be used."""
        if self._kernels is not None:
            self._kernels.pack(fields)
        else:
            with self._bound(fields, self._sent, writes_fields=bool(self._plan.copied)) as arrays:
                for buffer, array, region in _parts(self._plan.sent, arrays, len(fields)):
                    buffer[...] = array[region.box].ravel(order="F")
                for number in range(len(fields)):
                    _copy_own(arrays[f"field {number}"], self._plan.copied)
        self._messages.start()

    def finish(self, fields: Sequence[Storage]) -> None:
        """Put what others have sent into the halos."""
        self._messages.finish()
        if self._kernels is not None:
            self._kernels.unpack(fields)
            return
        with self._bound(fields, self._received, writes_fields=True) as arrays:
            for buffer, array, region in _parts(self._plan.received, arrays, len(fields)):
                array[region.box] = buffer.reshape(region.shape, order="F")

    def _bound(
        self, fields: Sequence[Storage], buffers: Sequence[Storage], *, writes_fields: bool
    ) -> AbstractContextManager[Any]:
        named = {f"field {number}": field for number, field in enumerate(fields)}
        messages = {f"message {number}": buffer for number, buffer in enumerate(buffers)}
        fills_messages = buffers is self._sent
        writes = [*(named if writes_fields else ()), *(messages if fills_messages else ())]
        return bound({**named, **messages}, writes=writes)

    def _buffer(self, message: Message, like: Sequence[Storage]) -> Storage:
        label = f"message with rank {message.rank}"
        shape = (message.points * len(like),)
        return empty(shape, like[0].dtype, device=self._side, label=label)


class _OnDevice:
    """Packing of the messages of some fields by kernels of a device."""

    def __init__(
        self,
        device: str,
        plan: ExchangePattern,
        like: Sequence[Storage],
        sent: Sequence[Storage],
        received: Sequence[Storage],
    ) -> None:
        """Find which points are where in the messages."""
        count = len(like)
        self._kernels = StripKernels(device, like[0].dtype, count)
        self._sent = _strips(plan.sent, sent, count)
        self._received = _strips(plan.received, received, count)
        targets, sources = ([pair[at] for pair in plan.copied] for at in (1, 0))
        self._copied = [
            Strips(None, (_points_of(targets),) * count, (_points_of(sources),) * count)
        ]

    def pack(self, fields: Sequence[Storage]) -> None:
        """Fill the messages that are sent, and the halo with this rank's own points."""
        self._kernels.move(PACK, fields, self._sent)
        self._kernels.move(COPY, fields, self._copied)

    def unpack(self, fields: Sequence[Storage]) -> None:
        """Put the messages that were received into the halo."""
        self._kernels.move(UNPACK, fields, self._received)


def _strips(messages: Sequence[Message], buffers: Sequence[Storage], count: int) -> list[Strips]:
    return [
        Strips(buffer, (_points_of(message.regions),) * count)
        for message, buffer in zip(messages, buffers, strict=True)
    ]


def _points_of(regions: Sequence[Region]) -> Array:
    """Return the indices of the points in some regions, those of a row one after the other."""
    found = [np.empty((2, 0), np.int64)]
    for region in regions:
        x, y = (np.arange(one.start, one.stop) for one in region.box)
        found.append(np.stack((np.tile(x, len(y)), np.repeat(y, len(x)))))
    return np.concatenate(found, axis=1)


class MessagePool:
    """Messages of exchanges that have ended, for those that begin."""

    def __init__(self, ranks: Ranks, plan: Callable[[int], ExchangePattern]) -> None:
        self._ranks = ranks
        self._plan = plan
        self._idle: dict[tuple[Any, ...], list[Packed]] = {}
        self._under_way: dict[Packed, list[Packed]] = {}

    def take(self, fields: Sequence[Storage], depth: int) -> Packed:
        """Return messages for an exchange of `fields`, which have their values on one side."""
        kind = depth, len(fields), fields[0].dtype, side_of(fields)
        idle = self._idle.setdefault(kind, [])
        made = idle.pop() if idle else Packed(self._ranks, self._plan(depth), fields)
        self._under_way[made] = idle
        return made

    def put(self, packed: Packed) -> None:
        """Keep messages that are no longer under way."""
        self._under_way.pop(packed).append(packed)


def _parts(
    messages: Sequence[Message], arrays: Any, fields: int
) -> Iterator[tuple[Any, Any, Region]]:
    """Yield each region of each field with its part of the message, field after field."""
    for at, message in enumerate(messages):
        buffer, begin = arrays[f"message {at}"], 0
        for number in range(fields):
            for region in message.regions:
                end = begin + region.points
                yield buffer[begin:end], arrays[f"field {number}"], region
                begin = end


def _copy_own(array: Any, copied: Sequence[tuple[Region, Region]]) -> None:
    for source, target in copied:
        array[target.box] = array[source.box]


def _by_rank(messages: Sequence[Message], buffers: Sequence[Storage]) -> list[tuple[int, Storage]]:
    return [(message.rank, buffer) for message, buffer in zip(messages, buffers, strict=True)]
