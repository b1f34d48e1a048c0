"""The makefiles of the Fortran libraries: when they compile, seen by a compiler that only notes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from libraries import EXTERNAL
from noting_compiler import NotingCompiler

OPTIONS = {
    "lfric_infrastructure": ("MESSAGES=mpi", "PRECISION=uniform"),
    "gocean_infrastructure": ("MESSAGES=mpi",),
    "storage": ("DEVICE=emulated", "DEVICE=openacc"),
    "profile": ("FFLAGS='-O3'",),
}
"""The folders of the libraries, and options that make another library of each."""

pytestmark = pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("ar")), reason="make and ar are not installed"
)


@pytest.fixture
def compiler(tmp_path: Path) -> NotingCompiler:
    return NotingCompiler(tmp_path)


def make(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make in the folder of a library."""
    command = ["make", "-C", str(EXTERNAL / name), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compilations(name: str, compiler: NotingCompiler, *words: str) -> int:
    """Build a library and return how many files were compiled."""
    before = compiler.calls()
    done = make(name, f"FC={compiler.path}", f"BUILD={compiler.folder / 'build'}", *words)
    assert done.returncode == 0, done.stderr
    return compiler.calls() - before


@pytest.mark.parametrize("name", OPTIONS)
def test_nothing_is_compiled_twice(name: str, compiler: NotingCompiler) -> None:
    files = (EXTERNAL / name / "files.txt").read_text("utf-8").split()
    assert compilations(name, compiler) == len(files)
    assert compilations(name, compiler) == 0


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, options in OPTIONS.items() for option in options]
)
def test_other_options_build_all_anew(name: str, option: str, compiler: NotingCompiler) -> None:
    """A library without MPI that stays in a folder built for MPI makes each rank compute alone."""
    everything = compilations(name, compiler)
    assert compilations(name, compiler, option) == everything
    assert compilations(name, compiler, option) == 0
    assert compilations(name, compiler) == everything


@pytest.mark.parametrize("name", OPTIONS)
def test_a_path_with_a_space_is_refused(name: str, tmp_path: Path) -> None:
    """Make would take it for two folders, and `make clean` would remove the wrong one."""
    (tmp_path / "my").mkdir()
    for target in ("all", "clean"):
        done = make(name, f"BUILD={tmp_path}/my models", target)
        assert done.returncode != 0
        assert "without spaces" in done.stderr
    assert (tmp_path / "my").is_dir()
