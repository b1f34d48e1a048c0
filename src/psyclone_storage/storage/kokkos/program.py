"""The start and the end of a program, in the form that Kokkos programs use."""

from __future__ import annotations

from collections.abc import Sequence

from psyclone_storage.storage.core.context import Context
from psyclone_storage.storage.memory.registry import device_count


def initialize(arguments: Sequence[str] = ()) -> list[str]:
    """Return the arguments of a program without those that are for Kokkos.

    There is nothing to start: the runtime is ready when it is imported. What the arguments that
    begin with `--kokkos-` choose is chosen by `use_device` and by the environment here.
    """
    return [argument for argument in arguments if not argument.startswith("--kokkos-")]


def fence(_label: str = "") -> None:
    """Wait for all submitted work, on all devices.

    Raises the first failure of that work which has not been reported yet, with the others as notes.
    An example is an out-of-bounds index that a functor has read from a view.
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
    """Wait for all that was submitted; views may live on."""
    fence()
