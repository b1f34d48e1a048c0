"""Builds the Fortran storage library for the tests, as its README says: with make.

Owns the command lines. `OPENACC_DOUBLE` is the library for OpenACC on an implementation of OpenACC
that the tests bring along, whose device has memory of its own on every machine.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = HERE.parents[2] / "external" / "storage"
DEVICES = ("none", "emulated", "openacc")
OPENACC_DOUBLE = "openacc double"
FLAGS = "-std=f2008 -Wall -Wextra -Wno-unused-dummy-argument -Werror -g -fcheck=all"
SECONDS_FOR_A_COMMAND = 300


def run(command: list[str]) -> str:
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=SECONDS_FOR_A_COMMAND
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def build_library(kind: str, compiler: str, folder: Path, sources: Path = LIBRARY) -> Path:
    """Build the library and its shared form in `folder`; return the path of the latter."""
    device = "openacc" if kind == OPENACC_DOUBLE else kind
    words = [f"BUILD={folder}", f"DEVICE={device}", f"FC={compiler}", f"FFLAGS={FLAGS}"]
    assert not run(["make", "-s", "-C", str(sources), *words, "shared"])
    if kind != OPENACC_DOUBLE:
        return folder / "libfield_storage.so"
    double = folder / "openacc_double_mod.o"
    source = HERE / "openacc_double_mod.f90"
    flags = [*FLAGS.split(), "-fPIC", f"-J{folder}"]
    run([compiler, *flags, "-c", str(source), "-o", str(double)])
    shared = folder / "libfield_storage_double.so"
    run([compiler, "-shared", *map(str, sorted(folder.glob("*.o"))), "-o", str(shared)])
    return shared
