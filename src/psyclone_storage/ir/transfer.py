"""Statements that move data between the host and a device, or wait for what is under way.

Most of them are derived, as halo exchanges are: `coherence.transfers` says where they go.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Expr


class Side(Enum):
    """Side of a copy: host or device."""

    HOST = "host"
    DEVICE = "device"

    @property
    def other(self) -> Side:
        """The side that the data come from."""
        return Side.DEVICE if self is Side.HOST else Side.HOST


@dataclass(frozen=True, slots=True)
class EnterData:
    """Give a device copies of all that the invoke's regions take, of what it does not have yet.

    A script asks for it; `data`, the fields and operators, follow from the schedule. Grid
    properties, maps and the like are for the back end to add. A `queue` of 0 or more makes the
    copies happen while the host goes on.
    """

    uid: str
    data: tuple[str, ...] = ()
    queue: int = -1


@dataclass(frozen=True, slots=True)
class Update:
    """Make one side's copy of a field or operator equal to the other's.

    `component` counts from 1 in a field vector, of which each has copies of its own, else None.
    `guarded` means that the device may have no copy: then nothing happens. `reader` is the
    statement that needs it, `writer` the one that made the copy stale, empty if that happened
    outside the invoke. `pinned` marks one that a script has asked for.
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
    """Wait until the device has done all that was put into `queue`."""

    uid: str
    queue: int


@dataclass(frozen=True, slots=True)
class TaskWait:
    """Wait until the tasks that this thread has made are done."""

    uid: str


@dataclass(frozen=True, slots=True)
class Held:
    """Data that statements use: the name `array` for its values, and the object that `owns` them.

    Data that are `written` and not `covered` keep other values; covered data are written
    completely, so that their values need no transfer. `why` is a comment for readers. `meant` is
    the expected kind of the object, which the runtime checks.
    """

    array: str
    owner: Expr
    written: bool
    covered: bool = False
    why: str = ""
    meant: str = ""
