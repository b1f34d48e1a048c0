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


BUMPED = """module work_mod
  implicit none
  HEAD
contains
  subroutine bumped(x)
    real, intent(inout) :: x
    BODY
  end subroutine bumped
  pure real function added(a, b)
    real, intent(in) :: a, b
    added = a + b
  end function added
  pure subroutine given(a, b)
    integer, intent(out) :: a
    logical, intent(in) :: b
    a = merge(50, 0, b)
  end subroutine given
end module work_mod
"""
COUNTS = "integer, save :: calls = 0\n calls = calls + 1\n x = x + calls\n"
SHORT = """module driver_mod
  use work_mod, only: bumped
  implicit none
contains
  subroutine driver(x)
    real, intent(inout) :: x
    call bumped(x)
  end subroutine driver
  subroutine report(x)
    real, intent(inout) :: x
    x = x + 100
  end subroutine report
end module driver_mod
"""


def bumped(body: str, head: str = "") -> str:
    """Return a module with a procedure of these statements."""
    return BUMPED.replace("HEAD", head).replace("BODY", body)


@pytest.mark.parametrize(
    ("body", "head", "reason"),
    [
        (
            f"call inner()\n contains\n subroutine inner()\n {COUNTS} end subroutine",
            "",
            "has internal",
        ),
        (f"block\n {COUNTS} end block", "", "'bumped' has internal procedures or blocks"),
        ("integer n /3/\n n = n + 1", "", "'integer n /3/' of 'bumped' cannot be in a copy"),
        ("call report(x)", "", "'report' may be an external procedure"),
        ("if (x > 0) call report(x)", "", "'report' may be an external procedure"),
        ("if (isnan(x)) x = 0", "", "what 'isnan' of 'bumped' denotes is not known"),
        ("!$ call report(x)", "", "the preprocessor may change 'bumped'"),
        ("x = x + 1", "include 'gone.inc'", "includes files, which may declare any name"),
        ("x = x + 1", "\n#define x y", "'x' is a macro in"),
        (
            "x = x .plus. 1.0",
            "interface operator(.plus.)\n procedure added\n end interface",
            "'work_mod' defines operators or assignments",
        ),
        (
            "integer :: n\n n = x > 0\n x = x + n",
            "interface assignment(=)\n procedure given\n end interface",
            "'work_mod' defines operators or assignments",
        ),
        ("x = x .plus. 1.0", "", "'bumped' uses the operator '.plus.'"),
    ],
)
def test_statements_that_could_differ_elsewhere_are_not_copied(
    tmp_path: Path, body: str, head: str, reason: str
) -> None:
    """The copy would have state of its own, or call another procedure."""
    done = run(tmp_path, bumped(body, head), SHORT)
    assert reason in done.out
    assert done.written["out.f90"] == SHORT


def test_operators_of_the_module_that_calls_prevent_a_copy(tmp_path: Path) -> None:
    """An assignment in the copy could be a call, also if another module defines it."""
    (tmp_path / "given_mod.f90").write_text(
        "module given_mod\n use work_mod, only: given\n"
        " interface assignment(=)\n procedure given\n end interface\nend module\n"
    )
    main = SHORT.replace("  implicit none", "  use given_mod\n  implicit none", 1)
    done = run(tmp_path, bumped("integer :: n\n n = x > 0\n x = x + n"), main)
    assert "'given_mod' defines operators or assignments" in done.out
    assert done.written["out.f90"] == main


def test_words_that_are_no_names_do_not_prevent_a_copy(tmp_path: Path) -> None:
    body = """integer :: i
    real :: c
    common /block_of_c/ c
    outer: do i = 1, 3
      associate (y => x, z => i)
        y = y + z
      end associate
      if (i == 2) exit outer
    end do outer
    write (*, fmt='(a)', advance="no") "call it.foo."
    if (x > 1.e5 .and. .true.) stop "no"
"""
    assert "subroutine bumped_copy(" in run(tmp_path, bumped(body), SHORT).written["out.f90"]


@pytest.mark.parametrize("before", ["  implicit none\n", "    real, intent(inout) :: x\n"])
def test_the_name_of_a_copy_differs_from_imported_names(tmp_path: Path, before: str) -> None:
    """A module or a routine may import a name without listing it."""
    other = "module other_mod\n  real :: bumped_copy = 3\nend module other_mod\n"
    (tmp_path / "other_mod.f90").write_text(other)
    main = SHORT.replace(before, f"  use other_mod\n{before}", 1)
    done = run(tmp_path, bumped("real :: bumped_copy_1\n bumped_copy_1 = 1"), main)
    text = done.written["out.f90"]
    assert "call bumped_copy_2(x)" in text


def test_modules_that_are_not_found_prevent_a_copy(tmp_path: Path) -> None:
    main = SHORT.replace("  implicit none", "  use gone_mod\n  implicit none", 1)
    done = run(tmp_path, bumped("x = x + 1"), main)
    assert "whether 'gone_mod' has a" in done.out
    assert done.written["out.f90"] == main


def test_names_of_the_other_module_may_hide_intrinsics(tmp_path: Path) -> None:
    """In the module that calls it, `max` would be a variable."""
    done = run(tmp_path, main=MAIN.replace("contains", "  integer :: max(3)\ncontains", 1))
    assert "'max' may be another name in 'driver_mod'" in done.out
    assert "scaled_copy" not in done.written["out.f90"]


def test_only_procedures_of_modules_get_copies(tmp_path: Path) -> None:
    """A main program has no module for the copy."""
    main = "program main\n  use work_mod\n  integer :: i\n  call scaled(1, [1d0])\nend program\n"
    assert "'main' is not directly in a module" in run(tmp_path, main=main).out
