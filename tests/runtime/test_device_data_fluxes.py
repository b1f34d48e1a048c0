"""Device data of a flux-limited advection, whose library procedures and work arrays are special.

A halo exchange outside the files uses the device, another procedure only reads its arguments. Work
arrays are private in their module and allocated in some steps only, masks are targets, and the
tracers are passed as parts of one array, once by a generic name.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from two_memories import joined, output_of_files, planned

pytestmark = pytest.mark.fortran

OUTSIDE = """\
module halo_mod
  implicit none
contains
  subroutine exchange(name, first, second)
    character(*), intent(in) :: name
    real(8), intent(inout) :: first(:, :), second(:, :)
    call wrap(first)
    call wrap(second)
  end subroutine exchange
  subroutine wrap(values)
    real(8), intent(inout) :: values(:, :)
    integer :: k, last
    last = size(values, 1)
    !$acc parallel loop present(values)
    do k = 1, size(values, 2)
      values(1, k) = values(last - 1, k)
      values(last, k) = values(2, k)
    end do
    !$acc end parallel loop
  end subroutine wrap
end module halo_mod
module trends_mod
  implicit none
contains
  subroutine record(step, tracer, flux, wind)
    integer, intent(in) :: step, tracer
    real(8), intent(in) :: flux(:, :), wind(:, :)
    print '(2i4,2z17.16)', step, tracer, sum(flux(2:5, :)), sum(wind)
  end subroutine record
end module trends_mod
"""

FLUXES = """\
module sizes_mod
  implicit none
  integer, parameter :: nt = 2
  integer :: n, nk, halo = 1, inner
  real(8), allocatable :: volume(:, :), speed(:, :)
  real(8), allocatable, target :: wet(:, :)
end module sizes_mod
module fluxes_mod
  use sizes_mod
  use halo_mod, only : exchange
  use trends_mod, only : record
  implicit none
  private
  public :: advance
  real(8), allocatable, dimension(:, :) :: diagonal, lower
  interface slopes
    module procedure column_slopes, all_slopes
  end interface slopes
