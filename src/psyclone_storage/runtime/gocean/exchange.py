"""Exchange of halo points between ranks: in place, or packed into messages.

Fields with current values on the host are exchanged in place: MPI reads and writes their points
with derived data types. Fields on a device are packed by device kernels, so that only the messages
leave the device. Exchanges with separate start and finish are packed, too. Several fields share one
message for each neighbour.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import Any

import numpy as np

from psyclone_storage.runtime.binding import INNERMOST, arrays_on_host, held_arrays, side_of
from psyclone_storage.runtime.gocean.halo_plan import ExchangePattern, Message
from psyclone_storage.runtime.gocean.region import Region
from psyclone_storage.runtime.messages import PackedMessages
from psyclone_storage.runtime.packing import COPY, PACK, UNPACK, Array, StripKernels, Strips
from psyclone_storage.runtime.ranks import PersistentExchange, Ranks
from psyclone_storage.storage import RDWR, Storage, empty

_LAYER = 2
"""The dimension of the layers in arrays with layers."""


def update_halos(fields: Sequence[Any], depth: int) -> None:
    """Exchange the halos of fields; an invoke that has acquired them caches their exchanges.

    Raises:
        RuntimeError: an exchange of a field is not finished.
    """
    for field in fields:
        if field.waiting is not None or field.under_way is not None:
            field.check_idle()
    holder = INNERMOST.holder
    key = (depth, *map(id, fields))
    known = None if holder is None else holder.exchanges.get(key)
    if known is None:
        groups = [fields] if len(fields) == 1 else _together(fields)
        found = [_exchange_together(group, depth) for group in groups]
        if holder is not None and None not in found:
            holder.exchanges[key] = [one for one in found if one is not None]
        return
    for in_place, arrays in known:
        in_place.run(arrays)
    for field in fields:
        field.set_clean(depth)


def _exchange_together(group: Sequence[Any], depth: int) -> tuple[InPlace, Sequence[Any]] | None:
    """Exchange the halos of fields with one grid and one data type.

    Return the exchange and its arrays if the next call in the same block may repeat it.
    """
    grid = group[0].grid
    reflects = grid.has_walls and any(grid.reflections(one.points, depth) for one in group)
    repeated = None
    # Without an exchange, an access would mark the values as changed.
    if not grid.plan(depth).is_empty or reflects:
        arrays = held_arrays(group)
        if arrays is not None:
            in_place = _exchange_on_host(group, arrays, depth)
            repeated = None if reflects or in_place is None else (in_place, arrays)
        elif side_of(group) is None:
            with arrays_on_host(group, writes=True) as arrays:
                _exchange_on_host(group, arrays, depth)
        else:
            packed = grid.messages.take(group, depth)
            packed.start(group)
            packed.finish(group)
            grid.messages.put(packed)
            for field in group if reflects else ():
                with field.storage.access(field.storage.device, RDWR) as array:
                    field.reflect(array, depth)
    for field in group:
        field.set_clean(depth)
    return repeated


def _exchange_on_host(group: Sequence[Any], arrays: Sequence[Any], depth: int) -> InPlace | None:
    """Exchange halos in host arrays, then set the points beyond closed boundaries."""
    grid = group[0].grid
    in_place = None
    if not grid.plan(depth).is_empty:
        in_place = group[0].in_place(group[1:], depth)
        in_place.run(arrays)
    if grid.has_walls:
        for field, array in zip(group, arrays, strict=True):
            field.reflect(array, depth)
    return in_place


def _together(fields: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield groups of fields that can share messages: with one grid, data type and layer count.

    All ranks form the same groups. The location of values (host or device) is ignored, because
    other ranks do not know it.
    """
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for field in dict.fromkeys(fields):
        key = id(field.grid), field.storage.dtype, field.layers
        groups.setdefault(key, []).append(field)
    yield from groups.values()


