"""Files without an API: algorithms among them, profiled routines, and types that are not found."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import run_command

ALGORITHM = """\
program alg
  use work_kernel_mod, only : work_kernel_type
  CALL Invoke(work_kernel_type(field))
end program alg
"""


@pytest.mark.parametrize("words", [["-o", "out.f90"], ["--loops-json"], ["--require-applied"]])
@pytest.mark.parametrize("name", ["alg.x90", "alg.py"])
def test_options_of_files_are_rejected_for_an_algorithm(
    tmp_path: Path, name: str, words: list[str]
) -> None:
    (tmp_path / name).write_text(ALGORITHM)
    done = run_command([name, *words], tmp_path)
    assert done.status == 1
    assert f"error[L002]: '{name}' is an algorithm" in done.err
    assert done.written == {}
    (tmp_path / "plain.x90").write_text(ALGORITHM.replace("CALL Invoke", "! call invoke"))
    assert run_command(["plain.x90", "-o", "out.f90"], tmp_path).status == 0


ROUTINES = """\
module work
  implicit none
contains
  subroutine fill(a)
    real, intent(out) :: a(:)
    a = 1.0
    a(1) = 2.0
  end subroutine fill
  pure subroutine clean(a)
    real, intent(out) :: a(:)
    a = 0.0
  end subroutine clean
  real function total(a)
    real, intent(in) :: a(:)
    total = sum(a)
  end function total
  subroutine nothing()
  end subroutine nothing
end module work
"""


def test_each_routine_of_a_file_is_a_region_of_a_profiler(tmp_path: Path) -> None:
    (tmp_path / "work.f90").write_text(ROUTINES)
    done = run_command(["-p", "routines", "work.f90", "-o", "out.f90"], tmp_path)
    assert done.status == 0, done.err
    text = done.written["out.f90"]
    assert text.count("%PreStart(") == text.count("%PostEnd") == 2
    assert "PreStart('work', 'fill-r0', 0, 0)" in text
    assert "PreStart('work', 'total-r0', 0, 0)" in text
    assert done.err.count("warning[T034]: A profiler cannot measure this: the routine is pure") == 1
    plain = run_command(["work.f90", "-o", "other.f90"], tmp_path)
    assert plain.written["other.f90"] == ROUTINES, "a cached result of other options was used"


WITH_TYPE = """\
module work
  use grid_mod, only : grid_type
  implicit none
contains
  subroutine step(g, n)
    type(grid_type), intent(inout) :: g
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      g%x(i) = 2.0 * g%area(i)
    end do
  end subroutine step
end module work
"""
TYPE = """\
module grid_mod
  type :: grid_type
    real, allocatable :: x(:), area(:)
  end type grid_type
end module grid_mod
"""


def test_a_type_that_is_not_found_is_the_only_reason(tmp_path: Path) -> None:
    (tmp_path / "work.f90").write_text(WITH_TYPE)
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "grid_mod.f90").write_text(TYPE)
    words = ["work.f90", "--explain"]
    lines = run_command(words, tmp_path).out.splitlines()
    assert lines[0].endswith("step.loop1 over i: unknown")
    assert [one.strip() for one in lines[1:3]] == [
        "line 10: T100: The type 'grid_type' of 'g' is not found: 'g%area(...)' may be a call.",
        "hint: Name the folder of the module 'grid_mod' with '-d'.",
    ]
    assert not any("T062" in one or "is written" in one for one in lines)
    found = run_command([*words, "-d", "modules"], tmp_path).out
    assert "loop1 over i: independent" in found
