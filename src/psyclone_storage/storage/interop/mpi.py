"""Own what the MPI library of a process can do with memory of devices; refuse to import mpi4py.

mpi4py asks for a capsule (DLPack), names no stream, and passes the address on. A library that is
not GPU-aware reads that address on the host, which ends the program at best. So it is asked before,
and where it does not say, the environment is.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

UNORDERED = -1
"""The stream that who orders the work himself names, as MPI does, which knows no streams."""

VARIABLE = "PSYCLONE_STORAGE_GPU_MPI"
"""Says `1` or `0` where the library says nothing, or something wrong."""

_SWITCHES = ("MPICH_GPU_SUPPORT_ENABLED", "MV2_USE_CUDA", "I_MPI_OFFLOAD")
"""What users of MPICH and its kin set to make the library GPU-aware."""

_OFF = ("", "0", "no", "off", "false", "disable")
"""What they write there to leave it so."""

_QUESTIONS = ("MPIX_Query_cuda_support", "MPIX_Query_rocm_support")
"""The functions by which Open MPI says what it was built for."""


def is_here() -> bool:
    """Say whether this process uses mpi4py."""
    return "mpi4py.MPI" in sys.modules


def takes_devices() -> bool:
    """Say whether the MPI library of this process takes addresses of a device.

    Raises `ValueError` if the variable of the environment says neither.
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
    """Wait until the device of an array has done what it was asked for: MPI knows no streams.

    An array that is known to be ready, as one of the host, has no device that would have to be
    waited for.
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
