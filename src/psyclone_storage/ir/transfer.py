"""Statements that transfer data between host and device, or wait for asynchronous operations.

Most are derived automatically, like halo exchanges; `coherence.transfers` places them.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Expr


class Side(Enum):
    """Memory of a copy: host or device."""

    HOST = "host"
    DEVICE = "device"

    @property
    def other(self) -> Side:
        """The other side."""
        return Side.DEVICE if self is Side.HOST else Side.HOST


@dataclass(frozen=True, slots=True)
class EnterData:
    """Copies the data of the invoke's device regions to the device if they are not present.

    A script requests it. `data`, the fields and operators, follow from the schedule; the back end
    adds other data, such as maps. With `queue` >= 0, the copies are asynchronous.
    """

    uid: str
    data: tuple[str, ...] = ()
    queue: int = -1


@dataclass(frozen=True, slots=True)
class Update:
    """Copies a field or operator to the side `to` from the other side.

    `component` counts from 1 in a field vector, otherwise it equals None. With `guarded`, nothing
    happens if the device has no copy. `reader` is the statement that needs the copy; `writer` made
    it stale, or is empty if that happened outside the invoke. `pinned` marks an update that a
    script requested.
    """

    uid: str
    datum: str
    component: int | None
    to: Side
    guarded: bool
    pinned: bool = False
    reader: str = field(default="", compare=False)
    writer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits for all operations in the device queue `queue`."""

    uid: str
    queue: int


@dataclass(frozen=True, slots=True)
class TaskWait:
    """Waits for the tasks that this thread has created."""

    uid: str


@dataclass(frozen=True, slots=True)
class Held:
    """Data that statements use: `array` is the name of the values, `owner` the object with them.

    Data that are `written` but not `covered` keep other values. Covered data are overwritten
    completely and need no transfer. Data that are `moved` are read, and their halo is exchanged to
    that depth if it is dirty. `why` is a comment. `meant` is the expected kind of object, which the
    runtime checks.
    """

    array: str
    owner: Expr
    written: bool
    covered: bool = False
    why: str = ""
    meant: str = ""
    moved: int = 0
