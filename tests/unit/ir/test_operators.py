"""The table of operators."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import pytest

from psyclone_storage.ir.expr import Binary, Name, spell
from psyclone_storage.ir.operators import (
    SPELLINGS,
    DefinedOperator,
    Operator,
    OperatorKind,
)
from psyclone_storage.languages.fortran.parse.reader import read_expression

A, B, C = Name("a"), Name("b"), Name("c")
LOOSE_FIRST = (".eqv. .neqv.", ".or.", ".and.", "== /= < <= > >=", "//", "+ -", "* /", "**")


@pytest.mark.parametrize(
    ("looser", "tighter"),
    [(one, two) for first, second in pairwise(LOOSE_FIRST)
     for one in first.split() for two in second.split()],
)  # fmt: skip
def test_operators_bind_as_the_standard_says(looser: str, tighter: str) -> None:
    around, inside = SPELLINGS[looser], SPELLINGS[tighter]
    read = read_expression(f"a {looser} b {tighter} c")
    assert read == Binary(around, A, Binary(inside, B, C))
    assert read_expression(f"a {tighter} b {looser} c") == Binary(around, Binary(inside, A, B), C)
    assert spell(Binary(inside, Binary(around, A, B), C)) == f"(a {looser} b) {tighter} c"


def test_each_operator_of_the_language_is_in_the_table_once() -> None:
    assert set(SPELLINGS) == {".not."} | {word for line in LOOSE_FIRST for word in line.split()}
    assert all(Operator(text) is operator for text, operator in SPELLINGS.items())
    assert [one.spelling for one in Operator if one.kind is OperatorKind.RELATIONAL] == (
        "== /= < <= > >=".split()
    )
    assert {one.kind for one in Operator} == set(OperatorKind) - {OperatorKind.DEFINED}


def test_operators_stay_themselves_when_they_are_kept_and_copied() -> None:
    for operator in Operator:
        assert pickle.loads(pickle.dumps(operator)) is operator
        assert copy.deepcopy(operator) is operator


def test_what_an_author_defines_binds_loosest_between_operands() -> None:
    own = DefinedOperator(".plus.")
    assert own.kind is OperatorKind.DEFINED
    read = read_expression("a .PLUS. b .eqv. c")
    assert read == Binary(own, A, Binary(Operator.EQUIVALENT, B, C))
    assert spell(Binary(Operator.EQUIVALENT, Binary(own, A, B), C)) == "(a .plus. b) .eqv. c"
