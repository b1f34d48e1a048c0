"""The compiler that keeps what it makes for examples makes what the compiler makes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runtime.kept_compiler import write_compilers

pytestmark = pytest.mark.fortran

VALUE = "module value_mod\n  integer, parameter :: answer = {answer}\nend module value_mod\n"
PROGRAM = "program main\n  use value_mod, only : answer\n  print '(i0)', answer\nend program main\n"


def test_each_source_is_compiled_once(tmp_path: Path) -> None:
    """A source is compiled again when it is another, or a module that it uses."""
    (tmp_path / "modules").mkdir()
    compiler, kept = write_in(tmp_path)
    (tmp_path / "main.f90").write_text(PROGRAM)
    for answer, known in ((1, 2), (1, 2), (2, 4), (1, 4)):
        (tmp_path / "value_mod.f90").write_text(VALUE.format(answer=answer))
        command = [compiler, "-O1", "-Jmodules", "value_mod.f90", "main.f90", "-o", "program"]
        subprocess.run(command, cwd=tmp_path, check=True)
        assert (tmp_path / "modules" / "value_mod.mod").exists()
        assert len(list(kept.glob("*.done"))) == known
        assert said_by(tmp_path / "program") == f"{answer}\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("-J.", "main.f90", "-o", "main"),
         "program main\n  implicit none\n  print *, no_such\nend program\n"),
        (("-J.", "-std=f2008", "-Wunused-variable", "main.f90", "-o", "main"),
         "program main\n  integer :: unused\nend program main\n"),
        (("-c", "main.f90"), "program main\nend program main\n"),
        (("--version",), ""),
    ],
)  # fmt: skip
def test_anything_else_is_said_by_the_compiler(
    tmp_path: Path, words: tuple[str, ...], text: str
) -> None:
    said = []
    for folder in (tmp_path / "ours", tmp_path / "theirs"):
        folder.mkdir()
        compiler = write_in(folder)[0] if folder.name == "ours" else shutil.which("gfortran")
        assert compiler is not None
        (folder / "main.f90").write_text(text)
        done = subprocess.run([compiler, *words], cwd=folder, capture_output=True, check=False)
        left = sorted(path.name for path in folder.glob("main*"))
        said.append((done.returncode, done.stdout, done.stderr, left))
    assert said[0] == said[1]


def write_in(folder: Path) -> tuple[str, Path]:
    """Return a compiler in a folder, and where it keeps what it makes."""
    (folder / "bin").mkdir()
    write_compilers(folder / "bin", folder / "kept")
    return str(folder / "bin" / "gfortran"), folder / "kept"


def said_by(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout
