"""Measure what a field storage in Fortran costs for each call, in nanoseconds.

    python benchmarks/storage_fortran.py

Builds `external/storage` for the emulated device, and a program of loops over its calls, in a
temporary folder. The loop that calls a procedure which does nothing shows what a call costs anyway.
The exit status is 0 whatever the times are: they depend on the machine.
"""

import shutil
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from psyclone_storage.storage.interop.fortran import FortranLibrary

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "external" / "storage"
SOURCES = ROOT / "benchmarks" / "fortran" / "storage"
CALLS = 20000


def main() -> None:
    """Build and run; say so if there is no compiler."""
    if not shutil.which("gfortran"):
        print("gfortran is not installed: nothing to measure.")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [f"BUILD={folder}", "DEVICE=emulated", "FFLAGS=-O2"]
        subprocess.run(["make", "-s", "-C", LIBRARY, *words, "shared"], check=True)
        build = ["gfortran", "-O2", f"-J{folder}", f"-I{folder}"]
        sources = [SOURCES / "nothing_mod.f90", SOURCES / "loops.f90"]
        command = [*build, *sources, folder / "libfield_storage.a", "-o", folder / "loops"]
        subprocess.run(command, check=True)
        subprocess.run([folder / "loops"], check=True)
        measure_python(FortranLibrary(folder / "libfield_storage.so"))


def measure_python(library: FortranLibrary) -> None:
    """Measure the same through the interface for C."""
    with library.create((1000,)) as field:
        field.touch()

        def use() -> None:
            field.acquire("gpu")
            field.release("gpu")

        seconds = min(timeit.repeat(use, number=CALLS, repeat=5)) / CALLS
        name = "the first of these, called from Python"
        print(f"{name:<56}{seconds * 1e9:9.1f} ns")


if __name__ == "__main__":
    main()
