"""Variables of modules passed to kernels: generated code compiles and computes the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fortran import run
from libraries import linked_with
from psyclone_storage.cli.main import main

pytestmark = pytest.mark.fortran

MODEL = """module model_mod
  use kind_params_mod, only: wp => go_wp
  implicit none
  private
  integer, parameter, public :: first = 1
  real(wp), public :: rdt = 0.5_wp
  real(wp), public, protected, save :: weights(0:2) = [1.0_wp, 2.0_wp, 4.0_wp]
  real(wp), public, protected, save :: plain(2) = [3.0_wp, 5.0_wp]
  integer, public :: count = 0
end module model_mod
"""
KERNEL = """module {name}_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
{above}
  implicit none
  private
  public :: {name}_code
  type, public, extends(kernel_type) :: {name}
    type(go_arg) :: meta_args(1) = (/ go_arg(go_readwrite, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => {name}_code
  end type {name}
contains
  subroutine {name}_code(i, j, field)
{inside}
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: field(:, :)
{body}
  end subroutine {name}_code
end module {name}_mod
"""
SCALE = KERNEL.format(
    name="scale",
    above="",
    inside="    use model_mod, only: dt => rdt, plain, first",
    body="    field(i, j) = dt * plain(first) + plain(2) + real(i, go_wp)",
)
TALLY = KERNEL.format(
    name="tally",
    above="  use model_mod",
    inside="",
    body="""    if (field(i, j) > 10.0_go_wp) count = count + 1
    field(i, j) = field(i, j) + weights(0) * rdt * real(count, go_wp)""",
)
CLIP = KERNEL.format(
    name="clip",
    above="",
    inside="    use model_mod",
    body="    field(i, j) = min(field(i, j), 20.0_go_wp * rdt)",
)
PROGRAM = """program steps
  use clip_mod, only: clip
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
  use model_mod, only: rdt, tallied => count
  use scale_mod, only: scale
  use tally_mod, only: tally
  implicit none
  type(grid_type), target :: grid
  type(r2d_field) :: field
  integer :: step
  call gocean_initialise()
  grid = grid_type(GO_ARAKAWA_C, [GO_BC_NONE, GO_BC_NONE, GO_BC_NONE], GO_OFFSET_NE)
  call grid%decompose(7, 5, halo_width=1)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  field = r2d_field(grid, go_t_points)
  do step = 1, 3
    rdt = real(step, go_wp)
    call invoke(scale(field), tally(field), clip(field))
    print *, tallied, field%data
  end do
  call gocean_finalise()
end program steps
"""
KERNELS = {"scale": SCALE, "tally": TALLY, "clip": CLIP}
PASSED = "imports-to-arguments"
Printed = Callable[..., str]


@pytest.fixture
def printed(gocean_library: Path, f90: tuple[str, ...], tmp_path: Path) -> Printed:
    """Return what generates and compiles the program with some steps, and gives what it prints."""
    sources = tmp_path / "sources"
    sources.mkdir()
    for name, text in KERNELS.items():
        (sources / f"{name}_mod.f90").write_text(text, encoding="utf-8")
    (sources / "model_mod.f90").write_text(MODEL, encoding="utf-8")
    (tmp_path / "steps.x90").write_text(PROGRAM, encoding="utf-8")

    def made(steps: str, threads: int = 1) -> str:
        layer, algorithm, changed = tmp_path / "psy.f90", tmp_path / "alg.f90", tmp_path / "changed"
        words = ["-api", "gocean", "-nodm", str(tmp_path / "steps.x90"), "-d", str(sources)]
        words += ["-okern", str(changed), "--kernel-renaming", "single"]
        words += ["--apply", steps] if steps else []
        assert main([*words, "-oalg", str(algorithm), "-opsy", str(layer)]) == 0
        kernels = [sources / "model_mod.f90", *(sources / f"{name}_mod.f90" for name in KERNELS)]
        files = map(str, (*kernels, *sorted(changed.glob("*.f90")), layer, algorithm))
        flags = ["-fopenmp", "-fcheck=all", f"-J{tmp_path}"]
        program = str(tmp_path / "steps")
        run([*f90, *flags, *files, *linked_with(gocean_library), "-o", program])
        return run([program], OMP_NUM_THREADS=str(threads))

    return made


@pytest.mark.parametrize(
    "steps",
    [
        PASSED,
        f"inline-kernel-module; {PASSED}",
        f"{PASSED}; inline-kernel-module",
        f"{PASSED}; inline-call",
        f"{PASSED}; bounds-inside",
        f"{PASSED}; acc-routine",
        f"{PASSED}; openmp-parallel-do",
        f"openmp-parallel-do{{loop=loop1}}; {PASSED}; inline-call",
    ],
)
def test_what_is_computed_stays(printed: Printed, steps: str) -> None:
    expected = printed("")
    assert len(expected.splitlines()) >= 3
    assert printed(steps) == expected
    if "openmp" in steps:
        assert printed(steps, 2) == expected


def test_the_layer_imports_and_passes_variables_and_no_constants(
    printed: Printed, tmp_path: Path
) -> None:
    printed(PASSED)
    layer = (tmp_path / "psy.f90").read_text(encoding="utf-8")
    assert "use model_mod, only: count, plain, rdt, weights" in layer
    assert "call scale_0_code(i, j, field%data, rdt, plain)" in layer
    assert "call tally_0_code(i, j, field%data, count, rdt, weights)" in layer
    scale = (tmp_path / "changed" / "scale_0_mod.f90").read_text(encoding="utf-8")
    assert "use model_mod, only: first" in scale
    assert "intent(in) :: dt, plain(2)" in scale
    clip = (tmp_path / "changed" / "clip_0_mod.f90").read_text(encoding="utf-8")
    assert "use model_mod, rdt_1 => rdt" in clip
