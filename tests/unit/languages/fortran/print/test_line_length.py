"""Lines that an author wrote too long, broken without changing what they mean."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from psyclone_storage.languages.fortran.print.line_length import within_limit, without_indentation

WORDS = " + ".join(f"variable_{number}" for number in range(20))
REMARK = "because " * 20


def lines(text: str) -> list[str]:
    broken = within_limit(text)
    assert all(len(line) <= 132 for line in broken.splitlines())
    return broken.split("\n")


def test_lines_within_the_limit_stay() -> None:
    text = "x = 1\n\ny = 'a' ! b\n" + "z" * 132 + "\n"
    assert within_limit(text) == text


def test_a_statement_goes_on_at_blanks() -> None:
    first, *more = lines(f"    x = {WORDS}")
    assert first.startswith("    x = variable_0 + ")
    assert first.endswith(" &")
    assert all(line.startswith("        ") for line in more)
    assert " ".join(line.strip(" &") for line in (first, *more)) == f"x = {WORDS}"


def test_a_statement_that_goes_on_already_still_does() -> None:
    broken = lines(f"    x = {WORDS} + &\n        1")
    assert broken[-2].endswith("+ &")
    assert broken[-1] == "        1"


def test_a_remark_goes_on_as_a_remark() -> None:
    broken = lines(f"  !> {REMARK}")
    assert len(broken) == 2
    assert all(line.startswith("  !> because") for line in broken)


def test_a_remark_behind_a_statement_follows_it() -> None:
    code, remark, _ = lines(f"  x = f(1) &  ! {REMARK}\n")[:3]
    assert code == "  x = f(1) &"
    assert remark.startswith("  ! because")


def test_a_directive_goes_on_as_a_directive() -> None:
    first, second = lines("  !$omp parallel do private(" + ", ".join(["private_name"] * 9) + ")")
    assert first.endswith(" &")
    assert second.startswith("  !$omp private_name")


@pytest.mark.parametrize(
    "line", ["#define LONG ", "  include '", "!$ x = ", "!DIR$ IVDEP ", "!GCC$ attributes "]
)
def test_what_cannot_go_on_stays(line: str) -> None:
    text = line + "x" * 140 + "'"
    assert within_limit(text) == text


def test_a_string_over_two_lines_is_cut_where_it_may_be() -> None:
    first = "  print *, 'it''s ! " + "a" * 150 + "&"
    second = "  &" + "b" * 150 + "'"
    text = "\n".join(lines(f"{first}\n{second}"))
    joined = text.replace("&\n      &", "").replace("&\n  &", "")
    assert joined == "  print *, 'it''s ! " + "a" * 150 + "b" * 150 + "'"


def test_line_ends_are_kept() -> None:
    broken = within_limit(f"x = {WORDS}\r\n! {REMARK}\r\n")
    assert broken.count("\n") == broken.count("\r\n") > 3
    assert broken.endswith("\r\n")


@pytest.mark.skipif(not shutil.which("gfortran"), reason="gfortran is not installed")
def test_a_compiler_reads_the_same(tmp_path: Path) -> None:
    """A program prints the same before, without a limit, and after."""
    parts = " // ".join(f"'part {number} & ! \"of\" it; '" for number in range(12))
    text = (
        "program long\n  implicit none\n  integer :: variable\n  variable = 1\n"
        f"  print '(a)', {parts} ! {REMARK}\n"
        f"  print *, {' + '.join(['variable'] * 30)}; print *, 'x'\n"
        f"  print '(a)', 'a string ! that {'goes on ' * 18} &\n    & here ''and'' {'on ' * 50}'\n"
        "end program long\n"
    )

    def output(name: str, source: str) -> str:
        (tmp_path / f"{name}.f90").write_text(source)
        flags = ["-std=f2008", "-ffree-line-length-none"] if name == "before" else ["-std=f2008"]
        build = ["gfortran", *flags, "-Werror", f"{name}.f90", "-o", name]
        subprocess.run(build, cwd=tmp_path, check=True)
        run = subprocess.run([str(tmp_path / name)], capture_output=True, text=True, check=True)
        return run.stdout

    assert output("after", "\n".join(lines(text))) == output("before", text)


def test_indentation_can_be_left_out() -> None:
    text = "  x = 'a  &\n    &b' ! c\n    y = 'd&\n    e'\n! f\n    if (z) &\n      call g\n"
    assert without_indentation(text) == (
        "x = 'a  &\n&b' ! c\ny = 'd&\n    e'\n! f\nif (z) &\ncall g\n"
    )
