"""Procedures of other modules that KernelModuleInlineTrans copies into a plain file."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import Outcome, run_command
from support.scripting_programs import output_of

RECIPE = """from psyclone.domain.common.transformations import KernelModuleInlineTrans
from psyclone.psyir.nodes import Call, IntrinsicCall
from psyclone.psyir.transformations import TransformationError


def trans(psyir):
    for call in psyir.walk(Call):
        if not isinstance(call, IntrinsicCall):
            try:
                KernelModuleInlineTrans().apply(call)
                print("copied", call.routine.name)
            except TransformationError as error:
                print(error)
"""
BASE = """module base_mod
  implicit none
  integer, parameter :: wp = kind(1.0d0)
  integer :: counter = 0
  integer, protected :: guarded = 2
end module base_mod
"""
WORK = """module work_mod
  use base_mod, only: rp => wp, counter, guarded
  implicit none
  real(rp), parameter, public :: ratio = 0.75_rp
  real(rp), private :: secret = 1
  type, public :: pair
    real(rp) :: a
  end type
contains
  ! Scale a value; the text is preserved.
  subroutine scaled(n, x)
    integer, intent(in) :: n
    real(rp), intent(inout) :: x(n)   ! the values
    integer :: i
    do i = 1, n ; x(i) = x(i) * ratio + twice(max(real(i, rp), 2._rp)); end do
    counter = counter + 1
  end subroutine scaled
  elemental real(rp) function twice(x)
    real(rp), intent(in) :: x
    twice = 2.0_rp * x
  END FUNCTION
  pure function summed(one) result(total)
    type(pair), intent(in) :: one
    real(rp) :: total
    total = one%a + ratio
  end function summed
  subroutine hiding(x)
    real(rp), intent(inout) :: x
    x = x + secret
  end subroutine hiding
  subroutine guarding(x)
    real(rp), intent(inout) :: x
    x = x + guarded
  end subroutine guarding
  subroutine keeping(x)
    real(rp), intent(inout) :: x
    integer :: calls = 0
    calls = calls + 1
    x = x + calls
  end subroutine keeping
  recursive subroutine again(x)
    real(rp), intent(inout) :: x
    if (x < 0) call again(x)
  end subroutine again
end module work_mod
"""
MAIN = """module driver_mod
  use work_mod
  implicit none
contains
  subroutine driver(n, x)
    use base_mod, only: wp
    integer, intent(in) :: n
    real(wp), intent(inout) :: x(n)
    type(pair) :: one = pair(3)
    call scaled(n, x)
    x(1) = x(1) + twice(x(2)) * twice(x(3)) + summed(one)
    OTHERS
    call scaled(n, x)
  end subroutine driver
end module driver_mod
"""
PROGRAM = """program main
  use driver_mod
  use base_mod
  real(wp) :: x(7) = 1
  call driver(7, x)
  print '(7z18)', x
  print *, counter
end program main
"""


def run(folder: Path, work: str = WORK, main: str = MAIN, others: str = "") -> Outcome:
    """Run the recipe on a module that uses others."""
    (folder / "base_mod.f90").write_text(BASE)
    (folder / "work_mod.f90").write_text(work)
    (folder / "main.f90").write_text(main.replace("    OTHERS\n", others))
    (folder / "copy.py").write_text(RECIPE)
    done = run_command(["main.f90", "-s", "copy.py", "-o", "out.f90"], folder)
    assert done.status == 0, done.err
    return done


def test_copies_compute_the_same(tmp_path: Path) -> None:
    """Imports of a copy are renamed as in its module; a second call uses the same copy."""
    done = run(tmp_path)
    text = done.written["out.f90"]
    assert done.out.count("copied") == 5
    assert text.count("subroutine scaled_copy") == 2
    assert "    use base_mod, only: rp => wp\n" in text
    assert "x(i) = x(i) * ratio + twice(max(real(i, rp), 2._rp)); end do\n" in text
    assert "elemental real(rp) function twice_copy(x) result(twice)\n" in text
    before = text.partition("  subroutine scaled_copy")[0]
    for name in ("scaled", "twice", "summed"):
        before = before.replace(f"{name}_copy", name)
    assert before.rstrip() == MAIN.replace("    OTHERS\n", "").partition("end module")[0].rstrip()
    first = BASE + WORK + MAIN.replace("    OTHERS\n", "")
    second = BASE + WORK + text
    assert output_of(second, tmp_path / "b", main=PROGRAM) == output_of(
        first, tmp_path / "a", main=PROGRAM
    )


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("hiding", "'secret' is private in 'work_mod'"),
        ("guarding", "'guarded' is protected"),
        ("keeping", "'calls' of 'keeping' keeps its value"),
        ("again", "'again' is recursive"),
        ("absent", "what the statement calls is not known"),
    ],
)
def test_procedures_with_state_or_hidden_names_are_not_copied(
    tmp_path: Path, call: str, reason: str
) -> None:
    done = run(tmp_path, others=f"    call {call}(x(1))\n")
    assert reason in done.out
    assert f"call {call}(x(1))" in done.written["out.f90"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("real(rp) :: a\n", "private\n    real(rp) :: a\n", "have private components"),
        ("  type, public", "  interface operator(+)\n  end interface\n  type", "defines operators"),
        ("  implicit none\n", "", "has implicit types"),
        ("use base_mod", "use absent_mod\n  use base_mod", "whether 'absent_mod' has"),
        ("    real(rp) :: total\n", "#ifdef ONE\n    real(rp) :: total\n#endif\n", "preprocessor"),
        ("real(rp) :: total\n", "real(rp) :: total\n    save\n", "'save' of 'summed'"),
    ],
)
def test_types_and_typing_may_prevent_a_copy(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    done = run(tmp_path, WORK.replace(old, new, 1))
    assert reason in done.out
    assert "summed_copy" not in done.written["out.f90"]


def test_names_of_the_other_module_may_hide_intrinsics(tmp_path: Path) -> None:
    """In the module that calls it, `max` would be a variable."""
    done = run(tmp_path, main=MAIN.replace("contains", "  integer :: max(3)\ncontains", 1))
    assert "'max' may be another name in 'driver_mod'" in done.out
    assert "scaled_copy" not in done.written["out.f90"]


def test_only_procedures_of_modules_get_copies(tmp_path: Path) -> None:
    """A main program has no module for the copy."""
    main = "program main\n  use work_mod\n  integer :: i\n  call scaled(1, [1d0])\nend program\n"
    assert "'main' is not directly in a module" in run(tmp_path, main=main).out
