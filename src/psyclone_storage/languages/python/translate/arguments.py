"""Arguments of invokes in Python, which may contain only names, elements and arithmetic."""

from __future__ import annotations

import ast

_AS_WRITTEN = (ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.Constant,
               ast.UnaryOp, ast.BinOp, ast.expr_context, ast.UAdd, ast.USub,
               ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)  # fmt: skip


def is_passed_as_written(text: str) -> bool:
    """Return whether a text may be an argument of an invoke without a local variable."""
    return all(isinstance(part, _AS_WRITTEN) for part in ast.walk(ast.parse(text, mode="eval")))


def without_brackets(text: str) -> str:
    """Return an expression without enclosing parentheses."""
    return ast.unparse(ast.parse(text, mode="eval"))
