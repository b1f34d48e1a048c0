"""How each language writes operators: brackets where they change the value, none elsewhere."""

from __future__ import annotations

import ast
import itertools

import pytest

from psyclone_storage.ir.expr import Binary, Expr, Literal, Name, Unary, spell
from psyclone_storage.ir.operators import (
    FORTRAN,
    Infix,
    Operator,
    OperatorTable,
    Precedence,
    RankedText,
    SignRule,
)
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.operators import NUMPY, PYTHON, C

A, B, D = (RankedText(name) for name in "abd")
TABLES = {"fortran": FORTRAN, "c": C, "python": PYTHON, "numpy": NUMPY}


def written(table: OperatorTable, expr: Expr) -> RankedText:
    match expr:
        case Binary(op, left, right):
            return table.binary(op, written(table, left), written(table, right))
        case Unary(op, operand):
            return table.unary(op, written(table, operand))
    return RankedText(spell(expr))


@pytest.mark.parametrize("table", [FORTRAN, C, PYTHON, NUMPY], ids=list(TABLES))
def test_arithmetic_groups_from_the_left(table: OperatorTable) -> None:
    minus, times = Operator.MINUS, Operator.TIMES
    assert table.binary(minus, table.binary(minus, A, B), D).text == "a - b - d"
    assert table.binary(minus, A, table.binary(minus, B, D)).text == "a - (b - d)"
    assert table.binary(times, table.binary(minus, A, B), D).text == "(a - b) * d"
    assert table.binary(Operator.PLUS, A, table.binary(times, B, D)).text == "a + b * d"


@pytest.mark.parametrize(
    ("language", "in_sum", "twice", "in_product", "negated_sum"),
    [
        ("fortran", "a - (-b)", "-(-b)", "(-a) * b", "-(a - b)"),
        ("c", "a - -b", "-(-b)", "-a * b", "-(a - b)"),
        ("python", "a - (-b)", "-(-b)", "-a * b", "-(a - b)"),
        ("numpy", "a - -b", "--b", "-a * b", "-(a - b)"),
    ],
)
def test_signs_after_operators(
    language: str, in_sum: str, twice: str, in_product: str, negated_sum: str
) -> None:
    table, minus = TABLES[language], Operator.MINUS
    negated = table.unary(minus, B)
    assert table.binary(minus, A, negated).text == in_sum
    assert table.unary(minus, negated).text == twice
    assert table.binary(Operator.TIMES, table.unary(minus, A), B).text == in_product
    assert table.unary(minus, table.binary(minus, A, B)).text == negated_sum


@pytest.mark.parametrize(
    ("language", "nested", "chained", "right", "negated"),
    [
        ("fortran", "a .and. (b .or. d)", "a .and. b .and. d", "a .and. (b .and. d)",
         ".not. (a .and. b)"),
        ("c", "a && (b || d)", "a && b && d", "a && b && d", "!(a && b)"),
        ("python", "a and (b or d)", "a and b and d", "a and (b and d)", "not (a and b)"),
        ("numpy", "a & (b | d)", "a & b & d", "a & (b & d)", None),
    ],
)  # fmt: skip
def test_junctions(
    language: str, nested: str, chained: str, right: str, negated: str | None
) -> None:
    table = TABLES[language]
    assert table.binary(Operator.AND, A, table.binary(Operator.OR, B, D)).text == nested
    either, both = table.binary(Operator.OR, A, B), table.binary(Operator.AND, A, B)
    assert table.binary(Operator.AND, either, D).text.startswith("(a ")
    assert table.binary(Operator.AND, both, D).text == chained
    assert table.binary(Operator.AND, A, table.binary(Operator.AND, B, D)).text == right
    if negated is not None:
        assert table.unary(Operator.NOT, both).text == negated


def test_c_compilers_do_not_warn_of_and_in_or() -> None:
    both = C.binary(Operator.AND, A, B)
    assert C.binary(Operator.OR, both, D).text == "(a && b) || d"
    assert C.binary(Operator.OR, C.binary(Operator.LESS, A, B), D).text == "a < b || d"


@pytest.mark.parametrize("table", [PYTHON, NUMPY], ids=["python", "numpy"])
def test_python_does_not_chain_comparisons(table: OperatorTable) -> None:
    less = table.binary(Operator.LESS, A, B)
    assert table.binary(Operator.EQUIVALENT, less, D).text == "(a < b) == d"
    assert table.binary(Operator.EQUAL, A, less).text == "a == (a < b)"


