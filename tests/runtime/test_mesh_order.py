"""Loops with colours for threads: one thread visits cells in the order of the mesh.

Four cells add to each dof, and what they add is rounded, so the bits of a sum are those of the
order of cells. On one thread they are the bits of a loop without colours, else those of colours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import archive_in
from psyclone_storage.cli.main import main
from runtime.programs import FLAGS, command, compile_sources
from runtime.test_infrastructure import ANSWER, MPIRUN, SHARED

KERNEL = """module gather_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W0, W3
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: gather_type
    type(arg_type) :: meta_args(2) = (/ arg_type(GH_FIELD, GH_REAL, GH_INC, W0), &
                                        arg_type(GH_FIELD, GH_REAL, GH_READ, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: gather_code
  end type gather_type
contains
  subroutine gather_code(nlayers, y, x, ndf_y, undf_y, map_y, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers, ndf_y, undf_y, map_y(ndf_y), ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)
    integer(i_def) :: df, k
    do df = 1, ndf_y
      do k = 0, nlayers - 1
        y(map_y(df) + k) = y(map_y(df) + k) + x(map_x(1) + k) / real(df, r_def)
      end do
    end do
  end subroutine gather_code
end module gather_mod
"""
ALGORITHM = """module order_alg_mod
  use constants_mod, only: r_def
  use field_mod, only: field_type
  use gather_mod, only: gather_type
  implicit none
contains
  subroutine gather(y, x)
    type(field_type), intent(inout) :: y
    type(field_type), intent(in) :: x
    call invoke(setval_c(y, 0.0_r_def), gather_type(y, x))
  end subroutine gather
end module order_alg_mod
"""
PROGRAM = """program order
  use checks_mod, only: answer, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index, l_def, r_def
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W0, W3
  use, intrinsic :: iso_fortran_env, only: int64
  use lfric_mpi_mod, only: global_mpi
  use mesh_mod, only: mesh_type
  use order_alg_mod, only: gather
  implicit none
  type(mesh_type), pointer :: mesh
  type(field_type) :: x, y
  type(field_proxy_type) :: proxy
  integer(i_halo_index), allocatable :: ids(:)
  integer(i_def) :: plane, i
  integer(int64) :: mixed
  real(r_def) :: total
  character(len=20) :: name

  call start_checks()
  do plane = 1, 3  ! without tiles, in tiles, and with fewer cells than a tile
    write (name, '(a, i0)') 'plane', plane
    select case (plane)
    case (1)
      mesh => new_mesh(trim(name), .true._l_def, 12_i_def, 12_i_def)
    case (2)
      mesh => new_mesh(trim(name), .false._l_def, 13_i_def, 12_i_def, tile_size=[3_i_def, 2_i_def])
    case (3)
      mesh => new_mesh(trim(name), .false._l_def, 9_i_def, 8_i_def, tile_size=[20_i_def, 20_i_def])
    end select
    call x%initialise(space(mesh, W3))
    call y%initialise(space(mesh, W0))
    call space_ids(ids)
    proxy = x%get_proxy()
    proxy%data = sin(1.3_r_def * real(ids(:size(proxy%data)) + 1, r_def))
    call gather(y, x)
    proxy = y%get_proxy()
    mixed = 0
    do i = 1, proxy%vspace%get_last_dof_owned()
      mixed = ieor(ishftc(mixed, 7), transfer(proxy%data(i), mixed))
    end do
    call global_mpi%global_sum(real(ibits(mixed, 0, 40), r_def), total)
    call answer(trim(name), total)
  end do
  call finish_checks()
contains
  subroutine space_ids(ids)
    integer(i_halo_index), allocatable, intent(out) :: ids(:)
    proxy = x%get_proxy()
    call proxy%vspace%get_global_dof_id(ids)
  end subroutine space_ids
end program order
"""
FOR_THREADS = " for_threads=true"
THREADS = "{}; openmp-do; openmp-parallel"
COLOURS = {
    "colours": "colour{{{}}}",
    "tiles of colours": "colour{{tiling=true{}}}",
    "in procedures": "colour{{tiling=true{}}}; inline-summing-call; outline",
}

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Bits = dict[str, str]
Run = Callable[[str, int, int], Bits]


@pytest.fixture(scope="module")
def ran(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return what gives the bits of sums, by steps, threads and ranks."""
    sources = tmp_path_factory.mktemp("sources")
    for name, text in {"gather_mod.f90": KERNEL, "order_alg_mod.x90": ALGORITHM,
                       "order.f90": PROGRAM}.items():  # fmt: skip
        (sources / name).write_text(text, encoding="utf-8")

    @cache
    def built(steps: str) -> Path:
        folder = tmp_path_factory.mktemp("order")
        words = [str(sources / "order_alg_mod.x90"), "-d", str(sources), "-dm", "--output-dir",
                 str(folder), *(["--apply", steps] if steps else [])]  # fmt: skip
        assert main(words) == 0
        made = [folder / f"order_alg_mod{part}.f90" for part in ("_psy", "")]
        parts = [SHARED, sources / "gather_mod.f90", *made, sources / "order.f90"]
        compile_sources(parts, folder, (library,))
        objects = [f"{path.stem}.o" for path in parts]
        command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "order"], folder)
        return folder

    @cache
    def run(steps: str, threads: int, ranks: int) -> Bits:
        folder = built(steps)
        words = ["env", f"OMP_NUM_THREADS={threads}", *MPIRUN, str(ranks), "./order"]
        return dict(ANSWER.findall(command(words, folder)))

    return run


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("form", COLOURS)
def test_one_thread_follows_the_mesh_and_several_follow_colours(
    ran: Run, form: str, ranks: int
) -> None:
    always, for_threads = (THREADS.format(COLOURS[form].format(word)) for word in ("", FOR_THREADS))
    in_mesh_order, in_colours = ran("", 1, ranks), ran(always, 2, ranks)
    assert len(in_mesh_order) == 3
    assert in_mesh_order["plane1"] != in_colours["plane1"]
    assert ran(always, 1, ranks) == in_colours
    assert ran(for_threads, 1, ranks) == in_mesh_order
    assert ran(for_threads, 2, ranks) == in_colours
