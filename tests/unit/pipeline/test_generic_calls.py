"""Calls of generic names in call trees with device data: the specific procedure is planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.device_programs import moves, plan_of, planned, root

GENERIC = """\
module scale_mod
  implicit none
  integer, parameter :: sp = 4, dp = selected_real_kind(12)
  interface scale
    module procedure scale_one_sp, scale_one, scale_two, scale_all
  end interface scale
  interface named
    module procedure named_one, named_two, unnamed
  end interface named
  interface same
    module procedure same_short, same_long
  end interface same
contains
  subroutine scale_one_sp(x, factor)
    real(sp), intent(inout) :: x(:)
    real(sp), intent(in), optional :: factor
    !$acc kernels
    x(:) = 2.0_sp * x
    !$acc end kernels
  end subroutine scale_one_sp
  subroutine scale_one(x, factor)
    real(dp), intent(inout) :: x(:)
    real(dp), intent(in), optional :: factor
    print *, x
  end subroutine scale_one
  subroutine scale_two(x, factor)
    real(sp), intent(inout) :: x(:, :)
    real(sp), intent(in), optional :: factor
    print *, x
  end subroutine scale_two
  subroutine scale_all(x, first, last)
    real(sp), intent(inout) :: x(:)
    integer, intent(in) :: first, last
    print *, x
  end subroutine scale_all
  subroutine named_one(name, x)
    character(*), intent(in) :: name
    real(sp), intent(inout) :: x(:)
    !$acc kernels
    x(:) = 2.0_sp * x
    !$acc end kernels
  end subroutine named_one
  subroutine named_two(names, x)
    character(*), intent(in) :: names(:)
    real(sp), intent(inout) :: x(:)
    print *, x, names
  end subroutine named_two
  subroutine unnamed(code, x)
    integer, intent(in) :: code
    real(sp), intent(inout) :: x(:)
    print *, x, code
  end subroutine unnamed
  subroutine same_short(x)
    real(sp), intent(inout) :: x(:)
    !$acc kernels
    x(:) = 2.0_sp * x
    !$acc end kernels
  end subroutine same_short
  subroutine same_long(x)
    real(dp), intent(inout) :: x(:)
    !$acc kernels
    x(:) = 2.0_dp * x
    !$acc end kernels
  end subroutine same_long
end module scale_mod
"""
DECLARED = "  real(sp) :: c(10), d(2, 2)\n  real(dp) :: e(10)\n  real :: f(10)\n"


def text_of(call: str) -> str:
    body = f"  c = 1.0\n  d = 1.0\n  e = 1.0\n  f = 1.0\n  {call}\n"
    return root(body, DECLARED, "  use scale_mod\n").replace(
        "kernel_mod, only : kernel", "scale_mod"
    )


@pytest.mark.parametrize(
    ("call", "on_device"),
    [
        ("call scale(c)", True),
        ("call scale(c, 2.0_sp)", True),
        ("call scale(x=c, factor=2.0_sp)", True),
        ("call scale(c(1:10))", True),
        ("call scale(e)", False),
        ("call scale(d)", False),
        ("call scale(c, 1, 2)", False),
        ("call scale(c, last=2, first=1)", False),
        ("call scale(d(:, 1))", True),
        ("call named(1, c)", False),
    ],
)
def test_the_arguments_select_the_procedure(call: str, on_device: bool, tmp_path: Path) -> None:
    (tmp_path / "scale_mod.f90").write_text(GENERIC, "utf-8")
    plan = plan_of(tmp_path, text_of(call), "scale_mod.f90")
    assert bool(moves(plan)) is on_device


def test_a_text_selects_the_procedure_with_a_scalar_of_type_character(tmp_path: Path) -> None:
    lines = GENERIC.splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if "subroutine named_two" in line)
    text = "".join((*lines[:first], *lines[first + 5 :])).replace(
        "named_one, named_two", "named_one"
    )
    (tmp_path / "scale_mod.f90").write_text(text, "utf-8")
    assert moves(plan_of(tmp_path, text_of("call named('a', c)"), "scale_mod.f90"))
    assert not moves(plan_of(tmp_path, text_of("call named(1, c)"), "scale_mod.f90"))


def test_the_kind_of_a_real_without_one_depends_on_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "scale_mod.f90").write_text(GENERIC, "utf-8")
    done = planned(tmp_path, text_of("call same(f)"), "scale_mod.f90")
    assert done.status == 1
    assert "it is not known which procedure 'same' is" in done.err
    assert planned(tmp_path, text_of("call same(e)"), "scale_mod.f90").status == 0


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ("call scale(c)", 0),
        ("call same(e)", 0),
        ("call same(f)", 1),
        ("call same(c + 1.0)", 1),
        ("call named('a', c)", 1),
    ],
)
def test_an_unknown_module_may_have_more_procedures(call: str, status: int, tmp_path: Path) -> None:
    """They cannot have the same arguments as a known one."""
    text = GENERIC.replace("  implicit none\n", "  use not_here\n  implicit none\n", 1)
    (tmp_path / "scale_mod.f90").write_text(text, "utf-8")
    done = planned(tmp_path, text_of(call), "scale_mod.f90")
    assert done.status == status
    assert status == 0 or "it is not known which procedure" in done.err


TYPES = """\
module first_types
  implicit none
  type :: box
    integer :: size = 1
  end type box
