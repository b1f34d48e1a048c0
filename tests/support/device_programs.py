"""Programs with device regions, and their runs on two memories, for tests of planned data."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fortran import run
from two_memories import MEMORY, with_two_memories

BLOCKS = """\
module column_mod
  implicit none
contains
  subroutine columns(first, last, n, nlev, t, q, tend, flux, unused)
    integer, intent(in) :: first, last, n, nlev
    real(8), intent(in) :: t(n, nlev)
    real(8), intent(inout) :: q(n, nlev), tend(n, nlev)
    real(8), intent(out) :: flux(n, nlev + 1)
    real(8), intent(in) :: unused(n, nlev)
    integer :: i, k
    !$acc routine seq
    do i = first, last
      flux(i, 1) = 0.0d0
      do k = 1, nlev
        tend(i, k) = 0.0d0
      end do
      do k = 1, nlev
        tend(i, k) = tend(i, k) + 0.1d0 * t(i, k) - q(i, k)
        flux(i, k + 1) = flux(i, k) + tend(i, k)
        if (t(i, k) > 0.5d0) q(i, k) = 0.9d0 * q(i, k) + 0.01d0
      end do
    end do
  end subroutine columns
end module column_mod
module driver_mod
  use column_mod, only : columns
  implicit none
contains
  subroutine physics(n, nlev, nblocks, nsteps, t, q, tend, flux, unused)
    integer, intent(in) :: n, nlev, nblocks, nsteps
    real(8), intent(inout) :: t(n, nlev, nblocks)
    real(8), intent(inout) :: q(n, nlev, nblocks), tend(n, nlev, nblocks)
    real(8), intent(out) :: flux(n, nlev + 1, nblocks)
    real(8), intent(in) :: unused(n, nlev, nblocks)
    integer :: step, block
    do step = 1, nsteps
      !$acc parallel loop gang
      do block = 1, nblocks
        call columns(1, n, n, nlev, t(:, :, block), q(:, :, block), tend(:, :, block), &
                     flux(:, :, block), unused(:, :, block))
      end do
      !$acc end parallel loop
      if (mod(step, 3) == 0) then
        print '(a,i3,z17.16)', 'flux', step, sum(flux)
      end if
    end do
  end subroutine physics
end module driver_mod
program blocks
  use driver_mod, only : physics
  implicit none
  integer, parameter :: n = 4, nlev = 5, nblocks = 3
  real(8) :: t(n, nlev, nblocks), q(n, nlev, nblocks), tend(n, nlev, nblocks)
  real(8) :: flux(n, nlev + 1, nblocks), unused(n, nlev, nblocks)
  integer :: i
  t = reshape([(mod(7 * i, 13) / 13.0d0, i = 1, n * nlev * nblocks)], shape(t))
  q = 0.5d0 * t
  tend = -1.0d0
  unused = 2.0d0
  do i = 0, 7, 7
    call physics(n, nlev, nblocks, i, t, q, tend, flux, unused)
    print '(z17.16)', sum(tend)
  end do
  print '(4z17.16)', sum(t), sum(q), sum(tend), sum(flux)
end program blocks
"""

WAVES = """\
module grid_mod
  implicit none
  integer, parameter :: n = 12
  real(8) :: depth(n, n), u(n, n), v(n, n), h(n, n)
  real(8), allocatable :: mask(:, :)
end module grid_mod
module step_mod
  use grid_mod, only : n, u, v, h, depth, mask
  implicit none
