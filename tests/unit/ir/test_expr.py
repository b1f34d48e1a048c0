"""The canonical spelling of expressions: no bracket too many, none too few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    DecimalNumber,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Range,
    Unary,
    Verbatim,
    integer_value,
    is_constant,
    logical,
    same,
    spell,
    spell_as_written,
    walk,
)
from psyclone_storage.ir.expr import whole as constant
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic

A, B, C = map(Name, "abc")
ONE = Literal("1", Intrinsic.INTEGER)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Binary(Operator.MINUS, A, Binary(Operator.MINUS, B, C)), "a - (b - c)"),
        (Binary(Operator.MINUS, Binary(Operator.MINUS, A, B), C), "a - b - c"),
        (Binary(Operator.POWER, Binary(Operator.POWER, A, B), C), "(a ** b) ** c"),
        (Binary(Operator.POWER, A, Binary(Operator.POWER, B, C)), "a ** b ** c"),
        (Binary(Operator.TIMES, Unary(Operator.MINUS, A), B), "(-a) * b"),
        (Unary(Operator.MINUS, Binary(Operator.TIMES, A, B)), "-a * b"),
        (Unary(Operator.MINUS, Binary(Operator.PLUS, A, B)), "-(a + b)"),
        (Binary(Operator.PLUS, A, Unary(Operator.MINUS, B)), "a + (-b)"),
        (Binary(Operator.POWER, A, Unary(Operator.MINUS, ONE)), "a ** (-1)"),
        (Unary(Operator.NOT, Binary(Operator.AND, A, B)), ".not. (a .and. b)"),
        (Binary(Operator.OR, Unary(Operator.NOT, A), B), ".not. a .or. b"),
        (Binary(Operator.EQUAL, Binary(Operator.EQUAL, A, B), C), "(a == b) == c"),
        (Index(Member(Name("self"), "f"), (ONE, Range(A, None, ONE))), "self%f(1, a::1)"),
        (Index(A, (Range(), Keyword("kind", B))), "a(:, kind=b)"),
        (ArrayLiteral((ONE, A)), "[1, a]"),
        (Verbatim("any text"), "any text"),
    ],
)
def test_spelling(expr: Expr, text: str) -> None:
    assert spell(expr) == text


NUMBERS = st.integers(1, 9).map(lambda n: Literal(str(n), Intrinsic.INTEGER))
ARITHMETIC = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.builds(Binary, st.sampled_from([Operator(mark) for mark in "+-*/"]), inner, inner),
        st.builds(Unary, st.just(Operator.MINUS), inner),
    ),
    max_leaves=8,
)


def value(expr: Expr) -> float:
    match expr:
        case Literal(text):
            return float(text)
        case Unary(_, operand):
            return -value(operand)
        case Binary(op, left, right):
            a, b = value(left), value(right)
            values = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else float("nan")}
            return values[op.spelling]
    raise AssertionError(expr)


@given(ARITHMETIC)
def test_a_spelling_has_the_value_of_its_tree(expr: Expr) -> None:
    expected = value(expr)
    if abs(expected) < 1e9:
        try:
            found = eval(spell(expr))
        except ZeroDivisionError:
            return
        assert found == pytest.approx(expected)


def test_brackets_of_the_author_are_kept_where_they_are_asked_for() -> None:
    inner = Binary(Operator.PLUS, A, B, bracketed=True)
    expr = Binary(Operator.PLUS, Binary(Operator.TIMES, inner, ONE, bracketed=True), A)
    assert spell_as_written(expr) == f"(({spell(A)} + {spell(B)}) * {spell(ONE)}) + {spell(A)}"
    assert spell(expr) == f"({spell(A)} + {spell(B)}) * {spell(ONE)} + {spell(A)}"
    assert inner == Binary(Operator.PLUS, A, B)
    assert same(
        expr, Binary(Operator.PLUS, Binary(Operator.TIMES, Binary(Operator.PLUS, A, B), ONE), A)
    )


def test_same_looks_past_case_and_blanks() -> None:
    assert same(Index(Name("Chi"), (ONE,)), Index(Name("chi"), (ONE,)))
    assert not same(A, B)


def test_constants_hold_no_name() -> None:
    assert is_constant(Unary(Operator.MINUS, ONE))
    assert not is_constant(Binary(Operator.PLUS, ONE, A))
    assert list(walk(Binary(Operator.PLUS, ONE, A))) == [Binary(Operator.PLUS, ONE, A), ONE, A]


def test_names_have_a_key_without_case_and_their_author_s_spelling() -> None:
    name, component = Name("Theta"), Member(Name("Self"), "dX")
    assert (name.key, component.key, Keyword("Stat", ONE).key) == ("theta", "dx", "stat")
    assert (spell(name), spell(component)) == ("Theta", "Self%dX")


def whole(text: str) -> Literal:
    return Literal(text, Intrinsic.INTEGER)


@pytest.mark.parametrize(
    ("op", "left", "right", "expected"),
    [
        ("+", "1", "1_i_def", 2),
        ("-", "1", "3", -2),
        ("*", "2", "3", 6),
        ("/", "7", "2", 3),
        ("/", "7", "0", None),
        ("**", "2", "3", 8),
        ("**", "0", "0", 1),
        ("**", "9", "999999999", None),
        ("==", "1", "1", None),
        ("+", "1", "n", None),
    ],
)
def test_integer_constants_have_the_value_that_fortran_gives_them(
    op: str, left: str, right: str, expected: int | None
) -> None:
    operands = (Name(text) if text == "n" else whole(text) for text in (left, right))
    assert integer_value(Binary(Operator(op), *operands)) == expected


def test_signs_count_and_fractions_are_cut_towards_zero() -> None:
    minus = Unary(Operator.MINUS, whole("7"))
    assert integer_value(minus) == -7
    assert integer_value(Unary(Operator.PLUS, minus)) == -7
    assert integer_value(Binary(Operator.DIVIDE, minus, whole("2"))) == -3
    assert integer_value(Binary(Operator.POWER, whole("2"), Unary(Operator.MINUS, ONE))) == 0
    assert integer_value(Binary(Operator.POWER, Unary(Operator.MINUS, whole("1")), minus)) == -1
    assert integer_value(Binary(Operator.POWER, whole("0"), minus)) is None
    assert integer_value(Unary(Operator.MINUS, A)) is None
    assert integer_value(Literal("2.0", Intrinsic.REAL)) is None


@pytest.mark.parametrize(
    ("text", "intrinsic", "expected"),
    [
        ("3", Intrinsic.INTEGER, 3),
        ("007_i_def", Intrinsic.INTEGER, 7),
        (".TRUE.", Intrinsic.LOGICAL, True),
        (".false._l_def", Intrinsic.LOGICAL, False),
        ("'it''s'", Intrinsic.CHARACTER, "it's"),
        ('ck_"a\'b"', Intrinsic.CHARACTER, "a'b"),
        ("''", Intrinsic.CHARACTER, ""),
        ("1.50_r_def", Intrinsic.REAL, DecimalNumber(15, -1)),
        (".5d0", Intrinsic.REAL, DecimalNumber(5, -1)),
        ("2.", Intrinsic.REAL, DecimalNumber(2, 0)),
        ("1200.D-3", Intrinsic.REAL, DecimalNumber(12, -1)),
        ("3q+2", Intrinsic.REAL, DecimalNumber(3, 2)),
        ("0.000e7", Intrinsic.REAL, DecimalNumber(0, 0)),
    ],
)
def test_constants_have_exact_values(text: str, intrinsic: Intrinsic, expected: object) -> None:
    kind = text.partition("_")[2] or None
    found = Literal(text, intrinsic, kind).value
    assert found == expected
    assert type(found) is type(expected)


@given(st.floats(min_value=0, allow_infinity=False))
def test_the_value_of_a_number_is_the_number(number: float) -> None:
    value = Literal(repr(number), Intrinsic.REAL).value
    assert isinstance(value, DecimalNumber)
    assert float(value) == number


def test_the_letter_of_an_exponent_tells_double_precision() -> None:
    doubles = [Literal(text, Intrinsic.REAL).is_double for text in ("1d0", "1.D+3", "1e0", "1.0")]
    assert doubles == [True, True, False, False]
    assert not Literal("1.0_wd", Intrinsic.REAL, "wd").is_double
    assert not Literal("'d'", Intrinsic.CHARACTER).is_double


def test_constants_are_made_of_values() -> None:
    assert constant(4) == Literal("4", Intrinsic.INTEGER)
    assert constant(4, "i_def") == Literal("4_i_def", Intrinsic.INTEGER, "i_def")
    assert [logical(flag).value for flag in (True, False)] == [True, False]
    assert Literal("1.0_r_def", Intrinsic.REAL, "r_def").with_kind("wp") == (
        Literal("1.0_wp", Intrinsic.REAL, "wp")
    )
