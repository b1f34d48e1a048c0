"""Launchers of MPI programs such as `mpirun`, recognized by the variables that they set."""

from __future__ import annotations

import os
import time
import warnings
from functools import cache
from pathlib import Path

from psyclone_storage.base.uncaught import UserError, level_of_user

_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")
_PMIX_RANK = "PMIX_RANK"
LAUNCHED = (*_SIZES, _PMIX_RANK)
"""Variables that launchers of MPI programs set for a process that is one of several."""
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", _PMIX_RANK, "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
"""Variables that contain the rank of a process before MPI is initialised."""
_TASKS_OF_STEP = "SLURM_STEP_NUM_TASKS"
"""The number of tasks that one `srun` has started; not set in a batch script."""
_UNTIL_KILLED = 10.0
"""Seconds within which a launcher ends all ranks after one of them has ended."""
_BUILT = "pip install --no-binary=mpi4py mpi4py"


class MissingMpiError(UserError, ImportError):
    """Error: the program was started on several ranks, and mpi4py cannot be imported."""

    def wait(self) -> None:
        """Wait for the launcher to end this process, after rank 0 has printed the message."""
        if any(os.environ.get(name, "0") != "0" for name in _RANKS):
            time.sleep(_UNTIL_KILLED)


def missing_mpi(error: Exception) -> MissingMpiError:
    """Return the error for an import of `mpi4py.MPI` that failed with `error`."""
    reason = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError):
        return MissingMpiError(
            "This program was started on several ranks, which requires mpi4py "
            f"({reason}): pip install 'psyclone-storage[mpi]'."
        )
    return MissingMpiError(
        f"mpi4py cannot load its MPI library ({reason}). Make the library available to the "
        f"dynamic loader, or install mpi4py for the MPI library of the launcher: {_BUILT}."
    )


def is_launched() -> bool:
    """Return whether a launcher of MPI programs has started this process or its parent."""
    return any(name in os.environ for name in LAUNCHED)


@cache
def warn_of_single_rank(library: str = "") -> None:
    """Warn once if a launcher has started several processes, but MPI has connected none of them.

    `library` describes the MPI library; '' if the program has not imported mpi4py. The processes
    that another rank starts inherit the variables of the launcher, although they are single
    programs; they do not warn.
    """
    size, reporter = _launched_size()
    rank = next(filter(None, map(os.environ.get, _RANKS)), "0")
    if size == 1 or rank != reporter or _is_child_of_rank():
        return
    state = f"'{library}' of mpi4py connects none of them" if library else "MPI is not initialised"
    action = (
        "Use the launcher of this MPI library, or install mpi4py for the MPI library of the "
        f"launcher: {_BUILT}."
        if library
        else "Import 'mpi4py.MPI' at the start of the program."
    )
    warnings.warn(
        f"The launcher has started at least {size} processes, but {state}: each process computes "
        f"the whole model. {action}",
        RuntimeWarning,
        stacklevel=level_of_user(),
    )


def _launched_size() -> tuple[int, str]:
    """Return the least number of processes that the launcher started, and the rank that reports it.

    A step of Slurm counts only without another launcher: `mpirun` starts one task of a step for
    each node. PMIx sets only the rank, so that rank 1 is the first to know of another one.
    """
    for name in (*_SIZES, _TASKS_OF_STEP):
        if name in os.environ:
            return max(1, _number(os.environ[name])), "0"
    return min(2, _number(os.environ.get(_PMIX_RANK, "0")) + 1), "1"


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _is_child_of_rank() -> bool:
    """Return whether a process that has loaded an MPI library has started this one.

    Neither launchers nor shell scripts that start the program load one.
    """
    process = os.getppid()
    while process > 1:
        folder = Path(f"/proc/{process}")
        try:
            if any("/libmpi" in line for line in (folder / "maps").read_text().splitlines()):
                return True
            process = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            return False
    return False
