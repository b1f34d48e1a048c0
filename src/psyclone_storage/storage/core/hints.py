"""Hints about the placement of data; the buffer acts on them."""

from __future__ import annotations

from typing import Any, Protocol

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.storage.core.spaces import MemorySpace


@dataclass(frozen=True, slots=True)
class Hints:
    """Expected use of the data.

    - `read_mostly` (ACC-5): readers far outnumber writers, so that existing copies are brought up
      to date as soon as a write is released.
    - `preferred` (ACC-6): the spaces that must hold the point of truth, which they pull in when a
      write elsewhere is released; several of them share the chunks out. Empty is unconstrained.
    - `access_via` (ACC-7): the space that will read the data; it gets a copy when a write is
      released.
    - `pinned` (HM-80): the host replica lives in page-locked memory.
    - `managed`: one replica in memory shared by host and devices (GDP-128).
    - `first_touch` (HM-81): the space where the data are touched first; if it is a device, the host
      replica is page-locked.
    - `host_follows_device`: the first use counts as the first touch, as HMemo has it (HM-81).
    - `delayed`: nothing is allocated before the first access (spec 3A, field_api).
    """

    read_mostly: bool = False
    preferred: tuple[MemorySpace, ...] = ()
    access_via: MemorySpace | None = None
    pinned: bool = False
    managed: bool = False
    first_touch: MemorySpace | None = None
    host_follows_device: bool = False
    delayed: bool = True
    follows_writes: bool = field(init=False, repr=False, compare=False)
    """Whether the end of an access may start transfers."""
    begins_somewhere: bool = field(init=False, repr=False, compare=False)
    """Whether a new buffer knows a place at once."""

    def __post_init__(self) -> None:
        """Derive the flags that each new buffer checks."""
        follows = bool(self.preferred or self.access_via or self.read_mostly)
        object.__setattr__(self, "follows_writes", follows)
        begins = self.first_touch is not None or not self.delayed
        object.__setattr__(self, "begins_somewhere", begins)


class ReplicaOptions(Protocol):
    """The options of a buffer that its replicas need."""

    @property
    def label(self) -> str:
        """Return the name for messages and statistics."""

    @property
    def hints(self) -> Hints:
        """Return the hints about the placement of data."""

    @property
    def const(self) -> bool:
        """Return whether the data are read-only."""

    @property
    def init(self) -> Any:
        """Return the initial value of elements that are not yet written, None for no value."""

    @property
    def alignment(self) -> int:
        """Return the alignment of each replica in bytes."""