end module first_types
module second_types
  implicit none
  type :: box
    real :: size = 1.0
  end type box
end module second_types
module boxes_mod
  use not_here
  use first_types, only : box
  implicit none
  interface fill
    module procedure fill_first
  end interface fill
contains
  subroutine fill_first(one, x)
    type(box), intent(in) :: one
    real, intent(inout) :: x(10)
    !$acc kernels
    x(:) = one%size * x
    !$acc end kernels
  end subroutine fill_first
end module boxes_mod
"""


@pytest.mark.parametrize(("module", "status"), [("first_types", 0), ("second_types", 1)])
def test_types_of_two_modules_may_have_one_name(module: str, status: int, tmp_path: Path) -> None:
    """An unknown module may provide the procedure for the other type."""
    (tmp_path / "boxes_mod.f90").write_text(TYPES, "utf-8")
    uses = f"  use boxes_mod, only : fill\n  use {module}, only : box\n"
    text = root("  call fill(z, b)\n", "  type(box) :: z\n", uses)
    done = planned(tmp_path, text, "boxes_mod.f90")
    assert done.status == status, done.err
    assert status == 0 or "it is not known which procedure 'fill' is" in done.err


EXTENDED = """\
module first_mod
  implicit none
  interface work
    module procedure work_integer
  end interface work
contains
  subroutine work_integer(k, x)
    integer, intent(in) :: k
    real, intent(inout) :: x(:)
    print *, k
  end subroutine work_integer
end module first_mod
module second_mod
  use first_mod
  implicit none
  interface work
    module procedure work_real
  end interface work
contains
  subroutine work_real(y, x)
    real, intent(in) :: y
    real, intent(inout) :: x(:)
    x(3) = x(3) + y
  end subroutine work_real
end module second_mod
"""


@pytest.mark.parametrize("used", ["second_mod", "first_mod\n  use second_mod"])
def test_a_module_may_extend_a_generic_name_that_it_imports(used: str, tmp_path: Path) -> None:
    """The first module has one procedure of this name, which does not change the array."""
    (tmp_path / "work_mod.f90").write_text(EXTENDED, "utf-8")
    body = "  call kernel(b, c)\n  call work(1.0, c)\n"
    text = root(body, "  real :: c(10)\n", f"  use {used}\n")
    done = planned(tmp_path, text, "work_mod.f90")
    assert done.status == 0, done.err
    new = done.written["out/main.f90"]
    assert -1 < new.find("update host(c)") < new.find("call work")


KINDS = """\
module kinds_mod
  implicit none
  integer, parameter :: wp = kind(1.0)
  real(wp) :: t(10)
  interface show
    module procedure show_short, show_long
  end interface show
contains
  subroutine show_short(x)
    real(4), intent(in) :: x
    print *, x
  end subroutine show_short
  subroutine show_long(x)
    real(8), intent(in) :: x
    print *, x, t(3)
  end subroutine show_long
end module kinds_mod
"""


def test_the_kind_of_a_default_literal_depends_on_the_compiler(tmp_path: Path) -> None:
    """With 8 bytes for default reals, the procedure that reads the array is called."""
    (tmp_path / "kinds_mod.f90").write_text(KINDS, "utf-8")
    body = "  !$acc parallel loop\n  do i = 1, 10\n    t(i) = 2.0 * i\n  end do\n  call show(s)\n"
    text = root(body, "  real(wp) :: s\n", "  use kinds_mod\n")
    done = planned(tmp_path, text, "kinds_mod.f90")
    assert (
        done.status == 1 or "update host(t)" in done.written["out/main.f90"].split("call show")[0]
    )
