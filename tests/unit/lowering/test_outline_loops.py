"""Loops in procedures of their own: what stays in the routine, and what names mean inside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest

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


SCALE = """module scale_mod
  use argument_mod
  use grid_mod, only : go_offset_any
  use kernel_mod, only : kernel_type
  use kind_params_mod, only : go_wp
  implicit none
  type, extends(kernel_type) :: scale
    type(go_arg) :: meta_args(2) = (/ go_arg(go_readwrite, go_ct, go_pointwise), &
                                      go_arg(go_read, go_r_scalar, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_any
  contains
    procedure, nopass :: code => scale_code
  end type scale
contains
  subroutine scale_code(i, j, depth, by)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: depth(:, :)
    {declared} :: by
    {statement}
    depth(i, j) = depth(i, j) * by
  end subroutine scale_code
end module scale_mod
"""
SCALED = """subroutine scaled(depth, by)
  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use scale_mod, only : scale
  type(r2d_field), intent(inout) :: depth
  real(go_wp), intent(inout) :: by
  call invoke(scale(depth, by))
end subroutine scaled
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
    assert "integer, value, intent(in) :: xstop_1" in text
    assert "depth(i, j) = min(depth(i, j), xstop)" in text


@pytest.mark.parametrize(
    ("declared", "statement", "attributes"),
    [
        ("real(go_wp), intent(in)", "", "value, intent(in)"),
        ("real(go_wp), INTENT( In )", "", "value, intent(in)"),
        ("real(go_wp)", "", "intent(in)"),
        ("real(go_wp)", "by = by + 1.0_go_wp", "intent(in)"),
    ],
)
def test_a_number_that_a_kernel_may_change_is_not_passed_by_value(
    tmp_path: Path, declared: str, statement: str, attributes: str
) -> None:
    """What it writes against its metadata would be lost."""
    text = SCALE.format(declared=declared, statement=statement)
    (tmp_path / "scale_mod.f90").write_text(text, encoding="utf-8")
    (tmp_path / "alg.x90").write_text(SCALED, encoding="utf-8")
    text = layer(tmp_path / "alg.x90", "inline-kernel-module; outline", tmp_path)
    procedure = text[text.index("_loop1(by") :]
    assert f"real(kind=go_wp), {attributes} :: by\n" in procedure
    assert "integer, value, intent(in) :: ystart" in procedure


KEEP = """module keep_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_REAL, GH_SCALAR, GH_WRITE
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type
  type, extends(kernel_type) :: keep_type
    type(arg_type) :: meta_args(3) = (/ arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), arg_type(GH_SCALAR, GH_REAL, GH_READ) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: keep_code
  end type keep_type
contains
  subroutine keep_code(nlayers, kept, given, share, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: kept(undf)
    real(r_def), intent(in) :: given(undf), share
    integer(i_def) :: k
    real(r_def) :: a
    a = 0.5_r_def
    do k = 0, nlayers - 1
      kept(map(1) + k) = a * share * given(map(1) + k)
    end do
  end subroutine keep_code
end module keep_mod
"""
KEPT = """subroutine kept(u, v, a)
  use constants_mod, only: r_def
  use field_mod, only: field_type
  use keep_mod, only: keep_type
  type(field_type), intent(inout) :: u, v
  real(r_def), intent(in) :: a
  call invoke(keep_type(u, v, a), setval_c(v, 0.0_r_def))
end subroutine kept
"""


def lfric_layer(folder: Path, steps: str) -> str:
    (folder / "keep_mod.f90").write_text(KEEP, encoding="utf-8")
    (folder / "alg.x90").write_text(KEPT, encoding="utf-8")
    request = CompileRequest("lfric", False, (folder,), steps=steps)
    compiler = make_compiler(default_settings(), request)
    return compiler.compile_algorithm(folder / "alg.x90").psy_text


def test_a_loop_over_cells_is_passed_what_its_lines_use(tmp_path: Path) -> None:
    """The kernel's own variable has the name of a scalar of the invoke, which stays as it is."""
    text = lfric_layer(tmp_path, "inline-call")
    routine, procedure = text.split("  subroutine invoke_0_loop1(")
    assert "call invoke_0_loop1(loop1_start, loop1_stop, nlayers_u, a, ndf_w3, undf_w3, " in routine
    assert ", df\n" in routine
    assert ", cell" not in routine
    for line in ("real(kind=r_def), intent(in) :: a\n", "integer(kind=i_def) :: cell\n",
                 "integer(kind=i_def), intent(in) :: map_w3(ndf_w3, *)",
                 "real(kind=r_def), intent(inout) :: u_data(undf_w3)",
                 "real(kind=r_def), intent(in) :: v_data(undf_w3)"):  # fmt: skip
        assert line in procedure


def test_threads_share_a_loop_over_cells_in_its_procedure(tmp_path: Path) -> None:
    text = lfric_layer(tmp_path, "openmp-parallel-do; inline-call")
    routine, procedure = text.split("  subroutine invoke_0_loop1(")
    assert "!$omp parallel do default(shared), private(cell)" in procedure
    assert "private(df)" in routine
    assert "private(cell)" not in routine


# ---------------------------------------------------------------------------- beside storages

TIDES = TESTS / "runtime" / "transfers" / "tides.x90"
THRICE = """subroutine thrice(new, old, depth, u, depth_u, v, depth_v)
  use field_mod, only : r2d_field
  use tides_mod, only : rise
  type(r2d_field), intent(inout) :: new, old, depth, u, depth_u, v, depth_v
  call invoke(rise(new, old, depth, u, depth_u, v, depth_v), &
              rise(new, old, depth, u, depth_u, v, depth_v), &
              rise(new, old, depth, u, depth_u, v, depth_v))
end subroutine thrice
"""
ASKED = re.compile(r"%grid%(acquire|release)\(\w+%grid%area_t, (\w+)|^ *(do) j", re.MULTILINE)


def held(steps: str | None, algorithm: Path = TIDES) -> str:
    """Return the layer of an algorithm with storages, by default that of the model of tides."""
    kernels = (TIDES.parent / "kernels",)
    request = CompileRequest("gocean", False, kernels, target="storage", steps=steps)
    return make_compiler(default_settings(), request).compile_algorithm(algorithm).psy_text


def test_copied_kernels_beside_storages_are_called_in_procedures() -> None:
    """What a routine asks of storages makes it too long for a compiler to inline kernels there."""
    text = held("inline-kernel-module")
    public = re.findall(r"^  public :: (\w+)$", text, re.MULTILINE)
    called = re.findall(r"^    call (\w+_loop\d+)\(", text, re.MULTILINE)
    assert called
    assert public == ["invoke_advance", *called]
    assert "_loop" not in held(None)


def test_arrays_of_grids_are_held_from_the_first_use_to_the_last(tmp_path: Path) -> None:
    """They are asked for once; or where the side changes, as for a loop between two of the host."""
    (tmp_path / "thrice.x90").write_text(THRICE, encoding="utf-8")
    region = "acc-loop(loop2)"
    on_device = (
        "inline-kernel-module; acc-routine; acc-loop{loop=loop2 collapse=0};"
        f" acc-parallel{{first={region} last={region}}}"
    )
    here, there = ("acquire", "space_host", ""), ("acquire", "space_device", "")
    left, left_there = ("release", "space_host", ""), ("release", "space_device", "")
    loop = ("", "", "do")
    asked = ASKED.findall(held(None, tmp_path / "thrice.x90"))
    assert asked == [here, loop, loop, loop, left]
    asked = ASKED.findall(held(on_device, tmp_path / "thrice.x90").partition("end subroutine")[0])
    assert asked == [here, left, there, loop, left_there, here, left]
