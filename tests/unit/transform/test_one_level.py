"""Procedures for columns of one level: what they hold, and where bits could depend on them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.explanation import explanation
from psyclone_storage.pipeline.request import CompileRequest

KERNEL = """module multiply_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_READWRITE, &
                          GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type
  type, extends(kernel_type) :: multiply_type
    type(arg_type) :: meta_args(3) = (/ arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: multiply_code
  end type multiply_type
contains
  subroutine multiply_code(cell, nlayers, y, x, ncell_3d, matrix, ndf, undf, map)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf), {matrix}
    integer(i_def) :: column, first, i, j, k, row
    real(r_def) :: t
    first = (cell - 1) * nlayers + 1
    {before}
    do {outer} = 1, ndf
      do {inner} = 1, {rows}
        do k = 0, {last}
          {target} = {value}
        end do
      end do
    end do
    {after}
  end subroutine multiply_code
end module multiply_mod
"""
ALGORITHM = """subroutine multiplied(y, x, matrix)
  use field_mod, only: field_type
  use multiply_mod, only: multiply_type
  use operator_mod, only: operator_type
  type(field_type), intent(inout) :: y
  type(field_type), intent(in) :: x
  type(operator_type), intent(in) :: matrix
  call invoke(name='all', multiply_type(y, x, matrix){more})
