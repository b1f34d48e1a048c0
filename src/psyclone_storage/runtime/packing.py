"""Device kernels for exchanges: one launch packs a message, one unpacks it.

A thread moves one value of one field. A table contains the positions of values; it is copied to the
device once for fields of equal layout. Regions of grids and dofs of meshes are thus handled alike.
CuPy runs the kernels on a GPU; for an emulated device, they are compiled as C. Values are moved as
integers of their size, independent of their type.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.binding import DeviceArray, arrays_on_device, located
from psyclone_storage.runtime.device import KernelLibrary
from psyclone_storage.storage import Storage, as_storage
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.memory.fp_errors import NativeCall

Array = np.ndarray[Any, Any]
Strides = tuple[tuple[int, ...], ...]

PACK, UNPACK, COPY = "psy_pack", "psy_unpack", "psy_copy"
_DONE: Mapping[str, str] = {
    PACK: "message[at] = field[entry[0] * {words} + word];",
    UNPACK: "field[entry[0] * {words} + word] = message[at];",
    COPY: "field[entry[0] * {words} + word] = field[entry[1] * {words} + word];",
}
_WORDS: Mapping[int, str] = {
    1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long",
}  # fmt: skip
_FIELDS = (4, 16, 64)
"""The numbers of fields for which kernels exist; more fields need several launches."""
_BLOCK = 128
_HEAD = """\
#ifndef PSY_ON_HOST
#define PSY_KERNEL extern "C" __global__
#endif
#ifdef __CUDACC_RTC__
typedef long long int64_t;
#else
#include <stdint.h>
#endif
#define restrict __restrict__
typedef {word} psy_word;
"""
_KERNEL = """
PSY_KERNEL void {name}_points(psy_word *restrict message, const int64_t *restrict table,
    {declared}, const int64_t fields, const int64_t threads)
{{
    const int64_t at = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
    if (at < threads) {{
        psy_word *const each[] = {{{names}}};
        const int64_t value = at / {words}, word = at % {words};
        int64_t which = 0;
        while (value >= table[2 * which])
            ++which;
        psy_word *const field = each[which];
        const int64_t *const entry =
            table + 2 * fields + {entries} * (value + table[2 * which + 1]);
        {done}
    }}
}}

