"""Versions of kernels for stencils whose numbers of columns are known before."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.explanation import explanation
from psyclone_storage.pipeline.request import CompileRequest

KERNEL = """module blur_mod
  use argument_mod, only: arg_type, CELL_COLUMN, {shape}, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, &
                          STENCIL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type
  type, extends(kernel_type) :: blur_type
    type(arg_type) :: meta_args(2) = (/ arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL({shape})) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: blur_code
  end type blur_type
contains
  subroutine blur_code(nlayers, mean, x, n, stencil, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, n, ndf, undf, stencil(ndf, n), map(ndf)
    real(r_def), intent(inout) :: mean(undf)
    real(r_def), intent(in) :: x(undf)
    integer(i_def) :: k, s
    do k = 0, nlayers - 1
      mean(map(1) + k) = {first}
    end do
    do s = 2, n
      do k = 0, nlayers - 1
        mean(map(1) + k) = mean(map(1) + k) + {term}
      end do
    end do
    do k = 0, nlayers - 1
      mean(map(1) + k) = mean(map(1) + k) / {by}
    end do
  end subroutine blur_code
end module blur_mod
"""
ALGORITHM = """subroutine blurred(y, x{reach})
  use blur_mod, only: blur_type
  use constants_mod, only: i_def
  use field_mod, only: field_type
  type(field_type), intent(inout) :: y, x
  {declared}
  call invoke(blur_type(y, x, {extent}))
end subroutine blurred
"""
WORDS = {
    "shape": "CROSS", "first": "x(stencil(1, 1) + k)", "term": "x(stencil(1, s) + k)",
    "by": "real(n, r_def)", "reach": "", "declared": "", "extent": "2",
}  # fmt: skip


def built(folder: Path, **given: str) -> tuple[str, str]:
    """Return the layer, and what is said about it."""
    words = WORDS | given
    (folder / "blur_mod.f90").write_text(KERNEL.format(**words), encoding="utf-8")
    (folder / "alg.x90").write_text(ALGORITHM.format(**words), encoding="utf-8")
    request = CompileRequest("lfric", False, (folder,), steps="inline-summing-call")
    build = make_compiler(default_settings(), request).compile_algorithm(folder / "alg.x90")
    return build.psy_text, explanation(build)


def sizes(text: str) -> list[int]:
    return [int(one) for one in re.findall(r"if \(x_stencil_sizes\(cell\) == (\d+)_i_def", text)]


def test_a_sum_over_a_full_stencil_is_one_loop_and_others_stay(tmp_path: Path) -> None:
    text, said = built(tmp_path)
    version, other = text[text.index("== 9_i_def") :].split("else\n")
    assert version.count("do k = ") == 1
    assert [f", {at}_i_def, cell)" in version for at in range(2, 11)] == [True] * 8 + [False]
    assert "/ real(9_i_def, r_def)" in version
    assert "do s = 2, x_stencil_sizes(cell) - 3, 4" in other
    assert "'blur_type@loop1': 9 columns" in said


ARGUMENT = {"reach": ", n", "declared": "integer(i_def), intent(in) :: n", "extent": "n"}


@pytest.mark.parametrize(
    ("given", "found"),
    [({"extent": "1"}, [5]), ({"extent": "4"}, []), ({"shape": "REGION", "extent": "1"}, [9]),
     ({"shape": "REGION"}, []), ({"shape": "X1D"}, [5]), (ARGUMENT, [5, 9]),
     (ARGUMENT | {"shape": "REGION"}, [9]),
     ({"declared": "integer(i_def), parameter :: far = 3", "extent": "far"}, [13])],
)  # fmt: skip
def test_the_size_follows_from_shape_and_reach(
    tmp_path: Path, given: dict[str, str], found: list[int]
) -> None:
    assert sizes(built(tmp_path, **given)[0]) == found


@pytest.mark.parametrize(
    "given",
    [{"by": "exp(real(n, r_def))"}, {"term": "x(stencil(1, s) + k)**s"}, {"by": "2.0_r_def**n"},
     {"term": "x(stencil(1, s) + k) * real(s - 1, r_def)"}, {"by": "real(n - 1, r_def)"},
     {"term": "x(stencil(1, s) + k) / s"}, {"first": "merge(x(map(1) + k), 1.0_r_def, n > 4)"},
     {"by": "real(nlayers / (n - 9), r_def)"}, {"term": "x(stencil(1, s) + k / (n - 9))"}],
)  # fmt: skip
def test_what_a_compiler_may_round_in_another_way_has_no_version(
    tmp_path: Path, given: dict[str, str]
) -> None:
    text, said = built(tmp_path, **given)
    assert sizes(text) == []
    assert "- 3, 4" in text
    assert "known sizes" not in said


def test_a_product_is_not_brought_together_with_what_is_added_to_it(tmp_path: Path) -> None:
    product = "0.5_r_def * x(stencil(1, 1) + k)"
    for first in (product, f"real({product}, r_def)", f"-({product})"):
        text, _ = built(tmp_path, first=first)
        version = text[text.index("== 9_i_def") :].split("else\n")[0]
        assert version.count("do k = ") == 2
    text, _ = built(tmp_path, first=f"{product} + 1.0_r_def")
    assert text[text.index("== 9_i_def") :].split("else\n")[0].count("do k = ") == 1


def test_a_loop_over_a_stencil_that_is_no_sum_leaves_no_version(tmp_path: Path) -> None:
    """A compiler would write it out, and might multiply and add at once."""
    other = """mean(map(1) + k)
    end do
    do s = 1, n
      mean(map(1)) = mean(map(1)) + 1
    end do
    do k = 0, nlayers - 1
      mean(map(1) + k) = mean(map(1) + k)"""
    text, _ = built(tmp_path, first=other)
    assert sizes(text) == []
    assert "- 3, 4" in text