contains
  subroutine momentum(dt)
    real(8), intent(in) :: dt
    integer :: i, j
    !$acc kernels
    do j = 2, n - 1
      do i = 2, n - 1
        u(i, j) = mask(i, j) * (u(i, j) - dt * (h(i + 1, j) - h(i, j)))
        v(i, j) = mask(i, j) * (v(i, j) - dt * (h(i, j + 1) - h(i, j)))
      end do
    end do
    !$acc end kernels
  end subroutine momentum
  subroutine continuity(dt)
    real(8), intent(in) :: dt
    real(8) :: flux(n, n), other(n, n)
    integer :: i, j
    !$acc kernels
    do j = 1, n
      do i = 1, n
        flux(i, j) = depth(i, j) * u(i, j)
        other(i, j) = depth(i, j) * v(i, j)
      end do
    end do
    !$acc end kernels
    if (dt < 0.0d0) return
    !$acc kernels
    do j = 2, n - 1
      do i = 2, n - 1
        h(i, j) = h(i, j) - dt * (flux(i, j) - flux(i - 1, j) + other(i, j) - other(i, j - 1))
      end do
    end do
    !$acc end kernels
  end subroutine continuity
  subroutine edges(field)
    real(8), intent(inout) :: field(n, n)
    field(1, :) = field(2, :)
    field(n, :) = field(n - 1, :)
  end subroutine edges
  subroutine step(number)
    integer, intent(in) :: number
    call momentum(0.1d0)
    if (mod(number, 4) == 0) then
      call edges(u)
    end if
    call continuity(0.1d0)
    if (number > 100) call continuity(-0.1d0)
  end subroutine step
end module step_mod
program waves
  use grid_mod, only : n, u, v, h, depth, mask
  use step_mod, only : step
  implicit none
  integer :: i, j, number
  real(8) :: largest
  allocate(mask(n, n))
  do j = 1, n
    do i = 1, n
      h(i, j) = 0.01d0 * mod(5 * i + 3 * j, 11)
      depth(i, j) = 1.0d0 + 0.1d0 * i
      mask(i, j) = merge(0.0d0, 1.0d0, mod(i * j, 7) == 0)
    end do
  end do
  u = 0.0d0
  v = 0.0d0
  number = 0
  do
    number = number + 1
    call step(number)
    if (mod(number, 5) == 0) then
      largest = sum(h)
      if (largest > 1000.0d0) exit
      if (number < 10) cycle
      print '(i4,z17.16)', number, largest
    end if
    if (number == 13) exit
  end do
  print '(3z17.16)', sum(u), sum(v), sum(h)
end program waves
"""


def in_openmp(text: str) -> str:
    """Return a program with OpenMP's regions instead of OpenACC's."""
    text = text.replace("!$acc kernels", "!$omp target").replace(
        "!$acc end kernels", "!$omp end target"
    )
    text = text.replace("!$acc parallel loop gang", "!$omp target teams distribute parallel do")
    text = text.replace("!$acc end parallel loop", "!$omp end target teams distribute parallel do")
    return text.replace("!$acc routine seq", "!$omp declare target")


PROGRAMS = {"blocks": BLOCKS, "waves": WAVES}
LEAST = {"blocks": (3, 6), "waves": (8, 8)}
"""The transfers to the device and from it."""


def without_directives(text: str) -> str:
    """Return a program that computes on the host."""
    return re.sub(r"^ *!\$(acc|omp).*$", "", text, flags=re.MULTILINE)


def compiled_memory(folder: Path, f90: str) -> Path:
    """Compile the module `two_memories` in a folder, and return the folder."""
    (folder / "two_memories.f90").write_text(MEMORY, "utf-8")
    run([f90, "-c", "-J", str(folder), "-o",
         str(folder / "memory.o"), str(folder / "two_memories.f90")])  # fmt: skip
    return folder


def output_of(files: Mapping[str, str], folder: Path, memory: Path, f90: str) -> str:
    """Compile and run a program, whose directives move data between two memories."""
    folder.mkdir()
    paths = []
    for name, text in files.items():
        own = with_two_memories(text).replace(
            "\nend program", "\ncall device_report()\nend program"
        )
        (folder / name).write_text(own, "utf-8")
        paths.append(str(folder / name))
    command = [f90, "-O1", "-fcheck=bounds", "-ffree-line-length-none", "-I", str(memory)]
    run([*command, "-J", str(folder), "-o", str(folder / "main"), *paths, str(memory / "memory.o")])
    done = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


# ---------------------------------------------------------------------------- traps

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
}
REFUSED = {
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