#ifdef PSY_ON_HOST
void {name}(void *const *data, const double *reals, const int64_t *counts)
{{
    PSY_LAUNCH_LINE(counts[1],
        {name}_points(data[0], data[1], {passed}, counts[0], counts[1]));
}}
#endif
"""


def kernels_text(fields: int, itemsize: int) -> str:
    """Return the kernels for up to `fields` fields with values of `itemsize` bytes, as CUDA and C.

    Each kernel takes a table. It starts with two numbers for each field: the end of its values
    among those of all fields, and the difference between the number of an entry and that of its
    value. Then follow the entries: the position of each value in its field and, for a copy, also
    the position from which it is copied.
    """
    size = _word_of(itemsize)
    names = [f"field_{at}" for at in range(fields)]
    head = _HEAD.format(word=_WORDS[size])
    words = itemsize // size
    return head + "".join(
        _KERNEL.format(
            name=name,
            declared=", ".join(f"psy_word *{one}" for one in names),
            names=", ".join(names),
            passed=", ".join(f"data[{2 + at}]" for at in range(fields)),
            words=words,
            entries=_entries(name),
            done=done.format(words=words),
        )
        for name, done in _DONE.items()
    )


def _word_of(itemsize: int) -> int:
    """Return the size in bytes of the largest words into which values can be divided."""
    return next(size for size in sorted(_WORDS, reverse=True) if itemsize % size == 0)


def _entries(name: str) -> int:
    """Return the number of table entries for each value."""
    return 2 if name == COPY else 1


@dataclass(frozen=True)
class Strips:
    """The values of some fields that one launch moves, as indices into the array of each field.

    Indices have the shape (dimensions, values). The `message` contains the values of all fields,
    one field after the other. For a copy, `sources` are the indices of the source values instead.
    """

    message: Storage | None
    places: tuple[Array, ...]
    sources: tuple[Array, ...] = ()


class StripKernels:
    """The kernels for a number of fields of one data type, on a device."""

    def __init__(self, device: str, dtype: np.dtype[Any], fields: int) -> None:
        """Compile the kernels, or load them from the cache.

        Raises:
            NoCompilerError: the device is emulated, and there is no C compiler.
        """
        self._device, self._itemsize = device, dtype.itemsize
        self._words = dtype.itemsize // _word_of(dtype.itemsize)
        self._room = next((room for room in _FIELDS if fields <= room), _FIELDS[-1])
        library = _StripLibrary({"__c__": kernels_text(self._room, dtype.itemsize)})
        self._functions = {name: library.function(name, "") for name in _DONE}
        self._launches: dict[tuple[str, Strides], _StripLaunches] = {}

    def move(self, name: str, data: Sequence[Any], strips: Sequence[Strips]) -> None:
        """Execute `PACK`, `UNPACK` or `COPY` for the values of fields in `strips`.

        `data` are the fields; their values are in their `storage`. Calls with the same name must
        have the same strips. The device executes them in order; the host does not wait.
        """
        strides = tuple(datum.storage.strides for datum in data)
        known = self._launches.get((name, strides))
        if known is None:
            known = self._launches[name, strides] = self._prepared(name, strips, strides)
        if not known.launches:
            return
        function, block = self._functions[name], known.block
        with arrays_on_device(data, self._device, writes=name != PACK) as fields, block as arrays:
            found = known.located(arrays)
            for one in known.launches:
                each = [fields[at] for at in one.fields]
                work = NativeCall(function, *self._passed(one, found, each))
                uses = tuple(use for key in one.used for use in found[key].uses)
                block.start(work, uses, tuple(use for field in each for use in field.uses))

    def _passed(
        self, one: _StripLaunch, found: Mapping[str, DeviceArray], fields: Sequence[DeviceArray]
    ) -> tuple[Any, None, Any]:
        """Return the kernel arguments: the tables of addresses and of counts."""
        where = found[one.message].address + one.begin * self._itemsize if one.message else 0
        # A kernel accesses only the number of fields that it receives.
        unused = [0] * (self._room - len(fields))
        addresses = (where, found[one.table].address, *(one.address for one in fields), *unused)
        data = (ctypes.c_void_p * len(addresses))(*addresses)
        return data, None, (ctypes.c_int64 * 2)(len(fields), one.values * self._words)

    def _prepared(self, name: str, strips: Sequence[Strips], strides: Strides) -> _StripLaunches:
        """Return the launches for some strips, each for as many fields as a kernel can take."""
        found: list[_StripLaunch] = []
        for number, one in enumerate(strips):
            message, begin = "" if one.message is None else f"message {number}", 0
            for first in range(0, len(strides), self._room):
                numbers = range(first, min(first + self._room, len(strides)))
                table, values = self._table_of(one, numbers, strides)
                if values:
                    stored = as_storage(table, device=self._device, label=f"places for {name}")
                    label = f"table {len(found)}"
                    found.append(_StripLaunch(label, stored, numbers, message, begin, values))
                begin += values
        return _StripLaunches(found, self._block(name, strips, found))

    def _block(
        self, name: str, strips: Sequence[Strips], launches: Sequence[_StripLaunch]
    ) -> LaunchBlock:
        """Return a block that binds the messages and tables of some launches."""
        messages = {f"message {at}": strip.message for at, strip in enumerate(strips)
                    if strip.message is not None}  # fmt: skip
        tables = {one.table: one.entries for one in launches}
        writes = tuple(messages) if name == PACK else ()
        return LaunchBlock({**messages, **tables}, self._device, writes)

    def _table_of(self, strips: Strips, numbers: range, strides: Strides) -> tuple[Array, int]:
        """Return a table, and the number of its values.

        Fields of equal layout and indices share their entries.
        """
        known: dict[tuple[Any, ...], int] = {}
        heads: list[int] = []
        entries: list[Array] = []
        there = values = 0
        for number in numbers:
            places = (strips.places[number], *strips.sources[number : number + 1])
            key = (*map(id, places), strides[number])
            if key not in known:
                known[key] = there
                each = [self._offsets(one, strides[number]) for one in places]
                entries.append(np.stack(each, axis=1).ravel())
                there += places[0].shape[1]
            shift = known[key] - values
            values += places[0].shape[1]
            heads += [values, shift]
        return np.concatenate((np.array(heads, np.int64), *entries)), values

    def _offsets(self, indices: Array, strides: tuple[int, ...]) -> Array:
        """Return the offsets of values from the start of an array, in units of values."""
        found: Array = np.array(strides, np.int64) @ indices.astype(np.int64) // self._itemsize
        return found


@dataclass(frozen=True)
class _StripLaunch:
    """Arguments of one launch: values of some fields, from position `begin` in a message.

    Message and table are identified by their names in a block, fields by their positions. Without a
    message, values are copied.
    """

    table: str
    entries: Storage
    fields: range
    message: str
    begin: int
    values: int

    @property
    def used(self) -> tuple[str, ...]:
        """The data of the launch, by name."""
        return (self.table, self.message) if self.message else (self.table,)


class _StripLaunches:
    """Launches for fields of equal layout, and a block that binds their messages and tables."""

    def __init__(self, launches: Sequence[_StripLaunch], block: LaunchBlock) -> None:
        """Store the launches; the arrays of the block are located when it is entered."""
        self.launches, self.block = launches, block
        self._seen: Any = None
        self._located: dict[str, DeviceArray] = {}

    def located(self, arrays: Mapping[str, Any]) -> dict[str, DeviceArray]:
        """Return the locations of the arrays of the block by name, while it is entered."""
        # The block returns the same dictionary as long as all its arrays are the same.
        if arrays is not self._seen:
            self._located = dict(zip(arrays, located(self.block, arrays), strict=True))
            self._seen = arrays
        return self._located


class _StripLibrary(KernelLibrary):
    """The kernels for strips on a GPU; each thread moves one word."""

    def launches(self, kernel: Any, types: str, *launch: Any) -> Callable[..., None]:
        """Return a function that launches a kernel on a GPU."""

        def start(data: Any, _reals: Any, counts: Any) -> None:
            addresses = (np.uint64(one or 0) for one in data)
            passed = (*addresses, *map(np.int64, counts))
            kernel((-(-counts[1] // _BLOCK),), (_BLOCK,), passed)

        return start
