"""Selection of the device that provides the device memory spaces.

The selection comes from the environment variable `PSYCLONE_STORAGE_DEVICE` (`auto`, `cuda` or
`emulated`) or from `use_device`, which takes precedence. `auto`, the default, selects the GPU if
CuPy finds one; otherwise a request for a device raises an error that names the variable. The
selection applies to later allocations: existing device memory is not moved.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from functools import cache

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.storage.core.native import register, setting

VARIABLE = "PSYCLONE_STORAGE_DEVICE"
ORDER_VARIABLE = "PSYCLONE_STORAGE_QUEUES"
NODE_VARIABLE = "PSYCLONE_STORAGE_NODE"
DEFAULT_DEVICE_VARIABLE = "SCAI_DEVICE"


class DeviceKind(Enum):
    """The possible selections of a device."""

    AUTO = "auto"
    CUDA = "cuda"
    EMULATED = "emulated"


def _order_asked() -> str:
    return os.environ.get(ORDER_VARIABLE, "")


@dataclass(frozen=True, slots=True)
class Emulation:
    """The properties of emulated devices.

    There are `count` devices with separate pages. Each transfer takes `latency` seconds and then
    `bandwidth` bytes per second (None: as fast as the host copies). With `strict`, a device replica
    is filled with a poison pattern when it loses validity. With `peers`, two devices copy directly
    instead of through the host.

    Each device has a queue for kernels and one for copies in each direction. `order` controls when
    queued work runs: "late", only when a caller has to wait for it, "eager", immediately, or
    "shuffled", at random times; text after "shuffled" seeds the random choices. If an order is
    given, also by `PSYCLONE_STORAGE_QUEUES` in the environment, no access takes a fast path that
    bypasses the queues.
    """

    count: int = 2
    latency: float = 0.0
    bandwidth: float | None = None
    strict: bool = True
    peers: bool = False
    order: str = field(default_factory=_order_asked)

    @property
    def queue_order(self) -> str:
        """Return the order in which queued work runs."""
        return self.order or "late"

    def __post_init__(self) -> None:
        """Raise `ValueError` for invalid properties."""
        if self.order not in ("", "eager", "late") and not self.order.startswith("shuffled"):
            raise ValueError(
                f'The queues of an emulated device are "eager", "late" or "shuffled", or '
                f'"shuffled" with more text, not "{self.order}".'
            )
        if (
            self.count < 1
            or self.latency < 0.0
            or (self.bandwidth is not None and self.bandwidth <= 0.0)
        ):
            raise ValueError(
                f"An emulated machine needs at least one device, a latency of 0 s or more and a "
                f"positive bandwidth, not {self!r}."
            )


@dataclass(slots=True)
class _Selection:
    kind: DeviceKind | None = None
    emulation: Emulation = field(default_factory=Emulation)
    listeners: list[Callable[[], None]] = field(default_factory=list)


_SELECTION = _Selection()
register(timed=False)


def use_device(kind: DeviceKind | str, emulation: Emulation | None = None) -> None:
    """Select the device for all later allocations.

    `kind` is a `DeviceKind` or its name; `emulation` sets the properties of the emulated devices
    and is allowed only for that kind. Raises `ValueError` for an unknown name.
    """
    chosen = _parse(kind, "use_device()")
    if emulation is not None and chosen is not DeviceKind.EMULATED:
        raise ValueError(
            f'An emulation was given, but the device is "{chosen.value}": it needs "emulated".'
        )
    _SELECTION.kind = chosen
    if chosen is DeviceKind.EMULATED:
        _SELECTION.emulation = emulation or Emulation()
    emulated = _SELECTION.emulation
    register(timed=bool(emulated.latency or emulated.bandwidth))
    for listener in tuple(_SELECTION.listeners):
        listener()


def selected_device() -> DeviceKind:
    """Return the selection of `use_device`, else of the environment, else `AUTO`."""
    if _SELECTION.kind is not None:
        return _SELECTION.kind
    return _parse(os.environ.get(VARIABLE, "auto"), VARIABLE)


def current_emulation() -> Emulation:
    """Return the properties of the emulated devices."""
    return _SELECTION.emulation


def on_device_change(listener: Callable[[], None]) -> None:
    """Call `listener` after each `use_device`."""
    _SELECTION.listeners.append(listener)


@cache
def own_node() -> int:
    """Return the number of this process's node (ACC-10): `PSYCLONE_STORAGE_NODE`, else 0."""
    return int(os.environ.get(NODE_VARIABLE, "0"))


def default_device_id() -> int:
    """Return the number of the default device (HM-21, HM-22).

    `SCAI_DEVICE` is one number, or a list such as `1:2`. From a list, each process takes the entry
    with its node number, modulo the length of the list.
    """
    return device_in(setting(DEFAULT_DEVICE_VARIABLE, "0"))


@cache
def device_in(text: str) -> int:
    """Return the device number that a value of `SCAI_DEVICE` selects for this process."""
    parts = [part.strip() for part in text.split(":")]
    if not all(part.isdigit() for part in parts):
        raise ValueError(
            f'{DEFAULT_DEVICE_VARIABLE} is "{text}", but it must be one device number, or several '
            f'with ":" between them.'
        )
    return int(parts[own_node() % len(parts)])


def _parse(kind: DeviceKind | str, origin: str) -> DeviceKind:
    try:
        return DeviceKind(kind)
    except ValueError:
        names = ", ".join(f'"{member.value}"' for member in DeviceKind)
        raise ValueError(
            f'{origin} names the device "{kind}", but it must be one of {names}.'
        ) from None
