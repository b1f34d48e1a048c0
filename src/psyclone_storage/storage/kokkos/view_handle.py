"""The memory of a view: a record, its user count, a layout and an offset.

A record is one replica of a buffer. All views of the replica share it; validity, locks and
statistics belong to the buffer, which other facades share. As long as a record exists, the memory
does not move, so addresses and arrays taken from views remain valid.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.core.allocation import Allocation, WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import MemoryException
from psyclone_storage.storage.core.forking import FORKS, Rank
from psyclone_storage.storage.core.incarnation import Incarnation
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind
from psyclone_storage.storage.kokkos.view_layout import LayoutStride, ViewLayout
from psyclone_storage.storage.kokkos.view_type import ViewType


class Record:
    """One replica of a buffer, used by views; create records with `record_of`.

    `space` is the space of the memory; it may be page-locked even if the view's space is
    `HostSpace`. `lock` makes accesses of atomic views atomic.
    """

    __slots__ = ("buffer", "space", "allocation", "lock", "users", "_replica", "_pin", "_elements",
                 "__weakref__")  # fmt: skip

    def __init__(self, buffer: CoherentBuffer, replica: Incarnation) -> None:
        """Allocate the replica if necessary, and prevent it from being moved."""
        self.buffer = buffer
        self._pin = buffer.pin()
        self._replica = replica
        with buffer.table.lock:
            buffer.replicas.allocate(replica)
        self.space = replica.space
        self.allocation: Allocation = self._replica.allocation_there()
        self.allocation.lent = True
        self.lock = FORKS.guard(threading.RLock(), Rank.CONTEXT)
        self.users: list[None] = []
        self._elements: Any = None

    @property
    def elements(self) -> Any:
        """Return all elements of the replica as a flat array in its memory space."""
        if self._elements is not None:
            return self._elements
        elements = self.window(WindowSpec(self.buffer.dtype, (self.buffer.size,)))
        # In managed memory, each call of `window` must wait for the device.
        if self.space.kind is not SpaceKind.MANAGED:
            self._elements = elements
        return elements

    @property
    def read_only(self) -> bool:
        """Return whether the memory is read-only."""
        return self.buffer.const or not self.allocation.writable

    def window(self, spec: WindowSpec) -> Any:
        """Return a typed array over the memory."""
        return self._replica.memory.window(self.allocation, spec)

    def fill(self, spec: WindowSpec, value: Any) -> None:
        """Set all elements of a window to `value`, in the memory space of the record."""
        self._replica.memory.fill(self.allocation, spec, value)


_RECORDS: weakref.WeakValueDictionary[tuple[int, MemorySpace], Record] = (
    weakref.WeakValueDictionary()
)
_RECORDS_LOCK = FORKS.guard(threading.Lock(), Rank.FIRST_USE)


def record_of(buffer: CoherentBuffer, space: MemorySpace) -> Record:
    """Return the record of the replica of `buffer` in `space`, the same one in each call."""
    with buffer.table.lock:
        replica = buffer.replicas.at(space)
    key = id(buffer), replica.space
    with _RECORDS_LOCK:
        found = _RECORDS.get(key)
        if found is None:
            found = _RECORDS[key] = Record(buffer, replica)
        return found


class ViewUse:
    """A reference count of a record; the object's destruction ends the use (VIEW-75)."""

    __slots__ = ("_users",)

    def __init__(self, record: Record) -> None:
        """Add one user.

        Appending to a list and popping from it are atomic. `__del__` may run at any time and
        therefore must not take a lock.
        """
        self._users = record.users
        self._users.append(None)

    def __del__(self) -> None:
        self._users.pop()


class Handle(NamedTuple):
    """The run-time state of a view: memory, use count, layout and offset.

    A view without memory has a `record` of None; a view that does not count as a user (VIEW-11) has
    a `use` of None. `offset` is the position of the first element in the replica.
    """

    record: Record | None
    use: ViewUse | None
    layout: ViewLayout
    offset: int = 0

    @classmethod
    def null(cls, view_type: ViewType) -> Handle:
        """Return the handle of a view without memory (VIEW-45)."""
        extents = view_type.data_type.completed((0,) * view_type.data_type.rank_dynamic)
        if view_type.array_layout.is_regular:
            return cls(None, None, view_type.regular_layout(extents))
        return cls(None, None, LayoutStride(extents, (0,) * len(extents)))

    @classmethod
    def counted(cls, record: Record, layout: ViewLayout, offset: int = 0) -> Handle:
        """Return a handle that counts as a user of `record`."""
        return cls(record, ViewUse(record), layout, offset)

    @property
    def label(self) -> str:
        """Return the label of the memory."""
        return self.record.buffer.label if self.record is not None else ""

    @property
    def memory(self) -> Record:
        """Return the record; raise `MemoryException` for a view without memory."""
        if self.record is None:
            raise MemoryException(
                "A view without memory cannot be used: construct it with a label and extents."
            )
        return self.record

    def with_layout(self, layout: ViewLayout) -> Handle:
        """Return a handle on the same memory with another layout."""
        return self._replace(layout=layout)

    def counted_for(self, view_type: ViewType) -> Handle:
        """Return a handle that counts as a user if this one does and `view_type` is managed."""
        counts = self.use is not None and view_type.is_managed
        return self._replace(use=ViewUse(self.memory) if counts else None)

    def spec(self, dtype: np.dtype[Any], writable: bool) -> WindowSpec:
        """Return dtype, shape and strides of the elements; without strides, a flat window."""
        layout, item = self.layout, dtype.itemsize
        if layout.strides is None:
            return WindowSpec(dtype, (layout.span(),), None, self.offset * item, writable)
        strides = tuple(stride * item for stride in layout.strides)
        return WindowSpec(dtype, layout.extents, strides, self.offset * item, writable)


class Viewed:
    """The base class of `View`: only its type and its handle."""

    __slots__ = ("type", "handle", "__weakref__")
    type: ViewType
    handle: Handle


class Pointer(int):
    """The address of an element, with a reference to its memory record.

    The record keeps the memory alive and allows bounds checks when a view is created from the
    pointer. A null pointer is 0, without a record.
    """

    record: Record | None
    offset: int

    def __new__(cls, record: Record | None, offset: int = 0) -> Pointer:
        """Point to element `offset` of the replica."""
        item = record.buffer.itemsize if record is not None else 0
        self = super().__new__(cls, record.allocation.pointer + offset * item if record else 0)
        self.record = record
        self.offset = offset
        return self

    def __repr__(self) -> str:
        return f"Pointer({int(self):#x})"
