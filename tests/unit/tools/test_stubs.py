"""The effects of the statements of a kernel compared with its metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.settings import Api
from psyclone_storage.tools.c_code import CForm, KernelRequest, generate_c, make_finder
from psyclone_storage.tools.device_modules import DeviceModules
from psyclone_storage.tools.factories import KernelTypeFactory
from psyclone_storage.tools.offload_check import judge_kernels
from psyclone_storage.tools.stubs import check_kernel_file, generate_stub
from psyclone_storage.tools.translate import generate_python

GOCEAN = """module work_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod, only: kernel_type
  use kind_params_mod, only: go_wp
  implicit none
  type, extends(kernel_type) :: work
    type(go_arg) :: meta_args(4) = (/ go_arg(go_write, go_ct, go_pointwise), &
      go_arg(go_readwrite, go_ct, go_pointwise), &
      go_arg(go_read, go_cu, go_stencil(000,112,000)), &
      go_arg(go_read, go_grid_mask_t) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => work_code
  end type work
contains
  subroutine work_code(ji, jj, new, old, u, mask)
    integer, intent(in) :: ji, jj
    real(go_wp), intent(inout) :: new(:, :), old(:, :)
    real(go_wp), intent(in) :: u(:, :)
    integer, intent(in) :: mask(:, :)
    integer :: at, places(3)
{body}
  end subroutine work_code
end module work_mod
"""
LFRIC = """module work_mod
  use argument_mod, only: arg_type, cell_column, gh_field, gh_inc, gh_operator, gh_read, gh_real, &
                          gh_write
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: w0, w3
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: work_type
    type(arg_type) :: meta_args(3) = (/ arg_type(gh_field*2, gh_real, gh_write, w3), &
      arg_type(gh_field, gh_real, gh_inc, w0), arg_type(gh_field, gh_real, gh_read, w3) /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: work_code
  end type work_type
contains
  subroutine work_code(nlayers, one, two, sums, old, ndf3, undf3, map3, ndf0, undf0, map0)
    integer(i_def), intent(in) :: nlayers, ndf3, undf3, ndf0, undf0
    integer(i_def), intent(in) :: map3(ndf3), map0(ndf0)
    real(r_def), intent(inout) :: one(undf3), two(undf3), sums(undf0)
    real(r_def), intent(in) :: old(undf3)
    integer(i_def) :: k
{body}
  end subroutine work_code
end module work_mod
"""
DO_ALL = "new(ji, jj) = u(ji, jj)\nold(ji, jj) = new(ji, jj)\n"
"""What the kernel on a grid has to do at least."""
WRITE_ALL = "one(map3(1)) = 0.0_r_def\ntwo(map3(1)) = one(map3(1))\nsums(map0(1)) = 1.0_r_def\n"


def problems(text: str, api: Api, folder: Path) -> tuple[Diagnostic, ...]:
    file = folder / "work_mod.f90"
    file.write_text(text, encoding="utf-8")
    return check_kernel_file(file, None, api, default_settings())


def on_grid(body: str, folder: Path) -> list[tuple[str, str]]:
    """Return the code of each problem, and the statement that it points to."""
    found = problems(GOCEAN.format(body=body), Api.GOCEAN, folder)
    return [(item.code, item.span.text if item.span else "") for item in found]


def on_mesh(body: str, folder: Path) -> list[tuple[str, str]]:
    found = problems(LFRIC.format(body=body), Api.LFRIC, folder)
    return [(item.code, item.span.text if item.span else "") for item in found]


@pytest.mark.parametrize(
    "body",
    [
        "! to be done",
        DO_ALL,
        DO_ALL + "old(ji, jj) = u(ji - 1, jj) + u(ji + 2, jj)",
        DO_ALL + "old(ji, jj) = old(ji, jj) + real(mask(ji, jj + 7), go_wp)",
        DO_ALL + "at = ji - 1\nold(ji, jj) = u(at + 1, jj) + u(at, jj)",
        DO_ALL + "at = ji + places(1)\nold(ji, jj) = u(at, jj)",
        DO_ALL + "if (mask(ji, jj) > 0) at = ji - 1\nold(ji, jj) = u(at, jj)",
        DO_ALL + "do at = 1, 3\nold(ji, jj) = u(ji, at)\nend do",
        "call fill(new, ji, jj)\nold(ji, jj) = new(ji, jj)",
        "where (mask > 0) new = old\nold(ji, jj) = new(ji, jj)",
        "old(ji, jj) = given(new(ji, jj))\nnew(ji, jj) = 0.0_go_wp",
        "old(ji, jj) = real(size(new, 1), go_wp)\nnew(ji, jj) = 0.0_go_wp",
    ],
)
def test_what_is_right_or_not_known_is_not_told(body: str, tmp_path: Path) -> None:
    assert on_grid(body, tmp_path) == []


@pytest.mark.parametrize(
    ("body", "code", "place"),
    [
        ("old(ji, jj) = u(ji + 3, jj)", "M207", "old(ji, jj) = u(ji + 3, jj)"),
        ("old(ji, jj) = u(ji, jj + 1)", "M207", "old(ji, jj) = u(ji, jj + 1)"),
        ("at = jj - 1\nold(ji, jj) = u(ji, at)", "M207", "old(ji, jj) = u(ji, at)"),
        ("if (old(ji - 1, jj) > 0.0) return", "M207", "if (old(ji - 1, jj) > 0.0) return"),
        ("if (mask(1, 1) > 0) then\nelse if (u(ji, jj - 1) > 0.0) then\nend if", "M207",
         "else if (u(ji, jj - 1) > 0.0) then"),
        ("do at = 1, int(u(ji, jj + 1))\nend do", "M207", "do at = 1, int(u(ji, jj + 1))"),
        ("old(ji + 1, jj) = 0.0", "M207", "old(ji + 1, jj) = 0.0"),
        ("u(ji, jj) = 0.0", "M204", "u(ji, jj) = 0.0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_shown_where_it_stands(
    body: str, code: str, place: str, tmp_path: Path
) -> None:
    assert on_grid(DO_ALL + body, tmp_path) == [(code, place)]


def test_the_value_before_of_what_is_written_is_not_there(tmp_path: Path) -> None:
    body = "old(ji, jj) = new(ji, jj)\nnew(ji, jj) = 0.0_go_wp"
    assert on_grid(body, tmp_path) == [("M206", "old(ji, jj) = new(ji, jj)")]


def test_what_is_never_written_is_named_in_the_head(tmp_path: Path) -> None:
    assert on_grid("new(ji, jj) = u(ji, jj)", tmp_path) == [("M205", "old")]


@pytest.mark.parametrize(
    "body",
    [
        WRITE_ALL,
        # One component of a vector may be left alone.
        "one(map3(1)) = 0.0_r_def\nsums(map0(1)) = sums(map0(1)) + 1.0_r_def",
        (
            "one(map3(1)) = 0.0_r_def\ndo k = 1, 9\none(map3(1) + k) = one(map3(1) + k - 1)\n"
            "end do\nsums(map0(1)) = 1.0_r_def"
        ),
        "associate (all => sums)\nall = 1.0_r_def\nend associate\none(1) = 0.0_r_def",
    ],
)
def test_columns_that_do_as_they_say(body: str, tmp_path: Path) -> None:
    assert on_mesh(body, tmp_path) == []


def test_columns_that_do_not(tmp_path: Path) -> None:
    body = "two(map3(1)) = one(map3(1)) + old(map3(1))\nold(map3(1)) = 0.0_r_def"
    assert on_mesh(body, tmp_path) == [
        ("M206", "two(map3(1)) = one(map3(1)) + old(map3(1))"),
        ("M205", "sums"),
        ("M204", "old(map3(1)) = 0.0_r_def"),
    ]


def test_an_unclosed_construct_that_hides_the_kernel_type(tmp_path: Path) -> None:
    path = tmp_path / "work_mod.f90"
    text = LFRIC.replace("  implicit none\n", "  implicit none\n  interface work\n", 1)
    path.write_text(text.format(body="one(1) = 0.0_r_def"))
    settings, wanted = default_settings(), KernelRequest(None, (), tmp_path)
    with pytest.raises(CompileError, match="'interface work' is not closed"):
        generate_stub(path, None, Api.LFRIC, settings)
    with pytest.raises(CompileError, match="'interface work' is not closed"):
        generate_c(path, Api.LFRIC, settings, CForm.FUNCTION, wanted)
    with pytest.raises(CompileError, match="'interface work' is not closed"):
        generate_python(path, Api.LFRIC, settings, wanted)
    with pytest.raises(CompileError, match="'interface work' is not closed"):
        KernelTypeFactory("lfric").create(path)
    modules = DeviceModules(make_finder(wanted, settings))
    (judged,) = judge_kernels(path, None, Api.LFRIC, settings, modules)
    assert {problem.code for problem in judged.reasons} == {"P005"}
