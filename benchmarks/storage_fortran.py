"""Measure what a field storage in Fortran costs for each call, in nanoseconds.

    python benchmarks/storage_fortran.py
    python benchmarks/storage_fortran.py --field-api PATH

Builds `external/storage` for the emulated device, and a program of loops over its calls, in a
temporary folder. The loop that calls a procedure which does nothing shows what a call costs anyway.

PATH is a checkout of https://github.com/ecmwf-ifs/field_api, whose calls then take turns with ours
in the same program, with the memory that stands for a device where there is none. It is compiled
with the same flags, and needs `fypp`; what it takes of ECMWF's library FIAT is written in
`benchmarks/fortran/storage/fiat.f90`. Nothing of it is kept or changed. One of its calls gives what
`get` gives.

The exit status is 0 whatever the times are: they depend on the machine.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.interop.fortran import FortranLibrary

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "external" / "storage"
SOURCES = ROOT / "benchmarks" / "fortran" / "storage"
CALLS = 20000
FLAGS = ("-O2", "-fopenmp")
OF_FIELDS = (
    "debug/field_statistics_module.F90", "core/field_abort_module.F90",
    "core/field_constants_module.F90", "core/field_defaults_module.F90",
    "core/dev_alloc_module.fypp", "core/host_alloc_module.fypp", "core/field_async_module.fypp",
    "core/field_basic_module.F90", "core/field_RANKSUFF_data_module.fypp",
    "core/field_RANKSUFF_module.fypp", "core/dev_alloc.c", "core/c_malloc.c",
    "debug/field_backtrace.c",
)  # fmt: skip
"""What FIELD_API's fields of two dimensions are made of, in an order to compile."""
AS_ITS_BUILD_DEFINES = ("-DGET_VIEW_ABORT_DEFAULT_VALUE=.true.",
                        "-DDELAYED_DEFAULT_VALUE_FROM_CMAKE=.false.")  # fmt: skip


def main() -> None:
    """Build and run; say so if there is no compiler."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--field-api", type=Path, metavar="PATH", help="a checkout of FIELD_API")
    given = parser.parse_args()
    if not shutil.which("gfortran"):
        print("gfortran is not installed: nothing to measure.")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [f"BUILD={folder}", "DEVICE=emulated", "FFLAGS=-O2"]
        subprocess.run(["make", "-s", "-C", LIBRARY, *words, "shared"], check=True)
        others = list(field_api(given.field_api.resolve(), folder)) if given.field_api else []
        build = ["gfortran", *FLAGS, f"-J{folder}", f"-I{folder}"]
        beside = ["-DFIELD_API"] if others else []
        sources = [SOURCES / "nothing_mod.f90", *beside, SOURCES / "loops.F90"]
        command = [*build, *sources, *others, folder / "libfield_storage.a", "-o", folder / "loops"]
        subprocess.run(command, check=True)
        around = {**os.environ, "DEV_ALLOC_SIZE": str(2**24)}  # FIELD_API's device, in bytes
        subprocess.run([folder / "loops"], check=True, env=around)
        measure_python(FortranLibrary(folder / "libfield_storage.so"))


def field_api(path: Path, folder: Path) -> Iterator[Path]:
    """Compile the fields of two dimensions of a checkout in a folder, and yield the objects."""
    build = ["gfortran", *FLAGS, "-w", "-cpp", "-ffree-line-length-none", *AS_ITS_BUILD_DEFINES,
             f"-J{folder}", f"-I{path / 'src' / 'core'}"]  # fmt: skip
    for source in (SOURCES / "fiat.f90", *(path / "src" / name for name in OF_FIELDS)):
        whole = source
        if source.suffix == ".fypp":
            whole = folder / f"{source.stem.replace('RANKSUFF', '2rd')}.F90"
            words = [*("-m", "os", "-M", path / "python_utils", "-m", "fieldType"),
                     *("-m", "offload_macros", "-DOFFLOAD_MODEL=\"HostOnly\"", "-DRANK=2"),
                     *("-DSUFF='RD'", "-DWITH_GUARD_0_SIZE", source, whole)]  # fmt: skip
            subprocess.run([sys.executable, "-m", "fypp", *words], check=True)
        made = folder / f"field_api_{source.stem}.o"
        subprocess.run([*build, "-c", whole, "-o", made], check=True)
        yield made


def measure_python(library: FortranLibrary) -> None:
    """Measure the same through the interface for C."""
    with library.create((1000,)) as field:
        field.touch()

        def use() -> None:
            field.acquire("gpu")
            field.release("gpu")

        space = memory_space("gpu")
        for name, call in (
            ("acquire and release, called from Python", use),
            ("get, called from Python", lambda: field.get(space)),
        ):
            seconds = min(timeit.repeat(call, number=CALLS, repeat=5)) / CALLS
            print(f"{name:<60}{seconds * 1e9:9.1f} ns")


if __name__ == "__main__":
    main()
