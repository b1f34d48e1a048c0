"""The Fortran libraries of `external/` that tests link with, each built once, by its own makefile.

Lists the libraries with their options and flags, and identifies builds. Tests request one with the
fixture `built`. Nothing else compiles `external/`, except tests of the makefiles, of a fresh clone,
of broken copies, and of the compiler's own option `--compile`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from building import built_once, fingerprint

EXTERNAL = Path(__file__).parents[2] / "external"
STRICT = ("-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror")
CHECKED = (*STRICT, "-fcheck=all")
FOR_RANKS = (*CHECKED, "-Og", "-Wno-maybe-uninitialized", "-fopenmp")
"""The flags of libraries whose code takes most of the time of programs on ranks.

Optimization finds variables that may be undefined where they are not.
"""
PARTS = ("Makefile", "files.txt", "**/*.f90", "**/*.inc")


def variants() -> frozenset[Path]:
    """Return the files that follow from templates, which `external/variants.py` has written."""
    listed = (EXTERNAL / ".gitignore").read_text(encoding="utf-8").split()
    return frozenset(EXTERNAL / name[1:] for name in listed if name != "/.gitignore")


@dataclass(frozen=True, slots=True)
class Library:
    """A library, and how it is built.

    Attributes:
        name: its folder in `external/`.
        options: the words that its makefile takes.
        flags: those of the compiler; without any, the compiler and the flags are the makefile's,
            as they are for whoever just says `make`.
        targets: what is made.
    """

    name: str
    options: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    targets: tuple[str, ...] = ("all",)

    @property
    def sources(self) -> Path:
        """The folder of the library's sources."""
        return EXTERNAL / self.name

    def compiler(self, f90: tuple[str, ...]) -> tuple[str, ...]:
        """Return the compiler of this library where `f90` is that of the tests."""
        if "MESSAGES=mpi" in self.options:
            return ("mpif90",)
        return f90 if self.flags else ("gfortran",)


LFRIC = Library("lfric_infrastructure", flags=STRICT)
LFRIC_UNIFORM = Library("lfric_infrastructure", ("PRECISION=uniform",), STRICT)
LFRIC_MPI = Library("lfric_infrastructure", ("MESSAGES=mpi",), FOR_RANKS)
LFRIC_EMULATED = Library("lfric_infrastructure", ("MESSAGES=mpi", "DEVICE=emulated"), FOR_RANKS)
LFRIC_OF_EXAMPLES = Library("lfric_infrastructure", ("MESSAGES=mpi",))
LFRIC_EMULATED_OF_EXAMPLES = Library("lfric_infrastructure", ("MESSAGES=mpi", "DEVICE=emulated"))
GOCEAN = Library("gocean_infrastructure", flags=STRICT)
GOCEAN_MPI = Library("gocean_infrastructure", ("MESSAGES=mpi",), FOR_RANKS)
GOCEAN_EMULATED = Library("gocean_infrastructure", ("MESSAGES=mpi", "DEVICE=emulated"), FOR_RANKS)
GOCEAN_OF_EXAMPLE = {
    (messages, device): Library(
        "gocean_infrastructure",
        (
            *(("MESSAGES=mpi",) if messages == "mpi" else ()),
            *(("DEVICE=emulated",) if device == "emulated" else ()),
        ),
    )
    for messages in ("serial", "mpi")
    for device in ("none", "emulated")
}
PROFILE = Library("profile", flags=STRICT)
STORAGE = {
    device: Library("storage", (f"DEVICE={device}",), ("-Wextra", *CHECKED), ("shared", "example"))
    for device in ("none", "emulated", "openacc")
}
"""The storage library for each kind of device."""


def find_library(
    library: Library,
    f90: tuple[str, ...],
    kept: Path,
    compilers: Callable[[], Path] | None = None,
) -> Path:
    """Return the folder below `kept` where a library is, after building it if it is not there.

    It is built by compilers in a folder, if `compilers` gives one, which do what those of their
    names do: libraries that differ in a device, or in messages, have most of their files in common.

    A folder is for one text of the sources and one compiler, so that whoever changes either builds
    anew, and finds the former again after going back.
    """
    name = _name(library, f90)

    def build(folder: Path) -> None:
        _make(library, f90, folder, compilers() if compilers else None)
        assert _name(library, f90) == name, "The sources have changed while they were compiled."

    return built_once(kept / name, build)


def copy_library(built: Path, folder: Path) -> None:
    """Copy a library to where a makefile would build it, and finds that there is nothing to do."""
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns("depends.mk"))
    now = time.time()
    for path in folder.iterdir():
        os.utime(path, (now, now))


def archive_in(folder: Path) -> str:
    """Return the path of the archive in the folder of a library."""
    (archive,) = folder.glob("*.a")
    return str(archive)


def linked_with(*folders: Path) -> list[str]:
    """Return the words, behind sources, that compile and link them with libraries."""
    return [word for folder in folders for word in (f"-I{folder}", archive_in(folder))]


def _name(library: Library, f90: tuple[str, ...]) -> str:
    compiler = library.compiler(f90)
    words = [*compiler, _identity(compiler[0]), *library.options, *library.flags, *library.targets]
    listed = (library.sources / "files.txt").read_text(encoding="utf-8")
    others = sorted(set(re.findall(r"\.\./(\w+)/", listed)))
    folders = (library.sources, *(EXTERNAL / name for name in others))
    files = (path for folder in folders for part in PARTS for path in folder.glob(part))
    return f"{library.name}-{fingerprint(EXTERNAL, files, *words)}"


def _identity(compiler: str) -> str:
    """Return what differs between two compilers of one name, and between two wrappers of one."""
    path = shutil.which(compiler)
    assert path is not None, f"'{compiler}' is not installed"
    program = Path(path).resolve()
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    return f"{program} {program.stat().st_mtime_ns} {version.stdout}"


def _make(library: Library, f90: tuple[str, ...], folder: Path, compilers: Path | None) -> None:
    """Build a library in `folder`, with as many compilers at a time as there are cores.

    The path of `folder` is relative: make takes none with spaces, which a checkout may have.
    """
    words = [*library.options, f"BUILD={os.path.relpath(folder.resolve(), library.sources)}"]
    if library.flags:
        words += [f"FC={shlex.join(library.compiler(f90))}", f"FFLAGS={' '.join(library.flags)}"]
    jobs = ["make", f"-j{os.cpu_count()}", "--silent", "-C", str(library.sources)]
    environment = _without_make()
    if compilers:
        environment["PATH"] = os.pathsep.join((str(compilers), environment["PATH"]))
    done = subprocess.run(
        [*jobs, *words, *library.targets],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stderr


def _without_make() -> dict[str, str]:
    """Return the environment as a shell has it that was not started by make."""
    own = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")
    return {name: value for name, value in os.environ.items() if name not in own}
