"""Kernels that add to the same values in every iteration: which loops, and how many at a time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.routine import Routine
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.transform.kernel import inline_accumulating as summing
from psyclone_storage.transform.kernel.vertical_reductions import over_levels

KERNEL = """module add_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_OPERATOR, GH_READ, &
                          GH_READWRITE, GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W0, W2, W2BROKEN, W3
  use kernel_mod, only: kernel_type
  type, extends(kernel_type) :: add_type
    type(arg_type) :: meta_args(3) = (/ arg_type(GH_FIELD, GH_REAL, {access}, {space}), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, {space}), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, {space}, {space}) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: add_code
  end type add_type
contains
  subroutine add_code(cell, nlayers, y, x, ncell_3d, matrix, ndf, undf, map)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf), matrix(ncell_3d, ndf, ndf)
    integer(i_def) :: row, column, k
    {variable}
    {loops}
  end subroutine add_code
end module add_mod
"""
COLUMNS_FIRST = """do column = 1, ndf
      do row = 1, ndf
        do k = 0, nlayers - 1
          y(map(row) + k) = y(map(row) + k) + matrix(k + 1, row, column) * x(map(column) + k)
        end do
      end do
    end do"""
COLUMNS_LAST = """do column = 1, {last}
      do k = 0, nlayers - 1
        y(map(1) + k) = y(map(1) + k) + matrix(k + 1, 1, column) * x(map(column) + k)
      end do
    end do"""
CHOSEN = """do column = 1, ndf
      do k = 0, nlayers - 1
        if (column > 1) y(map(1) + k) = y(map(1) + k) + x(map(column) + k)
      end do
    end do"""
SET = COLUMNS_LAST.replace("y(map(1) + k) + ", "")
DOWNWARDS = COLUMNS_LAST.replace("1, {last}", "ndf, 1, -1")
NO_LEVELS = COLUMNS_LAST.replace("0, nlayers - 1", "0, 3")
SECTIONS = """top = nlayers - 1
    do column = 1, ndf
      from = map(column)
      do row = 1, ndf
        to = map(row)
        y(to:to + top) = y(to:to + top) + matrix(1:1 + top, row, column) * x(from:from + top)
      end do
    end do"""
OF_SECTIONS = {"variable": "integer(i_def) :: from, to, top\n    integer(8) :: wide"}
INTERFACE = """  interface add_code
    procedure add_code_32, add_code_64
  end interface
"""
ALGORITHM = """subroutine sums(y, x, matrix)
  use add_mod, only: add_type
  use field_mod, only: field_type
  use operator_mod, only: operator_type
  type(field_type), intent(inout) :: y, x
  type(operator_type), intent(in) :: matrix
  call invoke(add_type(y, x, matrix))
end subroutine sums
"""
STEP = "inline-summing-call"
COLOURED = f"colour; {STEP}"


def layer(
    folder: Path,
    loops: str,
    steps: str = STEP,
    algorithm: str = ALGORITHM,
    kernel: str = KERNEL,
    **given: str,
) -> str:
    words = {"access": "GH_INC", "space": "W2", "variable": "", "last": "ndf", **given}
    words["loops"] = loops.format(**words)
    (folder / "add_mod.f90").write_text(kernel.format(**words), encoding="utf-8")
    (folder / "alg.x90").write_text(algorithm, encoding="utf-8")
    request = CompileRequest("lfric", False, (folder,), steps=steps)
    compiler = make_compiler(default_settings(), request)
    return compiler.compile_algorithm(folder / "alg.x90").psy_text


def heads(text: str) -> list[str]:
    """Return the loops of the kernel, if it is in its place."""
    inside = text[text.index("block\n") :] if "block\n" in text else ""
    return re.findall(r"^ +do ((?:row|column|k|level) = .*)$", inside, re.MULTILINE)


LEVELS = "k = 0, nlayers_y - 1"


@pytest.mark.parametrize(
    ("last", "space", "together"),
    [("ndf", "W2", 6), ("ndf", "W0", 8), ("ndf", "ANY_SPACE_1", 4), ("ndf", "W3", 0),
     ("3", "W2", 3), ("1", "W2", 0), ("12", "W2", 4), ("nlayers", "W2", 4)],
)  # fmt: skip
def test_as_many_iterations_run_together_as_are_likely(
    tmp_path: Path, last: str, space: str, together: int
) -> None:
    access = "GH_READWRITE" if space == "W3" else "GH_INC"
    found = heads(layer(tmp_path, COLUMNS_LAST, last=last, space=space, access=access))
    if not together:
        assert found == []
        return
    first, levels, rest, _ = found
    assert levels == LEVELS
    assert first.endswith(f", {together}")
    assert "mod(" in rest or last.isdigit()


def test_columns_go_inside_of_rows_under_colours_alone(tmp_path: Path) -> None:
    coloured = heads(layer(tmp_path, COLUMNS_FIRST, COLOURED))
    assert coloured[:3] == ["row = 1, ndf_w2", "column = 1, ndf_w2 - 5, 6", LEVELS]
    assert heads(layer(tmp_path, COLUMNS_FIRST)) == []
    broken = {"access": "GH_READWRITE", "space": "W2BROKEN"}
    assert heads(layer(tmp_path, COLUMNS_FIRST, COLOURED, **broken)) == []


@pytest.mark.parametrize(("access", "space"), [("GH_INC", "W2"), ("GH_READWRITE", "W2BROKEN")])
def test_columns_go_inside_of_rows_if_sums_may_change(
    tmp_path: Path, access: str, space: str
) -> None:
    found = heads(
        layer(tmp_path, COLUMNS_FIRST, f"{STEP}{{sums=true}}", access=access, space=space)
    )
    assert found[:3] == [f"row = 1, ndf_{space.lower()}", found[1], LEVELS]
    assert found[1].startswith(f"column = 1, ndf_{space.lower()} - ")


def test_the_refusal_names_all_procedures_and_the_option(tmp_path: Path) -> None:
    body = KERNEL[KERNEL.index("  subroutine add_code") : KERNEL.index("end module")]
    variants = "".join(
        body.replace("add_code", f"add_code_{bits}").replace("r_def", f"real{bits}")
        for bits in (32, 64)
    )
    kernel = KERNEL.replace(body, variants).replace(
        "contains\n  subroutine", f"{INTERFACE}contains\n  subroutine"
    )
    kernel = kernel.replace("only: i_def, r_def", "only: i_def, r_def, real32, real64")
    with pytest.raises(CompileError) as raised:
        layer(tmp_path, COLUMNS_FIRST, f"{STEP}{{call=add_type@loop1}}", kernel=kernel)
    (problem,) = raised.value.problems
    assert "'add_code_32' or 'add_code_64'" in problem.message
    assert "sums=true" in problem.hint


def test_what_was_found_without_colours_is_not_taken_for_what_is_under_them(tmp_path: Path) -> None:
    coloured = heads(layer(tmp_path, COLUMNS_FIRST, COLOURED))
    assert heads(layer(tmp_path, COLUMNS_FIRST, f"{STEP}; {COLOURED}")) == coloured


def test_a_kernel_is_searched_once_for_all_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []

    def noted(code: Routine) -> Routine:
        searched.append(code.name)
        return over_levels(code)

    monkeypatch.setattr(summing, "over_levels", noted)
    invoke = "call invoke(add_type(y, x, matrix))"
    twice = ALGORITHM.replace(invoke, f"{invoke}\n  {invoke}")
    assert len(heads(layer(tmp_path, COLUMNS_LAST, algorithm=twice))) == 8
    assert searched == ["add_code"]


def test_sections_are_loops_over_levels_without_what_holds_their_starts(tmp_path: Path) -> None:
    text = layer(tmp_path, f"y(1:3) = 0\n    {SECTIONS}", COLOURED, **OF_SECTIONS)
    assert "y_data(1:3) = 0" in text
    assert heads(text)[:3] == ["row = 1, ndf_w2", "column = 1, ndf_w2 - 5, 6", "level = 0, top"]
    assert "y_data(level + map_w2(row, cell)) + &" in text
    assert "top = nlayers_y - 1" in text
    assert re.search(r"integer\(kind=i_def\) :: .*\btop$", text, re.MULTILINE)
    assert not re.search(r"^[^!]*\b(?:from|to)\b", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    end do", "    end do\n    y(1) = from"),
        ("to = map(row)", "to = map(row)\n        to = to + 1"),
        ("to = map(row)", "to = row + 0.5"),
        ("to = map(row)", "to = map(row) + wide"),
        ("to = map(row)", "wide = map(row)\n        to = map(row)"),
        ("to = map(row)", "to = 1"),
        ("to = map(row)", "to = 1 + 1"),
        ("= y(to:to + top)", "= y(to:to + top) + maxval(x(1:3)) * 0"),
        ("from = map(column)", "from = map(column)\n      y(1) = 0"),
        ("y(to:to + top) = y(to:to + top)", "y(to:to + top) = y(to - 1:to + top - 1)"),
        ("= y(to:to + top)", "= y(to:to + top) + sum(y(to:to + top))"),
        ("to + top", "to + 3"),
    ],
)
def test_sections_stay_where_a_loop_would_not_be_the_same(
    tmp_path: Path, old: str, new: str
) -> None:
    at, length = SECTIONS.rindex(old) if "end do" in old else SECTIONS.index(old), len(old)
    loops = SECTIONS[:at] + new + SECTIONS[at + length :]
    if old == "to + top":
        loops = SECTIONS.replace(old, new)
    assert heads(layer(tmp_path, loops, COLOURED, **OF_SECTIONS)) == []


def test_subroutines_of_several_kinds_come_to_the_layer_instead(tmp_path: Path) -> None:
    one = KERNEL[KERNEL.index("  subroutine add_code") : KERNEL.index("end module")]
    other = one.replace("add_code", "add_code_32").replace("r_def", "r_single")
    kernel = (
        KERNEL.replace(one, one.replace("add_code", "add_code_64") + other)
        .replace("  contains\n    procedure, nopass :: add_code\n", "")
        .replace("end type add_type\n", "end type add_type\n" + INTERFACE)
        .replace("only: i_def, r_def", "only: i_def, r_def, r_single")
    )
    found = layer(tmp_path, SECTIONS, COLOURED, kernel=kernel, **OF_SECTIONS)
    assert re.findall(r"column = 1, (\w+) - (\d)", found) == [("ndf", "5"), ("ndf", "5")]
    kinds = re.findall(r"real\(kind=(\w+)\), intent\(inout\) :: y", found)
    assert sorted(kinds) == ["r_def", "r_single"]
    assert "interface add_code" in found
    assert "call add_code(" in found


@pytest.mark.parametrize("loops", [CHOSEN, SET, DOWNWARDS, NO_LEVELS])
def test_other_loops_stay_where_they_are(tmp_path: Path, loops: str) -> None:
    assert heads(layer(tmp_path, loops)) == []


def test_a_place_that_is_named_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        layer(tmp_path, SET, f"{STEP}{{call=add_type@loop1}}")
    (problem,) = caught.value.problems
    assert problem.code == "T067"
    assert problem.message == "No loop of 'add_code' adds to the same elements in each iteration."


def test_what_cannot_be_inlined_is_not_changed(tmp_path: Path) -> None:
    keeps = {"variable": "integer(i_def), save :: calls = 0"}
    assert heads(layer(tmp_path, COLUMNS_LAST, **keeps)) == []


def test_several_loops_of_a_kernel_are_changed(tmp_path: Path) -> None:
    found = heads(layer(tmp_path, f"{COLUMNS_LAST}\n    {COLUMNS_LAST}"))
    assert [head.rpartition(", ")[2] for head in found if head.startswith("column")] == [
        "6", "ndf_w2", "6", "ndf_w2"
    ]  # fmt: skip


def test_auto_outlines_what_it_has_put_in_place(tmp_path: Path) -> None:
    text = layer(tmp_path, COLUMNS_FIRST, "auto")
    assert "call invoke_0_add_type_loop1(" in text
    assert heads(text)[0] == "row = 1, ndf_w2"


def test_sums_that_another_kernel_may_read_are_called_if_names_may_be_one(tmp_path: Path) -> None:
    one, two = "call invoke(add_type(y, x, matrix))", "call invoke(add_type(y, x, matrix), {})"
    cautious = f"fuse; {STEP}{{aliases=true}}"
    assert heads(layer(tmp_path, COLUMNS_LAST, cautious))
    for other, apart in (("add_type(x, y, matrix)", True), ("add_type(z, x, matrix)", False)):
        algorithm = ALGORITHM.replace(one, two.format(other)).replace(":: y, x", ":: y, x, z")
        assert len(heads(layer(tmp_path, COLUMNS_LAST, f"fuse; {STEP}", algorithm=algorithm))) == 8
        assert bool(heads(layer(tmp_path, COLUMNS_LAST, cautious, algorithm=algorithm))) is apart
    named = f"fuse; {STEP}{{call=add_type@loop1 aliases=true}}"
    with pytest.raises(CompileError, match=r"T059.*'y' and 'z' may be one object by two names"):
        layer(tmp_path, COLUMNS_LAST, named, algorithm=algorithm)