end subroutine multiplied
"""
X, Y, M = "x(map(column) + k)", "y(map(row) + k)", "matrix(first + k, row, column)"
NEST = {"outer": "column", "inner": "row", "rows": "ndf", "last": "nlayers - 1", "target": Y}
USUAL = NEST | {
    "matrix": "matrix(ncell_3d, ndf, ndf)",
    "before": "",
    "after": "",
    "value": f"{Y} + {M} * {X}",
}
STEPS = "inline-call; outline; version-one-level"


def built(folder: Path, steps: str = STEPS, more: str = "", **given: str) -> tuple[str, str]:
    """Return the layer, and what is said about it."""
    (folder / "multiply_mod.f90").write_text(KERNEL.format(**USUAL | given), encoding="utf-8")
    (folder / "alg.x90").write_text(ALGORITHM.format(more=more), encoding="utf-8")
    request = CompileRequest("lfric", False, (folder,), steps=steps)
    build = make_compiler(default_settings(), request).compile_algorithm(folder / "alg.x90")
    return build.psy_text, explanation(build)


def procedures(text: str) -> dict[str, str]:
    found = re.finditer(r"subroutine (\w+)\((.*?)end subroutine", text, re.DOTALL)
    return {one[1]: one[2] for one in found}


def test_a_second_procedure_has_a_constant_for_the_number_of_levels(tmp_path: Path) -> None:
    text, said = built(tmp_path)
    before, _ = built(tmp_path, "inline-call; outline")
    general, version = (procedures(text)[f"invoke_all_loop1{one}"] for one in ("", "_one_level"))
    assert general == procedures(before)["invoke_all_loop1"]
    constant = "    integer(kind=i_def), parameter :: nlayers_y = 1_i_def\n"
    assert version.count(constant) == 1
    declared = "    integer(kind=i_def), intent(in) :: nlayers_y\n"
    same = general.replace("nlayers_y, ", "", 1).replace(declared, "")
    assert re.sub(r"[\s&]", "", version.replace(constant, "")) == re.sub(r"[\s&]", "", same)
    call = r"call invoke_all_loop1_one_level\((?:(?!nlayers)[^)])*\)"
    choice = rf"if \(nlayers_y == 1_i_def\) then\s+{call}\s+else\s+call invoke_all_loop1\("
    assert re.search(choice, text)
    assert "a procedure for one level beside 'loop1'" in said


def test_colours_give_sums_another_order_anyway(tmp_path: Path) -> None:
    inside = {"outer": "row", "inner": "column"}
    assert "_one_level" not in built(tmp_path, **inside)[0]
    text = KERNEL.format(**USUAL | inside).replace("GH_READWRITE", "GH_INC").replace("W3", "W0")
    (tmp_path / "multiply_mod.f90").write_text(text, encoding="utf-8")
    request = CompileRequest("lfric", False, (tmp_path,), steps=f"colour; {STEPS}")
    build = make_compiler(default_settings(), request).compile_algorithm(tmp_path / "alg.x90")
    assert "_one_level" in build.psy_text


def test_all_numbers_of_levels_have_to_be_one(tmp_path: Path) -> None:
    more = ", multiply_type(x, y, matrix)"
    text, _ = built(tmp_path, "inline-call; fuse; outline; version-one-level", more)
    assert "if (nlayers_y == 1_i_def .and. nlayers_x == 1_i_def) then" in text
    version = procedures(text)["invoke_all_loop1_one_level"]
    assert "parameter :: nlayers_y = 1_i_def, nlayers_x = 1_i_def" in version


@pytest.mark.parametrize(
    ("steps", "why"),
    [("inline-call; version-one-level", "'loop1' does not stand in a procedure of its own."),
     ("inline-call; outline; version-one-level{loop=loop1}; version-one-level",
      "'loop1' has a procedure for one level already.")],
)  # fmt: skip
def test_it_comes_once_and_behind_outline(tmp_path: Path, steps: str, why: str) -> None:
    assert why in built(tmp_path, steps)[1]


BITS = "Bits of 'multiply_code' may depend on a version: "
TWICE = "do row = 1, ndf\ndo k = 0, nlayers - 1\ny(map(row) + k) = {}\nend do\nend do"


@pytest.mark.parametrize(
    ("given", "why"),
    [({"last": "nlayers"}, "No innermost loop of 'multiply_code' counts the levels"),
     ({"last": "ndf"}, "No innermost loop of 'multiply_code' counts the levels"),
     ({"value": f"{M} * {X}"}, f"{BITS}'{M} * {X}' may be added to in another statement"),
     ({"value": f"-merge({M} * {X}, {Y}, row > 1)"}, "may be added to in another statement"),
     ({"value": f"{Y} + {M} * real(k, r_def)"}, "depends on the number of levels"),
     ({"value": f"{Y} + {M} * k"}, "depends on the number of levels"),
     ({"value": f"{Y} / first"}, "depends on the number of levels"),
     ({"before": "j = first + 1", "value": f"{Y} / j"}, "depends on the number of levels"),
     ({"value": "y(map(row) + k / nlayers)"}, "depends on the number of levels"),
     ({"after": "if (mod(first, nlayers - 1) == 0) y(map(1)) = 0"}, "depends on the number"),
     ({"value": f"{Y} + {M} * x(map(column))"}, ""),
     ({"value": f"{Y} + x(map(row) + k) * {X}"}, ""),
     ({"value": f"{Y} + x(map(row)) * {X}"}, ""),
     ({"value": f"{Y} + x(map(row)) * x(map(column))"}, "stays the same in a loop"),
     ({"value": f"{Y} + x(map(row) + k) * 2"}, "stays the same in a loop"),
     ({"value": f"{Y} + x(k) * matrix(k, row, column)"}, "stays the same in a loop"),
     ({"before": "t = 2", "value": f"{Y} + t * matrix(k, row, column)"}, "stays the same"),
     ({"before": "t = x(map(1))", "value": f"{Y} + t * matrix(k, row, column)"}, ""),
     ({"before": "t = x(map(1))", "after": "t = 2", "value": f"{Y} + t * matrix(k, row, column)"},
      "stays the same"),
     ({"value": f"{Y} + {M} * {X} + {M} * {X}"}, "is computed in two places"),
     ({"value": f"{M} * {X} + {M} * {Y}"}, "may be added to"),
     ({"after": TWICE.format("y(map(row) + k) + x(map(row) + k) * y(map(1) + k)")}, ""),
     ({"before": TWICE.format("y(map(row) + k) + 1"), "value": f"{Y} + 1"}, ""),
     ({"value": f"{Y} + exp({X})"}, "may round in another way"),
     ({"value": f"{Y} + {X}**2"}, "is a product to some compilers"),
     ({"value": f"{Y} + sqrt(abs({X})) / max({X}, 1.0_r_def)"}, ""),
     ({"before": TWICE.format("0")}, ""),
     ({"before": "t = 0", "value": f"t + {M} * {X}"}, ""),
     ({"before": "t = 0", "value": f"{M} * {X} - t + {Y}"}, "'t' may be a constant in"),
     ({"before": "t = -0.0", "value": f"t + {M} * {X}"}, "'t' may be a constant in"),
     ({"before": "t = 0", "value": f"-t - {M} * {X}"}, "'-t' may be a constant in"),
     ({"before": TWICE.format("0"), "value": f"{M} * {X} - {Y}"}, "may be a constant in"),
     ({"before": "t = 1", "after": "t = t + x(1)", "value": f"{Y} + {M} * {X} * t"},
      "'t' may be a constant in"),
     ({"before": "t = 1", "after": "t = t + x(1)", "value": f"{Y} + {M} / t"},
      "'t' may be a constant in"),
     ({"before": "t = x(map(1))", "value": f"{Y} + {M} * {X} / t"}, ""),
     ({"value": f"{Y} + {M} * {X} * real(row, r_def)"}, "'real(row, r_def)' may be a constant in"),
     ({"value": f"{Y} + abs({M} * {X})"}, "'abs("),
     ({"before": TWICE.format(X), "after": TWICE.format(f"{Y} + {X} * x(map(1) + k + row)"),
       "value": f"{Y} + {M} * {Y}"}, "may be another"),
     ({"value": f"{Y} + {M} * {Y}", "after": TWICE.format(f"{Y} + x(map(row) + k) * sqrt({Y})")},
      "may be another"),
     ({"outer": "row", "inner": "column"}, f"'{Y}' gathers products in a loop"),
     ({"outer": "row", "inner": "column", "value": f"{Y} - {X}"}, ""),
     ({"target": "t", "value": f"{M} * {X} + t"}, "'t' gathers products in a loop"),
     ({"target": "t"}, ""),
     ({"target": "y(map(row))", "value": f"y(map(row)) - {M} * {X}"}, "gathers products in a loop"),
     ({"rows": "2"}, "gathers products in a loop"),
     ({"after": "do while (t > 1)\nt = t / 2\nend do"}, "no assignments, loops or branches"),
     ({"after": "\n".join(["y(map(1)) = 0"] * 60)}, "65 statements"),
     ({"after": "y(:) = 0"}, "'y(:)' is more than one element")],
)  # fmt: skip
def test_versions_are_for_what_rounds_alike(
    tmp_path: Path, given: dict[str, str], why: str
) -> None:
    text, said = built(tmp_path, **given)
    assert ("_one_level" in text) == (not why)
    assert why in said