contains
  subroutine advance(step, method, dt, wind, q, now, next)
    integer, intent(in) :: step, method, now, next
    real(8), intent(in) :: dt
    real(8), intent(in) :: wind(1 - halo:inner + halo, nk)
    real(8), intent(inout) :: q(n, nk, nt, 2)
    real(8) :: flux(1 - halo:inner + halo, nk), guess(1 - halo:inner + halo, nk)
    real(8), allocatable :: slope(:, :), kept(:, :)
    logical :: solves
    integer :: i, k, t
    solves = .false.
    if (method > 1) then
      if (maxval(abs(speed)) > 0.0d0) solves = .true.
    end if
    !$acc kernels
    flux(:, nk) = 0.0d0
    !$acc end kernels
    if (method > 2) then
      allocate(kept(1 - halo:inner + halo, nk))
      !$acc kernels
      kept(:, :) = 0.0d0
      !$acc end kernels
    end if
    if (solves) allocate(diagonal(n, nk), lower(n, nk))
    do t = 1, nt
      call upstream(dt, solves, q(:, :, t, now), wind, flux, guess, q(:, :, t, next))
      select case (method)
      case (1)
        !$acc kernels
        do k = 1, nk - 1
          do i = 1, inner
            flux(i, k) = 0.5d0 * wind(i, k) * (q(i + 1, k, t, now) + q(i + 2, k, t, now)) &
                         - flux(i, k)
          end do
        end do
        !$acc end kernels
      case default
        allocate(slope(n, nk))
        call slopes(q(:, :, t, now), slope)
        !$acc kernels
        do k = 1, nk - 1
          do i = 1, inner
            flux(i, k) = wind(i, k) * slope(i + 1, k) - 0.5d0 * flux(i, k)
          end do
        end do
        !$acc end kernels
        deallocate(slope)
      end select
      call exchange('advance', flux, guess)
      !$acc kernels
      do k = 1, nk
        do i = 1, inner
          q(i + 1, k, t, next) = q(i + 1, k, t, next) &
                               + 0.1d0 * wet(i + 1, k) &
                               * (flux(i, k) - flux(i - 1, k) + guess(i, k))
        end do
      end do
      !$acc end kernels
      if (method > 2) then
        !$acc kernels
        kept(:, :) = kept + flux
        !$acc end kernels
        call record(step, t, kept, wind)
      end if
    end do
    if (solves) deallocate(diagonal, lower)
    if (method > 2) deallocate(kept)
  end subroutine advance
  subroutine upstream(dt, solves, before, wind, flux, guess, after)
    real(8), intent(in) :: dt
    logical, intent(in) :: solves
    real(8), intent(in) :: before(:, :)
    real(8), intent(in) :: wind(1 - halo:inner + halo, nk)
    real(8), intent(out) :: flux(1 - halo:inner + halo, nk), guess(1 - halo:inner + halo, nk)
    real(8), intent(inout) :: after(:, :)
    integer :: i, k
    !$acc kernels
    do k = 1, nk
      do i = 0, inner
        if (k < nk) flux(i, k) = max(wind(i, k), 0.0d0) * before(i + 1, k) &
                                 + min(wind(i, k), 0.0d0) * before(i + 2, k)
        guess(i, k) = before(i + 1, k) * volume(i + 1, k)
      end do
    end do
    !$acc end kernels
    if (solves) then
      !$acc kernels
      do k = 1, nk
        do i = 1, inner
          diagonal(i, k) = 2.0d0 + dt * abs(speed(i, k))
          lower(i, k) = -dt * speed(i, k)
        end do
      end do
      !$acc end kernels
      call solve(diagonal, lower, guess)
    end if
    !$acc kernels
    do k = 1, nk
      do i = 1, inner
        after(i + 1, k) = after(i + 1, k) + 0.01d0 * guess(i, k)
      end do
    end do
    !$acc end kernels
  end subroutine upstream
  subroutine unused(guess)
    real(8), intent(inout) :: guess(1 - halo:inner + halo, nk)
    call solve(diagonal, lower, guess)
  end subroutine unused
  subroutine solve(main, below, x)
    real(8), intent(in) :: main(n, nk), below(n, nk)
    real(8), intent(inout) :: x(1 - halo:inner + halo, nk)
    integer :: i, k
    !$acc kernels
    do k = 2, nk
      do i = 1, inner
        x(i, k) = (x(i, k) - below(i, k) * x(i, k - 1)) / main(i, k)
      end do
    end do
    !$acc end kernels
  end subroutine solve
  subroutine column_slopes(values, slope)
    real(8), intent(in) :: values(n)
    real(8), intent(out) :: slope(n)
    slope(:) = values
  end subroutine column_slopes
  subroutine all_slopes(values, slope)
    real(8), intent(in) :: values(n, nk)
    real(8), intent(out) :: slope(n, nk)
    integer :: i, k
    !$acc kernels
    do k = 1, nk
      do i = 2, n - 1
        slope(i, k) = 0.5d0 * (values(i + 1, k) - values(i - 1, k)) * wet(i, k)
      end do
    end do
    !$acc end kernels
  end subroutine all_slopes
end module fluxes_mod
module model_mod
  use sizes_mod
  use fluxes_mod, only : advance
  implicit none
contains
  subroutine set_up()
    integer :: i, k
    n = 8
    nk = 4
    inner = n - 2 * halo
    allocate(volume(n, nk), speed(n, nk), wet(n, nk))
    do k = 1, nk
      do i = 1, n
        volume(i, k) = 1.0d0 + 0.1d0 * i
        speed(i, k) = 0.2d0 * sin(1.0d0 * i * k)
        wet(i, k) = merge(0.0d0, 1.0d0, mod(i * k, 5) == 0)
      end do
    end do
  end subroutine set_up
  subroutine run(number, method)
    integer, intent(in) :: number, method
    real(8), allocatable :: wind(:, :), q(:, :, :, :)
    integer :: i, k, t, step, now, next
    allocate(wind(n, nk), q(n, nk, nt, 2))
    do t = 1, nt
      do k = 1, nk
        do i = 1, n
          q(i, k, t, :) = t + 0.1d0 * mod(3 * i + 5 * k, 7)
        end do
      end do
    end do
    do step = 1, number
      now = 1 + mod(step, 2)
      next = 3 - now
      !$acc kernels
      do k = 1, nk
        do i = 1, n
          wind(i, k) = 0.3d0 * sin(1.0d0 * i + k + step) * wet(i, k)
        end do
      end do
      !$acc end kernels
      call advance(step, method, 0.1d0, wind, q, now, next)
    end do
    print '(i4,2z17.16)', method, sum(q(2:n - 1, :, :, 1)), sum(q(2:n - 1, :, :, 2))
  end subroutine run
