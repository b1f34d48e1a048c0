"""The target of a view: a memory record, its user count, a layout and an offset.

A record is one replica of a buffer. All views of the replica share it, as they share the buffer's
validity, locks and statistics with every other facade. As long as a record exists, the memory does
not move, so addresses and arrays taken from views remain valid.
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
    """One replica of a buffer, used by views. Obtain records from `record_of`.

    `space` is where the memory is, which may be page-locked where a view says `HostSpace`. `lock`
    makes accesses of atomic views atomic.
    """

    __slots__ = ("buffer", "space", "allocation", "lock", "users", "_replica", "_pin", "_elements",
                 "__weakref__")  # fmt: skip

    def __init__(self, buffer: CoherentBuffer, replica: Incarnation) -> None:
        """Allocate the replica if it is not, and keep it in place."""
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
        """Return all elements of the replica as a flat array of the kind its memory hands out."""
        if self._elements is not None:
            return self._elements
        elements = self.window(WindowSpec(self.buffer.dtype, (self.buffer.size,)))
        # Managed memory waits for the device each time that a window is made.
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
        """Set all the elements of a window to `value`, where they are."""
        self._replica.memory.fill(self.allocation, spec, value)


_RECORDS: weakref.WeakValueDictionary[tuple[int, MemorySpace], Record] = (
    weakref.WeakValueDictionary()
)
_RECORDS_LOCK = FORKS.guard(threading.Lock(), Rank.FIRST_USE)


def record_of(buffer: CoherentBuffer, space: MemorySpace) -> Record:
    """Return the one record of the replica of `buffer` at `space`, so that its users add up."""
    with buffer.table.lock:
        replica = buffer.replicas.at(space)
    key = id(buffer), replica.space
    with _RECORDS_LOCK:
        found = _RECORDS.get(key)
        if found is None:
            found = _RECORDS[key] = Record(buffer, replica)
        return found


class ViewUse:
    """One more user of a record, until this object is destroyed (VIEW-75)."""

    __slots__ = ("_users",)

    def __init__(self, record: Record) -> None:
        """Begin to count.

        Appending to a list and popping from it are atomic; `__del__` may run at any moment, so that
        it must not take a lock.
        """
        self._users = record.users
        self._users.append(None)

    def __del__(self) -> None:
        self._users.pop()


class Handle(NamedTuple):
    """The run-time half of a view: the memory, the user that it counts as, and the positions.

    A view without memory has a `record` of None; one that does not count as a user (VIEW-11) has a
    `use` of None. `offset` is the position of the first element in the replica.
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
        """Return a handle that counts as a user."""
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
        """Return a handle that counts as a user of its own if type and source both count."""
        counts = self.use is not None and view_type.is_managed
        return self._replace(use=ViewUse(self.memory) if counts else None)

    def spec(self, dtype: np.dtype[Any], writable: bool) -> WindowSpec:
        """Return the window that shows the elements in their extents, or else all of the span."""
        layout, item = self.layout, dtype.itemsize
        if layout.strides is None:
            return WindowSpec(dtype, (layout.span(),), None, self.offset * item, writable)
        strides = tuple(stride * item for stride in layout.strides)
        return WindowSpec(dtype, layout.extents, strides, self.offset * item, writable)


class Viewed:
    """A view as far as its type and its handle go; `View` adds all that one can do with it."""

    __slots__ = ("type", "handle", "__weakref__")
    type: ViewType
    handle: Handle


class Pointer(int):
    """The address of an element, which also knows the memory it points into.

    That is what makes a view of a pointer safe: the memory stays, and what does not fit is refused.
    A null pointer is 0, with no memory.
    """

    record: Record | None
    offset: int

    def __new__(cls, record: Record | None, offset: int = 0) -> Pointer:
        """Point at element `offset` of the replica."""
        item = record.buffer.itemsize if record is not None else 0
        self = super().__new__(cls, record.allocation.pointer + offset * item if record else 0)
        self.record = record
        self.offset = offset
        return self

    def __repr__(self) -> str:
        return f"Pointer({int(self):#x})"
