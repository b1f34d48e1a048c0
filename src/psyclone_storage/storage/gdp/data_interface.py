"""The description of both sides of a storage in `__gt_data_interface__` (GDP-83 to GDP-85)."""

from __future__ import annotations

from typing import Any, Protocol

from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.gdp.shared_buffer import Backing
from psyclone_storage.storage.interop import gt
from psyclone_storage.storage.memory.queues import finish_all
from psyclone_storage.storage.memory.registry import memory_of


class Describable(Protocol):
    """The methods of a storage that its data interface needs."""

    @property
    def halo(self) -> gt.Halo:
        """Return the widths of the halo."""

    def window(self, space: MemorySpace) -> Any:
        """Return the array in `space`, whether its values are current or not."""


def described(
    storage: Describable, backing: Backing
) -> tuple[dict[str | None, dict[str, Any]], bool]:
    """Return the data interface of both sides, and whether it may be cached.

    A description that contains a stream may not be cached, because it contains the current stream
    of the caller.
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
    """Wait for pending device work: the receiver of an address may use it immediately."""
    if backing.device is not None and memory_of(backing.device).jobs:
        finish_all()
