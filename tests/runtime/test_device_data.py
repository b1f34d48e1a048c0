"""Programs whose device data are planned over call trees: values and numbers of transfers.

The device has a memory of its own (`two_memories`), in which what was not transferred is NaN.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from two_memories import joined, output_of, planned

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

ADVECTION = """\
module sweep_mod
  implicit none
contains
  subroutine setup(conc, wind, wet)
    real(8), allocatable, intent(inout) :: conc(:, :, :), wind(:, :, :), wet(:, :)
    integer :: i, j, k
    do k = 1, size(conc, 3)
      do j = 1, size(conc, 2)
        do i = 1, size(conc, 1)
          conc(i, j, k) = 0.01d0 * mod(3 * i + 5 * j + 7 * k, 17)
          wind(i, j, k) = 0.1d0 * sin(dble(i + j * k))
        end do
      end do
    end do
    wet = 1.0d0
    wet(2, 3) = 0.0d0
  end subroutine setup
  subroutine slopes(conc, wet, slope, ni, nj, nk)
    integer, intent(in) :: ni, nj, nk
    real(8), allocatable, intent(in) :: conc(:, :, :), wet(:, :)
    real(8), allocatable, intent(inout) :: slope(:, :, :)
    integer :: i, j, k
    !$acc kernels
    slope(:, :, nk) = 0.0d0
    !$acc end kernels
    !$acc kernels
    do k = 1, nk - 1
      do j = 1, nj
        do i = 2, ni - 1
          slope(i, j, k) = wet(i, j) * 0.5d0 * (conc(i + 1, j, k) - conc(i - 1, j, k))
        end do
      end do
    end do
    !$acc end kernels
  end subroutine slopes
end module sweep_mod
program advection
  use sweep_mod, only : setup, slopes
  implicit none
  real(8), allocatable, save, dimension(:, :, :) :: conc, wind, slope, flux
  real(8), allocatable, save :: wet(:, :)
  real(8) :: half, total
  integer :: ni, nj, nk, i, j, k, step
  character(10) :: word
  word = '9'
  read (word, '(i10)') ni
  nj = ni - 2
  nk = 4
  allocate(conc(ni, nj, nk))
  allocate(wind(ni, nj, nk), wet(ni, nj))
  allocate(slope(ni, nj, nk), flux(ni, nj, nk))
  call setup(conc, wind, wet)
  flux = 0.0d0
  slope = 0.0d0
  do step = 1, 6
    call slopes(conc, wet, slope, ni, nj, nk)
    !$acc kernels
    do k = 1, nk
      do j = 1, nj
        do i = 2, ni - 1
          half = 0.5d0 - sign(0.5d0, wind(i, j, k))
          flux(i, j, k) = wind(i, j, k) * (half * (conc(i + 1, j, k) - 0.1d0 * slope(i + 1, j, k)) &
                                           + (1.0d0 - half) * (conc(i, j, k) + slope(i, j, k)))
        end do
      end do
    end do
    !$acc end kernels
    !$acc kernels
    do k = 1, nk
      do j = 1, nj
        do i = 3, ni - 1
          conc(i, j, k) = conc(i, j, k) - wet(i, j) * (flux(i, j, k) - flux(i - 1, j, k))
        end do
      end do
    end do
    !$acc end kernels
  end do
  total = 0.0d0
  do k = 1, nk
    do j = 1, nj
      total = total + sum(conc(:, j, k))
      print '(z17.16)', conc(3, j, k)
    end do
  end do
  print '(3z17.16)', total, sum(flux), sum(slope)
  deallocate(conc)
  deallocate(wind, wet, slope, flux)
end program advection
"""


def in_openmp(text: str) -> str:
    """Return a program with OpenMP's regions instead of OpenACC's."""
    text = text.replace("!$acc kernels", "!$omp target").replace(
        "!$acc end kernels", "!$omp end target"
    )
    text = text.replace("!$acc parallel loop gang", "!$omp target teams distribute parallel do")
    text = text.replace("!$acc end parallel loop", "!$omp end target teams distribute parallel do")
    return text.replace("!$acc routine seq", "!$omp declare target")


PROGRAMS = {"blocks": BLOCKS, "waves": WAVES, "advection": ADVECTION}
LEAST = {"blocks": (3, 6), "waves": (8, 8), "advection": (5, 3)}
"""The transfers to the device and from it."""


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
