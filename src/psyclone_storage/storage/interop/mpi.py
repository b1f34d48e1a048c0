"""Detection of GPU support in the MPI library of a process, without importing mpi4py.

mpi4py requests a DLPack capsule without a stream and passes its address to MPI. An MPI library that
is not GPU-aware reads that address on the host, which at best terminates the program. Therefore
this module queries the library first, and the environment if the library gives no answer.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

UNORDERED = -1
"""The stream argument of callers that synchronise the work themselves, such as mpi4py."""

VARIABLE = "PSYCLONE_STORAGE_GPU_MPI"
"""Environment variable, `1` or `0`; overrides the answer of the MPI library."""

_SWITCHES = ("MPICH_GPU_SUPPORT_ENABLED", "MV2_USE_CUDA", "I_MPI_OFFLOAD")
"""The variables that make MPICH and related libraries GPU-aware."""

_OFF = ("", "0", "no", "off", "false", "disable")
"""The values of these variables that disable GPU support."""

_QUESTIONS = ("MPIX_Query_cuda_support", "MPIX_Query_rocm_support")
"""The functions by which Open MPI reports its GPU support."""


def is_here() -> bool:
    """Return whether this process uses mpi4py."""
    return "mpi4py.MPI" in sys.modules


def takes_devices() -> bool:
    """Return whether the MPI library of this process accepts device addresses.

    Raises `ValueError` if the environment variable `PSYCLONE_STORAGE_GPU_MPI` is neither `0` nor
    `1`.
    """
    told = os.environ.get(VARIABLE, "")
    if told not in ("", "0", "1"):
        raise ValueError(
            f"{VARIABLE} is {told!r}: it is 1 if the MPI library takes memory of devices, 0 if it "
            f"does not."
        )
    if told:
        return told == "1"
    return _says_so() or any(_is_on(os.environ.get(name, "")) for name in _SWITCHES)


def wait_for_device(array: Any) -> None:
    """Wait until the device of an array has finished its work, because MPI ignores streams.

    Return immediately for a host array, which has no device.
    """
    synchronize = getattr(getattr(array, "device", None), "synchronize", None)
    if synchronize is not None:
        synchronize()


def _is_on(value: str) -> bool:
    return value.strip().lower() not in _OFF


def _says_so() -> bool:
    path = getattr(sys.modules.get("mpi4py.MPI"), "__file__", None)
    if path is None:
        return False
    library = ctypes.CDLL(path)
    return any(hasattr(library, name) and getattr(library, name)() for name in _QUESTIONS)