class InPlace:
    """The in-place exchange of some fields in host memory.

    The fields share one message for each neighbour.
    """

    def __init__(self, ranks: Ranks, plan: ExchangePattern) -> None:
        """Start without messages; the first exchange creates them for its arrays."""
        self.watched: list[weakref.ref[Any]] = []
        self._ranks, self._plan = ranks, plan
        self._arrays: tuple[Any, ...] = ()
        self._copied: list[tuple[Any, Any]] = []
        self._messages: PersistentExchange | None = None

    def run(self, arrays: Sequence[Any]) -> None:
        """Update the halos in `arrays`, which no other code may use at the same time."""
        messages = self._messages
        if arrays is not self._arrays or messages is None:
            messages = self._prepared(tuple(arrays))
        try:
            messages.start()
            for target, source in self._copied:
                target[...] = source
        finally:
            messages.finish()

    def _prepared(self, arrays: tuple[Any, ...]) -> PersistentExchange:
        """Return messages for arrays that may differ from those of the last exchange."""
        last, messages = self._arrays, self._messages
        if messages is None or not all(map(is_, arrays, last)):
            self._messages = None
            received, sent = (
                [(one.rank, arrays, [region.box for region in one.regions]) for one in several]
                for several in (self._plan.received, self._plan.sent)
            )
            messages = self._ranks.prepare(received, sent)
            self._copied = [
                (array[target.box], array[source.box])
                for array in arrays
                for source, target in self._plan.copied
            ]
        self._arrays, self._messages = arrays, messages
        return messages


class Packed:
    """Packed messages for several fields of one data type, all on the host or all on a device.

    They are reused by the next exchange of as many fields.
    """

    def __init__(self, ranks: Ranks, plan: ExchangePattern, like: Sequence[Any]) -> None:
        """Create messages for fields such as `like`."""
        self._plan = plan
        side = side_of(like)
        self._kernels: _OnDevice | None = None
        self._messages: PersistentExchange
        if side is not None:
            storages = [field.storage for field in like]
            self._kernels = _OnDevice(side, plan, storages)
            self._messages = self._kernels.messages(ranks)
            return
        dtype, count = like[0].storage.dtype, len(like) * (like[0].layers or 1)
        self._received, self._sent = (
            [np.empty(message.points * count, dtype) for message in messages]
            for messages in (plan.received, plan.sent)
        )
        self._messages = ranks.prepare(
            [
                (one.rank, (array,), ())
                for one, array in zip(plan.received, self._received, strict=True)
            ],
            [(one.rank, (array,), ()) for one, array in zip(plan.sent, self._sent, strict=True)],
        )

    def start(self, fields: Sequence[Any]) -> None:
        """Send the values that other ranks need; the halos may not be used until `finish`."""
        plan = self._plan
        if self._kernels is not None:
            self._kernels.pack(fields)
        else:
            with arrays_on_host(fields, writes=bool(plan.copied)) as arrays:
                for part, array, region in _parts(plan.sent, self._sent, arrays):
                    part[...] = array[region.box].ravel(order="F")
                for array in arrays:
                    for source, target in plan.copied:
                        array[target.box] = array[source.box]
        self._messages.start()

    def finish(self, fields: Sequence[Any]) -> None:
        """Write the values received from other ranks to the halos."""
        self._messages.finish()
        if self._kernels is not None:
            self._kernels.unpack(fields)
        elif self._received:
            with arrays_on_host(fields, writes=True) as arrays:
                for part, array, region in _parts(self._plan.received, self._received, arrays):
                    shape = *region.shape, *array.shape[len(region.shape) :]
                    array[region.box] = part.reshape(shape, order="F")


