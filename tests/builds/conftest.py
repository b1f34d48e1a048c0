"""A small project that Ninja, Make and CMake build, and what a build of it has done."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from libraries import LFRIC, Library
from psyclone_storage.base.shipped import shared_file

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
CORPUS = HERE.parent / "corpus" / "lfric" / "kernels"
KERNELS = ("wind_tendency_kernel_mod.f90", "wind_to_cell_kernel_mod.f90")
DIES = "DIES_AFTER"
CHECKED_OUT = 1_700_000_000


@dataclass
class BuildProject:
    """A copy of the project, with the tool that builds it."""

    folder: Path
    tool: str
    setup: tuple[str, ...]
    command: tuple[str, ...]
    out: Path
    model: Path
    environment: dict[str, str] = field(default_factory=dict)

    def build(self, **more: str) -> int:
        """Build; return how many algorithms were translated."""
        done = self.run(*self.command, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return self.translations()

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        self.log.write_text("")
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment | more,
            capture_output=True,
            text=True,
            check=False,
        )

    def translations(self) -> int:
        return self.log.read_text().count("translate")

    @property
    def log(self) -> Path:
        return Path(self.environment["BUILD_LOG"])

    def changed(self, name: str, old: str, new: str) -> None:
        """Exchange a text in a file of the project."""
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        self.touched(name)

    def touched(self, name: str) -> None:
        os.utime(self.folder / name)
        for path in self.folder.rglob("*.py"):
            shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    def kernels(self) -> dict[str, str]:
        """Return the changed kernels by their names."""
        return {path.name: path.read_text() for path in self.out.rglob("*_kernel_*_mod.f90")}

    def texts(self) -> dict[str, str]:
        """Return all that was generated."""
        found = (*self.out.glob("*_mod.f90"), *self.out.glob("*_psy.f90"))
        return {path.name: path.read_text() for path in found} | self.kernels()


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """Return a folder with the command, which notes that it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "psyclone-storage"
    program.write_text(
        '#!/bin/sh\ncase "$1" in --*-dir) ;; *) echo translate >> "$BUILD_LOG" ;; esac\n'
        f'exec "{sys.executable}" "{HERE / "dying_command.py"}" "$@"\n'
    )
    program.chmod(0o755)
    return folder


@pytest.fixture(params=["ninja", "make", "cmake-ninja", "cmake-make"])
def project(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    command: Path,
) -> BuildProject:
    tool: str = request.param
    needed = {"cmake-ninja": ["cmake", "ninja", "gfortran"], "cmake-make": ["cmake", "gfortran"]}
    for name in needed.get(tool, [tool]):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path / "project"
    shutil.copytree(HERE / "project", folder)
    (folder / "kernels").mkdir()
    for name in KERNELS:
        shutil.copy(CORPUS / name, folder / "kernels")
    # Nobody has edited one file of it a moment after another one.
    for path in folder.rglob("*"):
        os.utime(path, (CHECKED_OUT, CHECKED_OUT))
    environment = os.environ | {
        "PATH": f"{command}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{SOURCES}{os.pathsep}{folder / 'tools'}",
        "BUILD_LOG": str(tmp_path / "log"),
        "PSYCLONE_STORAGE_CACHE": str(tmp_path / "cache"),
    }
    environment.pop("MAKEFLAGS", None)
    if tool in ("ninja", "make"):
        made = BuildProject(folder, tool, (), (tool, "-j8"), folder / "out", folder / "model")
    else:
        built: Callable[[Library], Path] = request.getfixturevalue("built")
        generator = "Ninja" if tool == "cmake-ninja" else "Unix Makefiles"
        words = (
            *("cmake", "-G", generator, "-B", "build"),
            f"-Dpsyclone_storage_DIR={shared_file('config/cmake')}",
            f"-DCMAKE_Fortran_FLAGS=-I{built(LFRIC)}",
            f"-DCMAKE_PROGRAM_PATH={command}",
        )
        build = ("cmake", "--build", "build", "-j8")
        out, model = folder / "build" / "psy", folder / "build" / "libmodel.a"
        made = BuildProject(folder, tool, words, build, out, model)
    made.environment = environment
    if made.setup:
        done = made.run(*made.setup)
        assert done.returncode == 0, done.stdout + done.stderr
    return made
