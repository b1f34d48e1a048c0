"""Expressions, types and entities: accepted and rejected text."""

from __future__ import annotations

import pytest

from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    BozLiteral,
    ComplexLiteral,
    Expr,
    ImpliedDo,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Parenthesised,
    Range,
    Unary,
    spell,
)
from psyclone_storage.ir.operators import DefinedOperator, Operator
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.reader import (
    read_entity,
    read_expression,
    read_shape,
    read_type,
)
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

ZERO = Literal("0", Intrinsic.INTEGER)
ONE = Literal("1", Intrinsic.INTEGER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Theta", Name("Theta")),
        ("3", Literal("3", Intrinsic.INTEGER)),
        ("3_i_def", Literal("3_i_def", Intrinsic.INTEGER, "i_def")),
        ("1.0e-3_r_def", Literal("1.0e-3_r_def", Intrinsic.REAL, "r_def")),
        (".5", Literal(".5", Intrinsic.REAL)),
        ("1.", Literal("1.", Intrinsic.REAL)),
        ("1d0", Literal("1d0", Intrinsic.REAL)),
        (".TRUE._l_def", Literal(".true._l_def", Intrinsic.LOGICAL, "l_def")),
        ("'it''s'", Literal("'it''s'", Intrinsic.CHARACTER)),
        ("self%u", Member(Name("self"), "u")),
        ("u(i)", Index(Name("u"), (Name("i"),))),
        ("s(1)%f(j)", Index(Member(Index(Name("s"), (ONE,)), "f"), (Name("j"),))),
        ("a%b%get(1)%c", Member(Index(Member(Member(Name("a"), "b"), "get"), (ONE,)), "c")),
        ("a%get('x', k=1)",
         Index(Member(Name("a"), "get"),
               (Literal("'x'", Intrinsic.CHARACTER), Keyword("k", ONE)))),
        ("f()", Index(Name("f"), ())),
        ("MAX(a, 1)", Index(Name("max"), (Name("a"), ONE))),
        ("a(:, 0:n:1)", Index(Name("a"), (Range(), Range(ZERO, Name("n"), ONE)))),
        ("-1.0_r_def", Unary(Operator.MINUS, Literal("1.0_r_def", Intrinsic.REAL, "r_def"))),
        ("a .EQ. b", Binary(Operator.EQUAL, Name("a"), Name("b"))),
        (".NOT. a", Unary(Operator.NOT, Name("a"))),
        ("[1, n]", ArrayLiteral((ONE, Name("n")))),
        ("(/ 1 /)", ArrayLiteral((ONE,))),
        ("(a)", Name("a")),
        ("z'FF'", BozLiteral("z'FF'")),
        ("1.eq.2", Binary(Operator.EQUAL, ONE, Literal("2", Intrinsic.INTEGER))),
        ("(1.0, x)", ComplexLiteral(Literal("1.0", Intrinsic.REAL), Name("x"))),
        ("[(i, i = 1, n)]", ArrayLiteral((ImpliedDo((Name("i"),), Name("i"), ONE, Name("n")),))),
        ("f((a), (b + c))",
         Index(Name("f"), (Parenthesised(Name("a")), Binary(Operator.PLUS, Name("b"), Name("c"))))),
        ("s(1)(2:)", Index(Index(Name("s"), (ONE,)), (Range(Literal("2", Intrinsic.INTEGER)),))),
        (".neg. a ** b",
         Binary(Operator.POWER, Unary(DefinedOperator(".neg."), Name("a")), Name("b"))),
        ("a .Plus. -b",
         Binary(DefinedOperator(".plus."), Name("a"), Unary(Operator.MINUS, Name("b")))),
        ("ck_'a'", Literal("ck_'a'", Intrinsic.CHARACTER, "ck")),
        ("A(::2)", Index(Name("A"), (Range(None, None, Literal("2", Intrinsic.INTEGER)),))),
    ],
)  # fmt: skip
def test_expressions(text: str, expected: Expr) -> None:
    assert read_expression(text) == expected


@pytest.mark.parametrize(
    "text",
    ["a * (b + c)", "a - (b - c)", "a ** (-b)", "(a + b) ** 2", "a .and. (b .or. c)", "-(a + b)",
     "a // 'x'", "a == b .eqv. c"],
)  # fmt: skip
def test_structure_survives_spelling(text: str) -> None:
    assert spell(read_expression(text)) == text


