"""Own the begin and the end of a program, as users of Kokkos write them."""

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
    """Wait for all that was submitted, on all devices."""
    for number in range(device_count()):
        Context.get(Context.CUDA, number).synchronize()


def finalize() -> None:
    """Wait for all that was submitted; views may live on."""
    fence()
