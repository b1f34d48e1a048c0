"""Compiles what the tests link with the Fortran storage library.

Owns the command lines. `OPENACC_DOUBLE` is the library for OpenACC on an implementation of OpenACC
that the tests bring along, whose device has memory of its own on every machine.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from libraries import STORAGE
from runtime.objects import content_of

HERE = Path(__file__).parent
LIBRARY = STORAGE["none"].sources
DEVICES = tuple(STORAGE)
EMULATED = STORAGE["emulated"]
OPENACC_DOUBLE = "openacc double"
FLAGS = STORAGE["none"].flags
SHARED = "libfield_storage.so"
SECONDS_FOR_A_COMMAND = 300


def run(command: list[str]) -> str:
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=SECONDS_FOR_A_COMMAND
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def build_double(library: Path, f90: tuple[str, ...], folder: Path) -> Path:
    """Link the library for OpenACC with the double, in `folder`; return the shared library."""
    double = folder / "openacc_double_mod.o"
    source = HERE / "openacc_double_mod.f90"
    flags = [*FLAGS, "-fPIC", f"-I{library}", f"-J{folder}"]
    run([*f90, *flags, "-c", str(source), "-o", str(double)])
    objects = map(str, (*sorted(library.glob("*.o")), double))
    run([*f90, "-shared", "-fopenacc", *objects, "-o", str(folder / SHARED)])
    return folder / SHARED


def interface_of(module: Path) -> str:
    """Return a name for what a module file says of the module."""
    return content_of(module, module.stat().st_mtime_ns)


def build_changed(library: Path, source: Path, f90: tuple[str, ...], folder: Path) -> Path:
    """Build a library with another text of one source, in `folder`; return what is shared.

    All others are as they are in `library`: no interface may differ, which they were compiled for.
    """
    changed = folder / f"{source.stem}.o"
    flags = [*FLAGS, "-fPIC", "-fopenmp", f"-I{LIBRARY}", f"-I{library}", f"-J{folder}"]
    assert not run([*f90, *flags, "-c", str(source), "-o", str(changed)])
    (module,) = folder.glob("*.mod")
    assert interface_of(module) == interface_of(library / module.name)
    others = (path for path in library.glob("*.o") if path.name != changed.name)
    objects = map(str, (changed, *sorted(others)))
    assert not run([*f90, "-fopenmp", "-shared", *objects, "-o", str(folder / SHARED)])
    return folder / SHARED
