"""Names, indices and kinds of a kernel whose statements replace its call."""

from __future__ import annotations

import pytest

from kernel_bodies import code_in
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.print.printer import emit_lines
from psyclone_storage.lowering.routine_builder import ModuleImports, Workspace
from psyclone_storage.passes.inline.block import inlined_block, kinds_in_block
from psyclone_storage.passes.inline.kernels import inline_procedures


def inlined(body: str, *actuals: str, declarations: str = "", uses: str = "") -> list[str]:
    """Return the block of a kernel with the arguments (n, a, idx)."""
    text = f"""module small_mod
implicit none
contains
subroutine small_code(n, a, idx)
{uses}
integer, intent(in) :: n
real, intent(inout) :: a(0:n, -1:2)
integer, intent(in) :: idx(2:n)
{declarations}
{body}
end subroutine small_code
end module small_mod
"""
    work = Workspace(ModuleImports(), (), lambda _: "kinds_mod")
    passed = tuple(map(read_expression, actuals))
    lines = inlined_block(code_in(text), passed, work.imported_kind)
    return [line.strip() for line in emit_lines(lines, 0) if line.strip()]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("a(idx(n), 2) = 1", "f(g(n - 2 + 1) - 0 + 1, 2 - (-1) + 1) = 1"),
        ("a(:, 0) = 1", "f(:, 0 - (-1) + 1) = 1"),
        ("a(:n, 0:) = 1", "f(:n - 0 + 1, 0 - (-1) + 1:) = 1"),
        ("a(1:2, :1) = 1", "f(1 - 0 + 1:2 - 0 + 1, :1 - (-1) + 1) = 1"),
        ("a = 2*n", "f = 2 * n"),
    ],
)  # fmt: skip
def test_each_dimension_is_shifted_by_its_own_bound(body: str, line: str) -> None:
    assert inlined(body, "n", "f", "g") == [line]


def test_bounds_of_dummies_are_those_of_the_caller() -> None:
    assert inlined("a(1, 1) = idx(2)", "m + 1", "f%data(:, cell, :)", "map(:, n)") == [
        "f%data(1 - 0 + 1, cell, 1 - (-1) + 1) = map(2 - 2 + 1, n)"
    ]


def test_sections_that_are_passed_keep_their_other_indices() -> None:
    lines = inlined("a(:, 1) = a(n, :)", "m", "f%data(:, cell, :)", "g")
    assert lines == ["f%data(:, cell, 1 - (-1) + 1) = f%data(m - 0 + 1, cell, :)"]


def test_a_part_of_an_array_is_no_argument() -> None:
    with pytest.raises(InternalError, match="A part of an array"):
        inlined("a(1, 1) = 0", "m", "f(2:, :)", "g")


def test_names_in_arguments_hide_none_of_the_block() -> None:
    lines = inlined(
        "t = idx(t_1)\na(1, 1) = t + u", "t", "f(:, :, u)", "g",
        declarations="real :: t\ninteger :: t_1 = 3", uses="use other, only: u",
    )  # fmt: skip
    assert lines[:4] == ["block", "use other, only: u_1 => u", "real :: t_2", "integer :: t_1 = 3"]
    assert lines[4:6] == [
        "t_2 = g(t_1 - 2 + 1)",
        "f(1 - 0 + 1, 1 - (-1) + 1, u) = t_2 + u_1",
    ]


def test_kinds_come_from_the_module_around_the_block() -> None:
    lines = inlined(
        "t = 1.5_wp\na(1, 1) = t", "m", "f", "g",
        declarations="real(WP) :: t", uses="use kinds, only: wp => r_def, other",
    )  # fmt: skip
    assert lines[:3] == ["block", "use kinds, only: other", "real(kind=r_def) :: t"]
    assert lines[3] == "t = 1.5_r_def"


def test_kinds_of_characters_and_numbers_are_no_names() -> None:
    text = "subroutine s()\ncharacter(3) :: c\nc = 'abc'\nend subroutine"
    code = code_in(f"module small_mod\ncontains\n{text}\nend module", "s")
    assert kinds_in_block(code) == frozenset()


def test_a_kernel_without_modules_keeps_its_calls() -> None:
    code = code_in("module small_mod\ncontains\nsubroutine s(x)\nreal :: x\ncall t(x)\n"
                   "end subroutine s\nend module", "s")  # fmt: skip
    assert inline_procedures(code).code is code
    assert inline_procedures(code).remaining == ()
