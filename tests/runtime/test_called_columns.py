"""Kernels for columns leave the same bits with procedures of other modules in their place.

One build has `auto`, one `auto` without that step: cells are visited in the same order. Columns
have one layer and five: loops over the layers between others run not at all, or often.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import archive_in
from psyclone_storage.cli.main import main
from psyclone_storage.transform.catalogue import RECIPES
from runtime.programs import FLAGS, command, compile_sources
from runtime.test_infrastructure import ANSWER, SHARED

QUICK = ("-O2", "-march=native", "-ffp-contract=off", "-fcheck=no-all")
SLOPES = """module slopes_mod
  use constants_mod, only: i_def, wp => r_def
  implicit none
  private
  public :: slope, wrap, eps, either
  real(wp), parameter :: eps = 1.0e-3_wp
  integer(i_def), public :: counted = 0
  interface either
    procedure either_real, either_whole
  end interface
contains
  pure function slope(a, b) result(steep)
    real(wp), intent(in) :: a, b
    real(wp) :: steep
    steep = 0.0_wp
    if (a * b <= 0.0_wp) return
    steep = 2.0_wp * a * b / (a + b + sign(eps, a))
  end function slope
  elemental function wrap(k, n) result(at)
    integer(i_def), intent(in) :: k, n
    integer(i_def) :: at
    at = modulo(k, n) + 1
  end function wrap
  pure function either_real(x) result(y)
    real(wp), intent(in) :: x
    real(wp) :: y
    y = 0.5_wp * x
  end function either_real
  pure function either_whole(i) result(j)
    integer(i_def), intent(in) :: i
    integer(i_def) :: j
    j = 2 * i
  end function either_whole
  subroutine count_one()
    counted = counted + 1
  end subroutine count_one
end module slopes_mod
"""
EDGES = """module edges_mod
  use constants_mod, only: i_def, r_def
  use slopes_mod, only: eps => slope, wrap, tiny_step => eps
  implicit none
contains
  subroutine edges(n, column, left, right)
    integer(i_def), intent(in) :: n
    real(r_def), intent(in) :: column(0:n - 1)
    real(r_def), intent(out) :: left, right
    real(r_def) :: steps(n - 1), step
    integer(i_def) :: k
    left = column(0)
    right = column(n - 1)
    if (n < 2) return
    do k = 1, n - 1
      steps(k) = column(k) - column(k - 1)
    end do
    step = tiny_step
    do k = 1, n - 2
      step = step + eps(steps(k), steps(wrap(k, n - 1)))
    end do
    left = left - 0.5_r_def * step
    right = right + 0.5_r_def * step
  end subroutine edges
  real(r_def) function pulled(x, far)
    real(r_def), intent(in) :: x
    logical, intent(in), optional :: far
    pulled = 0.25_r_def * x
    if (present(far)) pulled = 4.0_r_def * x
  end function pulled
end module edges_mod
"""
COLUMN = """module column_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_READWRITE, GH_REAL
  use constants_mod, only: i_def, r_def
  use edges_mod, only: pulled, rims => edges
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: column_type
    type(arg_type) :: meta_args(2) = (/ arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: column_code
  end type column_type
contains
  subroutine column_code(nlayers, y, x, ndf, undf, map)
    use slopes_mod
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf)
    real(r_def) :: left, right, steep
    integer(i_def) :: k
    do k = 0, nlayers - 1
      call rims(nlayers, x(map(1):map(1) + nlayers - 1), left, right)
      y(map(1) + k) = slope(left - real(k, r_def), right) + either(y(map(1) + k))
    end do
    do k = 1, nlayers - 2
      steep = slope(x(map(1) + k) - x(map(1) + k - 1), x(map(1) + k + 1) - x(map(1) + k))
      y(map(1) + k) = y(map(1) + k) + steep * real(either(wrap(k, nlayers)), r_def)
      y(map(1) + k) = y(map(1) + k) + pulled(steep) - pulled(steep, far=.true.)
    end do
  end subroutine column_code
end module column_mod
"""
SHARED_DOFS = """module spread_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W0, W3
  use kernel_mod, only: kernel_type
  use slopes_mod, only: slope
  implicit none
  type, extends(kernel_type) :: spread_type
    type(arg_type) :: meta_args(2) = (/ arg_type(GH_FIELD, GH_REAL, GH_INC, W0), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: spread_code
  end type spread_type
contains
  subroutine spread_code(nlayers, z, x, ndf_z, undf_z, map_z, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf_z, undf_z, map_z(ndf_z), ndf, undf, map(ndf)
    real(r_def), intent(inout) :: z(undf_z)
    real(r_def), intent(in) :: x(undf)
    integer(i_def) :: k, df
    do df = 1, ndf_z
      do k = 0, nlayers - 1
        z(map_z(df) + k) = z(map_z(df) + k) + slope(x(map(1) + k), z(map_z(df) + k))
      end do
    end do
  end subroutine spread_code
end module spread_mod
"""
ALGORITHM = """module columns_alg_mod
  use column_mod, only: column_type
  use field_mod, only: field_type
  use spread_mod, only: spread_type
  implicit none
contains
  subroutine columns(x, y, z)
    type(field_type), intent(inout) :: x, y, z
    call invoke(column_type(y, x), spread_type(z, y), column_type(x, y))
  end subroutine columns
end module columns_alg_mod
"""
PROGRAM = """program columns_of_two_meshes
  use checks_mod, only: answer, deepest, finish_checks, space, start_checks
  use columns_alg_mod, only: columns
  use constants_mod, only: i_def, i_halo_index, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W0, W3
  use function_space_mod, only: function_space_type
  use, intrinsic :: iso_fortran_env, only: int64
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection
  use mesh_mod, only: mesh_type
  implicit none
  type(local_mesh_type), pointer :: plane
  type(mesh_type), pointer :: mesh
  type(field_type) :: x, y, z
  integer(i_def) :: layers

  call start_checks()
  do layers = 1, 5, 4
    call one_mesh()
  end do
  call finish_checks()
contains
  subroutine one_mesh()
    character(len=8) :: name
    write (name, '(a, i0)') 'plane', layers
    allocate (plane)
    plane = local_mesh_type(trim(name), 7_i_def, 6_i_def, 1.0_r_def, 1.0_r_def, halo_depth=deepest)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(plane, uniform_extrusion_type(0.0_r_def, 3.0_r_def, layers, PRIME_EXTRUSION), &
                tile_size=[3_i_def, 2_i_def])))
    call make(x, W3, 1.3_r_def)
    call make(y, W3, 0.7_r_def)
    call make(z, W0, 0.2_r_def)
    call columns(x, y, z)
    call columns(y, x, z)
    call tell('x', x)
    call tell('y', y)
    call tell('z', z)
  end subroutine one_mesh
  subroutine make(field, fs, seed)
    type(field_type), intent(inout) :: field
    integer(i_def), intent(in) :: fs
    real(r_def), intent(in) :: seed
    type(function_space_type), pointer :: of_mesh
    type(field_proxy_type) :: proxy
    integer(i_halo_index), allocatable :: ids(:)
    of_mesh => space(mesh, fs)
    call of_mesh%get_global_dof_id(ids)
    call field%initialise(of_mesh)
    proxy = field%get_proxy()
    proxy%data = sin(seed * real(ids(:size(proxy%data)) + 1, r_def))
  end subroutine make
  subroutine tell(name, field)
    character(len=*), intent(in) :: name
    type(field_type), intent(in) :: field
    type(field_proxy_type) :: proxy
    integer(int64) :: mixed
    integer :: i
    character(len=12) :: whole
    proxy = field%get_proxy()
    mixed = 0
    do i = 1, proxy%vspace%get_last_dof_owned()
      mixed = ieor(ishftc(mixed, 7), transfer(proxy%data(i), mixed))
    end do
    write (whole, '(a, i0)') name, layers
    call answer(trim(whole), transfer(mixed, 1.0_r_def))
  end subroutine tell
end program columns_of_two_meshes
"""
SOURCES = {
    "slopes_mod.f90": SLOPES,
    "edges_mod.f90": EDGES,
    "column_mod.f90": COLUMN,
    "spread_mod.f90": SHARED_DOFS,
    "columns_alg_mod.x90": ALGORITHM,
    "columns.f90": PROGRAM,
}
WITHOUT = RECIPES["auto"].replace("inline-calling-kernel; ", "")

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Built = Callable[[str], tuple[str, dict[str, str]]]


@pytest.fixture(scope="module")
def ran(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return what gives a generated layer and the bits that it leaves on two ranks, by steps."""
    sources = tmp_path_factory.mktemp("sources")
    for name, text in SOURCES.items():
        (sources / name).write_text(text, encoding="utf-8")

    @cache
    def built(steps: str) -> tuple[str, dict[str, str]]:
        folder = tmp_path_factory.mktemp("columns")
        words = [str(sources / "columns_alg_mod.x90"), "-d", str(sources), "-dm"]
        assert main([*words, "--output-dir", str(folder), "--apply", steps]) == 0
        layer, modules = folder / "columns_alg_mod_psy.f90", [*SOURCES][:4]
        kernels = folder / "kernels.f90"
        kernels.write_text("".join(SOURCES[name] for name in modules), encoding="utf-8")
        parts = [SHARED, kernels, layer, folder / "columns_alg_mod.f90", sources / "columns.f90"]
        compile_sources(parts, folder, (library,), *QUICK)
        objects = [f"{path.stem}.o" for path in parts]
        command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "columns"], folder)
        run = ["env", "OMP_NUM_THREADS=2", "mpirun", "--oversubscribe", "-n", "2", "./columns"]
        return layer.read_text(encoding="utf-8"), dict(ANSWER.findall(command(run, folder)))

    return built


def test_merged_columns_leave_the_same_bits(ran: Built) -> None:
    without, expected = ran(WITHOUT)
    layer, found = ran("auto")
    assert len(set(expected.values())) == len(expected) == 6
    assert found == expected
    assert "use column_mod, only: column_code" in without
    for name, calls in (("column", 2), ("spread", 1)):
        assert f"use {name}_mod, only: {name}_code" not in layer
        assert layer.count(f"  subroutine {name}_code(") == 1
        assert layer.count(f"call {name}_code(") == calls
    assert "slope(" not in layer
    assert "call rims" not in layer
    assert "either(" not in layer
    assert layer.count("pulled(") == 2  # of an optional argument