end module model_mod
program fluxes
  use model_mod, only : set_up, run
  implicit none
  call set_up()
  call run(STEPS, 1)
  call run(STEPS, 2)
  call run(STEPS, 3)
end program fluxes
"""
SETTINGS = ("--config-opts", "DEVICE_PROCEDURES=exchange READ_ONLY_PROCEDURES=record")


def text_of(steps: int) -> str:
    return FLUXES.replace("STEPS", str(steps))


def plain(text: str) -> str:
    return re.sub(r"^ *!\$acc.*$", "", text, flags=re.MULTILINE)


def results(text: str, folder: Path, memory: Path, f90: str, outside: str = OUTSIDE) -> list[str]:
    files = {"outside.f90": outside, "main.f90": text}
    return output_of_files(files, folder, memory, f90).splitlines()


@pytest.mark.parametrize("settings", [SETTINGS, SETTINGS[:0]], ids=["device", "host"])
def test_results_have_equal_bits(
    settings: tuple[str, ...], tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    """Without settings, the exchange is a procedure of the host."""
    f90 = request.config.getoption("--f90")
    outside = OUTSIDE if settings else plain(OUTSIDE)
    new = planned(text_of(4), "fluxes", tmp_path / "plan", *settings)
    wanted = results(plain(text_of(4)), tmp_path / "plain", memory, f90, plain(OUTSIDE))
    assert results(new, tmp_path / "run", memory, f90, outside)[:-1] == wanted[:-1]


def test_a_step_transfers_nothing_to_the_device(
    tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    """The counted transfers are those of the plan."""
    f90 = request.config.getoption("--f90")
    counted = []
    for steps in (3, 4):
        new = planned(text_of(steps), "fluxes", tmp_path / f"plan{steps}", *SETTINGS)
        last = results(new, tmp_path / f"run{steps}", memory, f90)[-1]
        counted.append(tuple(map(int, last.split()[1:])))
    words = ("--transfers-json", "plan.json", *SETTINGS)
    planned(text_of(4), "fluxes", tmp_path / "json", *words)
    plan = json.loads((tmp_path / "json" / "plan.json").read_text("utf-8"))
    assert plan["left_out"] == {}
    there = [one["procedure"] for one in plan["transfers"] if one["to"] == "device"]
    assert counted[0][0] == counted[1][0] == 3 * there.count(RUN) + there.count("fluxes") == 6
    back = [one for one in plan["transfers"] if one["to"] == "host" and one["repeated"]]
    where = [(one["array"].rpartition(".")[2], one["procedure"]) for one in back]
    assert where == [("wind", RUN), ("kept", "fluxes_mod.advance")]
    tracers, methods = 2, 3
    assert counted[1][1] - counted[0][1] == methods * 1 + tracers


RUN = "model_mod.run"


def test_without_a_transfer_values_are_wrong(
    tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    lines = joined(planned(text_of(3), "fluxes", tmp_path / "plan", *SETTINGS))
    wanted = results("\n".join(lines), tmp_path / "run", memory, f90)
    tried = 0
    for at, line in enumerate(lines):
        found = re.match(r"( *!\$acc update \w+)\((.*)\)( if_present)?$", line)
        names = found[2].replace(" ", "").split(",") if found else []
        for one in names:
            rest = ", ".join(name for name in names if name != one)
            new = [f"{found[1]}({rest}){found[3] or ''}"] if found and rest else []
            text = "\n".join((*lines[:at], *new, *lines[at + 1 :]))
            tried += 1
            without = results(text, tmp_path / f"without{tried}", memory, f90)
            assert without[:-1] != wanted[:-1], (line, one)
    assert tried
