"""`initialize`, `fence` and `finalize`, for programs written for Kokkos."""

from __future__ import annotations

from collections.abc import Sequence

from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.memory.registry import device_count


def initialize(arguments: Sequence[str] = ()) -> list[str]:
    """Return the command-line arguments without those for Kokkos (`--kokkos-...`).

    The runtime needs no initialisation. Use `use_device` and environment variables for the settings
    that Kokkos takes from these arguments.
    """
    return [argument for argument in arguments if not argument.startswith("--kokkos-")]


def fence(_label: str = "") -> None:
    """Wait for all submitted work, on all devices.

    Raises the first failure of that work that has not been reported yet, with the others as notes.
    An example is an out-of-bounds index in a functor.
    """
    failures: list[Exception] = []
    for number in range(device_count()):
        try:
            Context.get(Context.CUDA, number).synchronize()
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            failures.append(error)
    for other in failures[1:]:
        failures[0].add_note(f"This failed, too: {other!r}")
    if failures:
        raise failures[0]


def finalize() -> None:
    """Wait for all submitted work; existing views remain usable."""
    fence()