@pytest.mark.parametrize(
    ("language", "of_power", "of_sign", "exponent", "negated"),
    [
        ("fortran", "(a ** b) ** d", "(-a) ** b", "a ** (-b)", "-a ** b"),
        ("python", "(a**b)**d", "(-a)**b", "a**-b", "-a**b"),
        ("numpy", "(a**b)**d", "(-a)**b", "a**-b", "-a**b"),
    ],
)
def test_powers(language: str, of_power: str, of_sign: str, exponent: str, negated: str) -> None:
    table, power = TABLES[language], Operator.POWER
    made = table.binary(power, A, B)
    assert table.binary(power, made, D).text == of_power
    assert table.binary(power, table.unary(Operator.MINUS, A), B).text == of_sign
    assert table.binary(power, A, table.unary(Operator.MINUS, B)).text == exponent
    assert table.unary(Operator.MINUS, made).text == negated


def test_choices_are_bracketed_in_all_operations_and_in_each_other() -> None:
    for table, text in ((C, "a ? b : d"), (PYTHON, "b if a else d")):
        made = table.choose(A, B, D)
        assert made.text == text
        assert table.binary(Operator.OR, made, A).text.startswith(f"({text})")
        assert table.choose(made, made, made).text.count(f"({text})") == 3


def test_each_language_has_each_operator_or_refuses_it() -> None:
    everywhere = set(Operator) - {Operator.NOT, Operator.CONCATENATE}
    assert set(FORTRAN.infixes) == everywhere | {Operator.CONCATENATE}
    assert set(C.infixes) == everywhere - {Operator.POWER}
    assert set(PYTHON.infixes) == set(NUMPY.infixes) == everywhere


SMALL = [Name("a"), Literal("2", Intrinsic.INTEGER), Unary(Operator.MINUS, Name("b"))]
ARITHMETIC = [Operator.PLUS, Operator.MINUS, Operator.TIMES, Operator.DIVIDE, Operator.POWER]


def test_python_reads_arithmetic_as_the_tree() -> None:
    """All trees of three operations: the text has the shape of the tree."""
    operations = [Binary(op, left, right) for op in ARITHMETIC
                  for left, right in itertools.product(SMALL, repeat=2)]  # fmt: skip
    nested = [Binary(op, *pair) for op in ARITHMETIC for one in operations
              for pair in ((one, SMALL[2]), (SMALL[2], one))]  # fmt: skip
    for table in (PYTHON, NUMPY):
        for expr in (*nested, *(Unary(Operator.MINUS, one) for one in nested)):
            text = written(table, expr).text
            assert _shape(ast.parse(text, mode="eval").body) == _shape_of(expr), text


def _shape(node: ast.expr) -> tuple[object, ...]:
    match node:
        case ast.BinOp(left, op, right):
            return (type(op).__name__, _shape(left), _shape(right))
        case ast.UnaryOp(op, operand):
            return (type(op).__name__, _shape(operand))
    return (ast.unparse(node),)


_WORDS = {Operator.PLUS: "Add", Operator.MINUS: "Sub", Operator.TIMES: "Mult",
          Operator.DIVIDE: "Div", Operator.POWER: "Pow"}  # fmt: skip


def _shape_of(expr: Expr) -> tuple[object, ...]:
    match expr:
        case Binary(op, left, right):
            return (_WORDS[op], _shape_of(left), _shape_of(right))
        case Unary(_, operand):
            return ("USub", _shape_of(operand))
    return (spell(expr),)


def test_a_sign_rule_brackets_what_it_names() -> None:
    leading = RankedText("-a * b", Precedence.PRODUCT)
    sign = RankedText("-a", Precedence.PREFIX)
    rows = {
        rule: Infix(" + ", Precedence.SUM, Precedence.SUM, Precedence.PRODUCT, rule)
        for rule in SignRule
    }
    assert rows[SignRule.NONE].join(A, sign) == "a + -a"
    assert rows[SignRule.SIGNED].join(A, sign) == "a + (-a)"
    assert rows[SignRule.SIGNED].join(A, leading) == "a + -a * b"
    assert rows[SignRule.LEADING].join(A, leading) == "a + (-a * b)"
    assert rows[SignRule.LEADING].join(sign, B) == "-a + b"
