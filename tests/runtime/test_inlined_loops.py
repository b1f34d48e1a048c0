"""Loops of a kernel that is inlined are ordinary nests: steps change them, and values stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fortran import run
from libraries import archive_in
from psyclone_storage.cli.main import main

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

ALGORITHM = """module model_mod
  use field_mod, only: r2d_field
  use blend_mod, only: blend
  implicit none
contains
  subroutine model(total, k)
    type(r2d_field), intent(inout) :: total, k
    call invoke( blend(total, k) )
  end subroutine model
end module model_mod
"""
KERNEL = """module blend_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
  implicit none
  private
  type, public, extends(kernel_type) :: blend
    type(go_arg) :: meta_args(2) = (/ go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => blend_code
  end type blend
  public :: blend_code
contains
  subroutine blend_code(i, j, value, source)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: value(:, :)
    real(go_wp), intent(in) :: source(:, :)
    real(go_wp) :: weights(5, 3), total, part
    integer :: k, m
    do m = 1, 3
      do k = 1, 5
        part = source(i, j) * real(k, go_wp)
        weights(k, m) = part + real(m, go_wp)
      end do
    end do
    total = 0.0_go_wp
    do k = 1, 5
      total = max(total, weights(k, 1) * weights(k, 2) - weights(k, 3))
    end do
    value(i, j) = 0.5_go_wp * value(i, j) + total
  end subroutine blend_code
end module blend_mod
"""
PROGRAM = """program inlined
  use, intrinsic :: iso_fortran_env, only: int64
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
  use model_mod, only: model
  implicit none
  integer, parameter :: nx = 19, ny = 11
  type(grid_type), target :: grid
  type(r2d_field) :: total, k
  integer, allocatable :: mask(:, :)
  integer(int64) :: bits
  integer :: i, j
  call gocean_initialise()
  grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
  call grid%decompose(nx, ny, halo_width=1)
  allocate (mask(grid%subdomain%global%nx, grid%subdomain%global%ny), source=1)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp, mask)
  total = r2d_field(grid, go_t_points)
  k = r2d_field(grid, go_t_points)
  do j = 1, size(k%data, 2)
    do i = 1, size(k%data, 1)
      total%data(i, j) = sin(real(3 * i + 5 * j, go_wp))
      k%data(i, j) = cos(real(2 * i - j, go_wp))
    end do
  end do
  do i = 1, 3
    call model(total, k)
  end do
  bits = 0_int64
  do j = total%internal%ystart, total%internal%ystop
    do i = total%internal%xstart, total%internal%xstop
      bits = ieor(bits, ishftc(transfer(total%data(i, j), 0_int64), mod(i + 5 * j, 64)))
    end do
  end do
  print '(a, i21)', 'bits', bits
  call gocean_finalise()
end program inlined
"""
INLINED = "inline-call{call=blend@loop1}"
ON_DEVICE = f"{INLINED}; acc-loop{{loop=loop1 gang=true}}; acc-parallel; acc-enter-data"
RECIPES = {
    "shared by lanes": f"{ON_DEVICE}; kernel-acc-loop{{call=blend@loop1 loop=3}}",
    "shared on two levels": (
        f"{ON_DEVICE}; kernel-acc-loop{{call=blend@loop1 loop=1 level=worker}};"
        " kernel-acc-loop{call=blend@loop1 loop=2}; kernel-acc-loop{call=blend@loop1 loop=3}"
    ),
    "swapped": f"{INLINED}; kernel-swap{{call=blend@loop1}}",
    "in tiles": f"{INLINED}; kernel-tile{{call=blend@loop1 size=2}}",
    "in chunks, under a tiled schedule": (
        f"{INLINED}; tile-loops{{loop=loop1 rows=4 columns=3}};"
        " kernel-chunk{call=blend@loop1 loop=3}"
    ),
    "jammed, in swapped rows": f"{INLINED}; swap-loops; kernel-jam{{call=blend@loop1 factor=2}}",
}

Model = Callable[[str], tuple[str, str]]


@pytest.fixture(scope="module")
def model(gocean_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """Return what compiles the model with a recipe, and returns its layer and what it prints."""

    def answer(steps: str) -> tuple[str, str]:
        folder = tmp_path_factory.mktemp("inlined")
        kernels = folder / "kernels"
        kernels.mkdir()
        (folder / "alg.x90").write_text(ALGORITHM, encoding="utf-8")
        (kernels / "blend_mod.f90").write_text(KERNEL, encoding="utf-8")
        (folder / "inlined.f90").write_text(PROGRAM, encoding="utf-8")
        words = ["-api", "gocean", str(folder / "alg.x90"), "-d", str(kernels), "-nodm", "--check"]
        words += ["--apply", steps] if steps else []
        layer = [str(folder / "psy.f90"), str(folder / "alg.f90")]
        assert main([*words, "-opsy", layer[0], "-oalg", layer[1]]) == 0
        sources = [str(kernels / "blend_mod.f90"), *layer, str(folder / "inlined.f90")]
        flags = ["-O1", "-fopenacc", "-fcheck=all", f"-I{gocean_library}", f"-J{folder}"]
        program = str(folder / "inlined")
        run(["mpif90", *flags, *sources, archive_in(gocean_library), "-o", program])
        words = ["mpirun", "--oversubscribe", "-n", "1", program]
        found = [line for line in run(words).splitlines() if line.startswith("bits")]
        assert len(found) == 1
        return Path(layer[0]).read_text(encoding="utf-8"), found[0]

    return answer


def test_loops_of_inlined_kernels_keep_their_values(model: Model) -> None:
    plain = model("")[1]
    assert int(plain.split()[1]) != 0
    for name, steps in RECIPES.items():
        layer, found = model(steps)
        assert "blend_code" not in layer, name
        shared = layer.count("!$acc loop vector") + layer.count("!$acc loop worker")
        assert shared == steps.count("kernel-acc-loop"), name
        assert found == plain, name
