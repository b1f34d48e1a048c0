"""The text of functions: that of `inspect`, for code that is not executed and other endings."""

from __future__ import annotations

import argparse
import ast
import inspect
import json.decoder
import textwrap
from types import FunctionType, ModuleType
from typing import Any

import pytest

from psyclone_storage.languages.python.parse.function_text import text_of_function

MODULES = [argparse, ast, inspect, json.decoder, textwrap]
# fmt: off


def with_dead_code(x: float) -> float:
    return x
    if x > 1.0:
        return (
    x + 1.0)
    return 0.0


def with_last_comment(x: float) -> float:
    y = x
    # nothing more

    # than this
    return y + x
    # the end


def with_text() -> str:
    return """first
second
"""


def with_bracket(x: float) -> list[float]:
    return [
        x,
]
def in_one_line(x: float) -> float: return x


def with_inner(x: float) -> Any:
    def inner(y: float) -> float:
        return x + y

        # of the inner one
    return inner
# fmt: on


OWN = [with_dead_code, with_last_comment, with_text, with_bracket, in_one_line, with_inner]


def functions_of(module: ModuleType) -> list[FunctionType]:
    owners = [module, *(one for one in vars(module).values() if isinstance(one, type))]
    return [
        one for owner in owners for one in vars(owner).values()
        if isinstance(one, FunctionType) and one.__code__.co_filename == module.__file__
    ]  # fmt: skip


@pytest.mark.parametrize("module", MODULES, ids=lambda one: str(one.__name__))
def test_the_functions_of_a_module(module: ModuleType) -> None:
    found = functions_of(module)
    assert found
    for one in found:
        file, text = text_of_function(one.__code__, one.__globals__)
        assert file == module.__file__
        assert without_comments(text) == without_comments(inspect.getsource(one.__code__)), one


@pytest.mark.parametrize("function", OWN, ids=lambda one: str(one.__name__))
def test_other_endings(function: FunctionType) -> None:
    _, text = text_of_function(function.__code__, function.__globals__)
    assert without_comments(text) == without_comments(inspect.getsource(function))


def test_a_lambda_and_code_without_lines() -> None:
    function = lambda x: x + 1.0  # noqa: E731  # pylint: disable=unnecessary-lambda-assignment
    assert "x + 1.0" in text_of_function(function.__code__, globals())[1]
    values: dict[str, Any] = {}
    exec("def f(x):\n    return x\n", values)
    with pytest.raises(OSError, match="not available"):
        text_of_function(values["f"].__code__, values)


def without_comments(text: str) -> list[str]:
    """Return the lines of a text up to the last one that is not a comment."""
    lines = text.rstrip().split("\n")
    while lines[-1].lstrip().startswith("#") or not lines[-1].strip():
        lines.pop()
    return lines
