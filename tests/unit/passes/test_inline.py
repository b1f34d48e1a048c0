"""Which procedures are inlined in kernels in Fortran, and which calls remain."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel_bodies import KINDS, inlined, text_of
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import InlinedCode
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder

HELPERS = """module helpers_mod
use constants_mod, only: r_def, r_single, i_def, wp => r_def
implicit none
private
real(r_def), parameter :: own = 2.0_r_def
real(r_def), parameter, public :: shown = 3.0_r_def
real(r_def), public :: level = 1.0_r_def
interface either
  module procedure single, double
end interface
public :: either, hidden, seen, writes, marked, named, double_it, lines, endless, both
contains
real(r_def) function double(x)
real(r_def), intent(in) :: x
double = 2*x
end function double
real(r_single) function single(x)
real(r_single), intent(in) :: x
single = 2*x
end function single
subroutine hidden(x)
real(r_def), intent(inout) :: x
x = x*own
end subroutine hidden
subroutine seen(x)
real(r_def), intent(inout) :: x
x = x*shown*level
end subroutine seen
subroutine writes(x)
real(r_def), intent(inout) :: x
level = x
end subroutine writes
subroutine marked(x)
real(r_def), intent(inout) :: x
!$omp atomic
x = x + 1
end subroutine marked
subroutine named(x)
real(r_def), intent(inout) :: x
integer :: i
rows: do i = 1, 3
if (x > 1) exit rows
x = x + i
end do rows
end subroutine named
subroutine double_it(x, n)
real(r_def), intent(inout) :: x
integer, intent(in) :: n
real(r_def) :: many(n)
many = x
x = sum(many)
end subroutine double_it
subroutine lines(x)
real(r_def), intent(inout) :: x
#ifdef TWICE
x = 2*x
#endif
end subroutine lines
recursive subroutine endless(x)
real(r_def), intent(inout) :: x
if (x > 0) call endless(x)
end subroutine endless
real(r_def) function both(x)
real(r_def), intent(in) :: x
integer :: rows
rows = 3
both = rows*x
end function both
end module helpers_mod
"""


def with_calls_inlined(
    folder: Path, body: str, declarations: str = "", head: str = "", uses: str = ""
) -> InlinedCode:
    """Return a kernel that uses all that the module above shows, whose file begins with `head`."""
    (folder / "constants_mod.f90").write_text(KINDS)
    (folder / "helpers_mod.F90").write_text(head + HELPERS)
    finder = ModuleFinder(index_directories((folder,)))
    text = (
        f"module small_mod\nuse constants_mod\nuse helpers_mod\nimplicit none\ncontains\n"
        f"subroutine small_code(n, a, b)\n{uses}\ninteger, intent(in) :: n\n"
        "real(r_def), intent(inout) :: a(n)\nreal(r_single), intent(in) :: b\n"
        f"{declarations}\n{body}\nend subroutine small_code\nend module small_mod\n"
    )
    source = SourceText(str(folder / "small_mod.f90"), text)
    code = resolve_code(read_code(source, "small_code"), finder)
    return inlined(code, finder)


@pytest.mark.parametrize(
    ("body", "declarations", "why"),
    [
        ("call hidden(a(1))", "", "'own' is a private name of 'helpers_mod'"),
        ("call writes(a(1))", "", "'writes' changes 'level' of a module"),
        ("call marked(a(1))", "", "'marked' holds a directive"),
        ("call named(a(1))", "", "'named' names a construct"),
        ("call lines(a(1))", "", "'lines' has statements that are not understood"),
        ("call endless(a(1))", "", "of 'endless', 'endless' calls itself"),
        ("m = 3\ncall double_it(a(1), m)", "integer :: m", "'m' gives an extent of 'many'"),
        ("a(1) = either(x)", "real(r_def) :: x", ""),
        ("a(1) = either(2*a(2))", "", "which procedure 'either' stands for is not known"),
        ("a(1) = either(1.0d0)", "", "which procedure 'either' stands for is not known"),
    ],
)
def test_what_stays(tmp_path: Path, body: str, declarations: str, why: str) -> None:
    made = with_calls_inlined(tmp_path, body, declarations)
    assert [reason.partition(" and may")[0] for _, reason in made.remaining] == (
        [why] if why else []
    )
    assert ("either(" in text_of(made.code) or "call " in text_of(made.code)) == bool(why)


def test_a_file_with_macros_keeps_its_procedures(tmp_path: Path) -> None:
    made = with_calls_inlined(tmp_path, "call seen(a(1))", head="#define x y\n")
    assert [why for _, why in made.remaining] == ["'seen' may depend on '#define x y'"]


def test_kinds_tell_which_procedure_is_meant(tmp_path: Path) -> None:
    made = with_calls_inlined(tmp_path, "a(1) = either(b) + either(a(2))")
    text = text_of(made.code)
    assert not made.remaining
    assert "real(kind=r_single) :: single" in text
    assert "either" not in text


def test_what_a_procedure_sees_is_imported_under_another_name(tmp_path: Path) -> None:
    made = with_calls_inlined(
        tmp_path, "call seen(a(1))\nlevel_1 = shown", "real(r_def) :: level_1, shown"
    )
    text = text_of(made.code)
    assert "use helpers_mod, only: shown_1 => shown" in text
    assert "* shown_1 * level\n" in text


def test_directives_of_the_kernel_keep_its_calls(tmp_path: Path) -> None:
    made = with_calls_inlined(tmp_path, "!$omp atomic\na(1) = a(1) + either(a(2))")
    assert "either(a(2))" in text_of(made.code)
    assert "speak of its statements" in made.remaining[0][1]


def test_masked_assignments_keep_their_calls(tmp_path: Path) -> None:
    body = "where (a > 0)\na = either(a(1))\nend where\ndo i = 1, n\na(i) = either(a(i))\nend do"
    text = text_of(with_calls_inlined(tmp_path, body, "integer :: i").code)
    assert text.count("either(") == 1
    assert "where (a > 0)\na = either(a(1))\nend where" in text


def test_what_calls_nothing_is_left_alone(tmp_path: Path) -> None:
    made = with_calls_inlined(tmp_path, "a(1) = max(a(2), sqrt(a(1)))")
    assert "max(a(2), sqrt(a(1)))" in text_of(made.code)
    assert made.remaining == ()


def test_a_name_that_an_unknown_module_may_have_is_given_to_nothing(tmp_path: Path) -> None:
    uses = (
        "use nowhere_mod\nuse helpers_mod, only: either\nuse constants_mod, only: r_def, r_single"
    )
    made = with_calls_inlined(tmp_path, "a(1) = either(a(2))", uses=uses)
    assert [why for _, why in made.remaining] == ["whether 'nowhere_mod' has a 'x' is not known"]
    assert "either(a(2))" in text_of(made.code)


def test_extents_of_the_kernel_keep_their_names(tmp_path: Path) -> None:
    made = with_calls_inlined(tmp_path, "a(1) = both(a(2))", "real(r_def) :: v(rows)")
    text = text_of(made.code)
    assert not made.remaining
    assert "real(kind=r_def) :: v(rows)" in text
    assert "integer :: rows_1" in text
