"""New lines in files in fixed form: columns, continuation, and all that must stay."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from psyclone_storage.languages.fortran.print.fixed_form import fixed_lines, protected
from support.command import run_command

PROGRAM = """C     Values.
      PROGRAM VALS                                                      VAL00010
      INTEGER N
      PARAMETER (N = 40)
      REAL A(N,N), LONGNAME1(N,N), LONGNAME2(N,N), S
      INTEGER I, J
* Start.
      DO J = 1, N                                                       VAL00020
        DO I = 1, N                                                     VAL00030
          LONGNAME1(I,J) = I + 2*J                                      VAL00040
          LONGNAME2(I,J) = I - J; A(I,J) = 0
        END DO                                                          VAL00050
      END DO                                                            VAL00060
      A(:,:) = LONGNAME1(:,:)*LONGNAME2(:,:) + LONGNAME1(:,:)/
     &         (1.0 + LONGNAME2(:,:)**2)
      S = 0.0
      DO J = 1, N
\t DO I = 1, N ! the sum
\t    S = S + A(I,J)
\t1          *0.5
\t END DO
      END DO
      WRITE(*,'(A, E10.2)') 'a sum that is in a string which fills up it
     &s line: ', S
      END
"""


def test_directives_start_in_column_one() -> None:
    """A long directive continues with its sentinel."""
    names = ", ".join(f"variable{number}" for number in range(12))
    made = fixed_lines([f"        !$omp parallel do private({names[:50]} &", "!$omp& , last)"])
    assert made[0].startswith("!$omp parallel do private(")
    assert all(line.startswith("!$omp&") for line in made[1:])
    assert all(len(line) <= 72 for line in made)


def test_statements_are_in_columns_7_to_72() -> None:
    """Free-form continuation marks are replaced; a string is cut at column 72 exactly."""
    made = fixed_lines(["   a = b + &", "     & c", "10 continue", f"      s = '{'x y ' * 30}'"])
    assert made[0] == "      a = b +  c"
    assert made[1] == "10    continue"
    assert all(line.startswith("     &") for line in made[3:])
    assert len(made[2]) == 72
    assert "".join([made[2][6:], *(line[6:] for line in made[3:])]) == f"s = '{'x y ' * 30}'"


def test_comments_do_not_continue_a_statement() -> None:
    """A comment mark in column 6 would."""
    assert fixed_lines(["     ! text", "        ! more &"]) == ["! text", "        ! more &"]


def test_lines_of_the_author_stay() -> None:
    """Protected text is unchanged, with its continuation and sequence columns."""
    text = f"      A = B{'':61}SEQ00010\n     1 + C &"
    assert fixed_lines(protected(text, True).split("\n")) == text.split("\n")


@pytest.mark.parametrize(
    "steps",
    [
        "auto{work=1}",
        "arrays-to-loops; auto{work=1 sums=true}",
        "kernel-swap{loop=1}",
        "kernel-chunk{loop=1 size=7}",
    ],
)
def test_transformed_programs_compute_the_same(steps: str, tmp_path: Path) -> None:
    """The output compiles in fixed form, and lines that no step changes are the author's."""
    (tmp_path / "vals.f").write_text(PROGRAM)
    done = run_command(["--apply", steps, "vals.f", "-o", "out.f"], tmp_path)
    assert done.status == 0, done.err
    text = done.written["out.f"]
    for line in ("* Start.", "\t1          *0.5", "     &s line: ', S", "C     Values."):
        assert line in text.split("\n")
    if steps == "auto{work=1}":
        assert [one for one in text.split("\n") if "!$omp" not in one] == PROGRAM.split("\n")
    if shutil.which("gfortran") is None:
        pytest.skip("needs gfortran")
    values = []
    for name in ("vals.f", "out.f"):
        words = ["gfortran", "-fopenmp", name, "-o", f"{name}.x"]
        subprocess.run(words, cwd=tmp_path, check=True)
        program = [str(tmp_path / f"{name}.x")]
        values.append(subprocess.run(program, capture_output=True, check=True).stdout)
    assert values[0] == values[1]


def test_a_file_without_changes_is_preserved(tmp_path: Path) -> None:
    """Each byte, with line ends of another system."""
    (tmp_path / "vals.F").write_bytes(PROGRAM.replace("\n", "\r\n").encode())
    done = run_command(["vals.F", "-o", "out.F"], tmp_path)
    assert done.status == 0, done.err
    assert (tmp_path / "out.F").read_bytes() == PROGRAM.replace("\n", "\r\n").encode()
