"""A small project that Ninja, Make and CMake build, and what a build of it has done."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from libraries import LFRIC, Library
from psyclone_storage.base.package_files import shared_file
from served_commands import served

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
CORPUS = HERE.parent / "corpus" / "lfric" / "kernels"
KERNELS = ("wind_tendency_kernel_mod.f90", "wind_to_cell_kernel_mod.f90")
DIES = "DIES_AFTER"
STARTS = "STARTS_ANEW"
"""If set, commands are processes that start anew, each with a seed of hashes of its own."""
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


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the command, which notes that it was called."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "psyclone-storage"
    with served("builds.served_command:answer", forks=True) as command:
        command.write(folder / "served")
        program.write_text(
            '#!/bin/sh\ncase "$1" in --*-dir) ;; *) echo translate >> "$BUILD_LOG" ;; esac\n'
            f'[ -n "${STARTS}" ] || exec "{folder / "served"}" "$@"\n'
            f'exec "{sys.executable}" "{HERE / "dying_command.py"}" "$@"\n'
        )
        program.chmod(0o755)
        yield folder


class Projects:
    """The project for each tool, each in a place of its own, where every test finds it anew.

    What tools write holds paths, so that only what was kept of this place can be put back there,
    with its times.
    """

    def __init__(self, command: Path, folders: Callable[[str], Path], library: Callable[[], Path]):
        self.command = command
        self.folders = folders
        self.library = library
        self.projects: dict[str, BuildProject] = {}

    def set_up(self, tool: str) -> BuildProject:
        """Return the project as it was checked out, for CMake also configured."""
        if tool not in self.projects:
            self.projects[tool] = self._made(tool)
            self._keep(self.projects[tool], "set_up")
        return self._put_back(tool, "set_up")

    def built(self, tool: str) -> BuildProject:
        """Return the project after its first build."""
        if not (self.set_up(tool).folder.parent.parent / "built").exists():
            assert self.projects[tool].build(**{STARTS: "1"}) == 2
            self._keep(self.projects[tool], "built")
        return self._put_back(tool, "built")

    def _keep(self, project: BuildProject, state: str) -> None:
        work = project.folder.parent
        shutil.copytree(work, work.parent / state, symlinks=True)

    def _put_back(self, tool: str, state: str) -> BuildProject:
        project = self.projects[tool]
        work = project.folder.parent
        shutil.rmtree(work)
        shutil.copytree(work.parent / state, work, symlinks=True)
        return project

    def _made(self, tool: str) -> BuildProject:
        work = self.folders(tool) / "work"
        folder = work / "project"
        shutil.copytree(HERE / "project", folder)
        (folder / "kernels").mkdir()
        for name in KERNELS:
            shutil.copy(CORPUS / name, folder / "kernels")
        # Nobody has edited one file of it a moment after another one.
        for path in folder.rglob("*"):
            os.utime(path, (CHECKED_OUT, CHECKED_OUT))
        if tool in ("ninja", "make"):
            made = BuildProject(folder, tool, (), (tool, "-j8"), folder / "out", folder / "model")
        else:
            out, model = folder / "build" / "psy", folder / "build" / "libmodel.a"
            build = ("cmake", "--build", "build", "-j8")
            made = BuildProject(folder, tool, self._set_up_by(tool), build, out, model)
        made.environment = os.environ | {
            "PATH": f"{self.command}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{SOURCES}{os.pathsep}{folder / 'tools'}",
            "BUILD_LOG": str(work / "log"),
            "PSYCLONE_STORAGE_CACHE": str(work / "cache"),
        }
        made.environment.pop("MAKEFLAGS", None)
        if made.setup:
            done = made.run(*made.setup)
            assert done.returncode == 0, done.stdout + done.stderr
        return made

    def _set_up_by(self, tool: str) -> tuple[str, ...]:
        """Return the command that configures."""
        generator = "Ninja" if tool == "cmake-ninja" else "Unix Makefiles"
        return (
            *("cmake", "-G", generator, "-B", "build"),
            f"-Dpsyclone_storage_DIR={shared_file('config/cmake')}",
            f"-DCMAKE_Fortran_FLAGS=-I{self.library()}",
            f"-DCMAKE_PROGRAM_PATH={self.command}",
        )


@pytest.fixture(scope="session")
def projects(
    command: Path, built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory
) -> Projects:
    return Projects(command, tmp_path_factory.mktemp, lambda: built(LFRIC))


@pytest.fixture(params=["ninja", "make", "cmake-ninja", "cmake-make"])
def tool(request: pytest.FixtureRequest) -> str:
    """Return the name of a tool that is there."""
    name: str = request.param
    needed = {"cmake-ninja": ["cmake", "ninja", "gfortran"], "cmake-make": ["cmake", "gfortran"]}
    for program in needed.get(name, [name]):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    return name


@pytest.fixture
def project(projects: Projects, tool: str) -> BuildProject:
    """Return the project before its first build."""
    return projects.set_up(tool)


@pytest.fixture
def built_project(projects: Projects, tool: str) -> BuildProject:
    """Return the project after its first build."""
    return projects.built(tool)
