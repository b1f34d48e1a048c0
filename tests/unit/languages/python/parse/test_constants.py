"""Arithmetic on constants in arguments of invokes: done when they are read, by Python's rules."""

from __future__ import annotations

import ast

import pytest

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import canonical
from psyclone_storage.languages.python.parse.invokes import InvokeReader, constant_of
from psyclone_storage.languages.python.parse.tree import read_tree
from psyclone_storage.targets.dialects import LFRIC_WORDS


def read(text: str) -> tuple[list[str], list[object], list[Diagnostic]]:
    tree = read_tree(SourceText("algorithm.py", f"invoke(setval_c({text}))"))
    statement = tree.module.body[0]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    problems: list[Diagnostic] = []
    (call,) = InvokeReader(tree, LFRIC_WORDS.real, problems).calls(statement.value)
    exprs = [one.expr for one in call.args]
    return [canonical(one) for one in exprs], [constant_of(one) for one in exprs], problems


def test_values_are_those_of_python() -> None:
    text = "7/2, 1/3, -7//2, -7 % 3, 2**-1, 2*3, 2.0*3, -(1 - 1.0), 10**10, -2147483648, 3000000000"
    spelled, values, problems = read(text)
    assert not problems
    wanted = list(eval(text))
    assert values == wanted
    assert [type(one) for one in values[:8]] == [type(one) for one in wanted[:8]]
    assert spelled[:4] == ["3.5_r_def", "0.3333333333333333_r_def", "-4", "2"]
    assert spelled[7] == "-0.0_r_def"
    assert spelled[8] == "10000000000.0_r_def"


def test_variables_are_left_to_the_program() -> None:
    spelled, values, problems = read("n/2, 2.0, -1, 7/2*n")
    assert (spelled[:3], problems) == (["n/2", "2.0_r_def", "-1"], [])
    assert values == [None, 2.0, -1, None]


@pytest.mark.parametrize("text", ["1/0", "10**400", "9**9**9", "(-1)**0.5", "1e308*10"])
def test_what_is_no_number_is_refused(text: str) -> None:
    _, _, (problem,) = read(text)
    assert (problem.code, "finite" in problem.hint) == ("P029", True)
