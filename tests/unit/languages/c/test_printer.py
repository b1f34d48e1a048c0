"""What of a subroutine is printed as C, how, and what is refused where."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.c.printer import CUnit, emit_c
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.c_printer import CPrinter


def unit_of(body: str, declarations: str = "", head: str = "", others: str = "") -> CUnit:
    """Return a subroutine `s(n, a)` of a module that has a `head` and `others` behind it."""
    text = "\n".join(
        ("module m", head, "contains", "subroutine s(n, a)", "integer, intent(in) :: n",
         "double precision, intent(inout) :: a(n, 0:3)", declarations, body, "end subroutine s",
         others, "end module m", "")
    )  # fmt: skip
    printer = CPrinter(ModuleFinder(SourceIndex((), {})))
    return printer.printed(SourceText("m.f90", text), "s")[1]


def lines_of(body: str, declarations: str = "", **more: str) -> list[str]:
    """Return the lines of the function behind its head."""
    lines = unit_of(body, declarations, **more).main.lines
    return [line.strip() for line in lines if line.strip()]


def problems_of(body: str, declarations: str = "", **more: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(CompileError) as caught:
        unit_of(body, declarations, **more)
    return caught.value.problems


def test_an_argument_is_a_value_or_a_pointer() -> None:
    unit = unit_of("a(1, 0) = n")
    assert unit.main.head == "void s(const int32_t n, double *restrict a)"


def test_an_array_of_assumed_shape_has_its_extents_behind_it() -> None:
    others = "subroutine t(x)\nreal :: x(2:, :)\nx(2, 1) = size(x, 2)\nend subroutine t"
    unit = unit_of("call t(b)", "real :: b(3, 4)", others=others)
    assert unit.functions[0].head == (
        "void t(float *restrict x, const int64_t x_n1, const int64_t x_n2)"
    )
    assert "t(b, 3, 4);" in unit.main.lines[-1]
    assert "static void t(" in emit_c((unit,))


def test_bounds_are_kept_when_the_function_begins() -> None:
    assert lines_of("a(1, n) = 1.0d0") == ["const int64_t a_n1 = n;", "a[a_n1 * n] = 1.0;"]


def test_the_tree_is_printed_with_the_brackets_that_it_needs() -> None:
    found = lines_of("x = x - (x - x) - x * (x / x) - (-x) * x", "double precision :: x")
    assert found[-1] == "x = x - (x - x) - x * (x / x) - -x * x;"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("7 / n", "psy_quotient4(7, n)"),
        ("n / 7", "n / 7"),
        ("n / (-1)", "psy_quotient4(n, -1)"),
        ("mod(3, n)", "psy_rest4(3, n)"),
        ("mod(n, 3)", "n % 3"),
        ("modulo(n, 3)", "psy_modulo4(n, 3)"),
        ("nint(x)", "psy_whole4(roundf(x))"),
        ("n**2", "psy_ipow4(n, 2)"),
        ("int(x**2)", "psy_whole4(psy_powif(x, 2))"),
        ("merge(1, n, x > 0 .or. n == 3 .and. n < 5)",
         "x > 0 || (n == 3 && n < 5) ? 1 : n"),
        ("010 + size(a, 2)", "10 + 4"),
        ("n - (-1)", "n - -1"),
    ],
)  # fmt: skip
def test_an_expression(expression: str, text: str) -> None:
    assert lines_of(f"i = {expression}", "real :: x\ninteger :: i")[-1] == f"i = {text};"


def test_what_is_overwritten_while_it_is_read_is_kept_in_between() -> None:
    overlapping = lines_of("a(2:n, 0) = a(1:n-1, 0)")
    assert any(line.startswith("double kept[") for line in overlapping)
    assert not any("kept" in line for line in lines_of("a(2:n, 0) = a(2:n, 0) + 1"))


def test_a_bound_of_a_loop_is_computed_once() -> None:
    found = lines_of("do i = 1, k\nk = 0\nend do", "integer :: i, k")
    assert "const int32_t stop = k;" in found
    assert "for (i = 1; i <= stop; ++i) {" in found


def test_constants_have_their_modules_values() -> None:
    head = "integer, parameter :: wp = kind(1.0d0), few = 2 * 3\nreal(wp), parameter :: h = 0.5_wp"
    found = lines_of("x = h * few + 1.0_wp", "real(wp) :: x", head=head)
    assert found == ["double x;", "const double h = 0.5;", "x = h * 6 + 1.0;"]


def test_a_variable_of_the_module_is_an_argument() -> None:
    unit = unit_of("a(1, 0) = rate", head="real :: rate")
    assert unit.main.parameters[-1].module == "m"
    assert unit.main.head.endswith("double *restrict a, float *restrict rate)")


def test_a_constant_is_made_of_what_its_module_has() -> None:
    head = "integer, parameter :: k = 3, m2 = 2 * k"
    assert lines_of("k = m2", "integer :: k", head=head)[-1] == "k = 6;"


def test_words_of_c_are_no_names() -> None:
    assert lines_of("double = 1\nindex = int", "integer :: double, int, index")[:1] == [
        "int32_t double_, index_, int_;"
    ]


@pytest.mark.parametrize(
    ("body", "declarations", "word", "reason"),
    [
        ("a(1, 0) = f(n)", "", "f", "what 'f' stands for was not found"),
        ("a(1, 0) = bessel_j0(a(1, 1))", "", "bessel_j0", "the function 'bessel_j0'"),
        ("print *, n", "", "print *, n", "the statement 'print *, n'"),
        ("goto 10\n10 continue", "", "goto 10", "the statement 'goto 10'"),
        ("a(1, 0) = x", "real(16) :: x", "x", "a real of 16 bytes"),
        ("k = 1", "integer, save :: k", "k", "'k' has the attribute 'save'"),
        ("k = 1", "integer :: k = 2", "k", "'k' keeps its value between calls"),
        ("p = 1", "integer, pointer :: p", "p", "'p' has the attribute 'pointer'"),
        ("z = z", "complex :: z", "z", "values of type complex"),
        ("n = n%part", "type(thing) :: n2", "", "the component 'n%part' is not printed"),
        ("a(:, 0) = sum(a, k)", "integer :: k", "sum", "'sum' of a dimension that is not known"),
        ("do x = 1.0, 2.0\nend do", "real :: x", "x", "'x' counts in reals"),
        ("a = 'text'", "", "", "values of type character are not printed"),
        ("if (n) a = 1", "", "", "a condition is no truth value"),
        ("call s(n, a)", "", "s", "'s' calls itself"),
    ],
)
def test_a_refusal_has_a_place_and_a_reason(
    body: str, declarations: str, word: str, reason: str
) -> None:
    problem = problems_of(body, declarations)[0]
    assert problem.code == "G004"
    assert reason in problem.message
    assert problem.span is not None
    if word:
        assert problem.span.text == word


def test_all_that_is_refused_is_told_at_once() -> None:
    found = problems_of("print *, n\na(1, 0) = 1\nprint *, n\na(1, 1) = f(n) + g(n)\na = h(n)")
    assert [problem.span.line for problem in found if problem.span] == [8, 10, 11, 12]


def test_what_is_called_is_refused_where_it_is_called() -> None:
    others = "subroutine t(i)\ninteger :: i\nprint *, i\nend subroutine t"
    problem = problems_of("call t(n)", others=others)[0]
    assert "'t' is not printed, as the statement 'print *, i' is not printed" in problem.message
    assert problem.span is not None
    assert problem.span.text == "t"


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("0.5d0", "0.5"),
        ("1.d0", "1.0"),
        (".25D0", "0.25"),
        ("12.50d0", "12.5"),
        ("1.0d5", "100000.0"),
        ("1.0d-5", "0.00001"),
        ("6.674d-11", "6.674e-11"),
        ("2d30", "2.0e30"),
        ("0.0d0", "0.0"),
        ("1.2345678901234567890123456789d0", "1.2345678901234567890123456789"),
        ("1.5", "1.5f"),
        ("3", "3"),
    ],
)
def test_a_constant_is_printed_by_its_value(written: str, printed: str) -> None:
    assert lines_of(f"a(1, 0) = {written}")[-1].endswith(f"= {printed};")


@pytest.mark.parametrize(
    ("declared", "lines"),
    [
        ("integer(8), intent(in) :: m", ["b[m * 1] = n;"]),
        # Others are converted once, before the statements.
        ("integer(8), intent(inout) :: m", ["const int64_t b_n1 = *m;", "b[b_n1 * 1] = n;"]),
        ("integer, intent(in) :: m", ["const int64_t b_n1 = m;", "b[b_n1 * 1] = n;"]),
    ],
)
def test_arguments_of_eight_bytes_are_extents_themselves(declared: str, lines: list[str]) -> None:
    others = f"""subroutine t(n, m, b)
      integer, intent(in) :: n
      {declared}
      double precision, intent(inout) :: b(m, 3)
      b(1, 2) = n
    end subroutine t"""
    printer = CPrinter(ModuleFinder(SourceIndex((), {})))
    text = f"module m\ncontains\n{others}\nend module m\n"
    function = printer.printed(SourceText("m.f90", text), "t")[1].main
    assert [line.strip() for line in function.lines if line.strip()] == lines
