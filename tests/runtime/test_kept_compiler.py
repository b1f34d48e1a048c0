"""The compiler that keeps what it makes for examples makes what the compiler makes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.kept_compiler import kept_compilers

pytestmark = pytest.mark.fortran

MODULE = "module value_mod\n  include 'value.inc'\nend module value_mod\n"
VALUE = "integer, parameter :: answer = {answer} ! {level}\n"
PROGRAM = "program main\n  use value_mod, only : answer\n  print '(i0)', answer\nend program main\n"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def compiler(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("bin")
    with kept_compilers(folder, kept):
        yield str(folder / "gfortran")


@pytest.mark.parametrize("links", [True, False])
def test_each_source_is_compiled_once(
    compiler: str, kept: Path, tmp_path: Path, links: bool
) -> None:
    """A source is compiled again when it is another, or what it includes, or a module it uses."""
    (tmp_path / "modules").mkdir()
    before = len(list(kept.glob("*.done")))
    (tmp_path / "main.f90").write_text(PROGRAM)
    (tmp_path / "value_mod.f90").write_text(MODULE)
    for answer, known in ((1, 2), (1, 2), (2, 4), (1, 4)):
        (tmp_path / "value.inc").write_text(VALUE.format(answer=answer, level=links))
        called = [compiler, f"-O{int(links)}", "-Jmodules"]
        if links:
            commands = [["value_mod.f90", "main.f90", "-o", "program"]]
        else:
            commands = [["-c", f"{stem}.f90", "-o", f"{stem}.o"] for stem in ("value_mod", "main")]
        for words in commands:
            subprocess.run([*called, *words], cwd=tmp_path, check=True)
        if not links:
            words = ["value_mod.o", "main.o", "-o", "program"]
            subprocess.run([*called, *words], cwd=tmp_path, check=True)
        assert (tmp_path / "modules" / "value_mod.mod").exists()
        assert len(list(kept.glob("*.done"))) == before + known
        assert said_by(tmp_path / "program") == f"{answer}\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("-J.", "main.f90", "-o", "main"),
         "program main\n  implicit none\n  print *, no_such\nend program\n"),
        (("-J.", "-std=f2008", "-Wunused-variable", "main.f90", "-o", "main"),
         "program main\n  integer :: unused\nend program main\n"),
        (("-J.", "-c", "main.f90", "-o", "main.o"),
         "program main\n  implicit none\n  print *, no_such\nend program\n"),
        (("-c", "main.f90"), "program main\nend program main\n"),
        (("--version",), ""),
    ],
)  # fmt: skip
def test_anything_else_is_said_by_the_compiler(
    compiler: str, tmp_path: Path, words: tuple[str, ...], text: str
) -> None:
    said = []
    real = shutil.which("gfortran")
    assert real is not None
    for number, program in enumerate((compiler, real)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "main.f90").write_text(text)
        done = subprocess.run([program, *words], cwd=folder, capture_output=True, check=False)
        left = sorted(path.name for path in folder.glob("main*"))
        said.append((done.returncode, done.stdout, done.stderr, left))
    assert said[0] == said[1]


def said_by(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout
