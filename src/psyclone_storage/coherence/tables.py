"""Coherence tables: the effect of each event on a replica.

A field has replicas in halos of other ranks and in other memory spaces. The planners use these
tables (`solver`). The checkers, the storage runtime and the Fortran library have independent
implementations, so that they can check each other; `tests/theory` applies every row to each of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

# ---------------------------------------------------------------------------- copies in a halo


class Copy(Enum):
    """State of a rank's copy of dofs owned by another rank."""

    NEVER_FILLED = "never filled"
    STALE = "stale"
    CLEAN = "clean"


class HaloEvent(Enum):
    """Event on the copies in one halo level or in the annexed dofs."""

    READ = "it is read"
    OWNERS_WRITE = "owners write, and nobody else does"
    ALL_WRITE = "owners write, and here the same is computed"
    ALL_ADD = "owners add, and here all parts are added"
    SOME_ADD = "owners add, and here some parts are added"
    EXCHANGE = "an exchange reaches it"
    SHORT_EXCHANGE = "an exchange ends before it"
    FILL = "some number is put there"


_NEVER, _STALE, _CLEAN = Copy.NEVER_FILLED, Copy.STALE, Copy.CLEAN

HALO: Mapping[tuple[HaloEvent, Copy], Copy | None] = {
    (HaloEvent.READ, _NEVER): None,
    (HaloEvent.READ, _STALE): None,
    (HaloEvent.READ, _CLEAN): _CLEAN,
    (HaloEvent.OWNERS_WRITE, _NEVER): _NEVER,
    (HaloEvent.OWNERS_WRITE, _STALE): _STALE,
    (HaloEvent.OWNERS_WRITE, _CLEAN): _STALE,
    (HaloEvent.ALL_WRITE, _NEVER): _CLEAN,
    (HaloEvent.ALL_WRITE, _STALE): _CLEAN,
    (HaloEvent.ALL_WRITE, _CLEAN): _CLEAN,
    (HaloEvent.ALL_ADD, _NEVER): None,
    (HaloEvent.ALL_ADD, _STALE): _STALE,
    (HaloEvent.ALL_ADD, _CLEAN): _CLEAN,
    (HaloEvent.SOME_ADD, _NEVER): None,
    (HaloEvent.SOME_ADD, _STALE): _STALE,
    (HaloEvent.SOME_ADD, _CLEAN): _STALE,
    (HaloEvent.EXCHANGE, _NEVER): _CLEAN,
    (HaloEvent.EXCHANGE, _STALE): _CLEAN,
    (HaloEvent.EXCHANGE, _CLEAN): _CLEAN,
    (HaloEvent.SHORT_EXCHANGE, _NEVER): _NEVER,
    (HaloEvent.SHORT_EXCHANGE, _STALE): _STALE,
    (HaloEvent.SHORT_EXCHANGE, _CLEAN): _CLEAN,
    (HaloEvent.FILL, _NEVER): _STALE,
    (HaloEvent.FILL, _STALE): _STALE,
    (HaloEvent.FILL, _CLEAN): _STALE,
}
"""The state of a copy after an event, by the state before; None if the event is not allowed."""

# ---------------------------------------------------------------------------- copies in memory


class Holders(Enum):
    """The memory spaces, of two, with valid values, seen from the space of the event."""

    NONE = "none"
    HERE = "here"
    THERE = "there"
    BOTH = "both"


class MemoryEvent(Enum):
    """Event in one of two memory spaces."""

    READ = "read access"
    WRITE = "write access"
    READ_WRITE = "access to read and write"
    TOUCH = "values declared new"
    EXCHANGE = "halo exchange"
    DROP = "replica given up"
    FAILED_WRITE = "write access that fails"
    FAILED_READ_WRITE = "access to read and write that fails"


class MemoryOutcome(NamedTuple):
    """Outcome of an event: the valid spaces, the number of transfers, and usability.

    `holders` equals None if the event is rejected. Values of a failed write are unusable until all
    are overwritten.
    """

    holders: Holders | None
    transfers: int = 0
    usable: bool = True


_NONE, _HERE, _THERE, _BOTH = Holders.NONE, Holders.HERE, Holders.THERE, Holders.BOTH

MEMORY: Mapping[tuple[MemoryEvent, Holders], MemoryOutcome] = {
    (MemoryEvent.READ, _NONE): MemoryOutcome(_NONE),
    (MemoryEvent.READ, _HERE): MemoryOutcome(_HERE),
    (MemoryEvent.READ, _THERE): MemoryOutcome(_BOTH, 1),
    (MemoryEvent.READ, _BOTH): MemoryOutcome(_BOTH),
    (MemoryEvent.WRITE, _NONE): MemoryOutcome(_HERE),
    (MemoryEvent.WRITE, _HERE): MemoryOutcome(_HERE),
    (MemoryEvent.WRITE, _THERE): MemoryOutcome(_HERE),
    (MemoryEvent.WRITE, _BOTH): MemoryOutcome(_HERE),
    (MemoryEvent.READ_WRITE, _NONE): MemoryOutcome(_HERE),
    (MemoryEvent.READ_WRITE, _HERE): MemoryOutcome(_HERE),
    (MemoryEvent.READ_WRITE, _THERE): MemoryOutcome(_HERE, 1),
    (MemoryEvent.READ_WRITE, _BOTH): MemoryOutcome(_HERE),
    (MemoryEvent.TOUCH, _NONE): MemoryOutcome(_HERE),
    (MemoryEvent.TOUCH, _HERE): MemoryOutcome(_HERE),
    (MemoryEvent.TOUCH, _THERE): MemoryOutcome(_HERE),
    (MemoryEvent.TOUCH, _BOTH): MemoryOutcome(_HERE),
    (MemoryEvent.EXCHANGE, _NONE): MemoryOutcome(_HERE),
    (MemoryEvent.EXCHANGE, _HERE): MemoryOutcome(_HERE),
    (MemoryEvent.EXCHANGE, _THERE): MemoryOutcome(_HERE, 1),
    (MemoryEvent.EXCHANGE, _BOTH): MemoryOutcome(_HERE),
    (MemoryEvent.DROP, _NONE): MemoryOutcome(_NONE),
    (MemoryEvent.DROP, _HERE): MemoryOutcome(None),
    (MemoryEvent.DROP, _THERE): MemoryOutcome(_THERE),
    (MemoryEvent.DROP, _BOTH): MemoryOutcome(_THERE),
    (MemoryEvent.FAILED_WRITE, _NONE): MemoryOutcome(_HERE, usable=False),
    (MemoryEvent.FAILED_WRITE, _HERE): MemoryOutcome(_HERE, usable=False),
    (MemoryEvent.FAILED_WRITE, _THERE): MemoryOutcome(_HERE, usable=False),
    (MemoryEvent.FAILED_WRITE, _BOTH): MemoryOutcome(_HERE, usable=False),
    (MemoryEvent.FAILED_READ_WRITE, _NONE): MemoryOutcome(_HERE, usable=False),
    (MemoryEvent.FAILED_READ_WRITE, _HERE): MemoryOutcome(_HERE, usable=False),
    (MemoryEvent.FAILED_READ_WRITE, _THERE): MemoryOutcome(_HERE, 1, usable=False),
    (MemoryEvent.FAILED_READ_WRITE, _BOTH): MemoryOutcome(_HERE, usable=False),
}
"""The outcome of an event in one space, by the spaces that had the current values before."""

# ---------------------------------------------------------------------------- parts of copies


class PartEvent(Enum):
    """Event on a part of the values in one of two memory spaces."""

    READ = "read access to parts"
    WRITE = "write access to parts"
    READ_WRITE = "access to read and write parts"
    EXCHANGE = "halo exchange by strips"


PARTS: Mapping[tuple[PartEvent, Holders], MemoryOutcome] = {
    (PartEvent.READ, _NONE): MemoryOutcome(_NONE),
    (PartEvent.READ, _HERE): MemoryOutcome(_HERE),
    (PartEvent.READ, _THERE): MemoryOutcome(_THERE, 1),
    (PartEvent.READ, _BOTH): MemoryOutcome(_BOTH),
    (PartEvent.WRITE, _NONE): MemoryOutcome(_HERE),
    (PartEvent.WRITE, _HERE): MemoryOutcome(_HERE),
    (PartEvent.WRITE, _THERE): MemoryOutcome(_THERE, 1),
    (PartEvent.WRITE, _BOTH): MemoryOutcome(_BOTH, 1),
    (PartEvent.READ_WRITE, _NONE): MemoryOutcome(_HERE),
    (PartEvent.READ_WRITE, _HERE): MemoryOutcome(_HERE),
    (PartEvent.READ_WRITE, _THERE): MemoryOutcome(_THERE, 2),
    (PartEvent.READ_WRITE, _BOTH): MemoryOutcome(_BOTH, 1),
    (PartEvent.EXCHANGE, _NONE): MemoryOutcome(_HERE),
    (PartEvent.EXCHANGE, _HERE): MemoryOutcome(_HERE),
    (PartEvent.EXCHANGE, _THERE): MemoryOutcome(_THERE, 2),
    (PartEvent.EXCHANGE, _BOTH): MemoryOutcome(_BOTH, 1),
}
"""The outcome of an event, all of whose transfers are of parts.

A space that has the current values keeps them: what was written goes to the other space, if that
was current. The Fortran library follows this; buffers in Python divide into chunks, which have a
state each.
"""
