"""The configuration of Open MPI for tests: waiting ranks sleep, and programs are restarted.

A waiting rank of Open MPI polls, and at best yields its core in between. With more ranks than
cores, the system then switches between them all the time: four ranks, together with two other
programs on two cores, took 12 seconds of CPU time instead of 3. Therefore ranks of tests sleep
instead of yielding, until another rank begins to wait. They also never unload a library, because
a thread of Open MPI may still execute it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

from building import built_once, fingerprint

SOURCE = Path(__file__).with_suffix(".c")
# A test machine may run everything as root, which Open MPI refuses unless told twice. All ranks are
# on one machine: to look for networks would take half a second of each run. A quarter of the start
# of a program that does little would be to load what finds displays and GPUs, for nobody who asks,
# and to share what ranks know of each other in files. Half of it would be to read the registers of
# all PCI devices, in mpirun and in each rank: a virtual machine handles each access in software.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_pml": "ob1",
    "HWLOC_COMPONENTS": "-linuxio",
    "HWLOC_PLUGINS_PATH": os.devnull,
    "PMIX_MCA_gds": "hash",
}
PRELOADED = "OMPI_MCA_mca_base_env_list"
"""The setting that names the variables of ranks, and of nothing else that a test starts."""


def settings_of_ranks(kept: Path | None) -> dict[str, str]:
    """Return the environment of tests that start ranks.

    The library that lets these sleep is in `kept`. Without it they wait as Open MPI does.
    """
    library = sleeping_library(kept) if kept else None
    return SETTINGS | ({PRELOADED: f"LD_PRELOAD={library}"} if library else {})


def forget_begun_mpi() -> None:
    """Unset what Open MPI has set, where Python does not see it, in a process that has begun it.

    A program that such a process starts would take itself for one of its ranks, and end.
    """
    if "mpi4py.MPI" not in sys.modules:
        return
    variables = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    names: list[bytes] = []
    while variable := variables[len(names)]:
        names.append(variable.partition(b"=")[0])
    for name in set(names) - os.environb.keys():
        os.unsetenv(name)


def sleeping_library(kept: Path) -> Path | None:
    """Return the library whose sched_yield sleeps, compiled in `kept` by the first who asks."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or not compiler or not shutil.which("mpirun"):
        return None
    words = [compiler, "-O1", "-shared", "-fPIC", str(SOURCE), "-o"]

    def build(folder: Path) -> None:
        subprocess.run([*words, str(folder / "sleep.so")], capture_output=True, check=False)

    name = fingerprint(SOURCE.parent, [SOURCE], *words)
    library = built_once(kept.resolve() / f"mpi_waiting-{name}", build) / "sleep.so"
    # Spaces and semicolons have a meaning where Open MPI reads the path.
    return library if library.exists() and not {" ", ";", ":"} & set(str(library)) else None