@pytest.mark.parametrize(
    "text",
    ["a +", "", "a b", "1x", "f(", "a(b))", "=", "'open", "%a", "f(,)", "(", "[:: 1]", "(/ :: /)"],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_expression(text)


@pytest.mark.parametrize(
    ("text", "position"),
    [("a b", 2), ("f(1, )", 5), ("a + * b", 4), ("a * -b", 4), ("a == b == c", 7), ("a ? b", 1),
     ("[1, 2", 5), (".not. .not. a", 6), ("a ** -b", 5), ("f(x y)", 4), ("a%1", 2), ("", 0),
     ("(1, 2, 3)", 5), ("[(i, i = 1)]", 10), ("a(1)[2]", 4), ("a .not. b", 2)],
)  # fmt: skip
def test_what_is_no_expression_has_a_position(text: str, position: int) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_expression(text)
    assert caught.value.position == position


def test_brackets_without_end_are_refused() -> None:
    with pytest.raises(UnreadableError):
        read_expression("(" * 100_000 + "a" + ")" * 100_000)


def test_a_shape_that_is_none_has_a_position() -> None:
    with pytest.raises(UnreadableError) as caught:
        read_shape("m, +")
    assert caught.value.position == 4


@pytest.mark.parametrize(
    ("text", "expected", "details"),
    [
        ("real(r_def)", ScalarType(Intrinsic.REAL, "r_def"), ()),
        ("REAL(kind = r_def)", ScalarType(Intrinsic.REAL, "r_def"), ()),
        ("real*8", ScalarType(Intrinsic.REAL, "8"), ()),
        ("double precision", ScalarType(Intrinsic.REAL, "kind(0.0d0)"), ()),
        ("integer", ScalarType(Intrinsic.INTEGER), ()),
        ("logical(l_def)", ScalarType(Intrinsic.LOGICAL, "l_def"), ()),
        ("complex", ScalarType(Intrinsic.COMPLEX), ()),
        ("character(len=*)", ScalarType(Intrinsic.CHARACTER), ("len=*",)),
        ("character*8", ScalarType(Intrinsic.CHARACTER), ("len=8",)),
        ("character(len=3, kind=ck)", ScalarType(Intrinsic.CHARACTER, "ck"), ("len=3",)),
        ("type(Field_Type)", DerivedType("field_type"), ()),
        ("class( t )", DerivedType("t"), ("class",)),
        ("class(*)", DerivedType("*"), ("class",)),
        ("type(t(k=8))", DerivedType("t"), ()),
        ("type(real(r_def))", ScalarType(Intrinsic.REAL, "r_def"), ()),
        ("DOUBLEPRECISION", ScalarType(Intrinsic.REAL, "kind(0.0d0)"), ()),
        ("character(kind=ck, len=:)", ScalarType(Intrinsic.CHARACTER, "ck"), ("len=:",)),
        ("character(n + 1, ck)", ScalarType(Intrinsic.CHARACTER, "ck"), ("len=n+1",)),
        ("character*(*)", ScalarType(Intrinsic.CHARACTER), ("len=*",)),
        (
            "integer(kind=selected_int_kind(9))",
            ScalarType(Intrinsic.INTEGER, "selected_int_kind(9)"),
            (),
        ),
    ],
)
def test_types(text: str, expected: object, details: tuple[str, ...]) -> None:
    declared = read_type(text)
    assert (declared.type, declared.details) == (expected, details)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("a", []),
        ("a(3)", ["3"]),
        ("a(0:n, m)", ["0:n", "m"]),
        ("a(:, 2:)", [":", "2:"]),
        ("a(n, *)", ["n", "*"]),
        ("a(0:*)", ["0:*"]),
        ("a(:) => null()", [":"]),
        ("a(..)", [".."]),
        ("a(2, *)[*]", ["2", "*"]),
    ],
)
def test_shapes_of_entities(text: str, shape: list[str]) -> None:
    entity = read_entity(text)
    assert (entity.name, [spell(part) for part in entity.shape]) == ("a", shape)


def test_initial_value_of_an_entity() -> None:
    assert read_entity("n = 1").value == ONE
    assert read_entity("n").value is None


def test_details_of_an_entity() -> None:
    assert read_entity("a*8").details == ("len=8",)
    assert read_entity("a(3)[2, *]*(n + 1)").details == ("codimension[2,*]", "len=n+1")


@pytest.mark.parametrize("text", ["", "a(", "a = ", "a b", "a(3", "a[", "3", "a*", "a(1:2:3)"])
def test_what_is_no_entity_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_entity(text)


@pytest.mark.parametrize(
    "text", ["", "reel", "real(", "type t", "double", "real()", "class(real)x", "character(*"]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_type(text)


def test_shape_of_an_attribute() -> None:
    assert read_shape("m, 0:n") == (Name("m"), Range(ZERO, Name("n")))
