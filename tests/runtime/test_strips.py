"""Branches out of loops: the same bits wherever a strip begins, and nothing computed too much.

Land lies as points, in blocks and as a whole row, in a grid whose rows are no multiple of a strip.
Its depth is a number that no operation may touch, and 0 at the border.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fortran import run
from libraries import archive_in
from psyclone_storage.cli.main import main

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

CASE = Path(__file__).parents[1] / "cases" / "gocean" / "branches"
STEPS = "inline-point-call; fuse; unswitch{size=16}; outline"
EXACT = ("-O1", "-ffp-contract=off", "-fcheck=all", "-ffpe-trap=invalid,zero,overflow")
FAST = ("-O3", "-march=native")
VECTORS = ("-O3", *EXACT[1:])
PROGRAM = """program coast
  use, intrinsic :: ieee_arithmetic, only: ieee_signaling_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int64
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
  use sea_mod, only: sea
  implicit none
  integer, parameter :: nx = 75, ny = 23
  type(grid_type), target :: grid
  type(r2d_field) :: speed, depth, dust
  integer, allocatable :: mask(:, :)
  integer(int64) :: bits(2)
  integer :: i, j, step
  call gocean_initialise()
  grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
  call grid%decompose(nx, ny, halo_width=1)
  associate (own => grid%subdomain)
    allocate (mask(own%global%nx, own%global%ny), source=0)
    do j = 1, size(mask, 2)
      do i = 1, size(mask, 1)
        mask(i, j) = is_sea(i - own%internal%xstart + own%global%xstart, &
                            j - own%internal%ystart + own%global%ystart)
      end do
    end do
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp, mask)
    speed = r2d_field(grid, go_t_points)
    depth = r2d_field(grid, go_t_points)
    dust = r2d_field(grid, go_t_points)
    do j = 1, size(depth%data, 2)
      do i = 1, size(depth%data, 1)
        call fill(i, j, i - own%internal%xstart + own%global%xstart, &
                  j - own%internal%ystart + own%global%ystart)
      end do
    end do
  end associate
  do step = 1, 3
    call sea(speed, depth, dust)
  end do
  bits = 0_int64
  associate (own => speed%internal)
    do j = own%ystart, own%ystop
      do i = own%xstart, own%xstop
        bits = ieor(bits, [of(speed%data(i, j), i, j), of(dust%data(i, j), i, j)])
      end do
    end do
  end associate
  print '(a, 2i21)', 'bits', bits
  call gocean_finalise()

contains

  integer function is_sea(column, row)
    integer, intent(in) :: column, row

    is_sea = 1
    if (column < 1 .or. column > nx .or. row < 1 .or. row > ny) is_sea = 0
    if (row == 9 .or. mod(column + 7 * row, 41) == 0) is_sea = 0
    if (column > 40 .and. column < 52 .and. row > 12 .and. row < 16) is_sea = 0
  end function is_sea

  subroutine fill(i, j, column, row)
    integer, intent(in) :: i, j, column, row

    speed%data(i, j) = sin(real(3 * column + 5 * row, go_wp))
    dust%data(i, j) = cos(real(2 * column - row, go_wp))
    depth%data(i, j) = 2.0_go_wp + sin(real(column * row, go_wp))
    if (is_sea(column, row) == 0) then
      depth%data(i, j) = ieee_value(1.0_go_wp, ieee_signaling_nan)
      if (row < 1) depth%data(i, j) = 0.0_go_wp
    end if
  end subroutine fill

  !> Return the bits of a value, turned by its place in the domain.
  integer(int64) function of(value, i, j)
    real(go_wp), intent(in) :: value
    integer, intent(in) :: i, j

    associate (own => grid%subdomain)
      of = ishftc(transfer(value, 0_int64), mod(i - own%internal%xstart + own%global%xstart &
          + 5 * (j - own%internal%ystart + own%global%ystart), 64))
    end associate
  end function of

end program coast
"""

Coast = Callable[..., Path]


@pytest.fixture(scope="module")
def coast(gocean_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Coast:
    """Return what generates the case with options, and compiles it with flags."""

    def made(flags: tuple[str, ...], *options: str) -> Path:
        folder = tmp_path_factory.mktemp("coast")
        words = ["-api", "gocean", str(CASE / "alg.x90"), "-d", str(CASE / "kernels"), *options]
        layer = [str(folder / "psy.f90"), str(folder / "alg.f90")]
        assert main([*words, "-opsy", layer[0], "-oalg", layer[1]]) == 0
        (folder / "coast.f90").write_text(PROGRAM, encoding="utf-8")
        kernels = map(str, sorted((CASE / "kernels").glob("*.f90")))
        sources = [*kernels, *layer, str(folder / "coast.f90"), archive_in(gocean_library)]
        command = ["mpif90", *flags, "-fopenmp", f"-I{gocean_library}", f"-J{folder}", *sources]
        run([*command, "-o", str(folder / "coast")])
        return folder / "coast"

    return made


def answer(program: Path, ranks: int, threads: int = 1) -> tuple[int, ...]:
    """Return the bits of both fields, of all ranks together."""
    words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), str(program)]
    lines = [line.split() for line in run(words, OMP_NUM_THREADS=str(threads)).splitlines()]
    found = [tuple(map(int, line[1:])) for line in lines if line[:1] == ["bits"]]
    assert len(found) == ranks
    bits = [0, 0]
    for one in found:
        bits = [first ^ second for first, second in zip(bits, one, strict=True)]
    return tuple(bits)


def test_strips_compute_what_branches_compute_and_nothing_else(coast: Coast) -> None:
    plain = answer(coast(EXACT, "-nodm"), 1)
    assert answer(coast(EXACT, "-nodm", "--apply", STEPS), 1) == plain
    shared = coast(VECTORS, "-dm", "--apply", "inline-point-call; openmp-parallel-do; unswitch")
    assert answer(shared, 2, threads=2) == plain


def test_no_bit_depends_on_where_a_rank_begins(coast: Coast) -> None:
    """Nor on how long a strip is: a point that takes the hot path is rounded in one way."""
    program = coast(FAST, "-dm", "--apply", STEPS)
    alone = answer(program, 1)
    assert [answer(program, ranks) for ranks in (2, 4)] == [alone, alone]
    assert answer(coast(FAST, "-nodm", "--apply", STEPS.replace("16", "7")), 1) == alone
