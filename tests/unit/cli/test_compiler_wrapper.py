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
    assert call.product == ".o"
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


def _run(folder: Path, words: list[str], **environment: str) -> list[str]:
    """Return the words that a program prints after the wrapper has compiled and linked it."""
    done = _call(folder, [*words, "-o", "run"], PSYCLONE_COMPILER="gfortran", **environment)
    assert done.returncode == 0, done.stderr
    return subprocess.run(
        [folder / "run"], capture_output=True, text=True, check=True
    ).stdout.split()


@needs_gfortran
def test_only_line_markers_are_removed_after_the_preprocessor(tmp_path: Path) -> None:
    """A number sign with a number in a comment or literal is text of the source."""
    lines = ["program p", "integer :: x", "x = 1 ! see issue # 33", "x = x + 1"]
    lines += ["print *, '# 1 line 2', x, 'a&", "&b # 2', &", "#ifndef NO", "3", "#endif", "end"]
    (tmp_path / "hash.F90").write_text("\n".join(lines) + "\n")
    assert _run(tmp_path, ["hash.F90"]) == ["#", "1", "line", "2", "2", "ab", "#", "2", "3"]


FIXED = """C     comment
      program p
      integer i, a(3)
      do i = 1, 3
        a(i) = i
      end do
      print *, a(3),
     &  4
      end program
"""
FREE = "program p\ninteger :: i, a(3)\ndo i = 1, 3\na(i) = i\nend do\nprint *, a(3), &\n 4\nend\n"


@needs_gfortran
@pytest.mark.parametrize(
    ("name", "flag", "text"),
    [
        ("fx.f90", "-ffixed-form", FIXED),
        ("fx.F90", "-ffixed-form", FIXED),
        ("fr.f", "-ffree-form", FREE),
    ],
)
def test_a_flag_for_the_form_is_honoured(tmp_path: Path, name: str, flag: str, text: str) -> None:
    """The flag takes precedence over the suffix, also among the words of the compiler."""
    (tmp_path / name).write_text(text)
    options = {"PSYCLONE_OPTS": "--apply auto{work=1}"}
    assert _run(tmp_path, [flag, "-fopenmp", name], **options) == ["3", "4"]
    done = _call(tmp_path, ["-c", name], PSYCLONE_COMPILER=f"gfortran {flag}", **options)
    assert done.returncode == 0, done.stderr
    suffix = ".f" if flag == "-ffixed-form" else ".f90"
    made = tmp_path / f"{Path(name).stem}.psycloned{suffix}"
    assert "!$omp parallel do" in made.read_text()
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(
        [name, made.name, "run", f"{made.name[:2]}.o"]
    )


WIDE = "      a(i) = a(i)" + " " * 57 + "+ a(i - 1)"
SHORT = "      a(i) = a(i) + a(i - 1)"
LITERAL = "      s = 'abc\n     &d'"
LONG = "a(i) = a(i)" + " " * 125 + "+ a(i - 1)"


@needs_gfortran
@pytest.mark.parametrize(
    ("name", "flag", "line", "is_refused"),
    [
        ("w.f", "-ffixed-line-length-132", WIDE, True),
        ("w.f", "-ffixed-line-length-none", WIDE, True),
        ("w.f", "-ffixed-line-length-0", WIDE, True),
        ("w.f", "-ffixed-line-length-132", LITERAL, True),
        ("w.f", "-ffixed-line-length-132", SHORT, False),
        ("w.f", "-ffixed-line-length-132", SHORT + " ! " + "note " * 12, False),
        ("w.f", "-ffixed-line-length-72", WIDE, False),
        ("w.f", "-ffixed-line-length-70", SHORT, True),
        ("w.f", "-ffree-line-length-60", WIDE, False),
        ("w.f90", "-ffixed-line-length-132", SHORT, False),
        ("w.f90", "-ffree-line-length-none", LONG, False),
        ("w.f90", "-ffree-line-length-0", LONG, False),
        ("w.f90", "-ffree-line-length-200", LONG, False),
        ("w.f90", "-ffree-line-length-140", LONG, True),
        ("w.f90", "-ffree-line-length-80", SHORT, True),
    ],
)
def test_lines_of_another_length_are_refused_if_they_change_statements(
    tmp_path: Path, name: str, flag: str, line: str, *, is_refused: bool
) -> None:
    """A source whose statements end elsewhere for the compiler is not transformed."""
    head = "      integer i\n      real a(9)\n      character(200) s\n      do i = 2, 9\n"
    tail = "      end do\n      end\n"
    (tmp_path / name).write_text(f"{head}{line}\n{tail}")
    done = _call(tmp_path, ["-c", flag, name], PSYCLONE_COMPILER="gfortran")
    assert done.returncode == int(is_refused), done.stderr
    assert (f"'{flag}'" in done.stderr) is is_refused
    assert (tmp_path / f"w.psycloned{Path(name).suffix}").exists() is not is_refused
    assert (tmp_path / "w.o").exists() is not is_refused
    if is_refused and line != LONG:
        words = ["-c", flag, name]
        options = {"PSYCLONE_COMPILER": "gfortran", "PSYCLONEFC_ON_ERROR": "original"}
        assert _call(tmp_path, words, **options).returncode == 0
        assert (tmp_path / "w.o").exists()


