"""Expressions, types and entities: what becomes of fparser's trees."""

from __future__ import annotations

import pytest

from psyclone_storage.frontend.fortran.reader import (
    UnreadableError,
    read_entity,
    read_expression,
    read_shape,
    read_type,
)
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Range,
    Unary,
    Verbatim,
    spell,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType

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
        ("-1.0_r_def", Unary("-", Literal("1.0_r_def", Intrinsic.REAL, "r_def"))),
        ("a .EQ. b", Binary("==", Name("a"), Name("b"))),
        (".NOT. a", Unary(".not.", Name("a"))),
        ("[1, n]", ArrayLiteral((ONE, Name("n")))),
        ("(/ 1 /)", ArrayLiteral((ONE,))),
        ("(a)", Name("a")),
        ("z'FF'", Verbatim("Z'FF'")),
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
    "text", ["a +", "", "a b", "1x", "f(", "a(b))", "=", "'open", "%a", "f(,)", "("]
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_expression(text)


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
    ],
)
def test_shapes_of_entities(text: str, shape: list[str]) -> None:
    entity = read_entity(text)
    assert (entity.name, [spell(part) for part in entity.shape]) == ("a", shape)


def test_initial_value_of_an_entity() -> None:
    assert read_entity("n = 1").value == ONE
    assert read_entity("n").value is None


def test_shape_of_an_attribute() -> None:
    assert read_shape("m, 0:n") == (Name("m"), Range(ZERO, Name("n")))
