"""Hints about the placement of data in memory spaces."""

from __future__ import annotations

from typing import Any, Protocol

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.storage.core.spaces import MemorySpace


@dataclass(frozen=True, slots=True)
class Hints:
    """The expected use of the data.

    - `read_mostly` (ACC-5): reads are much more frequent than writes; the end of a write updates
      all existing copies.
    - `preferred` (ACC-6): the spaces for the current values, to which they are transferred at the
      end of a write elsewhere. Several spaces share the chunks; by default, there is no preference.
    - `access_via` (ACC-7): a space that will read the data; it receives a copy at the end of a
      write.
    - `pinned` (HM-80): the host replica is in page-locked memory.
    - `managed`: there is one replica, in memory shared by host and devices (GDP-128).
    - `first_touch` (HM-81): the space where the data are used first; if it is a device, the host
      replica is page-locked.
    - `host_follows_device`: the first use counts as the first touch, as in HMemo (HM-81).
    - `delayed`: no memory is allocated before the first access.
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
    """Whether a new buffer creates a replica immediately."""

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
        """Return the initial value of elements that are not yet written; None for undefined."""

    @property
    def alignment(self) -> int:
        """Return the alignment of each replica in bytes."""
