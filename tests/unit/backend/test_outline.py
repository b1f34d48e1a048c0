"""Loops in procedures of their own: what stays in the routine, and what names mean inside."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.config.load import default_settings
from psyclone_storage.driver.compile import make_compiler
from psyclone_storage.driver.request import CompileRequest

TESTS = Path(__file__).parents[2]
CORPUS = TESTS / "corpus" / "gocean" / "kernels"
ALGORITHM = TESTS / "cases" / "gocean" / "outlined" / "alg.x90"
THREADS = "openmp-taskloop; openmp-single; openmp-parallel"

LIMIT = """module limit_mod
  use argument_mod
  use grid_mod, only : go_offset_any
  use kernel_mod, only : kernel_type
  use kind_params_mod, only : go_wp
  use basin_mod, only : xstop
  implicit none
  type, extends(kernel_type) :: limit
    type(go_arg) :: meta_args(1) = (/ go_arg(go_readwrite, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_any
  contains
    procedure, nopass :: code => limit_code
  end type limit
contains
  subroutine limit_code(i, j, depth)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: depth(:, :)
    depth(i, j) = min(depth(i, j), xstop)
  end subroutine limit_code
end module limit_mod
"""
BASIN = """module basin_mod
  use kind_params_mod, only : go_wp
  implicit none
  real(go_wp) :: xstop = 1.0_go_wp
end module basin_mod
"""
LIMITED = """subroutine limited(depth)
  use field_mod, only : r2d_field
  use limit_mod, only : limit
  type(r2d_field), intent(inout) :: depth
  call invoke(limit(depth))
end subroutine limited
"""


def layer(algorithm: Path, steps: str, kernels: Path = CORPUS) -> str:
    request = CompileRequest("gocean", False, (kernels,), steps=steps)
    return make_compiler(default_settings(), request).compile_algorithm(algorithm).psy_text


def test_tasks_keep_their_loops() -> None:
    """Each task would have the dummy arguments of a procedure for itself."""
    text = layer(ALGORITHM, f"inline-point-call; {THREADS}; outline")
    assert text.count("!$omp taskloop") == 4
    assert text.count("  subroutine invoke_") == 2


def test_a_directive_that_shares_work_goes_with_its_loop() -> None:
    text = layer(ALGORITHM, "inline-point-call; openmp-parallel-do; outline")
    inside = text[text.index("subroutine invoke_0_loop1(") :]
    assert "!$omp parallel do" in inside
    assert "!$omp" not in text[: text.index("end subroutine invoke_0")]


def test_variables_of_modules_keep_their_names(tmp_path: Path) -> None:
    for name, text in (("limit_mod.f90", LIMIT), ("basin_mod.f90", BASIN)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "alg.x90").write_text(LIMITED, encoding="utf-8")
    steps = "imports-to-arguments; inline-point-call; outline"
    text = layer(tmp_path / "alg.x90", steps, tmp_path)
    assert "use basin_mod, only: xstop" in text
    assert "integer, intent(in) :: xstop_1" in text
    assert "depth(i, j) = min(depth(i, j), xstop)" in text
