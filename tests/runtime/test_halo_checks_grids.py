"""Run-time checks of halos (RUN_TIME_CHECKS = halos) on grids in Fortran: two grids, one address.

The fields of one grid after the other get the same arrays, so that they have the same addresses and
sizes, but other points in their halos. `test_gocean_ranks.py` runs the suite of
generated programs with checks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fortran import run
from libraries import archive_in
from psyclone_storage.cli.main import main

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

FLAGS = ("-O1", "-ffp-contract=off")
KERNELS = """module spread_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
  implicit none
  private
  type, public, extends(kernel_type) :: spread
    type(go_arg) :: meta_args(2) = (/ go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(010, 111, 010)) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => spread_code
  end type spread
  public :: spread_code
contains
  subroutine spread_code(i, j, new, old)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)

    new(i, j) = 0.5_go_wp * old(i, j) + 0.25_go_wp * old(i - 1, j) + 0.125_go_wp * old(i + 1, j) &
        + 0.25_go_wp * old(i, j - 1) + 0.125_go_wp * old(i, j + 1) + 1.0_go_wp
  end subroutine spread_code
end module spread_mod
"""
ALGORITHM = """subroutine sea(a, b)
  use field_mod, only: r2d_field
  use spread_mod, only: spread
  implicit none
  type(r2d_field), intent(inout) :: a, b
  call invoke(spread(b, a), spread(a, b), spread(b, a), spread(a, b))
end subroutine sea
"""
PROGRAM = """program seas
  use field_mod
  use gocean_mod, only: gocean_initialise, gocean_finalise
  use grid_mod
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_rank
  implicit none
  interface
    subroutine sea(a, b)
      import :: r2d_field
      type(r2d_field), intent(inout) :: a, b
    end subroutine sea
  end interface
  type(grid_type), target :: first, second
  real(go_wp), allocatable :: kept_a(:, :), kept_b(:, :)

  call gocean_initialise()
  first = grid_type(go_arakawa_c, [go_bc_periodic, go_bc_periodic, go_bc_none], go_offset_ne)
  second = grid_type(go_arakawa_c, [{edge}, {edge}, go_bc_none], go_offset_ne)
  call first%decompose({one})
  call grid_init(first, 1.0_go_wp, 1.0_go_wp)
  call second%decompose({two})
  call grid_init(second, 1.0_go_wp, 1.0_go_wp)
  call run_on(first)
  call run_on(second)
  call gocean_finalise()

contains

  subroutine run_on(grid)
    type(grid_type), target, intent(in) :: grid
    type(r2d_field) :: a, b
    integer :: step

    a = r2d_field(grid, go_t_points)
    b = r2d_field(grid, go_t_points)
    if (allocated(kept_a)) then
      call move_alloc(kept_a, a%data)
      call move_alloc(kept_b, b%data)
    end if
    a%data = 1.0_go_wp
    b%data = 2.0_go_wp
    do step = 1, 3
      call sea(a, b)
    end do
    associate (own => a%internal)
      print '(a, i0, 2(1x, z16))', 'bits ', get_rank(), &
          sum(a%data(own%xstart:own%xstop, own%ystart:own%ystop)), &
          sum(b%data(own%xstart:own%xstop, own%ystart:own%ystop))
    end associate
    call move_alloc(a%data, kept_a)
    call move_alloc(b%data, kept_b)
  end subroutine run_on
end program seas
"""


def bits_of(folder: Path, library: Path, texts: dict[str, str], ranks: int, *options: str) -> str:
    """Return the sorted sums of all ranks and both grids."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    layer = [str(folder / "psy.f90"), str(folder / "alg.f90")]
    words = ["-api", "gocean", "-dm", str(folder / "alg.x90"), "-d", str(folder), *options]
    assert main([*words, "-opsy", layer[0], "-oalg", layer[1]]) == 0
    sources = [str(folder / "spread_mod.f90"), *layer, str(folder / "seas.f90")]
    program = str(folder / "seas")
    places = [f"-I{library}", f"-J{folder}", archive_in(library)]
    run(["mpif90", *FLAGS, *sources, *places, "-o", program])
    lines = run(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), program])
    found = sorted(line for line in lines.splitlines() if line.startswith("bits"))
    assert len(found) == 2 * ranks
    return "\n".join(found)


SAME = ("16, 12, halo_width=1", "16, 12, halo_width=1")
"""Sizes of two grids."""
WIDE = ("16, 12, halo_width=2", "18, 14, halo_width=1")
"""Sizes of two grids whose fields have the same shape on one rank."""


@pytest.mark.parametrize(
    ("edge", "sizes", "ranks"),
    [("go_bc_none", SAME, 1), ("go_bc_none", SAME, 4), ("go_bc_periodic", WIDE, 1)],
)
def test_points_of_another_grid_are_forgotten(
    gocean_library: Path, tmp_path: Path, edge: str, sizes: tuple[str, str], ranks: int
) -> None:
    """A check must not fill points of the second grid that are in the halo of the first."""
    program = PROGRAM.replace("{edge}", edge)
    program = program.replace("{one}", sizes[0]).replace("{two}", sizes[1])
    texts = {"spread_mod.f90": KERNELS, "alg.x90": ALGORITHM, "seas.f90": program}
    plain = bits_of(tmp_path / "plain", gocean_library, texts, ranks)
    options = ("--config-opts", "RUN_TIME_CHECKS=halos")
    assert bits_of(tmp_path / "checked", gocean_library, texts, ranks, *options) == plain