class _OnDevice:
    """Packing of the messages of some fields by device kernels."""

    def __init__(self, device: str, plan: ExchangePattern, like: Sequence[Storage]) -> None:
        """Create the messages, and the tables of the points that they contain."""
        count, dtype = len(like), like[0].dtype
        self._layers = like[0].shape[_LAYER:]
        self._device, self._plan = device, plan
        self._kernels = StripKernels(device, dtype, count)
        self._sent, self._received = (
            [_strips(one, device, dtype, (count, self._layers)) for one in messages]
            for messages in (plan.sent, plan.received)
        )
        targets, sources = ([pair[at] for pair in plan.copied] for at in (1, 0))
        self._copied = [
            Strips(
                None,
                (_points_of(targets, self._layers),) * count,
                (_points_of(sources, self._layers),) * count,
            )
        ]

    def messages(self, ranks: Ranks) -> PersistentExchange:
        """Return the persistent MPI exchange for the messages of this halo exchange."""
        return PackedMessages(
            ranks,
            _by_rank(self._plan.received, self._received),
            _by_rank(self._plan.sent, self._sent),
            self._device,
        )

    def pack(self, fields: Sequence[Any]) -> None:
        """Pack the messages to send, and copy this rank's own points to its halo."""
        self._kernels.move(PACK, fields, self._sent)
        self._kernels.move(COPY, fields, self._copied)

    def unpack(self, fields: Sequence[Any]) -> None:
        """Write the received messages to the halo."""
        self._kernels.move(UNPACK, fields, self._received)


def _strips(
    message: Message, device: str, dtype: Any, counts: tuple[int, tuple[int, ...]]
) -> Strips:
    """Return the strips of a message; `counts` are the number of fields and their layers."""
    count, layers = counts
    places = _points_of(message.regions, layers)
    label = f"message with rank {message.rank}"
    made = empty((places.shape[1] * count,), dtype, device=device, label=label)
    return Strips(made, (places,) * count)


def _by_rank(messages: Sequence[Message], strips: Sequence[Strips]) -> list[tuple[int, Storage]]:
    pairs = zip(messages, strips, strict=True)
    return [(one.rank, strip.message) for one, strip in pairs if strip.message is not None]


def _points_of(regions: Sequence[Region], layers: tuple[int, ...]) -> Array:
    """Return the indices of the values in some regions.

    The layers of a point are consecutive, followed by those of the next point in x.
    """
    found = [np.empty((2 + len(layers), 0), np.int64)]
    for region in regions:
        x, y = (np.arange(one.start, one.stop) for one in region.box)
        y_first = np.meshgrid(y, x, *map(np.arange, layers), indexing="ij")
        rows, columns, *others = (one.ravel() for one in y_first)
        found.append(np.stack((columns, rows, *others)))
    return np.concatenate(found, axis=1)


class MessagePool:
    """A pool of messages, which finished exchanges return and new ones reuse."""

    def __init__(self, ranks: Ranks, plan: Callable[[int], ExchangePattern]) -> None:
        self._ranks = ranks
        self._plan = plan
        self._idle: dict[tuple[Any, ...], list[Packed]] = {}
        self._under_way: dict[Packed, list[Packed]] = {}

    def take(self, fields: Sequence[Any], depth: int) -> Packed:
        """Return messages for an exchange of `fields`, whose values are all on one side."""
        kind = depth, len(fields), fields[0].storage.dtype, fields[0].layers, side_of(fields)
        idle = self._idle.setdefault(kind, [])
        made = idle.pop() if idle else Packed(self._ranks, self._plan(depth), fields)
        self._under_way[made] = idle
        return made

    def put(self, packed: Packed) -> None:
        """Return messages to the pool after an exchange."""
        self._under_way.pop(packed).append(packed)


def _parts(
    messages: Sequence[Message], buffers: Sequence[Array], arrays: Sequence[Array]
) -> Iterator[tuple[Array, Array, Region]]:
    """Yield each region of each array with its part of a message, array after array."""
    for message, buffer in zip(messages, buffers, strict=True):
        begin = 0
        for array in arrays:
            for region in message.regions:
                end = begin + region.points * math.prod(array.shape[_LAYER:])
                yield buffer[begin:end], array, region
                begin = end
