"""Own what a storage says about its two sides in `__gt_data_interface__` (GDP-83 to GDP-85)."""

from __future__ import annotations

from typing import Any, Protocol

from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.gdp.backing import Backing
from psyclone_storage.storage.interop import gt
from psyclone_storage.storage.memory.queues import finish_all
from psyclone_storage.storage.memory.registry import memory_of


class Describable(Protocol):
    """What is asked of a storage."""

    @property
    def halo(self) -> gt.Halo:
        """Return the widths of the halo."""

    def window(self, space: MemorySpace) -> Any:
        """Return the array at `space`, valid or not."""


def described(
    storage: Describable, backing: Backing
) -> tuple[dict[str | None, dict[str, Any]], bool]:
    """Return the description of both sides, and whether it will be the same the next time.

    It will not where a stream stands in it: that is the one that the caller works on now.
    """
    found: dict[str | None, dict[str, Any]] = {}
    if backing.host is not None:
        found[None] = gt.described_host(storage.window(backing.host), storage.halo, backing)
    if backing.device is None:
        return found, True
    window = backing.lend(storage.window(backing.device))
    constant = backing.buffer is not None and backing.buffer.const
    found["gpu"] = gt.described_device(window, storage.halo, backing, constant=constant)
    memory = memory_of(backing.device)
    if memory.queues_work:
        found["gpu"]["acquire"] = backing.ready_on_device
    return found, not memory.has_current


def wait_for_queued(backing: Backing) -> None:
    """Wait for what a device has to do still: whoever takes an address works there at once."""
    if backing.device is not None and memory_of(backing.device).jobs:
        finish_all()
