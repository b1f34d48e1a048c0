"""Values cached between invokes: the bits of a program without a cache, whatever it changes.

The program changes a grid property between invokes, to zeros of both signs and to the bits of keys
that are not set among others, uses several grids of different sizes, creates a grid again at the
same address, and calls the layer from several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fortran import run
from libraries import archive_in
from psyclone_storage.cli.main import main

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

STEPS = "inline-point-call; unswitch{size=16}; cache-invariants; outline"
FLAGS = ("-O1", "-ffp-contract=off", "-fcheck=all", "-ffpe-trap=zero,overflow")
KERNEL = """module wave_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
  implicit none
  private
  real(go_wp), parameter :: drag = 0.25_go_wp
  type, public, extends(kernel_type) :: wave
    type(go_arg) :: meta_args(3) = (/ go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_MASK_T), go_arg(GO_READ, GO_GRID_AREA_T) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => wave_code
  end type wave
  public :: wave_code
contains
  subroutine wave_code(i, j, speed, tmask, area)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: speed(:, :)
    integer, intent(in) :: tmask(:, :)
    real(go_wp), intent(in) :: area(:, :)

    if (tmask(i, j) > 0) then
      speed(i, j) = 0.5_go_wp * speed(i, j) + exp(-drag * area(i - 1, j) + 0.125_go_wp) &
          + sign(2.0_go_wp, sin(drag * area(i, j))) + 0.25_go_wp * sin(drag * area(i, j)) &
          + 0.125_go_wp * speed(i, j) * speed(i, j) / (1.0_go_wp + speed(i, j) * speed(i, j)) &
          - 0.0625_go_wp * (speed(i, j) + 1.0_go_wp) * (speed(i, j) - 2.0_go_wp) &
          / (4.0_go_wp + speed(i, j) * speed(i, j))
    else
      speed(i, j) = 0.25_go_wp * speed(i, j)
    end if
  end subroutine wave_code
end module wave_mod
"""
ALGORITHM = """subroutine sea(speed)
  use field_mod, only: r2d_field
  use wave_mod, only: wave
  implicit none
  type(r2d_field), intent(inout) :: speed
  call invoke(wave(speed))
end subroutine sea
"""
PROGRAM = """program waves
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int64
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
  implicit none
  interface
    subroutine sea(speed)
      import :: r2d_field
      type(r2d_field), intent(inout) :: speed
    end subroutine sea
  end interface
  type(grid_type), target :: grids(2)
  type(r2d_field) :: speeds(2)
  integer(int64) :: bits
  integer :: number, step

  call gocean_initialise()
  call make(1, 37, 11)
  call make(2, 5, 40)
  bits = 0_int64
  do step = 1, 8
    call change(grids(1), step)
    if (step == 4) call make(2, 41, 9)
    if (step == 6) call make(2, 41, 9)
    do number = 1, 2
      call sea(speeds(number))
      if (step == 3) call sea(speeds(number))
      call look(speeds(number))
    end do
  end do
  !$omp parallel do num_threads(2) schedule(static, 1) private(step)
  do number = 1, 2
    do step = 1, 20
      call sea(speeds(number))
    end do
  end do
  !$omp end parallel do
  call look(speeds(1))
  call look(speeds(2))
  print '(a, i21)', 'bits', bits
  call gocean_finalise()

