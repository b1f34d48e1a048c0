"""Programs that use arrays between device regions in unusual ways.

Each has the values of the program without directives, or a plan is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import run_command
from two_memories import output_of, planned

pytestmark = pytest.mark.fortran

TRAP = """\
module dat
  implicit none
  integer, parameter :: n = 10
  real :: u(n) = 1.0, v(n) = 2.0
  real, allocatable :: w(:)
{data}end module dat
module wk
  use dat
  implicit none
contains
  subroutine step()
    integer :: i
    !$acc kernels
    do i = 1, n
      u(i) = u(i) + v(i)
    end do
    !$acc end kernels
  end subroutine step
{procedures}end module wk
program main
  use dat
  use wk
  implicit none
{declared}  call step()
{statements}  call step()
  print *, u, v
end program main
"""
REGION = "    !$acc kernels\n{}    !$acc end kernels\n"
ALL_OF_A = REGION.format("    a(:) = 1.0\n    a(:) = a + v(1)\n")


def trap(statements: str, procedures: str = "", data: str = "", declared: str = "") -> str:
    """Return a program that uses arrays between two steps on the device."""
    parts = {"procedures": procedures, "data": data, "declared": declared}
    return TRAP.format(statements=statements, **parts)


def procedure(name: str, body: str, dummies: str = "", declared: str = "") -> str:
    return f"  subroutine {name}({dummies})\n{declared}{body}  end subroutine {name}\n"


SHORT = "    integer, intent(in) :: m\n    real, intent(inout) :: a(m)\n"
EQUAL = {
    "a part of the argument": trap(
        "  call part(n - 1, u)\n", procedure("part", ALL_OF_A, "m, a", SHORT)
    ),
    "an element for a scalar": trap(
        "  call one(u(3))\n",
        procedure(
            "one",
            "    x = x + 1.0\n" + REGION.format("    v(:) = 2.0 * v\n"),
            "x",
            "    real, intent(inout) :: x\n",
        ),
    ),
    "a bound that changes": trap(
        "  m = n\n  call bound(m, u)\n",
        procedure(
            "bound",
            "    m = 5\n" + REGION.format("    do i = 1, m\n    a(i) = 7.0\n    end do\n"),
            "m, a",
            "    integer, intent(inout) :: m\n    real, intent(inout) :: a(m)\n    integer :: i\n",
        ),
        declared="  integer :: m\n",
    ),
    "a bound with a first value": trap(
        "  m = 5\n  call bound(u)\n",
        procedure(
            "bound",
            REGION.format("    a(:) = a + 7.0\n") + "    a(1) = 9.0\n",
            "a",
            "    real, intent(inout) :: a(m)\n",
        ),
        data="  integer :: m = 10\n",
    ),
    "a copy of a section": trap(
        "  call part(5, u(::2))\n", procedure("part", ALL_OF_A, "m, a", SHORT)
    ),
    "an expression": trap(
        "  call read_only(v + 1.0)\n  call read_only(v)\n",
        procedure(
            "read_only", REGION.format("    u(:) = u + a\n"), "a", "    real, intent(in) :: a(n)\n"
        ),
    ),
    "a target in its module": trap(
        "  p => u\n  p(2) = 50.0\n", data="  target :: u\n", declared="  real, pointer :: p(:)\n"
    ),
    "an equivalence in its module": trap(
        "  other(4) = 9.0\n", data="  real :: other(n)\n  equivalence (u, other)\n"
    ),
    "a namelist": trap(
        "  open(10, status='scratch')\n  write(10, nml=both)\n  u = 0.0\n  rewind(10)\n"
        "  read(10, nml=both)\n",
        data="  namelist /both/ u, v\n",
    ),
    "a save statement": trap(
        "  call keep()\n  call keep()\n",
        procedure(
            "keep",
            REGION.format("    own(:) = own + 1.0\n    u(:) = u + own\n"),
            declared="    real :: own(n)\n    data own / n * 1.0 /\n    save\n",
        ),
    ),
    "private in one loop": trap(
        "  call partly()\n",
        procedure(
            "partly",
            REGION.format(
                "    !$acc loop private(own)\n    do i = 1, n\n      own(1) = u(i)\n"
                "      v(i) = own(1)\n    end do\n    do i = 1, n\n      u(i) = own(i)\n"
                "    end do\n"
            ),
            declared="    real :: own(n)\n    integer :: i\n",
        ).replace("    !$acc kernels", "    own = 3.0\n    !$acc kernels"),
    ),
    "an array that another procedure allocates": trap(
        "  call prepare(w)\n  call use_it()\n",
        procedure(
            "prepare",
            "    allocate(x(n))\n    x = 4.0\n",
            "x",
            "    real, allocatable, intent(inout) :: x(:)\n",
        )
        + procedure("use_it", REGION.format("    u(:) = u + w\n")),
    ),
    "an assignment that allocates": trap(
        "  w = 2.0 * v\n  call use_it()\n  deallocate(w)\n",
        procedure("use_it", REGION.format("    u(:) = u + w\n")),
    ),
    "a type-bound call": trap(
        "  call object%change()\n",
        "  subroutine change(self)\n    class(thing), intent(in) :: self\n    u(2) = 30.0\n"
        "  end subroutine change\n",
        declared="  type(thing) :: object\n",
    )
    .replace(
        "module wk\n  use dat\n  implicit none\n",
        "module wk\n  use dat\n  implicit none\n  type :: thing\n  contains\n"
        "    procedure :: change => unknown\n  end type thing\n",
    )
    .replace("subroutine change(", "subroutine unknown(")
    .replace("subroutine change\n", "subroutine unknown\n"),
    "a complete write in a loop without iterations": trap(
        "  do i = 1, m\n    u = 0.0\n  end do\n",
        data="  integer :: m = 0\n",
        declared="  integer :: i\n",
    ),
    "a complete write of a region's loop without iterations": trap(
        "  v = 3.0\n  call times(0)\n",
        procedure(
            "times",
            REGION.format("    do i = 1, m\n      v = 9.0\n    end do\n"),
            "m",
            "    integer, intent(in) :: m\n    integer :: i\n",
        ),
    ),
    "parts of complex numbers": trap(
        "  call turn()\n  z(:)%re = 1.0\n  call turn()\n  print *, z\n",
        procedure("turn", REGION.format("    z(:) = z * (1.0, 0.5)\n")),
        data="  complex :: z(n) = (1.0, 1.0)\n",
    ),
    "a block that declares the name again": trap(
        "  block\n    real :: u(5)\n    u = 0.0\n    print *, u\n  end block\n"
        "  block\n    integer :: z\n    z = 3\n    u(z) = 7.0\n  end block\n"
    ),
    "a block that declares another name of the array": trap(
        "  call blocks()\n",
        procedure(
            "blocks",
            "    block\n      real :: x(5)\n      x = 0.0\n      print *, x\n    end block\n"
            "    x(3) = 7.0\n",
            declared="    use dat, only : x => u\n",
        ),
    ),
    "a function in an argument": trap(
        "  call add(total())\n",
        procedure(
            "add",
            REGION.format("    v(:) = v + x\n    u(:) = 0.5 * u\n"),
            "x",
            "    real, intent(in) :: x\n",
        )
        + "  real function total()\n    total = sum(u)\n    v(1) = v(1) + 1.0\n"
        "  end function total\n",
    ),
    "a vector subscript": trap(
        "  call some(u([1, 3, 5]))\n",
        procedure("some", REGION.format("    v(1:3) = a + 1.0\n"), "a", "    real :: a(:)\n"),
    ),
    "a final procedure": trap(
        "  call scope()\n",
        procedure("scope", "    object%x = 1\n", declared="    type(thing) :: object\n")
        + procedure(
            "ending", "    u(2) = 55.0\n", "one", "    type(thing), intent(inout) :: one\n"
        ),
    ).replace(
        "module wk\n  use dat\n  implicit none\n",
        "module wk\n  use dat\n  implicit none\n  type :: thing\n    integer :: x = 0\n"
        "  contains\n    final :: ending\n  end type thing\n",
    ),
    "a bound in a module that changes": trap(
        "  u = 8.0\n  call outer(u)\n",
        procedure(
            "outer",
            "    m = 4\n    call inner(a)\n    a(1) = a(9)\n",
            "a",
            "    real, intent(inout) :: a(m)\n",
        )
        + procedure(
            "inner", REGION.format("    b(:) = 3.0\n"), "b", "    real, intent(inout) :: b(m)\n"
        ),
        data="  integer :: m = 10\n",
    ),
    "a bound in a module that a called procedure changes": trap(
        "  u = 8.0\n  call outer(u)\n",
        procedure(
            "outer",
            "    call shrink()\n"
            + REGION.format("    do i = 1, m\n      a(i) = 7.0\n    end do\n"),
            "a",
            "    real, intent(inout) :: a(m)\n    integer :: i\n",
        )
        + procedure("shrink", "    m = 4\n"),
        data="  integer :: m = 10\n",
    ),
    "a bound with the name of another variable": trap(
        "  u = 8.0\n  call outer(u)\n",
        procedure("outer", "    call inner(a)\n", "a", "    real, intent(inout) :: a(m)\n")
        + procedure(
            "inner",
            REGION.format("    b(:) = 3.0\n"),
            "b",
            "    use dat, only : m => small\n    real, intent(inout) :: b(m)\n",
        ),
        data="  integer :: m = 10, small = 5\n",
    ),
    "a function that allocates its argument": trap(
        "  allocate(w(n))\n  w = 1.0\n  call use_it()\n  print *, again(w)\n  call use_it()\n"
        "  print *, w\n",
        procedure("use_it", REGION.format("    w(:) = w + u(1)\n    u(:) = w(1:n)\n"))
        + "  integer function again(a)\n    real, allocatable, intent(inout) :: a(:)\n"
        "    deallocate(a)\n    allocate(a(n + 1))\n    a = 4.0\n    again = 1\n"
        "  end function again\n",
    ),
    "arrays that procedures without regions allocate": trap(
        "  do i = 1, 3\n    call init(n + i)\n    call use_it()\n    call use_it()\n"
        "    if (i > 1) print *, w\n    call ending()\n  end do\n",
        procedure(
            "init",
            "    if (.not. allocated(other)) allocate(other(m))\n    other = 3.0\n",
            "m",
            "    use dat, only : other => w\n    integer, intent(in) :: m\n",
        )
        + procedure("ending", "    deallocate(w)\n")
        + procedure("use_it", REGION.format("    w(:) = w + u(1)\n    u(:) = w(1:n)\n")),
        declared="  integer :: i\n",
    ),
    "an array that some iterations allocate": trap(
        "  do i = 1, 4\n    if (i == 1) then\n      allocate(w(n))\n      w = 2.0\n"
        "    else if (i == 3) then\n      deallocate(w)\n      allocate(w(n + 2))\n      w = 5.0\n"
        "    end if\n    call use_it()\n    if (i == 2) print *, w\n  end do\n  print *, w\n",
        procedure("use_it", REGION.format("    w(:) = w + u(1)\n    u(:) = w(1:n)\n")),
        declared="  integer :: i\n",
    ),
    "a new array that both sides write in part": trap(
        "  allocate(w(n))\n  call inner()\n  w(1) = 4.0\n  w(n) = 5.0\n  call use_it()\n"
        "  print *, w\n  allocate(w(n), stat=i)\n  print *, w\n",
        procedure("inner", REGION.format("    w(2:n - 1) = 3.0\n"))
        + procedure("use_it", REGION.format("    w(:) = w + u(1)\n    u(:) = w(1:n)\n")),
        declared="  integer :: i\n",
    ),
    "allocatable arguments": trap(
        "  allocate(w(n))\n  w = 1.0\n  call middle(w, n)\n  w(3) = 7.0\n  call middle(w, n)\n",
        procedure(
            "middle",
            "    call inner(a, m)\n    call inner(a(:), m)\n",
            "a, m",
            "    real, allocatable, intent(inout) :: a(:)\n    integer, intent(in) :: m\n",
        )
        + procedure(
            "inner",
            REGION.format("    a(:) = a + u(1:m)\n    u(1:m) = a\n"),
            "a, m",
            "    integer, intent(in) :: m\n    real, intent(inout) :: a(m)\n",
        ),
    ),
    "arrays of the main program with values": trap(
        "  call both(a, b)\n  a(2) = 5.0\n  call both(a, b)\n  print *, a, b\n",
        procedure(
            "both",
            REGION.format("    a(:) = a + b\n"),
            "a, b",
            "    real, intent(inout) :: a(n), b(n)\n",
        ),
        declared="  real, save :: a(n) = 1.0\n  real :: b(n) = 2.0\n",
    ),
    "a component with the name of an array": trap(
        "  object%u = 3.0\n  u(2) = object%u(1)\n",
        data="  type :: box\n    real :: u(2) = 4.0, v = 5.0\n  end type box\n",
        declared="  type(box) :: object\n",
    ),
    "a text with the size of an array": trap(
        "  text = 'a'\n  u(2) = len(text)\n", declared="  character(len=size(u)) :: text\n"
    ),
    "an array and an expression": trap(
        "  u(3) = 5.0\n  call twice(u)\n  u(4) = u(3) + 1.0\n  call twice(v + 1.0)\n"
        "  call twice(u)\n",
        procedure(
            "twice",
            REGION.format("    a(:) = 2.0 * a\n")
            + "    a(5) = 1.0 + a(6)\n"
            + REGION.format("    a(:) = 2.0 * a\n    v(6) = v(6) + a(5)\n"),
            "a",
            "    real :: a(n)\n",
        ),
    ),
    "an array and a pointer": trap(
        "  p => other\n  call twice(u)\n  p(4) = u(3)\n  call twice(p)\n  u(4) = other(4)\n"
        "  call twice(u)\n  print *, other\n",
        procedure(
            "twice",
            REGION.format("    a(:) = 2.0 * a\n")
            + "    a(5) = 1.0 + a(6)\n"
            + REGION.format("    a(:) = 2.0 * a\n"),
            "a",
            "    real :: a(n)\n",
        ),
        declared="  real, target :: other(n) = 3.0\n  real, pointer :: p(:)\n",
    ),
    "an argument that may be absent": trap(
        "  call maybe(u)\n  u(2) = 2.0 * u(3)\n  call maybe(u, v)\n  v(7) = v(1) + u(1)\n"
        "  call maybe(b=u, a=v)\n  u(1) = 0.5\n  call through(v, u)\n  call through(v)\n",
        procedure(
            "maybe",
            "    if (present(b)) then\n"
            + REGION.format("    b(:) = b + 1.0\n")
            + "      b(3) = 2.0 * b(4)\n    end if\n"
            + REGION.format("    a(:) = a * 1.5\n")
            + "    if (present(b)) then\n"
            + REGION.format("    b(:) = b * 0.5\n")
            + "    end if\n",
            "a, b",
            "    real, intent(inout) :: a(n)\n    real, intent(inout), optional :: b(n)\n",
        )
        + procedure(
            "through",
            "    call maybe(a, b)\n",
            "a, b",
            "    real, intent(inout) :: a(n)\n    real, intent(inout), optional :: b(n)\n",
        ),
    ),
    "a new iteration before the end of a loop": trap(
        "  k = 0\n  do while (u(1) < 40.0)\n    k = k + 1\n    if (mod(k, 2) == 1) then\n"
        "      call step()\n      cycle\n    end if\n    call step()\n    call step()\n"
        "  end do\n  print *, k\n",
        declared="  integer :: k\n",
    ),
    "a part of complex numbers": trap(
        "  call turn()\n  call twice(z%re)\n  call turn()\n  print *, z\n",
        procedure("turn", REGION.format("    z(:) = z * (1.0, 0.5)\n"))
        + procedure(
            "twice", REGION.format("    a(:) = 2.0 * a\n"), "a", "    real, intent(inout) :: a(n)\n"
        ),
        data="  complex :: z(n) = (1.0, 1.0)\n",
    ),
    "two arguments that change places": trap(
        "  do k = 1, n - 9\n    call first(u, v)\n  end do\n  call second(u, v)\n",
        procedure(
            "second",
            "    do i = 1, n - 9\n      call first(b, a)\n    end do\n",
            "a, b",
            "    real, intent(inout) :: a(n), b(n)\n    integer :: i\n",
        )
        + procedure(
            "first",
            "    if (n > 50) then\n      b(:) = 3.0\n    else if (n > 40) then\n      continue\n"
            "    end if\n    call third(b)\n    if (n > 30) then\n      continue\n    else\n"
            "      a(1) = a(1) + 1.0\n    end if\n",
            "a, b",
            "    real, intent(inout) :: a(n), b(n)\n",
        )
        + procedure(
            "third",
            "    do i = 1, n - 9\n" + REGION.format("    a(:) = 5.0\n") + "    end do\n",
            "a",
            "    real, intent(inout) :: a(n)\n    integer :: i\n",
        ),
        declared="  integer :: k\n",
    ),
}
PLANNED = (
    "a component with the name of an array",
    "an array and an expression",
    "an array and a pointer",
    "an argument that may be absent",
)
"""Traps whose arrays stay on the device between the regions."""
ZAP = procedure("zap", "    u(2) = 55.0\n")
REFUSED = {
    "a procedure pointer": trap(
        "  p => other\n  call p()\n",
        ZAP + procedure("other", "    v(2) = 55.0\n"),
        declared="  procedure(zap), pointer :: p\n",
    ),
    "a procedure pointer of a module": trap(
        "  p => zap\n  call p()\n", ZAP, data="  procedure(), pointer :: p\n"
    ),
    "a procedure pointer in a structure": trap(
        "  object%p => zap\n  call object%p()\n",
        ZAP,
        declared="  type :: thing\n    procedure(zap), pointer, nopass :: p\n  end type thing\n"
        "  type(thing) :: object\n",
    ),
    "a final procedure with a region": trap(
        "  call scope()\n",
        procedure("scope", "    object%x = 1\n", declared="    type(thing) :: object\n")
        + procedure(
            "ending",
            REGION.format("    u(:) = 55.0\n"),
            "one",
            "    type(thing), intent(inout) :: one\n",
        ),
    ).replace(
        "module wk\n  use dat\n  implicit none\n",
        "module wk\n  use dat\n  implicit none\n  type :: thing\n    integer :: x = 0\n"
        "  contains\n    final :: ending\n  end type thing\n",
    ),
    "a label": trap(
        "  read (*, *, end=10) u\n10 continue\n",
    ),
    "a region in a function": trap(
        "  v(1) = total()\n",
        "  real function total()\n"
        + REGION.format("    u(:) = u + 1.0\n")
        + "    total = u(1)\n  end function total\n",
    ),
    "an argument that is called": trap(
        "  call apply(step)\n", procedure("apply", "    call f()\n", "f", "    external :: f\n")
    ),
    "an entry": trap(
        "  call second()\n",
        procedure("first", "    print *, u(1)\n    return\n    entry second()\n    u(2) = 33.0\n"),
    ),
    "internal procedures": trap(
        "  call outer()\n",
        procedure(
            "outer",
            "    call inner()\n  contains\n    subroutine inner()\n      call zap()\n"
            "    end subroutine inner\n",
        )
        + procedure("zap", "    u(3) = 5.0\n"),
    ),
    "a function in an internal procedure": trap(
        "  call outer()\n",
        procedure(
            "outer",
            "    call inner()\n  contains\n    subroutine inner()\n      print *, zap() > 0\n"
            "    end subroutine inner\n",
        )
        .replace("    call inner()\n", "    print *, inner()\n")
        .replace("subroutine inner()", "logical function inner()")
        .replace("print *, zap() > 0", "inner = zap() > 0")
        .replace("end subroutine inner", "end function inner")
        + "  integer function zap()\n    u(3) = 5.0\n    zap = 1\n  end function zap\n",
    ),
    "a condition of a region": trap(
        "  call maybe()\n",
        procedure(
            "maybe",
            REGION.format("    u(:) = 2.0 * u\n").replace("kernels\n", "kernels if(n > 99)\n", 1),
        ),
    ),
    "an included file": trap("  include 'more.inc'\n"),
}


@pytest.mark.parametrize("name", EQUAL)
def test_a_trap_has_the_values_of_the_plain_program(
    name: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    plain = re.sub(r"^ *!\$acc.*$", "", EQUAL[name], flags=re.MULTILINE)
    wanted = output_of(plain, tmp_path / "plain", memory, f90)
    assert "rror" not in wanted
    found = output_of(
        planned(EQUAL[name], "main", tmp_path / "plan"), tmp_path / "run", memory, f90
    )
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]


@pytest.mark.parametrize("name", PLANNED)
def test_no_array_of_a_trap_is_left_out(name: str, tmp_path: Path) -> None:
    new = planned(EQUAL[name], "main", tmp_path / "plan")
    assert re.search(r"exit data delete\(.*\bu\b", new)
    assert "update host(" in new


@pytest.mark.parametrize("name", PLANNED)
def test_without_a_transfer_a_trap_has_other_values(
    name: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    lines = planned(EQUAL[name], "main", tmp_path / "plan").splitlines(keepends=True)
    wanted = output_of("".join(lines), tmp_path / "run", memory, f90).splitlines()[:-1]
    for at, line in enumerate(lines):
        if "!$acc update" in line:
            text = "".join((*lines[:at], "continue\n", *lines[at + 1 :]))
            found = output_of(text, tmp_path / f"without{at}", memory, f90).splitlines()[:-1]
            assert found != wanted, line


@pytest.mark.parametrize("name", REFUSED)
def test_a_trap_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "main.f90").write_text(REFUSED[name], "utf-8")
    done = run_command(["--device-data", "main", "main.f90", "-o", "new.f90"], tmp_path)
    assert done.status == 1, done.out
    assert "error[T098]" in done.err
    assert "new.f90" not in done.written