@needs_gfortran
@pytest.mark.parametrize("suffix", ["f90", "F90"])
def test_sources_with_one_base_name_stay_apart(tmp_path: Path, suffix: str) -> None:
    """Each has its own intermediate file, in one call and in calls for one folder of objects."""
    names = [f"x/m.{suffix}", f"y/m.{suffix}", "m.f90"]
    for name, unit in zip(names, ("a", "b"), strict=False):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f"subroutine {unit}\nprint *, '{unit}'\nend\n")
    (tmp_path / "m.f90").write_text("call a\ncall b\nend\n")
    assert _run(tmp_path, names) == ["a", "b"]
    for name, made in zip(names, ("o1.o", "o2.o"), strict=False):
        done = _call(tmp_path, ["-c", name, f"-o{made}"], PSYCLONE_COMPILER="gfortran")
        assert done.returncode == 0, done.stderr
    texts = [(tmp_path / f"o{number}.psycloned.f90").read_text() for number in (1, 2)]
    assert ["subroutine a" in text for text in texts] == [True, False]


@needs_gfortran
def test_outputs_have_the_names_that_the_compiler_gives(folder: Path) -> None:
    """`-o` joined to its value names the object, and `-S` gives the assembler file its name."""
    (folder / "ox").mkdir()
    for words in (
        ["-c", "limits.f90", "-oox/a.o"],
        ["-S", "limits.f90"],
        ["-c", "-S", "limits.f90"],
    ):
        done = _call(folder, words, PSYCLONE_COMPILER="gfortran")
        assert done.returncode == 0, done.stderr
        if "-S" in words:
            (folder / "limits.s").unlink()
    names = sorted(str(one.relative_to(folder)) for one in folder.rglob("*.[os]"))
    assert names == ["ox/a.o"]
    assert (folder / "ox" / "a.psycloned.f90").is_file()
    assert read_compiler_words(["-openmp", "a.f90"]).output is None


@needs_gfortran
@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["-MD", "-MF", "rule"], "rule"),
        (["-MMD", "-MFrule"], "rule"),
        (["-MD"], "made/sums.d"),
        (["-MD", "-MT", "goal", "-MF", "rule"], "rule"),
    ],
)
@pytest.mark.parametrize("name", ["src/sums.f90", "src/sums.F90"])
def test_a_dependency_rule_names_the_author_s_files(
    folder: Path, name: str, words: list[str], rule: str
) -> None:
    """The preprocessor writes the rule, and the compiler gets a file that is preprocessed."""
    (folder / "made").mkdir()
    (folder / "src" / "text.h").write_text("print *, 1\n")
    (folder / name).write_text('#include "text.h"\nend\n')
    given = ["-cpp", *words, "-c", name, "-o", "made/sums.o"]
    done = _call(folder, given, PSYCLONE_COMPILER="gfortran")
    assert done.returncode == 0, done.stderr
    goals, needed = (folder / rule).read_text().split(":")
    assert ("goal" if "-MT" in words else "made/sums.o") in goals.split()
    assert {name, "src/text.h"} <= set(needed.split())
    assert "psycloned" not in needed
    assert (folder / "made" / "sums.o").is_file()
    assert not list(folder.glob("*.d"))


@needs_gfortran
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["-c", "limits.f90", "other.f90", "-o", "z.o"], "names one output for 2 sources"),
        (["-S", "limits.f90", "other.f90", "-oz.s"], "names one output for 2 sources"),
        (["-c", "-x", "f95", "b.src"], "'-x f95' is not supported"),
        (["-c", "-xf77", "limits.f90"], "'-xf77' is not supported"),
    ],
)
def test_calls_that_cannot_be_honoured_are_refused(
    folder: Path, words: list[str], text: str
) -> None:
    """No source is compiled without its transformation unless the environment requests it."""
    (folder / "other.f90").write_text("end\n")
    (folder / "b.src").write_text("end\n")
    done = _call(folder, words, PSYCLONE_COMPILER="gfortran")
    assert done.returncode == 1
    assert text in done.stderr
    assert not list(folder.glob("*.[os]"))
    original = {"PSYCLONE_COMPILER": "gfortran", "PSYCLONEFC_ON_ERROR": "original"}
    again = _call(folder, words, **original)
    assert text in again.stderr
    assert again.returncode == (0 if "b.src" in words else 1)
    assert (folder / "b.o").exists() is ("b.src" in words)


@needs_gfortran
def test_no_preprocessed_file_remains_beside_an_original(folder: Path) -> None:
    """The copy is removed if the author's file is compiled instead."""
    (folder / "fails.py").write_text("def trans(psyir):\n    raise ValueError('no')\n")
    (folder / "u.F90").write_text("print *, 1\nend\n")
    options = {"PSYCLONE_OPTS": "-s fails.py", "PSYCLONEFC_ON_ERROR": "original"}
    assert _run(folder, ["u.F90"], **options) == ["1"]
    assert not list(folder.glob("u.*.f90"))


def test_a_quotation_without_an_end_is_an_error_of_the_environment(folder: Path) -> None:
    found = _call(folder, ["-c", "sums.F90"], PSYCLONE_COMPILER="gfortran", PSYCLONE_OPTS='-s "a')
    assert found.returncode == 1
    assert "L001" in found.stderr
    assert "'PSYCLONE_OPTS' has no end" in found.stderr
