"""Declarations and statement functions in included files, whose names are resolved."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import Outcome, run_command
from support.scripting_programs import output_of

TENDENCY = """module phys_mod
  implicit none
  include 'consts.h'
contains
  subroutine tend(n, t, out)
    integer, intent(in) :: n
    include 'args.h'
    real :: zt
    integer :: i
    ! Statement functions come last.
#include "functions.h"
    do i = 1, n
      work(i) = i
      zt = warm(t(i)) * ratio + work(i)
      out(i) = zt * zt
    end do
  end subroutine tend
end module phys_mod
"""
FILES = {
    "consts.h": "  real, parameter :: ratio = 1.5\n",
    "args.h": "  real, intent(in) :: t(n)\n  include 'more.h' ! nested\n  real :: work(n)\n",
    "more.h": "  real, intent(out) :: out(n)\n  integer :: zc\n",
    "functions.h": "  real :: warm, arg\n  warm(arg) = ratio * &\n    arg\n",
    "common.h": "  common /block/ zt\n",
    "save.h": "  save :: zt\n",
    "code.h": "  out = 0\n",
    "macros.h": "#define zt shared\n  real :: other\n",
    "cycle.h": "  integer :: one\n  include 'cycle.h'\n",
}
MAIN = """
program main
  use phys_mod
  implicit none
  integer :: i
  real :: t(40), out(40)
  t = [(0.5 * i, i = 1, 40)]
  call tend(40, t, out)
  print '(8z9)', out
end program main
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a file, those that it includes, and a cache."""
    (tmp_path / "phys.F90").write_text(TENDENCY)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def run(folder: Path, *words: str) -> Outcome:
    """Transform the file."""
    done = run_command(["phys.F90", "--apply", "auto", "-o", "out.F90", *words], folder)
    assert done.status == 0, done.err
    return done


def expanded(text: str) -> str:
    """Return a text with all included files in place of their lines."""
    for name in ("functions.h", "args.h", "more.h", "consts.h"):
        for line in (f'#include "{name}"\n', f"include '{name}' ! nested\n", f"include '{name}'\n"):
            text = text.replace(line, FILES[name])
    return text


def test_names_of_included_files_are_resolved(folder: Path) -> None:
    """The loop gets its clauses, nothing else changes, and the values are the same."""
    text = run(folder).written["out.F90"]
    lines = text.splitlines(keepends=True)
    assert "".join(line for line in lines if "!$omp" not in line) == TENDENCY
    assert "    !$omp parallel do default(shared), private(zt)\n" in lines
    before = output_of(expanded(TENDENCY), folder / "before", main=MAIN)
    assert output_of(expanded(text), folder / "after", 4, main=MAIN) == before


@pytest.mark.parametrize("name", ["common.h", "save.h", "code.h", "macros.h", "absent.h"])
@pytest.mark.parametrize("line", ["include '{}'", '#include "{}"'])
def test_included_files_may_change_a_variable(folder: Path, name: str, line: str) -> None:
    """A variable that is shared or saved, or may be, is not private."""
    new = f"real :: zt\n{line.format(name)}\n"
    (folder / "phys.F90").write_text(TENDENCY.replace("real :: zt\n", new))
    assert "private(zt)" not in run(folder).written["out.F90"]


def test_a_file_may_include_itself(folder: Path) -> None:
    """The second inclusion is not read, so the file may declare any name."""
    (folder / "phys.F90").write_text(TENDENCY.replace("args.h", "cycle.h"))
    assert "omp" not in run(folder).written["out.F90"]


def test_problems_point_into_the_included_file(folder: Path) -> None:
    """A step does not change the declaration of an array in an included file."""
    recipe = folder / "hoist.py"
    recipe.write_text(
        "from psyclone.psyir.nodes import Routine\n"
        "from psyclone.psyir.transformations import HoistLocalArraysTrans\n"
        "def trans(psyir):\n"
        "    HoistLocalArraysTrans().apply(psyir.walk(Routine)[0])\n"
    )
    done = run_command(["phys.F90", "-s", "hoist.py"], folder)
    assert done.status == 1
    assert "'work' is declared in an included file" in done.err
    assert "args.h:3:" in done.err


def test_modules_of_included_files_are_inputs(folder: Path) -> None:
    """A cached result is for the contents of a module that only an included file uses."""
    (folder / "uses.h").write_text("  use tables_mod, only: warm\n")
    source = TENDENCY.replace("  implicit none\n", "  include 'uses.h'\n  implicit none\n")
    (folder / "phys.F90").write_text(source.replace('#include "functions.h"\n', ""))
    module = "module tables_mod\n  {} :: warm\nend module tables_mod\n"
    (folder / "tables_mod.f90").write_text(module.format("real, dimension(9)"))
    words = ("--explain", "--depfile", "deps.d")
    done = run(folder, *words)
    assert "tend.loop1 over i: independent" in done.out, done.out
    for name in ("uses.h", "tables_mod.f90", "more.h"):
        assert name in done.written["deps.d"]
    (folder / "tables_mod.f90").write_text(module.format("real, external"))
    assert "tend.loop1 over i: unknown" in run(folder, *words).out


def test_files_in_fixed_form_include_files_in_fixed_form(folder: Path) -> None:
    """A continued declaration of an included file."""
    (folder / "old.f").write_text(
        "      subroutine old(n, a)\n      integer n, i\n      include 'fixed.h'\n"
        "      do i = 1, n\n      t = a(i)\n      a(i) = t * t\n"
        "      end do\n      end\n"
    )
    (folder / "fixed.h").write_text("C     The array.\n      real a(n),\n     1     t\n")
    done = run_command(["old.f", "--explain"], folder)
    assert "old.loop1 over i: independent" in done.out, done.out
