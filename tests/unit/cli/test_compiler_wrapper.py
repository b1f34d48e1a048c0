"""The compiler wrapper: which words it reads, and what it compiles, with a compiler and without."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from psyclone_storage.cli.compiler_wrapper import main, read_compiler_words

SOURCE = """program sums
  use limits, only: n
  implicit none
  integer :: i
  real :: a(n)
  do i = 1, n   ! elements
    a(i) = START + i
  end do
#ifdef DOUBLED
  a = 2 * a
#endif
  call shift(a(n))
  print '(f8.1)', a(n)
end program sums
subroutine shift(x)
  implicit none
  real, intent(inout) :: x
  include 'start.inc'
  x = x + first
end subroutine shift
"""
LIMITS = """module limits
  implicit none
  integer, parameter :: n = 5000
end module limits
"""
needs_gfortran = pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")


def _call(folder: Path, words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    path = {"PATH": "/usr/bin:/bin:/usr/local/bin"}
    code = (
        "import os, sys; from psyclone_storage.cli.compiler_wrapper import main;"
        " sys.exit(main(sys.argv[1:], os.environ))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env={**path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a program that needs the preprocessor, a module and an include file."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "sums.F90").write_text(SOURCE)
    (tmp_path / "src" / "start.inc").write_text("real, parameter :: first = 1.0\n")
    (tmp_path / "limits.f90").write_text(LIMITS)
    return tmp_path


def test_words_of_a_compiler_are_read() -> None:
    """Values of options are no sources, and folders are found in both forms."""
    words = ["-O2", "-c", "-I", "a.f90", "-Jmods", "src/x.F90", "-o", "x.o", "-D", "N=1", "y.o"]
    call = read_compiler_words(words)
    assert call.sources == (Path("src/x.F90"),)
    assert call.folders == ("a.f90", "mods")
    assert call.output == Path("x.o")
    assert call.is_object
    assert "y.o" in call.others
    assert "-o" not in call.others


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({}, "'PSYCLONE_COMPILER' names no compiler"),
        ({"PSYCLONE_COMPILER": "/bin/psyclone-storage-fc -x"}, "itself"),
        ({"PSYCLONE_COMPILER": "no-such-compiler"}, "'no-such-compiler' is not found"),
        ({"PSYCLONE_COMPILER": "cat", "PSYCLONEFC_ON_ERROR": "maybe"}, "not 'maybe'"),
    ],
)
def test_a_wrong_environment_is_an_error(
    environment: dict[str, str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is compiled, and the message names the variable."""
    assert main(["-c", "x.f90"], environment) == 1
    assert text in capsys.readouterr().err


@needs_gfortran
def test_a_program_is_preprocessed_transformed_compiled_and_linked(folder: Path) -> None:
    """The directives are in the transformed file, the program computes the same values."""
    flags = ["-fopenmp", "-DDOUBLED", "-DSTART=10", "-Jmods"]
    (folder / "mods").mkdir()
    environment = {"PSYCLONE_COMPILER": "gfortran", "PSYCLONE_OPTS": "--apply auto{work=9}"}
    first = _call(folder, [*flags, "-c", "limits.f90", "-o", "mods/limits.o"], **environment)
    assert first.returncode == 0, first.stderr
    second = _call(folder, [*flags, "-c", "src/sums.F90"], **environment)
    assert second.returncode == 0, second.stderr
    text = (folder / "sums.psycloned.f90").read_text()
    assert "!$omp parallel do" in text
    assert "a = 2 * a" in text
    assert "#" not in text
    assert (folder / "sums.o").is_file()
    assert not list(folder.glob("*.preprocessed.*"))
    linked = _call(folder, ["-fopenmp", "sums.o", "mods/limits.o", "-o", "sums"], **environment)
    assert linked.returncode == 0, linked.stderr
    done = subprocess.run([folder / "sums"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["10021.0"]


@needs_gfortran
def test_the_status_of_the_compiler_is_returned(folder: Path) -> None:
    """A source that only the compiler rejects is transformed, then its error is reported."""
    (folder / "bad.f90").write_text("program bad\n  implicit none\n  x = 1\nend program bad\n")
    done = _call(folder, ["-c", "bad.f90"], PSYCLONE_COMPILER="gfortran")
    assert done.returncode == 1
    assert "has no IMPLICIT type" in done.stderr
    assert not (folder / "bad.o").exists()


@needs_gfortran
@pytest.mark.parametrize("asked", [False, True])
def test_the_original_is_compiled_only_on_request(folder: Path, *, asked: bool) -> None:
    """A recipe that fails stops the build, unless the environment requests the original file."""
    (folder / "fails.py").write_text("def trans(psyir):\n    raise ValueError('no')\n")
    more = {"PSYCLONEFC_ON_ERROR": "original"} if asked else {}
    words = ["-c", "limits.f90"]
    options = {"PSYCLONE_COMPILER": "gfortran", "PSYCLONE_OPTS": "-s fails.py", **more}
    done = _call(folder, words, **options)
    assert "T002" in done.stderr
    assert done.returncode == (0 if asked else 1)
    assert (folder / "limits.o").exists() is asked
    assert not (folder / "limits.psycloned.f90").exists()


@needs_gfortran
def test_excluded_files_and_other_actions_go_to_the_compiler(folder: Path) -> None:
    """An excluded source is compiled as it is, and so is everything that compiles no source."""
    options = {"PSYCLONE_COMPILER": "gfortran", "PSYCLONE_OPTS": "-s missing.py"}
    excluded = {"PSYCLONEFC_EXCLUDE_FILES": "other.f90,limits.f90"}
    done = _call(folder, ["-c", "limits.f90"], **options, **excluded)
    assert done.returncode == 0, done.stderr
    assert (folder / "limits.o").is_file()
    shown = _call(folder, ["--version"], **options)
    assert "GNU Fortran" in shown.stdout
