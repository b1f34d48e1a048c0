"""Comparison with fparser2: each kind of difference is found, and equal readings have none."""

from __future__ import annotations

import pytest

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.rewrite import with_each_block
from psyclone_storage.ir.routine import Routine, SourceFile
from psyclone_storage.languages.fortran.parse.fixed_form import fixed_source
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.tools.second_opinion import check_second_reading

STATEMENTS = """module flow_mod
  use kinds_mod, only: wp, depth => level
  implicit none
  type state
    private
    real :: h ; integer :: n
  end type state
  interface solve
    subroutine solve_one(x)
      real :: x
    end subroutine solve_one
  end interface solve
contains
  pure function scaled(x) result(y)
    real(wp), intent(in) :: x
    real(wp) :: y
    y = - x ** 2 * 3.0_wp
  end function scaled
  subroutine step(a, n, word)
    integer, intent(in) :: n
    character(len=*), intent(in) :: word
    real(wp), dimension(n), intent(inout) :: a, b(0:n, 2)
    integer :: i
    real, pointer :: p(:)
    include 'none.inc'
    do i = 2, n ; if (a(i) > 0) a(i) = a(i - 1) ; end do
    do while (n > 1 .and. .not. a(1) == 2.0)
      call solve(a(1:2), k=b(0, :))
    end do
    select case (n)
    case (1:3, 5, &
      & 7) ; write(*, '(a)') a, trim(word)
    case default
      allocate(p(n), stat=i)
    end select
    where (a > 0) a = 1
    where (a < 0)
      a = 2
    elsewhere (a == 0)
      a = 3
    end where
    p => a
    if (n == 1) then
      return
    else if (n == 2) then
      stop 1
    end if
    do concurrent (i = 1:n)
      a(i) = (/ 1.0, 2.0 /)
    end do
    block
      integer :: inner
      inner = 1
    end block
10  continue
  end subroutine step
end module flow_mod
"""


def messages(file: SourceFile) -> list[tuple[int, str]]:
    """Return the lines and texts of all differences."""
    found = list(check_second_reading(file))
    assert {one.code for one in found} <= {"P060"}
    return [(one.span.line, one.message) for one in found if one.span]


def read(text: str) -> SourceFile:
    """Return the tree of a text."""
    return read_file(SourceText("flow_mod.f90", text))


def changed(file: SourceFile, change) -> SourceFile:
    """Return a file in which `change` rewrites each statement, as a wrong reader would."""

    def block(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        return tuple(change(with_each_block(line, block)) for line in lines)

    return file.changed(lambda unit: replace(unit, body=block(unit.body)))


def test_equal_readings_have_no_differences() -> None:
    """All forms of statements, without a false alarm."""
    assert messages(read(STATEMENTS)) == []


def test_fixed_form_is_compared() -> None:
    """Comments, continuations and labels of fixed form are no differences."""
    text = "C     of fixed form\n      SUBROUTINE S(A)\n      A = 1 +\n     &  2\n 10   END\n"
    assert messages(read_file(fixed_source(SourceText("s.f", text)))) == []


@pytest.mark.parametrize(
    ("change", "line", "text"),
    [
        (lambda one: replace(one, value=Name("z")) if isinstance(one, un.Assign) else one,
         17, "fparser2 reads '-x ** 2 * 3.0_wp', this tool reads 'z'."),
        (lambda one: replace(one, condition=Name("z")) if isinstance(one, un.While) else one,
         27, "this tool reads 'z'."),
        (lambda one: replace(one, args=one.args[:1]) if isinstance(one, un.Call) else one,
         28, "fparser2 reads 3 parts, this tool reads 2."),
        (lambda one: un.Return(place=one.place) if isinstance(one, un.PointerAssign) else one,
         42, "fparser2 reads 'Pointer_Assignment_Stmt', this tool reads 'Return'."),
        (lambda one: replace(one, items=()) if isinstance(one, un.InputOutput) else one,
         31, "fparser2 reads 'a, trim, word', this tool reads ''."),
        (lambda one: replace(one, stop=Name("z")) if isinstance(one, un.Do) else one,
         26, "fparser2 reads 'n', this tool reads 'z'."),
    ],
)  # fmt: skip
def test_a_statement_that_is_read_wrongly_is_found(change, line: int, text: str) -> None:
    """The comparison reports the line and both readings."""
    found = messages(changed(read(STATEMENTS), change))
    assert any(number == line and text in message for number, message in found), found


def test_a_unit_that_is_read_wrongly_is_found() -> None:
    """The name of a procedure, and a procedure that is not seen at all."""

    def rename(unit: Routine) -> Routine:
        return replace(unit, name="other") if unit.key == "step" else unit

    (found,) = messages(read(STATEMENTS).changed(rename))
    assert found == (19, "fparser2 reads 'subroutine step', this tool reads 'subroutine other'.")


def test_a_declaration_that_is_read_wrongly_is_found() -> None:
    """A shape that the attribute `dimension` gives to all entities without one."""
    text = STATEMENTS.replace("dimension(n)", "dimension(n + 1)")
    other = read(text).units[0]
    file = read(STATEMENTS)
    wrong = replace(file, units=(other, *file.units[1:]))
    assert [line for line, _ in messages(wrong)] == [22]


def test_statements_are_counted() -> None:
    """A statement that this package does not see."""
    file = read(STATEMENTS)
    found = messages(replace(file, statements=file.statements[:-1]))
    assert found == [(57, "1 statements start in this line for fparser2, 0 for this tool.")]


def test_text_that_fparser_understands_is_listed() -> None:
    """A user-defined operator: this package preserves the statement as text."""
    text = "subroutine s(a, b)\n  a = b .cross. a\nend subroutine s\n"
    told = "This tool preserves as text what fparser2 reads as 'Assignment_Stmt'."
    assert messages(read(text)) == [(2, told)]


def test_a_file_that_fparser_refuses_has_one_warning() -> None:
    """The line is that of the first statement that it cannot parse."""
    text = "subroutine s(i)\n  integer :: i\n  assign 10 to i\n10 continue\nend subroutine s\n"
    assert messages(read(text)) == [(3, "fparser2 cannot parse the file from here on.")]


def test_a_wrong_name_after_end_has_one_warning() -> None:
    """This makes fparser end the process."""
    text = "subroutine s(i)\n  integer :: i\n  i = 1\nend subroutine t\n"
    assert messages(read(text)) == [(1, "fparser2 cannot parse the file from here on.")]
