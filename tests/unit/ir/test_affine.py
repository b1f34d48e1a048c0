"""Affine forms and polynomials have the values of the expressions that they are made of."""

from __future__ import annotations

import random

import pytest

from psyclone_storage.ir.affine import (
    AffineForm,
    Polynomial,
    affine_form,
    constant_polynomial,
    difference,
    polynomial_of,
    simplified,
    symbol,
    with_offset,
)
from psyclone_storage.ir.expr import Expr, Parenthesised, spell
from psyclone_storage.languages.fortran.parse.reader import read_expression

NAMES = ("i", "j", "n", "m")


def random_text(rng: random.Random, depth: int) -> str:
    """Return an expression with all that Python and Fortran compute alike for these values."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*NAMES, str(rng.randint(0, 4)), "map(i)", "map(j)"])
    left, right = random_text(rng, depth - 1), random_text(rng, depth - 1)
    return rng.choice(
        [f"({left}) + ({right})", f"({left}) - ({right})", f"({left})*({right})", f"-({left})"]
    )


def value_of(expr: Expr, values: dict[str, int]) -> int:
    """Return the value of an expression where `map(x)` is `3*x + 7`."""
    value = eval(spell(expr), {**values, "map": lambda x: 3 * x + 7})
    assert isinstance(value, int)
    return value


def cases(count: int) -> list[tuple[Expr, Expr, dict[str, int]]]:
    """Return pairs of expressions with values of the names."""
    rng = random.Random(30)
    return [
        (
            read_expression(random_text(rng, 4)),
            read_expression(random_text(rng, 3)),
            {name: rng.randint(-9, 9) for name in NAMES},
        )
        for _ in range(count)
    ]


def test_simplified_and_shifted_expressions_have_their_values() -> None:
    for expr, _, values in cases(2000):
        value = value_of(expr, values)
        assert value_of(simplified(expr), values) == value
        assert value_of(affine_form(expr).shifted(-3).expr, values) == value - 3
        assert value_of(with_offset(expr, 2), values) == value + 2


def test_sums_differences_and_replaced_symbols_have_their_values() -> None:
    for one, other, values in cases(2000):
        first, second = affine_form(one), affine_form(other)
        value, by = value_of(one, values), value_of(other, values)
        assert value_of(first.plus(second).expr, values) == value + by
        assert value_of(first.minus(second).expr, values) == value - by
        assert difference(one, other) in (None, value - by)
        found: dict[str, Expr] = {}
        polynomial = polynomial_of(one, found.setdefault)
        known = {key: constant_polynomial(value_of(term, values)) for key, term in found.items()}
        assert polynomial.replaced(known).known == value


def test_symbols_are_replaced_at_once() -> None:
    both = symbol("i").plus(symbol("j"), 2)
    swapped = both.replaced({"i": symbol("j"), "j": symbol("i")})
    assert swapped == symbol("j").plus(symbol("i"), 2)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("2*(i + 1) - i", "i", 2),
        ("map(i + 1) + 3", "MAP(I+1)", 3),
        ("map(i + 1)", "map(1 + i)", None),
        ("n*m + 1", "m*n", None),
        ("7/2", "3", 0),
        ("i/2 + i/2", "i", None),
        ("i", "j", None),
        ("-(i - j)", "j - i", 0),
    ],
)
def test_only_what_is_equal_for_all_values_has_a_known_difference(
    one: str, other: str, apart: int | None
) -> None:
    assert difference(read_expression(one), read_expression(other)) == apart


def test_a_polynomial_knows_products_that_an_affine_form_does_not() -> None:
    one, other = read_expression("n*(m + 1)"), read_expression("m*n + n")
    ignored: dict[str, Expr] = {}
    assert polynomial_of(one, ignored.setdefault) == polynomial_of(other, ignored.setdefault)
    assert affine_form(one) != affine_form(other)


def test_brackets_change_no_value() -> None:
    bracketed = Parenthesised(read_expression("i + 1"))
    assert difference(bracketed, read_expression("i")) == 1


@pytest.mark.parametrize(
    ("text", "by", "expected"),
    [
        ("i - 1", 1, "i"),
        ("i + 2 - 1", 1, "i + 2"),
        ("3", -5, "-2"),
        ("2*(i + j)", 1, "2 * (i + j) + 1"),
        ("i", -2, "i - 2"),
    ],
)
def test_an_offset_keeps_the_form_of_the_rest(text: str, by: int, expected: str) -> None:
    assert spell(with_offset(read_expression(text), by)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-i + n", "n - i"),
        ("j + i + j - 4 + 1", "2 * j + i - 3"),
        ("i - i", "0"),
        ("1 - 4", "-3"),
        ("-i - 1", "-i - 1"),
    ],
)
def test_a_form_is_written_with_its_constant_last(text: str, expected: str) -> None:
    assert spell(simplified(read_expression(text))) == expected


def test_a_term_can_be_removed() -> None:
    form = affine_form(read_expression("map(i) + k - 1"))
    term = form.terms[0][1]
    assert spell(form.without(term).expr) == "k - 1"
    assert form.without(term).is_name("k")
    assert not affine_form(read_expression("2*k")).is_name("k")


def test_equal_forms_are_equal_whatever_their_order() -> None:
    one, other = (affine_form(read_expression(text)) for text in ("i + 2*j", "J + I + j"))
    assert one == other
    assert isinstance(one, AffineForm)
    assert hash(one.polynomial) == hash(Polynomial({("j",): 2, ("i",): 1}))
