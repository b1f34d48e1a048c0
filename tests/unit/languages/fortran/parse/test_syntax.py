"""What is said of statements that cannot be Fortran, and that nothing is said of those that can."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import Diagnostic, Severity
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.kernel_syntax import check_syntax
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.parse.syntax import SyntaxCheck, check_statement

FORTRAN = """\
x = -1.0e-3_r_def * (y + z)**2
x(1:, :n, ::2) = [real :: 1.0, 2.0]
a%b(3)%c => d(:)
logical_value = .not. (a .and. .not. b) .or. c == d .myop. e
text = "it's" // 'a ''quoted'' word'(1:3) // r_'kind'
x = (/ (real(i), i = 1, 10) /)
x = 1.eq.2 .or. 1. == .5d0
if (a) b = c
if (a(1) > 0) then
outer: if (a) then
if(a)then
else if (b < c) then
elseif (b) then
else
end if
endif outer
call work
call work(a, key=b, *10)
call object%items(2)%work(a(:, 1), f(), g(x=[1, 2]))
call object % work ( a )
do i = 1, n
do i = n, 1, -1
outer: do i = 1, f(a, b)
do
do while (a > b)
do concurrent (i = 1:n)
do 10 i = 1, n
10 continue
allocate(a(n), source=b)
write(*, '(a)') 'text', a
print *, a, b
select case (a)
case (1:3)
case default
select type (a => b)
class is (real)
type is (my_type)
where (a > 0) b = c
forall (i = 1:n) a(i) = b(i)
if (a) 10, 20, 30
goto 10
if (a) return
stop 'now'
error stop
end
private
public :: a, b
data x /1.0/, y /2*0.0/
save
contains
do = 3
if = do + end
end = 5
block
critical
sync all
return 1
format (1x, a)
nullify(a)
real(c) = 3"""

BROKEN = {
    "if (dt > 0 then": (4, "bracket is not closed"),
    "x = y)": (6, "closes nothing"),
    "x = 'text": (5, "string is not closed"),
    "x = = 3": (5, "'=' cannot follow"),
    "x = y z": (7, "'z' cannot follow"),
    "x = y +": (7, "missing"),
    "x =": (3, "missing"),
    "x = * y": (5, "'*' cannot follow"),
    "x = f(, y)": (7, "',' cannot follow"),
    "x = f(y,, z)": (9, "',' cannot follow"),
    "x = ()": (6, "')' cannot follow"),
    "x = 3 (y)": (7, "'(' cannot follow"),
    "x = .and. y": (5, "'.and.' cannot follow"),
    "x = y, z": (6, "',' cannot follow"),
    "x = y = z": (7, "'=' cannot follow"),
    "x = q.0": (6, "'.0' cannot follow"),
    "x = a ? b": (7, "'?' cannot follow"),
    "cal work(a)": (1, "begins with 'cal'"),
    "if (a) thn": (8, "begins with 'thn'"),
    "if (a)": (6, "neither 'then' nor a statement"),
    "call work(a b)": (13, "'b' cannot follow"),
    "call": (4, "missing"),
    "do i = 1, 2, 3, 4": (15, "',' cannot follow"),
    "elseif (a >) then": (12, "')' cannot follow"),
}


def broken(text: str, *, has_macros: bool = False) -> list[Diagnostic]:
    source = SourceText("alg.x90", text)
    found = (check_statement(statement, has_macros=has_macros) for statement in scan(source))
    return [problem for problem in found if problem]


@pytest.mark.parametrize("text", FORTRAN.splitlines())
def test_nothing_is_said_of_fortran(text: str) -> None:
    assert broken(text) == []


@pytest.mark.parametrize(("text", "said"), BROKEN.items(), ids=list(BROKEN))
def test_what_is_no_fortran_is_said_at_its_place(text: str, said: tuple[int, str]) -> None:
    (problem,) = broken(text)
    column, words = said
    assert problem.span is not None
    assert (problem.code, problem.severity) == ("P014", Severity.WARNING)
    assert problem.span.column == column
    assert words in problem.message


def test_a_macro_may_stand_for_a_statement() -> None:
    assert broken("DECLARE(x)") != []
    assert broken("DECLARE(x)", has_macros=True) == []
    assert broken("x = y z", has_macros=True) != []


def nesting(text: str) -> list[tuple[int, str]]:
    source = SourceText("alg.x90", text)
    check = SyntaxCheck(source)
    for statement in scan(source):
        check.look_at(statement, "one scope")
    found = check.warnings()
    return [(one.span.line, one.message) for one in found if one.span]


def test_constructs_are_closed_by_what_ends_them() -> None:
    good = "do i = 1, 2\nif (a) then\nselect case (b)\nend select\nend if\nenddo"
    assert nesting(good) == []
    ((line, message),) = nesting("do i = 1, 2\nif (a) then\nend if")
    assert line == 1
    assert "no 'end do' closes it" in message
    ((line, message),) = nesting("x = 1\nend if")
    assert line == 2
    assert "there is no 'if' for it to close" in message
    assert [line for line, _ in nesting("if (a) then\ndo i = 1, 2\nend if")] == [3]


def test_branches_of_a_preprocessor_may_open_what_others_close() -> None:
    assert nesting("#ifdef A\nif (a) then\n#else\nif (b) then\n#endif\nend if") == []


def test_arguments_must_be_declared_where_the_module_asks_for_it() -> None:
    text = "module m\n{}\ncontains\nsubroutine work(a, b)\nreal :: a\nend subroutine\nend module\n"
    strict = check_syntax(SourceText("m.f90", text.format("implicit none")), ("work",))
    assert [(problem.code, problem.span and problem.span.line) for problem in strict] == [
        ("M202", 4)
    ]
    assert check_syntax(SourceText("m.f90", text.format("")), ("work",)) == ()
    assert check_syntax(SourceText("m.f90", text.format("implicit none")), ("other",)) == ()


KERNEL = """module m
contains
subroutine work(a, b, p, c)
{declared}
{line}
end subroutine
end module
"""
DECLARED = (
    "real, intent(in) :: a(:), b\nreal, pointer, intent(in) :: p(:)\nreal, intent(inout) :: c(:)\n"
    "real :: x\ninteger :: i"
)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("a(i) = 1.0", "a"),
        ("A (c(i)) = 1.0", "A"),
        ("b = c(1)", "b"),
        ("if (c(1) == b) b = 1.0", "b"),
        ("do x = 1, 3; end do", "x"),
        ("outer: do x = 1, 3; end do outer", "x"),
        ("do 10 x = 1, 3\n10 continue", "x"),
        ("p(i) = 1.0", ""),
        ("c(i) = a(i)", ""),
        ("c(a = b) = 1.0", ""),
        ("if (b == 1.0) c(i) = b", ""),
        ("if (a(i) == b) then; end if", ""),
        ("do i = 1, 3; end do", ""),
        ("do while (b == x); end do", ""),
        ("do concurrent (i = 1:3); end do", ""),
        ("block; real :: b; b = 1.0; end block", ""),
        ("x => b", ""),
        ("\n#ifdef X\nreal, intent(inout) :: d\n#else\nreal, intent(in) :: d\n#endif\nd = 1.0", ""),
    ],
)
def test_kernels_assign_no_inputs_and_count_in_integers(line: str, name: str) -> None:
    source = SourceText("m.F90", KERNEL.format(declared=DECLARED, line=line))
    found = [one for one in check_syntax(source, ("work",)) if one.code == "P014"]
    assert [one.span and one.span.text for one in found] == ([name] if name else [])
    assert all(one.severity is Severity.WARNING for one in found)


def test_only_the_first_assignment_of_an_argument_is_reported() -> None:
    text = KERNEL.format(declared=DECLARED, line="b = 1.0\nb = 2.0\na(1) = b")
    found = check_syntax(SourceText("m.f90", text), ("work",))
    assert [one.span and one.span.line for one in found] == [9, 11]
