"""Own the wishes about where data should live; refuse to act on them (the buffer does)."""

from __future__ import annotations

from dataclasses import dataclass

from psyclone_storage.storage.spaces import MemorySpace


@dataclass(frozen=True, slots=True)
class Hints:
    """State how the data will be used.

    - `read_mostly` (ACC-5): readers far outnumber writers, so copies are kept up to date when a write is released.
    - `preferred` (ACC-6): spaces that must hold the point of truth; the first one pulls it in when a write elsewhere is
      released. Empty means unconstrained.
    - `access_via` (ACC-7): space that will read the data; a copy is prefetched there when a write is released.
    - `pinned` (HM-80): the host replica lives in page-locked memory.
    - `managed`: one replica in memory shared by host and devices (GDP-128).
    - `first_touch` (HM-81): space where the data are touched first, which also chooses page-locked host memory if it is
      a device.
    - `delayed`: nothing is allocated before the first access (spec 3A, field_api).
    """

    read_mostly: bool = False
    preferred: tuple[MemorySpace, ...] = ()
    access_via: MemorySpace | None = None
    pinned: bool = False
    managed: bool = False
    first_touch: MemorySpace | None = None
    delayed: bool = True
