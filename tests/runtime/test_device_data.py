"""Programs whose device data are planned over call trees: values and numbers of transfers.

The device has a memory of its own (`two_memories`), in which what was not transferred is NaN.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from command import run_command
from fortran import run
from two_memories import MEMORY, joined, with_two_memories

pytestmark = pytest.mark.fortran

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


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Return the folder of the compiled module `two_memories`."""
    folder = tmp_path_factory.mktemp("memory")
    (folder / "two_memories.f90").write_text(MEMORY, "utf-8")
    run([request.config.getoption("--f90"), "-c", "-J", str(folder), "-o",
         str(folder / "memory.o"), str(folder / "two_memories.f90")])  # fmt: skip
    return folder


def output_of(text: str, folder: Path, memory: Path, f90: str) -> str:
    """Compile and run a program, whose directives move data between two memories."""
    folder.mkdir()
    own = with_two_memories(text).replace("\nend program", "\ncall device_report()\nend program")
    (folder / "main.f90").write_text(own, "utf-8")
    command = [f90, "-O1", "-fcheck=bounds", "-ffree-line-length-none", "-I", str(memory)]
    run([*command, "-J", str(folder), "-o", str(folder / "main"), str(folder / "main.f90"),
         str(memory / "memory.o")])  # fmt: skip
    done = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


def planned(text: str, root: str, folder: Path, *words: str) -> str:
    """Return a program with the planned transfers of a call tree."""
    folder.mkdir()
    (folder / "main.f90").write_text(text, "utf-8")
    done = run_command(["--device-data", root, *words, "main.f90", "-o", "new.f90"], folder)
    assert done.status == 0, done.err
    return (folder / "new.f90").read_text("utf-8")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("family", ["acc", "omp"])
def test_values_and_numbers_of_transfers(
    name: str, family: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    text = PROGRAMS[name] if family == "acc" else in_openmp(PROGRAMS[name])
    plain = re.sub(r"^ *!\$(acc|omp).*$", "", text, flags=re.MULTILINE)
    wanted = output_of(plain, tmp_path / "plain", memory, f90)
    found = output_of(planned(text, name, tmp_path / "plan"), tmp_path / "run", memory, f90)
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]
    assert tuple(map(int, found.split()[-2:])) == LEAST[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_a_transfer_values_are_wrong(
    name: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    lines = joined(planned(PROGRAMS[name], name, tmp_path / "plan"))
    wanted = output_of("\n".join(lines), tmp_path / "run", memory, f90)
    tried = 0
    for at, line in enumerate(lines):
        found = re.match(r"( *!\$acc update \w+)\((.*)\)( if_present)?$", line)
        names = found[2].replace(" ", "").split(",") if found else []
        for one in names:
            rest = ", ".join(name for name in names if name != one)
            new = [f"{found[1]}({rest}){found[3] or ''}"] if found and rest else []
            text = "\n".join((*lines[:at], *new, *lines[at + 1 :]))
            tried += 1
            without = output_of(text, tmp_path / f"without{tried}", memory, f90)
            assert without.splitlines()[:-1] != wanted.splitlines()[:-1], (line, one)
    assert tried


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
}
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


@pytest.mark.parametrize("name", REFUSED)
def test_a_trap_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "main.f90").write_text(REFUSED[name], "utf-8")
    done = run_command(["--device-data", "main", "main.f90", "-o", "new.f90"], tmp_path)
    assert done.status == 1, done.out
    assert "error[T098]" in done.err
    assert "new.f90" not in done.written