contains

  subroutine make(number, nx, ny)
    integer, intent(in) :: number, nx, ny
    integer, allocatable :: mask(:, :)
    integer, save :: made = 0
    integer :: i, j

    made = made + 1
    associate (grid => grids(number))
      if (allocated(grid%area_t)) deallocate (grid%area_t)
      grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
      call grid%decompose(nx, ny, halo_width=1)
      associate (all => grid%subdomain%global, own => grid%subdomain%internal)
        allocate (mask(all%nx, all%ny), source=1)
        do j = 1, all%ny
          do i = 1, all%nx
            if (mod(i - own%xstart + all%xstart + 5 * (j - own%ystart + all%ystart), 7) == 0) &
                mask(i, j) = 0
          end do
        end do
        call grid_init(grid, 1.0_go_wp, 1.0_go_wp, mask)
        do j = 1, size(grid%area_t, 2)
          do i = 1, size(grid%area_t, 1)
            grid%area_t(i, j) = made + 0.01_go_wp * (i - own%xstart + all%xstart &
                + 3 * (j - own%ystart + all%ystart))
          end do
        end do
      end associate
      speeds(number) = r2d_field(grid, go_t_points)
      speeds(number)%data = 0.5_go_wp
    end associate
  end subroutine make

  !> Change the property at some points; some steps change nothing.
  subroutine change(grid, step)
    type(grid_type), intent(inout) :: grid
    integer, intent(in) :: step

    select case (step)
    case (1)
      grid%area_t(::2, ::3) = transfer(huge(bits), 1.0_go_wp)
    case (2)
      grid%area_t = 0.0_go_wp
    case (4)
      grid%area_t(:, ::2) = -0.0_go_wp
    case (5)
      grid%area_t(::3, :) = grid%area_t(::3, :) + 1.5_go_wp
    case (6)
      grid%area_t(size(grid%area_t, 1) / 2, :) = ieee_value(1.0_go_wp, ieee_quiet_nan)
    case (7)
      grid%area_t = 0.75_go_wp
      where (grid%tmask == 0) grid%tmask = 1
    end select
  end subroutine change

  subroutine look(speed)
    type(r2d_field), intent(in) :: speed
    integer :: i, j

    associate (own => speed%internal)
      do j = own%ystart, own%ystop
        do i = own%xstart, own%xstop
          bits = ishftc(bits, 5) + transfer(speed%data(i, j), 0_int64)
        end do
      end do
    end associate
  end subroutine look

end program waves
"""

Waves = Callable[..., Path]


@pytest.fixture(scope="module")
def waves(gocean_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Waves:
    """Return a function that generates the layer with options and compiles the program."""

    def made(*options: str, flags: tuple[str, ...] = FLAGS) -> Path:
        folder = tmp_path_factory.mktemp("waves")
        (folder / "wave_mod.f90").write_text(KERNEL, encoding="utf-8")
        (folder / "alg.x90").write_text(ALGORITHM, encoding="utf-8")
        layer = [str(folder / "psy.f90"), str(folder / "alg.f90")]
        words = ["-api", "gocean", str(folder / "alg.x90"), "-d", str(folder), *options]
        assert main([*words, "-opsy", layer[0], "-oalg", layer[1]]) == 0
        (folder / "waves.f90").write_text(PROGRAM, encoding="utf-8")
        sources = [str(folder / "wave_mod.f90"), *layer, str(folder / "waves.f90")]
        places = [f"-I{gocean_library}", f"-J{folder}"]
        command = ["mpif90", *flags, "-fopenmp", *places, *sources, archive_in(gocean_library)]
        run([*command, "-o", str(folder / "waves")])
        return folder / "waves"

    return made


def bits_of(program: Path, ranks: int, threads: int = 1) -> list[str]:
    """Return the bits of each rank."""
    words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), str(program)]
    lines = run(words, OMP_NUM_THREADS=str(threads)).splitlines()
    found = sorted(line for line in lines if line.startswith("bits"))
    assert len(found) == ranks
    return found


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_cached_values_are_those_of_the_property(waves: Waves, ranks: int) -> None:
    plain, cached = waves("-dm"), waves("-dm", "--apply", STEPS)
    assert "reserve_cache" in (cached.parent / "psy.f90").read_text(encoding="utf-8")
    assert bits_of(cached, ranks) == bits_of(plain, ranks)


def test_threads_share_a_cache(waves: Waves) -> None:
    shared = STEPS.replace("outline", "openmp-do; openmp-parallel; outline")
    cached = waves("-nodm", "--apply", shared)
    assert bits_of(cached, 1, threads=3) == bits_of(waves("-nodm"), 1)


@pytest.mark.parametrize(
    "flags",
    [("-O3", "-march=native"), ("-O1", "-ffinite-math-only", "-fno-signed-zeros")],
    ids=["vectors", "finite"],
)
def test_compiled_otherwise(waves: Waves, flags: tuple[str, ...]) -> None:
    """The second flags allow the compiler to assume that no number is NaN."""
    programs = [
        waves("-nodm", "--apply", steps, flags=(*flags, "-ffp-contract=off"))
        for steps in (STEPS, STEPS.replace("cache-invariants; ", ""))
    ]
    first, second = (bits_of(program, 1) for program in programs)
    assert first == second
